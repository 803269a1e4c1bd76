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
