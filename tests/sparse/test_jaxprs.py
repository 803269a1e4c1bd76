"""Traced programs, walked equation by equation."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from jaxops._sparse import jaxprs

# Functions of two numbers, and which of the two each result is.
UNCHANGED = {
    "swapped": (lambda a, b: (b, a), [1, 0]),
    "computed": (lambda a, b: (a + b, b), [None, 1]),
    "constant": (lambda a, b: (1.0, b), [None, 1]),
    "jit": (lambda a, b: jax.jit(lambda x, y: (y, 2 * x))(a, b), [1, None]),
    "checkpoint": (lambda a, b: jax.checkpoint(lambda x: (jnp.sin(x), x))(a), [None, 0]),
    "copy": (lambda a, b: (jnp.array(a, copy=True), b), [0, 1]),
    "scan": (
        lambda a, b: lax.scan(lambda c, _: ((c[0], c[1] + c[0]), None), (a, b), length=3)[0],
        [0, None],
    ),
    "scan-swapped": (
        lambda a, b: lax.scan(lambda c, _: ((c[1], c[0]), None), (a, b), length=2)[0],
        [None, None],
    ),
    "cond": (lambda a, b: lax.cond(a > 0, lambda: (a, b), lambda: (a, a)), [0, None]),
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_unchanged(name):
    function, expected = UNCHANGED[name]
    program = jax.make_jaxpr(function)(1.0, 2.0)
    assert jaxprs.unchanged(program, [0, 1]) == expected


COMPUTED = {
    "one": (lambda a, b: (2 * a, 2 * b), [True, False]),
    "in turn": (lambda a, b: (jnp.sin(b) + 2 * a, b), [True, False]),
    "as it is": (lambda a, b: (a, jax.jit(lambda x: x)(a)), [False, False]),
    "jit": (lambda a, b: jax.jit(lambda x: (x, 2 * x))(a), [False, True]),
    "constant": (lambda a, b: (1.0, jnp.arange(2)), [False, False]),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_computed_from_the_first(name):
    function, expected = COMPUTED[name]
    program = jax.make_jaxpr(function)(1.0, 2.0)
    assert jaxprs.computed_from(program, [True, False]) == expected
