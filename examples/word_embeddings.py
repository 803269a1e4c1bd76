"""Learns the meaning of words in Python's documentation from their neighbours.

Trains skip-gram word embeddings with negative sampling (Mikolov et al., 2013) on the text behind
`help("topics")`, which comes with every Python. The script prints how well the embeddings separate
held-out pairs of neighbours from pairs that never meet, the nearest words of a few words and the
training speed, and draws a map of the frequent words. It takes about a minute on two CPU cores,
where a run is repeatable.

    python examples/word_embeddings.py
    python examples/word_embeddings.py --help

A step looks up a few thousand vectors. `jaxops.sparse_value_and_grad` makes gradients of these rows
only, and `jaxops.lazy` updates only them, so a step does not depend on the size of the tables. Two
runs with tables of a million rows show the difference to dense gradients:

    python examples/word_embeddings.py --vocab 1000000 --window 1 --epochs 1
    python examples/word_embeddings.py --vocab 1000000 --window 1 --epochs 1 --gradients dense
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import math
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

import jaxops

HELD_OUT_FRACTION = 0.05
FREQUENT = 1e-3  # words above this share of the text are thinned out, as in word2vec
NOISE_POWER = 0.75  # negatives are drawn in proportion to count ** NOISE_POWER, as in word2vec
TABLES_LIMIT = 2**33  # bytes, of what training keeps of the tables' size
QUERIES = ("list", "exception", "string", "float", "import", "loop", "async", "key", "__add__")


def number(kind: type, low: float, high: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            noun = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(
                f"received {text!r}, expected {noun} from {low} to {high}"
            )
        return value

    return parse


def one_of(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            raise argparse.ArgumentTypeError(f"received {text!r}, expected {' or '.join(words)}")
        return text

    return parse


def picture_path(text: str) -> str:
    """Finds out before training, not after, whether the picture can be written."""
    path = Path(text)
    try:
        if path.suffix.lower() != ".png":
            raise OSError("its name does not end in .png")
        path.parent.mkdir(parents=True, exist_ok=True)
        exists = path.exists()
        with path.open("ab"):  # keeps what is there
            pass
        if not exists:
            path.unlink()
    except (OSError, ValueError) as error:  # ValueError: a null character
        reason = getattr(error, "strerror", None) or error
        raise argparse.ArgumentTypeError(
            f"received {text!r}, expected the path of a .png file that can be written: {reason}"
        ) from None
    return text


def option(default: object, parse: Callable[[str], object], meaning: str) -> Any:
    return dataclasses.field(default=default, metadata={"type": parse, "help": meaning})


@dataclasses.dataclass(frozen=True)
class Settings:
    """The options of the command line."""

    dimension: int = option(128, number(int, 1, 4096), "numbers in a word's vector")
    window: int = option(10, number(int, 1, 100), "how many words apart neighbours may stand")
    negatives: int = option(5, number(int, 1, 1000), "noise words for every pair of neighbours")
    epochs: int = option(30, number(int, 1, 100_000), "passes over the text")
    batch_size: int = option(512, number(int, 1, 10**6), "pairs of neighbours in a training step")
    learning_rate: float = option(0.3, number(float, 1e-6, 100), "at first; it falls linearly")
    weight_decay: float = option(0.02, number(float, 0, 10), "pull of vectors in use to zero")
    min_count: int = option(3, number(int, 1, 10**6), "leave out words that occur less often")
    gradients: str = option("sparse", one_of("sparse", "dense"), "of the tables: sparse or dense")
    vocab: int = option(
        0, number(int, 0, 10**9), "rows of each table, most for words that never occur; 0: no such"
    )
    map_words: int = option(200, number(int, 20, 500), "words on the map")
    seed: int = option(0, number(int, 0, 2**31 - 1), "of everything random")
    output: str = option("build/word_map.png", picture_path, "the picture to write")


class SettingError(ValueError):
    """A setting that does not fit the text."""


class Corpus(NamedTuple):
    """Words by falling frequency, and every two of them that stand within a window."""

    words: list[str]
    counts: np.ndarray  # [words]
    pairs: np.ndarray  # [pairs, 2], indices of words, the earlier one first


class HeldOut(NamedTuple):
    """Pairs for the test: neighbours kept from training, and pairs that are never neighbours."""

    true_pairs: np.ndarray  # [n, 2]
    false_pairs: np.ndarray  # [n, 2]; the same words equally often, with other partners


class Embeddings(NamedTuple):
    """Two vectors per word: for its part as the centre of a window, and as the context."""

    center: jax.Array  # [words, dimension]
    context: jax.Array  # [words, dimension]


class TrainingState(NamedTuple):
    embeddings: Embeddings
    optimizer: Any


class Speed(NamedTuple):
    compilation: float  # seconds
    training: float  # seconds, without compilation
    steps: int


def read_paragraphs() -> list[list[str]]:
    """Words of two letters or more, by paragraph; what several topics repeat is read once."""
    text = "\n\n".join(topics.values()).lower()
    paragraphs = dict.fromkeys(" ".join(p.split()) for p in re.split(r"\n\s*\n", text))
    return [re.findall(r"\b[a-z_][a-z0-9_]+(?:['\u2019]t\b)?", p) for p in paragraphs]


def build_corpus(paragraphs: Sequence[Sequence[str]], min_count: int, window: int) -> Corpus:
    counter = Counter(word for paragraph in paragraphs for word in paragraph)
    words = [word for word, count in counter.most_common() if count >= min_count]
    index = {word: i for i, word in enumerate(words)}
    known = [[index[word] for word in p if word in index] for p in paragraphs]
    tokens = np.array([i for p in known for i in p], np.int32)
    paragraph = np.repeat(np.arange(len(known)), [len(p) for p in known])
    pairs = [np.empty((0, 2), np.int32)]
    for distance in range(1, min(window, len(tokens) - 1) + 1):
        together = paragraph[distance:] == paragraph[:-distance]
        pairs.append(np.stack([tokens[:-distance], tokens[distance:]], axis=1)[together])
    return Corpus(words, np.array([counter[word] for word in words]), np.concatenate(pairs))


def hold_out(corpus: Corpus, settings: Settings) -> tuple[np.ndarray, HeldOut]:
    """Splits the pairs before training: the pairs to train on, and a test.

    A held-out pair of words is kept from training wherever it occurs, in either order. Each false
    pair is made by exchanging the partners of two held-out pairs, so that every word is in as many
    false pairs as in true ones, and how frequent a word is tells nothing.
    """
    rng = np.random.default_rng(settings.seed)
    size = len(corpus.words)
    ones = np.ones(len(corpus.pairs), np.int32)
    together = np.asarray(jaxops.scatter_nd(corpus.pairs, ones, [size, size]))
    together = together + together.T
    distinct = np.argwhere(np.triu(together, k=1))
    held = rng.permutation(distinct)[: int(HELD_OUT_FRACTION * len(distinct))]
    is_held = np.zeros((size, size), bool)
    is_held[tuple(held.T)] = True
    is_held |= is_held.T
    training_pairs = corpus.pairs[~is_held[tuple(corpus.pairs.T)]]

    never_together = (together == 0) & ~np.eye(size, dtype=bool)
    held = rng.permuted(held, axis=1)  # indices fall with frequency; partners must not
    true_pairs, false_pairs = [held[:0]], [held[:0]]
    for _ in range(50):  # what still finds no partner then stands near almost every word
        held = rng.permutation(held)
        one, two = np.array_split(held[: len(held) // 2 * 2], 2)
        crossed = np.stack([one[:, 0], two[:, 1]], 1), np.stack([two[:, 0], one[:, 1]], 1)
        good = never_together[tuple(crossed[0].T)] & never_together[tuple(crossed[1].T)]
        true_pairs += [one[good], two[good]]
        false_pairs += [crossed[0][good], crossed[1][good]]
        held = np.concatenate([one[~good], two[~good], held[len(held) // 2 * 2 :]])
    if not any(map(len, true_pairs)):
        raise SettingError(
            f"argument --window: received {settings.window} (with --min-count "
            f"{settings.min_count}), expected one that leaves words which are never neighbours"
        )
    return training_pairs, HeldOut(np.concatenate(true_pairs), np.concatenate(false_pairs))


def initialize(words: int, settings: Settings) -> Embeddings:
    shape = words, settings.dimension
    tables = [
        jax.random.uniform(key, shape, minval=-0.5, maxval=0.5) / settings.dimension
        for key in jax.random.split(jax.random.key(settings.seed))
    ]
    return Embeddings(*tables)


def table_rows(words: int, settings: Settings) -> int:
    """Rows of each table: one per word, and those that `--vocab` adds."""
    rows = settings.vocab or words
    if rows < words:
        raise SettingError(
            f"argument --vocab: received {settings.vocab}, expected at least {words}, the words of "
            "the text, or 0"
        )
    arrays = 4 if settings.gradients == "sparse" else 8  # dense: the gradients, and new arrays
    fitting = TABLES_LIMIT // (4 * settings.dimension * arrays)
    if rows > fitting:
        raise SettingError(
            f"argument --vocab: received {settings.vocab}, expected at most {fitting}, what fits "
            f"into {TABLES_LIMIT // 2**30} GiB with --dimension {settings.dimension} and "
            f"--gradients {settings.gradients}"
        )
    return rows


def make_optimizer(settings: Settings, steps: int) -> jaxops.LazyOptimizer:
    import optax

    rate = optax.linear_schedule(settings.learning_rate, 0, steps * settings.epochs)
    return jaxops.lazy(optax.adagrad(rate, initial_accumulator_value=1e-6))


def loss_of_batch(
    embeddings: Embeddings,
    centers: jax.Array,
    contexts: jax.Array,
    noise: jax.Array,
    weight_decay: float,
) -> jax.Array:
    """Negative sampling: a pair's product shall be large, the products with noise words small."""
    center = jaxops.gather(embeddings.center, centers)
    context = jaxops.gather(embeddings.context, contexts)
    others = jaxops.gather(embeddings.context, noise)
    true_scores = jnp.einsum("bd,bd->b", center, context)
    noise_scores = jnp.einsum("bd,bnd->bn", center, others)
    likelihood = jax.nn.log_sigmoid(true_scores).sum() + jax.nn.log_sigmoid(-noise_scores).sum()
    squared_norms = sum(jnp.sum(vectors**2) for vectors in (center, context, others))
    return 0.5 * weight_decay * squared_norms - likelihood


@functools.partial(jax.jit, static_argnames="settings", donate_argnames="state")
def train_epoch(
    state: TrainingState, pairs: jax.Array, noise: jax.Array, key: jax.Array, settings: Settings
) -> tuple[TrainingState, jax.Array]:
    """One step per batch of `pairs`; returns the mean loss of a pair too."""
    batch_size = settings.batch_size
    steps = len(pairs) // batch_size
    optimizer = make_optimizer(settings, steps)
    if settings.gradients == "sparse":
        value_and_grad = jaxops.sparse_value_and_grad(loss_of_batch, tables=Embeddings._fields)
    else:
        value_and_grad = jax.value_and_grad(loss_of_batch)

    def step(i, carry):
        (embeddings, optimizer_state), total = carry
        batch = jaxops.slice(pairs, [i * batch_size, 0], [batch_size, 2])
        drawn = jax.random.choice(
            jax.random.fold_in(key, i), len(noise), (batch_size, settings.negatives), p=noise
        )
        loss, gradients = value_and_grad(
            embeddings, batch[:, 0], batch[:, 1], drawn, settings.weight_decay
        )
        state = TrainingState(*optimizer.apply(gradients, optimizer_state, embeddings))
        return state, total + loss

    state, total = jax.lax.fori_loop(0, steps, step, (state, jnp.zeros(())))
    return state, total / (steps * batch_size)


def pair_weights(counts: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """How often an epoch takes each pair, on average: pairs of very frequent words are rare."""
    excess = counts / counts.sum() / FREQUENT
    keep = np.minimum(1, 1 / np.sqrt(excess) + 1 / excess)
    return keep[pairs[:, 0]] * keep[pairs[:, 1]]


def train(counts: np.ndarray, pairs: np.ndarray, settings: Settings) -> tuple[Embeddings, Speed]:
    """Trains on `pairs`, each in both directions; returns the vectors of the words in `counts`."""
    from tqdm import tqdm

    rng = np.random.default_rng(settings.seed)
    key = jax.random.key(settings.seed)
    noise = jnp.asarray(counts**NOISE_POWER / np.sum(counts**NOISE_POWER), jnp.float32)
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    weights = pair_weights(counts, pairs)
    steps = int(weights.sum()) // settings.batch_size
    fitting = 2**28 // (settings.negatives * settings.dimension)  # 1 GiB of fetched vectors
    if settings.batch_size > min(int(weights.sum()), fitting):
        raise SettingError(
            f"argument --batch-size: received {settings.batch_size}, expected at most "
            f"{int(weights.sum())}, the pairs of an epoch, and {fitting}, what fits into memory "
            "with these --negatives and --dimension"
        )
    more = table_rows(len(counts), settings) - len(counts)  # their vectors stay 0
    tables = [jaxops.pad(x, [[0, more], [0, 0]]) for x in initialize(len(counts), settings)]
    embeddings = Embeddings(*tables)
    state = TrainingState(embeddings, make_optimizer(settings, steps).init(embeddings))
    del tables, embeddings  # donated
    print(
        f"Training: {steps:,} steps an epoch, {settings.gradients} gradients, two tables of "
        f"{len(counts) + more:,} rows",
        flush=True,
    )

    print("Compiling an epoch", flush=True)
    start = time.perf_counter()
    drawn_type = jax.ShapeDtypeStruct((steps * settings.batch_size, 2), pairs.dtype)
    run_epoch = train_epoch.lower(state, drawn_type, noise, key, settings=settings).compile()
    compiled = time.perf_counter()
    bar = tqdm(range(settings.epochs), desc="Training", unit="epoch", disable=None)
    for epoch in bar:
        drawn = rng.choice(len(pairs), steps * settings.batch_size, p=weights / weights.sum())
        state, loss = run_epoch(
            state, jnp.asarray(pairs[drawn]), noise, jax.random.fold_in(key, epoch)
        )
        bar.set_postfix(loss=f"{loss:.3f}")
        if bar.disable and (epoch + 1) % math.ceil(settings.epochs / 5) == 0:
            print(f"Epoch {epoch + 1} of {settings.epochs}: loss {loss:.3f}", flush=True)
    jax.block_until_ready(state)
    seconds = time.perf_counter() - compiled
    of_words = [jaxops.slice(x, [0, 0], [len(counts), -1]) for x in state.embeddings]
    return Embeddings(*of_words), Speed(compiled - start, seconds, settings.epochs * steps)


def pair_scores(embeddings: Embeddings) -> jax.Array:
    scores = embeddings.center @ embeddings.context.T
    return scores + scores.T  # neither word of a held-out pair is the centre


def held_out_auc(scores: ArrayLike, held_out: HeldOut) -> float:
    """The chance that a true pair has a higher score than a false one; `scores[word, word]`."""
    from sklearn.metrics import roc_auc_score

    true_scores = jaxops.gather_nd(scores, held_out.true_pairs)
    false_scores = jaxops.gather_nd(scores, held_out.false_pairs)
    labels = np.repeat([1, 0], [len(true_scores), len(false_scores)])
    return float(roc_auc_score(labels, np.concatenate([true_scores, false_scores])))


def nearest_words(words: Sequence[str], vectors: np.ndarray, query: str, k: int = 8) -> list[str]:
    """The words whose unit vectors make the smallest angles with the one of `query`."""
    row = words.index(query)
    similarity = vectors @ jaxops.gather(vectors, row)
    nearest = np.argsort(-similarity)
    return list(jaxops.gather(words, nearest[nearest != row][:k]))


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    for field in dataclasses.fields(Settings):
        name = "--" + field.name.replace("_", "-")
        parser.add_argument(name, default=str(field.default), **field.metadata)
    return parser


def run(settings: Settings) -> None:
    print('Reading the text behind Python\'s help("topics")', flush=True)
    from word_map import draw_map, telling_words

    corpus = build_corpus(read_paragraphs(), settings.min_count, settings.window)
    words, counts = corpus.words, corpus.counts
    if len(words) < 3 * settings.map_words:  # about half of the words are too dull for the map
        raise SettingError(
            f"argument --min-count: received {settings.min_count}, expected one that leaves "
            f"3 words for each of --map-words, {3 * settings.map_words}, and not {len(words)}"
        )
    pairs, held_out = hold_out(corpus, settings)
    text_length = int(counts.sum())
    print(f"Text: {text_length:,} words, {len(words):,} different ones")
    print(f"To train on: {len(pairs):,} pairs of neighbours")
    print(f"Held out: {len(held_out.true_pairs):,} different pairs, never trained on")

    untrained = initialize(len(words), settings)
    embeddings, speed = train(counts, pairs, settings)
    if not jnp.isfinite(embeddings.center).all():
        raise SettingError(
            f"argument --learning-rate: received {settings.learning_rate}, with which training "
            "diverges; expected a smaller one"
        )

    print("\nArea under the ROC curve for held-out pairs (0.5 is guessing, 1 is perfect):")
    print(f"  trained embeddings    {held_out_auc(pair_scores(embeddings), held_out):.3f}")
    print(f"  untrained embeddings  {held_out_auc(pair_scores(untrained), held_out):.3f}")
    print(f"  word frequency alone  {held_out_auc(np.log(np.outer(counts, counts)), held_out):.3f}")

    print("\nNearest words:")
    vectors = np.asarray(embeddings.center)
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for query in QUERIES:
        if query in words:
            print(f"  {query:<10} {', '.join(nearest_words(words, vectors, query))}")

    seconds = speed.training
    print(f"\nTrained in {seconds:.1f} s, after {speed.compilation:.1f} s of compilation:")
    print(f"  {text_length * settings.epochs / seconds:,.0f} words per second ", end="")
    print(f"(the {text_length:,} words of the text count once in each epoch)")
    print(f"  {speed.steps * settings.batch_size / seconds:,.0f} pairs per second")
    print(f"  {1000 * seconds / speed.steps:.2f} ms per step, with {settings.gradients} gradients")
    print("\nDrawing the map", flush=True)
    shown = telling_words(np.asarray(embeddings.center), settings.map_words)
    shown_words = [words[i] for i in shown]
    draw_map(shown_words, counts[shown], vectors[shown], settings.seed, settings.output)
    print(f"Map of {len(shown)} words: {settings.output}")


def main(argv: Sequence[str] | None = None) -> int:
    parser = make_parser()
    settings = Settings(**vars(parser.parse_args(argv)))
    try:
        run(settings)
    except SettingError as error:
        parser.error(str(error))
    except ModuleNotFoundError as error:
        parser.exit(1, f"{parser.prog}: {error}; try: pip install '.[examples]'\n")
    except OSError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
