"""`read_rows` by a loop that multiplies.

If rows are used several times, as Adam uses its averages, XLA makes the gather a loop of its own.
LLVM does not vectorize a loop that only copies rows of 64 numbers: with Adam this loop was half of
the step. A loop that chooses between rows and zeros takes even longer, unless it also multiplies.
Rows of less than 60 numbers are read faster without this form.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import lax
from jax.interpreters import ad

from jaxops import _symbolic
from jaxops._forms import register
from jaxops._indexing.positions import rows_or_last, rows_or_zeros
from jaxops._primitives import types_of_results

# An Adam step took 0.74 to 1.07 of its time without the form for rows of 8 to 56 numbers, 1.28 to
# 2.3 times as long for 60 to 72, and 0.99 to 1.24 for 80 and more.
_LEAST_NUMBERS = 60


def _are_wide_floats(table: jax.Array, indices: jax.Array, *, any_beyond: bool) -> bool:
    if not _symbolic.are_known(table.shape) or not jnp.issubdtype(table.dtype, jnp.floating):
        return False
    is_wide = math.prod(table.shape[1:]) >= _LEAST_NUMBERS
    return is_wide and indices.shape[0] != 0


def _rows_times_ones(table: jax.Array, indices: jax.Array) -> jax.Array:
    rows = rows_or_last(table, indices)
    of_row = indices.reshape(-1, *[1] * (rows.ndim - 1))
    # A select makes zeros of the rows beyond the last, as a factor of 0 would not: the last row may
    # hold NaN or an infinity (test_row_reads.py, test_against_numpy).
    rows = jnp.where(of_row < table.shape[0], rows, jnp.zeros((), rows.dtype))
    return rows * (of_row >= 0).astype(rows.dtype)


def _multiplied_rows(table: jax.Array, indices: jax.Array, *, any_beyond: bool) -> jax.Array:
    """The conditional keeps the product in the loop of the gather.

    Its condition always holds, as no index is negative, which XLA does not know.
    """
    # The other branch must have the type of the rows, to which a sharding or varying axes of
    # `shard_map` may belong.
    (rows_type,) = types_of_results(rows_or_zeros, table, indices, any_beyond=any_beyond)
    nothing = ad.instantiate_zeros(ad.Zero(rows_type))
    return lax.cond(indices[0] >= 0, _rows_times_ones, lambda *_: nothing, table, indices)


register(
    rows_or_zeros,
    "read_rows",
    form=_multiplied_rows,
    num_linear=1,
    is_for=_are_wide_floats,
    on_many_devices=True,
    maps_itself=True,
)
