"""The stable order of small integers, by counting."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import assert_equal

import jaxops
from jaxops._cpu.counting_sort import _counting_sort
from jaxops._indexing.positions import stable_order


@pytest.mark.parametrize(
    ("n", "num_partitions"), [(1000, 3), (701, 20), (20, 20), (40_000, 5), (20, 300)]
)
def test_many_rows(n, num_partitions):
    """More rows than one run of the counting sort takes, padding at its end, wide key types."""
    numbers = np.random.default_rng(0).integers(0, min(num_partitions, 20), n)
    order = np.argsort(numbers, kind="stable")
    counts = np.bincount(numbers, minlength=num_partitions)
    if num_partitions > 20:
        parts = jaxops.dynamic_partition(np.arange(n), numbers, num_partitions)
        assert_equal(np.concatenate(parts), order)
        return
    padded, sizes = jaxops.dynamic_partition(
        np.arange(1, n + 1), numbers, num_partitions, size=max(counts) + 2, return_size=True
    )
    assert_equal(sizes, counts)
    for part, rows in zip(padded, np.split(order, np.cumsum(counts)[:-1]), strict=True):
        assert_equal(part[: len(rows)], rows + 1)
        assert not part[len(rows) :].any()


@pytest.mark.parametrize(("n", "num_keys"), [(1000, 1000), (3000, 5), (3000, 700), (9, 9)])
def test_steps_and_counters(n, num_keys):
    """The loop has few steps, and counters that take no more memory than 8 arrays of keys."""
    keys = np.random.default_rng(1).integers(0, num_keys + 1, n).astype(np.int32)
    expected = np.argsort(keys, kind="stable"), np.bincount(keys, minlength=num_keys + 1)[:-1]
    for actual, wanted in zip(stable_order(jnp.asarray(keys), num_keys), expected, strict=True):
        assert_equal(actual, wanted)
    program = jax.make_jaxpr(lambda keys: _counting_sort(keys, num_keys=num_keys))(keys)
    (scan,) = (eqn for eqn in program.eqns if eqn.primitive.name == "scan")
    counters = max(math.prod(v.aval.shape) for v in scan.invars)
    assert scan.params["length"] <= n / 2
    assert counters <= 9 * n + num_keys


def test_fewer_keys_than_key_values_are_compared():
    keys = np.random.default_rng(2).integers(0, 701, 50).astype(np.int32)
    assert_equal(stable_order(jnp.asarray(keys), 700)[0], np.argsort(keys, kind="stable"))
    for num_keys, by_counting in ((50, True), (51, False)):
        program = str(jax.make_jaxpr(lambda x, n=num_keys: stable_order(x, n))(keys))
        assert (" = stable_order[" in program) == by_counting
