"""Rows of a ragged array, padded, cut from padding, joined and numbered.

Row `i` is `values[row_splits[i] : row_splits[i + 1]]`. Values from `row_splits[-1]` on belong to no
row: they are there because compiled shapes are static.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from jaxops import _symbolic
from jaxops._indexing import canonical, index_dtypes, policy, result_size
from jaxops._indexing.dimension_numbers import ROWS
from jaxops._indexing.positions import resize, sums_or_largest, take_or_fill, take_rows
from jaxops._indexing.specs import ScalarIndex
from jaxops._ops.ragged_partitions import join, splits_of, to_device, to_partition
from jaxops._ops.sums import check_dtype, wide
from jaxops._ops.unsorted_segments import averaged, initial_of
from jaxops._run import arguments, on_host
from jaxops._run.dispatch import operation
from jaxops._run.static_values import (
    check_addressable,
    is_scalar,
    refuse_traced,
    static_dim,
    static_int_of_one,
)


def row_bounds(row_splits: Any, capacity: int) -> tuple[Any, Any]:
    """The start and the length of each row; of a wrong partition the part within the values."""
    starts = row_splits[:-1].clip(0, capacity)
    return starts, row_splits[1:].clip(starts, capacity) - starts


def check_axis(op: str, axis: Any, rank: int) -> None:
    """Refuses another axis than the ragged one."""
    if static_int_of_one(axis, op, "axis") not in (1, 1 - rank):
        raise ValueError(f"{op}: axis must be 1, the ragged dimension; received {axis}")


@operation(indices=("row_splits",))
def row_lengths(row_splits: jax.Array, *, op: str) -> jax.Array:
    del op
    return row_splits[1:] - row_splits[:-1]


@operation(indices=("row_splits",))
def numbers_of_rows(row_splits: jax.Array, *, op: str, capacity: int) -> jax.Array:
    """The row of each value, the number of rows for one that belongs to none."""
    # The number of rows that end before it, or with it.
    ends, marks = row_splits[1:, None], jnp.ones(row_splits.shape[0] - 1, row_splits.dtype)
    zeros = jnp.zeros(capacity, row_splits.dtype)
    spec = ScalarIndex(op, (capacity,))
    counts = canonical.scatter("add", zeros, ends, marks, ROWS, spec, mode="fill")
    return jnp.cumsum(counts, dtype=counts.dtype)


@operation(data=("values",), indices=("row_splits",))
def reduce_rows(values: jax.Array, row_splits: jax.Array, *, op: str, kind: str) -> jax.Array:
    """The "sum", "mean", "min", "max" or "prod" of the values of each row."""
    dtype, capacity = values.dtype, values.shape[0]
    check_dtype(op, "values", "" if kind == "mean" else kind, dtype)
    nrows = row_splits.shape[0] - 1
    at = numbers_of_rows(row_splits, op=op, capacity=capacity)[:, None]
    if kind == "mean":
        values = values.astype(wide(dtype))
    combine = "add" if kind in ("sum", "mean") else kind
    initial = initial_of(kind, dtype)
    shape = (nrows, *values.shape[1:])
    spec = ScalarIndex(op, (nrows,))
    result = canonical.reduce(combine, initial, shape, at, values, ROWS, spec, mode="fill")
    if kind != "mean":
        return result
    return averaged(kind, result, row_bounds(row_splits, capacity)[1], dtype)


@operation(
    data=("values", "default_value"),
    indices=("row_splits",),
    moves_elements=True,
    like="values",
)
def to_tensor(
    values: jax.Array,
    row_splits: jax.Array,
    default_value: jax.Array | None = None,
    *,
    op: str,
    nrows: int,
    ncols: int,
):
    row_shape = values.shape[1:]
    default = jnp.zeros((), values.dtype) if default_value is None else default_value
    if not arguments.broadcasts(default.shape, row_shape):
        raise ValueError(
            f"{op}: default_value must broadcast to the shape of one value, {row_shape}; "
            f"received shape {default.shape}"
        )
    starts, lengths = (resize(x, nrows) for x in row_bounds(row_splits, values.shape[0]))
    columns = lax.broadcasted_iota(row_splits.dtype, (nrows, ncols), 1)
    held = columns < lengths[:, None]
    at = jnp.where(held, starts[:, None] + columns, -1)
    spec = ScalarIndex(op, values.shape[:1])
    fill = default if default.ndim == 0 else None
    dense = canonical.gather(values, at[..., None], ROWS, spec, mode="fill", fill_value=fill)
    if default.ndim == 0:
        return dense
    held = lax.expand_dims(held, range(2, dense.ndim))
    return jnp.where(held, dense, jnp.broadcast_to(default, dense.shape))


def join_rows(values, starts, lengths, *, op: str, mode: str, size: int, most: int):
    """The rows that start there, one after the other, in `size` places; and their splits."""
    # A look for sums that wrap around doubles the time to compile (test_ragged_rows.py,
    # test_sums_that_fit_are_plain).
    fit = _symbolic.are_known([most]) and most <= jnp.iinfo(lengths.dtype).max
    sums = lax.cumsum(lengths) if fit else sums_or_largest(lengths)
    splits = join(jnp.zeros(1, lengths.dtype), sums)
    spec = result_size.num_elements(op, size, "values of the rows", 'mode="fill"')
    total = result_size.hold(spec, splits[-1], most, mode)
    # Adds 0: XLA drops a check of `total` on which no result depends.
    held = jnp.minimum(splits, size) + (total - splits[-1])
    rows = numbers_of_rows(held, op=op, capacity=size)
    places = lax.iota(lengths.dtype, size)
    valid = places < held[-1]
    offsets = jnp.pad(starts - splits[:-1], (0, 1))  # the last one is of no row
    at = take_rows(offsets, rows, 0) + places
    return take_or_fill(values, at, valid, None, 0), held


def _joined_on_host(
    op: str, values, starts: np.ndarray, lengths: np.ndarray
) -> tuple[Any, jax.Array]:
    """`join_rows` of rows that the host knows: as many places as there are values."""
    on_host.check_size(lengths.sum(dtype=np.int64), op, "the number of values")
    splits = splits_of(lengths)
    positions = np.arange(splits[-1]) + np.repeat(starts - splits[:-1], lengths)
    return on_host.take(values, positions, 0, 1), to_device(splits)


# --- dense arrays, and chosen rows ---


def dense_shape(op: str, values: Any, row_splits: Any, shape: Any) -> tuple[int, int]:
    """The first two dimensions that `to_tensor` gives its result."""
    row_shape = values.shape[1:]
    refuse_traced(shape, op, "shape")
    shape = arguments.readable(shape)
    dims = [None] * (values.ndim + 1) if shape is None else shape
    if is_scalar(dims) or not hasattr(dims, "__len__") or len(dims) != values.ndim + 1:
        raise ValueError(
            f"{op}: shape must be None or have {values.ndim + 1} entries; "
            f"received {arguments.brief(shape)}"
        )
    dims = [None if d is None else static_dim(d, op, "each entry of shape") for d in dims]
    inner = [d for d, size in zip(dims[2:], row_shape, strict=True) if d not in (None, size)]
    if inner or any(d is not None and d < 0 for d in dims):
        raise ValueError(
            f"{op}: shape must have None or a size in its first two entries, and then the shape of "
            f"one value, {row_shape}; received {arguments.brief(shape)}"
        )
    nrows = row_splits.shape[0] - 1 if dims[0] is None else dims[0]
    if dims[1] is not None:
        ncols = dims[1]
    elif isinstance(row_splits, Tracer):
        enough = (None, values.shape[0], *(None for _ in row_shape))
        raise TypeError(
            f"{op}: shape must give the length of rows where row_splits are traced, as it depends "
            f"on them; received shape={arguments.brief(shape)}; {enough} is always enough"
        )
    else:
        ncols = int(row_bounds(np.asarray(row_splits), values.shape[0])[1].max(initial=0))
    check_addressable((nrows, ncols, *row_shape), values.dtype, shape, op, "shape")
    return nrows, ncols


def exactly_from_tensor(op: str, tensor: Any, lengths: Any, padding: Any, dtype: np.dtype):
    """Values and splits of lengths that the host knows."""
    if not _symbolic.are_known(tensor.shape[:2]):
        raise TypeError(
            f"{op}: size must be given where that of tensor is symbolic; received size=None for "
            f"shape {tensor.shape}"
        )
    if lengths is not None:
        lengths = to_partition(op, lengths, "lengths")
    elif padding is not None:
        value = arguments.to_operand(padding, op, "padding")
        padding = arguments.to_dtype(padding, value, tensor.dtype, op, "padding")
    # While `tensor` is differentiated, but neither compiled nor batched, its values are concrete
    # (test_ragged_rows.py, test_gradients_of_exact_results).
    lengths = _lengths_in(op, lax.stop_gradient(tensor), lengths, padding, dtype, np)
    if isinstance(lengths, Tracer):
        found = "tensor is traced, in which padding is found"
        raise TypeError(
            f"{op}: size must be given where {'lengths are traced' if padding is None else found}; "
            f"received size=None; {math.prod(tensor.shape[:2])} is always enough"
        )
    starts, values = _rows_of(tensor, dtype, np)
    # Rows without padding are the values in memory, and are not copied (test_ragged_rows.py,
    # test_a_whole_array_is_not_copied).
    if padding is None and (np.asarray(lengths) == tensor.shape[1]).all():
        return values, to_device(splits_of(np.asarray(lengths)))
    return _joined_on_host(op, values, starts, np.asarray(lengths))


@operation(data=("tensor", "padding"), indices=("lengths",), like="tensor")
def from_tensor(
    tensor: jax.Array,
    lengths: jax.Array | None = None,
    padding: jax.Array | None = None,
    *,
    op: str,
    mode: str,
    size: int,
    dtype: np.dtype,
):
    lengths = None if lengths is None else index_dtypes.to_signed(lengths, op)
    lengths = _lengths_in(op, tensor, lengths, padding, dtype, jnp)
    starts, values = _rows_of(tensor, dtype, jnp)
    return join_rows(values, starts, lengths, op=op, mode=mode, size=size, most=values.shape[0])


def _rows_of(tensor: jax.Array, dtype: np.dtype, xp: ModuleType) -> tuple[Any, jax.Array]:
    nrows, ncols = tensor.shape[:2]
    (step,) = _symbolic.numbers([ncols], dtype)
    starts = xp.arange(nrows, dtype=dtype) * step
    return starts, tensor.reshape(on_host.merge_axes(tensor.shape, 0, 2))


def _lengths_in(
    op: str, tensor: jax.Array, lengths: Any, padding: Any, dtype: np.dtype, xp: ModuleType
) -> Any:
    """The number of values that count, of each row of `tensor`.

    If all values count, `xp` makes the lengths: NumPy, or `jax.numpy` in a program.
    """
    if tensor.ndim < 2:
        raise ValueError(f"{op}: tensor must have rank 2 at least; received shape {tensor.shape}")
    nrows, ncols = tensor.shape[:2]
    if _symbolic.are_known((nrows, ncols)) and max(ncols, nrows * ncols) > np.iinfo(dtype).max:
        raise ValueError(
            f"{op}: row_splits_dtype must count {nrows} rows of {ncols} values; received "
            f"{dtype.name}; take int64, and {arguments.X64_HINT}"
        )
    if padding is not None:
        if padding.shape != tensor.shape[2:]:
            raise ValueError(
                f"{op}: padding must have the shape of one value, {tensor.shape[2:]}; "
                f"received shape {padding.shape}"
            )
        differs = tensor != lax.broadcast(padding, (nrows, ncols))
        differs = jnp.any(differs, axis=range(2, tensor.ndim))
        places = lax.broadcasted_iota(dtype, (nrows, ncols), 1) + 1
        return jnp.max(jnp.where(differs, places, 0), axis=1, initial=0)
    if lengths is None:
        return xp.full(nrows, ncols, dtype)
    if lengths.shape != (nrows,):
        raise ValueError(
            f"{op}: lengths must have one number for each of {nrows} rows; "
            f"received shape {lengths.shape}"
        )
    return lengths.clip(0, ncols).astype(dtype)


def exactly_gather(op: str, values: Any, row_splits: Any, indices: Any, mode: str):
    """The rows at `indices`, all of which the host knows."""
    indices = to_partition(op, indices, "indices")
    if not isinstance(indices, np.ndarray) or isinstance(row_splits, Tracer):
        raise TypeError(
            f"{op}: size must be given where indices or row_splits are traced; received size=None"
        )
    starts, lengths = row_bounds(np.asarray(row_splits), values.shape[0])
    spec = ScalarIndex(op, lengths.shape)
    at = policy.resolve_on_host(spec, indices, mode, on_host.platform_of(values))
    starts, lengths = (np.append(x, x.dtype.type(0)) for x in (starts, lengths))  # -1 is no row
    return _joined_on_host(op, values, starts[at], lengths[at])


@operation(data=("values",), indices=("row_splits", "indices"), moves_elements=True)
def gather(
    values: jax.Array, row_splits: jax.Array, indices: jax.Array, *, op: str, mode: str, size: int
):
    if indices.ndim != 1:
        raise ValueError(f"{op}: indices must be a vector; received shape {indices.shape}")
    row_splits = index_dtypes.to_signed(row_splits, op)
    rows = jnp.stack(row_bounds(row_splits, values.shape[0]), -1)
    spec = ScalarIndex(op, rows.shape[:1])
    rows = canonical.gather(rows, indices[:, None], ROWS, spec, mode=mode)
    most = indices.shape[0] * values.shape[0]
    return join_rows(values, rows[:, 0], rows[:, 1], op=op, mode=mode, size=size, most=most)
