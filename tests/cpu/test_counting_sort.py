"""The stable order of small integers, by counting."""

import numpy as np
import pytest
from checks import assert_equal

import jaxops


@pytest.mark.parametrize(("n", "num_partitions"), [(1000, 3), (700, 20), (20, 300)])
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
