"""First occurrences and distinct values by a hash table, as XLA's sort is slow on a CPU.

The table holds positions, and is filled in rounds (`_search`). In each round every element
that still waits for its answer goes to a slot that its value decides, and bids its own position;
the lowest bid stays. Then each element reads the position in its slot. If the element there has the
same value, it is the first one with this value, since all of them came to this slot. If not, two
values have met, and the elements that lost try another slot in the next round:

    elements          7    9    7    5    9
    positions         0    1    2    3    4
    round 1: slot     s    s    s    t    s    7 and 9 meet in s
      lowest bid      0    0    0    3    0
      answer          0    -    0    3    -    a 9 finds a 7 there, and waits
    round 2: slot          u              u
      lowest bid           1              1
      answer          0    1    0    3    1

The number of rounds depends on how often values meet, not on the number of elements. The elements
of a matrix are its rows.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _symbolic
from jaxops._cpu.even_parts import padded_evenly
from jaxops._forms import register
from jaxops._indexing.first_occurrences import (
    are_nan,
    equality_keys,
    first_by_sort,
    first_in_rows_by_sort,
    number_by_sort,
)
from jaxops._indexing.positions import positions_by_rank, true_positions, true_ranks

# The cases of test_hash_table.py, test_stages_of_the_search, take each stage of the search.
FEW = 1 << 16  # the values of so many elements are searched first
_PART = 4  # one in so many elements may be left for the last stage


def _first_by_hash(x: jax.Array) -> list[jax.Array]:
    """`first_by_sort` and `first_equal_rows`, without a sort. Many elements are searched in stages.

    1. Only the first `FEW` elements bid, in a small table. If few values are distinct, most
       elements have one of these, and find it. The stage ends when the first `FEW` elements are
       done, or after a round that leaves more than half of all elements waiting.
    2. All elements that wait bid, until at most one in `_PART` waits.
    3. A round takes time for every element, also for those that are done. So the elements that
       wait are taken out of the vector and searched among themselves: equal ones all wait.
    """
    count = x.shape[0]
    if x.ndim == 1:
        x = padded_evenly(x)  # no element before the padding has its first occurrence there
    n = x.shape[0]
    positions = lax.iota(jnp.int32, n)
    keys = equality_keys(x)
    is_alone = are_nan(keys, x.dtype)
    if x.ndim == 2:
        is_alone = jnp.any(is_alone, axis=1)
    first = jnp.where(is_alone, positions, jnp.int32(-1))
    # Made from the keys, so that under `shard_map` it varies along the same axes as they do.
    nothing = first[0] * 0

    def some_wait(waiting, first):
        del first
        return waiting > 0

    def many_wait(waiting, first):
        del first
        return waiting > n // _PART

    def few_are_found(waiting, first):
        return jnp.any(first[:FEW] < 0) & (waiting <= n // 2)

    def search_on(first, waiting):
        first, waiting = _search(keys, first, waiting, many_wait)
        places, count = true_positions(first < 0, n // _PART)
        local = lax.iota(jnp.int32, n // _PART)
        waits = local < count
        unknown = jnp.where(waits, jnp.int32(-1), local)
        found, _ = _search(keys[places], unknown, waiting, some_wait)
        return first.at[jnp.where(waits, places, n)].set(places[found], mode="drop")

    if n <= _PART * FEW:
        return [_search(keys, first, nothing + n, some_wait)[0][:count]]
    first, waiting = _search(keys, first, nothing, few_are_found, bidders=FEW)
    first = lax.cond(waiting > 0, search_on, lambda first, _: first, first, waiting)
    return [first[:count]]


def _first_in_rows_by_hash(x: jax.Array) -> list[jax.Array]:
    """Row after row: XLA compiles one search, whose table is in the cache."""
    return lax.map(_first_by_hash, x)


def _search(
    keys: jax.Array,
    first: jax.Array,
    waiting: jax.Array,
    goes_on: Callable[[jax.Array, jax.Array], jax.Array],
    bidders: int | None = None,
) -> tuple[jax.Array, jax.Array]:
    """`first` with answers in place of -1, and how many elements are still `waiting` for one.

    Rounds are played as long as `goes_on(waiting, first)`. All elements that wait read slots, but
    only those among the first `bidders` bid. Equal elements go from slot to slot by the same way,
    so they all find the same position in a slot: that of the first of them, or of another value.
    Bids of earlier rounds stay in the table. Their elements are done, and differ from all elements
    that wait: so old bids give no wrong answer, and at worst take a slot away.
    """
    n = keys.shape[0]
    bidders = bidders or n
    # At most a quarter of the slots are ever used: with half of them, many distinct values take
    # twice the rounds.
    bits = min(max(bidders - 1, 1).bit_length() + 2, 31)
    hashes = _hash(keys, 0)
    # Odd, so that each element comes by every slot in time.
    steps = _hash(keys, 0x9E3779B9) | np.uint32(1)
    positions = lax.iota(jnp.int32, n)
    empty = first[0] * 0 + n
    table = jnp.broadcast_to(empty, 1 << bits)

    def play_round(state):
        table, first, _, turn = state
        waits = first < 0
        slots = ((hashes + turn * steps) >> np.uint32(32 - bits)).astype(jnp.int32)
        slots = jnp.where(waits, slots, 0)
        bids = jnp.where(waits, positions, jnp.int32(n))
        table = table.at[slots[:bidders]].min(bids[:bidders], mode="promise_in_bounds")
        winners = table.at[slots].get(mode="promise_in_bounds")
        is_same = keys.at[winners].get(mode="clip") == keys
        # The search compares rows, so a hash that several rows share costs time only
        # (test_hash_table.py, test_rows_that_hash_alike).
        if keys.ndim == 2:
            is_same = jnp.all(is_same, axis=1)
        found = waits & is_same & (winners < n)
        first = jnp.where(found, winners, first)
        return table, first, jnp.sum(first < 0, dtype=jnp.int32), turn + np.uint32(1)

    def more(state):
        _, first, waiting, _ = state
        return goes_on(waiting, first)

    state = table, first, waiting, np.uint32(0)
    return lax.while_loop(more, play_round, state)[1:3]


def _hash(keys: jax.Array, seed: int) -> jax.Array:
    """32 well mixed bits of each element, or of each row: those of a weighted sum."""
    if keys.ndim == 1:
        return _mix(keys ^ np.array(seed, keys.dtype))
    # A factor for each column keeps rows apart that hold the same elements in other columns
    # (test_hash_table.py, test_rows_that_meet_in_one_slot).
    factors = _mix(lax.iota(jnp.uint32, keys.shape[1]) ^ np.uint32(seed)) | np.uint32(1)
    return _mix((_mix(keys) * factors[None]).sum(axis=1, dtype=jnp.uint32))


def _mix(keys: jax.Array) -> jax.Array:
    """32 well mixed bits; different for different 32-bit keys (the end of MurmurHash3)."""
    # A weaker hash would pile up multiples of powers of 2 and the bits of floats in few slots
    # (test_hash_table.py, test_keys_that_meet_in_one_slot).
    if keys.dtype == jnp.uint64:
        keys = keys ^ ((keys >> np.uint64(32)) * np.uint64(0x9E3779B97F4A7C15))
        keys = keys ^ (keys >> np.uint64(32))
    h = keys.astype(jnp.uint32)
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return h ^ (h >> np.uint32(16))


def _number_by_hash(x: jax.Array, *, size: int, with_counts: bool) -> list[jax.Array]:
    n = x.shape[0]
    (first,) = _first_by_hash(x)
    is_first = first == lax.iota(jnp.int32, n)

    def number_by(is_first):
        ranks, total = true_ranks(is_first)
        firsts = positions_by_rank(is_first, ranks, size)
        return firsts, ranks.at[first].get(mode="promise_in_bounds"), total

    # If few values are distinct, most vectors have each of them among the first `FEW` elements:
    # then only these are numbered.
    if n > FEW:
        firsts, numbers, total = lax.cond(
            jnp.any(is_first[FEW:]), lambda: number_by(is_first), lambda: number_by(is_first[:FEW])
        )
    else:
        firsts, numbers, total = number_by(is_first)
    if not with_counts:
        return [firsts, numbers, total]
    counts = jnp.zeros(size + 1, jnp.int32)
    counts = counts.at[jnp.minimum(numbers, size)].add(1, mode="promise_in_bounds")[:size]
    return [firsts, numbers, total, counts]


# `unique_with_counts` of a million int32 with 1,000 values took 191 ms by XLA's sort, and 8 ms by a
# hash table. With a million values the table took 110 ms.
for _reference, _name, _by_hash in (
    (first_by_sort, "first_occurrences", _first_by_hash),
    (first_in_rows_by_sort, "first_occurrences_in_rows", _first_in_rows_by_hash),
    (number_by_sort, "number_distinct", _number_by_hash),
):
    register(
        _reference,
        _name,
        form=_by_hash,
        num_linear=0,
        is_for=lambda x, **_: _symbolic.are_known(x.shape),  # the size of the table must be
        returns_list=True,
        on_many_devices=True,
        maps_itself=True,
    )
