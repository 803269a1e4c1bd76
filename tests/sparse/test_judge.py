"""Optimizers that lazy takes and refuses, by what they do."""

import contextlib
import functools
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from fast import fast_jit
from row_wise_steps import ROWS, WIDTH, Stateless, slices, table

import jaxops
from jaxops import IndexedSlices

pytestmark = pytest.mark.usefixtures("standard_promotion")

# --- each row by itself ---


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
    "products of rows": lambda g, p: g @ g.T @ g,
}


# Others, and the operation that the error names.
MIXED = {
    "norm of parameters": (lambda g, p: g * jnp.linalg.norm(p), "norm"),
    "norm of columns of parameters": (lambda g, p: g * jnp.linalg.norm(p, axis=0), "norm"),
    "mean of gradients": (lambda g, p: g - g.mean(), "div"),
    "mean of columns": (lambda g, p: g - g.mean(axis=0), "div"),
    "weighted by size": (lambda g, p: g / g.shape[0], "div"),
    "weighted by a power": (lambda g, p: g * 0.5 ** g.shape[0], "mul"),
    "sum of shifted": (lambda g, p: g * jnp.sum(jnp.exp(g)), "reduce_sum"),
    "product": (lambda g, p: g * jnp.prod(g), "reduce_prod"),
    "largest parameter": (lambda g, p: g * jnp.max(p), "reduce_max"),
    "softmax of columns": (lambda g, p: g * jax.nn.softmax(p, axis=0), "reduce_sum|reduce_max"),
    "sorted columns": (lambda g, p: jnp.sort(g, axis=0), "sort"),
    "sums along columns": (lambda g, p: jnp.cumsum(g, axis=0), "cumsum"),
    "reversed columns": (lambda g, p: g[::-1], "rev"),
    "rolled": (lambda g, p: jnp.roll(g, 1, axis=0), "roll"),
    "first row": (lambda g, p: g * p[0], "slice"),
    "chosen rows": (lambda g, p: g * p[jnp.argsort(g[:, 0])], "argsort"),
    "products with parameters": (lambda g, p: g @ (p.T @ p), "dot_general"),
    "row numbers": (
        lambda g, p: g * jax.lax.broadcasted_iota(jnp.float32, g.shape, 0),
        "iota",
    ),
    "noise": (lambda g, p: g + jax.random.normal(jax.random.key(0), g.shape), "normal"),
    "size as a power": (lambda g, p: jax.lax.integer_pow(g, g.shape[0]), "integer_pow"),
    "by size": (lambda g, p: g if g.shape[0] > 100 else -g, "for other numbers of rows .neg"),
    "by small size": (lambda g, p: g if g.shape[0] < 100 else -g, "for other numbers of rows .neg"),
    "scanned rows": (
        lambda g, p: jax.lax.scan(lambda c, x: (c + x, c), jnp.zeros(WIDTH), g)[1],
        "scan",
    ),
    "while": (
        lambda g, p: jax.lax.while_loop(lambda g: jnp.sum(p) * jnp.sum(g) > 1, lambda g: g / 2, g),
        "while",
    ),
    "branch by parameters": (
        lambda g, p: jax.lax.cond(jnp.sum(p) > 1, lambda: g, lambda: -g),
        "reduce_sum",
    ),
    "inverse": (lambda g, p: jnp.linalg.svd(g, full_matrices=False)[0], "svd"),
    "infinite for many rows": (
        lambda g, p: g + jnp.where(jnp.sum(jnp.any(p != 0, axis=1)) > 4, jnp.inf, 0.0),
        "reduce_sum",
    ),
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
            match=rf"each row of table '' by itself; .*{words}\w*\) in (Stateless|test_judge)",
        ):
            call()


def test_narrow_parameters_are_judged_in_float32():
    """In bfloat16 the step of some rows would be that of all, up to its rounding."""
    lazy = jaxops.lazy(Stateless(lambda g, p: g * (1 + 0.01 * jnp.mean(jnp.tanh(p)))))
    with pytest.raises(ValueError, match=r"by itself; .*reduce_sum"):
        lazy.init(table().astype(jnp.bfloat16))


@pytest.mark.parametrize("name", ["norm of each row", "mean of each row", "sums along rows"])
def test_parts_of_rows_are_rows_too(name):
    """By two indices each: an optimizer that works in whole rows does not see them."""
    lazy = jaxops.lazy(Stateless(ROW_WISE[name]))
    grads = IndexedSlices([1.0, 2.0], [7, 2], (ROWS, WIDTH))
    with pytest.raises(ValueError, match="tables of any number of rows"):
        lazy.apply(grads, (), table())


@pytest.mark.parametrize(
    "optimizer",
    [
        Stateless(ROW_WISE["sum of squares"]),
        Stateless(ROW_WISE["all finite"]),
        optax.adagrad(0.5),
    ],
    ids=["sum of squares", "all finite", "adagrad"],
)
def test_parts_of_rows(optimizer):
    grads = IndexedSlices(jnp.array([1.0, 2.0, 0.5]), jnp.array([7, 2, 7]), (ROWS, WIDTH))
    lazy = jaxops.lazy(optimizer)
    state = lazy.init(table())
    received = lazy.apply(grads, state, table())
    updates, new_state = optimizer.update(grads.to_dense(), state, table())
    for x, y in zip(*map(jax.tree.leaves, (received, (table() + updates, new_state))), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)


def normed(g, p):
    """By a function of its own, whose line the error does not name."""

    def norm(x):
        return jnp.linalg.norm(x)

    return g * norm(p)


def test_the_error_names_the_line():
    with pytest.raises(
        ValueError, match=re.escape("(norm) in scale_by_trust_ratio (optax/_src/transform")
    ):
        jaxops.lazy(optax.chain(optax.clip(1.0), optax.lamb(0.1))).init(table())
    words = r"\(norm\) in Stateless \(.*row_wise_steps.py:\d+\)"
    with pytest.raises(ValueError, match=words):
        jaxops.lazy(Stateless(normed)).init(table())


# --- gradients of several steps ---


class Collecting:
    """Steps with the sum of the gradients when its count, or their sum, says that it is ready."""

    def __init__(self, gate, start, is_ready, following=lambda count: count):
        self.gate, self.start = gate, start
        self.is_ready, self.following = is_ready, following

    def init(self, params):
        return self.start, jax.tree.map(jnp.zeros_like, params)

    def update(self, updates, state, params):
        count, sums = state
        sums = jax.tree.map(jnp.add, sums, updates)
        step, sums = self.gate(self.is_ready(count, sums), sums)
        return step, (self.following(count), sums)


def counting(gate, period: float = 3, dtype=jnp.int32, shape=()):
    """Steps with the sum of every three gradients, or of so many; all counts of an array tell."""
    return Collecting(
        gate,
        jnp.zeros(shape, dtype),
        lambda count, _: jnp.all(jnp.mod(count + 1, period) == 0),
        lambda count: count + 1,
    )


def counting_down(period: float, dtype=jnp.int32):
    """Steps with the sum when the count has come to 0, and then begins anew."""
    return Collecting(
        by_where,
        jnp.asarray(period, dtype),
        lambda count, _: count == 0,
        lambda count: jnp.where(count == 0, period, count - 1).astype(dtype),
    )


def by_where(emit, sums):
    zeros = jax.tree.map(jnp.zeros_like, sums)
    chosen = jax.tree.map(lambda s: jnp.where(emit, -s, 0), sums)
    return chosen, jax.tree.map(lambda s, z: jnp.where(emit, z, s), sums, zeros)


def by_cond(emit, sums):
    zeros = jax.tree.map(jnp.zeros_like, sums)
    return jax.lax.cond(emit, lambda: (sums, zeros), lambda: (zeros, sums))


def of_changed(function):
    """`by_where` of sums after a function, which makes equal numbers of some different ones."""
    return lambda emit, sums: by_where(emit, jax.tree.map(function, sums))


def by_product(emit, sums):
    scale = jnp.where(emit, 1.0, 0.0)
    return [jax.tree.map(lambda s, f=f: f * s, sums) for f in (scale, 1 - scale)]


def by_switch(emit, sums):
    zeros = jax.tree.map(jnp.zeros_like, sums)
    waits, steps = (lambda: (zeros, sums)), (lambda: (sums, zeros))
    return jax.lax.switch(jnp.where(emit, 2, 0), [waits, waits, steps])


class Preconditioned(Stateless):
    """Divides by an average of powers of gradients, which may begin anew and is used later on."""

    def __init__(self, step, begins=True):
        super().__init__(step)
        self.begins = begins

    def init(self, params):
        return jnp.zeros((), jnp.int32), jax.tree.map(jnp.zeros_like, params)

    def update(self, updates, state, params):
        count, average = state
        powers = jax.tree.map(self.step, updates)
        average = jax.tree.map(
            lambda a, b: jnp.where(self.begins and count % 9 == 0, b, 0.9 * a + b), average, powers
        )
        step = jax.tree.map(
            lambda g, a: jnp.where(count < 3, 0, g / (1 + jnp.abs(a))), updates, average
        )
        return step, (count + 1, average)


# By the transformation that the error names.
COLLECTING = {
    "MultiSteps": {
        "every second": lambda: optax.MultiSteps(optax.sgd(0.1), 2),
        "adam": lambda: optax.MultiSteps(optax.adam(0.1), 3),
        "sum": lambda: optax.MultiSteps(optax.sgd(0.1), 3, use_grad_mean=False),
        "schedule": lambda: optax.MultiSteps(
            optax.sgd(0.1), lambda step: jnp.where(jnp.less(step, 5), 1, 4)
        ),
        "skip": lambda: optax.MultiSteps(
            optax.sgd(0.1), 2, should_skip_update_fn=optax.skip_not_finite
        ),
        # Here and below: of periods that are much longer than the runs.
        "1000": lambda: optax.MultiSteps(optax.adam(0.1), 1000),
        "1000 after 5000": lambda: optax.MultiSteps(
            optax.sgd(0.1), lambda step: jnp.where(jnp.less(step, 5000), 1, 1000)
        ),
    },
    "apply_every": {
        "4": lambda: optax.apply_every(4),
        "chained": lambda: optax.chain(optax.scale(0.1), optax.apply_every(3)),
        "then adam": lambda: optax.chain(optax.apply_every(3), optax.adam(0.1)),
        "masked": lambda: optax.masked(optax.apply_every(3), True),
        "1000": lambda: optax.apply_every(1000),
        "chained 1000": lambda: optax.chain(
            optax.clip(1.0),
            optax.apply_every(1000),
            optax.adam(optax.warmup_cosine_decay_schedule(0.0, 1.0, 100, 10_000)),
        ),
        "injected 1000": lambda: optax.inject_hyperparams(optax.apply_every)(k=1000),
    },
    "Collecting": {
        "where": lambda: counting(by_where),
        "cond": lambda: counting(by_cond),
        "product": lambda: counting(by_product),
        "switch": lambda: counting(by_switch),
        "clipped": lambda: counting(of_changed(lambda s: jnp.clip(s, -1, 1))),
        "positive": lambda: counting(of_changed(jax.nn.relu)),
        "rounded": lambda: counting(of_changed(jnp.round)),
        "sign": lambda: counting(of_changed(jnp.sign)),
        "where 100000": lambda: counting(by_where, 100_000),
        "float 1000": lambda: counting(by_where, 1000.0, jnp.float32),
        "array 1000": lambda: counting(by_where, 1000, shape=20),
        "float array 1000": lambda: counting(by_where, 1000.0, jnp.float32, 20),
        "down from 1000": lambda: counting_down(1000),
        "down from 1000.0": lambda: counting_down(1000.0, jnp.float32),
        # By a bool of the state, which the caller sets, and by the norm of the sum.
        "bool": lambda: Collecting(by_where, jnp.bool_(False), lambda ready, _: ready),
        "norm": lambda: Collecting(by_where, (), lambda _, sums: optax.tree.norm(sums) > 50.0),
    },
    "Preconditioned": {"cubes": lambda: Preconditioned(lambda g: g**3)},
}


@pytest.mark.parametrize(
    ("maker", "name"), [(maker, name) for maker, cases in COLLECTING.items() for name in cases]
)
def test_collecting_gradients(maker, name):
    optimizer = COLLECTING[maker][name]()
    words = f"collects gradients over several steps.*{maker}.*Add the gradients"
    with pytest.raises(ValueError, match=words):
        jaxops.lazy(optimizer).init(table())
    with pytest.raises(ValueError, match=words):
        jaxops.lazy(optimizer).apply(slices(), optimizer.init(table()), table())


# What has states of its own before something collects its updates.
NAMES = "adabelief adadelta adagrad adam adamax adan amsgrad ema lion radam rprop trace yogi"
BEFORE_COLLECTING = {name: getattr(optax, name) for name in NAMES.split()}
BEFORE_COLLECTING["centered"] = functools.partial(optax.rmsprop, centered=True, momentum=0.9)


@pytest.mark.parametrize("before", BEFORE_COLLECTING)
def test_collecting_of_other_states(before):
    """New sums depend on the states before them, so that they do not begin anew with all others."""
    optimizer = optax.chain(BEFORE_COLLECTING[before](0.1), optax.apply_every(2))
    with pytest.raises(ValueError, match=r"collects gradients over several steps.*apply_every"):
        jaxops.lazy(optimizer).init(table())


class Exchanged:
    """Collects gradients in two arrays in turn, and steps with all of them in every third step."""

    def init(self, params):
        zeros = jax.tree.map(jnp.zeros_like, params)
        return jnp.zeros((), jnp.int32), zeros, zeros

    def update(self, updates, state, params):
        count, first, second = state
        emit = count % 3 == 2
        sums = jax.tree.map(jnp.add, second, updates)
        step, both = by_where(emit, (sums, first))
        return jax.tree.map(jnp.add, *step), (count + 1, *both)


def test_collecting_in_states_that_change_places():
    """Each new state comes from the other one, so that it does not begin anew by itself."""
    with pytest.raises(ValueError, match=r"collects gradients over several steps.*Exchanged"):
        jaxops.lazy(Exchanged()).init(table())


class Overwritten:
    """Keeps the gradient for the next step, and steps by none of the first ones."""

    def init(self, params):
        return jnp.zeros((), jnp.int32), jax.tree.map(jnp.zeros_like, params)

    def update(self, updates, state, params):
        count, old = state
        step = jax.tree.map(lambda g, g0: jnp.where(count < 3, 0, g + g0), updates, old)
        return step, (count + 1, updates)


def every_second(step, **_) -> Any:
    return step % 2 == 0


# Choices by the step count that collect nothing; others are in `lazy_optax_table.py`.
NOT_COLLECTING = {
    "frozen-at-first": lambda: optax.adam(
        optax.join_schedules([optax.constant_schedule(0.0), optax.constant_schedule(0.1)], [10])
    ),
    "overwritten": Overwritten,
    "cubes-kept": lambda: Preconditioned(lambda g: g**3, begins=False),
    "piecewise": lambda: optax.rmsprop(optax.piecewise_constant_schedule(0.1, {10: 0.0})),
    "previous-gradient": lambda: optax.conditionally_transform(
        optax.optimistic_adam_v2(0.1), every_second
    ),
    "finite": lambda: optax.apply_if_finite(optax.novograd(0.1), 3),
    "frozen-for-1000": lambda: optax.adam(
        optax.join_schedules([optax.constant_schedule(0.0), optax.constant_schedule(0.1)], [1000])
    ),
    **{f"powers of {n}": lambda n=n: Preconditioned(lambda g: g**n) for n in (2, 4)},
    "magnitudes": lambda: Preconditioned(jnp.abs),
    **{
        f"adopt-after-{name}": lambda name=name: optax.chain(
            BEFORE_COLLECTING[name](0.1), optax.contrib.scale_by_adopt()
        )
        for name in ("lion", "radam")
    },
    "adopt-after-decay": lambda: optax.chain(
        optax.add_decayed_weights(0.01), optax.contrib.scale_by_adopt()
    ),
    "clipped-adagrad": lambda: optax.chain(optax.adagrad(0.1), optax.clip_by_global_norm(1.0)),
}


@pytest.mark.parametrize("name", NOT_COLLECTING)
def test_not_collecting(name):
    optimizer = NOT_COLLECTING[name]()
    state = jaxops.lazy(optimizer).init(table())
    jax.tree.map(np.testing.assert_array_equal, state, optimizer.init(table()))


class ByNumber:
    """Keeps a sum in the state, of which each number decides by itself whether it begins anew."""

    def __init__(self, step):
        self.step = step

    def init(self, params):
        return jax.tree.map(jnp.zeros_like, params)

    def update(self, updates, state, params):
        both = jax.tree.map(self.step, updates, state)
        return jax.tree.transpose(jax.tree.structure(state), None, both)


BY_NUMBER = {
    "rprop": optax.rprop(0.1),
    "large sums": ByNumber(
        lambda g, s: (jnp.where(abs(s + g) > 0.5, s + g, 0), jnp.where(abs(s + g) > 0.5, 0, s + g))
    ),
    "large gradients": ByNumber(
        lambda g, s: (jnp.where(abs(g) > 0.5, s + g, 0), jnp.where(abs(g) > 0.5, 0, s + g))
    ),
    "other signs": ByNumber(
        lambda g, s: (jnp.where(g * s < 0, 0, s), jnp.where(g * s < 0, 0, s + g))
    ),
}


@pytest.mark.parametrize("depths", [(3, 1, 1), (3, 2, 1), (1, 1, 1)])
@pytest.mark.parametrize("name", BY_NUMBER)
def test_numbers_that_begin_anew_by_themselves(name, depths):
    """In rows of one number all of a step begin anew by chance."""
    shapes = [(5, 3, 3), (5, 1), (8, 2, 1, 2)]
    before, after = [jnp.ones(()), jnp.ones((4, 3))], [jnp.ones(4)]
    params = [*before, *map(jnp.ones, shapes), *after]
    sparse = [
        IndexedSlices(jnp.ones((2, *shape[depth:])), jnp.array([2, 0]), shape)
        for shape, depth in zip(shapes, depths, strict=True)
    ]
    optimizer = BY_NUMBER[name]
    lazy, state = jaxops.lazy(optimizer), optimizer.init(params)
    received = lazy.apply([*before, *sparse, *after], state, params)
    dense = [*before, *(slices.to_dense() for slices in sparse), *after]
    updates, new_state = optimizer.update(dense, state, params)
    expected = optax.apply_updates(params, updates), new_state
    for x, y in zip(*map(jax.tree.leaves, (received, expected)), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)


# --- which parameters ---


class ScaledByTheOther:
    """Steps in one table by the norm of another one."""

    def init(self, params):
        return ()

    def update(self, updates, state, params):
        return {**updates, "a": updates["a"] * jnp.linalg.norm(params["b"])}, state


def by_name(**optimizers: Any):
    each: dict[Any, Any] = optimizers
    return optax.multi_transform(each, {name: name for name in each})


# Optimizers of several parameters, and what is wrong with some of them as tables.
SOME_ARE_WRONG = {
    "labels": (
        by_name(embed=optax.lamb(0.1), other=optax.adagrad(0.1)),
        {"embed": r"row of table 'embed' by itself.*scale_by_trust_ratio", "other": ""},
    ),
    "mask": (
        optax.masked(optax.lamb(0.1), {"embed": True, "other": False}),
        {"embed": r"row of table 'embed' by itself.*scale_by_trust_ratio", "other": ""},
    ),
    # The norm after Adam is over all tables, as Adam moves rows without a gradient.
    "norm": (
        optax.chain(
            by_name(embed=optax.adagrad(0.1), other=optax.adam(0.1)), optax.clip_by_global_norm(0.1)
        ),
        {"embed": "", "other": "table 'other' by itself"},
    ),
    # The norm of LAMB shows in the first step, what is collected only after some steps.
    "each its own": (
        by_name(collects=optax.apply_every(3), lamb=optax.lamb(0.1), adam=optax.adam(0.1)),
        {"collects": "collects", "lamb": "by itself", "adam": ""},
    ),
    "another table": (ScaledByTheOther(), {"a": "", "b": "table 'b' by itself"}),
}


@pytest.mark.parametrize("name", SOME_ARE_WRONG)
def test_the_first_step_knows_the_tables(name):
    """`init` does not. The right ones get the dense step, whatever the others are."""
    optimizer, problems = SOME_ARE_WRONG[name]
    params = {path: table() + n for n, path in enumerate(problems)}
    lazy = jaxops.lazy(optimizer)
    state = lazy.init(params)
    dense = dict.fromkeys(problems, slices().to_dense())
    updates, _ = optimizer.update(dense, state, params)
    lazy.apply(dense, state, params)
    for path, words in problems.items():
        if words:
            with pytest.raises(ValueError, match=words):
                lazy.apply({**dense, path: slices()}, state, params)
        else:
            received, _ = lazy.apply({**dense, path: slices()}, state, params)
            rows = np.array([1, 4])
            np.testing.assert_allclose(
                received[path][rows], (params[path] + updates[path])[rows], rtol=1e-6
            )


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

    with pytest.raises(
        ValueError, match=r"must keep the shapes of parameters and state; received .* of \(\)"
    ):
        jaxops.lazy(Shared(None)).init({"a": table(), "scale": jnp.ones(())})


# --- what update is given besides ---


class Scaled(Stateless):
    def update(self, updates, state, params, *, scale):
        return jax.tree.map(lambda g, p: scale(g, p), updates, params), state


def test_a_random_key_is_an_argument():
    class Noisy(Stateless):
        def update(self, updates, state, params, *, key):
            return updates * jax.random.uniform(key), state

    key = jax.random.key(3)
    received, _ = jaxops.lazy(Noisy(None)).apply(slices(), (), table(), key=key)
    expected = table() + slices().to_dense() * jax.random.uniform(key)
    np.testing.assert_allclose(received, expected, rtol=1e-6)


def test_a_random_key_for_each_row_is_refused():
    class Noisy(Stateless):
        def init(self, params):
            return jax.random.split(jax.random.key(0), len(params))

    with pytest.raises(ValueError, match=r"received one that keeps random keys of \(6,\)"):
        jaxops.lazy(Noisy(jnp.multiply)).init(table())


@pytest.mark.parametrize("part", [jnp.real, jnp.imag])
def test_both_parts_of_complex_numbers(part):
    lazy = jaxops.lazy(Stateless(lambda g, p: g * jnp.sum(part(p))))
    with pytest.raises(ValueError, match="computes rows from other rows"):
        lazy.init({"table": table().astype(jnp.complex64), "none": jnp.ones(0)})


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
    for expected in (3, 1):  # of 7 and of 4001 rows, and the step
        calls.clear()
        lazy.apply(slices(), (), table())
        assert len(calls) == expected


# --- states of one number for each row ---


class Counted:
    """Steps by the number of steps in which a row had a gradient, and by all of them."""

    def __init__(self, shape=(), of_counts=lambda counts, total: counts):
        self.shape, self.of_counts = shape, of_counts

    def init(self, params):
        return jnp.zeros((len(params), *self.shape), jnp.int32), jnp.int32(0)

    def update(self, updates, state, params):
        counts, total = state
        has_gradient = jnp.any(updates != 0, axis=1)
        counts = counts + has_gradient.reshape(counts.shape).astype(jnp.int32)
        divisor = self.of_counts(counts, total).reshape(-1, 1)
        return -updates / (1 + divisor), (counts, total + 1)


@pytest.mark.parametrize("shape", [(), (1,)])
def test_counts_of_rows(shape):
    lazy = jaxops.lazy(Counted(shape))
    params, state = table(), lazy.init(table())
    for indices in ((4, 1, 4), (1, 9), (1,)):
        grads = slices(indices=indices, values=np.ones((len(indices), WIDTH)))
        params, state = jax.jit(lazy.apply)(grads, state, params)
    np.testing.assert_array_equal(state[0].reshape(-1), [0, 3, 0, 0, 1, 0])
    steps = np.asarray(table() - params)[:, 0]
    np.testing.assert_allclose(steps, [0, 1 / 2 + 1 / 3 + 1 / 4, 0, 0, 2 / 2, 0], rtol=1e-6)


def test_a_mean_over_the_counts_of_all_rows_is_refused():
    optimizer = Counted(of_counts=lambda counts, total: counts / (1 + jnp.mean(counts)))
    with pytest.raises(ValueError, match=r"each row of table '' by itself; .*\(div\) in Counted"):
        jaxops.lazy(optimizer).init(table())


# --- where lazy is called ---


def a_step(rate: Any = 0.1):
    lazy = jaxops.lazy(optax.chain(optax.clip_by_global_norm(1.0), optax.adam(rate)))
    return lazy.apply(slices(), lazy.init(table()), table())[0]


@contextlib.contextmanager
def of_the_process(setting):
    """In all threads, as a flag at the start of a program does."""
    jax.config.update(setting, True)
    try:
        yield
    finally:
        jax.config.update(setting, False)


AROUND = {
    **{s: lambda s=s: of_the_process(s) for s in ("jax_debug_nans", "jax_disable_jit")},
    "transfer_guard": lambda: jax.transfer_guard("disallow_explicit"),
    "mesh": lambda: jax.set_mesh(jax.make_mesh((1,), ("d",))),
    "explicit-mesh": lambda: jax.set_mesh(
        jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Explicit,))
    ),
    "disable_jit": lambda: jax.disable_jit(),
    "x64": lambda: jax.enable_x64(True),
}


@pytest.mark.parametrize("name", AROUND)
def test_contexts_around(name):
    optimizers = jaxops.lazy(optax.adam(0.1)), jaxops.lazy(optax.lamb(0.1))
    units = Stateless(lambda g, p: g / jnp.linalg.norm(g, axis=1, keepdims=True))  # 0 / 0 too
    params = table()
    with AROUND[name]():
        types = jax.eval_shape(optimizers[0].init, params)
        jax.eval_shape(jaxops.lazy(units).init, params)
        with pytest.raises(ValueError, match=r"by itself; .*scale_by_trust_ratio"):
            jax.eval_shape(optimizers[1].init, params)
        jax.eval_shape(jaxops.lazy(optax.adagrad(0.1), catch_up=True).init, params)
    assert jax.tree.leaves(types)[1].shape == (ROWS, WIDTH)


def test_a_rate_that_is_traced():
    """The optimizer is made where the step is traced, and its rate is no number there."""
    expected = np.asarray(a_step())
    np.testing.assert_allclose(jax.jit(a_step)(0.1), expected, rtol=1e-6)
    mapped = jax.vmap(a_step)(jnp.array([0.1, 0.2]))
    np.testing.assert_allclose(mapped[0], expected, rtol=1e-6)
    with pytest.raises(ValueError, match=r"by itself; .*scale_by_trust_ratio"):
        jax.jit(lambda rate: jaxops.lazy(optax.lamb(rate)).init(table()))(0.1)


def printing(g, p):
    jax.debug.print("seen")
    return g * jnp.sum(p)


def test_what_prints_is_judged_without_its_prints(capfd):
    with pytest.raises(ValueError, match=r"computes rows from other rows.*reduce_sum"):
        jaxops.lazy(Stateless(printing)).init(table())
    jax.effects_barrier()
    assert capfd.readouterr().out == ""


def of_axis(g, p):
    return g / jax.lax.psum(1.0, "d")


def test_what_uses_an_axis_is_not_run():
    """Outside of the `shard_map` it cannot be traced, and inside it cannot be run by itself."""
    lazy = jaxops.lazy(Stateless(of_axis))
    state = lazy.init(table())
    mesh = jax.make_mesh((1,), ("d",))

    @jax.jit
    @functools.partial(jax.shard_map, mesh=mesh, in_specs=jax.P(), out_specs=jax.P())
    def step(table):
        return lazy.apply(slices(), state, table)[0]

    np.testing.assert_allclose(step(table()), table() + slices().to_dense(), rtol=1e-6)


def test_sizes_do_not_matter():
    """To what the runs cost: these arrays are not made."""
    big = jax.ShapeDtypeStruct((1 << 30, 1 << 12), jnp.float32)
    params = {"embed": big, "layers": jax.ShapeDtypeStruct((32, 1 << 12, 1 << 14), jnp.bfloat16)}
    lazy = jaxops.lazy(optax.adam(0.1))
    jax.eval_shape(lazy.init, params)
    lamb = jaxops.lazy(optax.lamb(0.1))
    with pytest.raises(ValueError, match="table 'embed' by itself"):
        jax.eval_shape(lamb.init, params)


def test_sizes_that_an_optimizer_wants():
    """The optimizer multiplies by an array as wide as the table, so small runs keep the width."""
    params = jnp.ones((30, 20))
    lazy = jaxops.lazy(Stateless(lambda g, p: g * jnp.arange(20.0)))
    grads = IndexedSlices(jnp.ones((1, 20)), jnp.array([3]), params.shape)
    received, _ = lazy.apply(grads, lazy.init(params), params)
    np.testing.assert_allclose(received[3], 1 + jnp.arange(20.0))


# --- what only other numbers show than those of small runs ---


def along_the_longest_axis(g, p):
    return g / jnp.sqrt(1 + jnp.sum(p**2, int(np.argmax(p.shape)), keepdims=True))


def normed_if_large(g, p):
    return g / (jnp.linalg.norm(p) if p.shape[0] > 10_000 else 1)


UNSEEN_IN_SMALL_RUNS = {
    "an axis by the shape": lambda: Stateless(along_the_longest_axis),
    "more rows than 4001": lambda: Stateless(normed_if_large),
    "a mean that is NaN for parameters of both signs": lambda: Stateless(
        lambda g, p: g * jnp.exp(jnp.mean(jnp.log(p)))
    ),
    "a bound that few rows do not reach": lambda: optax.chain(
        optax.scale_by_adam(), optax.clip_by_global_norm(100.0)
    ),
}


@pytest.mark.parametrize("name", UNSEEN_IN_SMALL_RUNS)
def test_what_small_runs_do_not_reach(name):
    with pytest.raises(ValueError, match="must update each row of table 'table' by itself"):
        jaxops.lazy(UNSEEN_IN_SMALL_RUNS[name]()).init({"table": jnp.ones((20_000, 8))})


class Emitting:
    """Collects gradients until an argument says that it is enough."""

    def update(self, grads, state, params, *, emit):
        sums = jax.tree.map(jnp.add, state, grads)
        updates = jax.tree.map(lambda s: jnp.where(emit, -s, 0.0), sums)
        return updates, jax.tree.map(lambda s: jnp.where(emit, 0.0, s), sums)

    def init(self, params):
        return jax.tree.map(jnp.zeros_like, params)


def test_arguments_that_are_bools_take_both_values():
    lazy = jaxops.lazy(Emitting())
    params = table()
    with pytest.raises(ValueError, match="collects gradients over several steps"):
        lazy.apply(slices(), lazy.init(params), params, emit=jnp.array(True))


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1000, 16), (1000,)])
@pytest.mark.parametrize("dense", [optax.lamb, optax.adafactor, optax.contrib.muon])
def test_dense_weights_beside_a_table_may_have_any_optimizer(dense, shape):
    optimizer = optax.partition(
        {"rows": optax.adagrad(0.1), "whole": dense(0.1)}, {"table": "rows", "w": "whole"}
    )
    params = {"table": jnp.ones(shape), "w": jnp.ones((200, 150))}
    lazy = jaxops.lazy(optimizer)
    grads = {"table": IndexedSlices(jnp.ones((2, *shape[1:])), [3, 3], shape), "w": params["w"]}
    state = lazy.init(params)
    updated, _ = lazy.apply(grads, state, params)
    dense_grads = {**grads, "table": grads["table"].to_dense()}
    updates, _ = fast_jit(optimizer.update)(dense_grads, optimizer.init(params), params)
    expected = optax.apply_updates(params, updates)
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-5), updated, expected)
