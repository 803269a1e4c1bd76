"""A function and its derivatives: values agree, modes that are missing are named."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from own_gradients import square, with_vjp

import jaxops
from jaxops import testing
from jaxops.testing import _function

POINT = np.array([1.5, -2, 0.5, 3], np.float32)


def test_a_value_that_differs_is_found():
    @jax.custom_jvp
    def f(x):
        return x**2

    f.defjvp(lambda x, t: (x[0] ** 2 + jnp.array([0, 0.5], jnp.float32), 2 * x[0] * t[0]))
    with pytest.raises(AssertionError, match=r"another value .* result\[1\] is 4.5, f returns 4"):
        testing.check_grads(f, np.array([1, 2], np.float32))
    f.defjvp(lambda x, t: (x[0] ** 2 * jnp.array([jnp.nan, 1], jnp.float32), 2 * x[0] * t[0]))
    with pytest.raises(AssertionError, match=r"another value .* result\[0\] is nan, f returns 1"):
        testing.check_grads(f, np.array([1, 2], np.float32))


def test_an_error_beside_the_point_says_that_it_is_there():
    def f(x):
        return x * jaxops.gather(jnp.arange(5, dtype=jnp.float32), jnp.int32(x))

    with pytest.raises(Exception, match="= 5 is not in") as info:
        testing.check_grads(f, np.float32(4.9), jit=None)
    assert any("where args are moved" in note for note in info.value.__notes__)


def test_the_other_mode_is_named_where_one_is_not_there():
    f = with_vjp(square, lambda x, c: 2 * x * c)
    with pytest.raises(TypeError) as info:
        testing.check_grads(f, POINT)
    assert any("modes='rev'" in note for note in info.value.__notes__)
    testing.check_grads(f, POINT, modes="rev", order=2)


def test_dtypes_in_which_a_function_is_evaluated():
    """The real one that was asked for makes complex numbers of as many bits; none is narrowed."""
    pairs = [(np.float16, np.float32), (np.complex64, np.float64), (np.float64, np.float32)]
    widened = [_function._widened(np.dtype(dtype), np.dtype(wide)) for dtype, wide in pairs]
    assert widened == [np.float32, np.complex128, np.float64]
