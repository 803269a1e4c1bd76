"""`pytest --jaxops-checked`, in processes of its own."""

import functools
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops
from jaxops._checked import pytest_plugin

ROOT = Path(jaxops.__file__).parents[1]
a_process = pytest.mark.slow
TESTS = """
import threading, unittest
import jax, jax.numpy as jnp, pytest

jax.config.update("jax_num_cpu_devices", 2)
X, GOOD, BAD = jnp.zeros((4, 3)), jnp.array([1, -4]), jnp.array([1, 4])
rows = jax.jit(lambda i: X[i])
rows(BAD)  # before the first test

@pytest.fixture
def before():
    rows(BAD)

@pytest.fixture
def after():
    yield
    rows(BAD)

def lookup(i):
    return X[i]

def test_passes_in_bounds():
    rows(GOOD)
    lookup(GOOD)
def test_passes_with_a_mode():
    X.at[BAD].get(mode="clip")
def test_passes_as_it_expects_an_error():
    with pytest.raises((ValueError, jax.errors.JaxRuntimeError)):
        rows(BAD).block_until_ready()
def test_fails_at_once():
    lookup(BAD)
def test_fails_compiled():
    rows(BAD).block_until_ready()
def test_fails_if_nothing_reads_the_result():
    rows(BAD)
def test_fails_if_no_device_is_waited_for():
    mesh = jax.make_mesh((2,), ("rows",), (jax.sharding.AxisType.Auto,))
    rows(jax.device_put(BAD, jax.NamedSharding(mesh, jax.P("rows"))))
def test_fails_before(before):
    pass
def test_fails_after(after):
    pass
def test_differs():
    assert 1 == 2

class TestCase(unittest.TestCase):
    def test_fails_of_unittest(self):
        rows(BAD).block_until_ready()
    def test_fails_of_unittest_unread(self):
        rows(BAD)
    def test_differs_of_unittest(self):
        self.assertEqual(1, 2)
"""


def run(tmp_path: Path, *options: str, tests: str = TESTS) -> tuple[int, str]:
    """The exit status of pytest, and what it prints."""
    (tmp_path / "test_model.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-p", pytest_plugin.__name__, "-rA", "--tb=line"]
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # also where jaxops is installed with the plugin
        "JAX_PLATFORMS": "cpu",
        "COLUMNS": "500",  # for messages that are whole
    }
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *options, "test_model.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    return done.returncode, done.stdout + done.stderr


def outcomes(printed: str) -> dict[str, set[str]]:
    """Of each test: PASSED, FAILED, ERROR."""
    found: dict[str, set[str]] = {}
    for outcome, name in re.findall(r"^(PASSED|FAILED|ERROR) \S*::(\w+)", printed, re.M):
        found.setdefault(name, set()).add(outcome)
    return found


@a_process
def test_each_index_out_of_bounds_fails_its_test(tmp_path):
    status, printed = run(tmp_path, "--jaxops-checked")
    assert status == pytest.ExitCode.TESTS_FAILED
    found = outcomes(printed)
    assert len(found) == TESTS.count("def test_")
    for name, outcome in found.items():
        if name.startswith("test_passes"):
            assert outcome == {"PASSED"}, name
        elif name == "test_fails_before":
            assert outcome == {"ERROR"}
        elif name == "test_fails_after":
            assert outcome == {"PASSED", "ERROR"}
        else:
            assert outcome == {"FAILED"}, name
    words = "jaxops.OutOfBoundsError: index 4 at position [1] is out of bounds for axis 0 of an "
    words += "array of shape (4, 3) [Op:x[...]] at test_model.py:"
    lines = re.findall(rf"^(?:FAILED|ERROR) .* - {re.escape(words)}(.*)$", printed, re.M)
    assert sorted(lines) == ["20 (lookup)", *["7 (<lambda>)"] * 7]
    assert "jaxops/_" not in printed  # frames of the caller's code alone


@a_process
def test_without_the_flag_nothing_is_imported(tmp_path):
    tests = """
        import sys

        def test_modules():
            print(*[name for name in sys.modules if name.partition(".")[0] in ("jax", "jaxops")])
    """
    status, printed = run(tmp_path, tests="\n".join(x[8:] for x in tests.splitlines()))
    assert status == pytest.ExitCode.OK
    modules = "jaxops._names jaxops jaxops._checked jaxops._checked.command jaxops._checked."
    assert f"\n{modules}pytest_plugin\n" in printed


@a_process
def test_without_the_flag_nothing_is_checked(tmp_path):
    _, printed = run(tmp_path, "-k", "fails")
    assert {*map(frozenset, outcomes(printed).values())} == {frozenset({"PASSED"})}


@a_process
def test_outside_and_negative(tmp_path):
    rules = "--jaxops-outside=test_model.py:lookup=any", "--jaxops-outside=test_model.py=padding"
    _, printed = run(tmp_path, "--jaxops-checked", *rules, "-k", "fails")
    assert {*map(frozenset, outcomes(printed).values())} == {frozenset({"PASSED"})}
    _, printed = run(tmp_path, "--jaxops-checked", "--jaxops-negative", "-k", "in_bounds")
    assert "index -4 at position [1] is negative" in printed


@a_process
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--jaxops-checked", "--jaxops-outside=model.py"], "must be PATTERN=any or PATTERN="),
        (["--jaxops-checked", "--jaxops-outside=model.py=some"], "received 'model.py=some'"),
        (["--jaxops-outside=model.py=any"], "--jaxops-outside needs --jaxops-checked"),
        (["--jaxops-negative"], "--jaxops-negative needs --jaxops-checked"),
    ],
)
def test_refused_options(tmp_path, options, words):
    status, printed = run(tmp_path, *options)
    assert status == pytest.ExitCode.USAGE_ERROR
    assert words in printed


def test_a_report_has_the_typed_error_and_frames_of_the_caller():
    lookup, plugin = jax.jit(lambda i: jaxops.gather(jnp.arange(3), i)), pytest_plugin._Checked()

    def within_the_hook(function):
        hook = plugin._with_typed_errors()
        next(hook)
        try:
            function()
        except Exception as error:
            hook.throw(error)

    for function, kind in [
        (lambda: jax.block_until_ready(lookup(np.array([7]))), jaxops.OutOfBoundsError),
        (lambda: jaxops.gather([1], [7]), jaxops.OutOfBoundsError),
        (lambda: 1 / 0, ZeroDivisionError),
        (lambda: None, None),
    ]:
        call = pytest.CallInfo.from_call(functools.partial(within_the_hook, function), "call")
        plugin.pytest_runtest_makereport(call)
        assert kind is (call.excinfo and call.excinfo.type)
        if call.excinfo and kind is jaxops.OutOfBoundsError:
            files = {str(entry.path) for entry in call.excinfo.traceback}
            assert not any(str(ROOT / "jaxops") in file for file in files)


def test_entry_point():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"jaxops": pytest_plugin.__name__}
