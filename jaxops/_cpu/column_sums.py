"""The gather along a later axis, with a gradient that is added up row by row on a CPU.

The gradient adds cotangents of columns to columns. XLA's CPU compiler makes one scatter of it,
which goes down all rows for each column, and touches another cache line with each element. Here
there is one scatter for each row, which stays in the cache.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import lax
from jax.interpreters import ad

from jaxops import _forms, _symbolic
from jaxops._indexing.dimension_numbers import (
    Windows,
    bind_gather_to_batch,
    lax_gather,
    scatter_windows,
)


def _is_added_by_row(operand: jax.Array, indices: jax.Array, *, windows: Windows) -> bool:
    """Whether the gradient takes less time row by row."""
    if not jnp.issubdtype(operand.dtype, jnp.inexact):
        return False
    if jax.typeof(operand).sharding.mesh.explicit_axes:
        return False  # how the sum is sharded is for `lax` to say
    return _is_faster(operand.shape, indices.shape, windows)


def _is_faster(shape: tuple[int, ...], indices_shape: tuple[int, ...], windows: Windows) -> bool:
    """The limits are measured, with jax 0.10.2.

    Short rows take longer row by row, and so do rows from which little is gathered, as each row is
    filled with zeros in the cache and then copied.
    """
    first = windows.first
    if windows.batch_dims or first == 0 or not _symbolic.are_known((*shape, *indices_shape)):
        return False
    gathered = math.prod(windows.result_shape(shape, indices_shape)[first:])
    rows, row = math.prod(shape[:first]), math.prod(shape[first:])
    # This form takes 0.4 of the time of XLA's scatter for the gradient of 1,024 of 4,096 columns of
    # 2,048 rows. The test has a case on each side of each limit (test_column_sums.py,
    # test_gradient_is_numpys).
    return rows >= 8 and gathered >= 256 and 4 * gathered >= row


def _add_columns(updates, indices, *, windows: Windows, shape: tuple[int, ...]):
    """An array of `shape` with the sums of `updates`."""
    return scatter_windows("add", jnp.zeros(shape, updates.dtype), indices, updates, windows)


def _add_by_row(updates, indices, *, windows: Windows, shape: tuple[int, ...]):
    first = windows.first
    of_row = Windows(tuple(axis - first for axis in windows.axes), 0)

    def add(updates):
        return _add_columns(updates, indices, windows=of_row, shape=shape[first:])

    return lax.map(add, updates.reshape(-1, *updates.shape[first:])).reshape(shape)


def _is_added_faster(updates, indices, *, windows: Windows, shape: tuple[int, ...]) -> bool:
    del updates
    return _is_faster(shape, indices.shape, windows)


def _transpose(cotangent, operand, indices, *, windows: Windows):
    assert ad.is_undefined_primal(operand)
    # The gather may have been batched meanwhile, and its sums be no longer faster by row.
    static = {"windows": windows, "shape": operand.aval.shape}
    return [_forms.call(_add_columns, cotangent, indices, **static), None]


_forms.register(
    _add_columns,
    "add_columns",
    form=_add_by_row,
    num_linear=1,
    is_for=_is_added_faster,
)
# The gather itself stays as it is: only its transpose differs.
_forms.register(
    lax_gather,
    "gather_columns",
    form=lax_gather,
    num_linear=1,
    is_for=_is_added_by_row,
    batch=bind_gather_to_batch,
    transpose=_transpose,
)
