"""The names, the order and the defaults of arguments are those of TensorFlow 2.21."""

import inspect

import pytest
from signatures import OF_TENSORFLOW, RECORDED, written

import jaxops


@pytest.mark.parametrize("name", OF_TENSORFLOW)
def test_signature(name):
    function = getattr(jaxops, name)
    assert name in RECORDED, f"tests/signatures.txt has no line of {name}: run `make names`"
    assert written(name, function) == RECORDED[name], (
        f"tests/signatures.txt has the signature that TensorFlow gives {name}. A function with "
        "another one has the reason in its line of jaxops/_names.py, after `#`"
    )
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    assert kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
