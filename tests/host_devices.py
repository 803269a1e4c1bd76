"""Programs of `tests/devices` that need several host devices, which only a new process can have."""

import functools
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from checks import NIGHTLY, printed_by

# Numbers of devices. The most have meshes of two axes besides.
NUMBERS = [pytest.param(1, marks=NIGHTLY), pytest.param(2, marks=NIGHTLY), 8]


def reports_of(program: str, *arguments, **options) -> list:
    """The JSON values that a program of `tests/devices` prints, one for each line."""
    printed = printed_by(Path(__file__).parent / "devices" / program, *arguments, **options)
    return [*map(json.loads, printed.splitlines())]


@functools.cache
def outcome_of(program: str, devices: int):
    """The JSON value on the last line that a program of `tests/devices` prints."""
    return reports_of(program, devices)[-1]


def sent(text: str) -> Iterator[tuple[str, int]]:
    """The kind of collective and the elements of each array that a compiled program sends."""
    kinds = "all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter"
    for result, kind in re.findall(rf"= (\([^)]*\)|\S+) ({kinds})(?:-start)?\(", text):
        for shape in re.findall(r"[a-z]\w*\[([\d,]*)\]", result):  # several in a tuple
            yield kind, math.prod(int(n) for n in shape.split(",") if n)
