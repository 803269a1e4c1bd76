"""Rows of the state of a lazy optimizer: each one once, and none of the others."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import jaxops

ROWS = 9
INDICES = {
    "distinct": [3, 1, 7],
    "repeated": [3, 3, 1, 3, 1],
    "some-ignored": [3, ROWS, 1, -1, 1],
    "all-ignored": [ROWS, -1],
    "none": [],
}
# The norm is over the gradients of all rows: one more row, or one twice, changes the others.
OPTIMIZER = optax.chain(optax.clip_by_global_norm(0.1), optax.scale_by_adam())


@pytest.mark.parametrize("case", INDICES)
def test_update_is_that_of_the_distinct_rows(case):
    indices = np.array(INDICES[case], np.int32)
    rng = np.random.default_rng(0)
    params = jnp.asarray(rng.normal(size=(ROWS, 4)), jnp.float32)
    values = jnp.asarray(rng.integers(1, 5, (len(indices), 4)), jnp.float32)
    grads = jaxops.IndexedSlices(values, indices, params.shape)
    lazy = jaxops.lazy(OPTIMIZER)
    with jax.numpy_dtype_promotion("standard"):
        # A step of all rows, so that no row of the state is 0; then two that are not finite, the
        # last one as it is next to the indices that are ignored.
        _, state = jax.jit(OPTIMIZER.update)(jnp.ones_like(params), OPTIMIZER.init(params), params)
        state = jax.tree.map(
            lambda x: x.at[np.array([5, ROWS - 1])].set(jnp.nan) if x.ndim else x, state
        )
        received, received_state = jax.jit(lazy.apply)(grads, state, params)

        rows = np.unique(indices[(indices >= 0) & (indices < ROWS)])

        @jax.jit
        def wanted_of(grads, state, params):
            dense = grads.to_dense()[rows]
            of_rows = jax.tree.map(lambda x: x[rows] if x.ndim else x, state)
            updates, of_rows = OPTIMIZER.update(dense, of_rows, params[rows])
            wanted_state = [
                old.at[rows].set(new) if old.ndim else new
                for old, new in zip(*map(jax.tree.leaves, (state, of_rows)), strict=True)
            ]
            return [params.at[rows].add(updates), *wanted_state]

        wanted = wanted_of(grads, state, params)
    for array, expected in zip([received, *jax.tree.leaves(received_state)], wanted, strict=True):
        np.testing.assert_allclose(array, expected, rtol=1e-6, atol=1e-6)


class ByNormOfSteps:
    """Steps by products of gradient and parameter, of which it takes a norm over all rows."""

    def init(self, params):
        return ()

    def update(self, updates, state, params):
        steps = updates * params
        return steps / (1 + jnp.sum(steps**2)), state


@pytest.mark.parametrize("call", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_rows_beside_those_looked_up_are_not_read(call):
    """Such as the last one for an index beyond it: here it would reach all others by the norm."""
    params = jnp.ones((ROWS, 2)).at[np.array([0, ROWS - 1])].set(jnp.nan)
    grads = jaxops.IndexedSlices(jnp.ones((3, 2)), jnp.array([3, ROWS, -1]), params.shape)
    received, _ = call(jaxops.lazy(ByNormOfSteps()).apply)(grads, (), params)
    np.testing.assert_allclose(received, params.at[3].add(1 / 3), rtol=1e-6)


@pytest.mark.parametrize("of_table", ["float32", "bfloat16"])
@pytest.mark.parametrize("of_gradient", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("momentum", [None, 0.5])
def test_gradients_of_another_dtype(momentum, of_gradient, of_table):
    """Numbers that all of the types hold, so that the sums are exact."""
    optimizer = optax.sgd(0.5, momentum)
    table = jnp.arange(12.0).reshape(6, 2).astype(of_table)
    grads = jaxops.IndexedSlices(jnp.full((3, 2), 2, of_gradient), jnp.array([4, 1, 4]), (6, 2))
    lazy = jaxops.lazy(optimizer)
    with jax.numpy_dtype_promotion("standard"):

        @jax.jit
        def both(grads, table):
            updates, _ = optimizer.update(grads.to_dense(), optimizer.init(table), table)
            received, _ = lazy.apply(grads, lazy.init(table), table)
            return received, jnp.asarray(optax.apply_updates(table, updates))

        received, expected = both(grads, table)
    assert received.dtype == expected.dtype
    np.testing.assert_array_equal(received, expected)
