"""The names in jaxops/_names.py and the lines of signatures.txt are those of TensorFlow 2.21."""

import inspect
import operator
import re

import pytest
from peer import tf
from signatures import OF_TENSORFLOW, RECORDED, written

from jaxops import _names


def _unnamed(line):
    """None means the operation's name too."""
    return re.sub(r"\bname='\w+'", "name=None", line)


@pytest.mark.parametrize("name", OF_TENSORFLOW)
def test_recorded(name):
    theirs = operator.attrgetter(OF_TENSORFLOW[name])(tf)
    kinds = {parameter.kind for parameter in inspect.signature(theirs).parameters.values()}
    assert kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD}
    line = written(name, theirs).replace("out_type=None", "out_type='int32'")  # which it means
    assert _unnamed(RECORDED[name]) == _unnamed(line)


def test_names_of_one_function():
    found = {
        name: [operator.attrgetter(path)(tf) for path in entry.tensorflow]
        for name, entry in _names.TABLE.items()
    }
    several = {name for name, functions in found.items() if len(functions) > 1}
    assert several == {"cast", "saturate_cast", "space_to_batch"}
    for name in several:
        assert len({*map(id, found[name])}) == 1, name
