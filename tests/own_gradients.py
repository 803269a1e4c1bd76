"""Functions with derivatives of their own, for the tests of `jaxops.testing`."""

import jax
import numpy as np


def normal(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def with_vjp(f, gradient):
    """`f` with `gradient(x, cotangent)` as its reverse mode."""
    wrong = jax.custom_vjp(f)
    wrong.defvjp(lambda x: (f(x), x), lambda x, cotangent: (gradient(x, cotangent),))
    return wrong


def with_jvp(f, tangent):
    wrong = jax.custom_jvp(f)
    wrong.defjvp(lambda x, t: (f(x[0]), tangent(x[0], t[0])))
    return wrong


def square(x):
    return x * x


def with_transpose(f, transpose):
    """A linear function whose `linear_transpose` is that one."""

    def g(x):
        return jax.lax.custom_linear_solve(
            lambda x: x, x, lambda _, b: f(b), lambda _, b: transpose(b)
        )

    return g


def counted(f):
    def count(*args):
        count.calls += 1
        return f(*args)

    count.calls = 0
    return count
