"""The hash table of positions: each stage of the search, and keys that meet."""

import jax
import numpy as np
import pytest
from checks import assert_all_equal

import jaxops
from jaxops._cpu import hash_table
from jaxops._cpu.hash_table import FEW


def numbered(x):
    values, first, inverse, count = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    parts = values[order], np.argsort(order)[inverse], count[order]
    return [part.astype(np.int32) for part in parts]


RNG = np.random.default_rng(5)
# By which stages of the search find their values; `few` elements are looked at first.
STAGED = {
    "few-distinct": lambda few: RNG.integers(0, 3, 9 * few),
    "one": lambda few: np.zeros(9 * few),
    "all-distinct": lambda few: RNG.permutation(9 * few),
    "most-distinct": lambda few: RNG.integers(0, 9 * few, 9 * few),
    "few-come-late": lambda few: np.r_[RNG.integers(0, 3, 7 * few), RNG.integers(3, 5, 2 * few)],
    "one-comes-next": lambda few: np.r_[np.zeros(few), np.ones(few), np.zeros(7 * few)],
    "many-come-late": lambda few: np.r_[np.zeros(few), RNG.integers(0, 9 * few, 8 * few)],
    "half-come-late": lambda few: np.r_[np.zeros(5 * few), RNG.integers(0, 9 * few, 4 * few)],
}


@pytest.mark.parametrize("few", [8, pytest.param(FEW, marks=pytest.mark.slow)])
@pytest.mark.parametrize("values", STAGED)
def test_stages_of_the_search(values, few, monkeypatch):
    """Of the elements of a vector, and of the rows of a matrix that are equal where these are."""
    monkeypatch.setattr(hash_table, "FEW", few)
    x = STAGED[values](few).astype(np.int32)
    search = jax.jit(lambda x: jaxops.unique_with_counts(x, size=len(x), return_size=True, axis=0))
    values, expected_idx, expected_count = numbered(x)

    def as_rows(x):
        return np.stack([x % 5, x // 5, x // 5], 1)

    for data, distinct in ((x, values), (as_rows(x), as_rows(values))):
        (y, idx, count), size = jax.device_get(search(data))
        assert_all_equal((y[:size], idx, count[:size]), (distinct, expected_idx, expected_count))
        assert not y[size:].any()
        assert not count[size:].any()
    if few == 8:
        batched, _ = jax.vmap(search)(np.stack([x, x[::-1]]))
        np.testing.assert_array_equal(batched.idx[1], numbered(x[::-1])[1])


def test_keys_that_meet_in_one_slot():
    """Multiples of powers of 2 and bit patterns of floats, which a weak hash would pile up."""
    for x in (np.arange(2000) << 20, np.arange(2000) * 65537, np.arange(2000.0)):
        x = np.concatenate([x, x[::-1]]).astype(np.float32 if x.dtype.kind == "f" else np.int32)
        n = x.size // 2
        y, idx = jaxops.unique(x)
        np.testing.assert_array_equal(y[np.asarray(idx)], x)
        assert y.size == np.unique(x).size <= n


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.int64])
def test_rows_that_meet_in_one_slot(dtype):
    """Rows with the same elements in other columns, with the same sum, or equal but for one bit."""
    n = np.arange(60)
    pairs = np.stack(np.meshgrid(n, n), -1).reshape(-1, 2)
    with jax.enable_x64(True):
        for rows in (pairs, pairs << 20, np.eye(300, dtype=int), 1 - np.eye(300, dtype=int)):
            rows = np.concatenate([rows, rows[::-1]]).astype(dtype)
            y, idx = jaxops.unique(rows, axis=0)
            np.testing.assert_array_equal(y[np.asarray(idx)], rows)
            assert len(y) == len(rows) // 2


def test_rows_that_hash_alike(monkeypatch):
    """Rows are compared, so that a hash which several of them share costs time only."""

    def one_of_three(keys, seed):
        return (keys.sum(axis=1) % 3 + 1).astype(np.uint32) * np.uint32(0x9E3779B9)

    monkeypatch.setattr(hash_table, "_hash", one_of_three)
    rows = np.random.default_rng(0).integers(0, 9, (1100, 2), dtype=np.int32)
    search = jax.jit(lambda x: jaxops.unique(x, size=len(x), axis=0, return_size=True))
    (y, idx), size = search(rows)
    np.testing.assert_array_equal(y[np.asarray(idx)], rows)
    assert size == len(np.unique(rows, axis=0))
