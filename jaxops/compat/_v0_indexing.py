"""TensorFlow 0.x's functions of dtypes, shapes and indices; see `v0.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.typing import DTypeLike

import jaxops
from jaxops._ops.setdiff1d import ListDiff
from jaxops._ops.unique import Unique, UniqueWithCounts
from jaxops._ops.where import select as _select
from jaxops._run.arguments import ArrayLike, Int, Ints
from jaxops._run.static_values import check_bool
from jaxops.compat._spelling import beyond, once_without, one_of, spelled, under_names

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
    with under_names(input="string_tensor"):
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


# Shapes and shaping


def shape(input: ArrayLike, name: str | None = None, out_type: DTypeLike = np.int32) -> np.ndarray:
    """`jaxops.shape(input, out_type)`."""
    return jaxops.shape(input, out_type, name)


@once_without("out_type", "0.5 to 0.10", "0.11 and 0.12")
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
    arg, axis = one_of("squeeze", axis=axis, squeeze_dims=squeeze_dims)
    with under_names(axis=arg):
        return jaxops.squeeze(input, axis, name)


def expand_dims(
    input: ArrayLike,
    axis: Int | Ints | None = None,
    name: str | None = None,
    dim: Int | Ints | None = None,
) -> jax.Array:
    """`jaxops.expand_dims(input, axis)`; `axis` is `dim` before 0.12."""
    arg, place = one_of("expand_dims", axis=axis, dim=dim)
    with under_names(axis=arg):
        return jaxops.expand_dims(input, place, name)


# Indexing


@once_without("validate_indices", "0.5", "0.6 to 0.12")
def gather(
    params: ArrayLike,
    indices: ArrayLike,
    validate_indices: bool | None = None,
    name: str | None = None,
) -> jax.Array:
    """`jaxops.gather(params, indices)`; `validate_indices=False` is `mode="promise_in_bounds"`."""
    is_unchecked = validate_indices is not None and not check_bool(
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
    with beyond("dynamic_partition", "size"):
        return jaxops.dynamic_partition(data, partitions, num_partitions, name)


def dynamic_stitch(
    indices: Sequence[ArrayLike], data: Sequence[ArrayLike], name: str | None = None
) -> jax.Array:
    """`jaxops.dynamic_stitch(indices, data)`."""
    with beyond("dynamic_stitch", "size"):
        return jaxops.dynamic_stitch(indices, data, name)


def boolean_mask(tensor: ArrayLike, mask: ArrayLike, name: str = "boolean_mask") -> jax.Array:
    """`jaxops.boolean_mask(tensor, mask)`."""
    with beyond("boolean_mask", "size"):
        return jaxops.boolean_mask(tensor, mask, name=name)


def _where_of_two(condition: ArrayLike, x: Any, y: Any, name: str | None = None) -> jax.Array:
    return _select("where", condition, x, y, name, by_rows=True)


def _where_condition(*, condition: ArrayLike, name: str | None = None) -> jax.Array:
    with beyond("where", "size"):
        return jaxops.where(condition, name=name)


@spelled("0.5 to 0.12", (_where_of_two, "1.0"), (_where_condition, "1.0"))
def where(input: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.where(input)`: the positions of its true elements.

    Also `where(condition, x, y)`, which is `select`.
    """
    with beyond("where", "size"), under_names(condition="input"):
        return jaxops.where(input, name=name)


def select(condition: ArrayLike, t: ArrayLike, e: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.where(condition, t, e)`; a condition of rank 1 chooses rows.

    Example:
        >>> from jaxops.compat import v0
        >>> v0.select([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]])
        Array([[1, 2],
               [7, 8]], dtype=int32)
    """
    with under_names(x="t", y="e"):
        return _select("select", condition, t, e, name, by_rows=True)


def invert_permutation(x: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.invert_permutation(x)`."""
    return jaxops.invert_permutation(x, name)


@once_without("dtype", "0.7", "0.8 to 0.12")
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


@once_without("out_idx", "0.5 to 0.10", "0.11 and 0.12")
def unique(x: ArrayLike, out_idx: DTypeLike | None = None, name: str | None = None) -> Unique:
    """`jaxops.unique(x, out_idx)`: a named tuple `(y, idx)`."""
    with beyond("unique", "size"), beyond("unique", "axis"):
        return jaxops.unique(x, np.int32 if out_idx is None else out_idx, name)


@once_without("out_idx", "0.5 to 0.10", "0.11 and 0.12")
def unique_with_counts(
    x: ArrayLike, out_idx: DTypeLike | None = None, name: str | None = None
) -> UniqueWithCounts:
    """`jaxops.unique_with_counts(x, out_idx)`: a named tuple `(y, idx, count)`."""
    with beyond("unique_with_counts", "size"), beyond("unique_with_counts", "axis"):
        return jaxops.unique_with_counts(x, np.int32 if out_idx is None else out_idx, name)


@once_without("out_idx", "0.5 to 0.10", "0.11 and 0.12")
def listdiff(
    x: ArrayLike, y: ArrayLike, out_idx: DTypeLike | None = None, name: str | None = None
) -> ListDiff:
    """`jaxops.setdiff1d(x, y, out_idx)`: a named tuple `(out, idx)`.

    Example:
        >>> from jaxops.compat import v0
        >>> v0.listdiff([1, 2, 3, 4], [1, 3]).out
        Array([2, 4], dtype=int32)
    """
    with beyond("setdiff1d", "size"), under_names(setdiff1d="listdiff", index_dtype="out_idx"):
        return jaxops.setdiff1d(x, y, np.int32 if out_idx is None else out_idx, name)


def setdiff1d(
    x: ArrayLike, y: ArrayLike, index_dtype: DTypeLike = np.int32, name: str | None = None
) -> ListDiff:
    """`jaxops.setdiff1d(x, y, index_dtype)`: a named tuple `(out, idx)`; of 0.12."""
    with beyond("setdiff1d", "size"):
        return jaxops.setdiff1d(x, y, index_dtype, name)


def scatter_nd(
    indices: ArrayLike, updates: ArrayLike, shape: Ints, name: str | None = None
) -> jax.Array:
    """`jaxops.scatter_nd(indices, updates, shape)`; of 0.12."""
    return jaxops.scatter_nd(indices, updates, shape, name=name)
