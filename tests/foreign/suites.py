"""Runs the test suites that packages of JAX ship, without and with `--jaxops-checked`.

A test that passes without the checks and fails with them is in the table of `found.py`, with the
proof that the package does read out of bounds, or is a defect of jaxops. So is a row of the table
whose test does not fail. `make foreign` runs this in an environment of its own; the lines that
pytest prints are in `build/foreign`.
"""

import argparse
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from xml.etree import ElementTree

from found import FOUND

HERE = Path(__file__).resolve().parent
PRINTED = HERE.parents[1] / "build" / "foreign"  # what pytest prints
# Packages whose wheels have their tests, and those whose source distributions alone have them.
IN_WHEELS = ("jraph", "mctx", "haiku", "chex", "rlax", "distrax", "optax", "dm_pix")
IN_SOURCES = ("flax",)
# Packages without tests of their own: ours, in the folders beside this file.
OURS = ("pgx", "jumanji", "craftax", "jaxmarl")


def tests_of(package: str) -> Path:
    """The folder that has the tests of the package as it is installed."""
    if package in OURS:
        return HERE / f"{package}_play"
    if package not in IN_SOURCES:
        spec = importlib.util.find_spec(package)
        assert spec is not None, f"{package} is not installed"
        assert spec.origin is not None
        return Path(spec.origin).parent
    version = importlib.metadata.version(package)
    tests = PRINTED / f"{package}-{version}" / "tests"
    if not tests.is_dir():
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary"]
        download += [package, "--dest", str(PRINTED), f"{package}=={version}"]
        subprocess.run(download, check=True)
        (archive,) = PRINTED.glob(f"{package}-{version}.tar.gz")
        shutil.unpack_archive(archive, PRINTED, filter="data")
    return tests


def outcomes(
    folder: Path, tests: list[str], printed: Path, *options: str, only: Collection[str] = ()
) -> dict[str, str]:
    """The message of each test that failed, by the name of the test; "" for each that passed.

    `only`: the names of the tests to run; if it is empty, all tests run.
    """
    root = folder.parent
    with tempfile.TemporaryDirectory() as out:
        names = Path(out, "names")
        names.write_text("\n".join(only))
        report = Path(out, "report.xml")
        command = [sys.executable, "-m", "pytest", "-p", "as_their_authors_run_them", *options]
        command += ["-c", HERE / "pytest.ini", "--rootdir", root, "--junitxml", report]
        command += ["--numprocesses", "auto", *(root / test for test in tests)]
        # An empty path would be the folder, in which haiku has a typing.py.
        paths = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONPATH": paths, "JAX_PLATFORMS": "cpu"}
        environment["PYTHONSAFEPATH"] = "1"  # nothing is imported from the folder
        environment["ONLY_TESTS_OF"] = str(names)
        with printed.open("w") as file:
            done = subprocess.run(
                [*map(str, command)],
                stdout=file,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=folder,  # where the tests of mctx look for files
            )
        if done.returncode not in (0, 1):  # all pass, or some fail
            raise SystemExit(printed.read_text()[-3000:])
        found: dict[str, str] = {}
        for case in ElementTree.parse(report).iter("testcase"):
            wrong = [*case.iter("failure"), *case.iter("error")]
            # A module of tests that cannot be imported has no tests.
            is_module = any(part.get("message") == "collection failure" for part in wrong)
            if case.find("skipped") is None and not is_module:
                text = " ".join(part.get("message") or part.text or "fails" for part in wrong)
                found[name_of(case)] = found.get(name_of(case)) or text
    return found


def name_of(case: ElementTree.Element) -> str:
    """A test as pytest names it: "flax/tests/linen/linen_test.py::PoolTest::test_avg_pool"."""
    file, name, classes = (case.get(key, "") for key in ("file", "name", "classname"))
    module = file.removesuffix(".py").replace("/", ".")
    return "::".join([file, *filter(None, classes.removeprefix(module).split(".")), name])


def compared(package: str, show: bool) -> bool:
    """Whether the package's tests end as they should; prints those that do not."""
    PRINTED.mkdir(parents=True, exist_ok=True)
    folder = tests_of(package)
    printed = PRINTED / f"{package}-checked.txt"
    checked = outcomes(folder, [folder.name], printed, "--jaxops-checked")
    failed = {name: text for name, text in checked.items() if text}
    without: dict[str, str] = {}
    if failed:
        # By themselves, both ways: some set XLA up, which earlier tests of the process have done.
        again = PRINTED / f"{package}-checked-again.txt"
        files = sorted({name.partition("::")[0] for name in failed})
        alone = outcomes(folder, files, again, "--jaxops-checked", only=failed)
        for name in sorted(failed.keys() - alone.keys()):
            print(f"  fails, and is not there in a run of its file: {name}: {failed[name][:200]}")
        failed = {name: text for name, text in alone.items() if text}
        without = outcomes(folder, files, PRINTED / f"{package}-unchecked.txt", only=alone)
    new = {name: text for name, text in failed.items() if without[name] == ""}
    listed = FOUND.get(package, {}).keys()
    print(
        f"{package}: {len(checked)} tests, {len(failed) - len(new)} fail; "
        f"{len(new)} more fail with --jaxops-checked, and {len(listed & new.keys())} of these do "
        "read out of bounds",
        flush=True,
    )
    if show:
        for name in sorted(failed.keys() - new.keys()):
            print(f"  fails without the checks too: {name}: {without[name][:200]}")
    for name in sorted(new.keys() - listed):
        print(f"  not in the table: {name}: {new[name]}")
    for name in sorted(listed - new.keys()):
        print(f"  in the table, and does not fail: {name}")
    return new.keys() == listed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--suites", nargs="*", default=(*IN_WHEELS, *IN_SOURCES, *OURS), help="names of packages"
    )
    parser.add_argument("--show", action="store_true", help="what fails without the checks too")
    arguments = parser.parse_args()
    if not all([compared(package, arguments.show) for package in arguments.suites]):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
