"""Indices of JAX in what `vmap` computes for calls of a batch that do not come to them."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import raised
from indexing.test_lanes import INDICES, LANES, NESTED, READING, TABLE
from jax import lax

import jaxops

READS = {
    "subscript": lambda table, i: table[i],
    "take": lambda table, i: jnp.take(table, i),
    "take_along_axis": lambda table, i: jnp.take_along_axis(table, i[None], 0)[0],
    "at-get": lambda table, i: table.at[i].get(),
    "at-add": lambda table, i: table.at[i].add(1.0).sum(),
    "at-set": lambda table, i: table.at[i].set(0.0).sum(),
    "put": lambda table, i: jnp.put(table, i, 0.0, inplace=False).sum(),
    "dynamic_slice": lambda table, i: lax.dynamic_slice(table, (i,), (1,))[0],
    "fori_loop": lambda table, i: lax.fori_loop(0, 2, lambda k, c: c + table[i], 0.0),
    "jit": lambda table, i: jax.jit(lambda j: jnp.take(table, j))(i),
    "negated-cond": lambda table, i: lax.cond(i < -20, lambda: 0.0, lambda: jnp.take(table, i)),
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
    checked = jax.jit(jaxops.checked(jax.vmap(functools.partial(lanes, read, TABLE))))
    expected = [read(TABLE, i) if r else 0.0 for i, r in zip(INDICES, READING, strict=True)]
    np.testing.assert_array_equal(checked(INDICES, READING), expected)
    for number in (1, 4):  # one more call reads, outside
        assert (
            raised(checked, INDICES, READING | (np.arange(5) == number)).index == (INDICES[number])
        )
