"""Tables whose rows 1, 2 and 8 host devices share: rows go to and from their owners, exactly."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@functools.cache
def run(devices):
    script = Path(__file__).with_name("exchange_programs.py")
    done = subprocess.run(
        [sys.executable, script, str(devices)],
        capture_output=True,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("devices", [1, 2, 8])
def test_as_on_one_device(devices):
    outcome = run(devices)
    ways = [way for way in outcome if way.startswith(("jit", "shard_map"))]
    assert len(ways) == (6 if devices == 8 else 4)
    for way in ways:
        assert outcome[way] == {}, way


@pytest.mark.parametrize("devices", [1, 2, 8])
def test_a_bad_index_is_an_error(devices):
    outcome = run(devices)
    rows = 20 * devices
    ways = [way for way in outcome if way.startswith("error")]
    assert len(ways) == 4
    for way in ways:
        message = f"= {rows} is not in [0, {rows}) [Op:sharded_gather] at exchange_programs.py:"
        assert message in (outcome[way] or ""), way


@pytest.mark.parametrize("devices", [1, 2, 8])
def test_meshes_of_explicit_axes(devices):
    found = run(devices)["explicit"]
    assert found["rows"] == "P('d', None, None)"
    assert found["are right"]
    assert found["gradient"] == "P('d', None)"
    assert "is not in" in (found["error"] or "")
