"""rowwise_adagrad against its formula, in a loop of NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from fast import fast_jit

import jaxops
from jaxops import IndexedSlices

pytestmark = pytest.mark.usefixtures("x32")

ROWS = 6
STEPS = [[0, 0, 2, 9], [2, 5, -1], [1, 2, 2]]


def by_formula(table, batches, rate=0.5, start=0.0, eps=1e-8):
    """Table and state, row by row; `batches` are of lists of rows and their gradients."""
    table, sums = np.array(table, np.float64), np.full(len(table), start)
    for step, (indices, values) in enumerate(batches):
        gradient = np.zeros_like(table)
        for n, value in zip(indices, values, strict=True):
            if 0 <= n < len(table):
                gradient[n] += value
        for n, g in enumerate(gradient):
            sums[n] += np.mean(g**2)
            at = rate(step) if callable(rate) else rate
            table[n] -= at * g / (np.sqrt(sums[n]) + eps)
    return table, sums


def batches(row=(3,)):
    rng = np.random.default_rng(0)
    return [(rows, rng.normal(size=(len(rows), *row)).astype(np.float32)) for rows in STEPS]


def run(table, batches, optimizer, apply):
    state = optimizer.init(table)
    for indices, values in batches:
        slices = IndexedSlices(values, np.array(indices, np.int32), table.shape)
        table, state = apply(slices, state, table)
    return table, state


CASES = {
    "matrix": ((3,), {}),
    "vector": ((), {}),
    "cube": ((2, 3), {}),
    "start": ((3,), {"initial_accumulator_value": 0.5, "eps": 0.1}),
    "schedule": ((3,), {"learning_rate": lambda step: 0.5 / (1.0 + jnp.float32(step))}),
}


@pytest.mark.parametrize("name", CASES)
def test_formula(name):
    """Dense and lazy; a row without a gradient stays."""
    row, options = CASES[name]
    options = {"learning_rate": 0.5, **options}
    table = np.random.default_rng(1).normal(size=(ROWS, *row)).astype(np.float32)
    expected, sums = by_formula(
        table,
        batches(row),
        options["learning_rate"],
        options.get("initial_accumulator_value", 0.0),
        options.get("eps", 1e-8),
    )
    optimizer = jaxops.rowwise_adagrad(**options)

    def dense(slices, state, table):
        updates, state = optimizer.update(slices.to_dense(), state, table)
        return table + updates, state

    lazy = jaxops.lazy(optimizer)
    for received, state in (
        run(jnp.asarray(table), batches(row), lazy, fast_jit(lazy.apply)),
        run(jnp.asarray(table), batches(row), optimizer, fast_jit(dense)),
    ):
        np.testing.assert_allclose(received, expected, rtol=2e-5, atol=1e-6)
        np.testing.assert_allclose(state.sums, sums, rtol=1e-5)
        assert state.sums.shape == (ROWS,)
        assert int(state.count) == len(STEPS)


def test_rows_that_catch_up_have_nothing_to_make_up_for():
    lazy = jaxops.lazy(jaxops.rowwise_adagrad(0.5), catch_up=True)
    table = jnp.ones((ROWS, 3))
    state = lazy.init(table)
    assert state.done == {}
    table, state = run(table, batches(), lazy, lazy.apply)
    assert int(state.steps) == len(STEPS)
    np.testing.assert_allclose(table, by_formula(np.ones((ROWS, 3)), batches())[0], rtol=2e-5)


def test_with_transformations_of_optax():
    optimizer = optax.chain(optax.clip_by_global_norm(1e6), jaxops.rowwise_adagrad(0.5))
    lazy = jaxops.lazy(optimizer)
    received, _ = run(jnp.ones((ROWS, 3)), batches(), lazy, fast_jit(lazy.apply))
    expected, _ = by_formula(np.ones((ROWS, 3)), batches())
    np.testing.assert_allclose(received, expected, rtol=2e-5)


def test_narrow_tables_have_a_state_of_32_bits():
    table = jnp.ones((ROWS, 3), jnp.bfloat16)
    lazy = jaxops.lazy(jaxops.rowwise_adagrad(0.5))
    slices = IndexedSlices(jnp.full((2, 3), 2.0, jnp.bfloat16), jnp.array([1, 4]), table.shape)
    table, state = lazy.apply(slices, lazy.init(table), table)
    assert (table.dtype, state.sums.dtype) == (jnp.bfloat16, jnp.float32)
    np.testing.assert_array_equal(state.sums, [0, 4, 0, 0, 4, 0])
    np.testing.assert_array_equal(table[1], np.full(3, 0.5, np.float32))


def test_parameters_that_are_no_tables():
    """A scalar, and an array without numbers."""
    params = {"scale": jnp.ones(()), "none": jnp.ones((2, 0))}
    optimizer = jaxops.rowwise_adagrad(0.5)
    grads = {"scale": jnp.array(2.0), "none": params["none"]}
    updates, state = optimizer.update(grads, optimizer.init(params))
    np.testing.assert_allclose(updates["scale"], -0.5)
    np.testing.assert_array_equal(state.sums["none"], np.zeros(2))
    np.testing.assert_allclose(state.sums["scale"], 4.0)


def test_a_rate_that_is_traced_around_the_optimizer():
    def updates(rate, gradient):
        optimizer = jaxops.rowwise_adagrad(rate)
        return optimizer.update(gradient, optimizer.init(gradient))[0]

    gradient = jnp.ones((4, 2))
    np.testing.assert_allclose(jax.jit(updates)(0.1, gradient), updates(0.1, gradient), rtol=1e-6)
