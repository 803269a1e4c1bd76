"""Rows of `IndexedSlices` that come several times: where they come first, and their sums.

With the indices [5, 2, 9, 5, 2] of a table of 8 rows, and values [a, b, c, d, e]:

    position                   0     1     2     3     4
    first place of its row     0     1     -     0     1      `-`: 9 counts for nothing

    sum_at_first: sums         a+d   b+e   0     0     0      as many as before, which takes one
                  rows         5     2     8     8     8      search and one scatter
    compact:      slots        0     1     -     0     1      numbers of the rows that there are
                  sums         a+d   b+e                      as many as `size` says
                  rows         5     2

Optimizers take the first form: a place without a row has the index `num_rows`, and is not written.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops._indexing import narrow_sums
from jaxops._indexing.dimension_numbers import ROWS, lax_scatter
from jaxops._indexing.first_occurrences import first_occurrences_in_rows
from jaxops._indexing.index_dtypes import position_dtype

_DROP = lax.GatherScatterMode.FILL_OR_DROP


def counted(indices: jax.Array, num_rows: int) -> jax.Array:
    """The indices; any that is out of bounds, and so counts for nothing, becomes `num_rows`."""
    if position_dtype((num_rows,), "IndexedSlices") == jnp.int64:
        indices = indices.astype(jnp.int64)  # as `num_rows` itself must fit
    valid = (indices >= 0) & (indices < num_rows)
    return jnp.where(valid, indices, jnp.asarray(num_rows, indices.dtype))


@functools.partial(jax.jit, static_argnames="num_rows")
def compact_slots(indices: jax.Array, num_rows: int) -> tuple[jax.Array, jax.Array]:
    """Numbers the distinct indices by first occurrence: the number of each index, and how many.

    Indices that count for nothing get a number beyond every size.
    """
    ((first, _),) = first_places((indices,), (num_rows,))
    n = first.size
    is_first = first == lax.iota(first.dtype, n)
    ordinal = jnp.cumsum(is_first, dtype=first.dtype) - 1
    nowhere = jnp.iinfo(first.dtype).max  # beyond every size
    slots = ordinal.at[first].get(mode="fill", fill_value=nowhere)
    return slots, jnp.sum(is_first, dtype=first.dtype)


@functools.partial(jax.jit, static_argnames=("num_rows", "size"))
def indices_of_slots(indices: jax.Array, num_rows: int, slots: jax.Array, size: int) -> jax.Array:
    """The row of each of the first `size` slots; `num_rows` for a slot without a row."""
    indices = counted(indices, num_rows)
    nowhere = jnp.full(size, num_rows, indices.dtype)
    return nowhere.at[slots].min(indices, mode="drop")  # all indices in a slot are equal


@functools.partial(jax.jit, static_argnames="size", inline=True)
def sum_in_slots(values: jax.Array, slots: jax.Array, size: int) -> jax.Array:
    """The sum of the values in each of the first `size` slots."""
    wide = narrow_sums.widened(values)
    # JAX cannot transpose an addition to an array without rows.
    none = jnp.zeros((max(size, 1), *values.shape[1:]), wide.dtype)
    sums = lax_scatter(none, wide, slots[:, None], kind="add", windows=ROWS, mode=_DROP)
    return lax.slice_in_dim(sums, 0, size).astype(values.dtype)


@functools.partial(jax.jit, static_argnames="num_rows")
def sum_at_first(
    values: tuple[jax.Array, ...], indices: tuple[jax.Array, ...], num_rows: tuple[int, ...]
) -> list[tuple[jax.Array, jax.Array]]:
    """The sums of repeated rows where each row first occurs, from values and indices of each table.

    The other places have values of 0 and the index `num_rows`.
    """

    pairs = zip(values, first_places(indices, num_rows), strict=True)
    return [(sum_in_slots(x, slots, x.shape[0]), rows) for x, (slots, rows) in pairs]


@functools.partial(jax.jit, static_argnames="num_rows")
def first_places(
    indices: tuple[jax.Array, ...], num_rows: tuple[int, ...]
) -> list[tuple[jax.Array, jax.Array]]:
    """The first place of each index, by table, and the indices, `num_rows` at other places.

    Tables with equally many indices are searched by one program: the searches, one for each of many
    tables, were most of what there was to compile in a step.
    """
    found: dict[int, tuple[jax.Array, jax.Array]] = {}
    numbers = range(len(indices))

    def kind(n: int) -> Any:
        return jax.typeof(indices[n]), position_dtype((num_rows[n],), "IndexedSlices")

    for kind_of_group in dict.fromkeys(map(kind, numbers)):
        group = [n for n in numbers if kind(n) == kind_of_group]
        dtype = np.promote_types(indices[group[0]].dtype, kind_of_group[1])
        ends = np.array([[num_rows[n]] for n in group], dtype)
        rows = jnp.stack([indices[n] for n in group]).astype(dtype)
        rows = jnp.where((rows >= 0) & (rows < ends), rows, ends)
        first = first_occurrences_in_rows(rows)
        count = jnp.asarray(first.shape[1], first.dtype)
        slots = jnp.where(rows < ends, first, count)
        rows = jnp.where(slots == lax.broadcasted_iota(slots.dtype, slots.shape, 1), rows, ends)
        # Else XLA computes them again in each of several loops for each table, and compiles those.
        slots, rows = lax.optimization_barrier((slots, rows))
        found |= {n: (slots[place], rows[place]) for place, n in enumerate(group)}
    return [found[n] for n in numbers]
