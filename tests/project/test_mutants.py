"""The mutants, which `make mutants` runs, are changes of this source."""

import warnings

import mutants_equal
import pytest
from mutants import BY_HAND
from mutants_by_rule import fits, modules, sample
from mutants_tests import MODULES, ROOT, runs_of


def compiles(mutant):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of a number that is called, as 2(x)
        compile(mutant.text, str(mutant.path), "exec")


def test_mutants_by_hand_apply():
    assert len(set(BY_HAND)) == len(BY_HAND) > 100
    for mutant in BY_HAND:
        assert mutant.text != mutant.path.read_text(), mutant.name  # the original stands there once
        compiles(mutant)
        (tests,) = mutant.runs
        files, *options = " ".join(tests.arguments).split(" -k ")
        assert all((ROOT / file).is_file() for file in files.split()), mutant.name
        assert len(options) < 2, mutant.name


def test_every_module_has_mutants_by_rule_and_tests():
    mutants = sample(300, seed=0)
    assert 300 <= len(mutants) < 300 + len(MODULES)
    for mutant in {mutant.module: mutant for mutant in mutants}.values():
        assert mutant.text != mutant.path.read_text(), mutant.name
        compiles(mutant)
    with_branches = {module.name for module in modules() if module.branches}
    assert {mutant.module for mutant in mutants} == with_branches
    for module in with_branches:
        runs = runs_of(module)
        assert runs, module
        assert all(tests.arguments for tests in runs), module


@pytest.mark.parametrize("name", [name for name in mutants_equal.EQUAL if name])
def test_equal_mutants_are_made(name):
    """Each line of the list is about a change that a rule makes of this source."""
    (module,) = (module for module in modules() if module.name == name)
    shapes = [change.shape for change in module.changes()]
    for pattern in mutants_equal.EQUAL[name]:
        assert any(fits(pattern, shape) for shape in shapes), pattern
