"""The primitives by which `jaxops.at` reads and writes; what it makes of indices: `test_at.py`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
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


@pytest.mark.parametrize("options", [{"mode": "fill"}, {"padding_index": -1}])
@pytest.mark.parametrize("index", [np.array([1, 3]), 1, (slice(1), np.array([0, 2]))])
def test_a_nan_that_nothing_reads(index, options):
    """JAX looks at what an eager operation computes; `x.at[index].get` raises nothing either."""
    with jax.debug_nans(True):
        result = jaxops.at(X)[index].get(fill_value=np.nan, **options)
    np.testing.assert_array_equal(result, X[index])
