"""Each function against TensorFlow, call by call, as `table.py` says."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings
from outcome import Tally
from search import OPTIONS, examples
from table import ENTRIES

EXAMPLES = int(os.environ.get("PARITY_EXAMPLES", "500"))


def in_groups():
    """A function and its 0.x adapter in one worker of xdist, where they share programs."""
    for name in sorted(ENTRIES, key=lambda name: (name.removeprefix("v0."), name)):
        group = ENTRIES[name].group or name.removeprefix("v0.")
        yield pytest.param(name, marks=pytest.mark.xdist_group(group))


@pytest.mark.parametrize("name", list(in_groups()))
def test_same_as_tensorflow(name, record_property):
    entry, tally = ENTRIES[name], Tally()

    examples(entry, tally, settings(OPTIONS, max_examples=EXAMPLES, derandomize=True))()
    record_property(f"tally {name}", str(tally))
    assert tally["values"] >= EXAMPLES / 2, "too few of the calls that are drawn are valid"
    assert tally["errors"] or entry.never_refused, "no call that is drawn is refused"
    assert tally["out of bounds"] or not entry.bounded, "no call that is drawn is out of bounds"
    assert tally["gradients"] or not entry.differentiable, "no gradient is compared"
