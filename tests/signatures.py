"""The signatures that functions of jaxops have from TensorFlow 2.21: lines of signatures.txt.

`make test` compares them with jaxops, and `make parity` with TensorFlow. `make names` adds the line
of a new function, and changes no line: a signature that TensorFlow does not have fails.
"""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import jaxops
from jaxops import _names

FILE = Path(__file__).with_suffix(".txt")
RECORDED = {line.partition("(")[0]: line for line in FILE.read_text().splitlines()}
# The functions whose signature is TensorFlow's, by its name there.
OF_TENSORFLOW = {
    name: entry.tensorflow[0]
    for name, entry in _names.TABLE.items()
    if entry.tensorflow and not entry.own_signature
}


def written(name: str, function: Callable[..., Any]) -> str:
    """`name(argument, other=default)` without types and keywords, and with dtypes by their names.

    TensorFlow's functions have no keywords that are no positional arguments.
    """
    parameters = []
    for parameter in inspect.signature(function).parameters.values():
        default = parameter.default
        if not isinstance(default, (int, str, type(None))) and default is not parameter.empty:
            default = getattr(default, "name", None) or np.dtype(default).name
        if parameter.kind is not parameter.KEYWORD_ONLY:
            parameter = parameter.replace(annotation=parameter.empty, default=default)
            parameters.append(parameter)
    return f"{name}{inspect.Signature(parameters)}"


def text() -> str:
    """That of the file, with a line for each function."""
    found = {name: written(name, getattr(jaxops, name)) for name in OF_TENSORFLOW} | RECORDED
    return "".join(f"{found[name]}\n" for name in OF_TENSORFLOW)
