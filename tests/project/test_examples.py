"""The main job, made small, and its settings."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import fast
import jax
import numpy as np
import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "examples" / "word_embeddings.py"


def run(*options):
    return subprocess.run([sys.executable, SCRIPT, *options], capture_output=True, text=True)


def test_word_embeddings(tmp_path):
    picture = tmp_path / "pictures" / "map.png"
    small = ["--dimension", "32", "--epochs", "4", "--map-words", "30", "--output", str(picture)]
    done = run(*small)
    assert done.returncode == 0, done.stderr
    score = {
        name: float(value)
        for name, value in re.findall(r"^  (trained|untrained).* ([\d.]+)$", done.stdout, re.M)
    }
    assert abs(score["untrained"] - 0.5) < 0.05
    assert score["trained"] > 0.6
    assert "exception" in done.stdout
    assert "words per second" in done.stdout
    assert "ms per step, with sparse gradients" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    with jax.numpy_dtype_promotion("standard"):  # optax mixes dtypes
        yield importlib.import_module("word_embeddings")


def train_small(example, **options):
    settings = example.Settings(
        dimension=8, negatives=3, epochs=3, batch_size=32, learning_rate=0.1, **options
    )
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 30, (500, 2), np.int32)
    embeddings, _ = example.train(np.bincount(pairs.reshape(-1)), pairs, settings)
    return embeddings


def test_sparse_and_dense_gradients_train_alike(example):
    sparse, dense = (train_small(example, gradients=g) for g in ("sparse", "dense"))
    for ours, expected in zip(sparse, dense, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-4)
        assert np.abs(ours).max() > 0.2  # it has moved, from at most 1/16


@pytest.mark.parametrize("gradients", ["sparse", "dense"])
def test_words_that_never_occur_change_nothing(example, gradients):
    padded, unpadded = (train_small(example, gradients=gradients, vocab=v) for v in (100, 0))
    for ours, expected in zip(padded, unpadded, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("gradients", ["sparse", "dense"])
def test_only_dense_steps_make_more_tables(example, gradients):
    settings = example.Settings(dimension=8, negatives=3, batch_size=32, gradients=gradients)
    embeddings = example.initialize(100_000, settings)
    state = example.TrainingState(
        embeddings, example.make_optimizer(settings, steps=3).init(embeddings)
    )
    pairs, noise = np.zeros((96, 2), np.int32), np.full(30, 1 / 30, np.float32)
    compiled = example.train_epoch.lower(state, pairs, noise, jax.random.key(0), settings)
    makes_tables = (
        compiled.compile(fast.known(True)).memory_analysis().temp_size_in_bytes
        > embeddings.center.nbytes
    )
    assert makes_tables == (gradients == "dense")


def test_gallery(tmp_path):
    script = SCRIPT.with_name("gallery.py")
    options = ["--output", str(tmp_path), "--only", "reverse_sequence"]
    done = subprocess.run([sys.executable, script, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pictures = list(tmp_path.rglob("*.jpg"))
    assert [p.stem for p in pictures] == ["reverse_sequence"]
    assert pictures[0].stat().st_size < 60_000


def test_sharded_embeddings():
    """Alike on 8 devices and on one; the words of the guide are those it prints."""
    script = SCRIPT.with_name("sharded_embeddings.py")
    done = subprocess.run([sys.executable, script, "--steps", "60"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, last = map(float, re.findall(r"[\d.]+(?= in the)", done.stdout))
    assert first == pytest.approx(4 * np.log(2), abs=1e-3)  # of 4 guesses each
    assert last < 0.95 * first
    (difference,) = re.findall(r"differs by (\S+) at most", done.stdout)
    assert float(difference) < 1e-4
    table, largest = re.findall(r"has ([\d,]+)", done.stdout)
    assert int(largest.replace(",", "")) < int(table.replace(",", ""))

    def words(text):
        numbers = r"[\d.,]+(e-\d+)?"  # where sums round otherwise the two differ by 1e-07
        return [re.sub(numbers, "", line) for line in text.splitlines() if "Step" not in line]

    guide = (SCRIPT.parents[1] / "docs" / "many_devices.md").read_text()
    (output,) = re.findall(r"```\n(.*?)```", guide[guide.index("prints:") :], re.S)[:1]
    sends = [line for line in words(done.stdout) if " x " not in line]
    assert sends == [line for line in words(output) if " x " not in line]


BAD_OPTIONS = {
    "text": (["--epochs", "many"], "argument --epochs: received 'many', expected a whole number"),
    "zero": (["--batch-size", "0"], "argument --batch-size: received '0', expected a whole number"),
    "nan": (["--learning-rate", "nan"], "argument --learning-rate: received 'nan'"),
    "path": (["--output", "map.gif"], "argument --output: received 'map.gif'"),
    "unknown": (["--epoch", "3"], "unrecognized arguments: --epoch 3"),
    "gradients": (
        ["--gradients", "both"],
        "argument --gradients: received 'both', expected sparse",
    ),
    "few-rows": (["--vocab", "20"], "argument --vocab: received 20, expected at least"),
    "many-rows": (["--vocab", "90000000"], "argument --vocab: received 90000000, expected at most"),
    "no-words": (["--min-count", "100000"], "argument --min-count: received 100000"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_word_embeddings_refuses(case):
    options, words = BAD_OPTIONS[case]
    done = run(*options)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
