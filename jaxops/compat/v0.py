"""TensorFlow 0.x's `array_ops` under its signatures: names and orders of arguments, defaults.

Adapters of the functions of `jaxops`, whose docstrings say all the rest: dtypes, bounds, gradients,
errors. Code for TensorFlow 0.x moves over with the module name changed. The functions here lack
arguments that TensorFlow 0.x did not have (`mode`, `size`, ...).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np
from jax.typing import DTypeLike

import jaxops
from jaxops._ops.shaping import shape_of
from jaxops._run.arguments import Arrayable, as_numpy_or_none, brief, refuse_traced, static_int


@contextlib.contextmanager
def _under_names(**names: str) -> Iterator[None]:
    """Within, errors of a function of `jaxops` have the names that this module uses.

    `names` maps names of the function and its arguments. The received value is the caller's, and
    stays.
    """
    try:
        yield
    except (TypeError, ValueError, MemoryError) as error:
        reason, *received = str(error).partition("; received")
        pattern = "|".join(rf"\b{name}\b" for name in names)
        text = "".join([re.sub(pattern, lambda match: names[match[0]], reason), *received])
        kind = next(k for k in (TypeError, MemoryError, ValueError) if isinstance(error, k))
        raise kind(text) from error


def _beyond(function: str, arg: str):
    """`_under_names` for an argument of `jaxops` that this module's function does not have."""
    return _under_names(**{arg: f"`{arg}` of `jaxops.{function}`"})


# Casting


def string_to_number(
    string_tensor: str | bytes | np.ndarray | Sequence[Any],
    out_type: DTypeLike | None = None,
    name: str | None = None,
) -> jax.Array:
    """`jaxops.string_to_number(input, out_type)`; `out_type` defaults to float32.

    Example:
        >>> from jaxops.compat import v0
        >>> v0.string_to_number(["1", "2.5"])
        Array([1. , 2.5], dtype=float32)
    """
    with _under_names(input="string_tensor"):
        return jaxops.string_to_number(
            string_tensor, np.float32 if out_type is None else out_type, name
        )


def to_double(x: Arrayable, name: str = "ToDouble") -> jax.Array:
    """`jaxops.to_double(x)`."""
    return jaxops.to_double(x, name)


def to_float(x: Arrayable, name: str = "ToFloat") -> jax.Array:
    """`jaxops.to_float(x)`."""
    return jaxops.to_float(x, name)


def to_bfloat16(x: Arrayable, name: str = "ToBFloat16") -> jax.Array:
    """`jaxops.to_bfloat16(x)`."""
    return jaxops.to_bfloat16(x, name)


def to_int32(x: Arrayable, name: str = "ToInt32") -> jax.Array:
    """`jaxops.to_int32(x)`."""
    return jaxops.to_int32(x, name)


def to_int64(x: Arrayable, name: str = "ToInt64") -> jax.Array:
    """`jaxops.to_int64(x)`."""
    return jaxops.to_int64(x, name)


def cast(x: Arrayable, dtype: DTypeLike, name: str | None = None) -> jax.Array:
    """`jaxops.cast(x, dtype)`."""
    return jaxops.cast(x, dtype, name)


def saturate_cast(value: Arrayable, dtype: DTypeLike, name: str | None = None) -> jax.Array:
    """`jaxops.saturate_cast(value, dtype)`."""
    return jaxops.saturate_cast(value, dtype, name)


def bitcast(input: Arrayable, type: DTypeLike, name: str | None = None) -> jax.Array:
    """`jaxops.bitcast(input, type)`."""
    return jaxops.bitcast(input, type, name)


# Shapes and shaping


def shape(input: Arrayable, name: str | None = None) -> np.ndarray:
    """`jaxops.shape(input)`, int32."""
    with _beyond("shape", "out_type"):
        return jaxops.shape(input, name=name)


def shape_n(input: Sequence[Arrayable], name: str | None = None) -> list[np.ndarray]:
    """`jaxops.shape_n(input)`, int32."""
    with _beyond("shape_n", "out_type"):
        return jaxops.shape_n(input, name=name)


def size(input: Arrayable, name: str | None = None) -> Any:
    """`jaxops.size(input)`, int32."""
    with _beyond("size", "out_type"):
        return jaxops.size(input, name=name)


def rank(input: Arrayable, name: str | None = None) -> Any:
    """`jaxops.rank(input)`, int32."""
    return jaxops.rank(input, name)


def reshape(tensor: Arrayable, shape: Any, name: str | None = None) -> jax.Array:
    """`jaxops.reshape(tensor, shape)`."""
    return jaxops.reshape(tensor, shape, name)


def squeeze(input: Arrayable, squeeze_dims: Any = None, name: str | None = None) -> jax.Array:
    """`jaxops.squeeze(input, axis=squeeze_dims)`; no dimension, `[]`, means all of size 1."""
    with _under_names(axis="squeeze_dims"):
        return jaxops.squeeze(input, squeeze_dims, name)


def expand_dims(input: Arrayable, dim: int, name: str | None = None) -> jax.Array:
    """`jaxops.expand_dims(input, axis=dim)`."""
    with _under_names(axis="dim"):
        return jaxops.expand_dims(input, dim, name)


# Slicing and joining


def slice(input_: Arrayable, begin: Any, size: Any, name: str | None = None) -> jax.Array:
    """`jaxops.slice(input_, begin, size)`."""
    return jaxops.slice(input_, begin, size, name)


def split(split_dim: int, num_split: int, value: Arrayable, name: str = "split") -> list[jax.Array]:
    """`jaxops.split(value, num_split, axis=split_dim)`; parts of one size only.

    Example:
        >>> from jaxops.compat import v0
        >>> v0.split(0, 2, [1, 2, 3, 4])
        [Array([1, 2], dtype=int32), Array([3, 4], dtype=int32)]
    """
    with _under_names(axis="split_dim", num_or_size_splits="num_split"):
        return jaxops.split(
            value, static_int(num_split, "split", "num_split"), split_dim, name=name
        )


def tile(input: Arrayable, multiples: Any, name: str | None = None) -> jax.Array:
    """`jaxops.tile(input, multiples)`."""
    return jaxops.tile(input, multiples, name)


def pad(
    tensor: Arrayable, paddings: Any, mode: str = "CONSTANT", name: str | None = None
) -> jax.Array:
    """`jaxops.pad(tensor, paddings, mode)`; the constant is 0."""
    return jaxops.pad(tensor, paddings, mode, name=name)


def concat(concat_dim: int, values: Any, name: str = "concat") -> jax.Array:
    """`jaxops.concat(values, axis=concat_dim)`.

    Example:
        >>> from jaxops.compat import v0
        >>> v0.concat(0, [[1, 2], [3]])
        Array([1, 2, 3], dtype=int32)
    """
    with _under_names(axis="concat_dim"):
        return jaxops.concat(values, concat_dim, name)


def pack(values: Any, name: str = "pack") -> jax.Array:
    """`jaxops.stack(values)`, along the first axis."""
    with _under_names(stack="pack"):
        return jaxops.stack(values, name=name)


def unpack(value: Arrayable, num: int | None = None, name: str = "unpack") -> list[jax.Array]:
    """`jaxops.unstack(value, num)`, along the first axis."""
    with _under_names(unstack="unpack"):
        return jaxops.unstack(value, num, name=name)


def reverse_sequence(
    input: Arrayable,
    seq_lengths: Arrayable,
    seq_dim: int,
    batch_dim: int | None = None,
    name: str | None = None,
) -> jax.Array:
    """`jaxops.reverse_sequence` with `seq_axis=seq_dim`, `batch_axis=batch_dim` (default 0)."""
    with _under_names(seq_axis="seq_dim", batch_axis="batch_dim"):
        return jaxops.reverse_sequence(input, seq_lengths, seq_dim, batch_dim, name)


def reverse(tensor: Arrayable, dims: Sequence[bool], name: str | None = None) -> jax.Array:
    """`jaxops.reverse` of the axes where `dims`, one static bool per dimension, is True.

    Example:
        >>> from jaxops.compat import v0
        >>> v0.reverse([[1, 2], [3, 4]], [False, True])
        Array([[2, 1],
               [4, 3]], dtype=int32)
    """
    refuse_traced(dims, "reverse", "dims")
    flags = as_numpy_or_none(dims)
    rank = len(shape_of(tensor, "reverse", "tensor"))
    if flags is None or flags.shape != (rank,) or (flags.dtype != bool and flags.size > 0):
        raise ValueError(
            f"reverse: dims must be one bool per dimension of tensor, {rank}; "
            f"received {brief(dims)}"
        )
    return jaxops.reverse(tensor, np.flatnonzero(flags).tolist(), name)


def transpose(a: Arrayable, perm: Any = None, name: str = "transpose") -> jax.Array:
    """`jaxops.transpose(a, perm)`."""
    return jaxops.transpose(a, perm, name=name)


def extract_image_patches(
    images: Arrayable,
    padding: str,
    ksizes: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    rates: Sequence[int] | None = None,
    name: str | None = None,
) -> jax.Array:
    """`jaxops.extract_image_patches(images, ksizes, strides, rates, padding)`.

    The lists default to `[]` in TensorFlow 0.x too, which refuses them: each takes 4 ints.
    """
    with _under_names(sizes="ksizes"):
        return jaxops.extract_image_patches(
            images,
            [] if ksizes is None else ksizes,
            [] if strides is None else strides,
            [] if rates is None else rates,
            padding,
            name,
        )


def space_to_batch(
    input: Arrayable, paddings: Any, block_size: int, name: str | None = None
) -> jax.Array:
    """`jaxops.space_to_batch` of a 4-D `input`, with blocks of `block_size` by `block_size`."""
    _check_block(input, block_size, "space_to_batch")
    with _under_names(block_shape="block_size"):
        return jaxops.space_to_batch(input, [block_size] * 2, paddings, name)


def batch_to_space(
    input: Arrayable, crops: Any, block_size: int, name: str | None = None
) -> jax.Array:
    """`jaxops.batch_to_space` of a 4-D `input`, with blocks of `block_size` by `block_size`."""
    _check_block(input, block_size, "batch_to_space")
    with _under_names(block_shape="block_size"):
        return jaxops.batch_to_space(input, [block_size] * 2, crops, name)


def _check_block(input: Arrayable, block_size: int, op: str) -> None:
    shape = shape_of(input, op, "input")
    if len(shape) != 4:
        raise ValueError(f"{op}: input must have rank 4; received shape {shape}")
    if static_int(block_size, op, "block_size") < 2:
        raise ValueError(f"{op}: block_size must be 2 at least; received {block_size}")


def space_to_depth(input: Arrayable, block_size: int, name: str | None = None) -> jax.Array:
    """`jaxops.space_to_depth(input, block_size)`."""
    with _under_names(data_format="format"):
        return jaxops.space_to_depth(input, block_size, name=name)


def depth_to_space(input: Arrayable, block_size: int, name: str | None = None) -> jax.Array:
    """`jaxops.depth_to_space(input, block_size)`."""
    with _under_names(data_format="format"):
        return jaxops.depth_to_space(input, block_size, name=name)


def gather(
    params: Arrayable,
    indices: Arrayable,
    validate_indices: bool | None = None,
    name: str | None = None,
) -> jax.Array:
    """`jaxops.gather(params, indices)`; `validate_indices=False` is `mode="promise_in_bounds"`."""
    if validate_indices is not None and not isinstance(validate_indices, bool):
        raise TypeError(
            f"gather: validate_indices must be a bool or None; received {brief(validate_indices)}"
        )
    mode = "promise_in_bounds" if validate_indices is False else "device"
    return jaxops.gather(params, indices, name=name, mode=mode)


def gather_nd(params: Arrayable, indices: Arrayable, name: str | None = None) -> jax.Array:
    """`jaxops.gather_nd(params, indices)`."""
    return jaxops.gather_nd(params, indices, name=name)


def dynamic_partition(
    data: Arrayable, partitions: Arrayable, num_partitions: int, name: str | None = None
) -> list[jax.Array]:
    """`jaxops.dynamic_partition(data, partitions, num_partitions)`."""
    with _beyond("dynamic_partition", "size"):
        return jaxops.dynamic_partition(data, partitions, num_partitions, name)


def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> jax.Array:
    """`jaxops.dynamic_stitch(indices, data)`."""
    with _beyond("dynamic_stitch", "size"):
        return jaxops.dynamic_stitch(indices, data, name)


def boolean_mask(tensor: Arrayable, mask: Arrayable, name: str = "boolean_mask") -> jax.Array:
    """`jaxops.boolean_mask(tensor, mask)`."""
    with _beyond("boolean_mask", "size"):
        return jaxops.boolean_mask(tensor, mask, name=name)


def one_hot(
    indices: Arrayable,
    depth: int,
    on_value: Arrayable | None = None,
    off_value: Arrayable | None = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> jax.Array:
    """`jaxops.one_hot` with the same arguments."""
    return jaxops.one_hot(indices, depth, on_value, off_value, axis, dtype, name)


def unique_with_counts(x: Arrayable, name: str | None = None) -> Any:
    """`jaxops.unique_with_counts(x)`: a named tuple `(y, idx, count)`."""
    with _beyond("unique_with_counts", "size"):
        return jaxops.unique_with_counts(x, name=name)
