"""Rows of a gradient at the devices that own them, for a table whose rows devices share.

An optimizer wants the sum of what all devices have for a row, and updates the row where it is. The
rows of a gradient are where they were looked up, so they go to their owners first, in rounds (see
`_devices/exchange.py`). An owner counts the rows along its own shard. With 2 devices that share a
table of 8 rows:

    device                       0                    1
    looked up rows               1 6 1                6 2
    their gradients              a b c                d e
    sends to their owners        a+c of 1, b of 6     d of 6, e of 2
    owns rows                    0 to 3               4 to 7
    gets, counted in its shard   a+c of 1, e of 2     b of 2, d of 2
    sums and updates             1 and 2              2, by b+d

Adam's update by a gradient is no sum of updates by parts of the gradient, so one round holds all
that comes for a row. Some optimizers also sum over rows, as those that clip by a norm do: they want
all rows in one round, and if they do not fit, each device gets the rows of all.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxops import _jax_internals
from jaxops._devices import exchange
from jaxops._devices.exchange import RowSharding
from jaxops._primitives import types_of_results
from jaxops._sparse.slices import indexed_slices, repeated_rows
from jaxops._sparse.slices.indexed_slices import IndexedSlices


class OwnerRows(NamedTuple):
    """The values `[m, ...]` and row numbers `[m]` that the owners of the rows received.

    The devices share both by the first dimension, and each counts along its shard of the table.
    """

    values: jax.Array
    indices: jax.Array
    num_rows: int  # of a shard
    sharding: RowSharding

    def on_shards(self, function: Callable, *arrays: jax.Array) -> Any:
        """`function(slices, *arrays)` on each device, with its rows as IndexedSlices."""

        def local(values, indices, *arrays):
            shape = (self.num_rows, *values.shape[1:])
            return function(IndexedSlices(values, indices, shape), *arrays)

        return exchange.on_shards(local, self.sharding, self.values, self.indices, *arrays)


Rows = IndexedSlices | OwnerRows


def at_owners(slices: IndexedSlices) -> OwnerRows:
    """The rows at their owners: every device gets all rows, and counts its own."""
    sharding = slices.sharding
    assert sharding is not None, "asked for of tables that devices share"
    numbers = repeated_rows.counted(slices.indices, slices.num_rows)
    sent = exchange.send_to_all(slices.values, numbers, slices.num_rows, sharding)
    return OwnerRows(*sent, slices.num_rows // sharding.num_shards, sharding)


def sum_all_at_first(rows: Sequence[Rows]) -> list[Rows]:
    """Each row of each table once, as `indexed_slices.sum_all_at_first`."""
    plain = [x for x in rows if isinstance(x, IndexedSlices)]
    of_plain = iter(indexed_slices.sum_all_at_first(plain))
    return [
        x._replace(**x.on_shards(_parts_summed)) if isinstance(x, OwnerRows) else next(of_plain)
        for x in rows
    ]


def _parts_summed(slices: IndexedSlices) -> dict[str, jax.Array]:
    (slices,) = indexed_slices.sum_all_at_first([slices])
    return {"values": slices.values, "indices": slices.indices}


def gather_rows(x: jax.Array, rows: Rows, *, any_beyond: bool = False) -> jax.Array:
    """The rows of a table or its state, as `indexed_slices.gather_rows`."""
    if isinstance(rows, IndexedSlices):
        return indexed_slices.gather_rows(x, rows, any_beyond=any_beyond)
    return rows.on_shards(lambda slices, x: indexed_slices.gather_rows(x, slices), x)


def put_rows(x: jax.Array, new: jax.Array, rows: Rows) -> jax.Array:
    """`x` with these rows replaced, as `indexed_slices.put_rows`."""
    if isinstance(rows, IndexedSlices):
        return indexed_slices.put_rows(x, new, rows)
    return rows.on_shards(lambda own, x, new: indexed_slices.put_rows(x, new, own), x, new)


def in_rounds(
    step: Callable,
    inputs: list,
    slices: Mapping[int, IndexedSlices],
    shared: Mapping[int, RowSharding],
    is_own: Sequence[bool],
    *,
    at_once: bool,
) -> list:
    """`step(inputs, rows)`, in as many rounds as the rows of tables take that devices share.

    Args:
        step: from arrays and from rows by table to the arrays after an update of these rows.
        inputs: the arrays before.
        slices: by table, the gradients, where they were looked up.
        shared: how devices share the tables whose rows go to their owners. Of the other tables
            `step` gets all rows in the first round.
        is_own: whether an input is updated in the rows that `step` gets alone. Others are computed
            from `inputs` in each round.
        at_once: whether `step` must see all rows in one round, as it sums over rows. If one round
            does not take them, each device then gets the rows of all.
    """
    plans = {}
    shared = {n: exchange.with_room(sharding) for n, sharding in shared.items()}
    for n, sharding in shared.items():
        numbers = repeated_rows.counted(slices[n].indices, slices[n].num_rows)
        plans[n] = exchange.plan(numbers, slices[n].num_rows, sharding, row_at_once=True)
    rounds = functools.reduce(jnp.maximum, (plan.rounds for plan in plans.values()))

    def rows_in(turn: jax.Array | None) -> dict[int, Rows]:
        """The rows of one round; of all rounds, if `turn` is None."""
        rows: dict[int, Rows] = {}
        for n, g in slices.items():
            if turn is None:
                rows[n] = at_owners(g) if n in plans else g
            elif n in plans:
                sent = exchange.send(plans[n], g.values, g.num_rows, turn, shared[n])
                rows[n] = OwnerRows(*sent, g.num_rows // shared[n].num_shards, shared[n])
            else:
                rows[n] = g._with_parts(g.values, jnp.where(turn == 0, g.indices, g.num_rows))
        return rows

    def in_round(turn: jax.Array | None, arrays: Sequence) -> list:
        own_or_first = zip(is_own, arrays, inputs, strict=True)
        before = [new if is_one else first for is_one, new, first in own_or_first]
        return step(before, rows_in(turn))

    arrays = list(map(jnp.asarray, inputs))
    if any(s.mesh is None for s in shared.values()):
        # Under `shard_map`: what a loop carries must vary along the axes along which results do.
        types = types_of_results(lambda *arrays: in_round(jnp.int32(0), arrays), *arrays)
        arrays = [
            _jax_internals.varying_over(x, _jax_internals.varying_axes(like))
            for x, like in zip(arrays, types, strict=True)
        ]
    if not at_once:
        return exchange.in_rounds(rounds, in_round, arrays)
    # Either of two loops, as a loop updates its arrays in place, where a `cond` may copy them.
    is_one = (rounds <= 1).astype(jnp.int32)
    arrays = exchange.in_rounds(is_one, in_round, arrays)
    return exchange.in_rounds(1 - is_one, lambda _, arrays: in_round(None, arrays), arrays)
