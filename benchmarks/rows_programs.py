"""Rows of programs of several ops."""

from __future__ import annotations

from row import Row, floats, ints

import jaxops


def twenty(n):
    return floats(n(65_536, 4), n(128, 3)), [ints(n(65_536, 4), n(1024, 3))] * 20


def sum_of_gathers(table, indices, **options):
    return sum(jaxops.gather(table, index, **options) for index in indices)


ROWS = [
    Row(
        "gather",
        "program of 20 gathers, default bounds and none",
        twenty,
        jaxops=sum_of_gathers,
        groups="compile-bounds",
        quick=True,
    ),
]
