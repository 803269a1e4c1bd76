"""The part of an operand that an index vector selects, in the words of `lax`'s dimension numbers.

Index vectors `indices[..., K]` index `K` axes of the operand. Before these may stand batch
dimensions that operand and indices share. In the result of a gather, and in the updates of a
scatter, the other dimensions of the indices take the place of the indexed axes:

    operand [5, 7, 3], indices [4, 1], axes (1,), batch_dims 0    result [5, 4, 3]
    operand [5, 7, 3], indices [5, 4, 1], axes (1,), batch_dims 1    result [5, 4, 3]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _forms, _symbolic
from jaxops._primitives import all_batched


class Windows(NamedTuple):
    """The axes of the operand that index vectors index, and how many batch dimensions; static."""

    axes: tuple[int, ...]
    batch_dims: int

    @property
    def first(self) -> int:
        return self.axes[0] if self.axes else self.batch_dims

    def slice_sizes(self, operand_shape) -> tuple[int, ...]:
        indexed = (*range(self.batch_dims), *self.axes)
        return tuple(1 if d in indexed else size for d, size in enumerate(operand_shape))

    def window_dims(self, operand_ndim: int, indices_ndim: int) -> tuple[int, ...]:
        """The dimensions of result or updates that run over a window, not over indices."""
        selected = indices_ndim - 1 - self.batch_dims
        rank = operand_ndim - len(self.axes) + selected
        place = range(self.first, self.first + selected)
        return tuple(d for d in range(self.batch_dims, rank) if d not in place)

    def result_shape(self, operand_shape, indices_shape) -> tuple[int, ...]:
        kept = [size for d, size in enumerate(operand_shape) if d not in self.axes]
        selected = indices_shape[self.batch_dims : -1]
        return (*kept[: self.first], *selected, *kept[self.first :])

    def over_result(self, mask: jax.Array, ndim: int) -> jax.Array:
        """A mask over index vectors, with its dimensions where the result has them."""
        b = self.batch_dims
        windows_before = (1,) * (self.first - b)
        shape = mask.shape[:b] + windows_before + mask.shape[b:]
        return mask.reshape(shape + (1,) * (ndim - len(shape)))


ROWS = Windows(axes=(0,), batch_dims=0)  # index vectors are numbers of rows


def lax_gather(
    operand: jax.Array,
    indices: jax.Array,
    windows: Windows,
    mode: lax.GatherScatterMode = lax.GatherScatterMode.PROMISE_IN_BOUNDS,
) -> jax.Array:
    # The policy has looked at the indices already. A gather of a million single elements takes
    # 1.1 ms in the mode "fill", which masks the result, and 0.55 ms in "clip".
    return lax.gather(
        operand,
        indices,
        gather_dimension_numbers(windows, operand.ndim, indices.ndim),
        windows.slice_sizes(operand.shape),
        mode=mode,
    )


def gather_windows(operand: jax.Array, indices: jax.Array, windows: Windows) -> jax.Array:
    """`lax_gather`, or a form of it that programs for the CPU compute faster."""
    return _forms.call(lax_gather, operand, indices, windows=windows)


_LAX_SCATTERS = {
    "add": lax.scatter_add,
    "sub": lax.scatter_sub,
    "mul": lax.scatter_mul,
    "min": lax.scatter_min,
    "max": lax.scatter_max,
    "update": lax.scatter,
}


def lax_scatter(
    operand: jax.Array,
    updates: jax.Array,
    indices: jax.Array,
    *,
    kind: str,
    windows: Windows,
    mode: lax.GatherScatterMode = lax.GatherScatterMode.PROMISE_IN_BOUNDS,
) -> jax.Array:
    """The scatter of `lax` that adds, subtracts, multiplies, takes the "min" or "max", or is an
    "update". The operands in which it is linear are the first."""
    batch = tuple(range(windows.batch_dims))
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=windows.window_dims(operand.ndim, indices.ndim),
        inserted_window_dims=windows.axes,
        scatter_dims_to_operand_dims=windows.axes,
        operand_batching_dims=batch,
        scatter_indices_batching_dims=batch,
    )
    return _LAX_SCATTERS[kind](operand, indices, updates, numbers, mode=mode)


def scatter_windows(
    kind: str,
    operand: jax.Array,
    indices: jax.Array,
    updates: jax.Array,
    windows: Windows,
    mode: lax.GatherScatterMode = lax.GatherScatterMode.PROMISE_IN_BOUNDS,
) -> jax.Array:
    """`lax_scatter`, or a form of it that programs for the CPU compute faster."""
    static = {"kind": kind, "windows": windows, "mode": mode}
    return _forms.call(lax_scatter, operand, updates, indices, **static)


def is_widened(dtype: np.dtype) -> bool:
    """Whether XLA widens this dtype: floats of 8 and 16 bits but float16, in which it computes.

    Narrower ones are left out, as they are stored two in a byte, which NumPy cannot write.
    """
    if dtype == jnp.float16 or not jnp.issubdtype(dtype, jnp.floating):
        return False
    return jnp.finfo(dtype).bits in (8, 16)


def gather_dimension_numbers(
    windows: Windows, operand_ndim: int, indices_ndim: int
) -> lax.GatherDimensionNumbers:
    batch = tuple(range(windows.batch_dims))
    return lax.GatherDimensionNumbers(
        offset_dims=windows.window_dims(operand_ndim, indices_ndim),
        collapsed_slice_dims=windows.axes,
        start_index_map=windows.axes,
        operand_batching_dims=batch,
        start_indices_batching_dims=batch,
    )


def row_numbers(
    indices: jax.Array, batch_dims: int, dims: tuple[int, ...], dtype: Any
) -> jax.Array:
    """Row-major number of the row that each index vector selects; `prod(dims)` if none.

    Rows are counted along the batch dimensions and the indexed axes, whose sizes are `dims`.
    """
    index_shape = indices.shape[:-1]
    numbers = jnp.zeros(index_shape, dtype)
    inside = jnp.ones(index_shape, bool)
    sizes = _symbolic.numbers((*dims, math.prod(dims)), dtype)
    for d in range(len(dims)):
        if d < batch_dims:
            coordinate = lax.broadcasted_iota(dtype, index_shape, d)
        else:
            coordinate = indices[..., d - batch_dims]
            # A cast to the narrower dtype could wrap a large index around, into bounds.
            wide = max(coordinate.dtype, np.dtype(dtype), key=lambda dtype: dtype.itemsize)
            below = coordinate.astype(wide) < sizes[d].astype(wide)
            inside &= (coordinate >= 0) & below
        numbers = numbers * sizes[d] + coordinate.astype(dtype)
    return jnp.where(inside, numbers, sizes[-1])


def index_vectors(numbers: jax.Array, dims: tuple[int, ...]) -> jax.Array:
    """The index vectors along axes of sizes `dims` that select the rows of these numbers.

    For a number of `prod(dims)` or more the vector is out of bounds.
    """
    coordinates = []
    for d in range(1, len(dims)):
        of_one = jnp.asarray(math.prod(dims[d:]), numbers.dtype)
        coordinates.append(numbers // of_one)
        numbers = numbers % of_one
    return jnp.stack([*coordinates, numbers], axis=-1)


def bind_gather_to_batch(bind: Callable, operands, dims, *, windows: Windows):
    """The batching rule of a primitive that gathers windows: itself, with other windows."""
    if dims[0] is None:
        # An operand that the whole batch shares is not copied: the indices get one more dimension
        # (test_dimension_numbers.py, test_a_table_that_lanes_share).
        operand, indices = operands
        indices = jnp.moveaxis(indices, dims[1], windows.batch_dims)
        return bind(operand, indices, windows=windows), windows.first
    return bind_to_batch(bind, operands, dims, windows=windows)


def bind_to_batch(bind: Callable, operands, dims, *, windows: Windows, **static):
    """The batching rule that makes the new dimension one more batch dimension."""
    axes = tuple(axis + 1 for axis in windows.axes)
    windows = Windows(axes, windows.batch_dims + 1)
    return bind(*all_batched(operands, dims), windows=windows, **static), 0
