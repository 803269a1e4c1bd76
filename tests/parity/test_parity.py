"""Each function against TensorFlow, call by call, as `table.py` says."""

import os

import pytest
from hypothesis import settings
from outcome import OPTIONS, Tally, examples
from table import ENTRIES

EXAMPLES = int(os.environ.get("PARITY_EXAMPLES", "500"))
ENOUGH = 500  # so many calls have some of each kind


def in_groups():
    """A function and its 0.x adapter in one worker of xdist, where they share programs."""
    for name in sorted(ENTRIES, key=lambda name: (name.removeprefix("v0."), name)):
        group = ENTRIES[name].group or name.removeprefix("v0.")
        yield pytest.param(name, marks=pytest.mark.xdist_group(group))


def missing(entry, tally):
    """Says in words which kind of call the tally lacks, if it lacks one."""
    if tally["values"] < tally["calls"] / 2:
        return "too few of the calls that are drawn are valid"
    if not (tally["errors"] or entry.never_refused):
        return "no call that is drawn is refused"
    if entry.bounded and not tally["out of bounds"]:
        return "no call that is drawn is out of bounds"
    if entry.differentiable and not tally["gradients"]:
        return "no gradient is compared"
    return ""


@pytest.mark.parametrize("name", list(in_groups()))
def test_same_as_tensorflow(name, record_property):
    entry, tally, number = ENTRIES[name], Tally(), EXAMPLES

    examples(entry, tally, settings(OPTIONS, max_examples=number, derandomize=True))()
    # Of few calls too few may be of a kind by chance: more calls are drawn before the test fails.
    while missing(entry, tally) and number < ENOUGH:
        number = min(2 * number, ENOUGH)
        tally = Tally()
        examples(entry, tally, settings(OPTIONS, max_examples=number, derandomize=True))()

    record_property(f"tally {name}", str(tally))
    assert not missing(entry, tally)
