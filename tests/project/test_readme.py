"""The README names every function; the site's table of functions says what the code says."""

import inspect
import re
from pathlib import Path

import pytest
import records
from docs_pages import load
from records import CHECKS, PUBLIC, PUBLIC_FUNCTIONS, TRANSFORMATIONS

from jaxops import _names

README = (Path(__file__).parents[2] / "README.md").read_text()
TABLE = {
    name: [cell.strip("`") for cell in record.readme.split(" | ")]
    for name, record in records.RECORDS.items()
    if record.section
}


OPERATIONS = {n: f for n, f in PUBLIC_FUNCTIONS.items() if n not in TRANSFORMATIONS}


def test_table_holds_every_function():
    assert not records.wanted({*OPERATIONS} - {*TABLE}, "`row`")
    assert set(TABLE) == set(OPERATIONS)
    in_v0 = {n.removeprefix("v0.") for n in PUBLIC if n.startswith("v0.")}
    named = {name for names, *_ in TABLE.values() for name in names.split("`, `")}
    assert named - {"-"} == in_v0


def test_no_two_modules_record_a_function():
    names = [name for m in records._MODULES for name in getattr(m, "RECORDS", {})]
    assert len(names) == len({*names})


def test_names_and_number_are_those_of_the_records():
    assert load("readme_names").page(README) == README, "README.md lacks names: run `make names`"
    named = re.findall(r"`(\w+)`", README.partition("**Casting**")[2])
    assert sorted(named) == sorted(OPERATIONS)
    assert f"{len(OPERATIONS)} functions" in README


def test_the_training_step_is_that_of_the_benchmark():
    results = load("figures").results("sparse_gradients")
    (step,) = (s for s in results["steps"] if (s["optimizer"], s["rows"]) == ("sgd", 1_000_000))
    text = " ".join(README.split())
    milliseconds = f"{step['milliseconds']['jaxops']:.2g} ms"
    ratio = f"{step['times as long as jaxops']['dense']['ratio']:.0f} times as long"
    step_of = f"1,000,000 rows an SGD step on {results['batch']:,} words"
    assert f"{step_of} takes {milliseconds}, and a step with a dense gradient takes {ratio}" in text
    assert results["machine"]["cpus"] == 2


def test_the_number_of_speed_is_that_of_the_benchmark():
    """Of the calls that are compared with TensorFlow's."""
    summaries = load("figures").results("suite")["summary"]
    (row,) = (s for s in summaries if (s["group"], s["allocator"]) == ("throughput", "kept"))
    assert f"takes {row['to_tensorflow']:.2f} times as long as TensorFlow" in " ".join(
        README.split()
    )


@pytest.mark.parametrize("name", sorted(TRANSFORMATIONS))
def test_transformations_are_explained(name):
    section = "## Checked without an edit" if name in CHECKS else "## Sparse gradients"
    assert f"`jaxops.{name}" in README.partition(section)[2].partition("\n## ")[0]


@pytest.mark.parametrize("name", TABLE)
def test_row_says_what_the_code_says(name):
    _, jit, gradient, bounds = TABLE[name]
    doc = inspect.getdoc(OPERATIONS[name]) or ""
    parameters = inspect.signature(OPERATIONS[name]).parameters
    for path in _names.TABLE[name].tensorflow[:1]:
        assert f"Follows `tf.{path}`" in doc
    has_bounds = "mode" in parameters and parameters["mode"].default in ("device", "fill")
    assert (bounds != "-") == has_bounds
    has_size = "size" in parameters and parameters["size"].kind is inspect.Parameter.KEYWORD_ONLY
    assert ("size=" in jit) == has_size
    no_gradient = re.search(r"Gradient: none", doc) is not None
    assert (gradient == "-") == no_gradient
