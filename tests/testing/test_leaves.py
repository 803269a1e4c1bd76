"""Arguments taken apart: coordinates of real and complex numbers, and names of elements."""

import numpy as np
import pytest

from jaxops.testing import _leaves

X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
Z = np.array([1 + 2j, 3 - 4j], np.complex64)


@pytest.mark.parametrize("x", [X, Z, X[:0], np.float32(7)], ids=["real", "complex", "none", "one"])
def test_coordinates_and_back(x):
    flat = _leaves.to_coordinates(x)
    assert flat.dtype == np.float64
    back = _leaves.from_coordinates(flat, x)
    np.testing.assert_array_equal(back, x)
    assert back.dtype == x.dtype


def test_coordinates_of_complex_numbers():
    np.testing.assert_array_equal(_leaves.to_coordinates(Z), [1, 2, 3, -4])


@pytest.mark.parametrize(
    ("x", "coordinate", "name"),
    [
        (X, 5, "args[0][1,2]"),
        (np.float32(7), 0, "args[0]"),
        (Z, 2, "the real part of args[0][1]"),
        (Z, 1, "the imaginary part of args[0][0]"),
    ],
)
def test_names_of_elements(x, coordinate, name):
    assert _leaves.coordinate_name("args[0]", x, coordinate) == name


def test_the_first_element_that_fits():
    names, arrays = ["a", "b"], [X, np.array([0.0, np.nan, np.nan])]
    assert _leaves.first_where(names, arrays, np.isnan) == "b[1]"
    assert _leaves.first_where(names, arrays, np.isinf) is None


def test_pairings_conjugate_nothing():
    assert _leaves.pairing([Z], [Z]) == (Z.astype(complex) ** 2).sum().real
    assert _leaves.terms([X], [X]) == pytest.approx(np.sqrt((X**4).sum()))
