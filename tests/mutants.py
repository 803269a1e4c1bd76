"""Small changes of jaxops, one at a time, each of which its tests must notice: `make mutants`.

Those of `mutants_by_hand.py`, and a sample of those that `mutants_by_rule.py` makes.

One process imports what all tests import, but for jaxops, and forks a child for each mutant. There
an import hook compiles the changed text in place of the module's, and pytest runs the tests that
are to fail. No file is touched. A test that starts a process of its own sees no change. At the end
the tests that failed run once more without a mutant, where they have to pass.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.machinery
import importlib.util
import math
import os
import resource
import shlex
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import fast
import mutants_by_hand
from mutants_by_rule import Change, Module, sample
from mutants_tests import MODULES, PACKAGE, ROOT, TESTS, Tests

ENOUGH = 20  # seconds of a processor, after which no other test begins, of mutants by rule
HANGS_AFTER = 900  # seconds; by then the loop that was changed has no end
LIVES, INTERRUPTED, NO_TESTS = 0, 2, 5  # exit statuses of pytest
CRASHED, NOT_IMPORTED = 70, 71  # of a child that fails outside of pytest
LIVING, STOPPED = "LIVES", "enough tests ran"
GIVEN_FLAGS = os.environ.get("XLA_FLAGS", "")
# The programs of mutants by rule are compiled without optimizations, as for `make test`.
MARKED = "not optimized and not large and not stress and not site"


class ByHand(NamedTuple):
    """`original`, which stands in `module` once, replaced by `mutated`; `tests` are to notice."""

    module: str  # within jaxops, without ".py"
    original: str
    mutated: str
    tests: str  # arguments of pytest: files of tests, or modules with their examples, and -k

    @property
    def path(self) -> Path:
        return PACKAGE / f"{self.module}.py"

    @property
    def name(self) -> str:
        return f"{self.module}: {self.original!r} -> {self.mutated!r}"

    @property
    def runs(self) -> list[Tests]:
        arguments = [
            str(next(TESTS.rglob(argument)).relative_to(ROOT))
            if argument.startswith("test_") and argument.endswith(".py")
            else argument
            for argument in shlex.split(self.tests)
        ]
        return [Tests(arguments, slow=None)]

    @property
    def text(self) -> str:
        source = self.path.read_text()
        count = source.count(self.original)
        if count != 1:
            raise ValueError(f"{self.name}: the original stands {count} times in {self.path.name}")
        return source.replace(self.original, self.mutated)


BY_HAND = [
    ByHand(module, *mutant)
    for module, mutants in mutants_by_hand.MUTANTS.items()
    for mutant in mutants
]


Mutant = ByHand | Change


class Loader(importlib.machinery.SourceFileLoader):
    """Compiles `text` in place of the file's, of which nothing is kept."""

    def __init__(self, fullname: str, path: str, text: str):
        super().__init__(fullname, path)
        self.text = text

    def get_code(self, fullname):
        return self.source_to_code(self.text.encode(), self.path)


class Finder:
    """Finds one module: that of a mutant."""

    def __init__(self, mutant: Mutant):
        self.name = f"jaxops.{mutant.module.replace('/', '.')}".removesuffix(".__init__")
        self.path, self.text = str(mutant.path), mutant.text

    def find_spec(self, fullname, path=None, target=None):
        if fullname != self.name:
            return None
        loader = Loader(fullname, self.path, self.text)
        return importlib.util.spec_from_file_location(fullname, self.path, loader=loader)


class Plugin:
    """Lets all runs share what they compiled, and keeps the names of the tests that failed."""

    def __init__(self, tests: Tests, cache: str, seconds: float):
        self.tests, self.cache = tests, cache
        self.failed: list[str] = []
        self.stops_at = time.process_time() + seconds

    def pytest_configure(self, config):
        # A plugin's comes after that of conftest.py, which makes a folder for each run.
        import jax

        os.environ["JAX_COMPILATION_CACHE_DIR"] = self.cache
        jax.config.update("jax_compilation_cache_dir", self.cache)

    pytest_configure.trylast = True  # type: ignore[attr-defined]

    def pytest_collection_modifyitems(self, items):
        """All refusals first, and one of each test function, as few run where they take long."""
        rounds: dict[tuple[bool, int], list] = {}
        seen: Counter[str] = Counter()
        for item in filter(self.tests.has, items):
            is_quick = "test_refused" in item.nodeid
            function = item.nodeid if is_quick else item.nodeid.partition("[")[0]
            is_slow = item.get_closest_marker("slow") is not None
            rounds.setdefault((is_slow, seen[function]), []).append(item)
            seen[function] += 1
        items[:] = [item for turn in sorted(rounds) for item in rounds[turn]]

    def pytest_runtest_protocol(self, item):
        if time.process_time() > self.stops_at:
            item.session.shouldstop = STOPPED

    def pytest_collectreport(self, report):
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.append(report.nodeid)


def run_tests(tests: Tests, mutant: Mutant | None, cache: str, note: Path) -> int:
    """In the child: the exit status of pytest; `note` gets the tests that failed."""
    import pytest

    try:
        if mutant is not None:
            # Now, as pytest has a hook of its own for modules whose examples it runs.
            finder = Finder(mutant)
            sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
            changed = importlib.import_module(finder.name)
        import jaxops
        import jaxops.compat.v0
        import jaxops.testing
    except Exception:
        traceback.print_exc()
        return NOT_IMPORTED
    assert Path(jaxops.__file__).parent == PACKAGE, f"jaxops is that of {jaxops.__file__}"

    assert mutant is None or isinstance(changed.__loader__, Loader), "the mutant is not applied"
    is_by_rule = isinstance(mutant, Change)
    plugin = Plugin(tests, cache, ENOUGH if is_by_rule else math.inf)
    # Without `sweeps` the parameters that `make test` leaves out are not the last to run.
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:sweeps", "--rootdir", str(ROOT)]
    # As jaxops has a plugin, pytest would rewrite its asserts, and warns that it is there already.
    options += ["-W", "ignore:Module already imported"]
    options += [] if mutant is None else ["-x"]
    if is_by_rule:
        options += ["-m", MARKED]
    else:
        os.environ["XLA_FLAGS"] = GIVEN_FLAGS
    status = pytest.main([*options, *tests.arguments], plugins=[plugin])
    note.write_text("\n".join(plugin.failed))
    return int(status)


def start(tests: Tests, mutant: Mutant | None, cache: str, stem: Path) -> int:
    """A child that runs `tests`; its output goes to files at `stem`."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    status = CRASHED
    try:
        signal.alarm(HANGS_AFTER)
        with stem.with_suffix(".log").open("w") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
            with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
                status = run_tests(tests, mutant, cache, stem.with_suffix(".note"))
    except BaseException:
        with stem.with_suffix(".log").open("a") as log:
            traceback.print_exc(file=log)
    finally:
        os._exit(status)


class Run(NamedTuple):
    """How one run ended."""

    number: int  # among all
    status: int  # of its process: that of pytest, or a signal's, negative
    failed: list[str]  # tests
    output: str
    seconds: float


def run_all(runs, jobs: int, folder: Path) -> Iterator[Run]:
    """Of each of `runs`, which are pairs of tests and a mutant or None; as they end."""
    waiting = list(enumerate(runs))[::-1]
    running: dict[int, tuple[int, float]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            number, (tests, mutant) = waiting.pop()
            child = start(tests, mutant, str(folder / "cache"), folder / str(number))
            running[child] = number, time.monotonic()
        child, status = os.wait()
        number, began = running.pop(child)
        note, log = folder / f"{number}.note", folder / f"{number}.log"
        failed = note.read_text().splitlines() if note.exists() else []
        status = os.waitstatus_to_exitcode(status)
        yield Run(number, status, failed, log.read_text(), time.monotonic() - began)
        for path in (note, log):
            path.unlink(missing_ok=True)


def describe(run: Run, mutant: Mutant) -> str:
    """The outcome in words. A mutant by rule may also end the tests without a failing one."""
    if run.failed:
        return f"killed by {run.failed[0]}"
    if run.status == LIVES:
        return LIVING
    if run.status == INTERRUPTED and STOPPED in run.output:
        return f"{LIVING}, as far as its tests ran"
    if isinstance(mutant, Change):
        if run.status == NO_TESTS:
            return LIVING
        if run.status == NOT_IMPORTED:
            return "killed, as it cannot be imported"
        if run.status < 0:
            return f"killed by {signal.Signals(-run.status).name}"
    return f"ERROR: exit status {run.status}, not that of a failing test\n{run.output[-800:]}"


def try_mutants(mutants: list[Mutant], jobs: int, folder: Path) -> tuple[list, int, dict]:
    """The mutants that live, the number of errors, and the mutants that each test killed."""
    errors = 0
    killers: dict[str, list[Mutant]] = {}
    for turn in range(2):  # the tests of the second take long
        tried = [mutant for mutant in mutants if len(mutant.runs) > turn]
        lives = [mutant for mutant in mutants if len(mutant.runs) <= turn]
        for run in run_all([(m.runs[turn], m) for m in tried], jobs, folder):
            mutant = tried[run.number]
            end = describe(run, mutant)
            print(f"{run.seconds:5.1f} s  {end}\n         {mutant.name}", flush=True)
            if run.failed:
                killers.setdefault(run.failed[0], []).append(mutant)
            lives += [mutant] if end.startswith(LIVING) else []
            errors += end.startswith("ERROR")
        mutants = lives
    return mutants, errors, killers


def fails_without(killers: dict[str, list[Mutant]], jobs: int, folder: Path) -> int:
    """How many mutants were killed by a test that fails without them too, which proves nothing."""
    files: dict[str, list[str]] = {}
    for test in sorted(killers):
        files.setdefault(test.partition("::")[0], []).append(test)
    errors = 0
    for run in run_all([(Tests(tests, slow=None), None) for tests in files.values()], jobs, folder):
        if run.status != LIVES:
            print(f"ERROR: without a mutant {run.failed} fail\n{run.output[-800:]}", flush=True)
            errors += sum(len(killers.get(test, [])) for test in run.failed) or 1
    return errors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="PATTERN", help="mutants whose name has it")
    parser.add_argument("--seed", default="0", help="another one draws other mutants by rule")
    parser.add_argument("--count", type=int, default=300, help="mutants by rule")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    args = parser.parse_args()
    mutants: list[Mutant] = [m for m in BY_HAND if args.only in m.name]
    modules = map(Module, MODULES.values())
    mutants += sample(modules, args.count, args.seed, args.only)
    if not mutants:
        parser.error(f"no mutant has {args.only!r} in its name")
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    # For the children. What pytest loads as a plugin it imports itself.
    import chex
    import optax
    import pytest

    del chex, optax, pytest
    assert "jaxops" not in sys.modules
    fast.set_flags()
    with tempfile.TemporaryDirectory(prefix="jaxops-mutants-") as name:
        lives, errors, killers = try_mutants(mutants, args.jobs, Path(name))
        errors += fails_without(killers, args.jobs, Path(name))
    minutes = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) / 60
    print(f"{len(lives)} of {len(mutants)} mutants live; {errors} errors")
    print(f"{minutes:.1f} minutes of one processor")
    for mutant in lives:
        print(f"  jaxops/{mutant.name}")
        if isinstance(mutant, Change):
            print(f"    in mutants_equal.py, if it changes no meaning: {mutant.shape!r}")
    return len(lives) + errors > 0


if __name__ == "__main__":
    sys.exit(main())
