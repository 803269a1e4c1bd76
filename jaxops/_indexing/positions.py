"""Positions that a program finds, of true elements or of keys in order; and the rows there.

The positions of true elements, by their ranks:

mask         False  True   True   False  True
ranks        0      0      1      2      2       true elements before each one
positions    1      2      4                     where the true elements stand
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from jaxops import _forms
from jaxops._indexing import canonical, masks
from jaxops._indexing.dimension_numbers import ROWS, Windows, lax_gather
from jaxops._indexing.specs import ScalarIndex


def true_positions(mask: jax.Array, size: int) -> tuple[jax.Array, jax.Array]:
    """The first `size` positions where `mask` holds, 0 beyond, and how many hold in all.

    Example:
        >>> true_positions(jnp.array([False, True, True, False, True]), size=4)
        (Array([1, 2, 4, 0], dtype=int32), Array(3, dtype=int32))
    """
    ranks, total = true_ranks(mask)
    return positions_by_rank(mask, ranks, size), total


def positions_by_rank(mask: jax.Array, ranks: jax.Array, size: int) -> jax.Array:
    """The first `size` positions where `mask` holds, 0 beyond, from its `true_ranks`."""
    # All others are written to one place more, which is cut off: on a CPU three times as fast as a
    # scatter that drops them.
    places = jnp.where(mask, jnp.minimum(ranks, size), size)
    positions, numbers = jnp.zeros(size + 1, jnp.int32), lax.iota(jnp.int32, mask.shape[0])
    return positions.at[places].set(numbers, mode="promise_in_bounds")[:size]


def true_ranks(mask: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The number of true elements before each element, and the number of all of them; int32."""
    if mask.shape[0] == 0:
        return jnp.zeros(0, jnp.int32), jnp.int32(0)
    ranks, total = _forms.call(ranks_by_cumsum, mask)
    return ranks, total


def is_true(x: jax.Array) -> jax.Array:
    """Whether each element, of any dtype, counts as true."""
    if x.dtype == bool:
        x = x.astype(jnp.uint8)  # views make bools of other bytes than 0 and 1, which miscount
    return x != jnp.zeros((), x.dtype)


def ranks_by_cumsum(mask: jax.Array) -> list[jax.Array]:
    up_to = jnp.cumsum(mask, dtype=jnp.int32)
    return [up_to - mask.astype(jnp.int32), up_to[-1]]


def stable_order(keys: jax.Array, num_keys: int) -> tuple[jax.Array, jax.Array]:
    """Positions of int32 `keys` sorted by key, equal ones in order; how often each key occurs.

    Keys lie in `[0, num_keys]`. Elements with the key `num_keys` are left out of the counts.
    """
    if keys.shape[0] == 0:
        return keys, jnp.zeros(num_keys, jnp.int32)
    order, counts = _forms.call(order_by_sort, keys, num_keys=num_keys)
    return order, counts


def order_by_sort(keys: jax.Array, *, num_keys: int) -> list[jax.Array]:
    positions = lax.iota(jnp.int32, keys.shape[0])
    _, order = lax.sort((keys, positions), num_keys=1, is_stable=True)
    return [order, histogram(keys, num_keys + 1)[:num_keys]]


def histogram(keys: jax.Array, num_keys: int) -> jax.Array:
    return jnp.zeros(num_keys, jnp.int32).at[keys].add(1, mode="promise_in_bounds")


def sums_or_largest(counts: jax.Array) -> jax.Array:
    """The sum of each of the int32 or int64 `counts` and those before it, none of them negative.

    In place of a sum that the dtype does not hold, and of all sums after it, stands its largest
    number: 4 rows of 2**30 values would make 0 in int32 (test_repeating.py,
    test_sums_beyond_int32; test_ragged_rows.py, test_more_values_than_int32_counts).
    """
    info = jnp.iinfo(counts.dtype)
    terms = counts.astype(f"uint{info.bits}")
    sums = lax.cumsum(terms)
    # A sum of two numbers that wraps around is less than either.
    overflows = lax.cummax((sums < terms).astype(terms.dtype)) | (sums >> (info.bits - 1))
    return jnp.where(overflows > 0, terms.dtype.type(info.max), sums).astype(counts.dtype)


def take_rows(operand: jax.Array, positions: jax.Array, axis: int) -> jax.Array:
    """Slices of `operand` along `axis` at `positions`, which are in bounds."""
    spec = ScalarIndex("take_rows", limits=(operand.shape[axis],))
    windows = Windows(axes=(axis,), batch_dims=0)
    return canonical.gather(operand, positions[:, None], windows, spec, mode="promise_in_bounds")


def take_or_fill(operand, positions, valid, fill_value, axis: int) -> jax.Array:
    """`take_rows`, with `fill_value` (None: 0) where not `valid`, which the transpose skips."""
    result = take_rows(operand, jnp.where(valid, positions, jnp.full_like(positions, -1)), axis)
    fill = jnp.zeros((), operand.dtype) if fill_value is None else fill_value
    other_axes = [d for d in range(result.ndim) if d != axis]
    return masks.read(result, fill, lax.expand_dims(valid, other_axes))


def resize(x: jax.Array, size: int) -> jax.Array:
    """A vector cut, or filled up with 0, to `size`."""
    return lax.pad(x, jnp.zeros((), x.dtype), [(0, size - x.shape[0], 0)])


def read_rows(table: jax.Array, indices: jax.Array, *, any_beyond: bool = False) -> jax.Array:
    """Rows of `table` at `indices`, none of which is negative; 0 for one beyond the last row.

    `any_beyond`: of an index beyond the last row any row will do, which takes less code.
    """
    table = canonical.pad_empty_axes(table, (0,), table.dtype.type(0))
    return _forms.call(rows_or_zeros, table, indices, any_beyond=any_beyond)


def rows_or_zeros(table: jax.Array, indices: jax.Array, *, any_beyond: bool) -> jax.Array:
    # A mask for each array of many tables was a third of what a lazy step compiles
    # (test_row_reads.py, test_no_row_is_masked_where_any_will_do).
    if any_beyond:
        return rows_or_last(table, indices)
    return table.at[indices].get(mode="fill", fill_value=0)


def rows_or_last(table: jax.Array, indices: jax.Array) -> jax.Array:
    """Rows, the last one for an index beyond it; `table.at[indices]` would count from the end."""
    return lax_gather(table, indices[:, None], ROWS, lax.GatherScatterMode.CLIP)
