"""Rows that go between devices, which `vmap` imitates here; on devices: `test_devices.py`."""

import math
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import SLOW

from jaxops._devices import exchange
from jaxops._devices.exchange import RowSharding

SHARDS, ROWS, WIDTH, COUNT = 4, 10, 3, 12
NUM_ROWS = SHARDS * ROWS
RNG = np.random.default_rng(0)
TABLE = RNG.integers(-8, 8, (SHARDS, ROWS, WIDTH)).astype(np.float32)
UPDATES = RNG.integers(-8, 8, (SHARDS, COUNT, WIDTH)).astype(np.float32)

NUMBERS = {
    "random": RNG.integers(0, NUM_ROWS, (SHARDS, COUNT)),
    "all of one owner": RNG.integers(ROWS, 2 * ROWS, (SHARDS, COUNT)),
    "one row": np.full((SHARDS, COUNT), 17),
    "one row each, of the own shard": np.repeat(np.arange(SHARDS) * ROWS, COUNT).reshape(4, -1),
    "some outside": RNG.integers(-20, NUM_ROWS + 20, (SHARDS, COUNT)),
    "none inside": np.full((SHARDS, COUNT), NUM_ROWS),
    "in sequence": np.arange(SHARDS * COUNT).reshape(SHARDS, COUNT) % NUM_ROWS,
    "none at all": np.zeros((SHARDS, 0)),
}
NUMBERS = {name: x.astype(np.int32) for name, x in NUMBERS.items()}
CAPACITIES = [None, 1, *(pytest.param(n, marks=SLOW) for n in (2, 5))]


def each_device(function, *arrays):
    """`function` of the parts that the devices have, on all of them."""
    return jax.jit(jax.vmap(function, axis_name="d"))(*arrays)


def gathered(numbers):
    flat = TABLE.reshape(NUM_ROWS, WIDTH)
    result = np.zeros((*numbers.shape, WIDTH), np.float32)
    for place, number in np.ndenumerate(numbers):
        if 0 <= number < NUM_ROWS:
            result[place] = flat[number]
    return result


def added(numbers, table=TABLE):
    flat = table.reshape(NUM_ROWS, WIDTH).copy()
    for place, number in np.ndenumerate(numbers):
        if 0 <= number < NUM_ROWS:
            flat[number] += UPDATES[place]
    return flat.reshape(table.shape)


@pytest.mark.parametrize("capacity", CAPACITIES)
@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=NUMBERS)
def test_gather_and_scatter_add(numbers, capacity):
    sharding = RowSharding(("d",), None, capacity)
    updates = UPDATES[:, : numbers.shape[1]]

    def both(shard, numbers, updates):
        rows = exchange._gather_from_shards(shard, numbers, sharding=sharding)
        return rows, exchange._add_to_shards(shard, updates, numbers, sharding=sharding)

    rows, table = each_device(both, TABLE, numbers, updates)
    np.testing.assert_array_equal(rows, gathered(numbers))
    np.testing.assert_array_equal(table, added(numbers))


def test_the_transpose_by_updates_alone():
    """Of a table that is known: the rows of the cotangent, here all on one device."""
    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    sharding, numbers = RowSharding(("d",), mesh), NUMBERS["some outside"]
    table, updates, numbers = (
        jnp.asarray(x).reshape(-1, *x.shape[2:]) for x in (TABLE, UPDATES, numbers)
    )

    def of_updates(updates):
        return exchange.scatter_add(jnp.zeros_like(table), updates, numbers, sharding)

    (updates_bar,) = jax.jit(jax.linear_transpose(of_updates, updates))(table)
    np.testing.assert_array_equal(updates_bar, gathered(numbers))


@pytest.mark.parametrize("capacity", CAPACITIES)
@pytest.mark.parametrize("numbers", list(NUMBERS.values())[:-1], ids=list(NUMBERS)[:-1])
def test_a_row_at_once(numbers, capacity):
    """All that comes for a row comes in one round, and nothing is lost."""
    sharding = RowSharding(("d",), None, capacity)
    most = 2**10  # rounds

    def rounds(numbers, updates):
        plan = exchange.plan(numbers, NUM_ROWS, sharding, row_at_once=True)

        def one(turn, carry):
            sums, seen = carry
            sent, rows = exchange.send(plan, updates, NUM_ROWS, turn, sharding)
            sums = sums.at[rows].add(sent, mode="drop")
            came = jnp.zeros(ROWS, jnp.int32).at[rows].set(1, mode="drop")
            return sums, seen + came

        start = jnp.zeros((ROWS, WIDTH), jnp.float32), jnp.zeros(ROWS, jnp.int32)
        return *exchange.in_rounds(plan.rounds, one, start), plan.rounds

    sums, seen, count = each_device(rounds, numbers, UPDATES[:, : numbers.shape[1]])
    np.testing.assert_array_equal(sums, added(numbers, np.zeros_like(TABLE)))
    wanted = np.isin(np.arange(NUM_ROWS), numbers).reshape(SHARDS, ROWS)
    np.testing.assert_array_equal(seen, wanted)
    assert count.max() <= most
    assert len(set(count.tolist())) == 1


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e5m2"])
@pytest.mark.parametrize("capacity", [None, 1])
def test_sums_of_narrow_floats(dtype, capacity):
    """Of 1,000 ones for each of 3 rows on each device: in the dtype of the table, 4 or 2,048."""
    sharding, count = RowSharding(("d",), None, capacity), 1_000
    numbers = np.tile(np.array([1, ROWS + 2, ROWS + 3], np.int32), (SHARDS, count))
    updates = jnp.ones((SHARDS, 3 * count, WIDTH), dtype)
    shards = jnp.ones((SHARDS, ROWS, WIDTH), dtype)

    def add(shard, numbers, updates):
        return exchange._add_to_shards(shard, updates, numbers, sharding=sharding)

    expected = np.ones((NUM_ROWS, WIDTH), np.float32)
    of_device = float(jnp.float32(count).astype(dtype))  # which is rounded before it is sent
    expected[numbers[0, :3]] += SHARDS * of_device
    table = each_device(add, shards, numbers, updates).reshape(NUM_ROWS, WIDTH)
    np.testing.assert_array_equal(table, jnp.asarray(expected).astype(dtype), strict=True)


ALL_ROWS = 2**31 - 1  # a prime, so that a stride around the end meets no row twice
# A hash that is one product brings the rows of some stride close together; one that is a shift or
# an xor does so with rows that differ in a few bits.
STRIDES = {
    "Fibonacci numbers": [5, 8, 13, 144, 610, 2_584, 10_946, 46_368, 832_040, 9_227_465],
    "powers of two": [2**k for k in range(31)],
    "beside powers of two": [2**k + d for k in range(2, 31) for d in (-1, 1)],
    "powers of three": [3**k for k in range(20)],
    "powers of ten": [10**k for k in range(10)],
    "primes": [3, 5, 7, 31, 97, 257, 1_009, 10_007, 65_537, 1_000_003],
    "small numbers": range(1, 100, 7),
    "parts of the table": [ALL_ROWS // k for k in range(2, 33)],
}


def rows_by_pattern(count):
    """By name, `count` different rows of a table of `ALL_ROWS` rows, many times."""
    n = np.arange(count, dtype=np.int64)
    found = {
        name: [
            (shift + n * stride) % ALL_ROWS
            for stride in strides
            for shift in (0, 1, 12_345, 2**20, ALL_ROWS - 1)
        ]
        for name, strides in STRIDES.items()
    }
    bits = int(count).bit_length() - 1
    reverse = sum(((n >> k) & 1) << (30 - k) for k in range(bits))
    found["bits in reverse"] = [reverse, reverse ^ 1, reverse ^ 2**20]
    found["Gray codes"] = [(n ^ (n >> 1)) << k for k in range(30 - bits)]
    found["squares"] = [n * n, n * n + 1, n * (n + 1) // 2]
    found["grids"] = [
        (n % 8) * width + n // 8 * high
        for width in (1, 10, 2**10, 10_946)
        for high in (100, 2**14 + 1, 46_368)
    ]
    found["few bits"] = [
        np.unique([2**a | 2**b | k for a in range(31) for b in range(a) for k in range(2)])[n]
    ]
    return found


@pytest.mark.parametrize("count", [32, 256])
def test_no_pattern_takes_many_more_rounds_than_random_rows(count):
    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))

    @jax.jit
    def plan(rows):
        return exchange.plan(rows, ALL_ROWS, RowSharding(("d",), mesh, 8), row_at_once=True).rounds

    def rounds(rows):
        assert len(np.unique(rows)) == count
        return int(plan(jnp.asarray(rows, jnp.int32)))

    rng = np.random.default_rng(0)
    at_random = max(rounds(rng.choice(ALL_ROWS, count, replace=False)) for _ in range(99))
    for name, patterns in rows_by_pattern(count).items():
        assert max(map(rounds, patterns)) <= 4 * at_random, name


def test_rounds_are_as_many_as_the_fullest_bucket_takes():
    def rounds(numbers, capacity):
        sharding = RowSharding(("d",), None, capacity)
        plan = each_device(lambda n: exchange.plan(n, NUM_ROWS, sharding), numbers)
        return set(plan.rounds.tolist())

    one_owner = np.arange(ROWS, 2 * ROWS, dtype=np.int32)[None].repeat(SHARDS, 0)
    assert rounds(one_owner, 10) == {1}
    assert rounds(one_owner, 9) == {2}
    assert rounds(one_owner, 3) == {4}
    assert rounds(one_owner, 1) == {10}
    assert rounds(NUMBERS["one row"], 1) == {1}
    assert rounds(NUMBERS["none inside"], 1) == {0}


@pytest.mark.parametrize(
    ("count", "shards"), [(256, 256), (8192, 8), (100, 3), (7, 2), (1, 8), (64, 1)]
)
def test_default_capacity(count, shards):
    """The least one with a chance of 1 in 10,000, by exact arithmetic; within one of it."""
    capacity = exchange.default_capacity(count, shards)
    assert 1 <= capacity <= count

    def chance_of_more(capacity):
        p = Fraction(1, shards)
        first = range(capacity + 1, min(count, capacity + 400) + 1)
        tail = sum(math.comb(count, k) * p**k * (1 - p) ** (count - k) for k in first)
        return shards**2 * tail

    assert chance_of_more(capacity) <= Fraction(1, 10_000)
    smaller = capacity - 2
    assert smaller < math.ceil(count / shards) or chance_of_more(smaller) > Fraction(1, 10_000)


def test_numbers_of_rows_beyond_32_bits():
    """Of 64-bit numbers no two rows have one hash."""
    with jax.enable_x64(True):
        rows = jnp.array([0, 1, 2**31, 2**32, 2**32 + 1, 2**40], jnp.int64)
        assert len(set(exchange._hashes(rows).tolist())) == rows.size


def test_programs_that_know_no_axis():
    assert exchange.here(RowSharding(("d",))) is None
    assert exchange.here(None) is None
    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    assert exchange.here(RowSharding(("d",), mesh)) == RowSharding(("d",), mesh)
    assert exchange.here(RowSharding(("e",), mesh)) is None
