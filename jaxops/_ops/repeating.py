"""repeat."""

from __future__ import annotations

from typing import Any, Literal, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops._indexing import policy, result_size
from jaxops._indexing.policy import Mode
from jaxops._indexing.positions import histogram, sums_or_largest, take_or_fill, take_rows
from jaxops._indexing.specs import RepeatCount
from jaxops._ops import copies
from jaxops._run import on_host
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.dispatch import operation
from jaxops._run.static_values import canonical_axis, check_bool, static_int

_NOUN = "repeated slices of input"
_MOST = np.iinfo(np.int32).max


@overload
def repeat(
    input: ArrayLike,
    repeats: ArrayLike,
    axis: Int | None = None,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[False] = False,
    mode: Mode = "device",
) -> jax.Array: ...


@overload
def repeat(
    input: ArrayLike,
    repeats: ArrayLike,
    axis: Int | None = None,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[True],
    mode: Mode = "device",
) -> tuple[jax.Array, jax.Array]: ...


def repeat(
    input: ArrayLike,
    repeats: ArrayLike,
    axis: Int | None = None,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: bool = False,
    mode: Mode = "device",
) -> jax.Array | tuple[jax.Array, jax.Array]:
    """Repeats the slices of `input` along an axis, each as often as `repeats` says.

    Follows `tf.repeat`. Differs from it in: traced repeats need a static `size`; a negative
    number in a vector is an error (TensorFlow takes it for 0).

    Args:
        input: array of shape `D` and any dtype, or host strings. A scalar counts as a vector of
            one. Traced.
        repeats: integer scalar or vector: one number for all slices, or one for each, none of
            them negative. Traced only with `size`.
        axis: static int in `[-rank(input), rank(input))`; default: `input` is flattened.
        size: static int; the size of the axis in the result, for code that is compiled or batched
            over `repeats`. `mode` says what further slices do. The places after the repeated slices
            hold the last slice of `input`, as with `total_repeat_length` of `jnp.repeat` (0 or the
            empty string where `input` has no slice), or `fill_value`. Default: as many as there
            are.
        fill_value: scalar that fits the dtype of `input`, for use with `size`, in place of the last
            slice. Traced.
        return_size: static bool; whether to return also the sum of the repeats, which `size` does
            not limit.
        mode: static; what negative repeats and slices that `size` does not hold do. `"device"`: an
            error on the CPU; elsewhere the first count as 0, the others are dropped from the end.
            `"error"`: an error everywhere. `"fill"`: as `"device"` without the errors.
            `"promise_in_bounds"`: the caller promises that there are none. With `return_size=True`
            further slices are dropped in every mode.

    Returns:
        Array of the shape of `input` but along `axis`; for host strings a NumPy array. With
        `return_size` a tuple of it and an int32 scalar.

    Raises:
        OutOfBoundsError: negative repeats, or a `size` that holds too few slices, where `mode`
            makes that an error, in an eager call. Compiled code raises JAX's exception with the
            same text.
        TypeError: wrong dtype or type of an argument; `repeats` is traced and `size` not given.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: the sum of the cotangent over the copies of each slice; those that fill up the result
        are copies of the last one, and places of `fill_value` send nothing back. None for
        `repeats`.

    Example:
        >>> import jaxops
        >>> jaxops.repeat([[1, 2], [3, 4]], [2, 3], axis=1)
        Array([[1, 1, 2, 2, 2],
               [3, 3, 4, 4, 4]], dtype=int32)
        >>> jaxops.repeat(["a", "b", "c"], [3, 0, 2], axis=0)
        array(['a', 'a', 'a', 'c', 'c'], dtype='<U1')
        >>> jaxops.repeat([0, 1], [1, 2], size=5)
        Array([0, 1, 1, 1, 1], dtype=int32)
        >>> jaxops.repeat([0, 1], [1, 2], size=5, fill_value=2)
        Array([0, 1, 1, 2, 2], dtype=int32)
    """
    op = "repeat"
    on_host.check_fill_needs_size(op, size, fill_value)
    return_size = check_bool(return_size, op, "return_size")
    result_size.check_mode_of_size(op, mode)
    axis = None if axis is None else static_int(axis, op, "axis")
    if size is not None:
        return _padded.run(
            op,
            input=input,
            repeats=repeats,
            name=name,
            mode=mode,
            fill_value=fill_value,
            axis=axis,
            size=on_host.check_size(size, op),
            return_size=return_size,
        )
    with on_host.named_scope(op, name):
        counts = _known_counts(op, input, repeats, mode)
        if counts.size == 1 and not return_size:
            count = int(counts.reshape(()))
        else:
            return _exact(op, input, counts, axis, return_size)
    return _evenly.run(op, input=input, name=name, axis=axis, count=count)


def _known_counts(op: str, input: Any, repeats: Any, mode: str) -> np.ndarray:
    """The repeats, none of them negative."""
    known = on_host.values_of(repeats, op, "repeats", input, on_host.concrete_integers)
    _check_rank(op, known)
    known = known.astype(np.uint64 if known.dtype == np.uint64 else np.int64)
    platform = on_host.platform_of(*(x for x in (input, repeats) if isinstance(x, jax.Array)))
    spec = RepeatCount(op, limits=(_MOST,))
    if policy.is_known_in_bounds(spec, known[..., None], mode, platform):
        return known.astype(np.int64)  # NumPy repeats by no uint64
    return np.where(spec.inside(known, _MOST), known, 0).astype(np.int64)


def _exact(op, input, counts, axis, return_size) -> Any:
    """The result of known counts."""
    data = on_host.to_data(input, op, "input")
    data, axis = _along_axis(op, data, axis)
    length = data.shape[axis]
    _check_counts(op, counts, length)
    positions = np.repeat(np.arange(length), np.broadcast_to(counts, (length,)))
    result = on_host.take(data, positions, axis, 1)
    if not return_size:
        return result
    return result, on_host.from_host(np.array(positions.size, np.int32), data)


@operation(data=("input",), moves_elements=True)
def _evenly(input: jax.Array, *, op: str, axis: int | None, count: int):
    input, axis = _along_axis(op, input, axis)
    shape = (*input.shape[: axis + 1], count, *input.shape[axis + 1 :])
    dims = [d for d in range(len(shape)) if d != axis + 1]
    repeated = copies.broadcast_in_dim(input, shape, dims)
    return repeated.reshape(on_host.merge_axes(shape, axis, 2))


@operation(data=("input",), indices=("repeats",), pads=True, moves_elements=True)
def _padded(
    input: jax.Array,
    repeats: jax.Array,
    fill_value: jax.Array | None,
    *,
    op: str,
    mode: str,
    axis: int,
    size: int,
    return_size: bool,
):
    input, axis = _along_axis(op, input, axis)
    length = input.shape[axis]
    _check_counts(op, repeats, length)
    on_host.check_countable(length, op, "input")
    counts = policy.resolve(RepeatCount(op, limits=(_MOST,)), repeats[..., None], mode).indices
    counts = jnp.clip(counts[..., 0], 0, _MOST).astype(jnp.int32)
    ends = sums_or_largest(jnp.broadcast_to(counts.reshape(-1), (length,)))
    total = jnp.int32(0) if ends.shape[0] == 0 else ends[-1]
    total = result_size.hold(
        result_size.num_elements(op, size, _NOUN), total, _MOST, "fill" if return_size else mode
    )
    # The slice at a place is that before which as many slices end.
    ended = histogram(jnp.minimum(ends, size), size + 1)[:size]
    valid = lax.iota(jnp.int32, size) < total
    positions = lax.cumsum(ended)
    if fill_value is not None or 0 in (size, *input.shape):
        result = take_or_fill(input, positions, valid, fill_value, axis)
    else:  # the result depends on the check of the size by `valid`
        # The last value fills the end: if the values are segment ids, zeros would put data into
        # segment 0 in silence (test_repeating.py, test_the_end_is_filled_as_by_jnp).
        last = jnp.full_like(positions, length - 1)
        result = take_rows(input, lax.select(valid, positions, last), axis)
    return (result, total) if return_size else result


def _along_axis(op: str, input: Any, axis: int | None) -> tuple[Any, int]:
    """The input, flattened if there is no axis, and the axis, not negative."""
    if axis is None:
        return input.reshape(-1), 0
    input = input.reshape(1) if input.ndim == 0 else input
    return input, canonical_axis(axis, input.ndim, op)


def _check_counts(op: str, repeats, length: int) -> None:
    _check_rank(op, repeats)
    if repeats.ndim == 1 and repeats.shape[0] not in (1, length):
        raise ValueError(
            f"{op}: repeats must be a scalar, or a vector of 1 or {length} numbers, of one for "
            f"each slice of input; received shape {repeats.shape}"
        )


def _check_rank(op: str, repeats) -> None:
    if repeats.ndim > 1:
        raise ValueError(f"{op}: repeats must have rank 1 at most; received shape {repeats.shape}")
