"""The names, the order and the defaults of arguments are those of TensorFlow 2.21."""

import inspect
import re

import pytest
from signatures import OF_TENSORFLOW, path_of, written

import jaxops


def _unnamed(line):
    """None means the operation's name too."""
    return re.sub(r"\bname='\w+'", "name=None", line)


@pytest.mark.parametrize("name", OF_TENSORFLOW)
def test_signature(name):
    theirs = OF_TENSORFLOW[name].replace("out_type=None", "out_type='int32'")  # which it means
    signature = inspect.signature(getattr(jaxops, name))
    kinds = {p.name: p.kind for p in signature.parameters.values()}
    extras = {name for name, kind in kinds.items() if kind is inspect.Parameter.KEYWORD_ONLY}
    ours = [p for p in signature.parameters.values() if p.name not in extras]
    line = written(path_of(theirs), signature.replace(parameters=ours))
    assert _unnamed(line) == _unnamed(theirs)
    assert {*kinds.values()} <= {
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    }
