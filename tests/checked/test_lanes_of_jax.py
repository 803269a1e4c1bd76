"""Indices of JAX in what `vmap` computes for calls of a batch that do not come to them."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import raised
from jax import lax

import jaxops

TABLE = jnp.arange(1.0, 6.0)
INDICES = jnp.array([0, 7, 3, 9, -8])
READING = np.array([True, False, True, False, False])

READS = {
    "subscript": lambda i: TABLE[i],
    "take": lambda i: jnp.take(TABLE, i),
    "take_along_axis": lambda i: jnp.take_along_axis(TABLE, i[None], 0)[0],
    "at-get": lambda i: TABLE.at[i].get(),
    "at-add": lambda i: TABLE.at[i].add(1.0).sum(),
    "at-set": lambda i: TABLE.at[i].set(0.0).sum(),
    "put": lambda i: jnp.put(TABLE, i, 0.0, inplace=False).sum(),
    "dynamic_slice": lambda i: lax.dynamic_slice(TABLE, (i,), (1,))[0],
    "fori_loop": lambda i: lax.fori_loop(0, 2, lambda k, c: c + TABLE[i], 0.0),
    "jit": lambda i: jax.jit(lambda j: jnp.take(TABLE, j))(i),
    "negated-cond": lambda i: lax.cond(i < -20, lambda: 0.0, lambda: jnp.take(TABLE, i)),
}


def _branch(read, i, reads):
    return lax.cond(reads, lambda: read(i), lambda: 0.0)


def _switch(read, i, reads):
    return lax.switch(2 * reads.astype(int), [lambda: 0.0, lambda: 1.0, lambda: read(i)])


def _step(read, i, reads):
    """A loop of one step for the calls that read, and of none for others."""
    return lax.while_loop(lambda c: c[0], lambda c: (jnp.zeros_like(c[0]), read(i)), (reads, 0.0))[
        1
    ]


def _scanned(read, i, reads):
    """A branch in a step of a scan."""
    return lax.scan(lambda c, r: (c + _branch(read, i, r), None), 0.0, reads[None])[0]


LANES = {f.__name__[1:]: f for f in (_branch, _switch, _step, _scanned)}
NESTED = {
    f"{outer}-{inner}": lambda read, i, reads, outer=LANES[outer], inner=LANES[inner]: outer(
        lambda i: inner(read, i, reads), i, reads | (i == 9)
    )
    for outer, inner in itertools.product(LANES, repeat=2)
}


@pytest.mark.parametrize(
    ("read", "lanes"),
    [
        *itertools.product(READS, ["branch"]),
        *itertools.product(["take"], LANES),
        *(pytest.param(name, "step", marks=pytest.mark.slow) for name in READS),
        *(pytest.param("take", name, marks=pytest.mark.slow) for name in NESTED),
    ],
)
def test_only_the_calls_that_come_to_an_index_raise(read, lanes):
    read, lanes = READS[read], (LANES | NESTED)[lanes]
    checked = jax.jit(jaxops.checked(jax.vmap(functools.partial(lanes, read))))
    expected = [read(i) if r else 0.0 for i, r in zip(INDICES, READING, strict=True)]
    np.testing.assert_array_equal(checked(INDICES, READING), expected)
    for number in (1, 4):  # one more call reads, outside
        assert (
            raised(checked, INDICES, READING | (np.arange(5) == number)).index == (INDICES[number])
        )
