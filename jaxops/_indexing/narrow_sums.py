"""Sums of floats of 8 and 16 bits, in float32 and rounded once.

XLA adds the updates of a scatter in the dtype of its operand. With the 8 significant bits of
bfloat16 such a sum stands still where an update is less than half of its last bit: 1,000 updates of
1 make 256, and of 1 in float16 never more than 2,048. Rows of a gradient repeat that often, so here
they are added in float32. The table itself is not converted, as it may be a thousand times as large
as the rows. With the numbers [5, 2, 5, 9] of rows of a table of 8 rows, and updates [a, b, c, d]:

    first         0      1   0   3      where each number comes first
    read          t5     t2  t5  -      in float32
    sums          t5+a+c t2+b -  -      in float32, of the updates of a row at the first of them
    written to    5      2   -   -      in the dtype of the table
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _symbolic
from jaxops._indexing.dimension_numbers import (
    ROWS,
    Windows,
    index_vectors,
    lax_gather,
    lax_scatter,
    scatter_windows,
)
from jaxops._indexing.first_occurrences import first_occurrences
from jaxops._primitives import linear_primitive, transpose_of, varying_alike

_DROP = lax.GatherScatterMode.FILL_OR_DROP


def is_narrow(dtype: np.dtype) -> bool:
    return jnp.issubdtype(dtype, jnp.floating) and dtype.itemsize < 4


def widened(x: jax.Array) -> jax.Array:
    """`x` in the dtype to add in: float32 for narrow floats, else its own."""
    return x.astype(jnp.float32) if is_narrow(x.dtype) else x


def add_rows(table: jax.Array, updates: jax.Array, numbers: jax.Array, depth: int) -> jax.Array:
    """`table`, of a narrow dtype, with `updates[n]` added to its rows at `numbers[n]`.

    Rows are counted along the first `depth` axes, from 0; a number beyond the last adds nothing.
    """
    return _add_rows_p.bind(*varying_alike(table, updates, numbers), depth=depth)


def _add_rows(table, updates, numbers, *, depth: int):
    if _symbolic.are_known((*table.shape, *updates.shape)) and table.size <= updates.size:
        # To convert the table takes less than to find the rows that repeat.
        wide = _add_rows_by_lax(widened(table), widened(updates), numbers, depth=depth)
        return wide.astype(table.dtype)
    vectors, windows = _places(table, numbers, depth)
    first = first_occurrences(numbers)
    rows = lax_gather(table, vectors, windows, _DROP).astype(jnp.float32)
    wide = updates.astype(jnp.float32)
    sums = lax_scatter(rows, wide, first[:, None], kind="add", windows=ROWS)
    is_first = first == lax.iota(first.dtype, first.size)
    vectors = jnp.where(is_first[:, None], vectors, jnp.asarray(table.shape[:depth], vectors.dtype))
    return scatter_windows("update", table, vectors, sums.astype(table.dtype), windows, _DROP)


def _add_rows_by_lax(table, updates, numbers, *, depth: int):
    vectors, windows = _places(table, numbers, depth)
    return lax_scatter(table, updates, vectors, kind="add", windows=windows, mode=_DROP)


def _places(table: jax.Array, numbers: jax.Array, depth: int) -> tuple[jax.Array, Windows]:
    windows = Windows(axes=tuple(range(depth)), batch_dims=0)
    return index_vectors(numbers, table.shape[:depth]), windows


# This is a primitive because JAX's own gradient of the replaced rows copies the table. The
# transpose here reads rows of the cotangent (test_narrow_sums.py, test_derivatives_and_batches).
_add_rows_p = linear_primitive(
    "add_narrow_rows",
    _add_rows,
    num_linear=2,
    transpose=functools.partial(transpose_of, _add_rows_by_lax),
    is_typed_as_first=True,
)
