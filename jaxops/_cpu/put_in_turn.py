"""Rows put at their places one after the other, so that the last one stays."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp

from jaxops import _symbolic
from jaxops._forms import register
from jaxops._indexing.row_placement import (
    find_and_gather,
    gather_back,
    num_linear,
    split_arrays,
)

# A list of fewer bytes is joined with those beside it. A scatter of its own takes 6 ms to compile,
# in which time a list of this size is copied hundreds of times: 128 lists of 8 rows took 1,601 ms
# to compile one by one, and take 234 ms together (test_put_in_turn.py,
# test_small_lists_share_a_scatter_and_large_ones_are_not_copied).
_SMALL = 1 << 16


def _put_in_turn(*arrays, size: int) -> jax.Array:
    """`find_and_gather` on a CPU, where a scatter puts one row after the other: the last one stays.

    One scatter for each large list, as to join large lists would copy them.
    """
    lists, fill, places = split_arrays(arrays)
    result = jnp.full((size, *lists[0].shape[1:]), fill)
    pairs = zip(places, lists, strict=True)
    for is_small, some in itertools.groupby(pairs, key=lambda pair: _is_small(pair[1])):
        to_put = [*some]
        if is_small:
            to_put = [[jnp.concatenate(joined) for joined in zip(*to_put, strict=True)]]
        for at, rows in to_put:
            result = result.at[at].set(rows, mode="drop")
    return result


def _is_small(rows: jax.Array) -> bool:
    return _symbolic.are_known(rows.shape) and rows.nbytes < _SMALL


register(
    find_and_gather,
    "put_rows",
    form=_put_in_turn,
    num_linear=num_linear,
    transpose=gather_back,
    is_for=lambda *arrays, size: True,
)
