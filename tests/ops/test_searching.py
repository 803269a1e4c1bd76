"""sequence_mask and searchsorted beyond the harness."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fast import fast_jit

import jaxops


def test_mask_of_the_largest_length():
    for lengths in ([1, 3, 2], np.array([1, 3, 2], np.uint8), jnp.array([1, 3, 2])):
        mask = jaxops.sequence_mask(lengths)
        assert mask.dtype == bool
        np.testing.assert_array_equal(mask, np.tri(3, dtype=bool)[[0, 2, 1]])
    assert jaxops.sequence_mask([-1, -2]).shape == (2, 0)
    assert jaxops.sequence_mask(np.zeros((2, 0), int)).shape == (2, 0, 0)
    np.testing.assert_array_equal(jaxops.sequence_mask([[0, 2]], dtype=None), [[[0, 0], [1, 1]]])


@pytest.mark.usefixtures("x32")
def test_lengths_that_no_int32_holds():
    mask = jaxops.sequence_mask([2**40, -(2**40), 1], 2)
    np.testing.assert_array_equal(mask, [[True, True], [False, False], [True, False]])


INF, NAN = np.inf, np.nan
PLACES = {
    "negative-zero": ([-0.0, 0, 0], [0.0, -0.0], [0, 0], [3, 3]),
    "infinities": ([-INF, 0, INF], [-INF, INF], [0, 2], [1, 3]),
    # As `<` of C++ has it, of which NaN is neither.
    "nan": ([1, 2, NAN], [NAN, 1.5, 3], [0, 1, 2], [3, 1, 3]),
    "unsorted": ([3, 1, 2, 7, 4], [0, 1, 2, 3, 4, 5, 8], [0, 0, 2, 3, 3, 5, 5], None),
    "nowhere": ([], [1, 2], [0, 0], [0, 0]),
}


@pytest.mark.parametrize("case", PLACES)
def test_places(case):
    row, values, *expected = PLACES[case]
    row, values = np.array(row, np.float32), np.array(values, np.float32)
    for side, places in zip(["left", "right"], expected, strict=True):
        if places is not None:
            np.testing.assert_array_equal(jaxops.searchsorted(row, values, side), places)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 9])
def test_every_length_and_place(length):
    row = 2 * np.arange(length, dtype=np.int32)
    values = np.arange(-1, 2 * length + 1, dtype=np.int32)
    for side in ("left", "right"):
        expected = np.searchsorted(row, values, side)
        np.testing.assert_array_equal(jaxops.searchsorted(row, values, side), expected)


def test_rows_of_a_batch():
    rng = np.random.default_rng(0)
    rows, values = np.sort(rng.integers(0, 9, (3, 2, 7))), rng.integers(-1, 10, (3, 2, 5))
    expected = [
        [np.searchsorted(row, v) for row, v in zip(*pair, strict=True)]
        for pair in zip(rows, values, strict=True)
    ]
    for function in (jaxops.searchsorted, fast_jit(jax.vmap(jaxops.searchsorted))):
        np.testing.assert_array_equal(function(rows, values), expected)


def test_places_have_no_gradient(x64):
    out_type = "int64" if x64 else "int32"

    def total(x):
        places = jaxops.searchsorted(x, 2 * x, out_type=out_type)
        assert places.dtype == out_type
        return x.sum() + places.astype(x.dtype).sum()

    np.testing.assert_array_equal(jax.grad(total)(jnp.arange(3.0)), np.ones(3))


def test_rows_that_int32_does_not_count_are_refused():
    def shape_for(length):
        row = jax.ShapeDtypeStruct((length,), np.int8)
        return jax.eval_shape(jaxops.searchsorted, row, row.update(shape=(2,))).shape

    assert shape_for(2**31 - 2) == (2,)
    with pytest.raises(ValueError, match="rows of less than 2147483647 elements"):
        shape_for(2**31 - 1)
