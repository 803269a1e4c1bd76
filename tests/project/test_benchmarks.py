"""The benchmarks run, made small, and measure nothing that gives wrong answers."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def sparse_gradients(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("sparse_gradients")


def test_sparse_gradients(tmp_path):
    figures, picture = tmp_path / "results" / "figures.json", tmp_path / "pictures" / "figures.png"
    small = ["--rows", "64", "512", "--rounds", "7", "--seconds", "0"]
    script = BENCHMARKS / "sparse_gradients.py"
    command = [sys.executable, script, *small, "--json", str(figures), "--plot", str(picture)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "sgd, 512 rows, 7 rounds" in done.stdout
    written = json.loads(figures.read_text())
    assert written["machine"]["jax"] == jax.__version__
    cells = [(step["optimizer"], step["rows"]) for step in written["steps"]]
    assert cells == [("sgd", 64), ("sgd", 512), ("adam", 64), ("adam", 512)]
    for step in written["steps"]:
        assert step["rounds"] == 7
        assert step["milliseconds"].keys() >= {"dense", "jaxops"}
        for compared in step["times as long as jaxops"].values():
            low, high = compared["quartiles"]
            assert 0 < low <= compared["ratio"] <= high
    small_ones, large_ones = written["steps"][::2], written["steps"][1::2]
    for small_one, large_one in zip(small_ones, large_ones, strict=True):
        grown = {
            name: large_one["temporary bytes"][name] - small_one["temporary bytes"][name]
            for name in ("dense", "jaxops")
        }
        assert grown["jaxops"] == 0 < grown["dense"]
    assert [growth["rows"] for growth in written["growth"]] == [[64, 512]] * 2
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 60_000


def wrong_loss(contender):
    return contender._replace(step=lambda indices: 1.01 * contender.step(indices))


def wrong_rows(contender):
    def rows(indices):
        right = contender.rows(indices).copy()
        right[3] += 1e-4
        return right

    return contender._replace(rows=rows)


def steps_twice(contender):
    def step(indices):
        contender.step(indices)
        return contender.step(indices)

    return contender._replace(step=step)


def does_not_update(contender):
    before = contender.rows(np.arange(100))
    return contender._replace(rows=lambda indices: before[indices])


@pytest.mark.parametrize("spoil", [wrong_loss, wrong_rows, steps_twice, does_not_update])
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_wrong_answers_are_refused(sparse_gradients, optimizer, spoil):
    table = sparse_gradients.initial_table(100)
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        contender = sparse_gradients.jax_contender("jaxops", optimizer, table)
        with pytest.raises(ValueError, match=f"spoilt, {optimizer}, 100 rows, step 0"):
            sparse_gradients.check_answers("spoilt", spoil(contender), optimizer, table)


BAD_OPTIONS = {
    "rows": (["--rows", "63"], "argument --rows: received '63', expected 64 at least"),
    "rounds": (["--rounds", "few"], "argument --rounds: received 'few', expected 7 at least"),
    "seconds": (["--seconds", "-1"], "argument --seconds"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_sparse_gradients_refuses(sparse_gradients, capsys, case):
    options, words = BAD_OPTIONS[case]
    with pytest.raises(SystemExit):
        sparse_gradients.main(options)
    assert words in capsys.readouterr().err


def test_sparse_many_tables(tmp_path):
    figures = tmp_path / "figures.json"
    # Of fewer than three rounds quartiles are extrapolated, and may be below 0.
    small = ["--fields", "2", "--optimizers", "adam", "--rounds", "3", "--steps", "2"]
    small += ["--batch", "8", "--most-rows", "64"]
    command = [sys.executable, BENCHMARKS / "sparse_many_tables.py", *small, "--json", str(figures)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    written = json.loads(figures.read_text())
    (compiling,), (running,) = written["compiling"], written["running"]
    for found in (running, *(compiling[stage] for stage in ("trace", "lower", "compile", "all"))):
        assert 0 < found["quartiles"][0] <= found["jaxops / dense"] <= found["quartiles"][1]
    assert 0 < compiling["instructions"]["dense"] < compiling["instructions"]["jaxops"]
