"""Programs of `tests/devices` that need several host devices, which only a new process can have."""

import functools
import json
from pathlib import Path

import pytest
from checks import NIGHTLY, printed_by

# Numbers of devices. The most have meshes of two axes besides.
NUMBERS = [pytest.param(1, marks=NIGHTLY), pytest.param(2, marks=NIGHTLY), 8]


@functools.cache
def outcome_of(program: str, devices: int):
    """What a program of `tests/devices` prints last, as JSON."""
    printed = printed_by(Path(__file__).parent / "devices" / program, devices)
    return json.loads(printed.splitlines()[-1])
