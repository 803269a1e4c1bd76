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


LARGEST = jnp.int32(jnp.iinfo(jnp.int32).max)
# name: function of two counts, and which of them its result is one more than
COUNTED = {
    "one-more": (lambda m, n: n + 1, 1),
    "one-more-from-the-left": (lambda m, n: 1 + m, 0),
    "in-two-parts": (lambda m, n: (m + 3) + -2, 0),
    "jitted": (lambda m, n: jax.jit(lambda n: n + 1)(n), 1),
    "up-to-the-largest": (lambda m, n: jnp.where(n < LARGEST, n + 1, LARGEST), 1),
    "itself": (lambda m, n: m, None),
    "two-more": (lambda m, n: m + 2, None),
    "sum": (lambda m, n: m + n, None),
    "up-to-ten": (lambda m, n: jnp.where(n < 10, n + 1, 10), None),
    "back-to-0": (lambda m, n: jnp.where(n < LARGEST, n + 1, 0), None),
    "by-another": (lambda m, n: jnp.where(m < LARGEST, n + 1, LARGEST), None),
    "by-one-more": (lambda m, n: jnp.where(n + 1 < LARGEST, n + 1, LARGEST), None),
    "product": (lambda m, n: m * 1, None),
    "number": (lambda m, n: jnp.int32(1), None),
}


@pytest.mark.parametrize("name", COUNTED)
def test_counted_up(name):
    f, expected = COUNTED[name]
    program = jax.make_jaxpr(f)(jnp.int32(0), jnp.int32(0))
    assert dependences.counted_up(program) == [expected]


def test_vectors_and_floats_are_no_counts():
    program = jax.make_jaxpr(lambda x, n: (x + 1, x.sum() + 1, n + 1.5))(X, jnp.float32(0))
    assert dependences.counted_up(program) == [None] * 3
