"""One bad index on one of 8 host devices: an error at once, and the process lives."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from host_devices import reports_of

pytestmark = pytest.mark.slow

# The position is that within the shard, but of a program for all devices.
WORDS = {
    "shard_map": "indices[1] = 99 is not in [0, 10)",
    "shard_map-partly-manual": "indices[3] = 99 is not in [0, 10)",
    "shard_map-scatter_nd": "indices[1] = [99] does not index into shape [10]",
    "sharded_jit": "indices[7] = 99 is not in [0, 16)",
    "checked": "index 99 at position [1] is out of bounds for axis 0",
}

# A shard left waiting in a collective kills the process, by default after 40 s.
FLAGS = (
    "--xla_cpu_collective_call_warn_stuck_timeout_seconds=2 "
    "--xla_cpu_collective_call_terminate_timeout_seconds=3"
)


def run(turn):
    return reports_of("device_programs.py", turn, env={"XLA_FLAGS": FLAGS})


@pytest.mark.parametrize("third", range(3))
def test_a_bad_shard_is_an_error_and_the_process_lives(third):
    outcomes = run(third)
    assert len(outcomes) > 6
    for outcome in outcomes:
        name, error = outcome["name"], outcome["error"] or ""
        words = WORDS.get(name, WORDS[name.partition("-")[0]])
        assert words in error, outcome
        assert "at device_programs.py:" in error, outcome
        assert outcome["alive"], name


def test_two_processes_raise_and_end(tmp_path):
    """A bad index in the data of one of them."""
    script = Path(__file__).with_name("process_programs.py")
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    results = [tmp_path / f"{rank}.json" for rank in (0, 1)]
    processes = [
        subprocess.Popen(
            [sys.executable, script, str(port), str(rank), results[rank]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": FLAGS},
        )
        for rank in (0, 1)
    ]
    ends = [(process.communicate()[1], process.returncode) for process in processes]
    assert ends == [("", 0), ("", 0)]
    where = "is not in [0, 16) [Op:gather] at process_programs.py:35 (lookup)"
    outside = (
        "is out of bounds for axis 0 of an array of shape (16,) [Op:x[...]] at process_programs.py"
    )
    from_owners = "indices[12] = 99 is not in [0, 16) [Op:sharded_gather] at process_programs.py:"
    for result in results:
        assert json.loads(result.read_text()) == {
            "sharded-jit": [f"indices[12] = 99 {where}", 120.0],
            "shard_map": [f"indices[0] = 99 {where}", 120.0],
            "checked": [f"index 99 at position [12] {outside}:39 (rows_of)", 120.0],
            "checked shard_map": [f"index 99 at position [0] {outside}:39 (rows_of)", 120.0],
            "sharded_gather": [f"{from_owners}52 (from_owners)", 120.0],
            "sparse step": [f"{from_owners}59 (loss)", -1240.0],
        }


def test_shards_may_go_different_ways():
    outcomes = run("divergent")
    assert len(outcomes) == 2
    assert all(outcome["right"] for outcome in outcomes), outcomes
