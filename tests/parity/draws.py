"""Draws that the strategies are made of: shapes, dtypes, values, indices, chances.

Values come from a NumPy generator whose seed is drawn: quick, and the shapes and options, which
decide more, are what Hypothesis shrinks.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy], Any]
Args = dict[str, Any]

BOOL = ["bool"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
HALVES = ["float16", "bfloat16"]
FLOATS = [*HALVES, "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
RARE = ["int4", "uint4", "float8_e4m3fn", "float8_e5m2"]
STRINGS = ["bytes"]
NUMERIC = [*INTEGERS, *FLOATS, *COMPLEX]
ALL = [*BOOL, *NUMERIC, *RARE]
INT4, FLOAT8 = RARE[:2], RARE[2:]
MOVED = [*ALL, *STRINGS]  # what functions that move elements take

DIMS = [2, 3, 1, 2, 3, 1, 0, 4]


def dtype_of(name: str) -> np.dtype:
    if name == "bytes":
        return np.dtype("S2")
    return np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)


def chance(draw: Draw, percent: int) -> bool:
    """True in so many of a hundred draws; shrinks to False."""
    return draw(st.integers(0, 99)) >= 100 - percent


def pick(draw: Draw, choices: Sequence) -> Any:
    return draw(st.sampled_from(choices))


def shuffled(draw: Draw, items: Sequence) -> list:
    return draw(st.permutations(items))


def integer(draw: Draw, low: int, high: int) -> int:
    return draw(st.integers(low, high))


def fault(draw: Draw, *faults: str, percent: int = 25) -> str | None:
    """What is wrong with the call, if anything."""
    return pick(draw, faults) if chance(draw, percent) else None


def dtype(draw: Draw, names: Sequence[str]) -> np.dtype:
    """A dtype; every other time one of those that are most used, so that programs are reused."""
    common = [name for name in ("float32", "int32", "float64") if name in names]
    if common and not chance(draw, 50):
        return dtype_of(pick(draw, common))
    return dtype_of(pick(draw, names))


def shape(draw: Draw, low: int = 0, high: int = 3, dims: Sequence[int] = DIMS) -> tuple[int, ...]:
    rank = integer(draw, low, high)
    return tuple(pick(draw, dims) for _ in range(rank))


def rng(draw: Draw) -> np.random.Generator:
    return np.random.default_rng(integer(draw, 0, 9999))


def array(draw: Draw, shape: Sequence[int], dtype: np.dtype, kind: str = "all") -> np.ndarray:
    return values(rng(draw), shape, dtype, kind)


def operand(
    draw: Draw,
    low: int = 0,
    high: int = 3,
    dims: Sequence[int] = DIMS,
    names: Sequence[str] = MOVED,
) -> np.ndarray:
    """An array of such a rank and of one of those dtypes."""
    return array(draw, shape(draw, low, high, dims), dtype(draw, names))


def other(dtype: np.dtype) -> np.dtype:
    """Another dtype."""
    return dtype_of("int32" if dtype.name != "int32" else "float32")


def values(
    random: np.random.Generator, shape: Sequence[int], dtype: np.dtype, kind: str = "all"
) -> np.ndarray:
    """Of a kind: "all" numbers, "finite" ones, "summable" ones, or "ordered" ones.

    "finite" are small multiples of 1/2, whose sums are the same in any order. "summable" are these,
    the infinities, NaN and -0; "ordered" lack the last two.
    """
    shape = tuple(shape)
    size = int(np.prod(shape))
    if dtype.kind == "S":
        letters = random.integers(97, 100, (size, 2), dtype=np.uint8)
        return letters.view("S2").reshape(shape).copy()
    if dtype.kind == "b":
        return np.asarray(random.integers(0, 2, shape)).astype(bool)
    if dtype.kind == "c":
        part = np.dtype(f"float{dtype.itemsize * 4}")
        parts = values(random, (*shape, 2), part, kind)
        result = np.empty(shape, dtype)
        result.real, result.imag = parts[..., 0], parts[..., 1]
        return result
    pool = _pool(dtype, kind)
    return np.asarray(pool[random.integers(0, len(pool), shape)])


@functools.cache
def _pool(dtype: np.dtype, kind: str) -> np.ndarray:
    small = [0, 1, 2, 3, 4, 5, 6, 7]
    if is_integer(dtype):
        info = ml_dtypes.iinfo(dtype)
        ends = [info.min, info.min + 1, info.max - 1, info.max]
        signs = [-v for v in small] if info.min < 0 else []
        wanted = [*small, *signs, *ends]
        fitting = [int(v) for v in wanted if info.min <= v <= info.max]
        return np.array(fitting, np.int64 if info.max < 2**63 else np.uint64).astype(dtype)
    halves = [v / 2 for v in small] + [-v / 2 for v in small] + small
    if dtype.itemsize == 1 and kind != "all":
        halves = [0, 1, -1]  # of others the sums are rounded
    if kind == "finite":
        return np.array(halves).astype(dtype)
    special = [] if kind == "ordered" else [-0.0, np.nan]
    if dtype.name != "float8_e4m3fn":
        special += [np.inf, -np.inf]
    if kind == "all":
        info = ml_dtypes.finfo(dtype)
        special += [float(info.max), float(info.min), float(info.tiny), *(v / 3 for v in small)]
    with np.errstate(all="ignore"):
        return np.array([*halves, *special]).astype(dtype)


def is_integer(dtype: np.dtype) -> bool:
    return dtype.kind in "iu" or dtype.name in ("int4", "uint4")


def is_float(dtype: np.dtype) -> bool:
    return dtype.name in FLOATS


def is_inexact(dtype: np.dtype) -> bool:
    return dtype.name in FLOATS or dtype.kind == "c"


def indices(
    draw: Draw, shape: Sequence[int], bound: int, dtype: np.dtype, out_of_bounds: bool = False
) -> np.ndarray:
    """Indices in [0, bound); with `out_of_bounds` one of them is not."""
    random = rng(draw)
    result = np.asarray(random.integers(0, max(bound, 1), shape)).astype(dtype)
    if bound == 0 and result.size:
        return result
    if out_of_bounds and result.size:
        wrong = pick(draw, [bound, -1, bound + 2, -bound - 1, 100])
        place = integer(draw, 0, result.size - 1)
        result.reshape(-1)[place] = wrong if dtype.kind != "u" else abs(wrong) + bound
    return result


def no_indices(draw: Draw, indices: np.ndarray) -> np.ndarray:
    """The same as floats or bools, which are no indices."""
    return indices.astype(pick(draw, ["float32", "float64", "bool"]))


def index_dtype(draw: Draw) -> np.dtype:
    """One of TensorFlow's, or now and then another, which it gets widened."""
    common = ["int32", "int64"]
    return dtype_of(pick(draw, INTEGERS if chance(draw, 15) else common))


def axis(draw: Draw, rank: int, wrong: bool = False) -> int:
    """In [-rank, rank), or just outside."""
    if wrong or rank == 0:
        return pick(draw, [rank, -rank - 1, rank + 3])
    return integer(draw, -rank, rank - 1)
