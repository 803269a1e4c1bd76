"""Rows put at their places one after the other: only the rows have tangents."""

import jax
import numpy as np

import jaxops


def test_the_fill_value_has_no_tangent_of_its_own():
    """Where nothing is put a constant stands, whatever its value."""

    def stitched(x):
        return jaxops.dynamic_stitch([[0, 2]], [x], size=4, fill_value=5.0)

    result, tangent = jax.jvp(stitched, (np.array([3, 4], np.float32),), (np.ones(2, np.float32),))
    np.testing.assert_array_equal(result, [3, 5, 4, 5])
    np.testing.assert_array_equal(tangent, [1, 0, 1, 0])
