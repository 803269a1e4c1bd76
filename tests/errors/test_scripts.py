"""What users see of an error: their scripts in processes of their own, output and status whole."""

import os
import subprocess
import sys

import pytest
from docs_pages import load

pytestmark = pytest.mark.slow

captured = load("captured")
SCRIPTS = captured.scripts()


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_page_shows_what_is_printed(name):
    printed = captured.run(name, SCRIPTS[name])
    assert captured.comparable(printed) == captured.comparable(SCRIPTS[name].printed)


def test_the_page_shows_each_way():
    commands = {(script.command or "notebook").partition("-q")[0] for script in SCRIPTS.values()}
    assert commands >= {"python eager.py", "python -m pytest ", "notebook"}


HEAD = """
import jax, jax.numpy as jnp, numpy as np, jaxops
from jax.sharding import NamedSharding, PartitionSpec as P

def decoder(table, words):
    return jnp.sum(jaxops.gather(table, words))

devices = jax.devices()
sharding = NamedSharding(jax.sharding.Mesh(np.array(devices), "d"), P("d"))
table, good = (jax.device_put(x, sharding) for x in (jnp.arange(16.0), jnp.arange(16)))
bad = jax.device_put(jnp.arange(16).at[7].set(99), sharding)
step = jax.jit(decoder)
"""
MORE = "INTERNAL: Buffer Definition Event: "
MESSAGE = (
    "INTERNAL: CpuCallback error calling callback: OutOfBoundsError: indices[7] = 99 is not in "
    "[0, 16) [Op:gather] at model.py:6 (decoder)\n"
)


@pytest.fixture
def printed(tmp_path):
    """Runs a script on some devices: its output, what it writes to stderr, and its status."""

    def run(text, devices=1, **options):
        (tmp_path / "model.py").write_text(HEAD + text)
        flags = f"--xla_force_host_platform_device_count={devices}"
        done = subprocess.run(
            [sys.executable, tmp_path / "model.py"],
            capture_output=True,
            text=True,
            env={**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags},
            **options,
        )
        # jax 0.10.0 says more on many devices.
        stdout, stderr = (x.replace(MORE, "INTERNAL: ") for x in (done.stdout, done.stderr))
        stderr = stderr.replace(f"{tmp_path}/", "")
        lines = [line for line in stderr.splitlines() if set(line.strip()) - {"^", "~"}]
        return stdout, lines, done.returncode

    return run


CAUGHT = """
def attempt(f, *args):
    try:
        jax.block_until_ready(f(*args))
    except (jax.errors.JaxRuntimeError, ValueError, IndexError) as error:
        print(str(error))

for program in (step, jax.jit(jax.grad(decoder)), jax.jit(lambda t, i: jax.lax.scan(
        lambda c, _: (c + decoder(t, i), None), 0.0, None, length=2)[0])):
    attempt(program, table, bad)
    attempt(program, table, bad)  # compiled already
"""
AFTERWARDS = """
jax.effects_barrier()
print(step(table, good))
jax.effects_barrier()
"""


@pytest.mark.parametrize("devices", [1, 8])
def test_a_caught_error_leaves_nothing(printed, devices):
    out, err, status = printed(CAUGHT + AFTERWARDS, devices)
    assert (out, err, status) == (6 * MESSAGE + "120.0\n", [], 0)


@pytest.mark.parametrize("devices", [1, 8])
def test_nothing_at_the_end_if_the_error_was_the_last(printed, devices):
    out, err, status = printed("step(table, good)\n" + CAUGHT, devices)
    assert (out, err, status) == (6 * MESSAGE, [], 0)


def test_an_eager_error_that_is_caught(printed):
    out, err, status = printed("attempt = None\n" + CAUGHT + "attempt(decoder, table, bad)\n")
    text = MESSAGE.removeprefix("INTERNAL: CpuCallback error calling callback: OutOfBoundsError: ")
    assert (out, err, status) == (6 * MESSAGE + text, [], 0)


HIDDEN = [
    "--------------------",
    "For simplicity, JAX has removed its internal frames from the traceback of the following "
    "exception. Set JAX_TRACEBACK_FILTERING=off to include these.",
]


def test_an_error_that_nobody_catches(printed):
    out, err, status = printed("def main():\n    step(table, bad)\nmain()\n")
    assert (out, status) == ("", 1)
    assert err == [
        "Traceback (most recent call last):",
        '  File "model.py", line 15, in <module>',
        "    main()",
        '  File "model.py", line 14, in main',
        "    step(table, bad)",
        f"jax.errors.JaxRuntimeError: {MESSAGE.strip()}",
        *HIDDEN,
    ]


def test_a_typed_error_that_nobody_catches(printed):
    program = "@jaxops.typed_errors()\ndef main():\n    return step(table, bad)\nmain()\n"
    for devices in (1, 8):
        out, err, status = printed(program, devices)
        assert (out, status) == ("", 1)
        assert err == [
            "Traceback (most recent call last):",
            '  File "model.py", line 16, in <module>',
            "    main()",
            *(
                ['  File "model.py", line 15, in main', "    return step(table, bad)"]
                * (devices == 1)
            ),
            f"jaxops.{MESSAGE.strip().partition('callback: ')[2]}",
        ]


def test_the_debugger_stops_at_the_call(printed):
    program = """
@jaxops.typed_errors(debugger=True)
def main(words):
    number = 7
    return jax.block_until_ready(step(table, words))
main(bad)
"""
    out, err, status = printed(program, input="p number, int(words[7])\nq\n")
    assert "-> return jax.block_until_ready(step(table, words))\n" in out
    assert "(7, 99)\n" in out
    assert (err[-1].startswith("jaxops.OutOfBoundsError: indices[7] = 99"), status) == (True, 1)
