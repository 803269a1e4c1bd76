"""The docstrings of the public functions, with what their sources do not repeat."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

from jaxops import _names

_NAME = "    name: static; name of the `jax.named_scope` of the operation."
_TENSORFLOW = "https://www.tensorflow.org/api_docs/python/tf"


def completed(name: str, function: Callable) -> str:
    """The docstring of a public function, with its argument `name` and TensorFlow's page.

    The table of names has the address of the page, and `name` is the same argument everywhere. A
    docstring that describes them itself stays as it is.
    """
    text = inspect.cleandoc(function.__doc__ or "")
    parameters = [*inspect.signature(function).parameters]
    if "name" in parameters and not re.search(r"^    (\w+, )*name(, \w+)*: ", text, re.M):
        text = _with_name(text, parameters[parameters.index("name") + 1 :])
    path = next(iter(_names.TABLE[name].tensorflow), None)
    if path is None or "\nSource: " in text:
        return text
    return f"{text}\n\nSource: {_TENSORFLOW}/{path.replace('.', '/')}"


def _with_name(text: str, following: list[str]) -> str:
    """`text` with an entry of the argument `name`, before the parameters that follow it."""
    before, heading, rest = text.partition("\nArgs:\n")
    lines = rest.split("\n")
    ends = (n for n, line in enumerate(lines) if re.split("[,:]", line.strip())[0] in following)
    lines.insert(min(next(ends, len(lines)), lines.index("")), _NAME)
    return before + heading + "\n".join(lines) if heading else text
