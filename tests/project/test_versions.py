"""versions.py: what runs, what is left out, and what is said of it."""

import sys

import pytest
import versions

pytestmark = pytest.mark.slow


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


def test_an_instruction_set_that_is_not_here_is_named_and_left_out(monkeypatch, capsys):
    monkeypatch.setattr(versions, "processor_flags", lambda: {"sse4_2", "avx2"})
    assert run(monkeypatch, "--runs", "isa-AVX512") == 0
    assert capsys.readouterr().out.split("\n")[-2] == (
        "isa-AVX512: this processor has no avx512f, left out"
    )


def test_a_flag_that_xla_does_not_know_is_named_and_left_out(monkeypatch, capsys):
    monkeypatch.setitem(versions.FLAGS, "isa-one-thread", "--xla_cpu_no_such_flag=1")
    assert run(monkeypatch, "--runs", "isa-one-thread") == 0
    assert capsys.readouterr().out.split("\n")[-2] == (
        "isa-one-thread: this jaxlib does not take --xla_cpu_no_such_flag=1, left out"
    )


def test_flags_of_the_processor(tmp_path):
    path = tmp_path / "cpuinfo"
    path.write_text("processor\t: 0\nflags\t\t: fpu sse4_2 avx\nbugs\t\t: none\n\nflags\t\t: no\n")
    assert {"sse4_2", "avx"} < versions.processor_flags(str(path))
    assert "no" not in versions.processor_flags(str(path))
    assert versions.processor_flags(str(tmp_path / "missing")) == set()


def test_files_of_numbers_exist():
    assert versions.NUMBERS
    for name in versions.NUMBERS:
        assert (versions.ROOT / name).exists()


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


def test_numbers_run_with_the_flag_beside_those_that_are_set(monkeypatch, capsys, tmp_path):
    ours = "--xla_force_host_platform_device_count=2"
    flags = f"{ours} {versions.FLAGS['isa-one-thread']}"
    (tmp_path / "test_numbers.py").write_text(
        f"import os\n"
        f"def test_flags(): assert os.environ['XLA_FLAGS'] == {flags!r}\n"
        f"def test_fails(): assert False\n"
    )
    (tmp_path / "test_names.py").write_text("raise AssertionError\n")
    monkeypatch.setattr(versions, "ROOT", tmp_path)
    monkeypatch.setattr(versions, "NUMBERS", ["test_numbers.py"])
    monkeypatch.setenv("XLA_FLAGS", ours)
    assert run(monkeypatch, "--runs", "isa-one-thread", "--python", sys.executable) == 1
    line = capsys.readouterr().out.strip().split("\n")[-1]
    assert line.startswith("isa-one-thread: Python 3.")
    assert "1 failed, 1 passed" in line
