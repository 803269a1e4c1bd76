"""_sparse/absences: lazy optimizers whose rows catch up with the steps that they missed."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from checks import share
from lazy_optax_table import COMPOSED

import jaxops
from jaxops import IndexedSlices

pytestmark = pytest.mark.usefixtures("standard_promotion")

ROWS = {"words": 40, "tags": 7, "bias": 40}
NEVER = 38  # the first of the rows that are never looked up


@pytest.fixture
def in_64_bits():
    """What is rounded in 32 bits grows over many steps."""
    with jax.enable_x64(True):
        yield


def params():
    rng = np.random.default_rng(0)
    return {
        name: jnp.asarray(rng.normal(size=(rows, 3) if name != "bias" else rows))
        for name, rows in ROWS.items()
    }


def batches(steps):
    """Words of each step, some much rarer than others; goals. In some steps there is one word."""
    rng = np.random.default_rng(1)
    words = np.minimum(rng.geometric(0.12, (steps, 5)), NEVER) - 1
    words[rng.random(steps) < 0.2] = 3
    return jnp.asarray(words), jnp.asarray(rng.normal(size=(steps, 5)))


def loss(params, words, goals):
    vectors = jaxops.gather(params["words"], words)
    # Words of the first half have no tag: there are steps in which no tag is looked up.
    vectors += jaxops.gather(params["tags"], jnp.where(words < 5, -1, words % 7), mode="fill")
    return jnp.mean((vectors.sum(1) + jaxops.gather(params["bias"], words) - goals) ** 2)


def train_dense(optimizer, params, words, goals):
    def step(carry, batch):
        params, state = carry
        value, grads = jax.value_and_grad(loss)(params, *batch)
        updates, state = optimizer.update(grads, state, params)
        return (optax.apply_updates(params, updates), state), value

    return jax.lax.scan(step, (params, optimizer.init(params)), (words, goals))


def train_lazy(optimizer, params, words, goals):
    lazy = jaxops.lazy(optimizer, catch_up=True)

    def step(carry, batch):
        params, state = carry
        rows = {"words": batch[0], "tags": batch[0] % 7, "bias": batch[0]}
        params, state = lazy.catch_up(params, state, rows)
        value_and_grad = jaxops.sparse_value_and_grad(loss, tables=list(params))
        value, grads = value_and_grad(params, *batch)
        params, state = lazy.apply(grads, state, params)
        return (params, state), value

    (params, state), values = jax.lax.scan(step, (params, lazy.init(params)), (words, goals))
    return (lazy.catch_up(params, state), state), values


def assert_close(received, expected, rtol=1e-8):
    assert jax.tree.structure(received) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(received), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("in_64_bits")
@pytest.mark.parametrize("name", share(COMPOSED, 3))
def test_1000_steps_are_those_of_the_dense_optimizer(name):
    words, goals = batches(1000)
    assert (np.diff(np.flatnonzero(np.any(words == NEVER - 1, axis=1))) > 30).any()
    lazily = jax.jit(lambda p: train_lazy(COMPOSED[name](), p, words, goals))
    densely = jax.jit(lambda p: train_dense(COMPOSED[name](), p, words, goals))
    ((now, state), before), values = lazily(params())
    (expected, expected_state), expected_values = densely(params())
    assert_close(values, expected_values)
    assert_close((now, state.optimizer), (expected, expected_state))
    if name == "adam":  # rows do wait
        assert np.any(np.abs(before.done["words"] - before.steps) > 30)
        assert np.all(np.asarray(before.done["words"])[NEVER:] == 0)


def gradient(indices, rows=6, width=2):
    rng = np.random.default_rng(len(indices))
    values = jnp.asarray(rng.normal(size=(len(indices), width)), jnp.float32)
    return IndexedSlices(values, jnp.array(indices, jnp.int32), (rows, width))


def steps_of(optimizer, gradients, table) -> Any:
    """Tables and states of the dense optimizer and of the lazy one, for given gradients."""
    lazy = jaxops.lazy(optimizer, catch_up=True)
    dense, dense_state = table, optimizer.init(table)
    state = lazy.init(table)
    step = jax.jit(lazy.apply)
    for grads in gradients:
        to_dense = grads.to_dense() if isinstance(grads, IndexedSlices) else grads
        updates, dense_state = optimizer.update(to_dense, dense_state, dense)
        dense = optax.apply_updates(dense, updates)
        table, state = step(grads, state, table)
    return lazy._replace(catch_up=jax.jit(lazy.catch_up)), (table, state), (dense, dense_state)


TABLE = np.arange(12, dtype=np.float32).reshape(6, 2) / 8


@pytest.mark.slow
def test_apply_alone_makes_up_for_missed_steps():
    """With gradients that do not depend on the parameters no step has to look at them before."""
    grads = [gradient([1, 1, 4]), gradient([]), gradient([2]), gradient([9, -1]), gradient([1, 0])]
    lazy, (table, state), (dense, dense_state) = steps_of(optax.adam(0.1), grads, jnp.array(TABLE))
    assert state.done[""].tolist() == [5, 5, 3, 0, 1, 0]
    np.testing.assert_allclose(table[:2], dense[:2], rtol=1e-6)
    assert np.all(np.abs(table - dense)[np.array([2, 4])] > 1e-3)
    some, state = lazy.catch_up(table, state, {"": [4, 4, 6, -2]})
    assert state.done[""].tolist() == [5, 5, 3, 0, 5, 0]
    np.testing.assert_allclose(some[4], dense[4], rtol=1e-6)
    np.testing.assert_array_equal(some[2], table[2])
    every, state = lazy.catch_up(some, state)
    assert state.done[""].tolist() == [5] * 6
    assert_close((every, state.optimizer), (dense, dense_state), rtol=1e-6)


def test_a_dense_gradient_makes_up_for_the_missed_steps_of_all_rows():
    grads = [gradient([1]), gradient([2, 3]), jnp.ones((6, 2)), gradient([1])]
    lazy, (table, state), (dense, dense_state) = steps_of(optax.adamw(0.1), grads, jnp.array(TABLE))
    assert state.done[""].tolist() == [3, 4, 3, 3, 3, 3]
    table, state = lazy.catch_up(table, state)
    assert_close((table, state.optimizer), (dense, dense_state), rtol=1e-6)


def test_a_second_eager_step_compiles_nothing(caplog):
    """If its rows have missed no step, as those that `catch_up` has just brought up to date."""
    lazy = jaxops.lazy(optax.adam(0.1), catch_up=True)
    table = jnp.array(TABLE)
    state = lazy.init(table)
    for step in range(4):  # the first gradient takes the rows out of rest
        with jax.log_compiles(step == 3):
            table, state = lazy.apply(gradient([1, 1, 4]), state, table)
            table, state = lazy.catch_up(table, state, {"": [4, 1]})
    assert not [r for r in caplog.records if r.message.startswith("Compiling")]


def test_rows_are_caught_up_in_blocks(monkeypatch):
    """Of a few rows each, absent for different times, and the last one not full."""
    monkeypatch.setattr("jaxops._sparse.optimizer.missed_steps._BLOCK", 4)
    grads = [gradient([n % 6]) for n in range(16)]
    lazy, (table, state), (dense, _) = steps_of(optax.adam(0.1), grads, jnp.array(TABLE))
    table, state = lazy.catch_up(table, state, {"": jnp.array([[1, 5], [0, 2], [3, 5]])})
    assert state.done[""].tolist() == [16, 16, 16, 16, 11, 16]
    rows = np.array([0, 1, 2, 3, 5])
    np.testing.assert_allclose(table[rows], dense[rows], rtol=1e-6)


@pytest.mark.slow
def test_under_vmap():
    lazy = jaxops.lazy(optax.adam(0.1), catch_up=True)
    tables = jnp.stack([jnp.array(TABLE), jnp.array(TABLE) + 1])
    indices = jnp.array([[[0, 4], [1, 5]], [[0, 0], [9, 2]], [[4, 2], [1, 2]]])

    def train(table, indices):
        state = lazy.init(table)
        for n in range(3):
            grads = IndexedSlices(jnp.ones((2, 2)) * (n + 1), indices[n], (6, 2))
            table, state = lazy.apply(grads, state, table)
        return lazy.catch_up(table, state)[0]

    expected = [jax.jit(train)(tables[n], indices[:, n]) for n in range(2)]
    received = jax.jit(jax.vmap(train, in_axes=(0, 1)))(tables, indices)
    np.testing.assert_allclose(received, jnp.stack(expected), rtol=1e-5)


def test_without_catch_up_the_state_is_that_of_the_optimizer():
    table = jnp.array(TABLE)
    lazy = jaxops.lazy(optax.adam(0.1))
    assert jax.tree.structure(lazy.init(table)) == jax.tree.structure(optax.adam(0.1).init(table))
    assert not hasattr(lazy, "catch_up")
