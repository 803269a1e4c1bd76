"""Rows of the functions that have none of their own.

Tiny rows are the calls of their records, and rows of throughput those of accelerator_rows.py.
"""

from __future__ import annotations

import operator
from collections.abc import Collection
from typing import Any

import numpy as np
from accelerator_rows import WORKS, Work
from peers import tf
from records import FUNCTIONS, RECORDS, needed
from row import Row, Size, floats, ints

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
    """Tiny rows for the functions that have none among `others`."""
    there = {row.op for row in others if "tiny" in row.groups.split()}
    there |= {name for name, record in RECORDS.items() if not (record.section and record.call)}
    return [tiny_row(name) for name in RECORDS if name not in there]


def throughput_row(work: Work) -> Row:
    """Its indices fit every dimension of its data."""

    def arguments(n: Size) -> tuple[Any, ...]:
        shapes = [tuple(n(size, min(size, 4)) for size in x.shape) for x in work.arguments]
        are_data = [x.dtype == np.float32 for x in work.arguments]
        limit = min(min(shape) for shape, is_data in zip(shapes, are_data, strict=True) if is_data)
        return tuple(
            floats(*shape) if is_data else ints(limit, *shape)
            for shape, is_data in zip(shapes, are_data, strict=True)
        )

    return Row(work.op, work.what, arguments, jaxops=work.jaxops, jnp=work.idiom)


def throughput_rows(others: Collection[Row]) -> list[Row]:
    """Rows of throughput for the functions that have none among `others`."""
    there = {row.op for row in others if "throughput" in row.groups.split()}
    without = {name for name, record in RECORDS.items() if record.cases} - there
    return [throughput_row(work) for work in WORKS if work.op in without]
