"""The mutants, which `make mutants` runs, are changes of this source."""

import itertools
import warnings

import mutants_equal
import pytest
from mutants import BY_HAND
from mutants_by_rule import Module, fits
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
        paths, *options = " ".join(tests.arguments).split(" -k ")
        assert all((ROOT / path).exists() for path in paths.split()), mutant.name
        assert len(options) < 2, mutant.name


@pytest.mark.slow
@pytest.mark.nightly  # as `make mutants` is
def test_every_module_has_mutants_by_rule_and_tests():
    with_branches = [module for module in map(Module, MODULES.values()) if module.branches]
    assert len(with_branches) > 100
    for module in with_branches:
        *_, mutant = itertools.islice(module.changes(), 20)  # all would take a minute to compile
        assert mutant.text != mutant.path.read_text(), mutant.name
        compiles(mutant)
        assert runs_of(module.name), module.name


@pytest.mark.parametrize("name", [name for name in mutants_equal.EQUAL if name])
def test_equal_mutants_are_made(name):
    """Each line of the list is about a change that a rule makes of this source."""
    shapes = [change.shape for change in Module(MODULES[name]).changes()]
    for pattern in mutants_equal.EQUAL[name]:
        assert any(fits(pattern, shape) for shape in shapes), pattern
