"""Aligns two scans of a room, by gradients through a scatter into a grid.

Each scan is a cloud of points on walls, tables and pillars. The second scan was taken from another
place in the room, so it is turned and shifted. Each point contributes to the four cells around it,
in proportion to its nearness, and `jaxops.scatter_nd` adds these shares. The result is a picture of
the room from above, whose gradient by the points is a `jaxops.gather`. Gradient descent turns and
shifts the second scan until its picture matches the first. The table shows the remaining error.

Three scatters, of counts, sums and maxima, make the usual height map of a cloud, and a loop in
NumPy checks them. A point beyond the grid is an error on a CPU; `mode="fill"` ignores it, on every
device.

    python examples/point_cloud.py
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax
from tqdm import tqdm

import jaxops

GRID, SIDE = 96, 16.0  # cells, metres
TURN, SHIFT = 0.25, np.array([0.9, -0.6], np.float32)  # radians, metres: the truth
POINTS = 40_000

Array = jax.Array | np.ndarray


def make_scan(rng: np.random.Generator) -> np.ndarray:
    """Points `[POINTS, 3]` on things in a room, in metres from its middle."""
    boxes = [(-4.5, -3.5, 9.0, 0.1, 2.5), (-4.5, -3.5, 0.1, 7.0, 2.5), (4.4, -3.5, 0.1, 5.0, 2.5)]
    boxes += [(-3.5, 1.0, 2.4, 1.2, 0.8), (0.5, -2.5, 1.2, 2.4, 0.8), (2.5, 2.0, 0.4, 0.4, 2.5)]
    boxes += [(-0.2, 2.2, 0.4, 0.4, 2.5)]
    x, y, width, depth, height = np.array(boxes)[rng.integers(0, len(boxes), POINTS)].T
    u, v, w = rng.uniform(0, 1, (3, POINTS))
    points = np.stack([x + u * width, y + v * depth, w * height], axis=1)
    return (points + rng.normal(0, 0.02, points.shape)).astype(np.float32)


def cells_of(places: Array) -> Array:
    """Places in metres `[..., 2]` as places in the grid, of which the whole part is the cell."""
    return (places / SIDE + 0.5) * GRID


def turned(points: Array, turn: Array | float, shift: Array) -> Array:
    cos, sin = jnp.cos(turn), jnp.sin(turn)
    return points @ jnp.array([[cos, sin], [-sin, cos]]) + shift


def splat(places: Array) -> jax.Array:
    """How many points lie in each cell `[GRID, GRID]`, where each counts in four cells."""
    cells = cells_of(places) - 0.5
    lower = jnp.floor(cells)
    share = cells - lower  # of the upper neighbour, along each axis
    corners = jnp.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    shares = jnp.prod(jnp.where(corners == 1, share[:, None], 1 - share[:, None]), axis=-1)
    return jaxops.scatter_nd(lower.astype(int)[:, None] + corners, shares, [GRID, GRID])


def blur(picture: jax.Array, width: float) -> jax.Array:
    """With wide blur a descent sees things that are far apart."""
    offsets = jnp.arange(GRID)[:, None] - jnp.arange(GRID)
    kernel = jnp.exp(-0.5 * (offsets / width) ** 2) / (width * np.sqrt(2 * np.pi))
    return kernel @ picture @ kernel


def align(first: np.ndarray, second: np.ndarray, steps: int) -> dict[str, jax.Array]:
    """The turn and the shift that lay the points `second` `[n, 2]` over `first`."""
    optimizer = optax.adam(optax.cosine_decay_schedule(0.03, steps))
    params = {"turn": jnp.zeros(()), "shift": jnp.zeros(2)}
    state = optimizer.init(params)

    @jax.jit
    def step(params, state, width):
        target = blur(splat(first), width)

        def loss(params):
            difference = blur(splat(turned(second, **params)), width) - target
            return jnp.sum(difference**2) / jnp.sum(target**2)

        value, grads = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(params, updates), state, value

    widths = np.geomspace(8, 0.7, steps)
    for width in tqdm(widths, desc="Laying over", disable=None):
        params, state, _ = step(params, state, width)
    return params


@jax.jit
def map_of_heights(points: Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Count, mean and largest height of the points `[n, 3]` in each cell."""
    cells, heights = jnp.floor(cells_of(points[:, :2])).astype(int), points[:, 2]
    count = jaxops.scatter_nd(cells, jnp.ones_like(heights), [GRID, GRID])
    mean = jaxops.scatter_nd(cells, heights, [GRID, GRID]) / jnp.maximum(count, 1)
    largest = jaxops.tensor_scatter_nd_max(jnp.zeros_like(count), cells, heights)
    return count, mean, largest


def check_map(points: np.ndarray) -> None:
    count, total, largest = np.zeros((3, GRID, GRID))
    cells = np.floor(cells_of(points[:, :2])).astype(int)
    for (row, col), height in zip(cells, points[:, 2], strict=True):
        count[row, col] += 1
        total[row, col] += height
        largest[row, col] = max(largest[row, col], height)
    expected = count, total / np.maximum(count, 1), largest
    for ours, looped in zip(map_of_heights(points), expected, strict=True):
        np.testing.assert_allclose(ours, looped, rtol=1e-4, atol=1e-5)


def draw(first: np.ndarray, second: np.ndarray, params, output: Path) -> None:
    figure, panels = plt.subplots(1, 3, figsize=(10, 3.5), layout="constrained")
    places = {"as scanned": second[:, :2], "laid over": turned(second[:, :2], **params)}
    for panel, (name, of_second) in zip(panels, places.items(), strict=False):
        of_first, of_second = (np.tanh(splat(x) / 20) for x in (first[:, :2], of_second))
        # The first scan takes red from white, the second blue, both together all.
        colors = [1 - of_first, 1 - np.maximum(of_first, of_second), 1 - of_second]
        panel.imshow(np.stack(colors, axis=-1), origin="lower")
        panel.set_title(name)
    _, _, largest = map_of_heights(first)
    shown = panels[2].imshow(largest, origin="lower", cmap="viridis")
    panels[2].set_title("largest height, metres")
    figure.colorbar(shown, ax=panels[2])
    for panel in panels:
        panel.set(xticks=[], yticks=[], xlim=(18, 86), ylim=(10, 78))
    figure.savefig(output, dpi=110)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--steps", type=int, default=150, help="steps of the descent")
    parser.add_argument("--output", type=Path, default=Path("build/point_cloud.png"))
    options = parser.parse_args(argv)

    rng = np.random.default_rng(0)
    first, second = make_scan(rng), make_scan(rng)
    second[:, :2] = turned(second[:, :2] - SHIFT, -TURN, np.zeros(2))
    check_map(first)
    print(f"The map of {POINTS:,} points is that of a loop in NumPy.")

    params = align(first[:, :2], second[:, :2], options.steps)
    print("\n            turn, degrees  shift, metres")
    rows = {"truth": (TURN, SHIFT), "found": (params["turn"], params["shift"])}
    for name, (turn, shift) in rows.items():
        print(f"  {name}  {np.rad2deg(turn):>17.2f}  {shift[0]:>6.3f} {shift[1]:.3f}")
    belongs = turned(second[:, :2], TURN, SHIFT)
    found = turned(second[:, :2], **params)
    before, after = (
        np.linalg.norm(places - belongs, axis=1).mean() for places in (second[:, :2], found)
    )
    print("\nMean distance of points from where they belong:")
    print(f"  before {before:.3f} m, after {after:.3f} m")

    try:
        jaxops.scatter_nd([[3, GRID]], [1.0], [GRID, GRID])
    except IndexError as error:
        print(f"\nBeyond the grid: {str(error).partition(' at ')[0]}")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    draw(first, second, params, options.output)
    print(f"\nPicture: {options.output}")


if __name__ == "__main__":
    main()
