"""States that collect gradients are found, by what is known of the rows without one."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from row_wise_steps import Stateless, slices, table

import jaxops

pytestmark = pytest.mark.usefixtures("standard_promotion")


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
