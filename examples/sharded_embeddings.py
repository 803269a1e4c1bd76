"""Trains word embeddings whose tables 8 devices share, and lists the traffic between them.

Each device has an eighth of the vocabulary: of the rows of both tables and of the optimizer's
state. In each step it gets an eighth of the batch. The 8 devices are made of the host's CPU, so the
program runs anywhere, and real devices would send the same data. The script then makes the same
steps on one device, and compares the losses. It takes about half a minute on two CPU cores.

    python examples/sharded_embeddings.py

The loss is that of `word_embeddings.py`, except for its lookups: `jaxops.sharded_gather` asks the
devices that own the rows. No other line of the step mentions devices. The optimizer sends the rows
of the gradient to their owners in the same way; the arguments carry their shardings.
"""

from __future__ import annotations

import argparse
import functools
import math
import re
from collections import Counter
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from word_embeddings import build_corpus, read_paragraphs

import jaxops

DIMENSION = 64
NEGATIVES = 3
BATCH_SIZE = 256
OPTIMIZER = jaxops.lazy(optax.adagrad(0.3))

Params = dict[str, jax.Array]


def initialize(vocab: int) -> Params:
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (vocab, DIMENSION)) / DIMENSION
    return {"center": jnp.asarray(rows, jnp.float32), "context": jnp.zeros(rows.shape, jnp.float32)}


def draw_batches(pairs: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of neighbours `[steps, batch, 2]`, noise `[steps, batch, negatives]`."""
    rng = np.random.default_rng(1)
    drawn = pairs[rng.integers(0, len(pairs), (steps, BATCH_SIZE))]
    noise = rng.choice(pairs.reshape(-1), (steps, BATCH_SIZE, NEGATIVES))
    return drawn, noise


def loss_fn(params: Params, pairs: jax.Array, noise: jax.Array, mesh: Mesh) -> jax.Array:
    center = jaxops.sharded_gather(params["center"], pairs[:, 0], "d", mesh=mesh)
    words = jnp.concatenate([pairs[:, 1:], noise], axis=1)
    context = jaxops.sharded_gather(params["context"], words, "d", mesh=mesh)
    scores = jnp.einsum("bd,bnd->bn", center, context)
    is_true = jnp.arange(scores.shape[1]) == 0
    losses = optax.sigmoid_binary_cross_entropy(scores, is_true[None].astype(scores.dtype))
    return losses.sum()


def train_step(mesh: Mesh, params: Params, state, pairs: jax.Array, noise: jax.Array):
    loss, grads = jaxops.sparse_value_and_grad(loss_fn, tables=["center", "context"])(
        params, pairs, noise, mesh
    )
    params, state = OPTIMIZER.apply(grads, state, params)
    return params, state, loss


def compile_step(mesh: Mesh, vocab: int):
    """The step, and tables and optimizer's state to start with, shared by the devices of `mesh`."""
    by_rows, whole = NamedSharding(mesh, P("d", None)), NamedSharding(mesh, P())
    params = initialize(vocab)
    state = OPTIMIZER.init(params)
    placement = jax.tree.map(lambda x: by_rows if x.ndim else whole, (params, state))
    params, state = jax.device_put((params, state), placement)
    batch = [
        jax.ShapeDtypeStruct((BATCH_SIZE, n), np.int32, sharding=by_rows) for n in (2, NEGATIVES)
    ]
    step = jax.jit(
        functools.partial(train_step, mesh),
        out_shardings=(*placement, whole),
        donate_argnums=(0, 1),
    )
    return step.lower(params, state, *batch).compile(), params, state, by_rows


def train(mesh: Mesh, vocab: int, batches, report: bool = False) -> tuple[list[float], str]:
    """The loss of each step, and the text of the compiled step."""
    step, params, state, by_rows = compile_step(mesh, vocab)
    losses = []
    every = math.ceil(len(batches[0]) / 5)
    for number, batch in enumerate(zip(*batches, strict=True), start=1):
        params, state, loss = step(params, state, *jax.device_put(batch, by_rows))
        losses.append(float(loss) / BATCH_SIZE)
        if report and number % every == 0:
            print(f"Step {number} of {len(batches[0])}: loss {losses[-1]:.3f}", flush=True)
    return losses, step.as_text() or ""


def collectives(text: str) -> Counter[tuple[str, str, int]]:
    """How often a compiled program sends what: kind, type and bytes of the result."""
    kinds = "all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter"
    found: Counter[tuple[str, str, int]] = Counter()
    for line in text.splitlines():
        match = re.search(rf"= (\(.*?\)|\S+) ({kinds})(?:-start)?\(", line)
        # The search for a bad index is not counted: good ones do not come by.
        if match is None or re.search(r"gather\)?/cond/", line):
            continue
        for dtype, bits, shape in re.findall(r"(pred|[a-z]+(\d+))\[([\d,]*)\]", match[1]):
            size = math.prod(int(n) for n in shape.split(",") if n)
            found[match[2], f"{dtype}[{shape}]", size * int(bits or 8) // 8] += 1
    return found


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--steps", type=int, default=300, help="training steps")
    steps = parser.parse_args(argv).steps
    if steps < 1:
        parser.error(f"argument --steps: received {steps}, expected 1 or more")

    jax.config.update("jax_num_cpu_devices", 8)
    devices = jax.devices("cpu")
    corpus = build_corpus(read_paragraphs(), min_count=1, window=5)
    vocab = math.ceil(len(corpus.words) / len(devices)) * len(devices)  # the same number for each
    batches = draw_batches(corpus.pairs, steps)
    print(f"{len(corpus.words):,} words; {vocab // len(devices)} rows of each table on a device")

    mesh = jax.make_mesh((len(devices),), ("d",), axis_types=(AxisType.Auto,), devices=devices)
    losses, text = train(mesh, vocab, batches, report=True)
    one = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Auto,), devices=devices[:1])
    losses_of_one, _ = train(one, vocab, batches)
    print(f"\nLoss: {losses[0]:.4f} in the first step, {losses[-1]:.4f} in the last")
    difference = np.abs(np.subtract(losses, losses_of_one)).max()
    print(f"On one device it differs by {difference:g} at most, in any step")

    print("\nWhat crosses between the devices in a step:")
    sent = collectives(text)
    for kind, dtype, size in sorted(sent, key=lambda key: -key[2]):
        count = sent[kind, dtype, size]
        print(f"  {count} x {kind:<12} {dtype:<16} {size:>9,} bytes")
    table = 4 * vocab * DIMENSION
    largest = max(size for _, _, size in sent)
    print(f"Each of the tables has {table:,} bytes; the largest of these has {largest:,}")


if __name__ == "__main__":
    main()
