"""Sizes of which a product passes 2**63: an error with words, where the process would end.

The process of size_sweep.py makes the calls. The calls that once ended such a process are refused
now, and stand in tests/refusals/large.py.
"""

import subprocess
import sys
from pathlib import Path

import pytest
import records
import size_sweep

pytestmark = pytest.mark.slow

SHARE = 7  # of which one call is made with the other tests


def run(*args):
    script = Path(__file__).with_name("size_sweep.py")
    done = subprocess.run(
        [sys.executable, script, *map(str, args)], capture_output=True, text=True, timeout=3000
    )
    *calls, last = done.stdout.splitlines() or [""]
    # Each call is printed before it is made.
    assert last == size_sweep.DONE, f"it ended at: {last}\n{done.stderr[-1000:]}"
    return calls


def check(calls):
    faults = [line for line in calls if line.startswith(size_sweep.FAULT)]
    assert not faults, "\n".join(faults)


def test_a_share_of_the_sweep():
    calls = run(SHARE)
    check(calls)
    for name in records.CALLS:
        few = name.endswith(("string_to_number", "edit_distance"))  # they take no array
        assert few or any(f" {name} of shapes" in call for call in calls), name


@pytest.mark.stress
def test_the_whole_sweep():
    check(run(1))


def test_one_large_id():
    """An eager result that cannot get its memory is an error, and nothing waits for it for ever."""
    calls = run("ids")
    check(calls)
    for name in ("segment_mean", "unsorted_segment_mean", "sparse_segment_mean", "repeat"):
        assert any(f" {name} of shapes" in call for call in calls), name
