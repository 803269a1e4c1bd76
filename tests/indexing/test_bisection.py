"""bisect, by way of `searchsorted`, whose tests say which places it finds; here its program."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

import jaxops
from jaxops._indexing.bisection import bisect


def test_values_of_more_dimensions():
    """Each row of the sequence is for a matrix of values."""
    rows, values = jnp.array([[0, 2, 4], [1, 1, 9]]), jnp.arange(12).reshape(2, 2, 3)
    places = bisect(rows, values, side="left")
    expected = [np.searchsorted(*pair) for pair in zip(rows, values, strict=True)]
    np.testing.assert_array_equal(places, np.array(expected))


def test_a_length_that_is_not_known_takes_as_many_steps_as_the_longest_row():
    row = jax.ShapeDtypeStruct(export.symbolic_shape("n"), np.int32)
    program = export.export(jax.jit(jaxops.searchsorted))(row, row)
    for length in (1, 7, 300):
        x = 2 * np.arange(length, dtype=np.int32)
        np.testing.assert_array_equal(program.call(x, x + 1), np.arange(length) + 1)
