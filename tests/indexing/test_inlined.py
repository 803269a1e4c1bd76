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
def test_a_function_with_a_check(count):
    """A small one has no branch of its own; a large one is lowered once."""

    @jax.jit
    def read(table, i):
        for _ in range(count):
            i = i + 1
        return jnp.take(table, i - count)

    program = jax.jit(jaxops.checked(lambda table, i, j: read(table, i) * read(table, j)))
    text = program.lower(TABLE, 3, 4).as_text()
    assert text.count("stablehlo.case") == 1
    assert ("call @read" in text) == (count > 1)
    assert float(program(TABLE, 3, 4)) == 12.0
    assert raised(program, TABLE, 3, 10).index == 10


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
    """Those without a check, and those with effects or constants."""
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
