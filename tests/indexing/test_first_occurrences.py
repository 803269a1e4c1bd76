"""The search for first occurrences: of each dtype, and in each of its stages."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import assert_all_equal

import jaxops
from jaxops._indexing import first_occurrences
from jaxops._indexing.first_occurrences import FEW
from jaxops._ops import unique as unique_module


def numbered(x):
    values, first, inverse, count = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    parts = values[order], np.argsort(order)[inverse], count[order]
    return [part.astype(np.int32) for part in parts]


FLOATS = [np.float16, jnp.bfloat16, jnp.float8_e4m3fn, np.float32, np.float64]
INTEGERS = [bool, np.int8, np.uint16, np.int32, jnp.int4, np.int64, np.uint64]


def values(dtype):
    """400 elements, most of them several times."""
    numbers = np.random.default_rng(0).integers(0, 100, 400)
    if dtype not in FLOATS:
        wide = numbers * 2**40 if np.dtype(dtype).itemsize == 8 else numbers
        return (wide + numbers % 3).astype(dtype)
    tiny = jnp.finfo(dtype).smallest_subnormal
    special = np.array([np.nan, -np.nan, 0, -0.0, np.inf, -np.inf]).astype(dtype)
    return np.r_[special, tiny, -tiny, 2 * tiny, special, tiny, numbers.astype(dtype)]


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=lambda dtype: np.dtype(dtype).name)
def test_against_numpy(dtype):
    """NaN equals nothing, 0 and -0 are one value, and subnormal numbers are several."""
    x = values(dtype)
    with jax.enable_x64(True):
        found = jax.jit(first_occurrences.first_occurrences)(jnp.asarray(x))
    expected = [np.flatnonzero(x[: n + 1] == each)[:1] for n, each in enumerate(x)]
    expected = [at.item() if at.size else n for n, at in enumerate(expected)]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n", [0, 1])
def test_none_and_one(n):
    found = first_occurrences.first_occurrences(jnp.ones(n))
    np.testing.assert_array_equal(found, np.zeros(n, np.int32), strict=True)


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
