"""The signatures recorded in tests/signatures.py are those of TensorFlow 2.21."""

import inspect
import operator

import pytest
from peer import tf
from records import RECORDS
from signatures import NOT_TENSORFLOWS, OF_TENSORFLOW, path_of, written


@pytest.mark.parametrize("name", OF_TENSORFLOW)
def test_recorded(name):
    path = path_of(OF_TENSORFLOW[name])
    theirs = operator.attrgetter(path.removeprefix("tf."))(tf)
    assert written(path, inspect.signature(theirs)) == OF_TENSORFLOW[name]


def test_functions_are_recorded_with_the_readmes_names():
    assert {name: path_of(line) for name, line in OF_TENSORFLOW.items()} == {
        name: record.readme.partition(" | ")[0].strip("`")
        for name, record in RECORDS.items()
        if record.section and not record.readme.startswith("-") and name not in NOT_TENSORFLOWS
    }
