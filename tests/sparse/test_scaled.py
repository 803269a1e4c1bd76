"""_sparse/optimizer/scaled: which updates are a gradient, scaled, and which rows stay apart."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxops._sparse.optimizer import scaled

X = jnp.arange(3.0)

# name: update of two gradients and another array, and of which gradient alone it is a multiple
UPDATES = {
    "itself": (lambda a, b, c: a, 0),
    "times-constant": (lambda a, b, c: a * 2.0, 0),
    "times-other": (lambda a, b, c: c * -b, 1),
    "divided": (lambda a, b, c: a / c, 0),
    "jitted": (lambda a, b, c: jax.jit(lambda x, y: x * y)(a, c), 0),
    "fewer-bits": (lambda a, b, c: a.astype(jnp.bfloat16), None),
    "other-only": (lambda a, b, c: c + 1, None),
    "shifted": (lambda a, b, c: a + c, None),
    "sum-of-both": (lambda a, b, c: a + b, None),
    "product-of-both": (lambda a, b, c: a * b, None),
    "square": (lambda a, b, c: a * a, None),
    "divisor": (lambda a, b, c: c / a, None),
    "reduced": (lambda a, b, c: a / jnp.sum(a), None),
    "of-a-shifted": (lambda a, b, c: 2 * (a + 1), None),
    "clipped": (lambda a, b, c: jnp.clip(a, -1e6, 1e6), None),
    "moved": (lambda a, b, c: a[::-1], None),
    "integers": (lambda a, b, c: a.astype(jnp.int32), None),
    "second-of-two": (lambda a, b, c: jax.lax.top_k(a, 1)[1], None),
}


@pytest.mark.parametrize("name", UPDATES)
def test_only_scaled(name):
    f, gradient = UPDATES[name]
    for n, updates in enumerate([lambda *x: [f(*x), 0.0], lambda *x: [0.0, f(*x)]]):
        program = jax.make_jaxpr(updates)(X, X, X)
        assert scaled.only_scaled(program, 2)[n] == (gradient == n)


def test_a_gradient_that_a_state_depends_on_too():
    program = jax.make_jaxpr(lambda a, b: [2 * a, 3 * b, 0 * b + 1])(X, X)
    assert scaled.only_scaled(program, 2) == [True, False]


ROWS = jnp.ones((5, 3))
# name: function of rows and of a vector of their width
APART = {
    "element-wise": (lambda x, w: jnp.where(x > 0, x * 2, 1.0), True),
    "in-a-call": (lambda x, w: jax.jit(lambda x: x * 2)(x), True),
    "mean-of-each-row": (lambda x, w: x / jnp.mean(x * x, axis=1, keepdims=True), True),
    "sum": (lambda x, w: x * jnp.sum(x), False),
    "sum-of-columns": (lambda x, w: x * jnp.sum(x, axis=0), False),
    "sum-in-a-call": (lambda x, w: x * jax.jit(jnp.sum)(x), False),
    "reversed": (lambda x, w: x[::-1], False),
    "numbers-for-each-row": (lambda x, w: x * np.arange(15.0).reshape(5, 3), False),
    "columns-become-rows": (lambda x, w: x + jnp.max(x.reshape(3, 5), axis=1).sum(), False),
    "along-rows": (lambda x, w: x * w, False),  # of which nothing tells that `w` has no rows
}


@pytest.mark.parametrize("name", APART)
def test_rows_stay_apart(name):
    f, expected = APART[name]
    with jax.numpy_rank_promotion("allow"):
        assert scaled.rows_stay_apart(jax.make_jaxpr(f)(ROWS, X), [0, None]) == expected


@pytest.mark.parametrize("f", [lambda x, y: x * y, lambda x, y: [x, jax.jit(jnp.add)(y, x * 2)]])
def test_rows_of_two_tables_are_not_for_each_other(f):
    program = jax.make_jaxpr(f)(ROWS, ROWS)
    assert not scaled.rows_stay_apart(program, [0, 1])
    assert scaled.rows_stay_apart(program, [0, 0])
