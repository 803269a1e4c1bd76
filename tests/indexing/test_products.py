"""Derivatives of the scatter that multiplies."""

import itertools
from math import prod

import jax
import numpy as np
import pytest

import jaxops


@pytest.mark.parametrize("zeros", range(4))
def test_derivatives_of_a_product_with_zeros(zeros):
    """All of the first and the second, whatever number of factors is 0."""
    x = np.array([2.0, 3.0, -1.0, 5.0], np.float32)
    x[:zeros] = 0

    def others(*left_out):
        return prod(float(x[j]) for j in range(4) if j not in left_out)

    def product(x):
        return jaxops.unsorted_segment_prod(x, [1, 1, 1, 1], 3)[1]

    expected = np.array([others(i) for i in range(4)])
    np.testing.assert_allclose(jax.grad(product)(x), expected, rtol=1e-6)
    np.testing.assert_allclose(jax.jacfwd(product)(x), expected, rtol=1e-6)
    second = np.zeros((4, 4))
    for i, j in itertools.permutations(range(4), 2):
        second[i, j] = others(i, j)
    np.testing.assert_allclose(jax.hessian(product)(x), second, rtol=1e-6, atol=1e-6)
