"""Rows read by a loop that multiplies: those of the table, and zeros outside of it."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxops._indexing.positions import read_rows

WIDTH = 60  # narrower rows are read without the form
TABLE = jnp.tile(jnp.array([[1.5, -0.0], [np.inf, 2], [np.nan, 3]], jnp.float32), WIDTH // 2)
PLACES = jnp.array([2, 3, 0, 1, 0], jnp.int32)  # 3 rows: row 3 is none
EXPECTED = np.pad(np.asarray(TABLE), ((0, 1), (0, 0)))[np.asarray(PLACES)]


def test_against_numpy():
    read = jax.jit(read_rows)
    assert " = read_rows" in str(jax.make_jaxpr(read)(TABLE, PLACES))
    np.testing.assert_array_equal(read(TABLE, PLACES), EXPECTED)
    np.testing.assert_array_equal(np.signbit(read(TABLE, PLACES)), np.signbit(EXPECTED))


@pytest.mark.parametrize("indices", [np.array([3, 3], np.int32), np.zeros(0, np.int32)], ids=len)
def test_no_row_at_all(indices):
    rows = jax.jit(read_rows)(TABLE, indices)
    np.testing.assert_array_equal(rows, np.zeros((len(indices), WIDTH)))


@pytest.mark.parametrize("table", [TABLE > 0, TABLE[:, 1:]], ids=["booleans", "narrow"])
def test_booleans_and_narrow_rows_are_gathered(table):
    assert " = read_rows" not in str(jax.make_jaxpr(read_rows)(table, PLACES))


@pytest.mark.parametrize("table", [TABLE, TABLE[:, 1:]], ids=["wide", "narrow"])
def test_any_row_where_an_index_is_beyond(table):
    rows = jax.jit(lambda t: read_rows(t, PLACES, any_beyond=True))(table)
    inside = np.asarray(PLACES) < 3
    np.testing.assert_array_equal(rows[inside], np.asarray(table)[np.asarray(PLACES)[inside]])


def test_no_row_is_masked_where_any_will_do():
    """A mask for each of the arrays of many tables is a third of what a step compiles."""
    masks = {
        any_beyond: " select_n" in str(jax.make_jaxpr(read)(TABLE[:, 1:], PLACES))
        for any_beyond in (False, True)
        for read in [functools.partial(read_rows, any_beyond=any_beyond)]
    }
    assert masks == {False: True, True: False}
