"""The segment_* reductions: rows that share a number are combined, where the numbers are sorted."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import DTypeLike

from jaxops._indexing import bounds, canonical, index_dtypes, masks, policy
from jaxops._indexing.dimension_numbers import ROWS
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import IndexSpec, RowPartition, ScalarIndex, padding_of
from jaxops._ops import sums
from jaxops._ops.unsorted_segments import averaged, check_choice, initial_of
from jaxops._run import on_host
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.dispatch import Operation, operation
from jaxops._run.static_values import check_bool, static_dim, static_int


def segment_sum(
    data: ArrayLike,
    segment_ids: ArrayLike,
    name: str | None = None,
    *,
    num_segments: Int | None = None,
    mode: Mode = "device",
    padding_index: Int | None = None,
    deterministic: bool = False,
    accumulate_dtype: DTypeLike | None = None,
) -> jax.Array:
    """Sums the rows of `data` that have the same number in `segment_ids`, which is sorted.

    Follows `tf.math.segment_sum`. Differs from it in: id dtypes (every integer type); a static
    `num_segments` for code that is compiled; off the CPU ids out of range are ignored.

    Args:
        data: array of rank 1 at least, any numeric dtype. Traced.
        segment_ids: integer vector, one number for each row of `data`: not negative, and none less
            than the one before. Traced, then only with `num_segments`.
        num_segments: static int, 0 or more; the length of the result. None: the last number plus 1.
        mode: static; what a number that is negative or `num_segments` or more does. `"device"`: an
            error on the CPU, its row is dropped elsewhere. `"error"`: an error everywhere.
            `"fill"`: its row is dropped. `"clip"` and `"wrap"`: it counts as the nearest one, or
            modulo `num_segments`. `"promise_in_bounds"`: the caller promises that there is none.
            Numbers that are not sorted are an error where those out of range are one, and
            elsewhere combined as by `unsorted_segment_sum`.
        padding_index: static int or None; a slice with this number in `segment_ids` belongs to no
            segment. The number is no error under any `mode`, and may stand anywhere among the
            sorted ones.
        deterministic: static bool; whether the rows of a segment are added in a fixed order, bit
            for bit repeatable on every platform. On a GPU the order is otherwise arbitrary.
        accumulate_dtype: static dtype of floats or complex numbers, or None; the dtype in which
            rows are added, before the sum is rounded to the dtype of `data`. None: that dtype, as
            in TensorFlow, in which a sum of ones stops at 256 in bfloat16, at 2,048 in float16.
            `float32` makes it right to one rounding, and takes an array of float32 of its shape.

    Returns:
        Array of shape `[num_segments] + data.shape[1:]` and dtype of `data`; 0 for a segment
        without rows.

    Raises:
        OutOfBoundsError: a number is out of range or less than the one before, in an eager call,
            where `mode` makes that an error. Compiled code raises JAX's exception with the same
            text.
        TypeError: wrong dtype or type of an argument; `segment_ids` is traced and `num_segments`
            not given.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: the cotangent of its segment for each row, 0 for one that is dropped. None for
    `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.segment_sum([1, 2, 3, 4], [0, 0, 2, 2])
        Array([3, 0, 7], dtype=int32)
        >>> jaxops.segment_sum([1, 2, 3], [0, 2, 1])
        Traceback (most recent call last):
        ...
        jaxops.OutOfBoundsError: segment_ids[2] = 1 is less than the one before, 2;
        unsorted_segment_sum takes any order [Op:segment_sum] at ...
    """
    options = mode, padding_index, deterministic, accumulate_dtype
    return _run("sum", data, segment_ids, name, num_segments, *options)


def segment_mean(
    data: ArrayLike,
    segment_ids: ArrayLike,
    name: str | None = None,
    *,
    num_segments: Int | None = None,
    mode: Mode = "device",
    padding_index: Int | None = None,
    deterministic: bool = False,
) -> jax.Array:
    """The mean of the rows of `data` with the same number in `segment_ids`, which is sorted.

    Follows `tf.math.segment_mean`. Differs from it in: id dtypes (every integer type); a static
    `num_segments` for code that is compiled; off the CPU ids out of range are ignored; rows are
    counted exactly in every dtype.

    Args:
        data: array of rank 1 at least, any numeric dtype. Traced.
        segment_ids: integer vector, as in `segment_sum`. Traced, then only with `num_segments`.
        num_segments: static int, 0 or more; the length of the result. None: the last number plus 1.
        mode: static; what numbers out of range or not sorted do, as in `segment_sum`.
        padding_index: static int or None, as in `segment_sum`.
        deterministic: static bool, as in `segment_sum`.

    Returns:
        Array of shape `[num_segments] + data.shape[1:]` and dtype of `data`, for integers rounded
        towards 0; 0 for a segment without rows.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `segment_sum`.

    Gradient: the cotangent of its segment for each row, divided by the number of its rows; 0 for
    one that is dropped. None for `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.segment_mean([1.0, 2.0, 3.0, 4.0], [0, 0, 2, 2])
        Array([1.5, 0. , 3.5], dtype=float32)
    """
    return _run("mean", data, segment_ids, name, num_segments, mode, padding_index, deterministic)


def segment_prod(
    data: ArrayLike,
    segment_ids: ArrayLike,
    name: str | None = None,
    *,
    num_segments: Int | None = None,
    mode: Mode = "device",
    padding_index: Int | None = None,
) -> jax.Array:
    """The product of the rows of `data` with the same number in `segment_ids`, which is sorted.

    Follows `tf.math.segment_prod`. Differs from it in: id dtypes (every integer type); a static
    `num_segments` for code that is compiled; off the CPU ids out of range are ignored.

    Args:
        data: array of rank 1 at least, any numeric dtype. Traced.
        segment_ids: integer vector, as in `segment_sum`. Traced, then only with `num_segments`.
        num_segments: static int, 0 or more; the length of the result. None: the last number plus 1.
        mode: static; what numbers out of range or not sorted do, as in `segment_sum`.
        padding_index: static int or None, as in `segment_sum`.

    Returns:
        Array of shape `[num_segments] + data.shape[1:]` and dtype of `data`; 1 for a segment
        without rows.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `segment_sum`.

    Gradient: the cotangent of its segment times the product of the others in it, also where some
    are 0; 0 for a row that is dropped. None for `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.segment_prod([1, 2, 3, 4], [0, 0, 2, 2])
        Array([ 2,  1, 12], dtype=int32)
    """
    return _run("prod", data, segment_ids, name, num_segments, mode, padding_index)


def segment_min(
    data: ArrayLike,
    segment_ids: ArrayLike,
    name: str | None = None,
    *,
    num_segments: Int | None = None,
    mode: Mode = "device",
    padding_index: Int | None = None,
) -> jax.Array:
    """The least of the rows of `data` with the same number in `segment_ids`, which is sorted.

    Follows `tf.math.segment_min`. Differs from it in: id dtypes (every integer type); a static
    `num_segments` for code that is compiled; off the CPU ids out of range are ignored; NaN
    propagates (in TensorFlow it depends on its place).

    Args:
        data: array of rank 1 at least, any real numeric dtype. Traced.
        segment_ids: integer vector, as in `segment_sum`. Traced, then only with `num_segments`.
        num_segments: static int, 0 or more; the length of the result. None: the last number plus 1.
        mode: static; what numbers out of range or not sorted do, as in `segment_sum`.
        padding_index: static int or None, as in `segment_sum`.

    Returns:
        Array of shape `[num_segments] + data.shape[1:]` and dtype of `data`; 0 for a segment
        without rows.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `segment_sum`.

    Gradient: shared in equal parts by all that attain the minimum of their segment, NaN being equal
    to NaN. None for `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.segment_min([4, 2, -3, -1], [0, 0, 2, 2])
        Array([ 2,  0, -3], dtype=int32)
    """
    return _run("min", data, segment_ids, name, num_segments, mode, padding_index)


def segment_max(
    data: ArrayLike,
    segment_ids: ArrayLike,
    name: str | None = None,
    *,
    num_segments: Int | None = None,
    mode: Mode = "device",
    padding_index: Int | None = None,
) -> jax.Array:
    """The greatest of the rows of `data` with the same number in `segment_ids`, which is sorted.

    Follows `tf.math.segment_max`. Differs from it in: id dtypes (every integer type); a static
    `num_segments` for code that is compiled; off the CPU ids out of range are ignored; NaN
    propagates (in TensorFlow it depends on its place).

    Args:
        data: array of rank 1 at least, any real numeric dtype. Traced.
        segment_ids: integer vector, as in `segment_sum`. Traced, then only with `num_segments`.
        num_segments: static int, 0 or more; the length of the result. None: the last number plus 1.
        mode: static; what numbers out of range or not sorted do, as in `segment_sum`.
        padding_index: static int or None, as in `segment_sum`.

    Returns:
        Array of shape `[num_segments] + data.shape[1:]` and dtype of `data`; 0 for a segment
        without rows.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `segment_sum`.

    Gradient: shared in equal parts by all that attain the maximum of their segment, NaN being equal
    to NaN. None for `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.segment_max([4, 2, -3, -1], [0, 0, 2, 2])
        Array([ 4,  0, -1], dtype=int32)
    """
    return _run("max", data, segment_ids, name, num_segments, mode, padding_index)


def _run(
    kind,
    data,
    segment_ids,
    name,
    num_segments,
    mode,
    padding_index,
    deterministic=False,
    accumulate_dtype=None,
):
    op = f"segment_{kind}"
    return run_for(
        _segments,
        op,
        number_of(op, segment_ids, num_segments, padding_index),
        is_given=num_segments is not None,
        data=data,
        segment_ids=segment_ids,
        name=name,
        mode=mode,
        padding_index=padding_index,
        kind=kind,
        deterministic=check_bool(deterministic, op, "deterministic"),
        accumulate_dtype=sums.accumulator(op, accumulate_dtype),
    )


def run_for(reduction: Operation, op: str, number: int, *, is_given: bool, **given) -> Any:
    """Runs a reduction to this number of segments, which the last id decided unless `is_given`."""
    try:
        return reduction.run(op, num_segments=number, indexed=(number,), **given)
    except MemoryError as error:
        if is_given:
            raise
        raise MemoryError(
            f"{op}: segment_ids must name segments that memory holds; received {number - 1}; "
            f"pass num_segments= to bound them. {error}"
        ) from error


def number_of(op: str, segment_ids: Any, num_segments: Any, padding_index: Any = None) -> Any:
    """The number of segments, from the ids that are no padding where the caller does not say it."""
    if num_segments is not None:
        num_segments = static_dim(num_segments, op, "num_segments")
        if num_segments < 0:
            raise ValueError(f"{op}: num_segments must be at least 0; received {num_segments}")
        return num_segments
    known = on_host.concrete_integers(segment_ids, op, "segment_ids")
    if known is None:
        raise TypeError(
            f"{op}: num_segments must be given, as an int, with traced segment_ids; "
            "received num_segments=None"
        )
    if padding_index is not None:
        known = known[known != static_int(padding_index, op, "padding_index")]
    return max(int(known.max()) + 1, 0) if known.size else 0


@operation(data=("data",), indices=("segment_ids",))
def _segments(
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
    if data.ndim == 0 or segment_ids.shape != data.shape[:1]:
        raise ValueError(
            f"{op}: segment_ids must be a vector with a number for each row of data; "
            f"received shapes {segment_ids.shape} and {data.shape}"
        )
    sums.check_dtype(op, "data", "" if kind == "mean" else kind, data.dtype)
    in_dtype = sums.wide(data.dtype)
    if kind == "sum":
        in_dtype = sums.dtype_of_sums(op, "data", data.dtype, accumulate_dtype)
    spec = ScalarIndex(op, (num_segments,), padding=padding_of(padding_index, (num_segments,)))
    left_out = bounds.padding(segment_ids[:, None], spec)
    return combined(
        op, kind, data, segment_ids, left_out, num_segments, mode, deterministic, in_dtype
    )


def combined(
    op, kind, rows, segment_ids, left_out, num_segments, mode, deterministic, in_dtype
) -> jax.Array:
    """The rows of each segment as one; 0 or, of products, 1 for a segment without any.

    Rows that are `left_out`, a mask or None, are in no segment. Sums are added in `in_dtype`, which
    is at least as wide as that of the rows.
    """
    ids, mode = _sorted(op, segment_ids, left_out, num_segments, mode)
    spec = ScalarIndex(op, (num_segments,))
    shape = (num_segments, *rows.shape[1:])

    def reduced(kind, initial, shape, updates, **options):
        return canonical.reduce(
            kind, initial, shape, ids[:, None], updates, ROWS, spec, mode=mode, **options
        )

    if kind == "prod":
        return reduced("prod", 1, shape, rows)
    if kind in ("sum", "mean", "sqrt_n"):
        totals = reduced("add", 0, shape, rows.astype(in_dtype), deterministic=deterministic)
        if kind == "sum":
            return totals.astype(rows.dtype)
    counts = reduced("add", 0, (num_segments,), jnp.ones(ids.shape, jnp.int32))
    if kind in ("mean", "sqrt_n"):
        counts = jnp.maximum(counts, 1)
        if jnp.issubdtype(rows.dtype, jnp.integer):
            return _rounded_means(totals, counts)
        return averaged(kind, totals, counts, rows.dtype)
    extrema = reduced(kind, _beyond_all(kind, rows.dtype), shape, rows)
    is_empty = (counts == 0).reshape(-1, *(1,) * (rows.ndim - 1))
    return masks.where(is_empty, jnp.zeros((), rows.dtype), extrema)


def _beyond_all(kind: str, dtype) -> Any:
    """The number above all others, for "min", or below: an infinity where the dtype has one."""
    if jnp.issubdtype(dtype, jnp.floating):
        infinity = np.array(np.inf if kind == "min" else -np.inf, dtype)
        # float8_e4m3fn has no infinity (test_segments.py, test_infinities_are_extrema).
        if not np.isnan(infinity):
            return infinity
    return initial_of(kind, dtype)


def _rounded_means(totals: jax.Array, counts: jax.Array) -> jax.Array:
    """Towards 0, in a dtype that holds the counts."""
    # A narrow integer does not hold the count: 40,000 is a negative int16 (test_sums.py,
    # test_counts_of_integers_have_more_bits_than_the_data).
    wide = totals.dtype if totals.dtype.itemsize >= 4 else np.dtype(np.int32)
    counts = counts.astype(wide).reshape(-1, *(1,) * (totals.ndim - 1))
    return lax.div(totals.astype(wide), jnp.broadcast_to(counts, totals.shape)).astype(totals.dtype)


def _sorted(op: str, ids: jax.Array, left_out: Any, num_segments: Any, mode: str):
    """The ids, and how bounds are handled behind them: the error, if that is one, is raised here.

    Off the CPU ids that are not sorted are no error, and are combined all the same. The ids of rows
    that are `left_out` are out of bounds.
    """
    spec: IndexSpec = ScalarIndex(op, (num_segments,))
    components = [ids]
    if mode in ("device", "error"):
        # The difference of unsigned ids is never negative, so a decrease would pass
        # (test_segments.py, test_ids_of_narrow_types_that_decrease).
        ids = index_dtypes.to_signed(ids, op, (num_segments,))
        limits = (num_segments, num_segments)  # a step between ids in bounds is shorter
        spec = RowPartition(op, limits, "segment_ids", ids.shape[0])
        components = [ids, ids - _one_before(ids, left_out)]
    elif left_out is None:
        return ids, mode
    check_choice(op, mode, ids, num_segments)
    if left_out is not None:
        spec = dataclasses.replace(
            spec, limits=(*spec.limits, 2), padding=(*[None] * len(components), 1)
        )
        components.append(left_out.astype(ids.dtype))
    return policy.resolve(spec, jnp.stack(components, -1), mode).indices[:, 0], "fill"


def _one_before(ids: jax.Array, left_out: jax.Array | None) -> jax.Array:
    """The id before each id; for the first id, the id itself.

    If some rows are left out, the greatest id before, as their own ids say nothing. Both are the
    same for ids that are sorted.
    """
    if left_out is None:
        return jnp.concatenate([ids[:1], ids[:-1]])
    least = jnp.full((1,), jnp.iinfo(ids.dtype).min, ids.dtype)
    greatest = lax.cummax(jnp.where(left_out, least, ids))
    before = jnp.concatenate([least, greatest])[:-1]
    return jnp.where(before == least, ids, before)
