"""The unsorted_segment_* reductions: rows that share a number are combined."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import DTypeLike

from jaxops._indexing import canonical
from jaxops._indexing.dimension_numbers import ROWS
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import SegmentIds, SegmentIdsOrNone, padding_of
from jaxops._ops import sums
from jaxops._primitives import all_batched, linear_primitive, varying_alike
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.dispatch import operation
from jaxops._run.static_values import check_bool, static_dim


def unsorted_segment_sum(
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Int,
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    deterministic: bool = False,
    accumulate_dtype: DTypeLike | None = None,
) -> jax.Array:
    """Sums the slices of `data` that have the same number in `segment_ids`, in any order.

    Follows `tf.math.unsorted_segment_sum`. Differs from it in: id dtypes (every integer type); off
    the CPU a number that is too large is no error (see `mode`).

    Args:
        data: array of shape `segment_ids.shape + C`, any numeric dtype. Traced.
        segment_ids: integer array of any shape; numbers below `num_segments`. Slices with a
            negative one are dropped, in every `mode` but `"error"`. Traced.
        num_segments: static int, 0 or more.
        mode: static; what a number of `num_segments` or more does. `"device"`: an error on the
            CPU, its slice is dropped elsewhere. `"error"`: an error everywhere, and so is a
            negative number. `"fill"`: its slice is dropped. `"clip"` and `"wrap"`: it counts as the
            last one, or modulo `num_segments`. `"promise_in_bounds"`: the caller promises that
            there is none.
        padding_index: static int or None; a slice with this number in `segment_ids` is dropped,
            under every `mode`. The number may be in bounds or not.
        deterministic: static bool; whether the slices of a segment are added in a fixed order, bit
            for bit repeatable on every platform. On a GPU the order is otherwise arbitrary.
        accumulate_dtype: static dtype of floats or complex numbers, or None; the dtype in which
            slices are added, before the sum is rounded to the dtype of `data`. None: that dtype, as
            in TensorFlow, in which a sum of ones stops at 256 in bfloat16, at 2,048 in float16.
            `float32` makes it right to one rounding, and takes an array of float32 of its shape.

    Returns:
        Array of shape `[num_segments] + C` and dtype of `data`; 0 for a segment without slices.

    Raises:
        OutOfBoundsError: a number is too large or negative, in an eager call, where `mode` makes
            that an error. Compiled code raises JAX's exception with the same text.
        TypeError: wrong dtype or type of an argument.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: the cotangent of its segment for each slice, 0 for one that is dropped. None for
    `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.unsorted_segment_sum([1, 2, 3, 4], [2, 0, -1, 2], 3)
        Array([2, 0, 5], dtype=int32)
        >>> jaxops.unsorted_segment_sum([1, 2], [0, 3], 3)
        Traceback (most recent call last):
        ...
        jaxops.OutOfBoundsError: segment_ids[1] = 3 is out of range [0, 3)
        [Op:unsorted_segment_sum] at ...
    """
    options = mode, padding_index, deterministic, accumulate_dtype
    return _run("sum", data, segment_ids, num_segments, name, *options)


def unsorted_segment_mean(
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Int,
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    deterministic: bool = False,
) -> jax.Array:
    """The mean of the slices of `data` that have the same number in `segment_ids`, in any order.

    Follows `tf.math.unsorted_segment_mean`. Differs from it in: id dtypes (every integer type);
    off the CPU a number that is too large is no error (see `mode`); floats of 8 and 16 bits are
    added in float32, counted exactly, and rounded once.

    Args:
        data: array of shape `segment_ids.shape + C`, any real numeric dtype. Traced.
        segment_ids: integer array, as in `unsorted_segment_sum`. Traced.
        num_segments: static int, 0 or more.
        mode: static; what a number of `num_segments` or more does, as in `unsorted_segment_sum`.
        padding_index: static int or None, as in `unsorted_segment_sum`.
        deterministic: static bool, as in `unsorted_segment_sum`.

    Returns:
        Array of shape `[num_segments] + C` and dtype of `data`, for integers float64 (float32 for
        those of 8 and 16 bits, and while 64-bit types are off); 0 for a segment without slices.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `unsorted_segment_sum`.

    Gradient: the cotangent of its segment for each slice, divided by the number of its slices; 0
    for one that is dropped. None for `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.unsorted_segment_mean([1.0, 2.0, 3.0, 4.0], [2, 0, -1, 2], 3)
        Array([2. , 0. , 2.5], dtype=float32)
    """
    return _run("mean", data, segment_ids, num_segments, name, mode, padding_index, deterministic)


def unsorted_segment_sqrt_n(
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Int,
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    deterministic: bool = False,
) -> jax.Array:
    """The sum of the slices with the same number, divided by the root of how many they are.

    Follows `tf.math.unsorted_segment_sqrt_n`. Differs from it in: id dtypes (every integer type);
    off the CPU a number that is too large is no error (see `mode`); floats of 8 and 16 bits are
    added in float32, counted exactly, and rounded once.

    Args:
        data: array of shape `segment_ids.shape + C`, any dtype of floats. Traced.
        segment_ids: integer array, as in `unsorted_segment_sum`. Traced.
        num_segments: static int, 0 or more.
        mode: static; what a number of `num_segments` or more does, as in `unsorted_segment_sum`.
        padding_index: static int or None, as in `unsorted_segment_sum`.
        deterministic: static bool, as in `unsorted_segment_sum`.

    Returns:
        Array of shape `[num_segments] + C` and dtype of `data`; 0 for a segment without slices.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `unsorted_segment_sum`.

    Gradient: the cotangent of its segment for each slice, divided by the same root; 0 for one that
    is dropped. None for `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.unsorted_segment_sqrt_n([1.0, 2.0, 3.0, 4.0, 5.0], [1, 0, 1, 1, 1], 2)
        Array([2. , 6.5], dtype=float32)
    """
    return _run("sqrt_n", data, segment_ids, num_segments, name, mode, padding_index, deterministic)


def unsorted_segment_prod(
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Int,
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
) -> jax.Array:
    """The product of the slices of `data` that have the same number in `segment_ids`.

    Follows `tf.math.unsorted_segment_prod`. Differs from it in: id dtypes (every integer type);
    off the CPU a number that is too large is no error (see `mode`).

    Args:
        data: array of shape `segment_ids.shape + C`, any numeric dtype. Traced.
        segment_ids: integer array, as in `unsorted_segment_sum`. Traced.
        num_segments: static int, 0 or more.
        mode: static; what a number of `num_segments` or more does, as in `unsorted_segment_sum`.
        padding_index: static int or None, as in `unsorted_segment_sum`.

    Returns:
        Array of shape `[num_segments] + C` and dtype of `data`; 1 for a segment without slices.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `unsorted_segment_sum`.

    Gradient: the cotangent of its segment times the product of the others in it, also where some
    are 0; 0 for a slice that is dropped. None for `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.unsorted_segment_prod([1, 2, 3, 4], [2, 0, -1, 2], 4)
        Array([2, 1, 4, 1], dtype=int32)
    """
    return _run("prod", data, segment_ids, num_segments, name, mode, padding_index)


def unsorted_segment_min(
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Int,
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
) -> jax.Array:
    """The least of the slices of `data` that have the same number in `segment_ids`.

    Follows `tf.math.unsorted_segment_min`. Differs from it in: id dtypes (every integer type); off
    the CPU a number that is too large is no error (see `mode`); NaN propagates (TensorFlow drops
    it).

    Args:
        data: array of shape `segment_ids.shape + C`, any real numeric dtype. Traced.
        segment_ids: integer array, as in `unsorted_segment_sum`. Traced.
        num_segments: static int, 0 or more.
        mode: static; what a number of `num_segments` or more does, as in `unsorted_segment_sum`.
        padding_index: static int or None, as in `unsorted_segment_sum`.

    Returns:
        Array of shape `[num_segments] + C` and dtype of `data`; the largest finite number of the
        dtype for a segment without slices.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `unsorted_segment_sum`.

    Gradient: shared in equal parts by all that attain the minimum of their segment, NaN being equal
    to NaN. None for `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.unsorted_segment_min([1, 2, 3, 4], [1, 0, -1, 1], 2)
        Array([2, 1], dtype=int32)
    """
    return _run("min", data, segment_ids, num_segments, name, mode, padding_index)


def unsorted_segment_max(
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Int,
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
) -> jax.Array:
    """The greatest of the slices of `data` that have the same number in `segment_ids`.

    Follows `tf.math.unsorted_segment_max`. Differs from it in: id dtypes (every integer type); off
    the CPU a number that is too large is no error (see `mode`); NaN propagates (TensorFlow drops
    it).

    Args:
        data: array of shape `segment_ids.shape + C`, any real numeric dtype. Traced.
        segment_ids: integer array, as in `unsorted_segment_sum`. Traced.
        num_segments: static int, 0 or more.
        mode: static; what a number of `num_segments` or more does, as in `unsorted_segment_sum`.
        padding_index: static int or None, as in `unsorted_segment_sum`.

    Returns:
        Array of shape `[num_segments] + C` and dtype of `data`; the smallest finite number of the
        dtype for a segment without slices.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `unsorted_segment_sum`.

    Gradient: shared in equal parts by all that attain the maximum of their segment, NaN being equal
    to NaN. None for `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.unsorted_segment_max([1, 2, 3, 4], [1, 0, -1, 1], 2)
        Array([2, 4], dtype=int32)
    """
    return _run("max", data, segment_ids, num_segments, name, mode, padding_index)


def _run(
    kind,
    data,
    segment_ids,
    num_segments,
    name,
    mode,
    padding_index,
    deterministic=False,
    accumulate_dtype=None,
):
    op = f"unsorted_segment_{kind}"
    num_segments = static_dim(num_segments, op, "num_segments")
    return _unsorted_segments.run(
        op,
        data=data,
        segment_ids=segment_ids,
        name=name,
        mode=mode,
        padding_index=padding_index,
        indexed=(num_segments,),
        kind=kind,
        num_segments=num_segments,
        deterministic=check_bool(deterministic, op, "deterministic"),
        accumulate_dtype=sums.accumulator(op, accumulate_dtype),
    )


@operation(data=("data",), indices=("segment_ids",))
def _unsorted_segments(
    data: jax.Array,
    segment_ids: jax.Array,
    *,
    op: str,
    mode: str,
    padding_index: int | None,
    kind: str,
    num_segments: int,
    deterministic: bool,
    accumulate_dtype: np.dtype | None,
):
    check_segments(op, "data", data, segment_ids, num_segments)
    dtype = data.dtype
    sums.check_dtype(op, "data", kind, dtype)
    spec = spec_of(op, mode, num_segments, padding_index)
    ids = segment_ids[..., None]

    def reduced(combine, initial, rows, mode, **options):
        shape = (num_segments, *rows.shape[segment_ids.ndim :])
        return canonical.reduce(
            combine, initial, shape, ids, rows, ROWS, spec, mode=mode, **options
        )

    if kind not in ("mean", "sqrt_n"):
        combine = "add" if kind == "sum" else kind
        rows = data.astype(sums.dtype_of_sums(op, "data", dtype, accumulate_dtype))
        result = reduced(combine, initial_of(kind, dtype), rows, mode, deterministic=deterministic)
        return result.astype(dtype)
    counts = reduced("add", 0, jnp.ones(segment_ids.shape, jnp.int32), mode)
    unchecked = "fill" if mode in ("device", "error") else mode  # checked with the counts
    rows = data.astype(sums.wide(dtype))
    totals = reduced("add", 0, rows, unchecked, deterministic=deterministic)
    return averaged(kind, totals, jnp.maximum(counts, 1), dtype)


def check_segments(
    op: str, arg: str, data: jax.Array, segment_ids: jax.Array, num_segments: int
) -> None:
    """Refuses slices, of the argument `arg`, that do not have a number each."""
    if num_segments < 0:
        raise ValueError(f"{op}: num_segments must be at least 0; received {num_segments}")
    if data.shape[: segment_ids.ndim] != segment_ids.shape:
        raise ValueError(
            f"{op}: {arg} must have a shape that starts with segment_ids.shape; "
            f"received shapes {data.shape} and {segment_ids.shape}"
        )


def check_choice(op: str, mode: str, segment_ids: jax.Array, num_segments: int) -> None:
    """Refuses ids that `mode` makes those of a segment, where there is none."""
    if mode in ("clip", "wrap") and segment_ids.size and num_segments == 0:
        raise ValueError(f"{op}: mode={mode!r} must have a segment to choose; num_segments is 0")


def spec_of(op: str, mode: str, num_segments: int, padding_index: int | None) -> SegmentIds:
    """The bounds of `segment_ids`."""
    ids = SegmentIds if mode == "error" else SegmentIdsOrNone
    limits = (num_segments,)
    return ids(op, limits, padding=padding_of(padding_index, limits))


def initial_of(kind: str, dtype) -> Any:
    """The result for a segment without slices."""
    if kind not in ("min", "max"):
        return int(kind == "prod")
    info = jnp.iinfo(dtype) if jnp.issubdtype(dtype, jnp.integer) else jnp.finfo(dtype)
    return info.max if kind == "min" else info.min


def averaged(kind: str, totals: jax.Array, counts: jax.Array, dtype) -> jax.Array:
    """Sums of so many slices each, divided by these numbers or, for "sqrt_n", by their roots.

    Of data of `dtype`: floats are rounded to it once, means of integers are floats. A
    count of 0 gives NaN.
    """
    if jnp.issubdtype(dtype, jnp.integer):
        dtype = jax.dtypes.canonicalize_dtype(np.float64 if dtype.itemsize > 2 else np.float32)
    wide = sums.wide(dtype)
    divisors = counts.astype(wide).reshape(-1, *(1,) * (totals.ndim - 1))
    if kind == "sqrt_n":
        divisors = jnp.sqrt(divisors)
    totals = totals.astype(wide)
    divisors = jnp.broadcast_to(divisors, totals.shape)
    return quotients_p.bind(*varying_alike(totals, divisors)).astype(dtype)


def _quotients(totals: jax.Array, divisors: jax.Array) -> jax.Array:
    # Where it sees numbers that are broadcast, XLA multiplies by their rounded reciprocals instead
    # (test_sums.py, test_means_are_rounded_once).
    return totals / lax.optimization_barrier(divisors)


def _batched_quotients(bind, operands, dims):
    """The divisors are repeated before the barrier, where `vmap` of a division does it behind."""
    return bind(*all_batched(operands, dims)), 0


def _transposed_quotients(cotangent, totals, divisors):
    del totals
    return quotients_p.bind(cotangent, divisors), None


quotients_p = linear_primitive(
    "quotients",
    _quotients,
    num_linear=1,
    batch=_batched_quotients,
    transpose=_transposed_quotients,
    is_typed_as_first=True,
)
