"""Failing calls in numbers: no hang, no crash, no leak, and right answers afterwards.

A small share of it runs with the other tests; `make stress` runs all of it.
"""

import pytest
from host_devices import reports_of

pytestmark = pytest.mark.slow

NAMES = ["one-after-the-other", "threads", "threads-that-compile", "scans", "asynchronous"]
SECONDS_UNTIL_IT_HANGS = 3000  # no limit of speed: the whole takes some minutes


def run(scale, *names):
    limit = SECONDS_UNTIL_IT_HANGS
    reports = reports_of("stress_programs.py", scale, *names, timeout=limit)
    return dict(zip(names, reports, strict=True))


def check(outcomes, bytes_per_call):
    """An exception that is kept, with its traceback, takes 7,900 bytes or more."""
    for name, growth in outcomes["one-after-the-other"].items():
        assert growth < bytes_per_call, (name, growth)
    assert outcomes["threads"]["faults"] == []
    assert outcomes["threads"]["failed"] > 0
    assert outcomes["threads-that-compile"]["faults"] == []
    assert outcomes["scans"]["row"]


def test_a_share_of_it():
    # 600 at most were seen: the heap grows in steps, and these are 400 calls of each kind.
    check(run(1, *NAMES), bytes_per_call=4000)


@pytest.mark.stress
def test_all_of_it():
    # 22 at most were seen, of 8,000 calls of each kind.
    check(run(20, *NAMES), bytes_per_call=400)
