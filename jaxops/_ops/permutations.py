"""unravel_index and invert_permutation."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops._indexing import canonical, index_dtypes, policy
from jaxops._indexing.check_primitive import raises
from jaxops._indexing.dimension_numbers import ROWS
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import PermutationEntry, ScalarIndex
from jaxops._run import on_host
from jaxops._run.arguments import ArrayLike, Ints, brief
from jaxops._run.dispatch import operation
from jaxops._run.static_values import check_choice, static_ints

# Dimensions: divisions by numbers that the compiler knows are 2 to 50 times as fast, as it makes
# products of them, and each takes 40 ms to compile.
_MANY = 16


def unravel_index(
    indices: ArrayLike, dims: Ints, name: str | None = None, *, mode: Mode = "device"
) -> jax.Array:
    """The coordinates, in an array of shape `dims`, of elements given by their row-major numbers.

    `result[:, i]` are the coordinates of element `indices[i]`.

    Follows `tf.unravel_index`. Differs from it in: `indices` has every integer dtype, and may be
    empty; a negative index is out of bounds; `dims` is static.

    Args:
        indices: integer scalar or vector, `0 <= indices[i] < product(dims)`. Traced.
        dims: vector of static ints, each at least 1.
        mode: static; what an index out of bounds does. `"device"`: an error on the CPU, the
            coordinates 0 elsewhere. `"error"`: an error everywhere. `"fill"`: the coordinates 0.
            `"clip"`: the nearest index in bounds. `"wrap"`: the index modulo `product(dims)`.
            `"promise_in_bounds"`: the caller promises that there is none; what it does otherwise
            is unspecified.

    Returns:
        int64 array of shape `[rank, n]` for 64-bit `indices` of shape `[n]`, int32 otherwise; of
        shape `[rank]` for a scalar; `rank` is the length of `dims`.

    Raises:
        OutOfBoundsError: an index is out of bounds, in an eager call, where `mode` makes that an
            error. Compiled code raises JAX's exception with the same text.
        TypeError: wrong dtype or type of an argument; a traced `dims`.
        ValueError: wrong rank or value of an argument; a product of `dims` that the dtype of the
            result does not hold.

    Gradient: none, as there are integers only.

    Example:
        >>> import jaxops
        >>> jaxops.unravel_index([2, 5, 7], [3, 3])
        Array([[0, 1, 2],
               [2, 2, 1]], dtype=int32)
        >>> jaxops.unravel_index(9, [3, 3])
        Traceback (most recent call last):
        ...
        jaxops.OutOfBoundsError: indices = 9 is not in [0, 9) [Op:unravel_index] at ...
    """
    op = "unravel_index"
    dims = static_ints(dims, op, "dims")
    if any(dim < 1 for dim in dims):
        raise ValueError(f"{op}: dims must be at least 1 each; received {brief(dims)}")
    size = math.prod(dims)
    if size >= 2**63:
        raise ValueError(f"{op}: dims must have a product below 2**63; received {brief(dims)}")
    return _unravel.run(op, indices=indices, name=name, mode=mode, indexed=(size,), dims=dims)


@operation(indices=("indices",))
def _unravel(indices: jax.Array, *, op: str, mode: str, dims: tuple[int, ...]):
    if indices.ndim > 1:
        raise ValueError(
            f"{op}: indices must be a scalar or a vector; received shape {indices.shape}"
        )
    dtype = _wide_dtype(indices.dtype)
    size = math.prod(dims)
    if size > np.iinfo(dtype).max:
        raise ValueError(
            f"{op}: dims must have a product of at most {np.iinfo(dtype).max} where indices are "
            f"{indices.dtype}; received {dims}"
        )
    numbers, valid = policy.resolve(ScalarIndex(op, (size,)), indices[..., None], mode)
    numbers = numbers[..., 0].astype(dtype)
    if valid is not None:
        numbers = jnp.where(valid, numbers, jnp.zeros_like(numbers))
    if not dims:
        return jnp.zeros((0, *indices.shape), dtype)

    def coordinate(stride, dim):
        return lax.rem(lax.div(numbers, stride), dim)

    # Each coordinate has its own stride. When each coordinate was made of all quotients before it,
    # 62 dimensions took 4 s to compile and 300 took minutes (test_permutations.py,
    # test_many_dimensions).
    strides = [math.prod(dims[axis + 1 :]) for axis in range(len(dims))]
    strides, sizes = np.array(strides, dtype), np.array(dims, dtype)
    if len(dims) > _MANY:
        return jax.vmap(coordinate)(strides, sizes)
    return jnp.stack([*map(coordinate, strides, sizes)])


def _wide_dtype(dtype: np.dtype) -> np.dtype:
    """TensorFlow's dtype for positions that come with indices of `dtype`."""
    return np.dtype(np.int64 if dtype.itemsize == 8 else np.int32)


_MODES = ("device", "error", "fill", "promise_in_bounds")


def invert_permutation(
    x: ArrayLike, name: str | None = None, *, mode: Mode = "device"
) -> jax.Array:
    """The inverse of a permutation: `result[x[i]] == i`.

    Follows `tf.math.invert_permutation`. Differs from it in: `x` has every integer dtype; off the
    CPU an `x` that is no permutation is no error (see `mode`).

    Args:
        x: integer vector that holds each of the numbers `0, 1, ..., n - 1` once. Traced.
        mode: static; what a number out of bounds, or one that stands in `x` a second time, does.
            `"device"`: an error on the CPU, ignored elsewhere. `"error"`: an error everywhere.
            `"fill"`: ignored. `"promise_in_bounds"`: the caller promises that there is none; what
            it does otherwise is unspecified. Where it is ignored, a number that is missing in `x`
            gets 0.

    Returns:
        Vector of the shape of `x`; int64 for 64-bit `x`, int32 otherwise.

    Raises:
        OutOfBoundsError: `x` is no permutation, in an eager call, where `mode` makes that an
            error. Compiled code raises JAX's exception with the same text.
        TypeError: wrong dtype or type of an argument.
        ValueError: wrong rank or value of an argument.

    Gradient: none, as there are integers only.

    Example:
        >>> import jaxops
        >>> jaxops.invert_permutation([3, 4, 0, 2, 1])
        Array([2, 4, 3, 0, 1], dtype=int32)
        >>> jaxops.invert_permutation([1, 0, 1])
        Traceback (most recent call last):
        ...
        jaxops.OutOfBoundsError: x[2] = 1 is duplicated in the input. [Op:invert_permutation] at ...
    """
    op = "invert_permutation"
    check_choice(mode, _MODES, op, "mode")
    return _invert.run(op, x=x, name=name, mode=mode)


@operation(indices=("x",))
def _invert(x: jax.Array, *, op: str, mode: str):
    if x.ndim != 1:
        raise ValueError(f"{op}: x must be a vector; received shape {x.shape}")
    if x.dtype.itemsize < 8:
        on_host.check_countable(x.shape[0], op, "x")
    positions = lax.iota(_wide_dtype(x.dtype), x.shape[0])
    spec = ScalarIndex(op, x.shape)
    missing = jnp.full_like(positions, np.iinfo(positions.dtype).max)
    ignored = "promise_in_bounds" if mode == "promise_in_bounds" else "fill"
    # The minimum is the first position on every platform (test_permutations.py,
    # test_of_equal_numbers_the_first_counts).
    first = canonical.scatter("min", missing, x[:, None], positions, ROWS, spec, mode=ignored)
    result = jnp.where(first == missing, 0, first)
    if not raises(mode, "cpu"):
        return result
    x = index_dtypes.widen(x, x.shape)

    def repeated(x):
        found = canonical.gather(first, x[:, None], ROWS, spec, mode="fill")
        # Not `positions`, which would be an operand of the branch (test_varying.py,
        # test_function_in_a_branch_of_a_batch).
        return (found != lax.iota(found.dtype, found.shape[0])).astype(x.dtype)

    # As many numbers as places fill all places if none is out of bounds and none comes twice. Then
    # no place is looked up again, in random order, which takes longer than all else.
    is_permutation = jnp.all(first != missing)
    repeats = lax.cond(is_permutation, jnp.zeros_like, repeated, x)
    entries = jnp.stack([x, repeats], axis=-1)
    checked = policy.resolve(PermutationEntry(op, (*x.shape, 1)), entries, mode).indices
    # The sum adds 0 to the result: XLA drops a check on which no result depends.
    return result + (checked[:, 1] - repeats.astype(checked.dtype)).astype(result.dtype)
