"""Paints a photograph with eight small networks, each of which gets the pixels it paints best.

This is a mixture of experts (Shazeer et al., 2017; Fedus et al., 2021). A gate sends each pixel, by
its place in the photograph, to one of eight networks, which computes the colour. The model has the
weights of eight networks and the arithmetic of one. The table shows its error beside that of a
single network of the same width. It also compares the time of a training step with the plain way,
in which all eight networks compute all pixels and one result is selected. The script first checks
that both ways give the same numbers.

`jaxops.dynamic_partition` distributes the pixels. `size=` fixes the number of places of an expert,
so the shapes are known at compile time. `jaxops.dynamic_stitch` restores the order of the pixels.
Pixels without a place are dropped with `return_size=True`, which also returns their number; without
it they are an error.

    python examples/mixture_of_experts.py
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax
from sklearn.datasets import load_sample_image
from tqdm import tqdm

import jaxops

EXPERTS, WIDTH, WAVES, BATCH_SIZE = 8, 32, 16, 4096
SLACK = 1.5  # places for each expert, in pixels that it had if all had as many
BALANCE = 0.01  # weight of the loss that keeps the experts equally busy
OPTIMIZER = optax.adam(5e-3)

Params = dict[str, jax.Array]


def initialize(experts: int) -> Params:
    rng = np.random.default_rng(0)
    shapes = {"gate": (2 * WAVES, experts), "first": (experts, 2 * WAVES, WIDTH)}
    shapes |= {"second": (experts, WIDTH, WIDTH), "last": (experts, WIDTH, 3)}
    return {
        name: jnp.asarray(rng.normal(size=shape) / np.sqrt(shape[-2]), jnp.float32)
        for name, shape in shapes.items()
    }


def features_of(places: jax.Array) -> jax.Array:
    """Waves of several lengths and directions, of places `[n, 2]` in a square of side 1."""
    directions = np.random.default_rng(1).normal(0, 25, (2, WAVES)).astype(np.float32)
    return jnp.concatenate([jnp.sin(places @ directions), jnp.cos(places @ directions)], axis=1)


def expert(params: Params, features: jax.Array) -> jax.Array:
    """What one network makes of features `[n, 2 * WAVES]`: colours `[n, 3]`."""
    hidden = jnp.tanh(features @ params["first"])
    return jnp.tanh(hidden @ params["second"]) @ params["last"]


def room(pixels: int, experts: int) -> int:
    """Places for the pixels of each expert."""
    return min(pixels, round(SLACK * pixels / experts))


def dealt(experts: Params, features: jax.Array, chosen: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Each expert computes the pixels that chose it: colours `[n, 3]`, and how many chose each."""
    n, count = len(features), len(experts["first"])
    deal = functools.partial(
        jaxops.dynamic_partition,
        partitions=chosen,
        num_partitions=count,
        size=room(n, count),
        return_size=True,
    )
    inputs, loads = deal(features)
    colors = jax.vmap(expert)(experts, jnp.stack(inputs))
    # A place without a pixel has the number n, which is none and so is left out.
    numbers, _ = deal(jnp.arange(n), fill_value=n)
    return jaxops.dynamic_stitch(numbers, [*colors], size=n, mode="fill"), loads


def computed_by_all(experts: Params, features: jax.Array, chosen: jax.Array):
    """The same from all experts for all pixels, of which one is read for each pixel."""
    colors = jax.vmap(expert, in_axes=(0, None))(experts, features)
    loads = jaxops.unsorted_segment_sum(jnp.ones_like(chosen), chosen, len(colors))
    return jaxops.gather(colors.swapaxes(0, 1), chosen, batch_dims=1), loads


def mixture(params: Params, places: jax.Array, compute: Callable):
    """Colours `[n, 3]`, the gate's shares `[n, experts]`, the expert of each pixel, loads."""
    features = features_of(places)
    shares = jax.nn.softmax(features @ params["gate"])
    chosen = shares.argmax(axis=1)
    experts = {name: x for name, x in params.items() if name != "gate"}
    colors, loads = compute(experts, features, chosen)
    share = jaxops.gather(shares, chosen, batch_dims=1)  # through which the gate learns
    return jax.nn.sigmoid(colors * share[:, None]), shares, chosen, loads


@functools.partial(jax.jit, static_argnames="compute")
def paint(params: Params, places: jax.Array, compute: Callable):
    colors, _, chosen, loads = mixture(params, places, compute)
    return colors, chosen, loads


@functools.partial(jax.jit, static_argnames="compute")
def train_step(params: Params, state, places: jax.Array, target: jax.Array, compute: Callable):
    def loss(params):
        colors, shares, _, loads = mixture(params, places, compute)
        # Least where all experts are equally busy, as in Switch Transformers.
        busy = jnp.sum(loads / len(places) * shares.mean(axis=0)) * len(loads)
        return jnp.mean((colors - target) ** 2) + BALANCE * busy

    value, grads = jax.value_and_grad(loss)(params)
    updates, state = OPTIMIZER.update(grads, state)
    return optax.apply_updates(params, updates), state, value


def train(places: np.ndarray, pixels: np.ndarray, experts: int, steps: int) -> Params:
    rng, params = np.random.default_rng(0), initialize(experts)
    state = OPTIMIZER.init(params)
    for _ in tqdm(range(steps), desc=f"Training, {experts} of {EXPERTS} experts", disable=None):
        batch = rng.integers(0, len(pixels), BATCH_SIZE)
        params, state, _ = train_step(params, state, places[batch], pixels[batch], dealt)
    return params


def seconds_of_a_step(params: Params, places, pixels, compute: Callable) -> float:
    """The median of 20 steps, after one that compiles."""
    state, times = OPTIMIZER.init(params), []
    for _ in range(21):
        start = time.perf_counter()
        batch = places[:BATCH_SIZE], pixels[:BATCH_SIZE]
        jax.block_until_ready(train_step(params, state, *batch, compute))
        times.append(time.perf_counter() - start)
    return float(np.median(times[1:]))


def draw(shown: dict[str, np.ndarray], output: Path) -> None:
    figure, panels = plt.subplots(2, 2, figsize=(9, 6.2), layout="constrained")
    for panel, (name, image) in zip(panels.flat, shown.items(), strict=True):
        panel.imshow(image, cmap="Set2" if image.shape[2] == 1 else None)
        panel.set_title(name)
        panel.set_axis_off()
    figure.savefig(output, dpi=100)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--steps", type=int, default=500, help="training steps")
    parser.add_argument("--output", type=Path, default=Path("build/mixture_of_experts.png"))
    options = parser.parse_args(argv)

    photograph = load_sample_image("flower.jpg")[:416, :640].astype(np.float32)
    photograph = photograph.reshape(104, 4, 160, 4, 3).mean((1, 3)) / 255
    rows, cols = photograph.shape[:2]
    places = np.indices((rows, cols)).reshape(2, -1).T.astype(np.float32) / cols
    pixels = photograph.reshape(-1, 3)

    single = train(places, pixels, 1, options.steps)
    params = train(places, pixels, EXPERTS, options.steps)
    colors, chosen, loads = paint(params, places, dealt)
    expected, _, _ = paint(params, places, computed_by_all)
    dropped = len(places) - np.minimum(loads, room(len(places), EXPERTS)).sum()
    assert dropped == 0, "there is too little SLACK for the comparison"
    np.testing.assert_allclose(colors, expected, rtol=0, atol=1e-5)
    print(f"Both ways give all {len(places):,} pixels the same colours; of an expert's pixels:")
    print(f"  {loads.min():,} at least, {loads.max():,} at most; none was dropped")

    of_single, _, _ = paint(single, places, dealt)
    print("\n                    mean square error  ms per training step")
    for name, guess, net, compute in (
        ("one network", of_single, single, dealt),
        ("eight, pixels dealt", colors, params, dealt),
        ("eight, all compute", expected, params, computed_by_all),
    ):
        error = np.mean((guess - pixels) ** 2)
        milliseconds = 1000 * seconds_of_a_step(net, places, pixels, compute)
        print(f"  {name:<20} {error:>14.5f}  {milliseconds:>20.2f}")

    options.output.parent.mkdir(parents=True, exist_ok=True)
    shown = {"photograph": pixels, "one network": of_single, "eight": colors, "expert": chosen}
    draw({name: np.reshape(x, (rows, cols, -1)) for name, x in shown.items()}, options.output)
    print(f"\nPicture: {options.output}")


if __name__ == "__main__":
    main()
