"""First occurrences and numbers of distinct values, of each dtype, by a sort and by its form."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops
from jaxops._cpu.hash_table import FEW
from jaxops._indexing import first_occurrences
from jaxops._ops import unique as unique_module

number_by_sort = functools.partial(first_occurrences.number_by_sort, with_counts=True)
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
        (sorted_out,) = jax.jit(first_occurrences.first_by_sort)(jnp.asarray(x))
    np.testing.assert_array_equal(sorted_out, found)
    expected = [np.flatnonzero(x[: n + 1] == each)[:1] for n, each in enumerate(x)]
    expected = [at.item() if at.size else n for n, at in enumerate(expected)]
    np.testing.assert_array_equal(found, expected)


def test_positions_beyond_16_bits():
    x = jnp.arange(2**16 + 4) % 2**16
    for first in (first_occurrences.first_by_sort(x)[0], first_occurrences.first_occurrences(x)):
        np.testing.assert_array_equal(first, x)


@pytest.mark.parametrize("size", [3, 5, 9])
def test_numbers_by_sort(size):
    """As many values as there are, fewer, and more."""
    x = jnp.array([7, np.nan, 7, 5, 5, np.nan, 7])
    firsts, numbers, total, counts = map(np.asarray, number_by_sort(x, size=size))
    np.testing.assert_array_equal(firsts, [0, 1, 3, 5, 0, 0, 0, 0, 0][:size])
    np.testing.assert_array_equal(numbers, [0, 1, 0, 2, 2, 3, 0])
    np.testing.assert_array_equal(counts, [3, 1, 2, 1, 0, 0, 0, 0, 0][:size])
    assert total == 4


def test_numbers_by_sort_of_distinct_values():
    firsts, numbers, total, counts = number_by_sort(jnp.array([3, 1, 2]), size=4)
    assert (firsts.tolist(), numbers.tolist()) == ([0, 1, 2, 0], [0, 1, 2])
    assert (int(total), counts.tolist()) == (3, [1, 1, 1, 0])


@pytest.mark.parametrize("n", [0, 1])
def test_none_and_one(n):
    found = first_occurrences.first_occurrences(jnp.ones(n))
    np.testing.assert_array_equal(found, np.zeros(n, np.int32), strict=True)


@pytest.mark.slow
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


@pytest.mark.parametrize("shape", [(3, 40), (1, 40), (0, 40), (3, 0), (5, 1)])
def test_rows(shape):
    x = np.random.default_rng(0).integers(0, 9, shape).astype(np.int32)
    received = first_occurrences.first_occurrences_in_rows(jnp.asarray(x))
    (sorted_out,) = first_occurrences.first_in_rows_by_sort(jnp.asarray(x))
    expected = np.reshape([[row.tolist().index(value) for value in row] for row in x], shape)
    for found in (received, sorted_out):
        np.testing.assert_array_equal(found, expected)
        assert found.shape == shape
