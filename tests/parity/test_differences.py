"""What is meant to differ still does, and nothing public is left out."""

import inspect

import jax
import pytest
from calls import Refused
from differences import DIFFERENCES
from outcome import OUR_ERRORS, THEIR_ERRORS, arrays, tensors_to_arrays
from table import ENTRIES, NOT_COMPARED

import jaxops
from jaxops.compat import v0


@pytest.mark.parametrize("name", DIFFERENCES)
def test_they_still_differ(name):
    difference = DIFFERENCES[name]
    try:
        with jax.enable_x64(True):
            ours = arrays(difference.of_jaxops())
    except OUR_ERRORS as error:
        ours = Refused(error)
    try:
        theirs = tensors_to_arrays(difference.of_tensorflow())
    except THEIR_ERRORS as error:
        theirs = Refused(error)
    difference.check(ours, theirs)


def test_every_public_name_is_compared_or_not_with_a_reason():
    public = {name for name, x in inspect.getmembers(jaxops) if _is_public(name, x, "jaxops")}
    public |= {
        f"v0.{name}" for name, x in inspect.getmembers(v0) if _is_public(name, x, "jaxops.compat")
    }
    # What stands after a hyphen tells the entries of one function apart.
    compared = {name.partition("-")[0] for name in ENTRIES}
    methods = {name for name in compared if name.split(".")[0] in public and "." in name}
    missing = public - compared - NOT_COMPARED.keys()
    assert not missing, f"tests/parity/entries_*.py: `compared` wants calls of {sorted(missing)}"
    assert compared - methods <= public
    assert not compared & NOT_COMPARED.keys()


def _is_public(name: str, x: object, module: str) -> bool:
    is_code = inspect.isfunction(x) or inspect.isclass(x)
    return is_code and not name.startswith("_") and x.__module__.startswith(module)
