"""Optimizers that lazy takes and refuses, by what they compute."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from row_wise_steps import Stateless, slices, table

import jaxops

pytestmark = pytest.mark.usefixtures("standard_promotion")


# --- several steps ---


def test_sum_of_slices_is_one_lazy_step():
    """What to do instead."""
    steps: Any = slices(), slices(indices=(0, 0, 2, 4))
    lazy = jaxops.lazy(optax.adagrad(0.1))
    received, _ = lazy.apply(steps[0] + steps[1], lazy.init(table()), table())
    optimizer = optax.MultiSteps(optax.adagrad(0.1), 2, use_grad_mean=False)
    state: Any
    expected: Any
    state, expected = optimizer.init(table()), table()
    for step in steps:
        updates, state = optimizer.update(step.to_dense(), state, expected)
        expected = optax.apply_updates(expected, updates)
    np.testing.assert_allclose(received, expected, rtol=1e-5)


# --- which parameters ---

LABELS = {"embed": "a", "w": "b"}
PARAMS = {"embed": table(), "w": jnp.ones((4, 4))}


def by_label(embed, other):
    return optax.multi_transform({"a": embed, "b": other}, LABELS)


def test_other_parameters_may_have_any_optimizer():
    params, grads = PARAMS, {"embed": slices(), "w": jnp.ones((4, 4))}
    optimizer = by_label(optax.adagrad(0.1), optax.lamb(0.1))
    lazy = jaxops.lazy(optimizer)
    state = lazy.init(params)
    received, _ = lazy.apply(grads, state, params)
    dense = {**grads, "embed": grads["embed"].to_dense()}
    expected = optax.apply_updates(params, optimizer.update(dense, state, params)[0])
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), received, expected)


@pytest.mark.parametrize(
    "optimizer",
    [
        by_label(optax.lamb(0.1), optax.adagrad(0.1)),
        optax.masked(optax.lamb(0.1), {"embed": True, "w": False}),
    ],
)
def test_the_first_step_knows_the_tables(optimizer):
    """`init` does not."""
    lazy = jaxops.lazy(optimizer)
    state = lazy.init(PARAMS)
    grads = {"embed": slices(), "w": jnp.ones((4, 4))}
    with pytest.raises(ValueError, match=r"row of table 'embed' by itself.*scale_by_trust_ratio"):
        lazy.apply(grads, state, PARAMS)
    dense = {**grads, "embed": grads["embed"].to_dense()}
    lazy.apply(dense, state, PARAMS)


def test_tables_of_one_dimension_beside_matrices():
    params = {"bias": jnp.ones(9), "w": jnp.ones((4, 4))}
    optimizer = optax.multi_transform(
        {"a": optax.sgd(0.1), "b": optax.lamb(0.1)}, {"bias": "a", "w": "b"}
    )
    lazy = jaxops.lazy(optimizer)
    grads = {"bias": slices(indices=(8, 8), shape=(9,)), "w": jnp.ones((4, 4))}
    received, _ = lazy.apply(grads, lazy.init(params), params)
    assert np.flatnonzero(np.asarray(received["bias"] != 1)).tolist() == [8]


def test_rows_of_two_tables_of_one_size():
    """Apart they are row-wise; together the rows of one stand for other rows than the other's."""

    class Coupled(Stateless):
        def update(self, updates, state, params):
            a, b = updates["a"], updates["b"]
            return {"a": a * params["b"], "b": b}, state

    lazy = jaxops.lazy(Coupled(None))
    params = {"a": table(), "b": table()}
    with pytest.raises(ValueError, match="any number of rows"):
        lazy.apply({"a": slices(), "b": slices(indices=(0, 1, 2, 3))}, (), params)


def test_rows_of_one_table_for_another_parameter():
    class Shared(Stateless):
        def update(self, updates, state, params):
            return {"a": updates["a"], "scale": updates["a"]}, state

    with pytest.raises(ValueError, match="keeps rows of the table for another parameter"):
        jaxops.lazy(Shared(None)).init({"a": table(), "scale": jnp.ones(())})


# --- what update is given besides ---


class Scaled(Stateless):
    def update(self, updates, state, params, *, scale):
        return jax.tree.map(lambda g, p: scale(g, p), updates, params), state


def test_functions_among_the_arguments():
    """Each is looked at, also after another one."""
    lazy = jaxops.lazy(Scaled(None))
    state = lazy.init(table())
    lazy.apply(slices(), state, table(), scale=lambda g, p: g * p)
    with pytest.raises(ValueError, match="each row of table '' by itself"):
        lazy.apply(slices(), state, table(), scale=lambda g, p: g * jnp.sum(p))


def test_a_loss_of_the_parameters_gets_whole_tables():
    """Which a lazy step does not have."""
    optimizer = optax.chain(optax.sgd(0.1), optax.scale_by_backtracking_linesearch(3))
    with pytest.raises(ValueError, match="each row of table '' by itself"):
        jaxops.lazy(optimizer).init(table())
    state = optimizer.init(table())
    with pytest.raises(ValueError, match=r"any number of rows.*'grad', 'value', 'value_fn'"):
        jaxops.lazy(optimizer).apply(
            slices(), state, table(), value=1.0, grad=table(), value_fn=lambda p: jnp.sum(p[0] ** 2)
        )


def test_the_second_eager_step_traces_less():
    calls = []

    class Counting(Stateless):
        def update(self, updates, state, params):
            calls.append(1)
            return super().update(updates, state, params)

    lazy = jaxops.lazy(Counting(lambda g, p: g * p))
    for expected in (3, 1):
        calls.clear()
        lazy.apply(slices(), (), table())
        assert len(calls) == expected
