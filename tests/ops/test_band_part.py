"""What the harness does not see of `_ops/band_part.py`."""

import jax
import numpy as np
import pytest
from records.band_part import matrix_band_part
from refusals.values import IN_JIT

import jaxops

X = np.arange(1, 13, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8])
def test_traced_numbers(dtype):
    lower = np.array([0, 1, 4], dtype)
    upper = np.array([3, 0, 1], dtype)
    if np.dtype(dtype).kind == "i":
        lower[0] = -1
    results = jax.vmap(lambda *n: jaxops.matrix_band_part(X, *n))(lower, upper)
    for result, *numbers in zip(results, lower, upper, strict=True):
        np.testing.assert_array_equal(result, matrix_band_part(X, *numbers))


def test_narrow_numbers_of_many_rows():
    x = np.ones((200, 2), np.float32)
    result = jax.jit(lambda n: jaxops.matrix_band_part(x, n, 0))(np.int8(100))
    np.testing.assert_array_equal(result, matrix_band_part(x, 100, 0))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (4, 3)])
def test_numbers_as_large_as_the_matrix(shape):
    """Which are 0 for a dimension without elements; one more is refused."""
    x = np.ones(shape, np.float32)
    traced = jax.jit(jaxops.matrix_band_part)
    for numbers in ((0, 0), shape, (-1, 0), (shape[0], -1)):
        for function in (jaxops.matrix_band_part, traced):
            result = function(x, numbers[0], numbers[1])
            np.testing.assert_array_equal(result, matrix_band_part(x, *numbers), strict=True)
    for numbers in ((shape[0] + 1, 0), (0, shape[1] + 1)):
        with pytest.raises(ValueError, match="must be negative or at most"):
            jaxops.matrix_band_part(x, *numbers)


def test_a_traced_number_beyond_the_rows():
    with pytest.raises(IN_JIT, match="num_lower must be negative or at most the number of row"):
        jax.block_until_ready(jax.jit(lambda n: jaxops.matrix_band_part(X, n, 0))(5))


def test_conjugate():
    x = np.array([[1 + 2j, 3j]], np.complex64)
    np.testing.assert_array_equal(jaxops.matrix_transpose(x, conjugate=True), x.T.conj())
