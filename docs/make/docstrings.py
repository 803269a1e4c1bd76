"""Docstrings as mkdocstrings reads them: it knows `Examples:`, and other last parts need a name."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe


class Parts(griffe.Extension):
    """Names the parts of a docstring so that each is shown as one."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = parts(obj.docstring.value)


def parts(text: str) -> str:
    # "Array of shape `P[:axis]`" is no type with a description; the signature has the type.
    text = re.sub(
        r"^Returns:\n((?:    .*\n?|\n)+)",
        lambda m: f"**Returns:**\n\n{textwrap.dedent(m[1])}",
        text,
        flags=re.MULTILINE,
    )
    text = re.sub(r"^Example:$", "Examples:", text, flags=re.MULTILINE)
    text = re.sub(r"^Gradient: ", "**Gradient:** ", text, flags=re.MULTILINE)
    return re.sub(r"^Source: (https?://\S+)", r"**Source:** <\1>", text, flags=re.MULTILINE)
