"""Runs the tests with the oldest and the newest versions that are supported, where they are here.

Each has an environment of its own, `.venv-3.11` and `.venv-3.13`. A Python that this machine lacks
is named and left out. Run it with `make test-versions`; needs nothing but the standard library.
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Upper bounds too: a newer JAX is no failure of these versions.
VERSIONS = {
    "3.11": ["jax==0.10.0", "jaxlib==0.10.0", "numpy==2.0.*"],
    "3.13": ["jax==0.12.*", "jaxlib==0.12.*"],
}
RUNS = [f"{python}-{bits}" for python in VERSIONS for bits in ("x32", "x64")]


def interpreter(version: str) -> str | None:
    """A Python of that version: on the PATH, or as pyenv keeps them."""
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    found = sorted(glob.glob(f"{pyenv}/versions/{version}.*/bin/python"))
    for candidate in [shutil.which(f"python{version}"), *found, sys.executable]:
        if candidate and reported_version(candidate) == version:
            return candidate
    return None


def reported_version(python: str) -> str:
    """Empty where it does not run: pyenv puts commands on the PATH that may only say so."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    result = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return result.stdout.strip() if result.returncode == 0 else ""


def environment(version: str, python: str) -> str:
    """The Python of a virtual environment with the packages of that version."""
    folder = ROOT / f".venv-{version}"
    wanted = "\n".join([python, *VERSIONS[version], (ROOT / "pyproject.toml").read_text()])
    stamp = folder / ".installed"
    inside = str(folder / "bin" / "python")
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [inside, "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--upgrade", "pip"], check=True)
        editable = f"{ROOT}[examples,test]"
        subprocess.run([*pip, "--editable", editable, *VERSIONS[version]], check=True)
        stamp.write_text(wanted)
    return inside


def run_tests(python: str, x64: bool, options: list[str]) -> tuple[int, str]:
    """The exit status of pytest, and the last line that it printed."""
    command = [python, "-m", "pytest", "--numprocesses", "auto", "--maxprocesses", "8", *options]
    # The examples in the documents show what is printed without 64-bit types.
    command += ["tests"] if x64 else []
    setting = {"JAX_ENABLE_X64": str(int(x64))}
    last = ""
    with subprocess.Popen(
        command, cwd=ROOT, env=os.environ | setting, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    return process.returncode, last


def described(python: str, x64: bool) -> str:
    code = (
        "import platform, jax, numpy\n"
        "print('Python', platform.python_version(), 'jax', jax.__version__, end=' ')\n"
        "print('numpy', numpy.__version__)"
    )
    versions = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return f"{versions.stdout.strip()}, x64 {'on' if x64 else 'off'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", nargs="+", choices=RUNS, default=RUNS)
    parser.add_argument("options", nargs="*", help="options of pytest, after a --")
    arguments = parser.parse_args()
    lines, failed = [], 0
    for run in arguments.runs:
        version, bits = run.split("-")
        python = interpreter(version)
        if python is None:
            lines.append(f"{run}: no Python {version} on this machine, left out")
            continue
        inside = environment(version, python)
        title = described(inside, bits == "x64")
        print(f"\n{title}", flush=True)
        status, last = run_tests(inside, bits == "x64", arguments.options)
        lines.append(f"{run}: {title}: {last}")
        failed += status != 0
    print("\n".join(["", *lines]), flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
