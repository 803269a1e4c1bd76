"""TensorFlow 0.x's functions that take slices, join and reorder; see `v0.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

import jaxops
from jaxops._ops.shaping import shape_of
from jaxops._run import arguments
from jaxops._run.arguments import ArrayLike, Int, Ints
from jaxops._run.static_values import refuse_traced, static_int
from jaxops.compat._spelling import NoMode, OneInt, once_without, one_of, spelled, under_names


def slice(input_: ArrayLike, begin: ArrayLike, size: Ints, name: str | None = None) -> jax.Array:
    """`jaxops.slice(input_, begin, size)`."""
    return jaxops.slice(input_, begin, size, name)


@once_without("var", "0.10", "0.11 and 0.12")
def strided_slice(
    input_: ArrayLike,
    begin: ArrayLike,
    end: ArrayLike,
    strides: Ints | None = None,
    begin_mask: Int = 0,
    end_mask: Int = 0,
    ellipsis_mask: Int = 0,
    new_axis_mask: Int = 0,
    shrink_axis_mask: Int = 0,
    var: None = None,
    name: str | None = None,
) -> jax.Array:
    """`jaxops.strided_slice` with the same arguments."""
    masks = begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    return jaxops.strided_slice(input_, begin, end, strides, *masks, var, name)


def split_v(
    value: ArrayLike,
    size_splits: Any,
    split_dim: Int = 0,
    num: Int | None = None,
    name: str | None = "split_v",
) -> list[jax.Array]:
    """`jaxops.split(value, size_splits, split_dim, num)`; of 0.12.

    Example:
        >>> from jaxops.compat import v0
        >>> v0.split_v([1, 2, 3], [1, 2])
        [Array([1], dtype=int32), Array([2, 3], dtype=int32)]
    """
    with under_names(split="split_v", axis="split_dim", num_or_size_splits="size_splits"):
        return jaxops.split(value, size_splits, split_dim, num, name)


def _split_by_sizes(
    value: ArrayLike,
    num_or_size_splits: int | Sequence[int],
    axis: int = 0,
    num: int | None = None,
    name: str | None = "split",
) -> list[jax.Array]:
    return jaxops.split(value, num_or_size_splits, axis, num, name)


@spelled("0.5 to 0.12", (_split_by_sizes, "1.0"))
def split(
    split_dim: Int, num_split: Int, value: ArrayLike, name: str | None = "split"
) -> list[jax.Array]:
    """`jaxops.split(value, num_split, axis=split_dim)`; parts of one size only.

    Also `split(value, num_or_size_splits, axis=0, num=None)`, as `jaxops` has it.

    Example:
        >>> from jaxops.compat import v0
        >>> v0.split(0, 2, [1, 2, 3, 4])
        [Array([1, 2], dtype=int32), Array([3, 4], dtype=int32)]
        >>> v0.split([1, 2, 3, 4], [3, 1])
        [Array([1, 2, 3], dtype=int32), Array([4], dtype=int32)]
    """
    with under_names(axis="split_dim", num_or_size_splits="num_split"):
        return jaxops.split(
            value, static_int(num_split, "split", "num_split"), split_dim, name=name
        )


def tile(input: ArrayLike, multiples: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.tile(input, multiples)`."""
    return jaxops.tile(input, multiples, name)


def _pad_constant(tensor: ArrayLike, paddings: ArrayLike, name: NoMode | None = None) -> jax.Array:
    return jaxops.pad(tensor, paddings, name=name)


def _pad_input(*, input: ArrayLike, paddings: ArrayLike, name: str | None = None) -> jax.Array:
    with under_names(tensor="input"):
        return jaxops.pad(input, paddings, name=name)


@spelled("0.7 to 0.12", (_pad_constant, "0.5 and 0.6"), (_pad_input, "0.5 and 0.6"))
def pad(
    tensor: ArrayLike, paddings: ArrayLike, mode: str = "CONSTANT", name: str | None = None
) -> jax.Array:
    """`jaxops.pad(tensor, paddings, mode)`; the constant is 0.

    Also `pad(input, paddings)`, of 0.5 and 0.6.
    """
    return jaxops.pad(tensor, paddings, mode, name=name)


def concat_v2(
    values: Sequence[ArrayLike] | ArrayLike, axis: OneInt, name: str | None = "concat_v2"
) -> jax.Array:
    """`jaxops.concat(values, axis)`; of 0.12."""
    with under_names(concat="concat_v2"):
        return jaxops.concat(values, axis, name)


def _concat_values(
    values: Sequence[ArrayLike] | ArrayLike, axis: OneInt, name: str | None = "concat"
) -> jax.Array:
    return jaxops.concat(values, axis, name)


@spelled("0.5 to 0.12", (_concat_values, "concat_v2 of 0.12"))
def concat(
    concat_dim: OneInt, values: Sequence[ArrayLike] | ArrayLike, name: str | None = "concat"
) -> jax.Array:
    """`jaxops.concat(values, axis=concat_dim)`.

    Also `concat(values, axis)`, as `jaxops` has it.

    Example:
        >>> from jaxops.compat import v0
        >>> v0.concat(0, [[1, 2], [3]])
        Array([1, 2, 3], dtype=int32)
        >>> v0.concat([[1, 2], [3]], 0)
        Array([1, 2, 3], dtype=int32)
    """
    with under_names(axis="concat_dim"):
        return jaxops.concat(values, concat_dim, name)


def stack(
    values: Sequence[ArrayLike] | ArrayLike, axis: Int = 0, name: str | None = "stack"
) -> jax.Array:
    """`jaxops.stack(values, axis)`; of 0.12."""
    return jaxops.stack(values, axis, name)


def unstack(
    value: ArrayLike, num: Int | None = None, axis: Int = 0, name: str | None = "unstack"
) -> list[jax.Array]:
    """`jaxops.unstack(value, num, axis)`; of 0.12."""
    return jaxops.unstack(value, num, axis, name)


@once_without("axis", "0.5 to 0.9", "0.10 to 0.12")
def pack(
    values: Sequence[ArrayLike] | ArrayLike, axis: Int = 0, name: str | None = "pack"
) -> jax.Array:
    """`jaxops.stack(values, axis)`."""
    with under_names(stack="pack"):
        return jaxops.stack(values, axis, name)


@once_without("axis", "0.5 to 0.9", "0.10 to 0.12")
def unpack(
    value: ArrayLike, num: Int | None = None, axis: Int = 0, name: str | None = "unpack"
) -> list[jax.Array]:
    """`jaxops.unstack(value, num, axis)`."""
    with under_names(unstack="unpack"):
        return jaxops.unstack(value, num, axis, name)


@once_without("batch_axis", "0.5 and 0.6", "0.7 to 0.12")
def reverse_sequence(
    input: ArrayLike,
    seq_lengths: ArrayLike,
    seq_axis: Int | None = None,
    batch_axis: Int | None = None,
    name: str | None = None,
    seq_dim: Int | None = None,
    batch_dim: Int | None = None,
) -> jax.Array:
    """`jaxops.reverse_sequence` with the same arguments.

    Before 0.12 the names of the two axes were `seq_dim` and `batch_dim`.
    """
    op = "reverse_sequence"
    seq_name, seq_axis = one_of(op, seq_axis=seq_axis, seq_dim=seq_dim)
    batch_name, batch_axis = one_of(op, batch_axis=batch_axis, batch_dim=batch_dim)
    with under_names(seq_axis=seq_name, batch_axis=batch_name):
        return jaxops.reverse_sequence(input, seq_lengths, seq_axis, batch_axis, name)


def reverse_v2(tensor: ArrayLike, axis: Sequence[int], name: str | None = None) -> jax.Array:
    """`jaxops.reverse(tensor, axis)`; of 0.12."""
    with under_names(reverse="reverse_v2"):
        return jaxops.reverse(tensor, axis, name)


@spelled("0.5 to 0.12", (jaxops.reverse, "1.0"))
def reverse(tensor: ArrayLike, dims: Sequence[bool], name: str | None = None) -> jax.Array:
    """`jaxops.reverse` of the axes where `dims`, one static bool per dimension, is True.

    Also `reverse(tensor, axis)`, as `jaxops` has it: ints are axes.

    Example:
        >>> from jaxops.compat import v0
        >>> v0.reverse([[1, 2], [3, 4]], [False, True])
        Array([[2, 1],
               [4, 3]], dtype=int32)
    """
    refuse_traced(dims, "reverse", "dims")
    flags = arguments.as_numpy_or_none(dims)
    rank = len(shape_of(tensor, "reverse", "tensor"))
    if flags is None or flags.shape != (rank,) or (flags.dtype != bool and flags.size > 0):
        raise ValueError(
            f"reverse: dims must be one bool per dimension of tensor, {rank}; "
            f"received {arguments.brief(dims)}"
        )
    return jaxops.reverse(tensor, np.flatnonzero(flags).tolist(), name)


def transpose(a: ArrayLike, perm: Ints | None = None, name: str | None = "transpose") -> jax.Array:
    """`jaxops.transpose(a, perm)`."""
    return jaxops.transpose(a, perm, name=name)
