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
the rounds has no transpose in JAX, and derivatives of the buckets are not needed and would be slow.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.interpreters import ad
from jax.sharding import PartitionSpec as P

from jaxops._indexing import narrow_sums
from jaxops._indexing.dimension_numbers import ROWS, scatter_windows
from jaxops._indexing.positions import read_rows
from jaxops._primitives import linear_primitive, map_over, varying_alike

_DROP = lax.GatherScatterMode.FILL_OR_DROP
# One step of so many may take a second round, if numbers of rows are drawn at random.
_STEPS_WITHOUT_OVERFLOW = 10_000
_LEAST_ROOM = 8


class RowSharding(NamedTuple):
    """The way in which devices share the rows of a table; static.

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
        """The number of rows of the whole table, from the table or a program's shard of it."""
        return table.shape[0] * (self.num_shards if self.mesh is None else 1)


def here(sharding: RowSharding | None) -> RowSharding | None:
    """The sharding for the program around: for all devices, or for one of them.

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
    numbers = _on_mesh(_padded(numbers, sharding, sharding.num_rows(table)), sharding)
    return gather_p.bind(*_along_shards(sharding, table, numbers), sharding=sharding)[:count]


def scatter_add(
    table: jax.Array, updates: jax.Array, numbers: jax.Array, sharding: RowSharding
) -> jax.Array:
    """`table` with `updates[n]` added at `numbers[n]`, as for `gather`; none outside the table."""
    numbers = _on_mesh(_padded(numbers, sharding, sharding.num_rows(table)), sharding)
    operands = _along_shards(sharding, table, _padded(updates, sharding, 0), numbers)
    return scatter_add_p.bind(*operands, sharding=sharding)


def _on_mesh(numbers: jax.Array, sharding: RowSharding) -> jax.Array:
    """The numbers `[n]`, by which JAX sees the devices of the mesh in the program around.

    If no argument of a program is on the mesh, JAX compiles for the devices of the equations that
    it knows. It does not look for a `shard_map` within a primitive of ours.
    """
    mesh = sharding.mesh
    if not isinstance(mesh, jax.sharding.Mesh) or mesh.explicit_axes:
        return numbers
    unconstrained = jax.NamedSharding(mesh, P(P.UNCONSTRAINED))
    return lax.with_sharding_constraint(numbers, unconstrained)


def _padded(x: jax.Array, sharding: RowSharding, fill: int) -> jax.Array:
    """The table padded to as many rows for each device, in a program for all of them."""
    missing = 0 if sharding.mesh is None else -x.shape[0] % sharding.num_shards
    if missing == 0:
        return x
    return lax.pad(x, jnp.asarray(fill, x.dtype), [(0, missing, 0), *[(0, 0, 0)] * (x.ndim - 1)])


def with_room(sharding: RowSharding) -> RowSharding:
    """The sharding for a plan with `row_at_once`: with buckets of `_LEAST_ROOM` rows at least.

    Hashes fill buckets unevenly, so smaller ones would take many more rounds than there are rows.
    """
    return sharding._replace(capacity=sharding.capacity and max(sharding.capacity, _LEAST_ROOM))


class Plan(NamedTuple):
    """The numbers of `[n]` that a device sends to each owner: their round, and place in buckets."""

    rows: jax.Array  # [n]: in the shard of the owner
    turns: jax.Array  # [n]: in which round; -1 for a number outside the table
    slots: jax.Array  # [n]: places in the buckets of all owners; equal numbers have one
    rounds: jax.Array  # the same on all devices


def plan(
    numbers: jax.Array, num_rows: int, sharding: RowSharding, *, row_at_once: bool = False
) -> Plan:
    """The plan by which `numbers[n]` of rows of a table of `num_rows` rows go to the owners.

    With `row_at_once` one round holds all that the devices send of a row: an update that is no sum
    needs all of it. The round is then a hash of the row's number: as many of its leading bits as
    give rounds in which no bucket is too small.
    """
    numbers = _padded(numbers, sharding, num_rows)
    function = functools.partial(
        _plan_of_device,
        num_rows=num_rows,
        row_at_once=row_at_once,
        sharding=sharding._replace(mesh=None),
    )
    arrays = _along_shards(sharding, numbers)
    return on_shards(function, sharding, *arrays, is_shared=Plan._make([False, False, False, True]))


def send(
    plan: Plan, updates: jax.Array, num_rows: int, turn: jax.Array, sharding: RowSharding
) -> tuple[jax.Array, jax.Array]:
    """Sends the owners the updates `[n, ...]` whose turn it is, those of equal numbers added up.

    Each device gets updates `[m, ...]` as an owner, and the numbers `[m]` of their rows in its
    shard, beyond the last row where nothing came. The devices share both by the first dimension.
    """
    updates = _padded(updates, sharding, 0)
    local = sharding._replace(mesh=None)

    def send_from_device(updates, *arrays):
        mail = _Mail(Plan._make([*arrays, plan.rounds]), turn, num_rows, local)
        return mail.to_owners(updates), mail.asked

    return on_shards(send_from_device, sharding, *_along_shards(sharding, updates, *plan[:3]))


def send_to_all(
    updates: jax.Array, numbers: jax.Array, num_rows: int, sharding: RowSharding
) -> tuple[jax.Array, jax.Array]:
    """`send` without a plan: every device gets all updates, and the numbers of its own rows."""
    numbers, updates = _padded(numbers, sharding, num_rows), _padded(updates, sharding, 0)
    names, shard = sharding.axis_names, num_rows // sharding.num_shards

    def send_from_device(updates, numbers):
        if numbers.size:  # JAX does not compile a gather of no rows
            updates, numbers = (lax.all_gather(x, names, tiled=True) for x in (updates, numbers))
        own = numbers - lax.axis_index(names).astype(numbers.dtype) * shard
        return updates, jnp.where((own >= 0) & (own < shard), own, shard)

    return on_shards(send_from_device, sharding, *_along_shards(sharding, updates, numbers))


def default_capacity(count: int, num_shards: int) -> int:
    """The bucket size that `count` random numbers a device overflow once in 10,000 steps at most.

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


def _plan_of_device(numbers, *, num_rows: int, row_at_once: bool, sharding: RowSharding) -> Plan:
    """`plan`, by sorting the numbers: equal ones then stand together, and those of one owner."""
    names, capacity = sharding.axis_names, _capacity(numbers, sharding)
    shard = num_rows // sharding.num_shards
    beyond = jnp.asarray(num_rows, numbers.dtype)
    inside = (numbers >= 0) & (numbers < beyond)
    numbers = jnp.where(inside, numbers, beyond)
    owners, rows = numbers // shard, numbers % shard
    hashes = _hashes(rows) if row_at_once else rows

    places = lax.iota(jnp.int32, numbers.shape[0])
    keys = (owners, hashes, places)
    owner, hashed, places = lax.sort(keys, num_keys=2, is_stable=False)
    starts_owner = _differs(owner)
    starts_row = starts_owner | _differs(hashed)
    ordinals = jnp.cumsum(starts_row, dtype=jnp.int32) - 1

    def ranks(starts):
        """The rank of each row among the rows since the last start."""
        return ordinals - lax.cummax(jnp.where(starts, ordinals, 0))

    def most(ranks):
        """The number of rows in the fullest bucket of any device."""
        counts = jnp.where(owner < sharding.num_shards, ranks + 1, 0)
        return lax.pmax(jnp.max(counts, initial=0), names)

    def ranks_in_round(bits):
        return ranks(starts_owner | _differs(_leading(hashed, bits)))

    if row_at_once:
        bits = _enough_bits(lambda bits: most(ranks_in_round(bits)), capacity)
        turn, rounds = _leading(hashed, bits).astype(jnp.int32), jnp.int32(1) << bits
        rank = ranks_in_round(bits)
    else:
        rank = ranks(starts_owner)
        turn, rounds = rank // capacity, (most(rank) + capacity - 1) // capacity
        rank = rank % capacity
    slots = owner.astype(jnp.int32) * capacity + rank
    turn = jnp.where(owner < sharding.num_shards, turn, -1)
    turns, slots = (jnp.zeros_like(x).at[places].set(x, unique_indices=True) for x in (turn, slots))
    return Plan(rows, turns, slots, rounds)


def _capacity(numbers: jax.Array, sharding: RowSharding) -> int:
    count = max(numbers.shape[0], 1)
    return min(count, sharding.capacity or default_capacity(count, sharding.num_shards))


# Of MurmurHash3, whose author searched for them: each bit of a number then changes each bit of the
# hash with a chance of nearly 1/2. By word size: shift, factor, shift, factor, shift.
_MIX = {
    32: (16, 0x85EBCA6B, 13, 0xC2B2AE35, 16),
    64: (33, 0xFF51AFD7ED558CCD, 33, 0xC4CEB9FE1A85EC53, 33),
}


def _hashes(rows: jax.Array) -> jax.Array:
    """Another number for each row, no two alike, whose leading bits are spread as at random.

    By xors with shifts and products with odd numbers, each of which can be undone. One product is
    not enough: whatever its factor, rows at some stride have hashes close together. With the golden
    ratio 32 rows at stride 46,368 took 8,192 rounds, where now they take 8, as random rows do.
    """
    bits = jnp.iinfo(rows.dtype).bits
    word = np.dtype(f"uint{bits}")
    hashes = rows.astype(word)
    for n, number in enumerate(_MIX[bits]):
        number = np.array(number, word)
        hashes = hashes * number if n % 2 else hashes ^ (hashes >> number)
    return hashes


def _leading(hashes: jax.Array, bits: jax.Array) -> jax.Array:
    """The first `bits` bits; a shift by all bits is undefined, so this takes two."""
    width = jnp.iinfo(hashes.dtype).bits
    return (hashes >> 1) >> (width - 1 - bits).astype(hashes.dtype)


def _differs(x: jax.Array) -> jax.Array:
    """Whether each element differs from the one before it."""
    return jnp.concatenate([jnp.ones_like(x[:1], bool), x[1:] != x[:-1]])


def _enough_bits(most: Callable, capacity: int) -> jax.Array:
    """The least number of bits for which no bucket has more than `capacity` rows."""

    def add_bit(state):
        bits, _ = state
        return bits + 1, most(bits + 1)

    start = (jnp.int32(0), most(jnp.int32(0)))
    bits, _ = lax.while_loop(lambda state: state[1] > capacity, add_bit, start)
    return bits


class _Mail:
    """The arrays that a device and the owners send each other in one round."""

    def __init__(self, plan: Plan, turn: jax.Array, num_rows: int, sharding: RowSharding):
        self.names, self.num_shards = sharding.axis_names, sharding.num_shards
        self.num_slots = self.num_shards * _capacity(plan.rows, sharding)
        self.is_turn = plan.turns == turn
        self.slots = jnp.where(self.is_turn, plan.slots, self.num_slots)
        # Which rows of its shard the device is asked for, as an owner.
        none = jnp.full(self.num_slots, num_rows // self.num_shards, plan.rows.dtype)
        self.asked = self._all_to_all(none.at[self.slots].set(plan.rows, mode="drop"))

    def to_owners(self, updates: jax.Array) -> jax.Array:
        wide = narrow_sums.widened(updates)
        sums = jnp.zeros((self.num_slots, *updates.shape[1:]), wide.dtype)
        sums = scatter_windows("add", sums, self.slots[:, None], wide, ROWS, _DROP)
        # A sum is rounded before it is sent, as float32 would be twice the data.
        return self._all_to_all(sums.astype(updates.dtype))

    def from_owners(self, answers: jax.Array) -> jax.Array:
        return read_rows(self._all_to_all(answers), self.slots)

    def _all_to_all(self, x: jax.Array) -> jax.Array:
        buckets = x.reshape(self.num_shards, -1, *x.shape[1:])
        return lax.all_to_all(buckets, self.names, 0, 0).reshape(x.shape)


def in_rounds(rounds: jax.Array, function: Callable, init: Any) -> Any:
    """`function(turn, carry)` in each of the rounds: a loop, which updates its arrays in place."""

    def step(state):
        turn, carry = state
        return turn + 1, function(turn, carry)

    _, result = lax.while_loop(lambda state: state[0] < rounds, step, (jnp.int32(0), init))
    return result


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
    result, *_ = varying_alike(result, shard, numbers)
    if result.size == 0 or shard.size == 0:
        return result
    num_rows = sharding.num_rows(shard)
    found = plan(numbers, num_rows, sharding)

    def fetch(turn, result):
        mail = _Mail(found, turn, num_rows, sharding)
        rows = mail.from_owners(read_rows(shard, mail.asked))
        return jnp.where(mail.is_turn.reshape(-1, *[1] * (shard.ndim - 1)), rows, result)

    return in_rounds(found.rounds, fetch, result)


def _scatter_add(table, updates, numbers, *, sharding: RowSharding):
    function = functools.partial(_add_to_shards, sharding=sharding._replace(mesh=None))
    return on_shards(function, sharding, table, updates, numbers)


def _add_to_shards(shard, updates, numbers, *, sharding):
    if updates.size == 0 or shard.size == 0:
        return shard
    num_rows = sharding.num_rows(shard)
    # Of a narrow dtype all sums of a row come in one round, so that their sum is rounded once.
    is_narrow = narrow_sums.is_narrow(shard.dtype)
    sharding = with_room(sharding) if is_narrow else sharding
    found = plan(numbers, num_rows, sharding, row_at_once=is_narrow)

    def add(turn, shard):
        mail = _Mail(found, turn, num_rows, sharding)
        sums = mail.to_owners(updates)
        if is_narrow:
            return narrow_sums.add_rows(shard, sums, mail.asked, 1)
        return scatter_windows("add", shard, mail.asked[:, None], sums, ROWS, _DROP)

    return in_rounds(found.rounds, add, shard)


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
        return map_over(_gather, *operands, maps=(tuple(dims),), sharding=sharding), 0
    # The batch comes last, so that the dimension that is shared stays the first one.
    numbers = jnp.moveaxis(numbers, dims[1], -1)
    capacity = sharding.capacity and sharding.capacity * numbers.shape[1]
    rows = bind(table, numbers.reshape(-1), sharding=sharding._replace(capacity=capacity))
    return rows.reshape(*numbers.shape, *table.shape[1:]), 1


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
