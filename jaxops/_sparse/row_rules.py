"""By primitive: where rows stand in the result, and which number it is, for `row_facts.py`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.extend.core import JaxprEqn

from jaxops import _jax_internals
from jaxops._sparse import jaxprs

CALLS = {
    "jit",
    "pjit",
    "closed_call",
    "core_call",
    "checkpoint",
    "remat",
    "remat2",
    "custom_jvp_call",
    "custom_vjp_call",
    "custom_vjp_call_jaxpr",
}

# The n-th result is the n-th operand.
EACH_BY_ITSELF = {"optimization_barrier", "copy", "copy_p", "name", "sharding_constraint"}
EACH_BY_ITSELF |= {"pvary", "pcast", "device_put", "stop_gradient", *jaxprs.RESHARDS}

_ELEMENTWISE = (
    "abs acos acosh add add_any and asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt ceil "
    "clamp clz complex conj convert_element_type cos cosh digamma div eq erf erf_inv erfc exp "
    "exp2 expm1 floor ge gt igamma igammac imag integer_pow is_finite le lgamma log log1p "
    "logistic lt max min mul ne neg nextafter not or polygamma population_count pow real "
    "reduce_precision regularized_incomplete_beta rem round rsqrt select_n shift_left "
    "shift_right_arithmetic shift_right_logical sign sin sinh sqrt square sub tan tanh xor zeta"
)
ELEMENTWISE = frozenset(_ELEMENTWISE.split())
ELEMENTWISE |= {"igamma_grad_a", "mulhi", "random_gamma_grad"}

# They move or repeat elements, and compute nothing.
MOVES = {"broadcast_in_dim", "reshape", "rev", "slice", "squeeze", "split", "transpose"}

# The number that rows may be without changing the result.
_IDENTITIES = {"reduce_sum": 0, "reduce_prod": 1, "reduce_and": True, "reduce_or": False}
_IDENTITIES |= {"reduce_max": -np.inf, "reduce_min": np.inf}
REDUCTIONS = {*_IDENTITIES, "argmax", "argmin", "reduce_xor"}

# The parameter that names the axes along which elements meet.
_ALONG = {name: "axis" for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")}
_ALONG |= {"sort": "dimension", "rev": "dimensions", "split": "axis", "concatenate": "dimension"}
_ALONG |= {"top_k": "axis"}

_FOLDS = {
    "abs": np.abs,
    "add": np.add,
    "add_any": np.add,
    "and": np.bitwise_and,
    "cbrt": np.cbrt,
    "eq": np.equal,
    "expm1": np.expm1,
    "exp": np.exp,
    "ge": np.greater_equal,
    "gt": np.greater,
    "is_finite": np.isfinite,
    "le": np.less_equal,
    "log1p": np.log1p,
    "lt": np.less,
    "max": np.maximum,
    "min": np.minimum,
    "mul": np.multiply,
    "ne": np.not_equal,
    "neg": np.negative,
    "not": np.invert,
    "or": np.bitwise_or,
    "real": np.real,
    "imag": np.imag,
    "conj": np.conj,
    "sign": np.sign,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "square": np.square,
    "sub": np.subtract,
    "tanh": np.tanh,
    "xor": np.bitwise_xor,
}


def _dtype(atom: Any) -> Any:
    return jaxprs.type_of(atom).dtype


def fold(eqn: JaxprEqn, numbers: Sequence) -> Any:
    """The result for operands that are numbers; None if one of them is not known."""
    if any(x is None for x in numbers):
        return None
    name, dtype = eqn.primitive.name, _dtype(eqn.outvars[0])
    if not isinstance(dtype, np.dtype):
        return None
    with np.errstate(all="ignore"):
        if name == "convert_element_type":
            return np.asarray(numbers[0]).astype(dtype)[()]
        if name == "select_n":
            return numbers[1 + int(numbers[0])]
        if name == "clamp":
            low, x, high = numbers
            return np.minimum(np.maximum(x, low), high)
        if name == "integer_pow":
            return numbers[0] ** np.asarray(_jax_internals.param(eqn, "y"), dtype)
        if name == "div" and np.issubdtype(dtype, np.floating):
            return np.divide(*numbers)
        return _FOLDS[name](*numbers) if name in _FOLDS else None


def _is(x: Any, number: float) -> bool:
    return x is not None and bool(x == number)


def known_result(eqn: JaxprEqn, operands: Sequence) -> Any:
    """Which operand the result equals, as an int; or the number it is, as a 1-tuple; or None."""
    name = eqn.primitive.name
    numbers = [v.constant for v in operands]
    if name == "mul" and any(_is(x, 0) for x in numbers):
        return (np.zeros((), _dtype(eqn.outvars[0]))[()],)
    if name == "select_n":
        if numbers[0] is not None:
            return 1 + int(numbers[0])
        same = operands[1].same_as
        if same is not None and all(v.same_as == same for v in operands[1:]):
            return 1
    if None not in numbers:
        return None
    if name == "mul":
        neutral = [_is(x, 1) for x in numbers]
    elif name in ("add", "add_any"):
        neutral = [_is(x, 0) for x in numbers]
    elif name in ("sub", "div"):
        neutral = [False, _is(numbers[1], 0 if name == "sub" else 1)]
    elif name == "convert_element_type":
        return 0 if _dtype(eqn.invars[0]) == _dtype(eqn.outvars[0]) else None
    elif name in ("and", "or"):
        deciding = [x for x in numbers if x is not None and _dtype(eqn.outvars[0]) == np.bool_]
        return (deciding[0],) if deciding and bool(deciding[0]) == (name == "or") else None
    else:
        return None
    return 1 - neutral.index(True) if True in neutral else None


def fold_absent(eqn: JaxprEqn, absents: Sequence) -> Any:
    """The result in rows without a gradient."""
    name = eqn.primitive.name
    if name == "mul" and any(_is(x, 0) for x in absents):
        return 0.0
    if name == "div" and _is(absents[0], 0):
        return 0.0
    if name == "select_n" and absents[0] is None:
        first = absents[1]
        return first if all(x is not None and x == first for x in absents[1:]) else None
    return fold(eqn, absents)


def loses_sign(eqn: JaxprEqn) -> bool:
    """Whether the result depends on magnitudes alone."""
    name = eqn.primitive.name
    is_square = name == "mul" and eqn.invars[0] is eqn.invars[1]
    is_even = name == "integer_pow" and _jax_internals.param(eqn, "y") % 2 == 0
    return is_square or is_even or name in ("abs", "square", "is_finite")


def same_params(first: JaxprEqn, second: JaxprEqn) -> bool:
    """Whether an element-wise equation is the same for both numbers of rows."""
    if first.primitive.name == "integer_pow":
        return _jax_internals.param(first, "y") == _jax_internals.param(second, "y")
    return _dtype(first.outvars[0]) == _dtype(second.outvars[0])


def rows_are_alike(eqn: JaxprEqn, axes: Sequence[int]) -> bool:
    """Whether the result of an equation without rows is constant along these axes."""
    if eqn.primitive.name == "broadcast_in_dim":
        return True
    return eqn.primitive.name == "iota" and _jax_internals.param(eqn, "dimension") not in axes


def absent_after(name: str, absent: Any) -> Any:
    """The number that rows without a gradient are after `name` was computed in each row."""
    if absent is None:
        return None
    if name in ("reduce_sum", "cumsum", "reduce_prod", "cumprod"):
        return absent if absent == 0 else None
    kept = {*MOVES, "sort", "cummax", "cummin", "reduce_max", "reduce_min", "reduce_and"}
    return absent if name in kept or name == "reduce_or" else None


def is_identity(name: str, absent: Any) -> bool:
    """Whether rows of the number `absent` add nothing to the reduction `name`."""
    return name in _IDENTITIES and absent is not None and bool(absent == _IDENTITIES[name])


def moved_axis(eqns: Sequence[JaxprEqn], operands: Sequence, axis: int) -> int | None:
    """The axis of the rows in the result; None if elements of several rows meet."""
    eqn = eqns[0]
    name, param = eqn.primitive.name, functools.partial(_jax_internals.param, eqn)
    shapes = [[jaxprs.type_of(v).shape for v in (e.invars[0], e.outvars[0])] for e in eqns]
    (shape, result), (other_shape, other_result) = shapes
    if name in _ALONG:
        along = param(_ALONG[name])
        has_rows = all(v.rows for v in operands)
        return axis if has_rows and axis not in np.atleast_1d(along) else None
    if name == "bitcast_convert_type":  # may cut elements up, along one more axis at the end
        return axis
    if name == "stack":
        return axis + (param("axis") <= axis) if all(v.rows for v in operands) else None
    if name == "transpose":
        return tuple(param("permutation")).index(axis)
    if name == "squeeze":
        dimensions = param("dimensions")
        return None if axis in dimensions else axis - sum(n < axis for n in dimensions)
    if name == "broadcast_in_dim":
        moved = param("broadcast_dimensions")[axis]
        varying = [n for n, (a, b) in enumerate(zip(result, other_result, strict=True)) if a != b]
        return moved if varying == [moved] else None
    if name == "reshape":
        return _reshaped_axis(shape, result, other_shape, other_result, axis)
    if name in ("slice", "dynamic_slice", "pad", "reduce_window_sum"):
        # The result has all rows if its size along their axis is theirs in both programs.
        is_whole = result[axis] == shape[axis] and other_result[axis] == other_shape[axis]
        return axis if is_whole and (name != "slice" or _is_forward(param, axis)) else None
    return None


def _is_forward(param: Callable, axis: int) -> bool:
    return param("start_indices")[axis] == 0 and (param("strides") or {axis: 1})[axis] == 1


def _reshaped_axis(shape, result, other_shape, other_result, axis: int) -> int | None:
    """The axis of the rows after a reshape, which may join it with axes after it."""
    before = math.prod(shape[:axis])
    if before != math.prod(other_shape[:axis]):
        return None
    for n in range(len(result)):
        if math.prod(result[:n]) == before and result[n] != other_result[n]:
            # Both axes hold whole rows, or whole parts of rows.
            is_multiple = result[n] * other_shape[axis] == other_result[n] * shape[axis]
            return n if is_multiple else None
    return None
