"""docs/architecture.md tells what each room of jaxops imports, and it does."""

import ast
import graphlib
import re
from pathlib import Path

import pytest

import jaxops

PACKAGE = Path(jaxops.__file__).parent
TESTS = Path(__file__).parents[1]
PAGE = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text()
USERS_OF_INTERPRETERS = {"_forms", "_primitives", "_indexing", "_cpu", "_cuda", "_devices", "_run"}


def table() -> dict[str, set[str]]:
    """The rooms that each room imports, by the table of the page."""
    rows = re.findall(r"^\| `(\w+)` \| .* \|(.*)\|$", PAGE, re.MULTILINE)
    return {room: set(re.findall(r"`(\w+)`", imports)) for room, imports in rows}


def room_of(path: Path) -> str:
    room, *module = path.relative_to(PACKAGE).with_suffix("").parts
    # Modules of public names, such as `nn`, are part of the public names.
    is_public = room in ("__init__", "__main__") or not room.startswith("_")
    return "jaxops" if not module and is_public else room


def imported(path: Path) -> set[str]:
    """The modules that a file imports; names of a package count as modules of it."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
    return modules


def rooms_imported(path: Path) -> set[str]:
    ours = {module.split(".")[1] for module in imported(path) if module.startswith("jaxops.")}
    return {room if room in table() else "jaxops" for room in ours} | {
        "jaxops" for module in imported(path) if module == "jaxops"
    }


def test_imports():
    found = {room: set() for room in table()}
    for path in [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")]:
        found[room_of(path)] |= rooms_imported(path) - {room_of(path)}
    assert found == table()


def test_directions():
    imports = table()
    for room, others in imports.items():
        assert not others & {"_cpu", "_cuda"}, room  # `_forms.load` imports them, by their names
        assert "_ops" not in others or room in ("jaxops", "compat")
    below, left = set(), set(imports)
    while left:  # rooms that import nothing but rooms below them
        lowest = {room for room in left if imports[room] <= below} or (
            # compat stands beside the public names, which it passes on
            left if left == {"jaxops", "compat"} else set()
        )
        assert lowest, f"these import each other: {left}"
        below |= lowest
        left -= lowest


@pytest.mark.parametrize("folder", ["benchmarks", "docs/make", "examples", "tests"])
def test_scripts_import_no_circle(folder):
    paths = {path.stem: path for path in (TESTS.parent / folder).glob("*.py")}
    imports = {name: {m.split(".")[0] for m in imported(path)} for name, path in paths.items()}
    assert len(imports) > 9
    graphlib.TopologicalSorter(imports).prepare()  # raises CycleError


def test_interpreters():
    users = {
        room_of(path)
        for path in PACKAGE.rglob("*.py")
        if any(module.startswith("jax.interpreters") for module in imported(path))
    }
    assert users == USERS_OF_INTERPRETERS
    sentence = PAGE[PAGE.index("`jax.interpreters` is used") :].split(".", 2)
    assert set(re.findall(r"`(_\w+)`", ".".join(sentence))) >= USERS_OF_INTERPRETERS


def test_files_that_are_named_are_there():
    for name in set(re.findall(r"\b_\w+/\w+\.py", PAGE)):
        assert (PACKAGE / name).is_file(), name


# Parts of the judge of optimizers, which its tests see through the optimizers that they judge.
TESTED_TOGETHER = {name: "test_judge.py" for name in ("probe", "refusals", "runner", "trees")}
# Adapters alike, which one test compares with what they adapt, in each of their spellings.
TESTED_TOGETHER |= {
    f"_v0_{name}": "test_spelling.py"
    for name in ("blocks", "indexing", "joining", "matrices", "segments")
}


def test_every_module_has_a_test_module():
    modules = [path for path in PACKAGE.glob("*/**/*.py") if path.stem != "__init__"]
    assert len(modules) > 60
    for path in modules:
        room, *_, name = (part.lstrip("_") for part in path.relative_to(PACKAGE).parts)
        is_recorded = room == "ops" and (TESTS / "records" / name).is_file()  # the harness tests it
        test = TESTED_TOGETHER.get(path.stem, f"test_{name}")
        assert is_recorded or (TESTS / room / test).is_file(), (
            f"{path} wants tests/{room}/{test}{f', or tests/records/{name}' * (room == 'ops')}"
        )
