"""Functions that check indices, as a part of the program that calls them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import raised

import jaxops
from jaxops._indexing import inlined

TABLE = jnp.arange(10.0)
INDICES, SHIFT = jnp.array([3, 4]), jnp.array([1, 2])


@pytest.mark.parametrize("count", [1, inlined._MOST_EQUATIONS])
def test_functions_with_a_check(count):
    """Small functions, here of two shapes, share a branch; large ones have their own."""

    @jax.jit
    def read(table, i):
        for _ in range(count):
            i = i + 1
        return jnp.take(table, i - count)

    program = jax.jit(jaxops.checked(lambda table, i, j: read(table, i) * read(table[1:], j)))
    text = program.lower(TABLE, 3, 4).as_text()
    assert text.count("stablehlo.case") == (1 if count == 1 else 2)
    assert (" call @read" in text) == (count > 1)
    assert float(program(TABLE, 3, 4)) == 15.0
    for i, j, index in ((3, 9, 9), (10, 4, 10)):
        assert raised(program, TABLE, i, j).index == index


def test_a_function_that_is_called_again():
    """Its first call is inlined; the others share JAX's function."""
    program = jax.jit(lambda x, i: jaxops.gather(again(again(again(x, i), i), i), i))
    text = program.lower(TABLE, jnp.arange(10)).as_text()
    assert (text.count(" call @again("), text.count("stablehlo.case")) == (2, 2)
    np.testing.assert_array_equal(program(TABLE, jnp.arange(10)), TABLE)
    assert raised(program, TABLE, jnp.arange(10).at[4].set(11)).index == 11


@jax.jit
def again(x, i):
    return jaxops.gather(x, i)


@jax.jit
def double(x, i):
    return x[i] * 2


@jax.jit
def shown(x, i):
    jax.debug.print("{}", i)
    return jaxops.gather(x, i)


@jax.jit
def shifted(x, i):
    return jaxops.gather(x, i + SHIFT)


@pytest.mark.parametrize("function", [double, shown, shifted])
def test_other_functions_stay_apart(function):
    """JAX calls a function that has no check, and one that has effects or constants."""
    program = jax.jit(lambda x, i: jaxops.gather(function(x, i), i - 3))
    assert f" call @{function.__name__}(" in program.lower(TABLE, INDICES).as_text()
    expected = function(TABLE, INDICES)
    np.testing.assert_array_equal(program(TABLE, INDICES), expected)


def test_functions_stay_apart_elsewhere():
    """On a GPU a program raises nothing."""

    @jax.jit
    def read(x, i):
        return jaxops.gather(x, i)

    traced = jax.jit(lambda x, i: read(x, i)).trace(TABLE, INDICES)
    for platform, is_apart in (("cuda", True), ("cpu", False)):
        text = traced.lower(lowering_platforms=(platform,)).as_text()
        assert (" call @read(" in text) == is_apart
