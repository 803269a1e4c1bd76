"""Which tests are to notice a change of a module: found by names and imports, in no table."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
PACKAGE = ROOT / "jaxops"
MODULES = {str(p.relative_to(PACKAGE).with_suffix("")): p for p in sorted(PACKAGE.rglob("*.py"))}
OF_OTHER_ENVIRONMENTS = {"parity", "site"}
FILES = [
    path
    for path in sorted(TESTS.rglob("test_*.py"))
    if path.parent.name not in OF_OTHER_ENVIRONMENTS
]
OF_THE_ROOT = ["errors", "project"]  # folders of tests of the modules that are in no room
# Tests of all functions, of which those that name a function are its own; first come those that
# notice most.
OF_FUNCTIONS = ["project/test_refusals.py", "ops/test_ops.py"]
OF_FUNCTIONS += ["ops", "indexing", "run", "devices", "errors"]


class Tests(NamedTuple):
    """Arguments of pytest, and which of these tests run."""

    arguments: list[str]
    filtered: frozenset[str] = frozenset()  # files and folders; of them tests that fit:
    pattern: str = ""  # in the name with its brackets, or in the function
    slow: frozenset[str] | None = frozenset()  # files of which slow tests run only; None: all run

    def has(self, item: pytest.Item) -> bool:
        file = item.nodeid.partition("::")[0]
        is_slow = item.get_closest_marker("slow") is not None
        if self.slow is not None and is_slow != (file in self.slow):
            return False
        if not self.filtered or (file in self.arguments and file not in self.filtered):
            return True
        text = item.name + source_of(getattr(item, "function", None))
        return re.search(self.pattern, text) is not None


@functools.cache
def source_of(function: Callable | None) -> str:
    return inspect.getsource(function) if function else ""


IMPORT = re.compile(r"^ *from jaxops\.?([\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


@functools.cache
def imports_of(path: Path) -> set[str]:
    """Modules of jaxops that another one or a test imports, relative to the package."""
    found = set()
    for of, names in IMPORT.findall(path.read_text()):
        of = of.replace(".", "/")
        found |= {of, *(f"{of}/{name}".lstrip("/") for name in re.findall(r"\w+", names))}
    return found & {*MODULES}


def importers_of(modules: set[str]) -> set[str]:
    return {name for name, path in MODULES.items() if imports_of(path) & modules}


def stem_of(module: str) -> str:
    *rooms, stem = module.split("/")
    if stem == "__init__":
        stem = rooms[-1] if rooms else PACKAGE.name
    return stem.lstrip("_")


def own_tests(module: str) -> list[Path]:
    """Tests with the name of the module, its examples, and tests that import it."""
    of_its_name = [path for path in FILES if path.name == f"test_{stem_of(module)}.py"]
    examples = [path for path in [MODULES[module]] if ">>>" in path.read_text()]
    importing = [path for path in FILES if module in imports_of(path)]
    return [*dict.fromkeys([*of_its_name, *examples, *importing])]


@functools.cache
def body_of(path: Path) -> list[ast.stmt]:
    return ast.parse(path.read_bytes()).body


def functions_of(module: str) -> list[str]:
    """Public functions and classes of the module and of those that import it, as far as to ops."""
    reached = {module, *importers_of({module})}
    while not any(name.startswith("_ops/") for name in reached):
        more = importers_of(reached) - reached
        if not more:
            break
        reached |= more
    nodes = [n for name in reached if "_ops/" in name for n in body_of(MODULES[name])]
    names = {n.name for n in nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    return sorted(names & set(re.findall(r"\w+", MODULES["_names"].read_text())))


@functools.cache
def runs_of(module: str) -> list[Tests]:
    """The tests that run first for a mutant, and the tests that run if these notice nothing."""
    own = own_tests(module)
    near = [path for name in sorted(importers_of({module})) for path in own_tests(name)]
    if not own:
        own, near = [*dict.fromkeys(near)], []
    folders = [module.split("/")[0].lstrip("_")] if "/" in module else OF_THE_ROOT
    room = [path for folder in folders for path in FILES if path.parent.name == folder != "ops"]
    functions = functions_of(module)
    shared = [TESTS / name for name in OF_FUNCTIONS] if functions else []
    if module.startswith("compat/"):
        functions, shared = ["v0"], [TESTS / OF_FUNCTIONS[0]]
    pattern = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in functions)
    first, *rest = [[str(p.relative_to(ROOT)) for p in some] for some in (own, shared, near, room)]
    shared, near, room = rest
    others = dict.fromkeys([*shared[:2], *near, *room, *shared[2:], *first])
    runs = [Tests(first), Tests([*others], frozenset(shared), pattern, slow=frozenset(first))]
    return [tests for tests in runs if tests.arguments]  # without arguments pytest runs all tests
