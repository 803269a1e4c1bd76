"""Optimizers that lazy takes and refuses, by what they compute."""

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import jaxops
from jaxops import IndexedSlices

ROWS, WIDTH = 6, 3


@pytest.fixture(autouse=True)
def standard_promotion():
    """As optax relies on it."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


class Stateless:
    """Steps by a function of gradient and parameter."""

    def __init__(self, step):
        self.step = step

    def init(self, params):
        return ()

    def update(self, updates, state, params):
        return jax.tree.map(self.step, updates, params), state


def table():
    return jnp.arange(ROWS * WIDTH, dtype=jnp.float32).reshape(ROWS, WIDTH) / 8 - 1


def slices(values=None, indices=(4, 1, 4, 9), shape=(ROWS, WIDTH)):
    if values is None:
        values = np.arange(len(indices) * np.prod(shape[1:], dtype=int)) % 5 - 2.0
        values = values.reshape(-1, *shape[1:])
    return IndexedSlices(jnp.asarray(values, jnp.float32), jnp.array(indices), shape)


def looped(g, p):
    """Halves the gradient of a row until its norm is small."""

    def halve(state):
        _, g = state
        return jnp.sum(g**2, axis=1) > 1, jnp.where(state[0][:, None], g / 2, g)

    return jax.lax.fori_loop(0, 4, lambda _, state: halve(state), (jnp.sum(g**2, axis=1) > 1, g))[1]


# As the dense optimizer, with other rows put back.
ROW_WISE = {
    "norm of each row": lambda g, p: g / (jnp.linalg.norm(g, axis=1, keepdims=True) + 1),
    "norms of parameters' rows": lambda g, p: g * jnp.linalg.norm(p, axis=-1, keepdims=True),
    "mean of each row": lambda g, p: g - jnp.mean(g, axis=1, keepdims=True),
    "softmax in rows": lambda g, p: g * jax.nn.softmax(p, axis=-1),
    "sorted rows": lambda g, p: g * jnp.sort(p, axis=1),
    "reversed rows": lambda g, p: g[:, ::-1] * p,
    "sums along rows": lambda g, p: jnp.cumsum(g, axis=1),
    "a column": lambda g, p: g * p[:, :1],
    "projected": lambda g, p: g @ jnp.ones((WIDTH, WIDTH)),
    "projected from the left": lambda g, p: (jnp.ones((WIDTH, WIDTH)) @ g.T).T,
    "products in rows": lambda g, p: g * jnp.einsum("nd,nd->n", g, p)[:, None],
    "transposed": lambda g, p: (g.T * p.T).T,
    "transposed sums": lambda g, p: g * jnp.sum((g * p).T, axis=0)[:, None],
    "transposed cubes": lambda g, p: g * jnp.sum(jnp.transpose(p[:, :, None], (2, 0, 1)), axis=2).T,
    "squeezed": lambda g, p: g * jnp.sum(jnp.squeeze(p[None], 0), axis=1, keepdims=True),
    "ravelled": lambda g, p: (g.ravel() * p.ravel()).reshape(g.shape),
    "sum of squares": lambda g, p: g * jnp.sum(g**2),
    "sums of columns": lambda g, p: g * jnp.sum(g, axis=0),
    "products of columns": lambda g, p: g @ (g.T @ g),
    "dot product": lambda g, p: g * jnp.vdot(g, p),
    "all finite": lambda g, p: jnp.where(jnp.all(jnp.isfinite(g)), g, 0),
    "any large": lambda g, p: jnp.where(jnp.any(jnp.abs(g) > 1), g, g * p),
    "checkpointed": jax.checkpoint(lambda g, p: jnp.sin(g) * p),
    "custom derivative": lambda g, p: jax.nn.relu(g) * p,
    "column numbers": lambda g, p: g * jax.lax.broadcasted_iota(jnp.float32, g.shape, 1),
    "ones": lambda g, p: g + jnp.ones_like(g),
    "mapped over columns": jax.vmap(lambda g, p: g * jnp.abs(p), in_axes=1, out_axes=1),
    "mapped over rows": jax.vmap(lambda g, p: g * jnp.sum(p)),
    "scanned columns": lambda g, p: jax.lax.scan(lambda c, x: (c + x, c * x), g[:, 0], g.T)[1].T,
    "looped": looped,
}


def normed(g, p):
    """By a function of its own, whose line the error does not name."""

    def norm(x):
        return jnp.linalg.norm(x)

    return g * norm(p)


# Others, and words of the error.
MIXED = {
    "norm of parameters": (lambda g, p: g * jnp.linalg.norm(p), "reduce_sum"),
    "norm of columns of parameters": (lambda g, p: g * jnp.linalg.norm(p, axis=0), "reduce_sum"),
    "mean of gradients": (lambda g, p: g - g.mean(), "number of rows"),
    "mean of columns": (lambda g, p: g - g.mean(axis=0), "number of rows"),
    "weighted by size": (lambda g, p: g / g.shape[0], "number of rows"),
    "weighted by a power": (lambda g, p: g * 0.5 ** g.shape[0], "number of rows"),
    "sum of shifted": (lambda g, p: g * jnp.sum(jnp.exp(g)), "reduce_sum"),
    "product": (lambda g, p: g * jnp.prod(g), "reduce_prod"),
    "largest parameter": (lambda g, p: g * jnp.max(p), "reduce_max"),
    "softmax of columns": (lambda g, p: g * jax.nn.softmax(p, axis=0), "reduce_max"),
    "sorted columns": (lambda g, p: jnp.sort(g, axis=0), "mixes rows .sort"),
    "sums along columns": (lambda g, p: jnp.cumsum(g, axis=0), "mixes rows .cumsum"),
    "reversed columns": (lambda g, p: g[::-1], "mixes rows .rev"),
    "rolled": (lambda g, p: jnp.roll(g, 1, axis=0), "mixes rows"),
    "first row": (lambda g, p: g * p[0], "mixes rows"),
    "chosen rows": (lambda g, p: g * p[jnp.argsort(g[:, 0])], "rows"),
    "products of rows": (lambda g, p: g @ g.T @ g, "mixes rows .dot_general"),
    "products with parameters": (lambda g, p: g @ (p.T @ p), "mixes rows .dot_general"),
    "row numbers": (
        lambda g, p: g * jax.lax.broadcasted_iota(jnp.float32, g.shape, 0),
        "by their position .iota",
    ),
    "noise": (lambda g, p: g + jax.random.normal(jax.random.key(0), g.shape), "by their position"),
    "size as a power": (lambda g, p: jax.lax.integer_pow(g, g.shape[0]), "number of rows"),
    "by size": (lambda g, p: g if g.shape[0] > 100 else -g, "other numbers of rows"),
    "by small size": (lambda g, p: g if g.shape[0] < 100 else -g, "other numbers of rows"),
    "scanned rows": (
        lambda g, p: jax.lax.scan(lambda c, x: (c + x, c), jnp.zeros(WIDTH), g)[1],
        "loops over the rows",
    ),
    "while": (
        lambda g, p: jax.lax.while_loop(lambda g: jnp.sum(p) * jnp.sum(g) > 1, lambda g: g / 2, g),
        "reduce_sum",
    ),
    "branch by parameters": (
        lambda g, p: jax.lax.cond(jnp.sum(p) > 1, lambda: g, lambda: -g),
        "reduce_sum",
    ),
    "inverse": (lambda g, p: jnp.linalg.svd(g, full_matrices=False)[0], "mixes rows"),
}


@pytest.mark.parametrize("name", ROW_WISE)
def test_row_wise(name):
    optimizer, params, grads = Stateless(ROW_WISE[name]), table(), slices()
    lazy = jaxops.lazy(optimizer)
    received, _ = lazy.apply(grads, lazy.init(params), params)
    updates, _ = optimizer.update(grads.to_dense(), (), params)
    expected = np.array(params)
    expected[[1, 4]] = (params + updates)[np.array([1, 4])]
    np.testing.assert_allclose(received, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MIXED)
def test_mixed_rows(name):
    step, words = MIXED[name]
    lazy = jaxops.lazy(Stateless(step))
    for call in (
        lambda: lazy.init(table()),
        lambda: lazy.apply(slices(), (), table()),
        lambda: jax.eval_shape(lazy.init, table()),
        lambda: jax.eval_shape(lazy.apply, slices(), (), table()),
    ):
        with pytest.raises(
            ValueError,
            match=f"each row of table '' by itself.*{words}.*Stateless|"
            f"each row of table '' by itself.*{words}.*test_row_wise.py",
        ):
            call()


@pytest.mark.parametrize("name", ["norm of each row", "mean of each row", "sums along rows"])
def test_parts_of_rows_are_rows_too(name):
    """By two indices each: an optimizer that works in whole rows does not see them."""
    lazy = jaxops.lazy(Stateless(ROW_WISE[name]))
    grads = IndexedSlices([1.0, 2.0], [7, 2], (ROWS, WIDTH))
    with pytest.raises(ValueError, match="each row of table '' by itself"):
        lazy.apply(grads, (), table())


@pytest.mark.parametrize("name", ["sum of squares", "all finite"])
def test_parts_of_rows(name):
    optimizer = Stateless(ROW_WISE[name])
    grads = IndexedSlices(jnp.array([1.0, 2.0, 0.5]), jnp.array([7, 2, 7]), (ROWS, WIDTH))
    received, _ = jaxops.lazy(optimizer).apply(grads, (), table())
    updates, _ = optimizer.update(grads.to_dense(), (), table())
    np.testing.assert_allclose(received, table() + updates, rtol=1e-6)


# --- several steps ---


class Collecting:
    """Steps with the sum of every three gradients."""

    def __init__(self, gate):
        self.gate = gate

    def init(self, params):
        return jnp.zeros((), jnp.int32), jax.tree.map(jnp.zeros_like, params)

    def update(self, updates, state, params):
        count, sums = state
        sums = jax.tree.map(jnp.add, sums, updates)
        step, sums = self.gate((count + 1) % 3 == 0, sums)
        return step, (count + 1, sums)


def by_where(emit, sums):
    zeros = jax.tree.map(jnp.zeros_like, sums)
    chosen = jax.tree.map(lambda s: jnp.where(emit, -s, 0), sums)
    return chosen, jax.tree.map(lambda s, z: jnp.where(emit, z, s), sums, zeros)


def by_cond(emit, sums):
    zeros = jax.tree.map(jnp.zeros_like, sums)
    return jax.lax.cond(emit, lambda: (sums, zeros), lambda: (zeros, sums))


def by_product(emit, sums):
    scale = jnp.where(emit, 1.0, 0.0)
    return [jax.tree.map(lambda s, f=f: f * s, sums) for f in (scale, 1 - scale)]


def by_switch(emit, sums):
    zeros = jax.tree.map(jnp.zeros_like, sums)
    waits, steps = (lambda: (zeros, sums)), (lambda: (sums, zeros))
    return jax.lax.switch(jnp.where(emit, 2, 0), [waits, waits, steps])


class Preconditioned(Stateless):
    """Divides by an average of powers of gradients, which begins anew and is used later on."""

    def init(self, params):
        return jnp.zeros((), jnp.int32), jax.tree.map(jnp.zeros_like, params)

    def update(self, updates, state, params):
        count, average = state
        powers = jax.tree.map(self.step, updates)
        average = jax.tree.map(
            lambda a, b: jnp.where(count % 9 == 0, b, 0.9 * a + b), average, powers
        )
        step = jax.tree.map(
            lambda g, a: jnp.where(count < 3, 0, g / (1 + jnp.abs(a))), updates, average
        )
        return step, (count + 1, average)


COLLECTING = {
    "multi-steps": (lambda: optax.MultiSteps(optax.sgd(0.1), 2), "MultiSteps"),
    "multi-steps-adam": (lambda: optax.MultiSteps(optax.adam(0.1), 3), "MultiSteps"),
    "multi-steps-sum": (
        lambda: optax.MultiSteps(optax.sgd(0.1), 3, use_grad_mean=False),
        "MultiSteps",
    ),
    "multi-steps-schedule": (
        lambda: optax.MultiSteps(optax.sgd(0.1), lambda step: jnp.where(jnp.less(step, 5), 1, 4)),
        "MultiSteps",
    ),
    "multi-steps-skip": (
        lambda: optax.MultiSteps(optax.sgd(0.1), 2, should_skip_update_fn=optax.skip_not_finite),
        "MultiSteps",
    ),
    "apply-every": (lambda: optax.apply_every(4), "apply_every"),
    "chained": (lambda: optax.chain(optax.scale(0.1), optax.apply_every(3)), "apply_every"),
    "then-adam": (lambda: optax.chain(optax.apply_every(3), optax.adam(0.1)), "apply_every"),
    "masked": (lambda: optax.masked(optax.apply_every(3), True), "apply_every"),
    "where": (lambda: Collecting(by_where), "Collecting"),
    "cond": (lambda: Collecting(by_cond), "Collecting"),
    "product": (lambda: Collecting(by_product), "Collecting"),
    "switch": (lambda: Collecting(by_switch), "Collecting"),
    "cubes": (lambda: Preconditioned(lambda g: g**3), "Preconditioned"),
}


@pytest.mark.parametrize("name", COLLECTING)
def test_collecting_gradients(name):
    build, words = COLLECTING[name]
    words = f"collects gradients over several steps.*{words}.*Add the gradients"
    with pytest.raises(ValueError, match=words):
        jaxops.lazy(build()).init(table())
    with pytest.raises(ValueError, match=words):
        jaxops.lazy(build()).apply(slices(), build().init(table()), table())


def every_second(step, **_) -> Any:
    return step % 2 == 0


# Choices by the step count that collect nothing.
NOT_COLLECTING = {
    "frozen-at-first": lambda: optax.adam(
        optax.join_schedules([optax.constant_schedule(0.0), optax.constant_schedule(0.1)], [10])
    ),
    "warm-up": lambda: optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 0.1, 10, 100)),
    "piecewise": lambda: optax.rmsprop(optax.piecewise_constant_schedule(0.1, {10: 0.0})),
    "every-second": lambda: optax.conditionally_mask(optax.adam(0.1), every_second),
    "first-step": lambda: optax.novograd(0.1),
    "previous-gradient": lambda: optax.conditionally_transform(
        optax.optimistic_adam_v2(0.1), every_second
    ),
    "finite": lambda: optax.apply_if_finite(optax.novograd(0.1), 3),
    "injected": lambda: optax.inject_hyperparams(optax.adam)(optax.linear_schedule(0.0, 0.1, 5)),
    "clipped": lambda: optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.1)),
    **{f"powers of {n}": lambda n=n: Preconditioned(lambda g: g**n) for n in (2, 4)},
    "magnitudes": lambda: Preconditioned(jnp.abs),
    "clipped-adagrad": lambda: optax.chain(optax.adagrad(0.1), optax.clip_by_global_norm(1.0)),
}


@pytest.mark.parametrize("name", NOT_COLLECTING)
def test_not_collecting(name):
    optimizer = NOT_COLLECTING[name]()
    state = jaxops.lazy(optimizer).init(table())
    jax.tree.map(np.testing.assert_array_equal, state, optimizer.init(table()))


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


def test_the_error_names_the_line():
    with pytest.raises(
        ValueError, match=re.escape("in scale_by_trust_ratio (optax/_src/transform")
    ):
        jaxops.lazy(optax.chain(optax.clip(1.0), optax.lamb(0.1))).init(table())
    with pytest.raises(ValueError, match=r"\(reduce_sum\) in Stateless \(.*test_row_wise.py:\d+\)"):
        jaxops.lazy(Stateless(normed)).init(table())
