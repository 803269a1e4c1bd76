"""What is meant to differ still does, and nothing public is left out."""

import jax
import pytest
from calls import Refused
from differences import DIFFERENCES
from outcome import OUR_ERRORS, THEIR_ERRORS, arrays, tensors_to_arrays
from records import PUBLIC
from table import COMPARED, NOT_COMPARED


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
    public = {*PUBLIC}
    methods = {name for name in COMPARED if name.split(".")[0] in public and "." in name}
    missing = public - COMPARED - NOT_COMPARED.keys()
    assert not missing, f"tests/parity/entries_*.py: `compared` wants calls of {sorted(missing)}"
    assert COMPARED - methods <= public
    assert not COMPARED & NOT_COMPARED.keys()
