"""The docstrings of the public functions, with the entries that their sources do not repeat."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

from jaxops import _names

# Arguments that are the same in every function that has them.
_SHARED = {
    "name": "static; name of the `jax.named_scope` of the operation.",
    "out_sharding": """static; how the devices of a mesh with explicit axes share the result, a
        `PartitionSpec` or a `NamedSharding`. Default: as follows from the arguments, or an
        error.""",
}
_TOGETHER = re.compile(r"^    ((?:\w+, )+\w+): (as (?:in )?`\w+`\.)$", re.MULTILINE)
_TENSORFLOW = "https://www.tensorflow.org/api_docs/python/tf"


def completed(name: str, function: Callable) -> str:
    """The docstring of a public function, with its shared arguments and TensorFlow's page.

    The table of names has the address of the page. A docstring that describes them itself stays as
    it is. Entries that stand together, as in "mode, fill_value: as in `gather`.", come apart.
    """
    text = _TOGETHER.sub(
        lambda m: "\n".join(f"    {each}: {m[2]}" for each in m[1].split(", ")),
        inspect.cleandoc(function.__doc__ or ""),
    )
    parameters = [*inspect.signature(function).parameters]
    for n, argument in enumerate(parameters):
        if argument in _SHARED and f"\n    {argument}: " not in text:
            text = _with_argument(text, argument, parameters[n + 1 :])
    path = next(iter(_names.TABLE[name].tensorflow), None)
    if path is None or "\nSource: " in text:
        return text
    return f"{text}\n\nSource: {_TENSORFLOW}/{path.replace('.', '/')}"


def _with_argument(text: str, argument: str, following: list[str]) -> str:
    """`text` with an entry of a shared argument, before the parameters that follow it."""
    before, heading, rest = text.partition("\nArgs:\n")
    lines = rest.split("\n")
    ends = (n for n, line in enumerate(lines) if line.strip().partition(":")[0] in following)
    lines.insert(
        min(next(ends, len(lines)), lines.index("")), f"    {argument}: {_SHARED[argument]}"
    )
    return before + heading + "\n".join(lines) if heading else text
