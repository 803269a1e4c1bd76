"""Transformations of JAX, each of a function `f(x, i)` of an array `[4]` and of a number in it.

Each makes of it another such function, so that any two of them follow one another.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import jaxpr_as_fun


def _derivative(take):
    """By `take(f, x)`, of a function of `x` alone."""
    return lambda f: lambda x, i: jnp.sum(take(lambda x: f(x, i), x))


def _value_and_grad(f, x):
    value, gradient = jax.value_and_grad(f)(x)
    return value + gradient


def _both(i):
    """The number, and one that is in bounds."""
    return jnp.stack([0 * i, i])


def _while_loop(f):
    def loop(x, i):
        step = lambda c: (c[0] + 1, c[1] + f(x, i))  # noqa: E731
        return lax.while_loop(lambda c: c[0] < 2, step, (0, 0.0))[1]

    return loop


def _custom_jvp(f):
    function = jax.custom_jvp(f)
    function.defjvp(lambda p, t: jax.jvp(lambda x: f(x, p[1]), p[:1], t[:1]))
    return function


def _custom_vjp(f):
    function = jax.custom_vjp(f)

    def bwd(residuals, bar):
        x, i = residuals
        return jax.vjp(lambda x: f(x, i), x)[1](bar)[0], None

    function.defvjp(lambda x, i: (f(x, i), (x, i)), bwd)
    return function


def _trace(f):
    def function(x, i):
        traced = jax.jit(f).trace(x, i)
        return traced(x, i) if callable(traced) else f(x, i)  # it can be called since jax 0.12

    return function


TRANSFORMATIONS = {
    "jit": jax.jit,
    "vmap": lambda f: lambda x, i: jnp.sum(jax.vmap(f, (None, 0))(x, _both(i))),
    "vmap-of-rows": lambda f: lambda x, i: jnp.sum(jax.vmap(f, (1, None))(jnp.stack([x, x], 1), i)),
    "grad": _derivative(lambda f, x: jax.grad(f)(x)),
    "value_and_grad": _derivative(_value_and_grad),
    "jvp": _derivative(lambda f, x: jax.jvp(f, (x,), (x,))[1]),
    "vjp": _derivative(lambda f, x: jax.vjp(f, x)[1](jnp.ones(()))[0]),
    "linearize": _derivative(lambda f, x: jax.linearize(f, x)[1](x)),
    "jacfwd": _derivative(lambda f, x: jax.jacfwd(f)(x)),
    "jacrev": _derivative(lambda f, x: jax.jacrev(f)(x)),
    "hessian": _derivative(lambda f, x: jax.hessian(f)(x)),
    "checkpoint": jax.checkpoint,
    "scan": lambda f: (
        lambda x, i: lax.scan(lambda c, j: (c + f(x, j), None), jnp.zeros(()), _both(i))[0]
    ),
    "map": lambda f: lambda x, i: jnp.sum(lax.map(lambda j: f(x, j), _both(i))),
    "map-of-batches": lambda f: (
        lambda x, i: jnp.sum(lax.map(lambda j: f(x, j), _both(i), batch_size=2))
    ),
    "while_loop": _while_loop,
    "fori_loop": lambda f: (
        lambda x, i: lax.fori_loop(0, 2, lambda k, c: c + f(x, i), jnp.zeros(()))
    ),
    "cond": lambda f: lambda x, i: lax.cond(i > -9, f, lambda x, i: jnp.zeros(()), x, i),
    "switch": lambda f: (
        lambda x, i: lax.switch(jnp.minimum(i, 1), [lambda x, i: jnp.zeros(()), f], x, i)
    ),
    "custom_jvp": _custom_jvp,
    "custom_vjp": _custom_vjp,
    "make_jaxpr": lambda f: lambda x, i: jaxpr_as_fun(jax.make_jaxpr(f)(x, i))(x, i)[0],
    "trace": _trace,
    "closure_convert": lambda f: lambda x, i: jax.closure_convert(f, x, i)[0](x, i),
    "vectorize": lambda f: lambda x, i: jnp.sum(jnp.vectorize(f, excluded={0})(x, _both(i))),
    "associative_scan": lambda f: (
        lambda x, i: jnp.sum(
            lax.associative_scan(lambda a, b: a + b + 0 * f(x, i), jnp.stack([f(x, i), f(x, i)]))
        )
    ),
    "platform_dependent": lambda f: lambda x, i: lax.platform_dependent(x, i, cpu=f, default=f),
    "named_call": jax.named_call,
    "pmap": lambda f: lambda x, i: jnp.sum(jax.pmap(f)(x[None], i[None])),
}
