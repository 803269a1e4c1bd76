"""Scatter-add with a fixed order of summation, and the gather whose gradient it is.

On a GPU the updates of `lax.scatter_add` that meet in one element are added in the order in which
threads arrive. Here they are sorted by target, summed by a segmented scan, whose tree of additions
depends on nothing but the indices, and added to targets that are distinct.

The two are each other's transpose, which needs primitives of their own: derivatives of the scan
would be as slow as they are needless, and `jax.custom_vjp` would lose forward mode.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.interpreters import ad

from jaxops import _symbolic
from jaxops._indexing.dimension_numbers import (
    Windows,
    bind_gather_to_batch,
    bind_to_batch,
    index_vectors,
    is_widened,
    lax_gather,
    row_numbers,
    scatter_windows,
)
from jaxops._primitives import linear_primitive, varying_alike

_DROP = lax.GatherScatterMode.FILL_OR_DROP


def gather(operand: jax.Array, indices: jax.Array, windows: Windows) -> jax.Array:
    """`lax_gather`, with the transpose `scatter_add`."""
    return gather_p.bind(*varying_alike(operand, indices), windows=windows)


def scatter_add(
    operand: jax.Array, indices: jax.Array, updates: jax.Array, windows: Windows
) -> jax.Array:
    """Adds `updates` in a fixed order; indices out of bounds are dropped."""
    return scatter_add_p.bind(*varying_alike(operand, updates, indices), windows=windows)


def check_countable(operand: jax.Array, indices: jax.Array, windows: Windows, op: str) -> None:
    """Refuses arrays that `scatter_add` would refuse, in the name of the function `op`."""
    try:
        _dtype_of_row_numbers(_indexed_dims(operand.shape, windows), indices.shape[:-1])
    except ValueError as error:
        raise ValueError(f"{op}: {error}") from None


def _scatter_add(operand, updates, indices, *, windows: Windows):
    """Sorts the updates by row, sums runs of one row, and adds each sum to its row.

    Targets [2, 0, 2] with updates [a, b, c] become [0, 2, 2] with [b, a, c], and the scan gives
    [b, a, a + c]. The last sum of each run goes to its row: b to 0, a + c to 2.
    """
    if updates.size == 0:
        return operand
    indexed = (*range(windows.batch_dims), *windows.axes)
    dims = _indexed_dims(operand.shape, windows)
    rows = math.prod(dims)
    by_row = sort_rows(indices, windows, operand.shape)
    n, targets = by_row.order.shape[0], by_row.targets
    # A tree of additions adds neighbours first, then their sums. The shape of the tree depends on
    # the number of updates alone (test_deterministic_sums.py, test_order_of_summation).
    _, sums = lax.associative_scan(
        _add_within_segment, (by_row.starts[:, None], by_row.values_of(updates))
    )
    # The last row of a segment holds its sum. All others go to distinct rows that do not exist. So
    # no two additions meet, in whatever order a GPU makes them (test_deterministic_sums.py,
    # test_no_two_updates_meet_in_a_deterministic_program).
    targets = jnp.where(by_row.ends, targets, rows + jnp.arange(n, dtype=targets.dtype))

    if indexed and is_widened(operand.dtype) and indexed == tuple(range(len(indexed))):
        # The operand keeps its shape: a reshaped one would not be updated in place
        # (test_narrow_scatter.py, test_memory_of_scatters_is_that_of_the_updates).
        vectors = index_vectors(targets, dims)
        sums = sums.reshape(n, *operand.shape[len(indexed) :])
        leading = Windows(axes=indexed, batch_dims=0)
        return scatter_windows("add", operand, vectors, sums, leading, _DROP)
    order = (*indexed, *(d for d in range(operand.ndim) if d not in indexed))
    table = operand.transpose(order)
    added = table.reshape(rows, -1).at[targets].add(sums, mode="drop", unique_indices=True)
    return added.reshape(table.shape).transpose(*map(order.index, range(operand.ndim)))


class SortedRows(NamedTuple):
    """Updates sorted by the row of the operand that they go to, stably."""

    order: jax.Array
    targets: jax.Array  # numbers of rows, in that order
    starts: jax.Array  # whether a run of one row begins there
    ends: jax.Array
    window_dims: tuple[int, ...]

    def values_of(self, updates: jax.Array) -> jax.Array:
        """The updates in order, each as a row."""
        selecting = [d for d in range(updates.ndim) if d not in self.window_dims]
        rows = updates.transpose(*selecting, *self.window_dims)
        return rows.reshape(self.order.shape[0], -1)[self.order]

    def back(self, rows: jax.Array, like: jax.Array) -> jax.Array:
        """Rows in order as updates, of the shape of `like`."""
        selecting = [d for d in range(like.ndim) if d not in self.window_dims]
        dims = (*selecting, *self.window_dims)
        rows = jnp.zeros_like(rows).at[self.order].set(rows, unique_indices=True)
        return rows.reshape([like.shape[d] for d in dims]).transpose(
            *map(dims.index, range(like.ndim))
        )


def sort_rows(indices: jax.Array, windows: Windows, shape: tuple[int, ...]) -> SortedRows:
    """The order by row of updates of windows of an operand of `shape`."""
    dims, vectors = _indexed_dims(shape, windows), indices.shape[:-1]
    dtype = _dtype_of_row_numbers(dims, vectors)
    targets = row_numbers(indices, windows.batch_dims, dims, dtype).reshape(math.prod(vectors))
    order = jnp.argsort(targets, stable=True)
    targets = targets[order]
    starts = jnp.concatenate([jnp.ones(1, bool), targets[1:] != targets[:-1]])
    ends = jnp.concatenate([starts[1:], jnp.ones(1, bool)])
    window_dims = windows.window_dims(len(shape), indices.ndim)
    return SortedRows(order, targets, starts, ends, window_dims)


def _indexed_dims(shape: tuple[int, ...], windows: Windows) -> tuple[int, ...]:
    return tuple(shape[d] for d in (*range(windows.batch_dims), *windows.axes))


def _dtype_of_row_numbers(dims: tuple[int, ...], index_shape: tuple[int, ...]):
    if not _symbolic.are_known((*dims, *index_shape)):
        return jax.dtypes.canonicalize_dtype(jnp.int64)  # the dtype of JAX's own symbolic sizes
    rows = math.prod(dims)
    if rows + math.prod(index_shape) <= jnp.iinfo(jnp.int32).max:
        return jnp.int32
    if not jax.config.read("jax_enable_x64"):
        raise ValueError(
            f"deterministic=True: {rows} rows take 64-bit row numbers; "
            'jax.config.update("jax_enable_x64", True) switches them on'
        )
    return jnp.int64


def _add_within_segment(left, right):
    left_starts, left_sum = left
    right_starts, right_sum = right
    return left_starts | right_starts, jnp.where(right_starts, right_sum, left_sum + right_sum)


def _gather_transpose(cotangent, operand, indices, *, windows):
    zeros = ad.instantiate_zeros(ad.Zero(operand.aval))  # sharded as the operand's type says
    return scatter_add(zeros, indices, cotangent, windows), None


def _scatter_add_transpose(cotangent, operand, updates, indices, *, windows):
    operand_bar = cotangent if ad.is_undefined_primal(operand) else None
    updates_bar = gather(cotangent, indices, windows) if ad.is_undefined_primal(updates) else None
    return operand_bar, updates_bar, None


gather_p = linear_primitive(
    "gather_with_deterministic_transpose",
    lax_gather,
    num_linear=1,
    batch=bind_gather_to_batch,
    transpose=_gather_transpose,
)
scatter_add_p = linear_primitive(
    "deterministic_scatter_add",
    _scatter_add,
    num_linear=2,
    batch=bind_to_batch,
    transpose=_scatter_add_transpose,
)
scatter_add_p.def_impl(jax.jit(_scatter_add, static_argnames="windows"))
