"""The place of a wrong derivative: the coordinate whose part of the difference is largest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

# Parts of up to this many coordinates are looked at one by one, larger parts are halved.
FEW = 32


class Probe(NamedTuple):
    """The expected contribution of a part of the coordinates, and the contribution found."""

    expected: float
    received: float
    tolerance: float

    @property
    def excess(self) -> float:
        """The difference, in multiples of the tolerance."""
        difference = abs(self.expected - self.received)
        if self.tolerance == 0:
            return 0.0 if difference == 0 else float("inf")
        return difference / self.tolerance

    @property
    def is_wrong(self) -> bool:
        return not self.excess <= 1  # NaN is wrong


class Place(NamedTuple):
    """The coordinates `[start, stop)` of one array."""

    leaf: int
    start: int
    stop: int
    wrong: int  # of the coordinates that were looked at one by one
    looked_at: int


def find_worst(probe: Callable[[int, int, int], Probe], sizes: Sequence[int]) -> Place | None:
    """The coordinate, or the smallest part, that is wrong by the most; None if no array is alone.

    `probe(leaf, start, stop)` looks at these coordinates of an array together. A wrong part is
    halved until few coordinates are left, which takes about `2 * log2(size)` probes.
    """
    parts = [(leaf, 0, size) for leaf, size in enumerate(sizes) if size]
    place = _worst(probe, parts)
    while place is not None and place.stop - place.start > 1:
        leaf, start, stop = place[:3]
        if stop - start <= FEW:
            parts = [(leaf, n, n + 1) for n in range(start, stop)]
        else:
            middle = (start + stop) // 2
            parts = [(leaf, start, middle), (leaf, middle, stop)]
        narrower = _worst(probe, parts)
        if narrower is None:
            break  # wrong together only
        place = narrower
    return place


def _worst(probe, parts) -> Place | None:
    """The part that is wrong by the most tolerances, if one is wrong."""
    probes = [probe(*part) for part in parts]
    wrong = [n for n, found in enumerate(probes) if found.is_wrong]
    if not wrong:
        return None
    n = max(wrong, key=lambda n: probes[n].excess)
    single = all(stop - start == 1 for _, start, stop in parts)
    leaf, start, stop = parts[n]
    counts = (len(wrong), len(parts)) if single else (0, 0)
    return Place(leaf, start, stop, *counts)
