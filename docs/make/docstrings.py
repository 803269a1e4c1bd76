"""Docstrings as users see them, in the words of mkdocstrings.

It knows `Examples:`, and other last parts need a name.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

import griffe

import jaxops
from jaxops import _names


class Parts(griffe.Extension):
    """Names the parts of a docstring so that each is shown as one."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            public = _names.TABLE.get(obj.name)
            if public and obj.path == f"jaxops.{public.home}.{obj.name}":
                obj.docstring.value = inspect.getdoc(getattr(jaxops, obj.name)) or ""
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
