"""Steps on slices exported by `jax.export` for any number of rows."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from sparse_checks import OF_INEXACT_SLICES, OF_SLICES, to_dense

import jaxops
from jaxops import IndexedSlices

TABLE = jnp.arange(14, dtype=jnp.float32).reshape(7, 2)


def slices(values, indices):
    return IndexedSlices(values, indices, TABLE.shape)


def parts_and_rows(values, indices):
    return IndexedSlices(values[:, 0], indices, TABLE.shape) + slices(values, indices)


def gradient(values, indices):
    def loss(table):
        return jnp.sum(jaxops.gather(table, indices, mode="fill") * values)

    return jaxops.sparse_value_and_grad(loss, tables="")(TABLE)[1]


def step(optimizer):
    def new_table(values, indices):
        lazy = jaxops.lazy(optimizer)
        return lazy.apply(gradient(values, indices), lazy.init(TABLE), TABLE)[0]

    return new_table


def of_narrow_slices(function):
    return lambda values, indices: function(slices(values.astype(jnp.bfloat16), indices))


PROGRAMS = {
    **{
        name: lambda v, i, f=function: f(slices(v, i))
        for name, (function, _) in {**OF_SLICES, **OF_INEXACT_SLICES}.items()
    },
    "to_dense of bfloat16": of_narrow_slices(IndexedSlices.to_dense),
    "sum_duplicates of bfloat16": of_narrow_slices(OF_SLICES["sum_duplicates"][0]),
    "sum_duplicates(5)": lambda v, i: slices(v, i).sum_duplicates(5, mode="fill"),
    "sum_duplicates(n), checked": lambda v, i: slices(v, i).sum_duplicates(v.shape[0]),
    "parts and rows": parts_and_rows,
    "global_norm": lambda v, i: jaxops.global_norm([slices(v, i), v, TABLE]),
    "gradient": gradient,
    "gradient, summed": lambda v, i: gradient(v, i).sum_duplicates(i.shape[0]),
    "SGD": step(optax.sgd(0.5)),
    "Adagrad": step(optax.adagrad(0.5)),
    "gradient of to_dense": jax.grad(lambda v, i: jnp.sum(slices(v, i).to_dense() ** 2)),
    "repr": lambda v, i: [v, repr(slices(v, i))][0],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_any_number_of_rows(name):
    def program(values, indices):
        return to_dense(PROGRAMS[name](values, indices))

    (n,) = jax.export.symbolic_shape("n")
    types = jax.ShapeDtypeStruct((n, 2), jnp.float32), jax.ShapeDtypeStruct((n,), jnp.int32)
    exported = jax.export.export(jax.jit(program))(*types)
    rng = np.random.default_rng(0)
    for rows in (1, 9):
        values = rng.integers(-4, 5, (rows, 2)).astype(np.float32)
        indices = rng.integers(0, 8, rows).astype(np.int32)
        expected = jax.jit(program)(values, indices)
        np.testing.assert_allclose(exported.call(values, indices), expected, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.usefixtures("standard_promotion")
def test_missed_steps_of_any_number_of_rows():
    """More of them than are made up for at a time where the number is known."""
    optimizer = jaxops.lazy(optax.adam(0.1), catch_up=True)
    table = jnp.ones((40_000, 2))

    def program(values, indices):
        params, state = table, optimizer.init(table)
        for rows in ([3, 1], [5], [1]):
            grads = IndexedSlices(jnp.ones((len(rows), 2)), jnp.array(rows), table.shape)
            params, state = optimizer.apply(grads, state, params)
        params, state = optimizer.catch_up(params, state, {"": indices})
        grads = IndexedSlices(values, indices, table.shape)
        return optimizer.apply(grads, state, params)[0][:8]

    (n,) = jax.export.symbolic_shape("n")
    types = jax.ShapeDtypeStruct((n, 2), jnp.float32), jax.ShapeDtypeStruct((n,), jnp.int32)
    exported = jax.export.export(jax.jit(program))(*types)
    for indices in (np.array([3, 1, 3, 5], np.int32), np.arange(20_000, dtype=np.int32) % 7):
        values = np.ones((len(indices), 2), np.float32)
        expected = jax.jit(program)(values, indices)
        np.testing.assert_allclose(exported.call(values, indices), expected, rtol=1e-5)
