"""Completes words by beam search, and compares the results with all possible completions.

A recurrent network learns to spell the words of Python's documentation, letter by letter. Given the
beginning of a word, beam search keeps the `width` likeliest continuations, extends each by every
letter, and keeps the best again. The network is small enough to score all 27^3 completions of three
letters (the 27th letter is the blank after a word). So the table can say how often a beam finds the
likeliest completion. A beam of width 27^2 drops nothing, and must always find it.

Each step of the search has a batched gather, which reads the parent of each new beam. `jax.vmap`
turns a search for one word into a search for many. In the training step `jaxops.gather` with
`batch_dims=2` picks, at each place of each word, the score of the next letter.

    python examples/beam_search.py
"""

from __future__ import annotations

import argparse
import functools
import itertools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tqdm import tqdm
from word_embeddings import read_paragraphs

import jaxops

LETTERS = " abcdefghijklmnopqrstuvwxyz"
GIVEN, SEARCHED = 2, 3  # letters of the beginning, letters to find
LONGEST, WIDTH, BATCH_SIZE = 10, 64, 128
OPTIMIZER = optax.adam(0.005)


def read_words() -> np.ndarray:
    """Indices of letters `[words, LONGEST + 1]`, each word with blanks behind."""
    words = {word for paragraph in read_paragraphs() for word in paragraph}
    plain = sorted(w for w in words if set(w) <= set(LETTERS) and GIVEN < len(w) <= LONGEST)
    return np.array([[LETTERS.index(x) for x in word.ljust(LONGEST + 1)] for word in plain])


def initialize(rng: np.random.Generator) -> dict[str, jax.Array]:
    n = len(LETTERS)
    shapes = {"letters": (n, WIDTH), "gates": (2 * WIDTH, 2 * WIDTH), "last": (WIDTH, n)}
    return {
        name: jnp.asarray(rng.normal(size=shape) / np.sqrt(shape[0]), jnp.float32)
        for name, shape in shapes.items()
    }


def read_letter(params, state: jax.Array, letter: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The state `[..., WIDTH]` after a letter `[...]`, and log-probabilities of the next letter."""
    inputs = jnp.concatenate([state, jaxops.gather(params["letters"], letter)], axis=-1)
    gate, new = jaxops.split(inputs @ params["gates"], 2, axis=-1)
    gate = jax.nn.sigmoid(gate)
    state = gate * state + (1 - gate) * jnp.tanh(new)
    return state, jax.nn.log_softmax(state @ params["last"])


def read(params, letters: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Reads a blank, then letters `[words, length]`; log-probabilities `[words, length + 1, n]`."""
    padded = jaxops.pad(letters, [[0, 0], [1, 0]])
    start = jnp.zeros((len(letters), WIDTH))
    state, scores = jax.lax.scan(functools.partial(read_letter, params), start, padded.T)
    return state, scores.swapaxes(0, 1)


@jax.jit
def train_step(params, optimizer_state, words: jax.Array):
    def loss(params):
        _, scores = read(params, words[:, :-1])
        return -jaxops.gather(scores, words, batch_dims=2).mean()

    value, grads = jax.value_and_grad(loss)(params)
    updates, optimizer_state = OPTIMIZER.update(grads, optimizer_state)
    return optax.apply_updates(params, updates), optimizer_state, value


@functools.partial(jax.jit, static_argnames="width")
@functools.partial(jax.vmap, in_axes=(None, 0, 0, None))
def beam_search(params, state: jax.Array, scores: jax.Array, width: int):
    """The best ends of one beginning: letters `[beams, SEARCHED]` and their log-probabilities."""
    states, totals, scores = state[None], jnp.zeros(1), scores[None]
    letters = jnp.zeros((1, 0), jnp.int32)
    for _ in range(SEARCHED):
        candidates = totals[:, None] + scores  # [beams, letters of the alphabet]
        totals, chosen = jax.lax.top_k(candidates.ravel(), min(width, candidates.size))
        beam, letter = jaxops.unravel_index(chosen, candidates.shape)
        letters = jaxops.concat([jaxops.gather(letters, beam), letter[:, None]], axis=1)
        states, scores = read_letter(params, jaxops.gather(states, beam), letter)
    return letters, totals


@jax.jit
def score_all(params, beginning: jax.Array, ends: jax.Array) -> jax.Array:
    """Log-probabilities `[ends]` of all ends `[ends, SEARCHED]` of one beginning `[GIVEN]`."""
    words = jnp.concatenate([jnp.broadcast_to(beginning, (len(ends), GIVEN)), ends], axis=1)
    _, scores = read(params, words[:, :-1])
    return jaxops.gather(scores, words, batch_dims=2)[:, GIVEN:].sum(axis=1)


def text(letters: jax.Array | np.ndarray) -> str:
    return "".join(LETTERS[i] for i in np.asarray(letters))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--steps", type=int, default=800, help="training steps")
    options = parser.parse_args(argv)

    rng = np.random.default_rng(0)
    words, params = read_words(), initialize(rng)
    optimizer_state, value = OPTIMIZER.init(params), jnp.inf
    for _ in tqdm(range(options.steps), desc="Training", disable=None):
        batch = rng.choice(words, BATCH_SIZE)
        params, optimizer_state, value = train_step(params, optimizer_state, batch)
    print(f"{len(words):,} words, whose letters the network gives {np.exp(-value):.2f} in the mean")

    beginnings = rng.permutation(np.unique(words[:, :GIVEN], axis=0))[:16]
    state, scores = read(params, jnp.asarray(beginnings))
    ends = np.array([*itertools.product(range(len(LETTERS)), repeat=SEARCHED)])
    progress = tqdm(beginnings, desc="All ends", disable=None)
    every = np.stack([score_all(params, beginning, ends) for beginning in progress])
    print(f"\nOf {len(beginnings)} beginnings, each with {len(ends):,} ends:")
    print("  width  likeliest end found  log-probability lost")
    for width in (1, 2, 4, 8, len(LETTERS) ** (SEARCHED - 1)):
        letters, totals = beam_search(params, state, scores[:, -1], width)
        lost = every.max(axis=1) - totals[:, 0]
        print(f"  {width:>5}  {np.mean(lost < 1e-4):>19.0%}  {abs(lost.mean()):>20.3f}")
    np.testing.assert_allclose(totals[:, 0], every.max(axis=1), rtol=0, atol=1e-4)

    print("\nThe likeliest ends, by the widest beam:")
    for beginning, found in list(zip(beginnings, letters, strict=True))[:6]:
        ends_found = (text(np.append(beginning, end)).strip() for end in found[:5])
        print(f"  {text(beginning)}:  {', '.join(ends_found)}")


if __name__ == "__main__":
    main()
