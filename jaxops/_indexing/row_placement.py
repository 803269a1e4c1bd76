"""Rows of several lists, put at places of which the last one counts: the core of dynamic_stitch."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax.interpreters import ad

from jaxops import _forms
from jaxops._indexing.positions import take_or_fill


def put_rows(size: int, places, lists, fill: jax.Array) -> jax.Array:
    """The rows of the lists at their places, the fill value elsewhere; the place `size` is none."""
    return _forms.call(find_and_gather, *lists, fill, *places, size=size)


def find_and_gather(*arrays, size: int) -> jax.Array:
    lists, fill, places = split_arrays(arrays)
    return merge(lists, _last_at(places, size), fill)


def gather_back(cotangent, *arrays, size: int):
    """The transpose of `find_and_gather`; JAX's own would add the rows of the cotangent up.

    The cotangent of a row is that of its place, if the row stays there: a gather for each list.
    """
    lists, fill, places = split_arrays(arrays)
    source = _last_at(places, size)
    bars, start = [], 0
    # Compiled for CUDA, these gathers are 3 kernels. JAX's scatter over all rows was 12 kernels and
    # copied the rows (test_row_placement.py, test_gradients_go_to_the_rows_that_stay).
    for rows, at in zip(lists, places, strict=True):
        order = start + jnp.arange(at.shape[0], dtype=jnp.int32)
        start += at.shape[0]
        if ad.is_undefined_primal(rows):
            stays = source.at[at].get(mode="fill", fill_value=-1) == order
            bars.append(take_or_fill(cotangent, at, stays, None, 0))
        else:
            bars.append(None)
    fill_bar = None
    if ad.is_undefined_primal(fill):
        is_empty = (source < 0).reshape((-1,) + (1,) * (cotangent.ndim - 1))
        fill_bar = jnp.sum(jnp.where(is_empty, cotangent, 0))
    return [*bars, fill_bar, *[None] * len(places)]


def _last_at(places: Sequence[jax.Array], size: int) -> jax.Array:
    """The last position of each place in all of `places`; -1 for a place that is in none."""
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


def num_linear(count: int) -> int:
    """The number of linear operands: `count` lists of rows, and the fill value."""
    return count // 2 + 1
