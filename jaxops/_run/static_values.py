"""Checks the static arguments of a caller, such as sizes and axes, with errors that name them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.export import is_symbolic_dim

from jaxops._errors import brief
from jaxops._run import extents
from jaxops._run.arguments import as_numpy_or_none, is_integer, rank_or_none, readable, to_numpy

# For an argument that is traced and must not be.
STATIC_HINT = (
    "inside jit compute it from Python ints, NumPy arrays, x.shape or jaxops.shape(x) in place of "
    "arrays of jnp, or name it in static_argnums or static_argnames"
)


def static_int(x: object, op: str, arg: str) -> int:
    """A Python int, from anything that is a whole number at trace time."""
    if type(x) is int:
        return x
    x = readable(x)
    if is_static_int(x):
        return int(x)  # type: ignore[call-overload]
    hint = f"; {STATIC_HINT}" if isinstance(x, Tracer) else _order_hint(x, op)
    raise TypeError(f"{op}: {arg} must be a static int; received {brief(x)}{hint}")


# Whose order of arguments was another in TensorFlow 0.x.
ORDERED_OTHERWISE = ("concat", "split")


def _order_hint(x: object, op: str) -> str:
    """The hint about an array in the place of a number: arguments may be in another order."""
    items = x if isinstance(x, (list, tuple)) else [x]
    if not any(isinstance(item, (jax.Array, np.ndarray)) and item.ndim for item in items):
        return ""
    old = f" (in jaxops.compat.v0.{op} as in TensorFlow 0.x)" if op in ORDERED_OTHERWISE else ""
    return f"; the arrays come first, as in TensorFlow 2{old}"


def refuse_traced(x: object, op: str, arg: str, hint: str = STATIC_HINT) -> None:
    """Refuses an argument that has to be static and is, or holds, a traced value."""
    if isinstance(x, Tracer):
        raise TypeError(f"{op}: {arg} must be static; received {brief(x)}; {hint}")
    if isinstance(x, (list, tuple)) and any(isinstance(i, Tracer) for i in x):
        raise TypeError(
            f"{op}: {arg} must be static; received a list with a traced value in it; {hint}"
        )


def static_int_of_one(x: object, op: str, arg: str) -> int:
    """`static_int`, also of an array or list of one int, which some TensorFlow functions take."""
    array = None if is_scalar(x) or isinstance(x, Tracer) else as_numpy_or_none(x)
    if array is not None and array.size == 1 and array.dtype.kind in "iu":
        return int(array.reshape(()))
    return static_int(x, op, arg)


def is_static_int(x: object) -> bool:
    """Whether `x` is a whole number at trace time. A bool is none, though an int in Python."""
    if isinstance(x, np.generic):
        # int4 scalars do not support `operator.index`, and NumPy 2.0's bools do.
        return is_integer(x.dtype)
    try:
        operator.index(x)  # type: ignore[arg-type]
    except TypeError:
        return False
    return not isinstance(x, bool)


def is_scalar(x: Any) -> bool:
    """Whether an argument that is an int or a sequence of ints is one number."""
    if isinstance(x, (list, tuple, int)):
        return isinstance(x, int)
    ndim = getattr(readable(x), "ndim", None)
    if ndim is None:
        return isinstance(x, (float, complex)) or is_symbolic_dim(x) or is_static_int(x)
    return ndim == 0


def static_padding_index(x: object, op: str, arg: str = "padding_index") -> int:
    """The number that says of an index that it is padding."""
    number = static_int(x, op, arg)
    if not -(2**63) <= number < 2**64:
        limits = "in [-2**63, 2**64), as indices are"
        raise ValueError(f"{op}: {arg} must be {limits}; received {number}")
    return number


def static_ints(x: object, op: str, arg: str) -> tuple[int, ...]:
    """A tuple of Python ints, from a one-dimensional sequence known at trace time."""
    if isinstance(x, (list, tuple)) and all([type(i) is int for i in x]):
        return tuple(x)
    as_list = getattr(x, "as_list", None)  # of a shape of TensorFlow
    x = as_list() if callable(as_list) else x
    refuse_traced(x, op, arg)
    # All at once: each component of a JAX array would cost a transfer.
    components = as_numpy_or_none(x) if isinstance(x, jax.Array) else readable(x)
    if rank_or_none(components) == 1:
        items = [*map(readable, components)]  # type: ignore[call-overload]
        if all(map(is_static_int, items)):
            return tuple(map(int, items))
        error, hint = TypeError, ""
    else:
        error = ValueError if _is_list_or_ints(components) else TypeError
        hint = _order_hint(x, op)
    raise error(
        f"{op}: {arg} must be a one-dimensional sequence of ints; received {brief(x)}{hint}"
    )


def static_ints_or_none(
    x: object, op: str, arg: str, concrete_arrays: bool = False
) -> tuple[int, ...] | None:
    """The ints of a sequence; None if it is, or holds, a JAX array.

    With `concrete_arrays` it is None only for an array that is traced.
    """
    unknown = Tracer if concrete_arrays else jax.Array
    items = x if isinstance(x, (list, tuple)) else [x]
    if any(isinstance(item, unknown) for item in items):
        return None
    return static_ints(x, op, arg)


def _is_list_or_ints(x: object) -> bool:
    """Whether `x`, which is no sequence of ints, has a wrong shape, rather than a wrong type."""
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype.kind in "iu"
    return isinstance(x, (int, list, tuple)) and not isinstance(x, bool)


def static_dim(x: Any, op: str, arg: str) -> Any:
    """`static_int` for a size, which may be a symbolic dimension while a program is exported."""
    return x if is_symbolic_dim(x) else static_int(x, op, arg)


def static_dims(x: object, op: str, arg: str) -> tuple[Any, ...]:
    """`static_ints` for sizes, which may be symbolic dimensions."""
    if isinstance(x, (list, tuple)) and any(map(is_symbolic_dim, x)):
        return tuple(static_dim(i, op, arg) for i in x)
    return static_ints(x, op, arg)


def static_matrix(x: Any, op: str, arg: str, shape: str) -> tuple[tuple[int, ...], ...]:
    """Rows of Python ints known at trace time; `shape` is for the message, such as `[rank, 2]`."""
    refuse_traced(x, op, arg)
    rows: Any = [*map(readable, x)] if isinstance(x, (list, tuple)) else as_numpy_or_none(x)
    kinds = (list, tuple, range, np.ndarray, jax.Array)
    has_other_rank = getattr(rows, "ndim", 2) != 2
    if rows is None or has_other_rank or not all(isinstance(row, kinds) for row in rows):
        error = ValueError if _is_list_or_ints(rows) else TypeError
        raise error(f"{op}: {arg} must have shape {shape}; received {brief(x)}")
    return tuple(static_ints(row, op, f"each row of {arg}") for row in rows)


def static_number(x: Any, op: str, arg: str) -> Any:
    """A real number known at trace time, as a scalar of NumPy."""
    refuse_traced(x, op, arg)
    number = to_numpy(readable(x), op, arg)
    is_scalar = isinstance(number, np.ndarray) and number.shape == ()
    if not is_scalar or not (number.dtype.kind in "iuf" or number.dtype == jnp.bfloat16):
        raise TypeError(f"{op}: {arg} must be a static number; received {brief(x)}")
    return number[()]


def canonical_axis(axis: int, rank: int, op: str, arg: str = "axis", of: str = "") -> int:
    """`axis` counted from the front, for an array of that rank; `of` may say which one."""
    if rank == 0:
        raise ValueError(f"{op}: {arg} must name a dimension; received {axis} for a scalar")
    if not -rank <= axis < rank:
        raise ValueError(f"{op}: {arg} must be in [{-rank}, {rank}){of}; received {axis}")
    return axis + rank if axis < 0 else axis


def check_addressable(
    shape: Sequence[int], dtype: Any, received: object, op: str, arg: str
) -> None:
    """Refuses an `arg` that makes an array too large for any machine, or for XLA to count."""
    passed = extents.limit(shape, dtype)
    if passed is not None:
        raise ValueError(
            f"{op}: {arg} must make arrays of less than {passed}; received {brief(received)}"
        )


def check_choice(x: object, choices: Sequence[str], op: str, arg: str) -> str:
    if not isinstance(x, str) or x not in choices:
        raise ValueError(f"{op}: {arg} must be one of {', '.join(choices)}; received {brief(x)}")
    return x


def check_bool(x: object, op: str, arg: str, hint: str = "") -> bool:
    if not isinstance(x, (bool, np.bool_)):
        hint = f"; {STATIC_HINT}" if isinstance(x, Tracer) else hint
        raise TypeError(f"{op}: {arg} must be a static bool; received {brief(x)}{hint}")
    return bool(x)
