"""Checks hand-written derivatives, one right and three wrong, all of which train.

A node of a graph weighs its incoming messages by a softmax over the edges, as in graph attention.
The reverse mode is written by hand (`jax.custom_vjp`), because it needs only the weights. Three
mistakes are easy to make there, and a network trains with each of them, so a falling loss proves
nothing. `jaxops.testing.check_grads` detects each mistake, and names an element of the gradient
with its actual and its expected value.

In a test suite a single call of `check_grads` suffices: it raises an `AssertionError`, and needs no
test framework.

    python examples/gradient_check.py
"""

from __future__ import annotations

import argparse
import functools
import re
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tqdm import tqdm

import jaxops
from jaxops import testing

NODES, EDGES, WIDTH = 30, 200, 8
RNG = np.random.default_rng(0)
SENDERS, RECEIVERS = RNG.integers(0, NODES, (2, EDGES))
FEATURES = RNG.normal(size=(NODES, WIDTH)).astype(np.float32)
TARGETS = np.sin(3 * FEATURES[:, :1] * FEATURES[:, 1:2])
OPTIMIZER = optax.adam(0.01)


def sums(values: jax.Array, ends: np.ndarray = RECEIVERS) -> jax.Array:
    """For each edge `[edges]` the sum over all edges that have the same end."""
    return jaxops.gather(jaxops.unsorted_segment_sum(values, ends, NODES), ends)


def softmax(scores: jax.Array) -> jax.Array:
    """Of the scores `[edges]` over the edges of each receiver."""
    largest = jaxops.unsorted_segment_max(scores, RECEIVERS, NODES)
    exponentials = jnp.exp(scores - jaxops.gather(largest, RECEIVERS))
    return exponentials / sums(exponentials)


def right(weights, cotangent):
    return (weights * (cotangent - sums(weights * cotangent)),)


def without_the_sum(weights, cotangent):
    return (weights * cotangent,)


def with_a_sum_of_all(weights, cotangent):
    return (weights * (cotangent - jnp.sum(weights * cotangent) / NODES),)


def with_sums_of_senders(weights, cotangent):
    return (weights * (cotangent - sums(weights * cotangent, SENDERS)),)


def attention_with(backward: Callable) -> Callable:
    def forward(scores):
        weights = softmax(scores)
        return weights, weights  # the result, and what the reverse mode needs

    attention = jax.custom_vjp(softmax)
    attention.defvjp(forward, backward)
    return attention


def loss_fn(attention: Callable, params: dict[str, jax.Array]) -> jax.Array:
    nodes = FEATURES @ params["nodes"]
    sent, received = jaxops.gather(nodes, SENDERS), jaxops.gather(nodes, RECEIVERS)
    weights = attention(jnp.sum(sent * received, axis=-1) / np.sqrt(WIDTH))
    heard = jaxops.unsorted_segment_sum(weights[:, None] * sent, RECEIVERS, NODES)
    return jnp.mean((jnp.tanh(nodes + heard) @ params["last"] - TARGETS) ** 2)


def initialize() -> dict[str, jax.Array]:
    rng = np.random.default_rng(1)
    shapes = {"nodes": (WIDTH, WIDTH), "last": (WIDTH, 1)}
    return {k: jnp.asarray(0.5 * rng.normal(size=s), jnp.float32) for k, s in shapes.items()}


def train(attention: Callable, steps: int) -> list[float]:
    """The losses of the steps."""

    @jax.jit
    def step(params, state):
        loss, grads = jax.value_and_grad(functools.partial(loss_fn, attention))(params)
        updates, state = OPTIMIZER.update(grads, state)
        return optax.apply_updates(params, updates), state, loss

    params, losses = initialize(), []
    state = OPTIMIZER.init(params)
    for _ in range(steps):
        params, state, loss = step(params, state)
        losses.append(float(loss))
    return losses


def verdict(attention: Callable) -> str:
    """What `check_grads` says of the loss with this attention."""

    def loss(params):
        return loss_fn(attention, params)

    try:
        testing.check_grads(loss, initialize(), modes="rev")
    except AssertionError as error:
        return str(error)
    return "right"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--steps", type=int, default=500, help="training steps")
    options = parser.parse_args(argv)

    verdicts = {}
    print(f"{'reverse mode':<22}  loss: first  {f'step {options.steps}':>9}  check_grads")
    backwards = (right, without_the_sum, with_a_sum_of_all, with_sums_of_senders)
    for backward in tqdm(backwards, desc="Training and checking", disable=None, leave=False):
        attention = attention_with(backward)
        losses = train(attention, options.steps)
        verdicts[backward] = verdict(attention)
        places = re.findall(r"wrong at (?:args\[0\])?(\S+):$", verdicts[backward], re.M)
        named = f"wrong at {places[0]}" if places else verdicts[backward]
        name = backward.__name__.replace("_", " ")
        tqdm.write(f"{name:<22}  {losses[0]:>11.4f}  {losses[-1]:>9.4f}  {named}")
    print(f"\nIn full, of the last one:\n\n{verdicts[with_sums_of_senders]}")

    found = {backward for backward in backwards if verdicts[backward] != "right"}
    assert found == set(backwards) - {right}, "check_grads errs"


if __name__ == "__main__":
    main()
