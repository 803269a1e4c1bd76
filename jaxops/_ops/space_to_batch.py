"""Blocks of positions moved into the batch, and back.

The functions here and in `_ops/space_to_depth.py` are one rearrangement, `space_to_axis`, or its
inverse, `axis_to_space`: reshape, transpose, reshape. XLA merges the dimensions that stay together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops._run.arguments import ArrayLike, Int, Ints
from jaxops._run.dispatch import operation, scope_name
from jaxops._run.static_values import is_scalar, static_int, static_ints, static_matrix


def space_to_batch(
    input: ArrayLike,
    block_shape: Ints,
    paddings: ArrayLike,
    name: str | None = None,
) -> jax.Array:
    """Pads dimensions, cuts them into blocks and moves the places in a block into the batch.

    Follows `tf.space_to_batch`. Differs from it in: every dtype and host strings are taken, and
    there may be more than four block dimensions.

    Args:
        input: array of shape `[batch] + D + rest`, where `D` has `M` dimensions, or host strings.
            Traced.
        block_shape: `M` static ints of at least 1, `M` of at least 0.
        paddings: static ints of at least 0 and shape `[M, 2]`: how many zeros (for strings, empty
            ones) stand before and after `D[i]`, which makes it divisible by `block_shape[i]`.

    Returns:
        Array of shape `[batch * prod(block_shape)] + padded D // block_shape + rest` and dtype of
        `input`; for host strings a NumPy array. The place in a block, row by row, is the major part
        of the batch.

    Raises:
        TypeError: wrong type of an argument; traced `block_shape` or `paddings`.
        ValueError: wrong rank, shape or value of an argument; blocks that do not fit.

    Gradient: `batch_to_space` of the cotangent, which drops the part on the padding.

    Example:
        >>> import jaxops
        >>> jaxops.space_to_batch([[1, 2, 3, 4, 5]], [2], [[0, 1]])
        Array([[1, 3, 5],
               [2, 4, 0]], dtype=int32)
    """
    return _run_space_to_batch("space_to_batch", input, block_shape, paddings, name)


def space_to_batch_nd(
    input: ArrayLike,
    block_shape: Ints,
    paddings: ArrayLike,
    name: str | None = None,
) -> jax.Array:
    """Does what `space_to_batch` does, under TensorFlow's other name for it.

    Follows `tf.space_to_batch_nd`. Differs from it in: as `space_to_batch`.

    Args:
        input, block_shape, paddings: as in `space_to_batch`.

    Returns:
        Array of shape `[batch * prod(block_shape)] + padded D // block_shape + rest` and dtype of
        `input`.

    Raises:
        TypeError, ValueError: as `space_to_batch`.

    Gradient: as `space_to_batch`.

    Example:
        >>> import jaxops
        >>> jaxops.space_to_batch_nd([[1, 2, 3, 4]], [2], [[0, 0]])
        Array([[1, 3],
               [2, 4]], dtype=int32)
    """
    return _run_space_to_batch("space_to_batch_nd", input, block_shape, paddings, name)


def batch_to_space(
    input: ArrayLike,
    block_shape: Ints | Int,
    crops: ArrayLike,
    name: str | None = None,
) -> jax.Array:
    """Interleaves batches into the dimensions after the first, in blocks, then crops these.

    Follows `tf.batch_to_space`. Differs from it in: every dtype and host strings are taken, and
    there may be more than four block dimensions.

    Args:
        input: array of shape `[batch] + D + rest`, where `D` has `M` dimensions and `batch` is
            divisible by `prod(block_shape)`, or host strings. Traced.
        block_shape: `M` static ints of at least 1, `M` of at least 0; an int `b` means `[b, b]`.
        crops: static ints of at least 0 and shape `[M, 2]`: how much to drop before and after each
            dimension of the interleaved result.

    Returns:
        Array of shape `[batch // prod(block_shape)] + cropped D * block_shape + rest` and dtype of
        `input`; for host strings a NumPy array.

    Raises:
        TypeError: wrong type of an argument; traced `block_shape` or `crops`.
        ValueError: wrong rank, shape or value of an argument; crops larger than their dimension.

    Gradient: `space_to_batch` of the cotangent, with zeros where it was cropped.

    Example:
        >>> import jaxops
        >>> jaxops.batch_to_space([[1, 3, 5], [2, 4, 0]], [2], [[0, 1]])
        Array([[1, 2, 3, 4, 5]], dtype=int32)
    """
    return _run_batch_to_space("batch_to_space", input, block_shape, crops, name)


def batch_to_space_nd(
    input: ArrayLike,
    block_shape: Ints | Int,
    crops: ArrayLike,
    name: str | None = None,
) -> jax.Array:
    """Does what `batch_to_space` does, under TensorFlow 1's name for it.

    Follows `tf.compat.v1.batch_to_space_nd`. Differs from it in: as `batch_to_space`.

    Args:
        input, block_shape, crops: as in `batch_to_space`.

    Returns:
        Array of shape `[batch // prod(block_shape)] + cropped D * block_shape + rest` and dtype of
        `input`.

    Raises:
        TypeError, ValueError: as `batch_to_space`.

    Gradient: as `batch_to_space`.

    Example:
        >>> import jaxops
        >>> jaxops.batch_to_space_nd([[1, 3], [2, 4]], [2], [[0, 0]])
        Array([[1, 2, 3, 4]], dtype=int32)
    """
    return _run_batch_to_space("batch_to_space_nd", input, block_shape, crops, name)


def _run_space_to_batch(op, input, block_shape, paddings, name):
    return _space_to_batch.run(
        op,
        input=input,
        name=name,
        block_shape=static_ints(block_shape, op, "block_shape"),
        paddings=static_matrix(paddings, op, "paddings", "[M, 2]"),
    )


def _run_batch_to_space(op, input, block_shape, crops, name):
    if is_scalar(block_shape):
        block_shape = [static_int(block_shape, op, "block_shape")] * 2
    return _batch_to_space.run(
        op,
        input=input,
        name=name,
        block_shape=static_ints(block_shape, op, "block_shape"),
        crops=static_matrix(crops, op, "crops", "[M, 2]"),
    )


@operation(data=("input",), moves_elements=True)
def _space_to_batch(
    input: jax.Array,
    *,
    op: str,
    block_shape: tuple[int, ...],
    paddings: tuple[tuple[int, ...], ...],
):
    _check_blocks(op, input, block_shape, "paddings", paddings)
    if any(map(any, paddings)):
        edges = [(0, 0), *paddings, *[(0, 0)] * (input.ndim - 1 - len(block_shape))]
        config = [(low, high, 0) for low, high in edges]
        input = lax.pad(input, jnp.zeros((), input.dtype), config)
    check_divisible(op, "padded input", input, 1, block_shape)
    return space_to_axis(input, 1, block_shape, axis=0)


@operation(data=("input",), moves_elements=True)
def _batch_to_space(
    input: jax.Array, *, op: str, block_shape: tuple[int, ...], crops: tuple[tuple[int, ...], ...]
):
    _check_blocks(op, input, block_shape, "crops", crops)
    if input.shape[0] % math.prod(block_shape):
        raise ValueError(
            f"{op}: input must have a first dimension divisible by the product of block_shape, "
            f"{math.prod(block_shape)}; received shape {input.shape}"
        )
    result = axis_to_space(input, 1, block_shape, axis=0)
    start, stop = [0] * result.ndim, list(result.shape)
    for axis, (low, high) in enumerate(crops, 1):
        start[axis], stop[axis] = low, result.shape[axis] - high
        if start[axis] > stop[axis]:
            raise ValueError(
                f"{op}: crops must drop at most the {result.shape[axis]} positions of "
                f"dimension {axis}; received {crops}"
            )
    return lax.slice(result, start, stop)


def space_to_axis(x: jax.Array, first: int, block_shape: Sequence[int], axis: int) -> jax.Array:
    """Cuts dimensions, from `first` on, into blocks; the place in a block moves into `axis`.

    The place is the major part of that axis, its old index the minor one.
    """
    split, outer, inner = [], [], []
    for a, dim in enumerate(x.shape):
        outer.append(len(split))
        if first <= a < first + len(block_shape):
            block = block_shape[a - first]
            inner.append(len(split) + 1)
            split += [dim // block, block]
        else:
            split.append(dim)
    shape = [split[place] for place in outer]
    shape[axis] *= math.prod(block_shape)
    return x.reshape(split).transpose(*outer[:axis], *inner, *outer[axis:]).reshape(shape)


def axis_to_space(x: jax.Array, first: int, block_shape: Sequence[int], axis: int) -> jax.Array:
    """The inverse of `space_to_axis`."""
    shape = list(x.shape)
    shape[axis] //= math.prod(block_shape)
    split = [*shape[:axis], *block_shape, *shape[axis:]]
    permutation = []
    for a in range(x.ndim):
        permutation.append(a if a < axis else a + len(block_shape))
        if first <= a < first + len(block_shape):
            permutation.append(axis + a - first)
            shape[a] *= block_shape[a - first]
    return x.reshape(split).transpose(permutation).reshape(shape)


def _check_blocks(op, input, block_shape, arg, pairs):
    if any(block < 1 for block in block_shape):
        raise ValueError(f"{op}: block_shape must be at least 1; received {block_shape}")
    if input.ndim < 1 + len(block_shape):
        raise ValueError(
            f"{op}: input must have rank {1 + len(block_shape)} at least, for the batch and "
            f"block_shape {block_shape}; received shape {input.shape}"
        )
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"{op}: {arg} must have shape [M, 2]; received {pairs}")
    if len(pairs) != len(block_shape):
        raise ValueError(f"{op}: {arg} must have shape [{len(block_shape)}, 2]; received {pairs}")
    if any(min(pair) < 0 for pair in pairs):
        raise ValueError(f"{op}: {arg} must be at least 0; received {pairs}")


def check_divisible(op, what, input, first, block_shape):
    space = input.shape[first : first + len(block_shape)]
    if any(dim % block for dim, block in zip(space, block_shape, strict=True)):
        raise ValueError(
            f"{op}: {what} must have dimensions {first} to {first + len(space) - 1} divisible by "
            f"{block_shape}; received shape {input.shape}"
        )


def required_space_to_batch_paddings(
    input_shape: Ints,
    block_shape: Ints,
    base_paddings: ArrayLike | None = None,
    name: str | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The paddings that make dimensions divisible by blocks, and the crops that undo them.

    Follows `tf.required_space_to_batch_paddings`. Differs from it in: all arguments are static, and
    the results are NumPy arrays, so that they serve as arguments of `space_to_batch`; negative
    numbers are refused.

    Args:
        input_shape: `M` static ints of at least 0, the dimensions that are cut into blocks.
        block_shape: `M` static ints of at least 1.
        base_paddings: static ints of at least 0 and shape `[M, 2]`: what is padded anyway; default
            nothing.
        name: static; must be a str or None. It has no effect, as no operation is made.

    Returns:
        `paddings` and `crops`, two int32 NumPy arrays of shape `[M, 2]`: `base_paddings`
        with the least addition after each dimension, and this addition alone.

    Raises:
        TypeError: wrong type of an argument; a traced one.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: none.

    Example:
        >>> import jaxops
        >>> jaxops.required_space_to_batch_paddings([5, 6], [2, 4])
        (array([[0, 1],
               [0, 2]], dtype=int32), array([[0, 1],
               [0, 2]], dtype=int32))
    """
    op = "required_space_to_batch_paddings"
    scope_name(op, name)
    blocks = static_ints(block_shape, op, "block_shape")
    dims = static_ints(input_shape, op, "input_shape")
    base = tuple((0, 0) for _ in blocks)
    if base_paddings is not None:
        base = static_matrix(base_paddings, op, "base_paddings", f"[{len(blocks)}, 2]")
    for arg, given, least in (("block_shape", blocks, 1), ("input_shape", dims, 0)):
        if len(given) != len(blocks) or any(n < least for n in given):
            raise ValueError(
                f"{op}: {arg} must have {len(blocks)} numbers of at least {least}; received {given}"
            )
    if [len(pads) for pads in base] != [2] * len(blocks) or any(n < 0 for p in base for n in p):
        raise ValueError(
            f"{op}: base_paddings must have shape [{len(blocks)}, 2] and numbers of at least 0; "
            f"received {base}"
        )
    more = [-(dim + sum(p)) % block for dim, block, p in zip(dims, blocks, base, strict=True)]
    paddings = [(before, after + m) for (before, after), m in zip(base, more, strict=True)]
    crops = [(0, m) for m in more]
    return _as_pairs(paddings, op), _as_pairs(crops, op)


def _as_pairs(pairs: list[tuple[int, int]], op: str) -> np.ndarray:
    if any(n >= 2**31 for pair in pairs for n in pair):
        raise ValueError(f"{op}: base_paddings must make paddings that fit int32; received {pairs}")
    return np.array(pairs, np.int32).reshape(-1, 2)
