"""Rows of code of JAX as users write it, with `jaxops.checked` and without."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from row import Row, floats, ints

import jaxops


def take_rows(table, i):
    return jnp.take(table, i, axis=0)


def graph_layer(nodes, w, senders, receivers):
    messages = jnp.tanh((nodes @ w)[senders])
    return jax.ops.segment_sum(messages, receivers, nodes.shape[0])


def train(embed, w, out, words, targets):
    """A step of word embeddings, with its gradient."""

    def loss(embed, w, out):
        logits = jnp.tanh(embed[words].mean(1) @ w) @ out
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), targets[:, None], 1).mean()

    params = embed, w, out
    grads = jax.grad(loss, (0, 1, 2))(*params)
    return [p - 0.1 * g for p, g in zip(params, grads, strict=True)]


def decode(cache, xs):
    """A slice of a cache is written and read in each step of a scan."""

    def step(cache, x):
        i, x = x
        cache = lax.dynamic_update_slice(cache, x[None], (i, 0))
        return cache, jax.nn.softmax(cache @ x) @ cache

    return lax.scan(step, cache, (jnp.arange(len(xs)), xs))[1]


DEPTH = 12


def search(values, children, seeds):
    """Each game of a batch walks down a tree, and writes back on its path."""

    def simulate(seed):
        def goes_on(state):
            node, k, _ = state
            return (k < DEPTH) & (children[node, 0] >= 0)

        def down(state):
            node, k, path = state
            noise = jax.random.uniform(jax.random.key(seed + k), values.shape[1:])
            child = children[node, jnp.argmax(values[node] + noise)]
            return jnp.where(child < 0, node, child), k + 1, path.at[k].set(node)

        node, _, path = lax.while_loop(goes_on, down, (0, 0, jnp.zeros(DEPTH, int)))
        up = lambda k, total: total.at[path[k]].add(values[node, 0])  # noqa: E731
        return lax.fori_loop(0, DEPTH, up, values[:, 0])

    return jax.vmap(simulate)(seeds)


def tree(n):
    """About half of the places for a child are empty."""
    nodes, actions = n(256, 8), 8
    children = np.where(ints(2, nodes, actions) > 0, ints(nodes, nodes, actions), -1)
    return floats(nodes, actions), children, ints(1000, n(64, 3))


def pairs(limit, count):
    return ints(limit, 2, count)


def row(what: str, program: Callable, arguments: Callable) -> Row:
    """The code by itself stands in the place of jnp."""
    groups = "checked checked_compile"
    return Row("checked", what, arguments, jaxops.checked(program), jnp=program, groups=groups)


ROWS = [
    row(
        "rows, x[i]",
        lambda table, i: table[i],
        lambda n: (floats(n(50_000, 4), n(128, 3)), ints(n(50_000, 4), n(65_536, 5))),
    ),
    row(
        "elements, x[i, j]",
        lambda x, i, j: x[i, j],
        lambda n: (floats(n(1000, 4), n(1000, 4)), *pairs(n(1000, 4), n(10**6, 5))),
    ),
    row(
        "rows, jnp.take",
        take_rows,
        lambda n: (floats(n(50_000, 4), n(64, 3)), ints(n(50_000, 4), n(4096, 3), n(16, 2))),
    ),
    row(
        "jnp.take_along_axis",
        lambda x, i: jnp.take_along_axis(x, i, axis=1),
        lambda n: (floats(n(4096, 3), n(512, 4)), ints(n(512, 4), n(4096, 3), n(64, 2))),
    ),
    row(
        "x.at[i].add",
        lambda x, i, updates: x.at[i].add(updates),
        lambda n: (
            floats(n(20_000, 4), n(64, 3)),
            ints(n(20_000, 4), n(30_000, 5)),
            floats(n(30_000, 5), n(64, 3)),
        ),
    ),
    row(
        "layer of a graph network",
        graph_layer,
        lambda n: (
            floats(n(5000, 4), n(64, 3)),
            floats(n(64, 3), n(64, 3)) / 64,
            *pairs(n(5000, 4), n(40_000, 6)),
        ),
    ),
    row(
        "training step of word embeddings",
        train,
        lambda n: (
            floats(n(5000, 4), n(64, 3)),
            floats(n(64, 3), n(64, 3)) / 64,
            floats(n(64, 3), n(500, 5)) / 64,
            ints(n(5000, 4), n(512, 2), n(16, 3)),
            ints(n(500, 5), n(512, 2)),
        ),
    ),
    row(
        "decoding with a cache",
        decode,
        lambda n: (np.zeros((n(256, 4), n(128, 3)), np.float32), floats(n(256, 4), n(128, 3)) / 64),
    ),
    row("tree search", search, tree),
    row(
        "a row and an element",
        lambda x, i: x[i] + x[i, 0],
        lambda n: (floats(n(64, 4), n(16, 3)), np.array(2, np.int32)),
    ),
    row(
        "32 elements are added to",
        lambda x, i: x.at[i].add(1.0),
        lambda n: (floats(n(64, 4), n(16, 3)), ints(n(64, 4), n(32, 5))),
    ),
]
