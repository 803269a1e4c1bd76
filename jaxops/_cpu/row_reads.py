"""`read_rows` by a loop that multiplies.

If rows are used several times, as Adam uses its averages, XLA makes the gather a loop of its own.
LLVM does not vectorize a loop that only copies rows of 64 numbers: with Adam this loop was half of
the step. A loop that chooses between rows and zeros takes even longer, unless it also multiplies.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax
from jax.interpreters import ad

from jaxops import _symbolic
from jaxops._forms import register
from jaxops._indexing.positions import rows_or_zeros
from jaxops._primitives import type_of_result


def _are_floats(table: jax.Array, indices: jax.Array) -> bool:
    has_rows = _symbolic.are_known(table.shape) and table.shape[0] > 0
    return has_rows and indices.shape[0] != 0 and jnp.issubdtype(table.dtype, jnp.floating)


def _rows_times_ones(table: jax.Array, indices: jax.Array) -> jax.Array:
    dims = lax.GatherDimensionNumbers(
        offset_dims=tuple(range(1, table.ndim)), collapsed_slice_dims=(0,), start_index_map=(0,)
    )
    rows = lax.gather(table, indices[:, None], dims, (1, *table.shape[1:]), mode="clip")
    of_row = indices.reshape(-1, *[1] * (rows.ndim - 1))
    rows = jnp.where(of_row < table.shape[0], rows, jnp.zeros((), rows.dtype))
    return rows * (of_row >= 0).astype(rows.dtype)


def _multiplied_rows(table: jax.Array, indices: jax.Array) -> jax.Array:
    """The conditional keeps the product in the loop of the gather.

    Its condition always holds, as no index is negative, which XLA does not know.
    """
    # The other branch must have the type of the rows, to which a sharding or varying axes of
    # `shard_map` may belong.
    nothing = ad.instantiate_zeros(ad.Zero(type_of_result(rows_or_zeros, table, indices)))
    return lax.cond(indices[0] >= 0, _rows_times_ones, lambda *_: nothing, table, indices)


register(
    rows_or_zeros,
    "read_rows",
    form=_multiplied_rows,
    num_linear=1,
    is_for=_are_floats,
    on_many_devices=True,
    maps_itself=True,
)
