"""where: elements of one of two arrays, or the positions of true elements."""

from __future__ import annotations

from typing import Any, Literal, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from jaxops import _jax_internals
from jaxops._indexing import masks, result_size
from jaxops._indexing.dimension_numbers import index_vectors
from jaxops._indexing.policy import Mode
from jaxops._indexing.positions import is_true, true_positions
from jaxops._run import arguments, on_host
from jaxops._run.arguments import ArrayLike, Int, brief
from jaxops._run.dispatch import operation
from jaxops._run.known import at_once, known
from jaxops._run.static_values import check_bool

_NOUN = "true values of condition"


@overload
def where(
    condition: ArrayLike,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[False] = False,
    mode: Mode = "device",
) -> jax.Array: ...


@overload
def where(
    condition: ArrayLike,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[True],
    mode: Mode = "device",
) -> tuple[jax.Array, jax.Array]: ...


def where(
    condition: ArrayLike,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: bool = False,
    mode: Mode = "device",
) -> jax.Array | tuple[jax.Array, jax.Array]:
    """Takes elements of `x` where `condition` is true and of `y` elsewhere; or finds positions.

    Without `x` and `y` the result holds the positions of the true elements, in row-major order.

    Follows `tf.where`. Differs from it in: any rank; a number of Python that the dtype of the
    other argument does not hold is refused; for positions a traced condition needs a static
    `size`, and they are int32 while 64-bit types are off.

    Args:
        condition: array of bools. For positions of rank 1 at least; numbers count as true where
            they are not 0. Traced; for positions only with `size`.
        x: array of any dtype, or host strings. Traced.
        y: array of the dtype of `x`, or host strings. Numbers of Python take the dtype of the
            other argument. Traced.
        size: static int, for positions; their number in the result, for code that is compiled or
            batched over `condition`. `mode` says what further ones do; rows without a position
            get `fill_value`. Default: as many as there are.
        fill_value: integer scalar, for use with `size`; default 0, as in `jnp.argwhere`. 0 is the
            position of the first element: if elements are looked up at the positions, pass a number
            that is none, such as -1. Traced.
        return_size: static bool, for positions; whether to return also the number of true
            elements, which `size` does not limit.
        mode: static; what positions that `size` does not hold do. `"device"`: an error on the
            CPU, dropped from the end elsewhere. `"error"`: an error everywhere. `"fill"`: dropped.
            `"promise_in_bounds"`: the caller promises that there are none. With `return_size=True`
            they are dropped in every mode.

    Returns:
        Array of the dtype of `x` and `y`, and of the shape to which `condition`, `x` and `y`
        broadcast; for host strings a NumPy array. Positions: an array of shape
        `[size, rank(condition)]`, int64 with 64-bit types on and int32 otherwise; with
        `return_size` a tuple of it and an int32 scalar.

    Raises:
        OutOfBoundsError: `size` holds too few positions, where `mode` makes that an error, in an
            eager call. Compiled code raises JAX's exception with the same text.
        TypeError: wrong dtype or type of an argument; `condition` is traced and `size` not given.
        ValueError: shapes that do not broadcast; one of `x` and `y` alone; wrong rank or value of
            an argument.

    Gradient: the cotangent for `x` where `condition` is true, and for `y` elsewhere, summed where
    they were broadcast. None for `condition`.

    Example:
        >>> import jaxops
        >>> jaxops.where([[True, False], [False, True]], [[1, 2], [3, 4]], 100)
        Array([[  1, 100],
               [100,   4]], dtype=int32)
        >>> jaxops.where([[1, 0, 0], [1, 0, 1]])
        Array([[0, 0],
               [1, 0],
               [1, 2]], dtype=int32)
    """
    op = "where"
    if (x is None) != (y is None):
        missing = "x" if x is None else "y"
        raise ValueError(f"{op}: x and y must both be given, or neither; received no {missing}")
    if x is None or y is None:
        return _positions(op, condition, name, size, fill_value, return_size, mode)
    options = {"size": (size, None), "fill_value": (fill_value, None)}
    options |= {"return_size": (return_size, False), "mode": (mode, "device")}
    for option, (value, default) in options.items():
        if value is not default and not (isinstance(value, str) and value == default):
            raise ValueError(
                f"{op}: {option} must be left out if x and y are given; received {brief(value)}"
            )
    return select(op, condition, x, y, name)


def select(
    op: str, condition: ArrayLike, x: Any, y: Any, name: str | None, by_rows: bool = False
) -> Any:
    """The elements of `x` or `y`, under the name of the function that is called.

    With `by_rows` as TensorFlow 0.x has it: nothing broadcasts but a condition of no dimension, or
    of the first one.
    """
    if arguments.is_empty_list(condition):  # NumPy makes it floats
        condition = np.zeros(np.shape(condition), bool)
    if arguments.is_host_string(x) or arguments.is_host_string(y):
        with on_host.named_scope(op, name):
            return _select_strings(op, condition, x, y, by_rows)
    return _select.run(
        op,
        condition=condition,
        x=x,
        y=y,
        name=name,
        like="y" if _settled(y) > _settled(x) else "x",
        by_rows=by_rows,
    )


def _settled(x: Any) -> int:
    """A rank of a dtype's origin: 0 for Python's numbers, 1 for NumPy's arrays, 2 for JAX's."""
    if isinstance(x, jax.Array):
        return 0 if jax.typeof(x).weak_type else 2
    return -1 if arguments.is_empty_list(x) else int(hasattr(x, "dtype"))


def _select_strings(op, condition, x, y, by_rows):
    known = on_host.values_of(condition, op, "condition", x)
    given = [arguments.to_host_strings(v, op, arg) for arg, v in (("x", x), ("y", y))]
    x, y = arguments.of_one_kind(given)
    return np.where(_fit(op, known, x, y, by_rows), x, y)


@operation(data=("condition", "x", "y"), of_own_dtype=("condition",), moves_elements=True)
def _select(condition: jax.Array, x: jax.Array, y: jax.Array, *, op: str, by_rows: bool):
    condition = is_true(_fit(op, condition, x, y, by_rows))
    return masks.where(condition, x, y)


def _fit(op: str, condition, x, y, by_rows: bool):
    """The condition, of a shape that broadcasts."""
    if condition.dtype != bool:
        raise TypeError(
            f"{op}: condition must be an array of bools if x and y are given; "
            f"received dtype {condition.dtype}"
        )
    received = f"received shapes {condition.shape}, {x.shape} and {y.shape}"
    if by_rows:
        if x.shape != y.shape or condition.shape not in ((), x.shape[:1], x.shape):
            raise ValueError(
                f"{op}: condition, x and y must have one shape, or condition no dimension or the "
                f"first one only; {received}"
            )
        return condition.reshape(condition.shape + (1,) * (x.ndim - condition.ndim))
    try:
        jnp.broadcast_shapes(condition.shape, x.shape, y.shape)
    except ValueError:
        raise ValueError(
            f"{op}: condition, x and y must have shapes that broadcast; {received}"
        ) from None
    return condition


def _positions(op, condition, name, size, fill_value, return_size, mode) -> Any:
    on_host.check_fill_needs_size(op, size, fill_value)
    return_size = check_bool(return_size, op, "return_size")
    mode = result_size.mode_of_size(op, mode, size, return_size)
    dtype = jax.dtypes.canonicalize_dtype(np.int64)
    if size is None:
        with on_host.named_scope(op, name):
            return _exact(op, condition, dtype, return_size)
    filling: dict[str, Any] = (
        {} if fill_value is None else {"filling": _to_fill(op, fill_value, dtype)}
    )
    return _padded.run(
        op,
        condition=condition,
        **filling,
        name=name,
        mode=mode,
        size=on_host.check_size(size, op),
        return_size=return_size,
        dtype=dtype,
    )


def _to_fill(op: str, fill_value: Any, dtype: np.dtype) -> jax.Array | np.ndarray:
    """The fill value, in NumPy unless JAX holds it: so a trace can know positions."""
    if isinstance(fill_value, jax.Array):
        return arguments.to_scalar_like(fill_value, dtype, op, "fill_value")
    with at_once():
        return np.asarray(arguments.to_scalar_like(fill_value, dtype, op, "fill_value"))


def _exact(op, condition, dtype, return_size) -> Any:
    if isinstance(condition, Tracer):  # known, if it is differentiated only
        condition = lax.stop_gradient(condition)
    values = on_host.values_of(condition, op, "condition", condition)
    arguments.check_numeric_or_bool(values.dtype, op, "condition", condition)
    _check_rank(op, values)
    # An array without elements may have such a dimension (test_where.py,
    # test_positions_in_an_empty_array_of_long_dimensions).
    if max(values.shape) > np.iinfo(dtype).max:
        raise ValueError(
            f"{op}: condition must have dimensions that {dtype} counts; "
            f"received shape {values.shape}; {arguments.X64_HINT}"
        )
    found = [_positions_of_true(values, dtype)]
    if return_size:
        found.append(np.array(len(found[0]), np.int32))
    if isinstance(condition, jax.Array):
        found = on_host.from_host(found, condition)
    elif _jax_internals.is_eager():
        found = [_jax_internals.put_on_default_device(array) for array in found]
    else:
        found = [*map(known, found)]
    return tuple(found) if return_size else found[0]


def _positions_of_true(known: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The positions of `np.argwhere`, which takes 8 times as long as narrow divisions."""
    numbers = np.flatnonzero(known)
    if max(known.size, *known.shape) <= np.iinfo(np.int32).max:
        numbers = numbers.astype(np.int32)
    positions = np.empty((numbers.size, known.ndim), dtype)
    for axis in range(known.ndim - 1, 0, -1):
        dim = numbers.dtype.type(known.shape[axis])
        left = numbers // dim  # `np.divmod` is slower
        positions[:, axis] = numbers - left * dim
        numbers = left
    positions[:, 0] = numbers
    return positions


@operation(data=("condition", "filling"))
def _padded(
    condition: jax.Array,
    filling: jax.Array | None = None,
    *,
    op: str,
    mode: str,
    size: int,
    return_size: bool,
    dtype: np.dtype,
):
    _check_rank(op, condition)
    on_host.check_countable(condition.size, op, "condition")
    numbers, total = true_positions(is_true(condition).reshape(-1), size)
    total = result_size.hold(result_size.num_elements(op, size, _NOUN), total, condition.size, mode)
    positions = index_vectors(numbers, condition.shape).astype(dtype)
    fill = jnp.zeros((), dtype) if filling is None else filling
    # No `jnp.where`, which makes nothing of empty arrays and so loses the check
    # (test_result_size.py, test_every_result_has_the_check).
    positions = masks.read(positions, fill, (lax.iota(jnp.int32, size) < total)[:, None])
    return (positions, total) if return_size else positions


def _check_rank(op: str, condition) -> None:
    if condition.ndim == 0:
        raise ValueError(
            f"{op}: condition must have rank 1 at least to have positions; received a scalar"
        )
