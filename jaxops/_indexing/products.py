"""The scatter that multiplies, with derivatives: `lax.scatter_mul` has none where updates meet."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp

from jaxops._indexing.dimension_numbers import Windows, lax_gather, lax_scatter, scatter_windows


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def scatter_product(windows: Windows, lax_mode, ones, indices, valid, updates) -> jax.Array:
    """The products of the updates that meet in one element of an array of `ones`."""
    return lax_scatter("mul", ones, indices, updates, windows, lax_mode)


@scatter_product.defjvp
def _scatter_product_jvp(windows, lax_mode, primals, tangents):
    """Each tangent times the product of the other updates.

    That is the product divided by the update where this is not 0, and where it is 0 the product of
    those that are not, if it is the only one. With a second 0 it is this 0, times that product: so
    the second derivative, by both, is right too.
    """
    ones, indices, valid, updates = primals
    updates_dot = tangents[3]

    def sums(values):
        zeros = jnp.zeros(ones.shape, values.dtype)
        return scatter_windows("add", zeros, indices, values, windows, lax_mode)

    def at(values):
        return lax_gather(values, indices, windows)

    out = scatter_product(windows, lax_mode, ones, indices, valid, updates)
    is_zero = updates == 0
    one, zero = jnp.ones_like(updates), jnp.zeros_like(updates)
    without_zeros = jnp.where(is_zero, one, updates)
    rest = at(scatter_product(windows, lax_mode, ones, indices, valid, without_zeros))
    number = at(sums(is_zero.astype(jnp.int32)))
    other = at(sums(jnp.where(is_zero, updates, zero))) - updates
    zeros_left = jnp.where(number == 1, one, jnp.where(number == 2, other, zero))
    factors = jnp.where(is_zero, rest * zeros_left, at(out) / without_zeros)
    if valid is not None:
        factors = jnp.where(windows.over_result(valid, updates.ndim), factors, zero)
    return out, sums(updates_dot * factors)
