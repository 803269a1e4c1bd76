"""Rows of a table whose rows the devices of a mesh share: fetched from the devices that own them.

Device `p` of `P` owns a shard of a table of `P * R` rows: the rows `p * R` to `(p + 1) * R`. It has
numbers of rows anywhere in the table. XLA's partitioner would send all numbers, or the rows of all
numbers, to all devices. Here each device asks the owners of the rows, which answer it alone:

1. It sorts its numbers, so that equal ones, and those of one owner, stand together.
2. It has a bucket of `capacity` numbers for each owner. Each number goes once into the bucket of
   its owner. One `all_to_all` sends the buckets to the owners.
3. Each owner reads the rows that it is asked for; a second `all_to_all` sends them back.

The shape of a bucket is static, so it may be too small. Then all devices go through steps 2 and 3
again with the numbers that are left, as often as the fullest bucket of any device takes: the result
is exact whatever the numbers are. `default_capacity` is such that numbers drawn at random take one
round in all but one of 10,000 steps.

With R = 4, P = 2, a capacity of 2 and the numbers [6, 1, 6, 3, 0] on a device:

    sorted            0  1  3  6  6
    owner             0  0  0  1  1
    rank in bucket    0  1  2  0  0
    first round       asks owner 0 for its rows 0 and 1, owner 1 for its row 2
    second round      asks owner 0 for its row 3

`gather` and `scatter_add` are each other's transpose, so they are primitives of ours: the loop over
the rounds has no transpose in JAX, and derivatives of the buckets would be as slow as they are
needless.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.interpreters import ad
from jax.sharding import PartitionSpec as P

from jaxops._indexing.dimension_numbers import Windows, scatter_windows
from jaxops._indexing.positions import read_rows
from jaxops._primitives import linear_primitive, varying_alike

_ROWS = Windows(axes=(0,), batch_dims=0)
_DROP = lax.GatherScatterMode.FILL_OR_DROP
# One step of so many may take a second round, if numbers of rows are drawn at random.
_STEPS_WITHOUT_OVERFLOW = 10_000


class RowSharding(NamedTuple):
    """How the devices share the rows of a table; static.

    Args:
        axis_names: the axes of the mesh along which the rows are shared, the major one first.
        mesh: that of a program for all devices; None for a program of one of them, as under
            `shard_map`, whose table is the shard of that device.
        capacity: of a bucket; None for `default_capacity`.
    """

    axis_names: tuple[str, ...]
    mesh: Any = None
    capacity: int | None = None

    @property
    def num_shards(self) -> int:
        if self.mesh is None:
            return lax.axis_size(self.axis_names)
        return math.prod(self.mesh.shape[name] for name in self.axis_names)

    def num_rows(self, table: jax.Array) -> int:
        """How many rows the whole table has, by the table or the shard that a program has of it."""
        return table.shape[0] * (self.num_shards if self.mesh is None else 1)


def here(sharding: RowSharding | None) -> RowSharding | None:
    """The same sharding, for the program around: for all devices, or for one of them.

    None where that knows no such axes, as eagerly after a `shard_map` or on one device.
    """
    if sharding is None:
        return None
    around = jax.sharding.get_abstract_mesh()
    if set(sharding.axis_names) <= set(around.manual_axes):
        return sharding._replace(mesh=None)
    # JAX wants the mesh that `jax.set_mesh` or `auto_axes` says, if one does.
    mesh = sharding.mesh if around.empty else around
    if mesh is None or not set(sharding.axis_names) <= set(mesh.axis_names):
        return None
    return sharding._replace(mesh=mesh)


def gather(table: jax.Array, numbers: jax.Array, sharding: RowSharding) -> jax.Array:
    """Rows of `table` at the `numbers[n]` of rows of the whole table; 0 for one outside it.

    In a program for all devices they share the numbers and the result, by the first dimension, as
    they share the table. Under `shard_map` each has numbers of its own.
    """
    count = numbers.shape[0]
    numbers = _padded(numbers, sharding, sharding.num_rows(table))
    return gather_p.bind(*_along_shards(sharding, table, numbers), sharding=sharding)[:count]


def scatter_add(
    table: jax.Array, updates: jax.Array, numbers: jax.Array, sharding: RowSharding
) -> jax.Array:
    """`table` with `updates[n]` added at `numbers[n]`, as for `gather`; none outside the table."""
    numbers = _padded(numbers, sharding, sharding.num_rows(table))
    operands = _along_shards(sharding, table, _padded(updates, sharding, 0), numbers)
    return scatter_add_p.bind(*operands, sharding=sharding)


def _padded(x: jax.Array, sharding: RowSharding, fill: int) -> jax.Array:
    """With as many rows for each device, in a program for all of them."""
    missing = 0 if sharding.mesh is None else -x.shape[0] % sharding.num_shards
    if missing == 0:
        return x
    return lax.pad(x, jnp.asarray(fill, x.dtype), [(0, missing, 0), *[(0, 0, 0)] * (x.ndim - 1)])


def to_owners(
    updates: jax.Array, numbers: jax.Array, rows: int, sharding: RowSharding
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Rows that a device has an update for, sent to their owners in one round.

    Args:
        updates: `[n, ...]`, a row for each of the numbers; those of equal numbers are added up.
        numbers: `[n]`, of rows of the whole table; others count for nothing.
        rows: how many a shard has.
        sharding: of the table.

    Returns:
        What each device got as an owner: updates `[m, ...]`, and the numbers `[m]` of the rows in
        its shard, `rows` where nothing came; the devices share both by the first dimension. Then,
        for all devices alike, whether a bucket was too small for all of its updates.
    """

    def send(updates, numbers):
        buckets = _Buckets(numbers, rows, sharding._replace(mesh=None))
        asked, slots = buckets.exchange(jnp.int32(0))
        return buckets.send(updates, slots), asked, buckets.rounds > 1

    updates = _padded(updates, sharding, 0)
    numbers = _padded(numbers, sharding, rows * sharding.num_shards)
    arrays = _along_shards(sharding, updates, numbers)
    return on_shards(send, sharding, *arrays, is_shared=(False, False, True))


def to_all(
    updates: jax.Array, numbers: jax.Array, rows: int, sharding: RowSharding
) -> tuple[jax.Array, jax.Array]:
    """`to_owners` without buckets: a device gets everything, and the numbers of its own rows."""
    names = sharding.axis_names

    def send(updates, numbers):
        updates, numbers = (lax.all_gather(x, names, tiled=True) for x in (updates, numbers))
        own = numbers - lax.axis_index(names).astype(numbers.dtype) * rows
        return updates, jnp.where((own >= 0) & (own < rows), own, rows)

    updates = _padded(updates, sharding, 0)
    numbers = _padded(numbers, sharding, rows * sharding.num_shards)
    return on_shards(send, sharding, *_along_shards(sharding, updates, numbers))


def default_capacity(count: int, num_shards: int) -> int:
    """Of buckets that `count` random numbers on each device overflow once in 10,000 steps at most.

    How many of them fall to one owner is binomial. What lies beyond `c` is at most the geometric
    series that begins as the binomial one does there; each device has a bucket for each owner.
    """
    chance = 1 / num_shards
    allowed = 1 / (_STEPS_WITHOUT_OVERFLOW * num_shards**2)

    def log_of(k: int) -> float:
        ways = math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1)
        return ways + k * math.log(chance) + (count - k) * math.log1p(-chance)

    capacity = max(1, math.ceil(count * chance))
    while capacity < count:
        following = capacity + 1
        ratio = (count - following) * chance / ((following + 1) * (1 - chance))
        if math.exp(log_of(following)) <= allowed * (1 - ratio):
            break
        capacity = following
    return capacity


class _Buckets:
    """How the numbers of one device are spread over buckets and rounds; under `shard_map`."""

    def __init__(self, numbers: jax.Array, rows: int, sharding: RowSharding):
        self.names = sharding.axis_names
        self.num_shards = sharding.num_shards
        self.rows = rows
        n = numbers.shape[0]
        self.capacity = min(n, sharding.capacity or default_capacity(n, self.num_shards))
        num_rows = jnp.asarray(rows * self.num_shards, numbers.dtype)
        inside = (numbers >= 0) & (numbers < num_rows)
        numbers = jnp.where(inside, numbers, num_rows)

        places = lax.iota(jnp.int32, n)
        self.sorted, places = lax.sort((numbers, places), num_keys=1, is_stable=False)
        before = jnp.concatenate([jnp.full_like(self.sorted[:1], -1), self.sorted[:-1]])
        self.owner = self.sorted // rows
        self.is_asked = (self.sorted != before) & (self.sorted < num_rows)
        ordinal = jnp.cumsum(self.sorted != before, dtype=jnp.int32) - 1
        starts = (self.owner != before // rows) | (before < 0)
        self.rank = ordinal - lax.cummax(jnp.where(starts, ordinal, 0))
        self.rounds = lax.pmax(
            jnp.max(jnp.where(self.is_asked, self.rank // self.capacity + 1, 0), initial=0),
            self.names,
        )
        # Of the numbers in the order in which they came.
        by_place = jnp.zeros_like(self.rank).at[places]
        self.own_rank = by_place.set(self.rank, unique_indices=True)
        self.own_owner = numbers // rows

    def exchange(self, turn: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The rows that a device is asked for in a round, and the slots of its own numbers.

        The rows are `[P * capacity]` of its shard, `self.rows` for none. A slot is the place of a
        number among the rows that the device asks for; `P * capacity` or more is none.
        """
        slots = self._slots(self.owner, self.rank, turn, self.is_asked)
        wanted = jnp.full(self.num_slots, self.rows, self.sorted.dtype)
        own = self.sorted - self.owner * self.rows
        asked = self._all_to_all(wanted.at[slots].set(own, mode="drop", unique_indices=True))
        inside = self.own_owner < self.num_shards
        return asked, self._slots(self.own_owner, self.own_rank, turn, inside)

    def send(self, updates: jax.Array, slots: jax.Array) -> jax.Array:
        """To the owners: updates `[n, ...]`, of which those for one slot are added up."""
        sums = jnp.zeros((self.num_slots, *updates.shape[1:]), updates.dtype)
        sums = scatter_windows("add", sums, slots[:, None], updates, _ROWS, _DROP)
        return self._all_to_all(sums)

    def send_back(self, answers: jax.Array, slots: jax.Array) -> jax.Array:
        """From the owners: `[n, ...]`, the answer for each number; 0 where it has no slot."""
        return read_rows(self._all_to_all(answers), slots)

    def in_rounds(self, function: Callable, init: jax.Array) -> jax.Array:
        """`function(turn, carry)` for each of the rounds."""

        def step(state):
            turn, carry = state
            return turn + 1, function(turn, carry)

        _, result = lax.while_loop(lambda state: state[0] < self.rounds, step, (jnp.int32(0), init))
        return result

    @property
    def num_slots(self) -> int:
        return self.num_shards * self.capacity

    def _slots(self, owner, rank, turn, counts) -> jax.Array:
        rank = rank - turn * self.capacity
        counts = counts & (rank >= 0) & (rank < self.capacity)
        slots = owner.astype(jnp.int32) * self.capacity + rank
        # Each its own beyond the last: none stands twice, which a scatter is promised.
        none = self.num_slots + lax.iota(jnp.int32, rank.shape[0])
        return jnp.where(counts, slots, none)

    def _all_to_all(self, x: jax.Array) -> jax.Array:
        buckets = x.reshape(self.num_shards, self.capacity, *x.shape[1:])
        return lax.all_to_all(buckets, self.names, 0, 0).reshape(x.shape)


def on_shards(
    function: Callable, sharding: RowSharding, *arrays: Any, is_shared: Any = False
) -> Any:
    """`function` of the part that a device has of each array, which their first dimensions share.

    The parts of the results are joined again, but where `is_shared`, a prefix of their tree, says
    that they are the same on all devices.
    """
    if sharding.mesh is None:
        return function(*arrays)
    by_rows = P(sharding.axis_names)
    out_specs = jax.tree.map(lambda shared: P() if shared else by_rows, is_shared)
    return jax.shard_map(
        function,
        mesh=sharding.mesh,
        in_specs=(by_rows,) * len(arrays),
        out_specs=out_specs,
        axis_names=set(sharding.axis_names),
    )(*arrays)


def _gather(table, numbers, *, sharding: RowSharding):
    function = functools.partial(_gather_from_shards, sharding=sharding._replace(mesh=None))
    return on_shards(function, sharding, table, numbers)


def _gather_from_shards(shard, numbers, *, sharding):
    result = jnp.zeros((*numbers.shape, *shard.shape[1:]), shard.dtype)
    if result.size == 0 or shard.size == 0:
        return _alike(result, shard, numbers)
    buckets = _Buckets(numbers, shard.shape[0], sharding)

    def fetch(turn, result):
        asked, slots = buckets.exchange(turn)
        answers = buckets.send_back(read_rows(shard, asked), slots)
        arrived = (slots < buckets.num_slots).reshape(-1, *[1] * (shard.ndim - 1))
        return jnp.where(arrived, answers, result)

    return buckets.in_rounds(fetch, _alike(result, shard, numbers))


def _scatter_add(table, updates, numbers, *, sharding: RowSharding):
    function = functools.partial(_add_to_shards, sharding=sharding._replace(mesh=None))
    return on_shards(function, sharding, table, updates, numbers)


def _add_to_shards(shard, updates, numbers, *, sharding):
    if updates.size == 0 or shard.size == 0:
        return shard
    buckets = _Buckets(numbers, shard.shape[0], sharding)

    def add(turn, shard):
        asked, slots = buckets.exchange(turn)
        sums = buckets.send(updates, slots)
        return scatter_windows("add", shard, asked[:, None], sums, _ROWS, _DROP)

    return buckets.in_rounds(add, shard)


def _alike(x: jax.Array, *arrays: jax.Array) -> jax.Array:
    """`x`, varying along the axes along which some of the arrays do."""
    return varying_alike(x, *arrays)[0]


def _along_shards(sharding: RowSharding, *arrays: jax.Array) -> list[jax.Array]:
    """Arrays of one device, as varying along the axes that share the table."""
    if sharding.mesh is None:
        arrays = (*arrays, lax.axis_index(sharding.axis_names))
        return varying_alike(*arrays)[:-1]
    return list(arrays)


def _batch_gather(bind, operands, dims, *, sharding: RowSharding):
    """Numbers of a whole batch as numbers of one lookup, of a table that the batch shares."""
    table, numbers = operands
    if dims[0] is not None:
        return _map_by(_gather, operands, dims, sharding)
    numbers = jnp.moveaxis(
        numbers, dims[1], -1
    )  # last, so that it stays the first one that is shared
    rows = bind(table, numbers.reshape(-1), sharding=_of_many(sharding, numbers.shape[1]))
    return rows.reshape(*numbers.shape, *table.shape[1:]), 1


def _map_by(reference, operands, dims, sharding):
    return jax.vmap(functools.partial(reference, sharding=sharding), in_axes=tuple(dims))(
        *operands
    ), 0


def _of_many(sharding: RowSharding, count: int) -> RowSharding:
    capacity = sharding.capacity
    return sharding._replace(capacity=capacity and capacity * count)


def _transpose_gather(cotangent, table, numbers, *, sharding):
    zeros = ad.instantiate_zeros(ad.Zero(table.aval))
    return [scatter_add(zeros, cotangent, numbers, sharding), None]


def _transpose_scatter_add(cotangent, table, updates, numbers, *, sharding):
    table_bar = cotangent if ad.is_undefined_primal(table) else None
    of_updates = ad.is_undefined_primal(updates)
    return [table_bar, gather(cotangent, numbers, sharding) if of_updates else None, None]


gather_p = linear_primitive(
    "gather_from_shards", _gather, num_linear=1, batch=_batch_gather, transpose=_transpose_gather
)
scatter_add_p = linear_primitive(
    "scatter_add_to_shards",
    _scatter_add,
    num_linear=2,
    transpose=_transpose_scatter_add,
    is_typed_as_first=True,
)
