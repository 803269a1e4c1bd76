"""`read_rows` by a loop that multiplies.

If rows are used several times, as Adam uses its averages, XLA makes the gather a loop of its own.
LLVM does not vectorize a loop that only copies rows of 64 numbers: with Adam this loop was half of
the step.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax
from jax.interpreters import ad

from jaxops._forms import register
from jaxops._indexing.positions import rows_or_zeros
from jaxops._primitives import type_of_result


def _are_floats(table: jax.Array, indices: jax.Array) -> bool:
    del indices
    return jnp.issubdtype(table.dtype, jnp.floating)


def _rows_times_ones(table: jax.Array, indices: jax.Array) -> jax.Array:
    rows = rows_or_zeros(table, indices)
    ones = (indices < table.shape[0]).astype(rows.dtype)
    return rows * ones.reshape(-1, *[1] * (rows.ndim - 1))


def _multiplied_rows(table: jax.Array, indices: jax.Array) -> jax.Array:
    """The conditional keeps the product in the loop of the gather."""
    # Its other branch must have the type of the rows, to which a sharding or varying axes of
    # `shard_map` may belong.
    nothing = ad.instantiate_zeros(ad.Zero(type_of_result(rows_or_zeros, table, indices)))
    is_any = jnp.any(indices < table.shape[0])
    return lax.cond(is_any, _rows_times_ones, lambda *_: nothing, table, indices)


register(
    rows_or_zeros,
    "read_rows",
    form=_multiplied_rows,
    num_linear=1,
    is_for=_are_floats,
    on_many_devices=True,
    maps_itself=True,
)
