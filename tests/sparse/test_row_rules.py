"""_sparse/row_rules: names of primitives."""

import itertools

import pytest
from jax.extend.core import primitives

from jaxops._sparse import row_rules

SETS = {name: getattr(row_rules, name) for name in ("ELEMENTWISE", "MOVES", "REDUCTIONS")}
# `jax.extend` has no names of these.
OTHERS = {"add_any", "mulhi", "split"}


@pytest.mark.parametrize("name", SETS)
def test_names_are_of_primitives(name):
    assert not [x for x in SETS[name] - OTHERS if not hasattr(primitives, f"{x}_p")]


@pytest.mark.parametrize("pair", list(itertools.combinations(SETS, 2)))
def test_no_primitive_is_of_two_kinds(pair):
    assert not SETS[pair[0]] & SETS[pair[1]]
