"""Functions of matrices."""
# A band is two numbers in a row.
# pyright: reportCallIssue=false

from typing import Any

import draws
import numpy as np
from calls import Call
from draws import Args, Draw, chance, fault, integer, pick
from entries import compared
from peer import tf


@compared("matrix_band_part", moves=True)
def band_part(draw: Draw) -> Args:
    wrong = fault(draw, "lower", "upper", "rank")
    shape = draws.shape(draw, 0 if wrong == "rank" else 2, 1 if wrong == "rank" else 4)
    x = draws.array(draw, shape, draws.dtype(draw, draws.ALL))
    rows, columns = (0, 0, *shape)[-2:]
    lower = rows + integer(draw, 1, 3) if wrong == "lower" else integer(draw, -2, rows)
    upper = columns + integer(draw, 1, 3) if wrong == "upper" else integer(draw, -2, columns)
    return {"input": x, "num_lower": lower, "num_upper": upper}


@compared("matrix_transpose", moves=True)
def matrix_transpose(draw: Draw) -> Args:
    return {"a": draws.operand(draw, 0 if fault(draw, "rank", percent=10) else 2, 4)}


def band(draw: Draw, rows: int, columns: int, wrong: str | None) -> Any:
    """`k` of matrices of that size."""
    low = integer(draw, 1 - rows, columns - 1) if rows and columns else 0
    if wrong == "k":
        low = pick(draw, [-rows - 1, columns + 1])
    if chance(draw, 40):
        return low
    high = integer(draw, low, max(low, columns - 1))
    return [high, low] if wrong == "order" else [low, high]


def padding(draw: Draw, dtype: np.dtype) -> Args:
    return {"padding_value": draws.array(draw, (), dtype)} if chance(draw, 40) else {}


def held(k: Any, rows: int, columns: int) -> tuple[int, ...]:
    """The shape of those diagonals."""
    low, high = (k, k) if isinstance(k, int) else sorted(k)
    length = max(0, min(rows + min(high, 0), columns - max(low, 0)))
    return (length,) if low == high else (high - low + 1, length)


@compared("matrix_diag", moves=True)
def diag(draw: Draw) -> Args:
    wrong = fault(draw, "k", "order", "rows", "columns", "both", "number", percent=20)
    rows, columns = integer(draw, 1, 4), integer(draw, 1, 4)
    k = band(draw, rows, columns, wrong)
    shape = [*draws.shape(draw, 0, 2), *held(k, rows, columns)]
    shape[-len(held(k, rows, columns))] += wrong == "number"
    # TensorFlow has no float8 of the padding value 0.
    dtypes = [name for name in draws.ALL if name not in draws.FLOAT8]
    x = draws.array(draw, shape, draws.dtype(draw, dtypes))
    args: Args = {"diagonal": x, "k": k, **padding(draw, x.dtype)}
    if wrong == "both":
        rows, columns = rows + 1, columns + 1
    # By default matrices may be too small for the ends of a band; TensorFlow's gradient fails then.
    is_band = not isinstance(k, int) and k[0] != k[1]
    if is_band or chance(draw, 50):
        args["num_rows"] = rows - (wrong == "rows")
    if is_band or chance(draw, 50):
        args["num_cols"] = columns - (wrong == "columns")
    return args


@compared("matrix_diag_part", moves=True)
def diag_part(draw: Draw) -> Args:
    wrong = fault(draw, "k", "order", "rank", percent=20)
    shape = draws.shape(draw, *((0, 1) if wrong == "rank" else (2, 4)))
    x = draws.array(draw, shape, draws.dtype(draw, draws.ALL))
    return {"input": x, "k": band(draw, *(0, 0, *shape)[-2:], wrong), **padding(draw, x.dtype)}


@compared("matrix_set_diag", moves=True)
def set_diag(draw: Draw) -> Args:
    wrong = fault(draw, "k", "order", "shape", percent=20)
    shape = draws.shape(draw, 2, 4)
    x = draws.array(draw, shape, draws.dtype(draw, draws.ALL))
    k = band(draw, *shape[-2:], wrong)
    own = (*shape[:-2], *held(k, *shape[-2:]), *[2] * (wrong == "shape"))
    return {"input": x, "diagonal": draws.array(draw, own, x.dtype), "k": k}


# Those that TensorFlow has kernels for.
WITH_KERNEL = ("int32", "int64", "float16", "float32", "float64", "complex64", "complex128")


@compared("tensor_diag")
def tensor_diag(draw: Draw) -> Args:
    shape = draws.shape(draw, 0 if chance(draw, 15) else 1, 3)
    return {"diagonal": draws.array(draw, shape, draws.dtype(draw, WITH_KERNEL))}


@compared("tensor_diag_part")
def tensor_diag_part(draw: Draw) -> Call:
    wrong = fault(draw, "odd", "halves")
    half = draws.shape(draw, 0, 3)
    other = draws.shape(draw, len(half), len(half)) if wrong == "halves" else half
    shape = (*half, *other, 1) if wrong == "odd" else (*half, *other)
    x = draws.array(draw, shape, draws.dtype(draw, WITH_KERNEL))
    return Call({"input": x}, their_gradient_fails=shape == ())


# TensorFlow 0.x's are of the main diagonal only.


@compared("v0.matrix_diag", theirs=tf.linalg.diag, moves=True)
def v0_matrix_diag(draw: Draw) -> Args:
    shape = () if fault(draw, "rank", percent=10) else draws.shape(draw, 1, 3)
    return {"diagonal": draws.array(draw, shape, draws.dtype(draw, draws.ALL))}


@compared("v0.matrix_diag_part", theirs=tf.linalg.diag_part, moves=True)
def v0_matrix_diag_part(draw: Draw) -> Args:
    shape = (2,) if fault(draw, "rank", percent=10) else draws.shape(draw, 2, 4)
    return {"input": draws.array(draw, shape, draws.dtype(draw, draws.ALL))}


@compared("v0.matrix_set_diag", theirs=tf.linalg.set_diag, moves=True)
def v0_matrix_set_diag(draw: Draw) -> Args:
    x = draws.operand(draw, 2, 4, names=draws.ALL)
    number = min(x.shape[-2:]) + bool(fault(draw, "length", percent=15))
    return {"input": x, "diagonal": draws.array(draw, (*x.shape[:-2], number), x.dtype)}
