"""The names, the order and the defaults of arguments are those of TensorFlow 2."""

import inspect
import operator

import numpy as np
import pytest
from peer import tf
from records import RECORDS

import jaxops

# Of TensorFlow's arguments: what `mode` is for, what has no effect, and what is assigned to.
LEFT_OUT = {"bad_indices_policy", "validate_indices", "var"}
THEIRS = {
    name: record.readme.partition(" | ")[0].strip("`").removeprefix("tf.")
    for name, record in RECORDS.items()
    if record.section and not record.readme.startswith("-")
}


def default_of(argument, value):
    """As both sides have it: a dtype as its name; None, where it means int32, as that; no name."""
    if argument == "name":
        return None
    if argument in ("out_type", "out_idx"):
        return getattr(value, "name", None) or np.dtype(value or "int32").name
    return value


def positional(function):
    return [
        (p.name, default_of(p.name, p.default))
        for p in inspect.signature(function).parameters.values()
        if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and p.name not in LEFT_OUT
    ]


@pytest.mark.parametrize("name", THEIRS)
def test_signature(name):
    theirs = operator.attrgetter(THEIRS[name])(tf)
    assert positional(getattr(jaxops, name)) == positional(theirs)


def test_nothing_else_is_left_out():
    """Each of them is an argument of TensorFlow that no function of ours has."""
    names = {
        parameter
        for theirs in THEIRS.values()
        for parameter in inspect.signature(operator.attrgetter(theirs)(tf)).parameters
    }
    assert names >= LEFT_OUT
