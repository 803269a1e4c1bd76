"""Casting: cast, saturate_cast, the to_* functions, bitcast, string_to_number."""

from typing import Any

import draws
import ml_dtypes
import numpy as np
from calls import Call
from draws import Args, Draw, chance, fault, integer, pick
from entries import RARE, compared

SHAPES = (0, 2, [1, 2, 3, 0, 5, 9])
INEXACT = [*draws.FLOATS, *draws.COMPLEX]


@compared("cast")
def cast(draw: Draw, target: str = "") -> Args:
    """To any dtype, or with `target` of a function that has it in its name."""
    dtype = draws.dtype_of(target or pick(draw, draws.ALL))
    source = draws.dtype(draw, draws.ALL)
    if fault(draw, "strings", percent=10):
        source = draws.dtype_of("bytes")
    elif chance(draw, 25):  # such casts have gradients
        source = draws.dtype(draw, INEXACT)
        dtype = dtype if target else draws.dtype(draw, INEXACT)
    x = draws.array(draw, draws.shape(draw, *SHAPES), source)
    x = x if source.kind == "S" else within(x, dtype)
    return {"x": x} if target else {"x": x, "dtype": dtype}


def compare_to(name: str, target: str) -> None:
    differentiable = ("x",) if target in INEXACT else ()
    entry = compared(name, differentiable=differentiable, x64=target in ("float64", "int64"))
    entry(lambda draw: cast(draw, target))


compare_to("to_double", "float64")
compare_to("to_float", "float32")
compare_to("to_bfloat16", "bfloat16")
compare_to("to_int32", "int32")
compare_to("to_int64", "int64")


def within(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """`x` with 1 where a cast to `dtype` shows the difference "cast of what does not fit"."""
    if not draws.is_inexact(x.dtype) or not draws.is_integer(dtype) or is_consistent(x, dtype):
        return x
    info = ml_dtypes.iinfo(dtype)
    real = np.real(x).astype(np.float64)
    inside = (real > float(info.min) - 1) & (real < float(info.max) + 1)
    return np.where(inside, x, np.ones_like(x))


def is_consistent(x: np.ndarray, target: np.dtype) -> bool:
    """Whether TensorFlow makes the same of NaN and of what is too large, alone or among others."""
    if target.name in ("int32", "int64", "uint64"):
        return True
    if x.dtype == np.float32 and target.itemsize < 4:
        return x.size < 32  # so many at once go through the kernel for vectors
    return x.dtype.name in ("float32", "complex64") and target.name != "uint32"


@compared("saturate_cast", no_kernel=RARE | {"uint32", "uint64"})
def saturate_cast(draw: Draw) -> Call:
    source = draws.dtype(draw, [*draws.NUMERIC, *draws.RARE])
    if fault(draw, "dtype", percent=15):
        source = draws.dtype_of(pick(draw, ["bool", "bytes"]))
    dtype = draws.dtype_of(pick(draw, draws.NUMERIC))
    if source.name in draws.RARE and dtype.name == "bfloat16":
        dtype = draws.dtype_of("float16")  # TensorFlow fails before it looks for a kernel
    x = draws.array(draw, draws.shape(draw, *SHAPES), source)
    # TensorFlow clips NaN to 0 or to the lowest number, by its place among 32 elements.
    varies = dtype.itemsize < 4 or not is_consistent(x, dtype)
    if draws.is_inexact(source) and draws.is_integer(dtype) and varies:
        x = np.where(x == x, x, np.ones_like(x))
    known = None
    overflows = source.name in ("bfloat16", "float32", "float64", *draws.COMPLEX)
    if source == np.int64 and _largest(dtype) >= 2**63:
        least = 0 if dtype == np.uint64 else -(2**63)  # what TensorFlow makes of every value
        right = np.maximum(x, least).astype(dtype)
        if (right != np.array(least).astype(dtype)).any():
            known = "saturate_cast of int64"
    elif (
        overflows
        and dtype.name in ("int64", "uint64")
        and (np.real(x).astype(np.float64) > _largest(dtype) * 0.999).any()
    ):
        known = "saturate_cast to 64 bits"
    return Call({"value": x, "dtype": dtype}, known=known)


def _largest(dtype: np.dtype) -> Any:
    info = ml_dtypes.iinfo if draws.is_integer(dtype) else ml_dtypes.finfo
    return float(info(dtype).max)


@compared("bitcast", differentiable=())
def bitcast(draw: Draw) -> Args:
    source = draws.dtype(draw, draws.NUMERIC)
    target = draws.dtype_of(pick(draw, draws.NUMERIC))
    wrong = fault(draw, "ratio", "dtype")
    if wrong == "dtype":
        source, target = draws.shuffled(draw, [source, draws.dtype_of("bool")])
    shape = draws.shape(draw, 0, 2)
    ratio = target.itemsize // source.itemsize
    if ratio > 1:
        shape = (*shape, ratio + (wrong == "ratio") * pick(draw, [1, -1]))
        if wrong == "ratio" and chance(draw, 20):
            shape = ()
    return {"input": draws.array(draw, shape, source), "type": target}


SIGNS = ["", "", "", "-", "+"]
BODIES = [
    *["0", "7", "42", "2147483647", "2147483648", "4294967295", "4294967296", "007"],
    *["9223372036854775807", "9223372036854775808", "18446744073709551615", "99999999999999999999"],
    *["1.5", ".5", "5.", "1e3", "1E-3", "1.5e+2", "1e40", "1e400", "1e-50", "3.4028235e38"],
    *["inf", "Infinity", "nan", "NAN", "0x1F", "0x1.8p3", "1e", "e5", ".", "", "--1", "1 2"],
    *["abc", "1_000", "1,5", "0.1", "123456789.123456789", "1f", "0x", "1e+", "+-1"],
]
BLANKS = ["", "", "", " ", "  ", "\t", "\n", "\v"]


def text(draw: Draw, good: bool) -> str:
    if good:
        return pick(draw, SIGNS[:2]) + str(integer(draw, 0, 2**31 - 1))
    return pick(draw, BLANKS) + pick(draw, SIGNS) + pick(draw, BODIES) + pick(draw, BLANKS)


@compared("string_to_number")
def string_to_number(draw: Draw) -> Args:
    kinds = ["float32", "float64", "int32", "int64", "uint32", "uint64"]
    shape = draws.shape(draw, 0, 2, [1, 2, 0])
    number = int(np.prod(shape))
    good = chance(draw, 40)
    texts = [text(draw, good or n > 0) for n in range(number)]
    x = np.array(texts, object).astype("S") if texts else np.zeros(shape, "S1")
    args: Args = {"input": x.reshape(shape)}
    if chance(draw, 75):
        args["out_type"] = draws.dtype_of(
            pick(draw, ["int8", "float16", "bool"]) if fault(draw, "dtype") else pick(draw, kinds)
        )
    return args
