"""TensorFlow 0.x's `array_ops` under its signatures: names and orders of arguments, defaults.

Adapters of the functions of `jaxops`, whose docstrings say all the rest: dtypes, bounds, gradients,
errors. Code for TensorFlow 0.x moves over with the module name changed. The functions here lack
arguments that TensorFlow 0.x did not have (`mode`, `size`, ...).

Where the releases from 0.5 to 0.12 spell a call in different ways, all of them are taken. Arguments
without names that two releases read differently are refused with both readings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.typing import DTypeLike

import jaxops
from jaxops._frames import without_frames as _without_frames
from jaxops._ops.setdiff1d import ListDiff
from jaxops._ops.unique import Unique, UniqueWithCounts
from jaxops._ops.where import select as _select
from jaxops._run.arguments import ArrayLike, Int, Ints
from jaxops._run.arguments import check_bool as _check_bool
from jaxops.compat._spelling import beyond as _beyond
from jaxops.compat._spelling import once_without as _once_without
from jaxops.compat._spelling import one_of as _one_of
from jaxops.compat._spelling import spelled as _spelled
from jaxops.compat._spelling import under_names as _under_names
from jaxops.compat._v0_blocks import batch_to_space as batch_to_space
from jaxops.compat._v0_blocks import batch_to_space_nd as batch_to_space_nd
from jaxops.compat._v0_blocks import depth_to_space as depth_to_space
from jaxops.compat._v0_blocks import extract_image_patches as extract_image_patches
from jaxops.compat._v0_blocks import (
    required_space_to_batch_paddings as required_space_to_batch_paddings,
)
from jaxops.compat._v0_blocks import space_to_batch as space_to_batch
from jaxops.compat._v0_blocks import space_to_batch_nd as space_to_batch_nd
from jaxops.compat._v0_blocks import space_to_depth as space_to_depth
from jaxops.compat._v0_joining import concat as concat
from jaxops.compat._v0_joining import concat_v2 as concat_v2
from jaxops.compat._v0_joining import pack as pack
from jaxops.compat._v0_joining import pad as pad
from jaxops.compat._v0_joining import parallel_stack as parallel_stack
from jaxops.compat._v0_joining import reverse as reverse
from jaxops.compat._v0_joining import reverse_sequence as reverse_sequence
from jaxops.compat._v0_joining import reverse_v2 as reverse_v2
from jaxops.compat._v0_joining import slice as slice
from jaxops.compat._v0_joining import split as split
from jaxops.compat._v0_joining import split_v as split_v
from jaxops.compat._v0_joining import stack as stack
from jaxops.compat._v0_joining import strided_slice as strided_slice
from jaxops.compat._v0_joining import tile as tile
from jaxops.compat._v0_joining import transpose as transpose
from jaxops.compat._v0_joining import unpack as unpack
from jaxops.compat._v0_joining import unstack as unstack
from jaxops.compat._v0_matrices import diag as diag
from jaxops.compat._v0_matrices import diag_part as diag_part
from jaxops.compat._v0_matrices import fill as fill
from jaxops.compat._v0_matrices import matrix_band_part as matrix_band_part
from jaxops.compat._v0_matrices import matrix_diag as matrix_diag
from jaxops.compat._v0_matrices import matrix_diag_part as matrix_diag_part
from jaxops.compat._v0_matrices import matrix_set_diag as matrix_set_diag
from jaxops.compat._v0_matrices import matrix_transpose as matrix_transpose
from jaxops.compat._v0_matrices import meshgrid as meshgrid
from jaxops.compat._v0_matrices import range as range
from jaxops.compat._v0_segments import segment_max as segment_max
from jaxops.compat._v0_segments import segment_mean as segment_mean
from jaxops.compat._v0_segments import segment_min as segment_min
from jaxops.compat._v0_segments import segment_prod as segment_prod
from jaxops.compat._v0_segments import segment_sum as segment_sum
from jaxops.compat._v0_segments import sparse_segment_mean as sparse_segment_mean
from jaxops.compat._v0_segments import sparse_segment_sqrt_n as sparse_segment_sqrt_n
from jaxops.compat._v0_segments import sparse_segment_sum as sparse_segment_sum
from jaxops.compat._v0_segments import unsorted_segment_sum as unsorted_segment_sum

# Not `range` and `slice`: `from jaxops.compat.v0 import *` is not to replace Python's own.
__all__ = [
    "batch_to_space",
    "batch_to_space_nd",
    "bitcast",
    "boolean_mask",
    "cast",
    "concat",
    "concat_v2",
    "depth_to_space",
    "diag",
    "diag_part",
    "dynamic_partition",
    "dynamic_stitch",
    "expand_dims",
    "extract_image_patches",
    "fill",
    "gather",
    "gather_nd",
    "invert_permutation",
    "listdiff",
    "matrix_band_part",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_set_diag",
    "matrix_transpose",
    "meshgrid",
    "one_hot",
    "pack",
    "pad",
    "parallel_stack",
    "rank",
    "required_space_to_batch_paddings",
    "reshape",
    "reverse",
    "reverse_sequence",
    "reverse_v2",
    "saturate_cast",
    "scatter_nd",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "select",
    "sequence_mask",
    "setdiff1d",
    "shape",
    "shape_n",
    "size",
    "space_to_batch",
    "space_to_batch_nd",
    "space_to_depth",
    "sparse_segment_mean",
    "sparse_segment_sqrt_n",
    "sparse_segment_sum",
    "split",
    "split_v",
    "squeeze",
    "stack",
    "stop_gradient",
    "strided_slice",
    "string_to_number",
    "tile",
    "to_bfloat16",
    "to_double",
    "to_float",
    "to_int32",
    "to_int64",
    "transpose",
    "unique",
    "unique_with_counts",
    "unpack",
    "unsorted_segment_sum",
    "unstack",
    "where",
]


def __dir__() -> list[str]:
    return [*__all__, "range", "slice"]


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


def to_double(x: ArrayLike, name: str = "ToDouble") -> jax.Array:
    """`jaxops.to_double(x)`."""
    return jaxops.to_double(x, name)


def to_float(x: ArrayLike, name: str = "ToFloat") -> jax.Array:
    """`jaxops.to_float(x)`."""
    return jaxops.to_float(x, name)


def to_bfloat16(x: ArrayLike, name: str = "ToBFloat16") -> jax.Array:
    """`jaxops.to_bfloat16(x)`."""
    return jaxops.to_bfloat16(x, name)


def to_int32(x: ArrayLike, name: str = "ToInt32") -> jax.Array:
    """`jaxops.to_int32(x)`."""
    return jaxops.to_int32(x, name)


def to_int64(x: ArrayLike, name: str = "ToInt64") -> jax.Array:
    """`jaxops.to_int64(x)`."""
    return jaxops.to_int64(x, name)


def cast(x: ArrayLike, dtype: DTypeLike, name: str | None = None) -> jax.Array:
    """`jaxops.cast(x, dtype)`."""
    return jaxops.cast(x, dtype, name)


def saturate_cast(value: ArrayLike, dtype: DTypeLike, name: str | None = None) -> jax.Array:
    """`jaxops.saturate_cast(value, dtype)`."""
    return jaxops.saturate_cast(value, dtype, name)


def bitcast(input: ArrayLike, type: DTypeLike, name: str | None = None) -> jax.Array:
    """`jaxops.bitcast(input, type)`."""
    return jaxops.bitcast(input, type, name)


# Shapes and shaping


def shape(input: ArrayLike, name: str | None = None, out_type: DTypeLike = np.int32) -> np.ndarray:
    """`jaxops.shape(input, out_type)`."""
    return jaxops.shape(input, out_type, name)


@_once_without("out_type", "0.5 to 0.10", "0.11 and 0.12")
def shape_n(
    input: Sequence[ArrayLike], out_type: DTypeLike | None = None, name: str | None = None
) -> list[np.ndarray]:
    """`jaxops.shape_n(input, out_type)`; `out_type` defaults to int32."""
    return jaxops.shape_n(input, np.int32 if out_type is None else out_type, name)


def size(
    input: ArrayLike, name: str | None = None, out_type: DTypeLike = np.int32
) -> np.signedinteger[Any]:
    """`jaxops.size(input, out_type)`."""
    return jaxops.size(input, out_type, name)


def rank(input: ArrayLike, name: str | None = None) -> np.int32:
    """`jaxops.rank(input)`, int32."""
    return jaxops.rank(input, name)


def reshape(tensor: ArrayLike, shape: Ints, name: str | None = None) -> jax.Array:
    """`jaxops.reshape(tensor, shape)`."""
    return jaxops.reshape(tensor, shape, name)


def squeeze(
    input: ArrayLike,
    axis: Int | Ints | None = None,
    name: str | None = None,
    squeeze_dims: Int | Ints | None = None,
) -> jax.Array:
    """`jaxops.squeeze(input, axis)`; `axis` is `squeeze_dims` before 0.12.

    No dimension, `[]`, means all of size 1.
    """
    arg, axis = _one_of("squeeze", axis=axis, squeeze_dims=squeeze_dims)
    with _under_names(axis=arg):
        return jaxops.squeeze(input, axis, name)


def expand_dims(
    input: ArrayLike,
    axis: Int | Ints | None = None,
    name: str | None = None,
    dim: Int | Ints | None = None,
) -> jax.Array:
    """`jaxops.expand_dims(input, axis)`; `axis` is `dim` before 0.12."""
    arg, place = _one_of("expand_dims", axis=axis, dim=dim)
    with _under_names(axis=arg):
        return jaxops.expand_dims(input, place, name)


# Indexing


@_once_without("validate_indices", "0.5", "0.6 to 0.12")
def gather(
    params: ArrayLike,
    indices: ArrayLike,
    validate_indices: bool | None = None,
    name: str | None = None,
) -> jax.Array:
    """`jaxops.gather(params, indices)`; `validate_indices=False` is `mode="promise_in_bounds"`."""
    is_unchecked = validate_indices is not None and not _check_bool(
        validate_indices, "gather", "validate_indices"
    )
    mode = "promise_in_bounds" if is_unchecked else "device"
    return jaxops.gather(params, indices, name=name, mode=mode)


def gather_nd(params: ArrayLike, indices: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.gather_nd(params, indices)`."""
    return jaxops.gather_nd(params, indices, name=name)


def dynamic_partition(
    data: ArrayLike, partitions: ArrayLike, num_partitions: Int, name: str | None = None
) -> list[jax.Array]:
    """`jaxops.dynamic_partition(data, partitions, num_partitions)`."""
    with _beyond("dynamic_partition", "size"):
        return jaxops.dynamic_partition(data, partitions, num_partitions, name)


def dynamic_stitch(
    indices: Sequence[ArrayLike], data: Sequence[ArrayLike], name: str | None = None
) -> jax.Array:
    """`jaxops.dynamic_stitch(indices, data)`."""
    with _beyond("dynamic_stitch", "size"):
        return jaxops.dynamic_stitch(indices, data, name)


def boolean_mask(tensor: ArrayLike, mask: ArrayLike, name: str = "boolean_mask") -> jax.Array:
    """`jaxops.boolean_mask(tensor, mask)`."""
    with _beyond("boolean_mask", "size"):
        return jaxops.boolean_mask(tensor, mask, name=name)


def sequence_mask(
    lengths: ArrayLike,
    maxlen: Int | None = None,
    dtype: DTypeLike | None = bool,
    name: str | None = None,
) -> jax.Array:
    """`jaxops.sequence_mask` with the same arguments."""
    return jaxops.sequence_mask(lengths, maxlen, dtype, name)


def _where_of_two(condition: ArrayLike, x: Any, y: Any, name: str | None = None) -> jax.Array:
    return _select("where", condition, x, y, name, by_rows=True)


def _where_condition(*, condition: ArrayLike, name: str | None = None) -> jax.Array:
    with _beyond("where", "size"):
        return jaxops.where(condition, name=name)


@_spelled("0.5 to 0.12", (_where_of_two, "1.0"), (_where_condition, "1.0"))
def where(input: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.where(input)`: the positions of its true elements.

    Also `where(condition, x, y)`, which is `select`.
    """
    with _beyond("where", "size"), _under_names(condition="input"):
        return jaxops.where(input, name=name)


def select(condition: ArrayLike, t: ArrayLike, e: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.where(condition, t, e)`; a condition of rank 1 chooses rows.

    Example:
        >>> from jaxops.compat import v0
        >>> v0.select([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]])
        Array([[1, 2],
               [7, 8]], dtype=int32)
    """
    with _under_names(x="t", y="e"):
        return _select("select", condition, t, e, name, by_rows=True)


def invert_permutation(x: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.invert_permutation(x)`."""
    return jaxops.invert_permutation(x, name)


@_once_without("dtype", "0.7", "0.8 to 0.12")
def one_hot(
    indices: ArrayLike,
    depth: Int,
    on_value: ArrayLike | None = None,
    off_value: ArrayLike | None = None,
    axis: Int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> jax.Array:
    """`jaxops.one_hot` with the same arguments."""
    return jaxops.one_hot(indices, depth, on_value, off_value, axis, dtype, name)


@_once_without("out_idx", "0.5 to 0.10", "0.11 and 0.12")
def unique(x: ArrayLike, out_idx: DTypeLike | None = None, name: str | None = None) -> Unique:
    """`jaxops.unique(x, out_idx)`: a named tuple `(y, idx)`."""
    with _beyond("unique", "size"), _beyond("unique", "axis"):
        return jaxops.unique(x, np.int32 if out_idx is None else out_idx, name)


@_once_without("out_idx", "0.5 to 0.10", "0.11 and 0.12")
def unique_with_counts(
    x: ArrayLike, out_idx: DTypeLike | None = None, name: str | None = None
) -> UniqueWithCounts:
    """`jaxops.unique_with_counts(x, out_idx)`: a named tuple `(y, idx, count)`."""
    with _beyond("unique_with_counts", "size"), _beyond("unique_with_counts", "axis"):
        return jaxops.unique_with_counts(x, np.int32 if out_idx is None else out_idx, name)


@_once_without("out_idx", "0.5 to 0.10", "0.11 and 0.12")
def listdiff(
    x: ArrayLike, y: ArrayLike, out_idx: DTypeLike | None = None, name: str | None = None
) -> ListDiff:
    """`jaxops.setdiff1d(x, y, out_idx)`: a named tuple `(out, idx)`.

    Example:
        >>> from jaxops.compat import v0
        >>> v0.listdiff([1, 2, 3, 4], [1, 3]).out
        Array([2, 4], dtype=int32)
    """
    with _beyond("setdiff1d", "size"), _under_names(setdiff1d="listdiff", index_dtype="out_idx"):
        return jaxops.setdiff1d(x, y, np.int32 if out_idx is None else out_idx, name)


def setdiff1d(
    x: ArrayLike, y: ArrayLike, index_dtype: DTypeLike = np.int32, name: str | None = None
) -> ListDiff:
    """`jaxops.setdiff1d(x, y, index_dtype)`: a named tuple `(out, idx)`; of 0.12."""
    with _beyond("setdiff1d", "size"):
        return jaxops.setdiff1d(x, y, index_dtype, name)


def scatter_nd(
    indices: ArrayLike, updates: ArrayLike, shape: Ints, name: str | None = None
) -> jax.Array:
    """`jaxops.scatter_nd(indices, updates, shape)`; of 0.12."""
    return jaxops.scatter_nd(indices, updates, shape, name=name)


def stop_gradient(input: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.stop_gradient(input)`."""
    return jaxops.stop_gradient(input, name)


for _name in __dir__():
    globals()[_name] = _without_frames(globals()[_name], __name__)
