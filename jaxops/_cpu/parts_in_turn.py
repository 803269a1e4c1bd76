"""`take_parts`, one part after the other, in programs for a CPU and for a TPU.

A gather of all parts gathers their positions, too. On a TPU that moves 4 kB for each position, as
much as for a row. Here the positions of a part are a slice.
"""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
from jax import lax
from jax.interpreters import ad

from jaxops import _symbolic
from jaxops._cpu.pieces_by_python import MANY
from jaxops._forms import register
from jaxops._indexing.parts import take_at_once
from jaxops._indexing.positions import resize, take_or_fill
from jaxops._primitives import transpose_of

_SMALL = 1 << 15  # elements


def _is_for(rows, fill, order, starts, counts, *, sizes) -> bool:
    """Copies of small parts are cheap, and many parts compile sooner at once."""
    del fill, order, starts, counts
    is_known = _symbolic.are_known(rows.shape)
    is_small = is_known and sum(sizes) * math.prod(rows.shape[1:]) <= _SMALL
    return not is_small and len(sizes) < MANY


def _take_in_turn(rows, fill, order, starts, counts, *, sizes) -> list[jax.Array]:
    """One gather for each part, as a CPU would copy the parts out of one gather's result."""
    # A slice near the end would otherwise be moved back until it fits (test_parts_in_turn.py,
    # test_against_numpy).
    order = resize(order, order.shape[0] + max(sizes))
    parts = []
    # Compiled for a TPU, a gather for each part moves 1,866 MB for 150,000 rows of 30 in 7 parts of
    # 40,000. One gather for all parts moves 3,328 MB (test_parts_in_turn.py,
    # test_a_tpu_reads_positions_by_slices).
    for n, size in enumerate(sizes):
        positions = lax.dynamic_slice(order, [starts[n]], [size], allow_negative_indices=False)
        valid = lax.iota(jnp.int32, size) < counts[n]
        parts.append(take_or_fill(rows, positions, valid, fill, 0))
    return parts


def _transpose(cotangents, *operands, **static):
    """The transpose: one scatter; on a TPU a scatter for each part, whose positions are a slice."""
    cotangents = [ad.instantiate_zeros(bar) for bar in cotangents]

    def transposed(reference, cotangents):
        return transpose_of(reference, cotangents, *operands, **static)

    return lax.platform_dependent(
        cotangents,
        tpu=functools.partial(transposed, _take_in_turn),
        default=functools.partial(transposed, take_at_once),
    )


register(
    take_at_once,
    "take_parts",
    form=_take_in_turn,
    num_linear=2,
    is_for=_is_for,
    transpose=_transpose,
    returns_list=True,
    platforms=("cpu", "tpu"),
)
