"""boolean_mask beyond the harness: exact shapes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops

CUBE = np.arange(24).reshape(2, 3, 4)
MIDDLE = np.array([True, False, True])
CASES = {
    "vector": ([0, 1, 2, 3], [True, False, True, False], None, [0, 2]),
    "axis": (CUBE, MIDDLE, 1, CUBE[:, MIDDLE]),
    "negative-axis": (CUBE, MIDDLE, -2, CUBE[:, MIDDLE]),
    "last-axis": (CUBE, [True, False, False, True], -1, CUBE[..., [0, 3]]),
    "two-axes": (CUBE, np.eye(3, 4) > 0, 1, [[0, 5, 10], [12, 17, 22]]),
    "all-axes": ([[1, 2], [3, 4]], [[True, False], [False, True]], None, [1, 4]),
    "none": ([1, 2], [False, False], None, np.zeros(0)),
    "empty": (np.zeros((0, 3)), np.zeros(0, bool), None, np.zeros((0, 3))),
    "numbers": ([1, 2, 3], [np.nan, -0.0, 2.0], None, [1, 3]),
}


@pytest.mark.parametrize("case", CASES)
def test_exactly(case):
    tensor, mask, axis, expected = CASES[case]
    result, size = jaxops.boolean_mask(tensor, mask, axis, return_size=True)
    np.testing.assert_array_equal(result, expected)
    assert int(size) == np.count_nonzero(mask)


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
