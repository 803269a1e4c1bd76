"""Programs on several host devices, which only a new process can have; each checks its results."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from checks import NIGHTLY, printed_by

pytestmark = pytest.mark.slow

# Numbers of devices. The most have meshes of two axes besides.
NUMBERS = [pytest.param(1, marks=NIGHTLY), pytest.param(2, marks=NIGHTLY), 8]
# A shard left waiting in a collective kills the process, by default after 40 s.
FLAGS = (
    "--xla_cpu_collective_call_warn_stuck_timeout_seconds=2 "
    "--xla_cpu_collective_call_terminate_timeout_seconds=3"
)


def run(program, argument, **options):
    printed_by(Path(__file__).with_name(program), argument, **options)


@pytest.mark.parametrize("third", range(3))
def test_a_bad_shard_is_an_error_and_the_process_lives(third):
    run("device_programs.py", third, env={"XLA_FLAGS": FLAGS})


@pytest.mark.parametrize("types", ["tracked", "untracked"])
def test_shards_may_go_different_ways(types):
    run("branch_programs.py", types, env={"XLA_FLAGS": FLAGS})


def test_checks_share_a_branch():
    run("device_programs.py", "shared", env={"XLA_FLAGS": FLAGS})


@pytest.mark.parametrize("devices", NUMBERS)
def test_rows_go_to_and_from_their_owners(devices):
    run("exchange_programs.py", devices)


@pytest.mark.parametrize("devices", NUMBERS)
def test_sparse_gradients_on_explicit_axes(devices):
    run("explicit_programs.py", devices)


@pytest.mark.parametrize(
    "way", ["jit", "jnp", "explicit", "every", "auto_axes", "eager", "shard_map"]
)
def test_tables_that_devices_share(way):
    run("sharded_programs.py", way)


def test_two_processes_raise_and_end():
    """A bad index in the data of one of them."""
    script = Path(__file__).with_name("process_programs.py")
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    processes = [
        subprocess.Popen(
            [sys.executable, script, str(port), str(rank)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": FLAGS},
        )
        for rank in (0, 1)
    ]
    ends = [(process.communicate()[1], process.returncode) for process in processes]
    assert ends == [("", 0), ("", 0)]
