"""The arrays that a compiled program for several devices sends between them."""

import math
import re
from collections.abc import Iterator


def sent(text: str) -> Iterator[tuple[str, int]]:
    """The kind of collective and the elements of each array that a compiled program sends."""
    kinds = "all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter"
    for result, kind in re.findall(rf"= (\([^)]*\)|\S+) ({kinds})(?:-start)?\(", text):
        for shape in re.findall(r"[a-z]\w*\[([\d,]*)\]", result):  # several in a tuple
            yield kind, math.prod(int(n) for n in shape.split(",") if n)
