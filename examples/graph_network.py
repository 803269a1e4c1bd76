"""Trains a graph network that removes noise, by messages between neighbours.

Sensors lie scattered in a square, and each one reports on which side of a smooth, hidden line it
lies; three in ten are wrong. A sensor does not know its place, but it hears its eight nearest
neighbours. In each of three rounds every sensor sends them a vector and averages the vectors that
it hears. The table shows the share of correct sides on graphs that training never saw, beside the
share of a majority vote among neighbours, and that of the same network without messages, which can
only believe the reports.

`jax.vmap` turns one graph into a batch of graphs: `jaxops.gather` then reads the rows of each graph
by its own indices, and `jaxops.unsorted_segment_mean` averages within each graph. On a CPU an edge
to a node that does not exist is an error, in compiled code too; the script shows it.

    python examples/graph_network.py
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax
from tqdm import tqdm

import jaxops

NODES, NEIGHBORS, WRONG = 200, 8, 0.3
WIDTH, ROUNDS, BATCH_SIZE = 16, 3, 8
OPTIMIZER = optax.adam(0.01)


class Graphs(NamedTuple):
    places: np.ndarray  # [graphs, nodes, 2], which the network does not see
    told: np.ndarray  # [graphs, nodes, 1], -1 or 1
    senders: np.ndarray  # [graphs, edges], indices of nodes
    receivers: np.ndarray  # [graphs, edges]
    sides: np.ndarray  # [graphs, nodes], the truth, 0 or 1


def make_graphs(rng: np.random.Generator, count: int) -> Graphs:
    places = rng.uniform(0, 1, (count, NODES, 2))
    squares = np.square(places[:, :, None] - places[:, None]).sum(-1)
    squares[:, np.arange(NODES), np.arange(NODES)] = np.inf  # no one is a neighbour of itself
    senders = np.argpartition(squares, NEIGHBORS)[..., :NEIGHBORS].reshape(count, -1)
    receivers = np.broadcast_to(np.repeat(np.arange(NODES), NEIGHBORS), senders.shape)
    bend, shift, angle = rng.uniform([[0.2], [0], [0]], [[0.4], [6], [6]], (3, count))[..., None]
    x, y = np.moveaxis(places - 0.5, -1, 0)
    along = np.cos(angle) * x + np.sin(angle) * y
    sides = np.cos(angle) * y - np.sin(angle) * x > bend * np.sin(7 * along + shift)
    told = sides ^ (rng.uniform(size=sides.shape) < WRONG)
    return Graphs(places, np.where(told, 1.0, -1.0)[..., None], senders, receivers, 1.0 * sides)


def initialize(rng: np.random.Generator) -> dict[str, jax.Array]:
    shapes = {"first": (1, WIDTH), "last": (WIDTH, 1)}
    shapes |= {"own": (ROUNDS, WIDTH, WIDTH), "heard": (ROUNDS, WIDTH, WIDTH)}
    return {
        name: jnp.asarray(rng.normal(size=shape) / np.sqrt(shape[-2]), jnp.float32)
        for name, shape in shapes.items()
    }


def network(params, told, senders, receivers, messages: bool) -> jax.Array:
    """The logit of each node of one graph `[nodes]`."""
    nodes = jnp.tanh(told @ params["first"])
    for own, heard in zip(params["own"], params["heard"], strict=True):
        update = nodes @ own
        if messages:
            sent = jaxops.gather(nodes, senders)
            update += jaxops.unsorted_segment_mean(sent, receivers, len(nodes)) @ heard
        nodes = nodes + jnp.tanh(update)
    return (nodes @ params["last"])[:, 0]


@functools.partial(jax.jit, static_argnames="messages")
def logits_of(params, graphs: Graphs, messages: bool) -> jax.Array:
    of_graph = functools.partial(network, params, messages=messages)
    return jax.vmap(of_graph)(graphs.told, graphs.senders, graphs.receivers)


@functools.partial(jax.jit, static_argnames="messages")
def train_step(params, state, graphs: Graphs, messages: bool):
    def loss(params):
        logits = logits_of(params, graphs, messages)
        return optax.sigmoid_binary_cross_entropy(logits, graphs.sides).mean()

    updates, state = OPTIMIZER.update(jax.grad(loss)(params), state)
    return optax.apply_updates(params, updates), state


def train(steps: int, messages: bool):
    rng = np.random.default_rng(0)
    params = initialize(rng)
    state = OPTIMIZER.init(params)
    name = "Training with messages" if messages else "Training without messages"
    for _ in tqdm(range(steps), desc=name, disable=None):
        params, state = train_step(params, state, make_graphs(rng, BATCH_SIZE), messages)
    return params


def draw(graphs: Graphs, logits: jax.Array | np.ndarray, output: Path) -> None:
    figure, panels = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
    shown = {"told": graphs.told[0, :, 0] > 0, "found": logits[0] > 0, "true": graphs.sides[0] > 0}
    edges = graphs.places[0][np.stack([graphs.senders[0], graphs.receivers[0]])]
    for panel, (name, sides) in zip(panels, shown.items(), strict=True):
        panel.plot(*edges.transpose(2, 0, 1), color="0.85", linewidth=0.6, zorder=0)
        colors = np.where(sides, "#d1495b", "#3b6fb6")
        panel.scatter(*graphs.places[0].T, c=list(colors), s=14)
        panel.set(title=name, xticks=[], yticks=[], aspect="equal")
    figure.savefig(output, dpi=120)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--steps", type=int, default=200, help="training steps")
    parser.add_argument("--output", type=Path, default=Path("build/graph_network.png"))
    options = parser.parse_args(argv)

    unseen = make_graphs(np.random.default_rng(1), 100)
    told = unseen.told[..., 0]
    heard = jaxops.gather(told, unseen.senders, batch_dims=1).reshape(-1, NODES, NEIGHBORS)
    found = {"what a sensor tells": told, "majority, with neighbours": told + heard.sum(-1)}
    for name, messages in {"without": False, "with": True}.items():
        params = train(options.steps, messages)
        found[f"network {name} messages"] = logits_of(params, unseen, messages)
    print(f"Sides found, of {unseen.sides.size:,} sensors in graphs not trained on:")
    for name, logits in found.items():
        print(f"  {name:<26} {np.mean((logits > 0) == unseen.sides):6.1%}")

    wrong = unseen._replace(senders=np.where(unseen.senders == 7, NODES, unseen.senders))
    try:
        with jaxops.typed_errors():
            logits_of(params, wrong, messages=True).block_until_ready()
    except jaxops.OutOfBoundsError as error:
        print(f"\nWith a node too many: {str(error).partition(' at ')[0]}")

    options.output.parent.mkdir(parents=True, exist_ok=True)
    draw(unseen, found["network with messages"], options.output)
    print(f"\nPicture: {options.output}")


if __name__ == "__main__":
    main()
