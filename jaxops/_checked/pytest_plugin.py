"""`pytest --jaxops-checked`: the code of every test runs as under `jaxops.check_everything`.

pytest imports this module in each of its runs where jaxops is installed. So the module imports
neither JAX nor another room before a run asks for the checks.
"""

from __future__ import annotations

import pytest

from jaxops._checked import command


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("jaxops")
    group.addoption(
        "--jaxops-checked",
        action="store_true",
        help="an index of JAX code that is out of bounds is an error: jaxops.check_everything",
    )
    command.add_options(group.addoption, "jaxops-")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.jaxops_checked:
        config.pluginmanager.register(_Checked())
        return
    for option in ("outside", "negative"):
        if config.getoption(f"jaxops_{option}"):
            raise pytest.UsageError(f"--jaxops-{option} needs --jaxops-checked")


class _Checked:
    """The hooks of a run with `--jaxops-checked`."""

    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Starts checking when all test modules are imported: some of them configure JAX first."""
        options = session.config.option
        command.check_everything(options.jaxops_outside, options.jaxops_negative)

    @pytest.hookimpl(wrapper=True)
    def _with_typed_errors(self):
        """A program that fails makes its test fail, also if the test never reads the result."""
        from jaxops._typed_errors import typed_errors

        with typed_errors():
            return (yield)

    pytest_runtest_setup = pytest_runtest_call = pytest_runtest_teardown = _with_typed_errors

    def pytest_runtest_makereport(self, call: pytest.CallInfo) -> None:
        """The report of a failure has the typed error, and frames of the caller's code alone.

        The exceptions of a `unittest.TestCase` pass no other hook.
        """
        from jaxops import _errors, _frames

        error = call.excinfo and _errors.find_in(call.excinfo.value)
        if call.excinfo and error:
            frames = _frames.of_caller(call.excinfo.tb) or call.excinfo.tb
            call.excinfo = pytest.ExceptionInfo.from_exception(error.with_traceback(frames))
