"""Lookups in the functions of reductions and scatters, where XLA allows no branch."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxops


def add(read, a, b):
    return read((a + b).astype(int) % 3)


REDUCTIONS = {
    "apply": lambda read, x, i: x.at[i].apply(lambda v: read(v.astype(int) % 4)),
    "reduce": lambda read, x, i: lax.reduce(x, 0.0, functools.partial(add, read), [0]),
    "reduce_window": lambda read, x, i: lax.reduce_window(
        x, 0.0, functools.partial(add, read), [2], [1], "VALID"
    ),
}


def by_custom_jvp(read):
    function = jax.custom_jvp(read)
    function.defjvp(lambda primals, tangents: (function(*primals), 0.0 * tangents[0]))
    return function


def by_solve(read):
    def solve(k):
        return lax.custom_linear_solve(lambda x: x, read(k), lambda matvec, b: b + 0 * read(k))

    return solve


def with_constant(read):
    return jax.jit(lambda k: read(k) + jnp.asarray(np.zeros(4))[k])


WITHIN = {
    "itself": lambda read: read,
    "jit": jax.jit,
    "jit-of-jit": lambda read: jax.jit(lambda k: 2 * jax.jit(read)(k)),
    "checkpoint": jax.checkpoint,
    "custom_jvp": by_custom_jvp,
    "solve": by_solve,
    "constant": with_constant,
    "vmap": lambda read: lambda k: jax.vmap(read)(k[None])[0],
}
# JAX takes no arrays of the caller's in the function of `apply`.
PAIRS = [(a, b) for a in REDUCTIONS for b in WITHIN if (a, b) != ("apply", "constant")]


def numbers():
    return lax.iota(jnp.result_type(float), 4)


READS = {"take": lambda k: jnp.take(numbers(), k), "index": lambda k: numbers()[k]}


def in_lanes(f):
    return lambda x, i: jax.vmap(f, (0, None, None))(jnp.arange(3), x, i)


def by_cond(f):
    zeros = lambda x, i: jnp.zeros_like(jax.eval_shape(f, x, i))  # noqa: E731
    return in_lanes(lambda count, x, i: lax.cond(count > 0, f, zeros, x, i))


def by_while(f):
    def add_up(count, x, i):
        step = lambda carry: (carry[0] + 1, carry[1] + f(x, i))  # noqa: E731
        start = (jnp.zeros_like(count), jnp.zeros_like(jax.eval_shape(f, x, i)))
        return lax.while_loop(lambda carry: carry[0] < count, step, start)[1]

    return in_lanes(add_up)


WHERE = {"alone": lambda f: f, "cond": by_cond, "while": by_while}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize(("reduction", "within"), PAIRS)
def test_the_process_lives(reduction, within, read, where):
    f = WHERE[where](functools.partial(REDUCTIONS[reduction], WITHIN[within](READS[read])))
    x, i = jnp.arange(5.0), jnp.array([1, 3])
    np.testing.assert_array_equal(jax.jit(jaxops.checked(f))(x, i), f(x, i))


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("within", ["itself", "checkpoint"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_functions_of_jaxops_are_refused(reduction, within, where):
    read = WITHIN[within](lambda k: jaxops.gather(numbers(), k))
    f = WHERE[where](functools.partial(REDUCTIONS[reduction], read))
    with pytest.raises(NotImplementedError, match=r"gather: an index is checked.*jnp\.take"):
        jax.jit(f)(jnp.arange(5.0), jnp.array([1, 3]))
