"""Failing calls in numbers: no hang, no crash, no leak, and right answers afterwards.

A small share of it runs with the other tests; `make stress` runs all of it.
"""

from pathlib import Path

import pytest
from checks import printed_by

SECONDS_UNTIL_IT_HANGS = 3000  # no limit of speed: the whole takes some minutes


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1, pytest.param(20, marks=pytest.mark.stress)])
def test_failing_calls(scale):
    program = Path(__file__).with_name("stress_programs.py")
    printed_by(program, scale, timeout=SECONDS_UNTIL_IT_HANGS)
