"""boolean_mask beyond the harness: masks of numbers, and gradients."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxops


def test_a_mask_of_numbers():
    result, size = jaxops.boolean_mask([1, 2, 3], [np.nan, -0.0, 2.0], return_size=True)
    np.testing.assert_array_equal(result, [1, 3])
    assert int(size) == 2


def test_mask_of_a_differentiated_value():
    gradient = jax.grad(lambda x: (jaxops.boolean_mask(x, x > 1) ** 2).sum())(jnp.arange(4.0))
    np.testing.assert_array_equal(gradient, [0, 0, 4, 6])


def test_dropped_and_padding_get_no_gradient():
    mask = jnp.array([True, False, True, True])

    def total(x, fill_value, size):
        kept = jaxops.boolean_mask(x, mask, size=size, fill_value=fill_value, mode="fill")
        return (kept**2).sum()

    for size, expected, expected_fill in ((2, [2, 0, 2, 0], 0), (5, [2, 0, 2, 2], 12)):
        x_bar, fill_bar = jax.grad(total, (0, 1))(jnp.ones(4), 3.0, size)
        np.testing.assert_array_equal(x_bar, expected)
        assert fill_bar == expected_fill
