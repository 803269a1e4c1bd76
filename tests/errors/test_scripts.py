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
# What runs before the errors that are caught and after them, and what the latter prints.
AROUND = {
    "and a good call": ("", AFTERWARDS, "120.0\n"),
    "and the end": ("step(table, good)\n", "", ""),
    "and an eager error": (
        "",
        "attempt(decoder, table, bad)\n",
        MESSAGE.partition("OutOfBoundsError: ")[2],
    ),
}


@pytest.mark.parametrize("devices", [1, 8])
@pytest.mark.parametrize("around", AROUND)
def test_a_caught_error_leaves_nothing(printed, around, devices):
    before, after, last = AROUND[around]
    out, err, status = printed(before + CAUGHT + after, devices)
    assert (out, err, status) == (6 * MESSAGE + last, [], 0)


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


# Functions with a block in which no result is read.
LOST = """
def kept(call):
    with jaxops.typed_errors():
        total = call()

def dropped(call):
    with jaxops.typed_errors():
        call()

@jaxops.typed_errors()
def decorated(call):
    call()

def nested(call):
    with jaxops.typed_errors():
        with jaxops.typed_errors():
            call()

def followed_by_others(call):
    with jaxops.typed_errors():
        call()
        for _ in range(3):
            step(table, good)

def donated(call):
    with jaxops.typed_errors():
        jax.jit(lambda x: x + 1, donate_argnums=0)(call())

compiled = jax.jit(decoder)
compiled(table, good)
ahead_of_time = step.lower(table, good).compile()
for block in (kept, dropped, decorated, nested, followed_by_others, donated):
    for call in (jax.jit(lambda t, i: decoder(t, i)), compiled, ahead_of_time):
        try:
            block(lambda: call(table, bad))
        except jaxops.OutOfBoundsError as error:
            print(type(error.__context__).__name__, error)
"""


@pytest.mark.parametrize("devices", [1, 8])
def test_an_error_that_is_not_read_in_the_block(printed, devices):
    out, err, status = printed(LOST, devices)
    lines = out.splitlines()
    assert {line.partition(" ")[0] for line in lines} <= {"JaxRuntimeError", "ValueError"}
    message = MESSAGE.strip().partition("OutOfBoundsError: ")[2]
    assert [line.partition(" ")[2] for line in lines] == [message] * 18
    assert (err, status) == ([], 0)


SLOW = """
import os, time
from jaxops._indexing import branches
look = branches._look
def slow(*args):
    time.sleep(0.2)
    os.write(1, b"raises\\n")  # at once, as threads write between one another
    return look(*args)
branches._look = slow
"""


@pytest.mark.parametrize(
    ("before", "call"),
    [
        ("", "step(table, bad)"),
        ("step(table, good), step(table, good)\n", "step(table, bad)"),
        ("ahead = step.lower(table, good).compile()\n", "ahead(table, bad)"),
    ],
)
def test_an_error_that_nobody_reads(printed, before, call):
    """The process does not end in silence, nor before its programs."""
    out, err, status = printed(SLOW + before + call, 8)
    assert (out, status) == (8 * "raises\n", 0)
    assert err == [f"jaxops: no result was read of a program that failed: {MESSAGE.strip()}"]


def test_the_process_does_not_end_before_its_programs(printed):
    """Also if one of them has raised in the caller's code: the other devices raise later."""
    text = "step(table, good), step(table, good)\nattempt(step, table, bad)\n"
    out, err, status = printed(SLOW + CAUGHT.partition("for program")[0] + text, 8)
    assert (out.count("raises\n"), out.count(MESSAGE), err, status) == (8, 1, [], 0)


@pytest.mark.parametrize("devices", [1, 8])
def test_an_error_that_is_handled_in_the_block(printed, devices):
    text = "with jaxops.typed_errors():\n    attempt(step, table, good)\n"
    text += "    attempt(step, table, bad)\nprint('left')\n"
    out, err, status = printed(CAUGHT.partition("for program")[0] + text, devices)
    assert (out, err, status) == (f"{MESSAGE}left\n", [], 0)
