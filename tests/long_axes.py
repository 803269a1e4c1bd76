"""Indices at the edges of axes longer than int32 counts, and the positions that each mode takes."""

import numpy as np

LENGTHS = [5, 2**31 - 1, 2**31, 2**31 + 7, 2**32 - 1, 2**32, 2**33 + 1]
EDGES = {n + d for n in (0, *LENGTHS) for d in (-2, -1, 0, 1)}
EDGES |= {-(2**31), -(2**31) + 3, -(2**33), 2**62, -(2**62)}
DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES = [(dtype, x64) for dtype in DTYPES for x64 in (False, True) if x64 or "64" not in dtype]


def indices_of(dtype):
    """Those of the edges that a dtype has, and its own."""
    info = np.iinfo(dtype)
    return sorted(n for n in EDGES | {info.min, info.max} if info.min <= n <= info.max)


def as_mode_has_it(index, length, mode):
    """The position that counts, or None."""
    if mode == "clip":
        return min(max(index, 0), length - 1)
    if mode == "wrap":
        return index % length
    return index if 0 <= index < length else None


def is_refused(dtype, length, x64):
    """A negative index that wraps to a position which no 32-bit type has."""
    return not x64 and dtype != "uint32" and length >= 2**32
