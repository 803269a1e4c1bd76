"""Rows of several lists, put at places of which the last one counts: the core of dynamic_stitch."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from jaxops import _forms
from jaxops._indexing.positions import take_or_fill


def put_rows(size: int, places, lists, fill: jax.Array) -> jax.Array:
    """The rows of the lists at their places, the fill value elsewhere; the place `size` is none."""
    return _forms.call(find_and_gather, *lists, fill, *places, size=size)


def find_and_gather(*arrays, size: int) -> jax.Array:
    lists, fill, places = split_arrays(arrays)
    return merge(lists, _last_at(places, size), fill)


def _last_at(places: Sequence[jax.Array], size: int) -> jax.Array:
    """For each place the position where it stands last in all `places`; -1 for none."""
    flat = jnp.concatenate(places)
    order = jnp.arange(flat.shape[0], dtype=jnp.int32)
    # The maximum of the positions is the last one on every platform; which of several rows
    # a scatter of the rows themselves would keep is unspecified.
    return jnp.full(size, -1, jnp.int32).at[flat].max(order, mode="drop")


def merge(lists, source, fill_value) -> jax.Array:
    """Rows of all `lists` at the positions `source`; the fill value where that is -1."""
    rows = jnp.concatenate(lists)
    return take_or_fill(rows, source, source >= 0, fill_value, 0)


def split_arrays(arrays):
    """The lists of rows, the fill value, and the places of each list's rows; `size` is no place."""
    count = len(arrays) // 2
    return arrays[:count], arrays[count], arrays[count + 1 :]
