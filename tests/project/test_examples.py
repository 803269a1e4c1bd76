"""Each script of `examples`, made small: it runs, and finds what its page says.

Nightly, as `make examples` runs the whole scripts.
"""

import os
import re
from pathlib import Path

import fast
import numpy as np
import pytest
from checks import NIGHTLY, printed_by

pytestmark = NIGHTLY

SCRIPT = Path(__file__).parents[2] / "examples" / "word_embeddings.py"


def compiled_fast():
    """The variables of a process that leaves XLA's optimizations out."""
    flags = [f"--{name}={str(value).lower()}" for name, value in fast.known(False).items()]
    return os.environ | {"XLA_FLAGS": " ".join([os.environ.get("XLA_FLAGS", ""), *flags])}


def test_word_embeddings(tmp_path):
    picture = tmp_path / "pictures" / "map.png"
    small = ["--dimension", 32, "--epochs", 4, "--map-words", 30, "--output", picture]
    printed = printed_by(SCRIPT, *small)
    score = {
        name: float(value)
        for name, value in re.findall(r"^  (trained|untrained).* ([\d.]+)$", printed, re.M)
    }
    assert abs(score["untrained"] - 0.5) < 0.05
    assert score["trained"] > 0.6
    assert "exception" in printed
    assert "words per second" in printed
    assert "ms per step, with sparse gradients" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


def run_small(name, *options):
    """What a script prints, made small and compiled fast."""
    return printed_by(SCRIPT.with_name(f"{name}.py"), *options, env=compiled_fast())


def rows_of(printed, numbers):
    """The lines of a table: a name, and after it as many numbers."""
    pattern = r"^ +(\S.*?)" + numbers * r" +([\d.]+)%?" + "$"
    return {name: [*map(float, cells)] for name, *cells in re.findall(pattern, printed, re.M)}


def test_graph_network(tmp_path):
    """It beats the majority, which beats the network without messages, which knows no more."""
    picture = tmp_path / "graph.png"
    printed = run_small("graph_network", "--steps", "60", "--output", str(picture))
    found = {name: share for name, (share,) in rows_of(printed, 1).items()}
    assert abs(found["what a sensor tells"] - 70) < 2
    assert abs(found["network without messages"] - found["what a sensor tells"]) < 1
    assert found["majority, with neighbours"] > found["what a sensor tells"] + 5
    assert found["network with messages"] > found["majority, with neighbours"]
    assert re.search(r"indices\[\d+,\d+\] = 200 is not in \[0, 200\)", printed)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_beam_search():
    """The script itself compares the widest beam with all ends."""
    found = {
        int(width): cells
        for width, cells in rows_of(run_small("beam_search", "--steps", "50"), 2).items()
    }
    shares, lost = zip(*found.values(), strict=True)
    assert list(found) == [1, 2, 4, 8, 27**2]
    assert list(shares) == sorted(shares)
    assert list(lost) == sorted(lost, reverse=True)
    assert (shares[-1], lost[-1]) == (100, 0)
    assert shares[0] < 100
    assert lost[0] > 0


def test_gradient_check():
    printed = run_small("gradient_check", "--steps", "100")
    rows = re.findall(r"^(\w[\w ]+?)  +([\d.]+) +([\d.]+)  (.*)$", printed, re.M)
    verdicts = {name: verdict for name, _, _, verdict in rows}
    assert verdicts.pop("right") == "right"
    assert len(verdicts) == 3
    assert all(verdict.startswith("wrong at ['nodes'][") for verdict in verdicts.values())
    assert all(float(last) < 0.8 * float(first) for _, first, last, _ in rows)  # all train
    assert "by central differences), received" in printed


def test_vision_patches(tmp_path):
    picture = tmp_path / "patches.png"
    printed = run_small("vision_patches", "--steps", "150", "--output", str(picture))
    found = {int(count): cells for count, cells in rows_of(printed, 2).items()}
    assert list(found) == [16, 12, 8, 4]
    transformer, linear = zip(*found.values(), strict=True)
    assert list(transformer) == sorted(transformer, reverse=True)
    assert transformer[0] > 80 > transformer[3] > 20  # 10 is guessing
    assert linear[0] > 80
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_point_cloud(tmp_path):
    """The script itself compares its map with that of a loop."""
    picture = tmp_path / "cloud.png"
    printed = run_small("point_cloud", "--steps", "60", "--output", str(picture))
    assert "is that of a loop in NumPy" in printed
    (before, after), *_ = re.findall(r"before ([\d.]+) m, after ([\d.]+) m", printed)
    assert float(before) > 1
    assert float(after) < 0.05
    assert "indices[0] = [3, 96] does not index into shape [96,96]" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_mixture_of_experts(tmp_path):
    """The script itself compares both ways of computing the colours."""
    picture = tmp_path / "experts.png"
    printed = run_small("mixture_of_experts", "--steps", "60", "--output", str(picture))
    errors = {name: error for name, (error, _) in rows_of(printed, 2).items()}
    assert errors["eight, pixels dealt"] == errors["eight, all compute"] < errors["one network"]
    assert "none was dropped" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_gallery(tmp_path):
    printed_by(SCRIPT.with_name("gallery.py"), "--output", tmp_path, "--only", "reverse_sequence")
    pictures = list(tmp_path.rglob("*.jpg"))
    assert [p.stem for p in pictures] == ["reverse_sequence"]
    assert pictures[0].stat().st_size < 60_000


def test_sharded_embeddings():
    """Alike on 8 devices and on one; the words of the guide are those it prints."""
    printed = printed_by(SCRIPT.with_name("sharded_embeddings.py"), "--steps", 60)
    first, last = map(float, re.findall(r"[\d.]+(?= in the)", printed))
    assert first == pytest.approx(4 * np.log(2), abs=1e-3)  # of 4 guesses each
    assert last < 0.95 * first
    (difference,) = re.findall(r"differs by (\S+) at most", printed)
    assert float(difference) < 1e-4
    table, largest = re.findall(r"has ([\d,]+)", printed)
    assert int(largest.replace(",", "")) < int(table.replace(",", ""))

    def words(text):
        numbers = r"[\d.,]+(e-\d+)?"  # where sums round otherwise the two differ by 1e-07
        return [re.sub(numbers, "", line) for line in text.splitlines() if "Step" not in line]

    guide = (SCRIPT.parents[1] / "docs" / "many_devices.md").read_text()
    (output,) = re.findall(r"```\n(.*?)```", guide[guide.index("prints:") :], re.S)[:1]
    sends = [line for line in words(printed) if " x " not in line]
    assert sends == [line for line in words(output) if " x " not in line]


def run_recommender(*options):
    """A small model, compiled fast: 26 tables make a large program."""
    script = SCRIPT.with_name("recommender.py")
    small = ["--max-rows", 1000, "--batch-size", 256]
    return printed_by(script, *small, *options, env=compiled_fast())


def test_recommender():
    """It knows more of clicks than the numbers tell, so it has learned from the tables."""
    printed = run_recommender("--steps", 150, "--rounds", 2)
    score = {
        name.strip(): float(value)
        for name, value in re.findall(r"^  (.*?)  +([\d.]+)$", printed, re.M)
    }
    assert abs(score["untrained model"] - 0.5) < 0.05
    assert score["best from the 13 numbers"] + 0.01 < score["trained model"]
    assert score["trained model"] < score["best from all features"]
    sparse, dense = map(float, re.findall(r"([\d.]+) ms with", printed))
    (ratio,) = re.findall(r"take ([\d.]+) times", printed)
    assert float(ratio) == pytest.approx(dense / sparse, abs=0.1)


def test_recommender_on_8_devices():
    printed = [run_recommender("--steps", 10, "--rounds", 0, "--devices", n) for n in (1, 8)]
    assert "on 8 devices" in printed[1]
    one, eight = (list(map(float, re.findall(r"\d\.\d{3,}", text))) for text in printed)
    assert one == pytest.approx(eight, abs=2e-3)
    assert len(one) >= 10
