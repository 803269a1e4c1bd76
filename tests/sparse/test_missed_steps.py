"""_sparse/missed_steps: what optimizers do to rows without a gradient, and making up for it."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from row_wise_steps import ROWS, Stateless, slices, table

import jaxops
from jaxops._sparse.optimizer import missed_steps, trees

pytestmark = pytest.mark.usefixtures("standard_promotion")


def plan(optimizer, params=None):
    kinds, _ = trees.flatten({"table": table()} if params is None else params)
    return missed_steps.plan(optimizer, kinds, {})


class Stateful:
    """Steps by a function of gradient, state of the row, parameter and state of all rows."""

    def __init__(self, step, shared=None):
        self.step = step
        self.shared = jnp.zeros((), jnp.int32) if shared is None else shared

    def init(self, params):
        return {"of_rows": jax.tree.map(jnp.zeros_like, params), "shared": self.shared}

    def update(self, updates, state, params):
        (gradient,), structure = jax.tree.flatten(updates)
        (of_rows,), (param,) = jax.tree.leaves(state["of_rows"]), jax.tree.leaves(params)
        update, of_rows, shared = self.step(gradient, of_rows, param, state["shared"])
        state = {"of_rows": structure.unflatten([of_rows]), "shared": shared}
        return structure.unflatten([update]), state


# name: the optimizer, whether it does nothing to rows without a gradient, nor to those of state 0
MISSED = {
    "sgd": (optax.sgd(0.1), True, True),
    "adagrad": (optax.adagrad(0.1), True, True),
    "clipped": (optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1)), True, True),
    "sign": (optax.sign_sgd(0.1), True, True),
    "momentum": (optax.sgd(0.1, momentum=0.9), False, True),
    "rmsprop": (optax.rmsprop(0.1), False, True),
    "adam": (optax.adam(0.1), False, True),
    "clipped-adam": (optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.1)), False, True),
    "adamw": (optax.adamw(0.1), False, False),
    "adam-from-1": (
        Stateful(lambda g, s, p, n: (-0.9 * s, 0.9 * s + 1 - 0.9 + g, n)),
        False,
        False,
    ),
}


@pytest.mark.parametrize("name", MISSED)
def test_what_a_row_without_gradient_does(name):
    optimizer, *expected = MISSED[name]
    found = plan(optimizer)
    assert found.problems == {}
    assert found.tables == {0: missed_steps.Missed(*expected)}


def shared(of_shared, start):
    """The update is of the state of all rows, which becomes `of_shared` of gradient and itself."""
    is_key = jnp.issubdtype(start.dtype, jax.dtypes.prng_key)
    number = jax.random.uniform if is_key else jnp.asarray
    return Stateful(lambda g, s, p, n: (number(n) * s, 0.9 * s + g, of_shared(g, n)), start)


KNOWN = {
    "stays": shared(lambda g, n: n, jnp.ones(())),
    "counts": shared(lambda g, n: n + 1, jnp.ones((), jnp.int32)),
    "of-a-zero": Stateful(
        lambda g, s, p, n: (s, s + g / jnp.maximum(n, 1.0), n + jnp.sum(g * g)), jnp.zeros(())
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known_of_missed_steps(name):
    assert plan(KNOWN[name]).problems == {}


IS_NO_COUNT = r"depends on its state \['shared'\], which is no count of steps"
UNKNOWN = {
    "decays": (shared(lambda g, n: 0.9 * n, jnp.ones(())), IS_NO_COUNT),
    "counts-by-two": (shared(lambda g, n: n + 2, jnp.ones((), jnp.int32)), IS_NO_COUNT),
    "counts-to-ten": (
        shared(lambda g, n: jnp.where(n < 10, n + 1, 10), jnp.ones((), jnp.int32)),
        IS_NO_COUNT,
    ),
    "counts-to-a-million": (
        shared(lambda g, n: jnp.where(n < 10**6, n + 1, 10**6), jnp.ones((), jnp.int32)),
        IS_NO_COUNT,
    ),
    "one-more-than-another": (
        Stateful(lambda g, s, p, n: (n[0] * s, 0.9 * s + g, (n[1] + 1, n[1])), (jnp.int32(1),) * 2),
        r"depends on its state \['shared'\]\[0\], which is no count of steps",
    ),
    "norm-kept": (shared(lambda g, n: jnp.sum(g * g), jnp.ones(())), IS_NO_COUNT),
    "norm": (
        Stateful(lambda g, s, p, n: (s * jnp.sum(g * g), s + g, n)),
        "depends on the gradients of other rows",
    ),
    "product": (
        Stateful(lambda g, s, p, n: (s * jnp.einsum("ij,ij->", g, g), s + g, n)),
        "depends on the gradients of other rows",
    ),
    "whether one is NaN": (
        Stateful(lambda g, s, p, n: (g + jnp.where(jnp.any(jnp.isnan(g)), 1.0, 0.0), s + g, n)),
        "depends on the gradients of other rows",
    ),
    "random": (
        shared(lambda g, n: jax.random.split(n)[0], jax.random.key(0)),
        IS_NO_COUNT,
    ),
    "if-finite": (optax.apply_if_finite(optax.adam(0.1), 3), "depends on"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_refused_at_init(name):
    optimizer, words = UNKNOWN[name]
    jaxops.lazy(optimizer).init({"table": table()})
    with pytest.raises(ValueError, match="^lazy: with catch_up, .*table 'table'.*" + words):
        jaxops.lazy(optimizer, catch_up=True).init({"table": table()})


class OfOthers:
    """Each parameter steps by the sum of the others, which are not its own rows."""

    def init(self, params):
        return ()

    def update(self, updates, state, params):
        return {**updates, "table": updates["table"] - params["scale"]}, state


def test_refused_if_it_depends_on_another_parameter():
    params = {"table": table(), "scale": jnp.ones(())}
    with pytest.raises(ValueError, match="depends on another parameter"):
        jaxops.lazy(OfOthers(), catch_up=True).init(params)


def test_refused_if_it_depends_on_a_rate_that_is_traced_around_it():
    def init(rate):
        return jaxops.lazy(optax.sgd(rate, momentum=0.9), catch_up=True).init(table())

    with pytest.raises(ValueError, match="depends on numbers that are traced around it"):
        jax.jit(init)(0.1)


class AtRate:
    """Wants an argument that only steps have."""

    def __init__(self, step):
        self.step = step

    def init(self, params):
        return jnp.zeros_like(params)

    def update(self, updates, state, params, *, rate):
        return self.step(updates, state, rate), 0.9 * state + updates


@pytest.mark.slow
def test_arguments_of_steps():
    """The first step decides, as `init` does not know the arguments."""
    right = jaxops.lazy(AtRate(lambda g, s, rate: -rate * g - 0.1 * s), catch_up=True)
    state = right.init(table())
    assert state.done[""].shape == (ROWS,)
    after, state = right.apply(slices(), state, table(), rate=0.5)
    after, state = right.apply(slices(indices=(0,)), state, after, rate=0.25)
    after, _ = right.catch_up(after, state, rate=0.0)
    first = np.asarray(slices().to_dense())
    np.testing.assert_allclose(after[4], table()[4] - 0.5 * first[4] - 0.1 * first[4], rtol=1e-6)
    for step, rate in (
        (lambda g, s, rate: -rate * (g + s), 0.5),
        (lambda g, s, key: -jax.random.uniform(key) * (g + s), jax.random.key(0)),
    ):
        wrong = jaxops.lazy(AtRate(step), catch_up=True)
        with pytest.raises(ValueError, match="depends on other arguments of update"):
            wrong.apply(slices(), wrong.init(table()), table(), rate=rate)


def test_a_table_that_cannot_catch_up_beside_one_that_can():
    labels = {"embed": "right", "other": "wrong"}
    optimizer = optax.multi_transform({"right": optax.adam(0.1), "wrong": optax.lamb(0.1)}, labels)
    params = {"embed": table(), "other": table() + 1}
    lazy = jaxops.lazy(optimizer, catch_up=True)
    state = lazy.init(params)
    assert list(state.done) == ["embed"]
    grads = {"embed": slices(), "other": table()}
    _, state = lazy.apply(grads, state, params)
    assert state.done["embed"].tolist() == [0, 1, 0, 0, 1, 0]
    with pytest.raises(ValueError, match="each row of table 'other' by itself"):
        lazy.apply({"embed": slices(), "other": slices()}, state, params)


def test_a_step_that_rows_missed_had_gradients_of_others():
    """So 0 is divided by a norm that is not 0."""

    def step(g, s, p, n):
        momentum = 0.5 * s + g / jnp.sqrt(jnp.sum(g * g))
        return -0.5 * momentum, momentum, n

    lazy = jaxops.lazy(Stateful(step), catch_up=True)
    params, state = table(), lazy.init(table())
    for indices in ((4,), (1,), (4,)):
        params, state = jax.jit(lazy.apply)(slices(indices=indices), state, params)
    unit = np.array([-2.0, -1, 0]) / np.sqrt(5)
    momenta = unit, 0.5 * unit, 1.25 * unit
    expected = np.asarray(table()[4]) - 0.5 * sum(momenta)
    np.testing.assert_allclose(params[4], expected, rtol=1e-5)


def test_stateless_optimizers_may_move_rows():
    lazy = jaxops.lazy(Stateless(lambda g, p: -0.5 * g - 0.5 * p), catch_up=True)
    params, state = table(), lazy.init(table())
    for indices in ((4,), (1,), (1,)):
        params, state = lazy.apply(slices(indices=indices), state, params)
    params, _ = lazy.catch_up(params, state)
    np.testing.assert_allclose(params[0], table()[0] / 8, rtol=1e-6)
