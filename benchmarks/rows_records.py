"""Tiny rows of the functions that have no row of their own: the calls of their records."""

from __future__ import annotations

import operator
from collections.abc import Collection
from typing import Any

import numpy as np
from peers import tf
from records import FUNCTIONS, RECORDS, needed
from row import Row

import jaxops
from jaxops import _names

ARRAYS = ("data", "integers", "bools", "text", "scalar")


def as_arrays(kind: str, value: Any) -> Any:
    if kind in ("arrays", "indices"):
        return [np.asarray(x) for x in value]
    return np.asarray(value) if kind in ARRAYS else value


def tiny_row(name: str) -> Row:
    call = needed(name)
    theirs = _names.TABLE[name].tensorflow
    is_called_as_it_is = FUNCTIONS[name] is getattr(jaxops, name)
    arguments = tuple(as_arrays(kind, value) for kind, value in call.values())

    def ours(*values):
        return FUNCTIONS[name](**dict(zip(call, values, strict=True)))

    def tensorflow(*values):
        return operator.attrgetter(theirs[0])(tf)(**dict(zip(call, values, strict=True)))

    return Row(
        name,
        "the call of its record",
        lambda n: arguments,
        jaxops=ours,
        tensorflow=tensorflow if theirs and is_called_as_it_is else None,
        groups="tiny",
    )


def tiny_rows(others: Collection[Row]) -> list[Row]:
    """Of the functions of which none of `others` is a tiny row."""
    there = {row.op for row in others if "tiny" in row.groups.split()}
    there |= {name for name, record in RECORDS.items() if not (record.section and record.call)}
    return [tiny_row(name) for name in RECORDS if name not in there]
