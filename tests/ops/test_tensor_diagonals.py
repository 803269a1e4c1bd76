"""tensor_diag and tensor_diag_part have one form for the CPU and one for other devices."""

import jax
import numpy as np
import pytest

from jaxops._ops import tensor_diagonals


@pytest.mark.parametrize("form", [tensor_diagonals._put_in_zeros, tensor_diagonals._padded])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_each_form_has_the_diagonal_and_its_gradient(form, size):
    diagonal = np.arange(1, size + 1, dtype=np.float32)
    expected = np.zeros((size, size), np.float32)
    for n in range(size):
        expected[n, n] = diagonal[n]
    found, pull = jax.vjp(jax.jit(form), diagonal)
    np.testing.assert_array_equal(found, expected)
    cotangent = np.arange(size * size, dtype=np.float32).reshape(size, size)
    np.testing.assert_array_equal(pull(cotangent)[0], [cotangent[n, n] for n in range(size)])


@pytest.mark.parametrize("form", [tensor_diagonals._taken, tensor_diagonals._cut_off])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_each_form_takes_the_diagonal_and_puts_its_gradient_there(form, size):
    matrix = np.arange(size * size, dtype=np.float32).reshape(size, size)
    found, pull = jax.vjp(jax.jit(form), matrix)
    np.testing.assert_array_equal(found, [matrix[n, n] for n in range(size)])
    cotangent = np.arange(1, size + 1, dtype=np.float32)
    expected = np.zeros((size, size), np.float32)
    for n in range(size):
        expected[n, n] = cotangent[n]
    np.testing.assert_array_equal(pull(cotangent)[0], expected)
