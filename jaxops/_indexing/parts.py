"""Rows taken in several parts: the core of dynamic_partition."""

from __future__ import annotations

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _forms
from jaxops._indexing.pieces import split_into
from jaxops._indexing.positions import take_or_fill


def take_parts(rows, fill, order, starts, counts, *, sizes: tuple[int, ...]) -> list[jax.Array]:
    """Part `n`, of `sizes[n]` rows: `counts[n]` rows at the positions in `order` from `starts[n]`
    on, and the fill value after them.
    """
    return _forms.call(take_at_once, rows, fill, order, starts, counts, sizes=sizes)


def take_at_once(rows, fill, order, starts, counts, *, sizes) -> list[jax.Array]:
    """The rows of each part, at its run of positions in `order`, and the fill value after them.

    By one gather, however many parts there are, whose transpose is one scatter.
    """
    length, num_blocks = _blocks(sizes)
    part, block = _tables(num_blocks)
    within = (block * length)[:, None] + lax.iota(jnp.int32, length)[None]
    valid = within < counts[part][:, None]
    places = jnp.where(valid, starts[part][:, None] + within, 0)
    positions = order.at[places.reshape(-1)].get(mode="promise_in_bounds")
    taken = take_or_fill(rows, positions, valid.reshape(-1), fill, 0)
    parts = split_into(taken, [n * length for n in num_blocks], 0)
    return [
        part if part.shape[0] == size else lax.slice_in_dim(part, 0, size)
        for part, size in zip(parts, sizes, strict=True)
    ]


def _blocks(sizes: tuple[int, ...]) -> tuple[int, list[int]]:
    """The length of the blocks of which parts of these sizes are made, and how many each takes.

    The blocks are long enough for short tables, and short enough to waste a sixteenth of the space
    at most.
    """
    length = max(math.gcd(*sizes), sum(sizes) // (16 * len(sizes)), 1)
    num_blocks = [-(-size // length) for size in sizes]
    # JAX would drop an empty result and the check before it (test_result_size.py,
    # test_every_result_has_the_check).
    num_blocks[0] = max(num_blocks[0], 1)
    return length, num_blocks


def _tables(num_blocks: list[int]) -> tuple[jax.Array, jax.Array]:
    """Two int32 vectors with a number for each block: its part, and its place in the part.

    The program computes the vectors; `_symbolic.joined` says why. Neighbouring parts with equally
    many blocks take one iota.
    """
    tables, first = [], 0
    for num, neighbours in itertools.groupby(num_blocks):
        count = len([*neighbours])
        if num:
            part, block = (lax.broadcasted_iota(np.int32, (count, num), d) for d in (0, 1))
            tables.append(((first + part).reshape(-1), block.reshape(-1)))
        first += count
    parts, blocks = zip(*tables, strict=True)
    return lax.concatenate(parts, 0), lax.concatenate(blocks, 0)
