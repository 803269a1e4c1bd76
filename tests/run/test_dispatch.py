"""How calls run: what is compiled once, and what stays known while tracing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import assert_fails
from jax.core import Tracer
from records import joined
from records.record import X

import jaxops

CASES = joined("out_of_bounds")


@pytest.mark.parametrize("name", CASES)
def test_a_second_eager_call_compiles_nothing(name):
    function, indices, *_ = CASES[name]
    good = jnp.array(indices)
    first = function(good)
    with jax.no_tracing():  # what is not traced is not compiled
        np.testing.assert_array_equal(function(good), first)
        with pytest.raises(RuntimeError, match="no_tracing"):
            jax.jit(lambda x: function(x))(good)


@pytest.mark.usefixtures("x32")
def test_components_are_joined_without_change():
    """Unsigned and signed ones promote to a type that does not hold both."""
    huge, zero = jnp.uint32(2**32 - 1), jnp.int32(0)
    clipped = jax.jit(lambda a, b: jaxops.gather(jnp.arange(3.0), [a, b], mode="clip"))
    np.testing.assert_array_equal(clipped(huge, zero), [2, 0])
    corner = jax.jit(lambda a, b: jaxops.strided_slice(X, [a, b], [0, 0], shrink_axis_mask=3))
    assert_fails("slice index", corner, huge, zero)


def test_results_known_while_tracing_stay_known():
    def op(x):
        known = jaxops.gather([2, 3, 4], [1])
        assert not isinstance(known, Tracer)
        assert isinstance(jaxops.gather([2, 3, 4], [7]), Tracer)  # for the program to raise
        return x.reshape(tuple(np.asarray(known)))

    assert_fails("indices[0] = 7", jax.jit(lambda: jaxops.gather([2, 3, 4], [7])))
    assert jax.jit(op)(jnp.ones(3)).shape == (3,)
