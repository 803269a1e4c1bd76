"""Runs the tests with other versions, and the tests of numbers as other processors round.

The oldest and the newest versions that are supported have an environment of their own each,
`.venv-3.11` and `.venv-3.13`. The runs named `isa-` take the usual environment, and let XLA use no
more than that instruction set: it decides how wide a loop is and whether it multiplies and adds at
once, and so how sums round. `isa-one-thread` lets XLA split no loop among threads.

What this machine lacks is named and left out. Run it with `make test-versions`; needs nothing but
the standard library.
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
# By the flag of Linux that tells whether the processor has it.
INSTRUCTION_SETS = {"SSE4_2": "sse4_2", "AVX": "avx", "AVX2": "avx2", "AVX512": "avx512f"}
FLAGS = {f"isa-{name}": f"--xla_cpu_max_isa={name}" for name in INSTRUCTION_SETS}
FLAGS["isa-one-thread"] = "--xla_cpu_multi_thread_eigen=false"
RUNS = [f"{python}-{bits}" for python in VERSIONS for bits in ("x32", "x64")] + list(FLAGS)
# The tests whose numbers may round: sums, products, derivatives and casts of floating-point values,
# and what is told from their errors. The others move elements, count, or ask for errors.
NUMBERS = ["tests/testing", "tests/sparse", "tests/cpu", "tests/project/test_examples.py"]
NUMBERS += ["tests/indexing/test_deterministic_sums.py"] + [
    f"tests/ops/test_{name}.py"
    for name in ("scatter", "string_to_number", "casting", "reversing", "unique", "ops")
]


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
        editable = f"{ROOT}[examples,frameworks,test]"
        subprocess.run([*pip, "--editable", editable, *VERSIONS[version]], check=True)
        stamp.write_text(wanted)
    return inside


def lacking(run: str, python: str) -> str:
    """Why that run would test nothing, or kill XLA, which aborts where it does not know a flag."""
    needed = INSTRUCTION_SETS.get(run.removeprefix("isa-"))
    if needed is not None and needed not in processor_flags():
        return f"this processor has no {needed}"
    command = [python, "-c", "import jax; jax.numpy.zeros(1)"]
    result = subprocess.run(command, env=os.environ | with_flag(FLAGS[run]), capture_output=True)
    return f"this jaxlib does not take {FLAGS[run]}" if result.returncode else ""


def processor_flags(path: str = "/proc/cpuinfo") -> set[str]:
    """Of the first processor; none where the system does not tell them so."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return set()
    return set(next((line.split() for line in lines if line.startswith("flags")), []))


def with_flag(flag: str) -> dict[str, str]:
    return {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {flag}".strip()}


def run_tests(python: str, setting: dict[str, str], options: list[str]) -> tuple[int, str]:
    """The exit status of pytest, and the last line that it printed."""
    command = [python, "-m", "pytest", "--numprocesses", "auto", "--maxprocesses", "8"]
    command += ["--dist", "worksteal", *options]
    last = ""
    with subprocess.Popen(
        command, cwd=ROOT, env=os.environ | setting, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    return process.returncode, last


def described(python: str) -> str:
    code = (
        "import platform, jax, numpy\n"
        "print('Python', platform.python_version(), 'jax', jax.__version__, end=' ')\n"
        "print('numpy', numpy.__version__)"
    )
    versions = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return versions.stdout.strip()


def with_version(run: str, options: list[str], soon: bool, share: int) -> tuple[int, str]:
    """The exit status of a run with another Python and JAX, and what is said of it."""
    version, bits = run.split("-")
    python = interpreter(version)
    if python is None:
        return 0, f"no Python {version} on this machine, left out"
    inside, x64 = environment(version, python), bits == "x64"
    # The examples in the documents show what is printed without 64-bit types.
    options = options or (["tests"] if x64 else [])
    title = f"{described(inside)}, x64 {'on' if x64 else 'off'}"
    number = [*VERSIONS].index(version) % share  # each version takes others
    setting = {"JAX_ENABLE_X64": str(int(x64)), "JAXOPS_TESTS_SHARE": f"{number}/{share}"}
    if soon:
        setting["JAXOPS_TESTS_SOON"] = "1"
        title += ", what is not slow"
    if share > 1:
        title += f", one in {share} of the parameters of each test"
    print(f"\n{title}", flush=True)
    status, last = run_tests(inside, setting, options)
    return status, f"{title}: {last}"


def with_rounding(run: str, python: str, options: list[str]) -> tuple[int, str]:
    """The same for a run of the tests of numbers, as another processor rounds."""
    reason = lacking(run, python)
    if reason:
        return 0, f"{reason}, left out"
    title = f"{described(python)}, {FLAGS[run]}"
    print(f"\n{title}", flush=True)
    status, last = run_tests(python, with_flag(FLAGS[run]), [*options, *NUMBERS])
    return status, f"{title}: {last}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", nargs="+", choices=RUNS, default=RUNS)
    parser.add_argument("--python", default=sys.executable, help="of the usual environment")
    parser.add_argument("--soon", action="store_true", help="of versions: no slow tests")
    parser.add_argument("--share", type=int, default=1, help="of versions: one in so many tests")
    parser.add_argument("options", nargs="*", help="options of pytest, after a --")
    arguments = parser.parse_args()
    lines, failed = [], 0
    for run in arguments.runs:
        if run in FLAGS:
            status, text = with_rounding(run, arguments.python, arguments.options)
        else:
            status, text = with_version(run, arguments.options, arguments.soon, arguments.share)
        lines.append(f"{run}: {text}")
        failed += status != 0
    print("\n".join(["", *lines]), flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
