"""Functions with derivatives of their own, of whole tables."""

# pyright: reportIndexIssue=false

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import share
from sparse_checks import square
from sparse_patterns import INDICES, assert_rows_first, params, polynomial

import jaxops

pytestmark = pytest.mark.usefixtures("x32")


@jax.custom_jvp
def sine(t, c):
    return jnp.sin(t * c[None])


@sine.defjvp
def _(primals, tangents):  # no derivative of a sine, so that another one is noticed
    (t, c), (dt, dc) = primals, tangents
    return sine(t, c), 2 * dt * c[None] + 3 * dc[None] * t


@jax.custom_vjp
def tripled(t):
    return 3 * t


tripled.defvjp(lambda t: (3 * t, t), lambda t, bar: (5 * bar * t,))


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def transposed(t, factor):
    return (t * factor).T


transposed.defvjp(lambda t, f: ((t * f).T, None), lambda f, _, bar: (7 * f * bar.T,))


@jax.custom_jvp
def parts(t):
    return t[:, 0], jnp.sum(t, axis=1, keepdims=True)


parts.defjvp(lambda p, d: (parts(*p), (2 * d[0][:, 0], 3 * d[0][:, 1:2])))

FUNCTIONS = {
    "relu": lambda t, p: jax.nn.relu(t)[INDICES],
    "relu of a product": lambda t, p: jax.nn.relu(t @ p["w"])[INDICES],
    "logaddexp": lambda t, p: jnp.logaddexp(t, p["c"][None])[INDICES],
    "logsumexp": lambda t, p: jax.nn.logsumexp(t, axis=1)[INDICES],
    "softmax": lambda t, p: jax.nn.softmax(t, axis=1)[INDICES],
    "norm": lambda t, p: (t / jnp.linalg.norm(t, axis=1, keepdims=True))[INDICES],
    "gelu": lambda t, p: jax.nn.gelu(t)[INDICES],
    "custom_jvp": lambda t, p: sine(t, p["c"])[INDICES],
    "custom_jvp of transposed": lambda t, p: sine(t.T * 1.0, p["of_rows"])[:, INDICES],
    "two results": lambda t, p: parts(t)[0][INDICES] + parts(t)[1][INDICES, 0],
    "custom_vjp": lambda t, p: tripled(t)[INDICES],
    "custom_vjp, moved": lambda t, p: transposed(t, 2)[:, INDICES],
    "within jit": lambda t, p: jax.jit(lambda t: jax.nn.relu(tripled(t)))(t)[INDICES],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_own_derivatives(name):
    def loss(p):
        return polynomial(FUNCTIONS[name](p["t"], p))

    assert_rows_first(loss, params(), jitted=(True,))


@pytest.mark.parametrize("name", share(["custom_jvp", "relu of a product"], 2))
def test_second_order(name):
    def loss(p):
        return polynomial(FUNCTIONS[name](p["t"], p) ** 2)

    def sparse(p):
        grads = jaxops.sparse_value_and_grad(loss, tables="t")(p)[1]
        return {**grads, "t": grads["t"].to_dense()}

    expected = jax.jacfwd(jax.grad(loss))(params())
    jax.tree.map(
        lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-4),
        jax.jacrev(sparse)(params()),
        expected,
    )


@jax.custom_vjp
def clipped(t):
    return 2 * t


clipped.defvjp(lambda t: (2 * t, None), lambda _, bar: (jnp.clip(bar, -1, 1),))


@jax.custom_vjp
def scaled(t, c):
    return t * c


scaled.defvjp(lambda t, c: (t * c, (t, c)), lambda res, bar: (bar * res[1], jnp.sum(bar * res[0])))


@jax.custom_vjp
def looked_up(t, i):
    return t[i]


looked_up.defvjp(lambda t, i: (t[i], i), lambda i, bar: (jnp.zeros((17, 3)).at[i].add(bar), None))

REFUSED = {
    # A row that is looked up twice would be clipped twice.
    "not linear": lambda p: square(clipped(p["t"])[INDICES]),
    "sums over rows": lambda p: square(scaled(p["t"], p["c"][0])[INDICES]),
    "lookup within": lambda p: square(looked_up(p["t"], INDICES)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    """With the words, and with a remedy that works."""
    loss = REFUSED[name]
    with pytest.raises(ValueError, match="Call the function with rows that are looked up") as info:
        jaxops.sparse_value_and_grad(loss, tables="t")(params())
    assert "test_delayed_calls.py" in str(info.value)
    _, grads = jaxops.sparse_value_and_grad(loss, tables="t", tied=True)(params())
    np.testing.assert_allclose(grads["t"].to_dense(), jax.grad(loss)(params())["t"])
