"""versions.py: what runs, what is left out, and what is said of it."""

import sys

import pytest
import versions


@pytest.fixture
def without_environments(monkeypatch):
    monkeypatch.setattr(versions, "environment", lambda version, python: python)


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["versions.py", *arguments])
    return versions.main()


def test_a_python_that_is_not_here_is_named_and_left_out(monkeypatch, capsys):
    monkeypatch.setattr(versions, "interpreter", lambda version: None)
    assert run(monkeypatch, "--runs", "3.13-x64") == 0
    assert capsys.readouterr().out.split("\n")[-2] == (
        "3.13-x64: no Python 3.13 on this machine, left out"
    )


def test_this_python_is_found():
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    python = versions.interpreter(version)
    assert python is not None
    assert versions.reported_version(python) == version
    assert versions.interpreter("3.99") is None


@pytest.mark.parametrize(("tests", "status"), [("True", 0), ("False", 1)], ids=["pass", "fail"])
def test_what_ran_and_how_it_ended(
    monkeypatch, capsys, tmp_path, without_environments, tests, status
):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_x64.py").write_text(
        f"import jax\ndef test(): assert jax.config.jax_enable_x64 is {tests}\n"
    )
    monkeypatch.setattr(versions, "ROOT", tmp_path)
    monkeypatch.setattr(versions, "interpreter", lambda version: sys.executable)
    assert run(monkeypatch, "--runs", "3.11-x64") == status
    line = capsys.readouterr().out.strip().split("\n")[-1]
    assert line.startswith("3.11-x64: Python 3.")
    assert "x64 on: " in line
    assert ("1 passed" in line) == (status == 0)
    assert ("1 failed" in line) == (status == 1)
