"""The calls of TensorFlow's security advisories: an error in Python's words, or the right value."""

import re
from pathlib import Path

import jax
import numpy as np
import pytest
from advisories_table import ROWS
from checks import assert_equal
from refusals.values import IN_JIT

README = (Path(__file__).parents[2] / "README.md").read_text()
ADVISORIES = {row.advisory for row in ROWS}
IDS = [f"{row.advisory}-{row.function}" for row in ROWS]
COMPILED = [pytest.param(row, id=name) for row, name in zip(ROWS, IDS, strict=True) if row.traced]


def assert_as_expected(row, result):
    if isinstance(row.expected, tuple):
        assert result.shape == row.expected
    else:
        assert_equal(result, row.expected)


def is_error(expected):
    return isinstance(expected, type)


def assert_tells(row, error, words):
    """The function, and what of the call is wrong."""
    assert row.function.removeprefix("v0.") in str(error)
    assert re.search(words, str(error)), str(error)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
@pytest.mark.usefixtures("x64")
def test_eager(row):
    if not is_error(row.expected):
        return assert_as_expected(row, row.call(*row.traced))
    with pytest.raises(row.expected) as info:
        row.call(*row.traced)
    assert type(info.value) is row.expected
    assert_tells(row, info.value, row.words)


@pytest.mark.parametrize("row", COMPILED)
@pytest.mark.usefixtures("x32")
def test_compiled(row):
    compiled, arrays = jax.jit(row.call), [np.asarray(x) for x in row.traced]
    if not is_error(row.expected):
        return assert_as_expected(row, compiled(*arrays))
    with pytest.raises((TypeError, IndexError, *IN_JIT)) as info:
        jax.block_until_ready(compiled(*arrays))
    assert_tells(row, info.value, row.words if row.compiled is None else row.compiled)


def test_readme_has_their_number():
    assert f"{len(ADVISORIES)} of TensorFlow's security advisories" in " ".join(README.split())
