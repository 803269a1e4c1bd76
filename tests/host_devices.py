"""Programs of `tests/devices` that need several host devices, which only a new process can have."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from checks import NIGHTLY

# Numbers of devices. The most have meshes of two axes besides.
NUMBERS = [pytest.param(1, marks=NIGHTLY), pytest.param(2, marks=NIGHTLY), 8]


@functools.cache
def outcome_of(program: str, devices: int):
    """What a program of `tests/devices` prints last, as JSON."""
    done = subprocess.run(
        [sys.executable, Path(__file__).parent / "devices" / program, str(devices)],
        capture_output=True,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
