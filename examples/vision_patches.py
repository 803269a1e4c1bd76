"""Trains a vision transformer on handwritten digits, of which it sees only some patches.

The 1,797 digits that come with scikit-learn have 8 by 8 pixels, here cut into 16 patches. In
training, each digit of a batch shows 8 random patches, drawn anew in each step. Fewer patches make
a transformer faster, and keep it from memorizing (Liu et al., 2022). The table shows the share of
recognized digits among those not trained on, by the number of visible patches, beside the share of
a linear model that reads the same pixels.

`jaxops.extract_patches` cuts the images, and `jaxops.depth_to_space` joins patches to images. Each
image shows other patches: `jaxops.gather` with `batch_dims=1` reads them, and another
`jaxops.gather` reads the vectors of their places from one table. For the picture,
`jaxops.tensor_scatter_nd_update` under `jax.vmap` puts patches back at their places.

    python examples/vision_patches.py
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
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from tqdm import tqdm

import jaxops

SIDE, PATCH = 8, 2  # pixels
PATCHES, NUMBERS = (SIDE // PATCH) ** 2, PATCH**2
WIDTH, LAYERS, HEADS, BATCH_SIZE, UNSEEN = 32, 2, 4, 128, 497

Params = dict[str, jax.Array]


def to_patches(images: np.ndarray) -> jax.Array:
    """`[n, 8, 8]` to `[n, PATCHES, NUMBERS]`."""
    sizes = [1, PATCH, PATCH, 1]
    patches = jaxops.extract_patches(images[..., None], sizes, sizes, [1, 1, 1, 1], "VALID")
    return patches.reshape(len(images), PATCHES, NUMBERS)


def to_images(patches: jax.Array) -> jax.Array:
    side = SIDE // PATCH
    return jaxops.depth_to_space(patches.reshape(-1, side, side, NUMBERS), PATCH)[..., 0]


def choose(rng: np.random.Generator, images: int, count: int) -> np.ndarray:
    """For each image the numbers of the patches that are seen `[images, count]`."""
    return rng.permuted(np.tile(np.arange(PATCHES), (images, 1)), axis=1)[:, :count]


@jax.jit
def only_seen(patches: jax.Array, seen: jax.Array) -> jax.Array:
    """Images `[n, 8, 8]` of the patches seen; the pixels of all others are not numbers."""
    read = jaxops.gather(patches, seen, batch_dims=1)
    nothing = jnp.full_like(patches, jnp.nan)
    return to_images(jax.vmap(jaxops.tensor_scatter_nd_update)(nothing, seen[..., None], read))


def initialize(rng: np.random.Generator) -> Params:
    shapes = {"first": (NUMBERS, WIDTH), "last": (WIDTH, 10), "places": (PATCHES, WIDTH)}
    shapes |= {"to_qkv": (LAYERS, WIDTH, 3 * WIDTH), "from_heads": (LAYERS, WIDTH, WIDTH)}
    shapes |= {"wide": (LAYERS, WIDTH, 2 * WIDTH), "narrow": (LAYERS, 2 * WIDTH, WIDTH)}
    return {
        name: jnp.asarray(rng.normal(size=shape) / np.sqrt(shape[-2]), jnp.float32)
        for name, shape in shapes.items()
    }


@jax.jit
def scores_of(params: Params, patches: jax.Array, seen: jax.Array) -> jax.Array:
    """Log-probabilities of the digits `[n, 10]`, from the patches with the numbers `seen`."""
    read = jaxops.gather(patches, seen, batch_dims=1)
    tokens = read @ params["first"] + jaxops.gather(params["places"], seen)
    for n in range(LAYERS):
        heads = jax.nn.standardize(tokens) @ params["to_qkv"][n]
        query, key, value = jnp.moveaxis(heads.reshape(*seen.shape, 3, HEADS, -1), 2, 0)
        heard = jax.nn.dot_product_attention(query, key, value).reshape(tokens.shape)
        tokens += heard @ params["from_heads"][n]
        wide = jax.nn.gelu(jax.nn.standardize(tokens) @ params["wide"][n])
        tokens += wide @ params["narrow"][n]
    return jax.nn.log_softmax(jax.nn.standardize(tokens).mean(axis=1) @ params["last"])


def flat(images: jax.Array) -> np.ndarray:
    """Pixels as the linear model reads them: 0 where they are not seen."""
    return np.nan_to_num(images).reshape(len(images), -1)


def train(patches: np.ndarray, digits: np.ndarray, steps: int) -> Params:
    rng = np.random.default_rng(0)
    params = initialize(rng)
    optimizer = optax.adam(optax.cosine_decay_schedule(5e-3, steps))
    state = optimizer.init(params)

    @jax.jit
    def step(params, state, batch, seen):
        def loss(params):
            scores = scores_of(params, jaxops.gather(patches, batch), seen)
            return -jaxops.gather(scores, jaxops.gather(digits, batch), batch_dims=1).mean()

        value, grads = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(params, updates), state, value

    for _ in tqdm(range(steps), desc="Training", disable=None):
        batch = rng.choice(len(patches), BATCH_SIZE)
        params, state, _ = step(params, state, batch, choose(rng, BATCH_SIZE, PATCHES // 2))
    return params


def draw(images: jax.Array, guesses: jax.Array, digits: np.ndarray, output: Path) -> None:
    figure, panels = plt.subplots(2, 10, figsize=(9, 2.2), layout="constrained")
    for panel, image, guess, digit in zip(panels.flat, images, guesses, digits, strict=False):
        panel.imshow(image, cmap="gray_r", vmin=0, vmax=1)
        panel.set_title(guess, color="#2e8b57" if guess == digit else "#d1495b", size=12)
        panel.set(xticks=[], yticks=[], facecolor="#b9cbe4")
    figure.savefig(output, dpi=120)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--steps", type=int, default=450, help="training steps")
    parser.add_argument("--output", type=Path, default=Path("build/vision_patches.png"))
    options = parser.parse_args(argv)

    images, digits = load_digits(return_X_y=True)
    images = (images / images.max()).reshape(-1, SIDE, SIDE).astype(np.float32)
    patches = to_patches(images)
    np.testing.assert_array_equal(to_images(patches), images)
    (unseen, training), (expected, labels) = (np.split(x, [UNSEEN]) for x in (patches, digits))
    params = train(training, labels, options.steps)

    rng = np.random.default_rng(1)
    half = only_seen(training, choose(rng, len(training), PATCHES // 2))
    linear = LogisticRegression(max_iter=300).fit(flat(half), labels)
    print(f"Digits recognized, of {UNSEEN} that were not trained on:")
    print("  patches seen  transformer  linear model")
    for count in (PATCHES, 12, 8, 4):
        seen = choose(rng, UNSEEN, count)
        guesses = scores_of(params, unseen, seen).argmax(axis=1)
        of_linear = linear.predict(flat(only_seen(unseen, seen)))
        right, of_linear_right = np.mean(guesses == expected), np.mean(of_linear == expected)
        print(f"  {count:>12}  {right:>11.1%}  {of_linear_right:>12.1%}")
        if count == PATCHES // 2:
            options.output.parent.mkdir(parents=True, exist_ok=True)
            draw(only_seen(unseen, seen), guesses, expected, options.output)
    print(f"\nGuesses from {PATCHES // 2} patches: {options.output}")


if __name__ == "__main__":
    main()
