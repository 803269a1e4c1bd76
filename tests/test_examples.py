"""The main job, made small, and its settings."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "examples" / "word_embeddings.py"


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
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_gallery(tmp_path):
    script = SCRIPT.with_name("gallery.py")
    options = ["--output", str(tmp_path), "--only", "reverse_sequence"]
    done = subprocess.run([sys.executable, script, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pictures = list(tmp_path.rglob("*.jpg"))
    assert [p.stem for p in pictures] == ["reverse_sequence"]
    assert pictures[0].stat().st_size < 60_000


BAD_OPTIONS = {
    "text": (["--epochs", "many"], "argument --epochs: received 'many', expected a whole number"),
    "zero": (["--batch-size", "0"], "argument --batch-size: received '0', expected a whole number"),
    "nan": (["--learning-rate", "nan"], "argument --learning-rate: received 'nan'"),
    "path": (["--output", "map.gif"], "argument --output: received 'map.gif'"),
    "unknown": (["--epoch", "3"], "unrecognized arguments: --epoch 3"),
    "no-words": (["--min-count", "100000"], "argument --min-count: received 100000"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_word_embeddings_refuses(case):
    options, words = BAD_OPTIONS[case]
    done = run(*options)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
