"""Vectors of a length that threads do not divide: values, and the shape of the loops."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import assert_equal

import jaxops
from jaxops._cpu.even_parts import padded_evenly

RNG = np.random.default_rng(3)
ROW = np.sort(RNG.integers(0, 4000, 1500)).astype(np.float32)


def places(rows, values, side):
    return np.array([np.searchsorted(*pair, side) for pair in zip(rows, values, strict=True)])


@pytest.mark.parametrize("length", [1023, 1024, 1025, 1088, 2047])
def test_places_are_numpys(length):
    """Also 0, which fills the last row up, and values on either side of all others."""
    values = np.r_[RNG.integers(0, 4000, length - 3), 0, -9, 9999].astype(np.float32)
    rows, columns = np.stack([ROW, ROW / 2]), np.stack([values, values[::-1]])
    for side in ("left", "right"):
        search = jax.jit(lambda row, values, side=side: jaxops.searchsorted(row, values, side))
        assert_equal(search(ROW, values), np.searchsorted(ROW, values, side))
        expected = places(rows, columns, side)
        assert_equal(search(rows, columns), expected)
        assert_equal(jax.jit(jax.vmap(search))(rows, columns), expected)
        of_columns = jax.vmap(search, (1, 1), 1)
        assert_equal(jax.jit(of_columns)(rows.T, columns.T), expected.T)
        shared = jax.jit(jax.vmap(search, (None, 1)))
        assert_equal(shared(ROW, columns.T), places([ROW, ROW], columns, side))
        of_one = jax.jit(jax.vmap(search, (0, None)))
        assert_equal(of_one(rows, values), places(rows, [values, values], side))


def test_threads_share_rows_of_values():
    """No loop over the vector itself reads the row."""
    text = jax.jit(jaxops.searchsorted).lower(ROW, ROW[:1499]).as_text()
    (state,) = set(re.findall(r"stablehlo.while\(.*tensor<([0-9x]+)xui32>", text))
    assert state == "24x64"


def test_a_row_that_a_batch_shares_is_not_copied():
    batched = jax.vmap(jaxops.searchsorted, (None, 0))
    program = jax.make_jaxpr(batched)(ROW, jnp.ones((3, 1024), ROW.dtype))
    (eqn,) = (e for e in program.eqns if e.primitive.name == "bisect_in_rows")
    assert eqn.invars[0].aval.shape == ROW.shape


@pytest.mark.parametrize("length", [1, 1023, 1024, 1025, 1152])
def test_padded_vectors(length):
    x = np.arange(1, length + 1)
    padded = padded_evenly(jnp.asarray(x))
    assert length < 1024 or all(
        padded.size % threads == 0 for threads in (1, 2, 3, 4, 6, 8, 12, 64, 96)
    )
    np.testing.assert_array_equal(padded, np.r_[x, np.zeros(padded.size - length, int)])


@pytest.mark.parametrize("last", [0, 7])
def test_padding_is_no_value(last):
    """The padding is 0. One array has a 0 as its last element, the other one has no 0."""
    x = np.r_[RNG.integers(1, 400, 1024), last].astype(np.int32)
    search = jax.jit(lambda x: jaxops.unique_with_counts(x, size=500, return_size=True))
    (values, numbers, counts), size = search(x)
    assert size == len(np.unique(x))
    np.testing.assert_array_equal(values[numbers], x)
    assert counts.sum() == len(x)
