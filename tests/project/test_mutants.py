"""The list of mutants, which `make mutants` runs, is one of this source."""

import pytest
from mutants import MUTANTS, PACKAGE, ROOT

# What makes no decision that a test could see.
WITHOUT = {
    "compat/__init__",
    *("dtypes", "image", "linalg", "math", "nn", "sparse", "strings", "typing"),  # names only
    *(f"_{room}/__init__" for room in ("ops", "run", "indexing", "cpu", "cuda", "sparse")),
}


@pytest.mark.parametrize("module", sorted({mutant.module for mutant in MUTANTS}))
def test_mutants_apply(module):
    for mutant in MUTANTS:
        if mutant.module == module:
            text = mutant.text()  # the original stands there once
            assert text != mutant.path.read_text(), mutant.name
            compile(text, str(mutant.path), "exec")


def test_every_module_has_mutants():
    modules = {str(path.relative_to(PACKAGE).with_suffix("")) for path in PACKAGE.rglob("*.py")}
    assert {mutant.module for mutant in MUTANTS} == modules - WITHOUT
    assert len(set(MUTANTS)) == len(MUTANTS) >= 100


def test_their_tests_are_there():
    for mutant in MUTANTS:
        files, options = [], mutant.arguments
        while options and options[0] != "-k":
            files.append(options.pop(0))
        assert files, mutant.name
        assert all((ROOT / file).is_file() for file in files), mutant.name
        assert not options or len(options) == 2, mutant.name
