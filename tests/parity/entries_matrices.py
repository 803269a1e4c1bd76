"""Functions of matrices."""
# A band is two numbers in a row.
# pyright: reportCallIssue=false

from __future__ import annotations

from typing import Any

import draws
import numpy as np
from calls import Call, Entry
from draws import Draw, chance, fault, integer, pick
from hypothesis import strategies as st
from peer import tf

import jaxops


@st.composite
def band_part(draw: Draw) -> Call:
    wrong = fault(draw, "lower", "upper", "rank")
    shape = draws.shape(draw, 0 if wrong == "rank" else 2, 1 if wrong == "rank" else 4)
    x = draws.array(draw, shape, draws.dtype(draw, draws.ALL))
    rows, columns = (0, 0, *shape)[-2:]
    args: dict[str, Any] = {
        "input": x,
        "num_lower": rows + integer(draw, 1, 3) if wrong == "lower" else integer(draw, -2, rows),
        "num_upper": (
            columns + integer(draw, 1, 3) if wrong == "upper" else integer(draw, -2, columns)
        ),
    }
    return draws.finish(draw, args, ("input", "num_lower", "num_upper"))


@st.composite
def matrix_transpose(draw: Draw) -> Call:
    low = 0 if fault(draw, "rank", percent=10) else 2
    x = draws.array(draw, draws.shape(draw, low, 4), draws.dtype(draw, draws.MOVED))
    args: dict[str, Any] = {"a": x}
    keywords = {"conjugate": chance(draw, 50)} if chance(draw, 50) else {}
    return draws.finish(draw, args, ("a",), keywords=keywords)


ALIGNS = ["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"]


def band(draw: Draw, rows: int, columns: int, wrong: str | None) -> Any:
    """`k` of matrices of that size."""
    low = integer(draw, 1 - rows, columns - 1) if rows and columns else 0
    if wrong == "k":
        low = pick(draw, [-rows - 1, columns + 1])
    if chance(draw, 40):
        return low
    high = integer(draw, low, max(low, columns - 1))
    return [high, low] if wrong == "order" else [low, high]


def options(draw: Draw, dtype: np.dtype, padded: bool = True) -> dict[str, Any]:
    args: dict[str, Any] = {}
    if padded and chance(draw, 40):
        args["padding_value"] = draws.array(draw, (), dtype)
    if chance(draw, 60):
        args["align"] = pick(draw, ALIGNS)
    return args


def held(k: Any, rows: int, columns: int) -> tuple[int, ...]:
    """The shape of those diagonals."""
    low, high = (k, k) if isinstance(k, int) else sorted(k)
    length = max(0, min(rows + min(high, 0), columns - max(low, 0)))
    return (length,) if low == high else (high - low + 1, length)


@st.composite
def diag(draw: Draw) -> Call:
    wrong = fault(draw, "k", "order", "rows", "columns", "both", "number", percent=20)
    rows, columns = integer(draw, 1, 4), integer(draw, 1, 4)
    k = band(draw, rows, columns, wrong)
    shape = [*draws.shape(draw, 0, 2), *held(k, rows, columns)]
    shape[-len(held(k, rows, columns))] += wrong == "number"
    # TensorFlow has no float8 of the padding value 0.
    dtypes = [name for name in draws.ALL if name not in draws.FLOAT8]
    x = draws.array(draw, shape, draws.dtype(draw, dtypes))
    keywords = {"k": k, **options(draw, x.dtype)}
    if wrong == "both":
        rows, columns = rows + 1, columns + 1
    # By default matrices may be too small for the ends of a band; TensorFlow's gradient fails then.
    is_band = not isinstance(k, int) and k[0] != k[1]
    if is_band or chance(draw, 50):
        keywords["num_rows"] = rows - (wrong == "rows")
    if is_band or chance(draw, 50):
        keywords["num_cols"] = columns - (wrong == "columns")
    return draws.finish(draw, {"diagonal": x}, ("diagonal",), keywords=keywords)


@st.composite
def diag_part(draw: Draw) -> Call:
    wrong = fault(draw, "k", "order", "rank", percent=20)
    shape = draws.shape(draw, *((0, 1) if wrong == "rank" else (2, 4)))
    x = draws.array(draw, shape, draws.dtype(draw, draws.ALL))
    args = {"input": x}
    keywords = {"k": band(draw, *(0, 0, *shape)[-2:], wrong), **options(draw, x.dtype)}
    return draws.finish(draw, args, ("input",), keywords=keywords)


@st.composite
def set_diag(draw: Draw) -> Call:
    wrong = fault(draw, "k", "order", "shape", percent=20)
    shape = draws.shape(draw, 2, 4)
    x = draws.array(draw, shape, draws.dtype(draw, draws.ALL))
    k = band(draw, *shape[-2:], wrong)
    own = (*shape[:-2], *held(k, *shape[-2:]), *[2] * (wrong == "shape"))
    args = {"input": x, "diagonal": draws.array(draw, own, x.dtype)}
    keywords = {"k": k, **options(draw, x.dtype, padded=False)}
    return draws.finish(draw, args, ("input", "diagonal"), keywords=keywords)


RARE = frozenset(draws.RARE)
# Those that TensorFlow has kernels for.
WITH_KERNEL = ("int32", "int64", "float16", "float32", "float64", "complex64", "complex128")


@st.composite
def tensor_diag(draw: Draw) -> Call:
    shape = draws.shape(draw, 0 if chance(draw, 15) else 1, 3)
    args: dict[str, Any] = {"diagonal": draws.array(draw, shape, draws.dtype(draw, WITH_KERNEL))}
    return draws.finish(draw, args, ("diagonal",))


@st.composite
def tensor_diag_part(draw: Draw) -> Call:
    wrong = fault(draw, "odd", "halves")
    half = draws.shape(draw, 0, 3)
    other = draws.shape(draw, len(half), len(half)) if wrong == "halves" else half
    shape = (*half, *other, 1) if wrong == "odd" else (*half, *other)
    args: dict[str, Any] = {"input": draws.array(draw, shape, draws.dtype(draw, WITH_KERNEL))}
    return draws.finish(draw, args, ("input",), their_gradient_fails=shape == ())


ENTRIES = {
    "matrix_band_part": Entry(
        jaxops.matrix_band_part,
        tf.linalg.band_part,
        band_part(),
        ("input",),
        differentiable=("input",),
        moves=True,
        no_kernel=RARE,
    ),
    "matrix_diag": Entry(
        jaxops.matrix_diag,
        tf.linalg.diag,
        diag(),
        ("diagonal", "padding_value"),
        differentiable=("diagonal",),
        moves=True,
        no_kernel=RARE,
    ),
    "matrix_diag_part": Entry(
        jaxops.matrix_diag_part,
        tf.linalg.diag_part,
        diag_part(),
        ("input", "padding_value"),
        differentiable=("input",),
        moves=True,
        no_kernel=RARE,
    ),
    "matrix_set_diag": Entry(
        jaxops.matrix_set_diag,
        tf.linalg.set_diag,
        set_diag(),
        ("input", "diagonal"),
        differentiable=("input", "diagonal"),
        moves=True,
        no_kernel=RARE,
    ),
    "matrix_transpose": Entry(
        jaxops.matrix_transpose,
        tf.linalg.matrix_transpose,
        matrix_transpose(),
        ("a",),
        differentiable=("a",),
        moves=True,
        no_kernel=RARE,
    ),
    "tensor_diag": Entry(
        jaxops.tensor_diag,
        tf.linalg.tensor_diag,
        tensor_diag(),
        ("diagonal",),
        differentiable=("diagonal",),
    ),
    "tensor_diag_part": Entry(
        jaxops.tensor_diag_part,
        tf.linalg.tensor_diag_part,
        tensor_diag_part(),
        ("input",),
        differentiable=("input",),
    ),
}
