"""Every function is in each table of the benchmarks, and each benchmark runs a tiny row.

The figures of a benchmark stand in the documents, so a benchmark refuses to time wrong answers.
"""

import json
from pathlib import Path

import accelerator_rows
import accelerators
import accelerators_report
import cpu_forms
import growth
import growth_programs
import growth_rows
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import report
import suite
import timing
import work
from checks import printed_by, share
from records import CALLS, CLASSES, PUBLIC, RECORDS
from row import small

import jaxops
from jaxops import _forms
from jaxops.typing import Mode

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
FUNCTIONS = {name for name, record in RECORDS.items() if record.section}
# They touch no elements.
OF_SHAPES = {"rank", "shape", "shape_n", "size", "strided_slice_spec"}
OF_SHAPES |= {"required_space_to_batch_paddings"}
# Of the host alone; of 64-bit types; of the static arguments of another; of gradients, which
# `lazy` and `sparse_value_and_grad` stand for.
NOT_COMPILED = {"string_to_number", "edit_distance", "to_double", "to_int64", "strided_slice_spec"}
NOT_COMPILED |= {"required_space_to_batch_paddings"}
NOT_COMPILED |= {"psum", "pmean", "sum_stacked", "global_norm", "clip_by_global_norm"}
NOT_COMPILED |= {"rowwise_adagrad"}
GATHER = next(row for row in suite.ROWS if row.name == "gather: 65,536 rows of 128 f32")


@pytest.fixture
def without_tensorflow(monkeypatch):
    monkeypatch.setattr(work, "is_installed", lambda name: False)


def test_every_function_has_a_row():
    tiny, throughput = (
        {row.op for row in suite.ROWS if suite.in_group(row, group)}
        for group in ("tiny", "throughput")
    )
    functions = {name for name in FUNCTIONS if RECORDS[name].call and "." not in name}
    missing = functions - NOT_COMPILED - {row.op for row in accelerator_rows.WORKS}
    assert not missing, f"benchmarks/accelerator_rows.py: WORKS wants calls of {sorted(missing)}"
    assert tiny == FUNCTIONS
    assert throughput == FUNCTIONS - OF_SHAPES
    growing = {row.op for row in growth_rows.ROWS} | {*growth_rows.WITHOUT_ROWS}
    missing = {*CALLS, *PUBLIC} - CLASSES - growing
    assert not missing, (
        f"benchmarks/rows_*.py, growth_rows.py: ROWS wants rows of {sorted(missing)}"
    )
    assert growing <= {*CALLS, *PUBLIC} - CLASSES
    _forms.load()
    forms = {primitive.name for primitive in _forms._references}
    assert {row.form for row in cpu_forms.ROWS} >= forms - {"atomic_sums", "gather_for_atomic_sums"}


def test_recorded_results_are_of_the_rows():
    names = {accelerators.name_of_work(row) for row in accelerator_rows.WORKS}
    lines = accelerators_report.table().splitlines()[2:]
    # `make accelerators` has yet to compile those that are new.
    assert {line.split(" | ")[0].removeprefix("| ") for line in lines} <= names


@pytest.mark.slow
@pytest.mark.parametrize(
    "group", ["throughput", "tiny", "compile", "gradients", "tiny_gradients", "bounds"]
)
def test_a_row_of_the_suite(group, without_tensorflow):
    result = suite.run_row(group, GATHER, rounds=3, size=small)
    assert min(result["microseconds"].values()) > 0
    assert result["best_peer"] in result["ratios"]
    assert "gather" in report.line("[1/1]", result)

    def off_by_one(params, indices, mode: Mode = "device"):
        # Wrong with default bounds only, as the group of bounds compares the two.
        factor = 2 if mode == "device" else 1
        return factor * jaxops.gather(params, indices, mode=mode)

    with pytest.raises(timing.WrongAnswer):
        suite.run_row(group, GATHER._replace(jaxops=off_by_one), rounds=3, size=small)


@pytest.mark.slow
def test_a_row_and_a_program_grow(without_tensorflow):
    assert "gather" in growth.line(growth.run_row(GATHER, largest=1 / 64, rounds=3))
    concat = next(row for row in growth_programs.PROGRAMS if row.name == "concat: parts")
    assert growth.run_program(concat, True, rounds=2, counts=(2, 8))["sizes"] == [2, 8]
    with pytest.raises(timing.WrongAnswer):
        growth.run_row(GATHER._replace(jaxops=lambda p, i: 2 * p[i]), largest=1 / 64, rounds=3)


MANY_TABLES = "--fields 2 --optimizers adam --rounds 3 --steps 2 --batch 8 --most-rows 64"
SCRIPTS = {
    "device": "--platform cpu --every 40",
    "suite": "--groups bounds --rows ^strided_slice --rounds 3 --allocator both --plot {}.png",
    "growth": "--kinds time --rows ^sum_stacked --largest 0.25",
    "sparse_gradients": "--rows 64 512 --rounds 7 --seconds 0 --plot {}.png",
    "sparse_many_tables": MANY_TABLES,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", share(SCRIPTS, len(SCRIPTS)))
def test_a_script(name, tmp_path):
    figures = tmp_path / "made" / f"{name}.json"
    options = SCRIPTS[name].format(figures.with_suffix("")).split()
    printed_by(BENCHMARKS / f"{name}.py", *options, "--json", figures)
    assert json.loads(figures.read_text())
    assert all(path.stat().st_size for path in figures.parent.iterdir())


# TensorFlow orders values, and rows of the same place, in ways of its own.
IN_ANOTHER_ORDER = {"unique", "unique_with_counts", "dynamic_stitch"}
SAME = [row for row in accelerator_rows.WORKS if row.op not in IN_ANOTHER_ORDER]


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("row", SAME, ids=accelerators.name_of_work)
def test_the_idiom_has_the_same_values(row):
    """A program for an accelerator is compared with that of its idiom."""
    rng = np.random.default_rng(0)

    def values(leaf):
        if leaf.dtype == jnp.float32:
            return rng.integers(-9, 9, leaf.shape).astype(np.float32)
        parts = int(row.what.split()[0]) if row.op == "dynamic_partition" else 0
        distinct = parts or {"slice": 1, "invert_permutation": leaf.size}.get(row.op, 2)
        numbers = np.arange(leaf.size) % distinct
        numbers = np.sort(numbers) if "segment_" in row.op else numbers  # most refuse others
        return numbers.reshape(leaf.shape).astype(leaf.dtype)

    arguments = jax.tree.map(values, row.arguments)
    results = (jax.tree.leaves(jax.jit(f)(*arguments)) for f in (row.jaxops, row.idiom))
    for ours, theirs in zip(*results, strict=True):
        ours, theirs = (np.asarray(x).astype(np.float64) for x in (ours, theirs))
        np.testing.assert_allclose(ours, theirs, 1e-4, 1e-4)
