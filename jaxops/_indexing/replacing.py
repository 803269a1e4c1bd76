"""The scatter that replaces windows, with a derivative that asks once per window which one stays.

That of `lax.scatter` numbers the updates too, as several may have one place, but by element: an
array of numbers of the operand's size, and a gather of one for each element of the updates.
"""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
from jax import lax

from jaxops._indexing.dimension_numbers import Windows, lax_gather, lax_scatter, scatter_windows


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def scatter_update(windows: Windows, operand, indices, updates) -> jax.Array:
    return scatter_windows("update", operand, indices, updates, windows)


@scatter_update.defjvp
def _scatter_update_jvp(windows, primals, tangents):
    """The tangents of the operand where no update is put, and of the updates that stay."""
    operand, indices, updates = primals
    operand_dot, _, updates_dot = tangents
    indexed = (*range(windows.batch_dims), *windows.axes)
    places = tuple(operand.shape[d] for d in indexed)
    of_places = Windows(tuple(range(windows.batch_dims, len(indexed))), windows.batch_dims)
    vectors = indices.shape[:-1]
    # Each window has one number. With these numbers the gradient takes 0.37 of the time of jnp's
    # gradient; with a number for each element it took 1.05 (test_replacing.py,
    # test_updates_are_numbered_by_window).
    numbers = 1 + lax.reshape(lax.iota(jnp.uint32, math.prod(vectors)), vectors)
    zeros = jnp.zeros(places, jnp.uint32)
    staying = lax_scatter(zeros, numbers, indices, kind="update", windows=of_places)
    stays = lax_gather(staying, indices, of_places) == numbers

    is_kept = lax.broadcast_in_dim(staying == 0, operand.shape, indexed)
    kept = jnp.where(is_kept, operand_dot, 0)
    put = jnp.where(windows.over_result(stays, updates.ndim), updates_dot, 0)
    out = scatter_update(windows, operand, indices, updates)
    return out, scatter_windows("add", kept, indices, put, windows)
