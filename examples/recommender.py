"""Trains a recommendation model on clicks, with 26 tables whose gradients are sparse.

The model is DLRM (Naumov et al., 2019). A small network turns 13 numbers into a vector, each of 26
categorical features looks up a vector in its own table, and another network reads the products of
every two of these 27 vectors. The tables have the sizes of the features in the Criteo Kaggle data,
but at most `--max-rows` rows. The clicks are synthetic: features follow Zipf's law, and the logit
of a click is a factorization machine of them. The script prints how well the model separates clicks
from other examples that it never saw, beside the best possible score, and the time of a training
step with sparse and with dense gradients. It takes about half a minute on two cores.

    python examples/recommender.py
    python examples/recommender.py --help

With `--devices 8` the CPU acts as 8 devices, which share the rows of each table and the batch:

    python examples/recommender.py --devices 8
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from word_embeddings import number

import jaxops

NUMBERS = 13
# How many values the categorical features of the Criteo Kaggle data have.
CRITEO = (1460, 583, 10131227, 2202608, 305, 24, 12517, 633, 3, 93145, 5683, 8351593, 3194)
CRITEO += (27, 14992, 5461306, 10, 5652, 2173, 4, 7046547, 18, 15, 286181, 105, 142572)
BOTTOM, TOP = (64,), (128, 64)  # widths of the hidden layers
CLICKS = -1.1  # the mean logit: about a quarter of the examples are clicks, as in Criteo's
TABLES_LIMIT = 2**34  # bytes, of all that has the tables' size
RANK = 4  # of the planted logit
ZIPF = 1.1
HELD_OUT = 20_000
STEPS_IN_TURN = 5

Params = dict[str, Any]


class Examples(NamedTuple):
    numbers: np.ndarray  # [n, 13]
    ids: np.ndarray  # [n, 26]
    clicks: np.ndarray  # [n], 0 or 1
    logits: np.ndarray  # [n], those that the clicks were drawn by
    of_numbers: np.ndarray  # [n], the part of the logits that the 13 numbers decide


def make_examples(sizes: Sequence[int], count: int, seed: int) -> Examples:
    """What the features mean depends on the seed and the sizes alone, not on the count."""
    rng, planted = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    weights = planted.standard_normal(NUMBERS, np.float32)
    numbers = rng.standard_normal((count, NUMBERS), np.float32)
    ids = np.empty((count, len(sizes)), np.int32)
    factors = np.empty((len(sizes), count, RANK), np.float32)
    for feature, rows in enumerate(sizes):
        frequency = np.cumsum(np.arange(1, rows + 1) ** -ZIPF)
        ids[:, feature] = np.searchsorted(frequency, frequency[-1] * rng.random(count))
        factors[feature] = planted.standard_normal((rows, RANK), np.float32)[ids[:, feature]]
    total = factors.sum(axis=0)
    pairs = np.sum(total**2 - np.sum(factors**2, axis=0), axis=1) / 2
    of_numbers = numbers @ weights
    linear = of_numbers + total[:, 0]
    logits = CLICKS + linear / linear.std() + pairs / pairs.std()
    clicks = rng.random(count) < 1 / (1 + np.exp(-logits))
    return Examples(numbers, ids, clicks.astype(np.float32), logits, of_numbers)


def initialize(sizes: Sequence[int], dimension: int, devices: int, seed: int) -> Params:
    """Tables with as many rows on each device: those without a value stay 0."""
    rng = np.random.default_rng(seed)

    def table(rows: int) -> jax.Array:
        values = (2 * rng.random((rows, dimension), np.float32) - 1) / math.sqrt(rows)
        return jaxops.pad(values, [[0, -rows % devices], [0, 0]])

    def layers(*widths: int) -> list[Params]:
        return [
            {
                "w": jnp.asarray(rng.normal(0, math.sqrt(2 / n), (n, m)), jnp.float32),
                "b": jnp.zeros(m),
            }
            for n, m in itertools.pairwise(widths)
        ]

    vectors = len(sizes) + 1
    interactions = dimension + vectors * (vectors - 1) // 2
    return {
        "tables": [table(rows) for rows in sizes],
        "bottom": layers(NUMBERS, *BOTTOM, dimension),
        "top": layers(interactions, *TOP, 1),
    }


def network(layers: list[Params], x: jax.Array) -> jax.Array:
    for layer in layers[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"][None])
    return x @ layers[-1]["w"] + layers[-1]["b"][None]


def look_up(table: jax.Array, ids: jax.Array, mesh: Mesh | None) -> jax.Array:
    if mesh is None:
        return jaxops.gather(table, ids)
    return jaxops.sharded_gather(table, ids, "d", mesh=mesh)


def logits_of(
    params: Params, numbers: jax.Array, ids: jax.Array, mesh: Mesh | None = None
) -> jax.Array:
    """With a mesh, whose devices share the tables, each device asks the owners of rows for them."""
    dense = network(params["bottom"], numbers)
    rows = [look_up(table, ids[:, n], mesh) for n, table in enumerate(params["tables"])]
    vectors = jnp.stack([dense, *rows], axis=1)
    products = jnp.einsum("bnd,bmd->bnm", vectors, vectors)
    first, second = np.tril_indices(vectors.shape[1], -1)
    features = jnp.concatenate([dense, products[:, first, second]], axis=1)
    return network(params["top"], features)[:, 0]


def loss_of(
    mesh: Mesh | None, params: Params, numbers: jax.Array, ids: jax.Array, clicks: jax.Array
) -> jax.Array:
    logits = logits_of(params, numbers, ids, mesh)
    return jnp.mean(jax.nn.softplus(logits) - clicks * logits)


def is_table(path: str, leaf: object) -> bool:
    return path.startswith("tables/")


def make_mesh(devices: Sequence[Any]) -> Mesh:
    return jax.make_mesh((len(devices),), ("d",), axis_types=(AxisType.Auto,), devices=devices)


class Training:
    """The steps, and the parameters and the optimizer's state, shared by the devices of `mesh`."""

    def __init__(self, mesh: Mesh, params: Params, learning_rate: float):
        import optax

        # The loss is a mean, so that the squares that Adagrad sums are small.
        adagrad = optax.adagrad(learning_rate, initial_accumulator_value=1e-8)
        self.optimizer = jaxops.lazy(adagrad)
        self.by_rows = NamedSharding(mesh, P("d", None))
        self.by_example, self.whole = NamedSharding(mesh, P("d")), NamedSharding(mesh, P())

        def placement(path: Any, leaf: jax.Array) -> NamedSharding:
            of_table = any(getattr(key, "key", None) == "tables" for key in path)
            return self.by_rows if of_table else self.whole

        state = params, self.optimizer.init(params)
        places = jax.tree_util.tree_map_with_path(placement, state)
        self.params, self.state = jax.device_put(state, places)
        # donated: table and state are updated where they are
        jit = functools.partial(jax.jit, donate_argnums=(0, 1), out_shardings=(*places, self.whole))
        loss = functools.partial(loss_of, mesh if mesh.size > 1 else None)
        value_and_grad = jaxops.sparse_value_and_grad(loss, tables=is_table)
        of_dense = jax.value_and_grad(functools.partial(loss_of, None))
        self.steps = {
            "sparse": jit(functools.partial(self.step, value_and_grad)),
            "dense": jit(functools.partial(self.step, of_dense)),
        }

    def step(self, value_and_grad: Callable, params: Params, state: Any, *batch: jax.Array):
        loss, grads = value_and_grad(params, *batch)
        params, state = self.optimizer.apply(grads, state, params)
        return params, state, loss

    def place(self, examples: Examples, begin: int, end: int) -> list[jax.Array]:
        arrays = examples.numbers, examples.ids, examples.clicks
        places = self.by_rows, self.by_rows, self.by_example
        return [
            jax.device_put(x[begin:end], place) for x, place in zip(arrays, places, strict=True)
        ]

    def run(self, gradients: str, batch: Sequence[jax.Array]) -> jax.Array:
        """Waits: devices made of the CPU get stuck where hundreds of steps are under way."""
        step = self.steps[gradients]
        self.params, self.state, loss = done = step(self.params, self.state, *batch)
        jax.block_until_ready(done)
        return loss


def train(training: Training, examples: Examples, batch_size: int) -> list[float]:
    """One step for each batch; returns their losses."""
    from tqdm import tqdm

    steps = len(examples.clicks) // batch_size
    losses = []
    bar = tqdm(range(steps), desc="Training", unit="step", disable=None)
    for n in bar:
        batch = training.place(examples, n * batch_size, (n + 1) * batch_size)
        losses.append(float(training.run("sparse", batch)))
        if (n + 1) % math.ceil(steps / 5) == 0:
            recent = np.mean(losses[-100:])
            bar.set_postfix(loss=f"{recent:.3f}")
            if bar.disable:
                print(f"Step {n + 1} of {steps}: loss {recent:.3f}", flush=True)
    return losses


def held_out_auc(params: Params, examples: Examples) -> float:
    """The chance that a click has a higher logit than an example without one."""
    from sklearn.metrics import roc_auc_score

    logits = jax.jit(logits_of)(params, examples.numbers, examples.ids)
    return float(roc_auc_score(examples.clicks, logits))


def step_times(
    training: Training, examples: Examples, batch_size: int, rounds: int
) -> dict[str, float]:
    """Median seconds of a step with each kind of gradients.

    They take turns of several steps, as the first one after a dense step finds no table in the
    processor's caches.
    """
    batches = [
        training.place(examples, begin, begin + batch_size)
        for begin in range(0, len(examples.clicks) - batch_size + 1, batch_size)[:STEPS_IN_TURN]
    ]
    seconds: dict[str, list[float]] = {name: [] for name in training.steps}
    for turn in range(rounds + 1):
        for name, batch in itertools.product(training.steps, batches):
            start = time.perf_counter()
            training.run(name, batch)
            if turn:  # the first compiles
                seconds[name].append(time.perf_counter() - start)
    return {name: float(np.median(times)) for name, times in seconds.items()}


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )

    def option(name: str, default: object, kind: Any, meaning: str) -> None:
        parser.add_argument(name, default=str(default), type=kind, help=meaning)

    option("--steps", 600, number(int, 1, 10**5), "training steps, each with new examples")
    option("--batch-size", 512, number(int, 1, 10**5), "examples in a training step")
    option("--max-rows", 100_000, number(int, 1, max(CRITEO)), "of a table, at most")
    option("--dimension", 16, number(int, 1, 1024), "numbers in a row of a table")
    option("--learning-rate", 0.05, number(float, 1e-6, 10), "of Adagrad")
    option("--rounds", 7, number(int, 0, 1000), "rounds of steps to time; 0: none")
    option("--devices", 1, number(int, 1, 64), "more than 1: made of the CPU")
    option("--seed", 0, number(int, 0, 2**31 - 1), "of everything random")
    return parser


def run(options: argparse.Namespace) -> None:
    from sklearn.metrics import roc_auc_score

    jax.config.update("jax_num_cpu_devices", options.devices)
    devices = jax.devices("cpu") if options.devices > 1 else jax.devices()[:1]
    mesh = make_mesh(devices)
    sizes = [min(rows, options.max_rows) for rows in CRITEO]
    count = options.steps * options.batch_size
    made = make_examples(sizes, count + HELD_OUT, options.seed)
    examples, held_out = (Examples(*(x[s] for x in made)) for s in (np.s_[:count], np.s_[count:]))
    params = initialize(sizes, options.dimension, len(devices), options.seed)
    size = sum(table.nbytes for table in params["tables"])
    print(f"{len(sizes)} tables of {sum(sizes):,} rows, {size / 1e6:.1f} MB", end="")
    print(f", on {len(devices)} devices" if len(devices) > 1 else "")
    print(f"{count:,} examples, {100 * made.clicks.mean():.0f}% of them clicks", flush=True)

    untrained = held_out_auc(params, held_out)
    training = Training(mesh, params, options.learning_rate)
    del params
    losses = train(training, examples, options.batch_size)
    last = losses[-100:]
    print(f"\nLoss: {losses[0]:.5f} in the first step, {np.mean(last):.5f} in the last {len(last)}")
    print("\nArea under the ROC curve for held-out examples (0.5 is guessing, 1 is perfect):")
    print(f"  {'trained model':<24}  {held_out_auc(training.params, held_out):.3f}")
    print(f"  {'untrained model':<24}  {untrained:.3f}")
    for name in ("of_numbers", "logits"):
        best = roc_auc_score(held_out.clicks, getattr(held_out, name))
        known = "the 13 numbers" if name == "of_numbers" else "all features"
        print(f"  best from {known:<14}  {best:.3f}")

    if options.rounds:
        seconds = step_times(training, examples, options.batch_size, options.rounds)
        print(f"\nTime of a step, the median of {options.rounds} rounds:")
        for name, value in seconds.items():
            print(f"  {1000 * value:8.2f} ms with {name} gradients")
        print(f"  dense steps take {seconds['dense'] / seconds['sparse']:.1f} times as long")


def main(argv: Sequence[str] | None = None) -> int:
    parser = make_parser()
    options = parser.parse_args(argv)
    if options.batch_size % options.devices:
        parser.error(
            f"argument --devices: received {options.devices}, expected a divisor of --batch-size, "
            f"{options.batch_size}"
        )
    rows = sum(min(rows, options.max_rows) for rows in CRITEO)
    # of tables, Adagrad's sums, dense gradients, and the updates that these make
    fitting = TABLES_LIMIT // (4 * 4 * options.dimension)
    if rows > fitting:
        parser.error(
            f"argument --max-rows: received {options.max_rows}, expected one that leaves at most "
            f"{fitting:,} rows of --dimension {options.dimension}, and not {rows:,}"
        )
    try:
        run(options)
    except ModuleNotFoundError as error:
        parser.exit(1, f"{parser.prog}: {error}; try: pip install '.[examples]'\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
