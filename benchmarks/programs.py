"""Whether two functions compile to the same program, so that times of the two differ by noise."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import jax

# What says where an instruction comes from, and not what it does.
_ORIGIN = re.compile(r',? (?:metadata|frontend_attributes)=\{(?:[^{}"]|"[^"]*"|\{[^{}]*\})*\}')
_NAME = re.compile(r"%[\w.-]+")


def normalized(text: str) -> str | None:
    """Instructions of compiled HLO, renamed in order; None where the text leaves something out."""
    start = re.search(r"^(?:%|ENTRY)", text, re.MULTILINE)
    if start is None or "{...}" in text:  # a constant too long to be printed
        return None
    names: dict[str, str] = {}

    def rename(match: re.Match) -> str:
        return names.setdefault(match[0], f"%{len(names)}")

    return _NAME.sub(rename, _without_names_of_parameters(_ORIGIN.sub("", text[start.start() :])))


def _without_names_of_parameters(text: str) -> str:
    """Of the heads of computations, where they have no `%`."""
    return re.sub(r"(?<=[(, ])[\w.]+(?=: \(?\w+\[)", "_", text)


def are_same(
    first: Callable[..., Any], second: Callable[..., Any], arguments: Sequence[Any]
) -> bool:
    """Whether they compile to the same instructions, in the same order; False if in doubt."""
    texts = [jax.jit(f).lower(*arguments).compile().as_text() for f in (first, second)]
    programs = [None if text is None else normalized(text) for text in texts]
    return programs[0] is not None and programs[0] == programs[1]
