"""The search for first occurrences, whatever values come how often."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import assert_all_equal

import jaxops
from jaxops._indexing import first_occurrences
from jaxops._indexing.first_occurrences import FEW
from jaxops._ops import unique as unique_module


@pytest.mark.parametrize("n", [1, 2, 3, 700])
@pytest.mark.parametrize("distinct", [1, 50, 10**6])
def test_random(n, distinct):
    x = np.random.default_rng(n).integers(-distinct, distinct, n).astype(np.int32)
    assert_all_equal(jaxops.unique_with_counts(x), numbered(x))


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
    "many-come-late": lambda few: np.r_[np.zeros(few), RNG.integers(0, 9 * few, 8 * few)],
    "half-come-late": lambda few: np.r_[np.zeros(5 * few), RNG.integers(0, 9 * few, 4 * few)],
}


@pytest.mark.parametrize("few", [8, FEW])
@pytest.mark.parametrize("values", STAGED)
def test_stages_of_the_search(values, few, monkeypatch):
    monkeypatch.setattr(first_occurrences, "FEW", few)
    monkeypatch.setattr(unique_module, "FEW", few)
    x = STAGED[values](few).astype(np.int32)
    search = jax.jit(lambda x: jaxops.unique_with_counts(x, size=x.size, return_size=True))
    (y, idx, count), size = search(x)
    expected = numbered(x)
    assert_all_equal((y[:size], idx, count[:size]), expected)
    assert not y[size:].any()
    assert not count[size:].any()
    if few == 8:
        batched, _ = jax.vmap(search)(np.stack([x, x[::-1]]))
        np.testing.assert_array_equal(batched.idx[1], numbered(x[::-1])[1])


def test_nan_is_distinct_in_few_and_in_many_elements():
    for n in (4, unique_module._SMALL + 1, 5 * FEW):
        x = np.zeros(n, np.float32)
        x[[1, 3]] = np.nan
        y, idx = jaxops.unique(x)
        np.testing.assert_array_equal(y, [0, np.nan, np.nan])
        np.testing.assert_array_equal(idx[:4], [0, 1, 0, 2])
        assert not idx[4:].any()


def test_nan_is_distinct_where_the_length_is_symbolic():
    shape = jax.export.symbolic_shape("n")
    padded = jax.jit(lambda x: jaxops.unique(x, size=5, fill_value=9, mode="fill"))
    exported = jax.export.export(padded)(jax.ShapeDtypeStruct(shape, np.float32))
    y, idx = exported.call(jnp.array([1, np.nan, -0.0, np.nan, 0, 1], jnp.float32))
    np.testing.assert_array_equal(y, [1, np.nan, 0, np.nan, 9])
    np.testing.assert_array_equal(idx, [0, 1, 2, 3, 2, 0])


def test_keys_that_meet_in_one_slot():
    """Multiples of powers of 2 and bit patterns of floats, which a weak hash would pile up."""
    for x in (np.arange(2000) << 20, np.arange(2000) * 65537, np.arange(2000.0)):
        x = np.concatenate([x, x[::-1]]).astype(np.float32 if x.dtype.kind == "f" else np.int32)
        n = x.size // 2
        y, idx = jaxops.unique(x)
        np.testing.assert_array_equal(y[np.asarray(idx)], x)
        assert y.size == np.unique(x).size <= n
