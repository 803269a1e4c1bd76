"""The primitives by which `jaxops.at` reads and writes; what it makes of indices: `test_at.py`."""

import jax.numpy as jnp
import numpy as np
from checks import primitives

import jaxops

X = jnp.arange(12.0).reshape(4, 3)


def test_a_static_slice_stays_one():
    assert primitives(lambda x: jaxops.at(x)[1:3].get(), X) == ["slice"]


def test_other_primitives_are_left_alone():
    """Of the index that a caller computes in the brackets, none is resolved."""
    names = primitives(lambda i: jaxops.at(X)[jnp.cumsum(i)].set(1.0), jnp.ones(2, int))
    assert names.count("out_of_bounds_check") == 1
    assert names.count("scatter") == 1


def test_one_row_is_a_dynamic_slice():
    names = primitives(lambda i: jaxops.at(X)[i].get(), 2)
    assert "dynamic_slice" in names
    assert "gather" not in names
    np.testing.assert_array_equal(jaxops.at(X)[jnp.array(2)].get(), X[2])
