"""_sparse/dependences: which results of a program are an input, scaled."""

import jax
import jax.numpy as jnp
import pytest

from jaxops._sparse import dependences

X = jnp.arange(3.0)

# name: function of two followed inputs and another, what each result depends on, if a multiple.
PROGRAMS = {
    "itself": (lambda a, b, c: a, {0}, True),
    "times-constant": (lambda a, b, c: a * 2.0, {0}, True),
    "times-other": (lambda a, b, c: c * -b, {1}, True),
    "divided": (lambda a, b, c: a / c, {0}, True),
    "jitted": (lambda a, b, c: jax.jit(lambda x, y: x * y)(a, c), {0}, True),
    "fewer-bits": (lambda a, b, c: a.astype(jnp.bfloat16), {0}, False),
    "other-only": (lambda a, b, c: c + 1, set(), False),
    "shifted": (lambda a, b, c: a + c, {0}, False),
    "sum-of-both": (lambda a, b, c: a + b, {0, 1}, False),
    "product-of-both": (lambda a, b, c: a * b, {0, 1}, False),
    "square": (lambda a, b, c: a * a, {0}, False),
    "divisor": (lambda a, b, c: c / a, {0}, False),
    "reduced": (lambda a, b, c: a / jnp.sum(a), {0}, False),
    "of-a-shifted": (lambda a, b, c: 2 * (a + 1), {0}, False),
    "moved": (lambda a, b, c: a[::-1], {0}, False),
    "integers": (lambda a, b, c: a.astype(jnp.int32), {0}, False),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_dependences(name):
    f, inputs, is_multiple = PROGRAMS[name]
    program = jax.make_jaxpr(f)(X, X, X)
    assert dependences.dependences(program, num_followed=2) == [
        dependences.Dependence(frozenset(inputs), is_multiple)
    ]
