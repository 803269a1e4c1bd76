"""fill, broadcast_to and range: arrays made of a shape."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.export import is_symbolic_dim
from jax.typing import DTypeLike

from jaxops import _symbolic
from jaxops._ops import copies
from jaxops._ops.casting import static_dtype
from jaxops._run.arguments import ArrayLike, Ints, as_tensorflow_takes, brief, check_scalar
from jaxops._run.dispatch import operation
from jaxops._run.static_values import check_addressable, static_dims, static_number


def fill(dims: Ints, value: ArrayLike, name: str | None = None, layout: None = None) -> jax.Array:
    """An array with `value` in every element.

    Follows `tf.fill`. Differs from it in: `dims` is a vector, and `value` a scalar, where
    TensorFlow also takes one number, and an array of one.

    Args:
        dims: static ints of at least 0, the shape of the result.
        value: scalar of any dtype, or host string. Traced.
        layout: None, as arrays of JAX are laid out by `jax.device_put` and by shardings.

    Returns:
        Array of shape `dims` and dtype of `value`; Python numbers are int32 and float32. For a
        host string a NumPy array.

    Raises:
        TypeError: wrong type of an argument; traced `dims`; a `layout`.
        ValueError: `dims` has a negative component; `value` is no scalar.

    Gradient: the sum of the cotangent.

    Example:
        >>> import jaxops
        >>> jaxops.fill([2, 3], 9)
        Array([[9, 9, 9],
               [9, 9, 9]], dtype=int32)
    """
    op = "fill"
    if layout is not None:
        raise TypeError(
            f"{op}: layout must be None; received {brief(layout)}; lay the result out with "
            "jax.device_put(result, sharding)"
        )
    shape = static_dims(dims, op, "dims")
    value = as_tensorflow_takes(value)
    return _fill.run(op, value=value, name=name, shape=shape)


@operation(data=("value",), moves_elements=True)
def _fill(value: jax.Array, *, op: str, shape: tuple[int, ...]):
    if any(dim < 0 for dim in shape):
        raise ValueError(f"{op}: dims must have no negative component; received {shape}")
    check_scalar(value, op, "value")
    return jnp.broadcast_to(value, shape)


def broadcast_to(input: ArrayLike, shape: Ints, name: str | None = None) -> jax.Array:
    """Copies `input` along dimensions of size 1, and along new ones in front.

    Follows `tf.broadcast_to`. Differs from it in: nothing.

    Args:
        input: array of shape `D` and any dtype, or host strings. Traced.
        shape: static ints, of which the last `rank(input)` are `D`, but for dimensions that are 1
            in `D`.

    Returns:
        Array of `shape` and dtype of `input`; for host strings a NumPy array.

    Raises:
        TypeError: wrong type of an argument; traced `shape`.
        ValueError: `input` does not broadcast to `shape`.

    Gradient: the sum of the cotangent over the copies.

    Example:
        >>> import jaxops
        >>> jaxops.broadcast_to([[1], [2]], [2, 3])
        Array([[1, 1, 1],
               [2, 2, 2]], dtype=int32)
    """
    op = "broadcast_to"
    dims = static_dims(shape, op, "shape")
    return _broadcast_to.run(op, input=input, name=name, shape=dims)


@operation(data=("input",), moves_elements=True)
def _broadcast_to(input: jax.Array, *, op: str, shape: tuple[int, ...]):
    new = len(shape) - input.ndim
    fits = new >= 0 and all(
        d in (1, s) and (d == s or s >= 0) for d, s in zip(input.shape, shape[new:], strict=True)
    )
    if not fits or any(dim < 0 for dim in shape[: max(new, 0)]):
        raise ValueError(
            f"{op}: shape must be one that input, of shape {input.shape}, broadcasts to; "
            f"received {shape}"
        )
    expanded = [d for d, dim in enumerate(input.shape) if dim != shape[new + d]]
    dims = [new + d for d, _ in enumerate(input.shape) if d not in expanded]
    return copies.broadcast_in_dim(lax.squeeze(input, expanded), shape, dims)


# The dtypes that numbers of different ones become, as in TensorFlow.
_NUMBERS = [*map(np.dtype, ("int32", "int64", "float16", "bfloat16", "float32", "float64"))]


def range(
    start: ArrayLike,
    limit: ArrayLike | None = None,
    delta: ArrayLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = "range",
) -> jax.Array:
    """The numbers from `start` up to `limit`, which is not among them, in steps of `delta`.

    Follows `tf.range`. Differs from it in: the numbers are static; `dtype` may be any integer
    dtype.

    Args:
        start: static number, or where there is no `limit`, the limit: then the first number is 0.
        limit: static number.
        delta: static number other than 0. `start` does not lie beyond `limit` in its direction.
        dtype: static dtype of integers or real floats; by default the widest of the three
            numbers, which are int32, int64 or floats. Python numbers are int32 and float32.

    Returns:
        Vector of `ceil((limit - start) / delta)` numbers, `start + i * delta`. Inside a trace a
        short one of integers is a NumPy array, which serves as a static argument.

    Raises:
        TypeError: wrong type of an argument; a traced number.
        ValueError: `delta` is 0, `limit` lies on the other side of `start`, or a number does not
            fit `dtype`.

    Gradient: none.

    Example:
        >>> import jaxops
        >>> jaxops.range(3, 18, 3)
        Array([ 3,  6,  9, 12, 15], dtype=int32)
        >>> jaxops.range(1, 0, -0.25)
        Array([1.  , 0.75, 0.5 , 0.25], dtype=float32)
    """
    op = "range"
    given = {"start": start, "limit": limit, "delta": delta}
    if limit is None:
        del given["limit"]
    of = None if dtype is None else static_dtype(dtype, op, "dtype")
    numbers = {arg: _number(x, of, op, arg) for arg, x in given.items()}
    of = _common_dtype(numbers, op) if of is None else of
    if not (jnp.issubdtype(of, jnp.integer) or jnp.issubdtype(of, jnp.floating)):
        raise TypeError(f"{op}: dtype must be of integers or real floats; received {of}")
    if not (jnp.issubdtype(of, jnp.integer) or _symbolic.are_known([*numbers.values()])):
        raise TypeError(f"{op}: dtype must be of integers for symbolic numbers; received {of}")
    values = {arg: _as_python(x, of, op, arg) for arg, x in numbers.items()}
    first, end = (0, values["start"]) if limit is None else (values["start"], values["limit"])
    size = _size(first, end, values["delta"], of, op)
    check_addressable((size,), of, [first, end], op, "limit")
    return _range.run(op, name=name, first=first, step=values["delta"], size=size, dtype=of)


def _number(x: Any, dtype: np.dtype | None, op: str, arg: str) -> Any:
    """A scalar of NumPy, or a symbolic dimension."""
    if is_symbolic_dim(x):
        return x
    return static_number(x if dtype == np.float64 else as_tensorflow_takes(x), op, arg)


def _common_dtype(numbers: dict[str, Any], op: str) -> np.dtype:
    dtypes = {arg: getattr(x, "dtype", np.dtype(np.int32)) for arg, x in numbers.items()}
    for arg, dtype in dtypes.items():
        if dtype not in _NUMBERS:
            raise TypeError(
                f"{op}: {arg} must be of {', '.join(map(str, _NUMBERS))} where no dtype is given; "
                f"received {dtype}"
            )
    widest = max(dtypes.values(), key=_NUMBERS.index)
    return np.dtype(jax.dtypes.canonicalize_dtype(widest))


def _as_python(number: Any, dtype: np.dtype, op: str, arg: str) -> Any:
    """`number`, as rounded to `dtype`, which holds it."""
    if is_symbolic_dim(number):
        return number
    with np.errstate(all="ignore"):
        rounded = np.asarray(number).astype(dtype)
    if jnp.issubdtype(dtype, jnp.integer) and (
        number.dtype.kind not in "iu" or rounded.tolist() != number.tolist()
    ):
        raise ValueError(f"{op}: {arg} must fit dtype {dtype}; received {brief(number.item())}")
    return rounded.tolist()


def _size(first: Any, end: Any, step: Any, dtype: np.dtype, op: str) -> Any:
    """The number of numbers, which TensorFlow computes in the dtype of floats."""
    if step == 0:
        raise ValueError(f"{op}: delta must not be 0; received {step}")
    if not (first <= end if step > 0 else first >= end):
        raise ValueError(
            f"{op}: limit must not lie on the other side of start; "
            f"received start={first}, limit={end}, delta={step}"
        )
    if jnp.issubdtype(dtype, jnp.integer):
        return -((first - end) // step)
    first, end, step = (dtype.type(x) for x in (first, end, step))
    with np.errstate(all="ignore"):
        size = float(np.ceil(np.abs((end - first) / step)))
    if not size < 2**63:
        infinite = [arg for arg, x in (("start", first), ("limit", end)) if math.isinf(x)]
        too_far = "limit must be fewer than 2**63 steps from start"
        wrong = f"{infinite[0]} must be finite" if infinite else too_far
        raise ValueError(f"{op}: {wrong}; received start={first}, limit={end}, delta={step}")
    return int(size)


@operation()
def _range(*, op: str, first: Any, step: Any, size: int, dtype: np.dtype):
    del op  # nothing to refuse
    if jnp.issubdtype(dtype, jnp.integer):
        return lax.iota(dtype, size) * np.asarray(step, dtype) + jnp.asarray(first, dtype)
    # NumPy computes the places, as XLA's fused multiplication and addition would round once
    # (test_filling.py, test_range_counts_as_a_loop_does).
    places = np.arange(size).astype(dtype)
    return jnp.asarray(dtype.type(first) + places * dtype.type(step))
