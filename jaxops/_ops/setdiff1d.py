"""setdiff1d."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.export import register_namedtuple_serialization
from jax.typing import DTypeLike

from jaxops._indexing import result_size
from jaxops._indexing.first_occurrences import first_occurrences
from jaxops._indexing.policy import Mode
from jaxops._indexing.positions import take_or_fill, true_positions
from jaxops._ops.casting import static_index_dtype
from jaxops._run import arguments, on_host
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.dispatch import operation
from jaxops._run.known import at_once
from jaxops._run.static_values import check_bool

_NOUN = "values of x that are not in y"
_SMALL = 1024  # up to so many elements are compared by a loop in Python


class ListDiff(NamedTuple):
    """The result of `setdiff1d`."""

    out: jax.Array
    idx: jax.Array


register_namedtuple_serialization(ListDiff, serialized_name="jaxops.ListDiff")


@overload
def setdiff1d(
    x: ArrayLike,
    y: ArrayLike,
    index_dtype: DTypeLike = np.int32,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[False] = False,
    mode: Mode = "device",
) -> ListDiff: ...


@overload
def setdiff1d(
    x: ArrayLike,
    y: ArrayLike,
    index_dtype: DTypeLike = np.int32,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[True],
    mode: Mode = "device",
) -> tuple[ListDiff, jax.Array]: ...


def setdiff1d(
    x: ArrayLike,
    y: ArrayLike,
    index_dtype: DTypeLike = np.int32,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: bool = False,
    mode: Mode = "device",
) -> ListDiff | tuple[ListDiff, jax.Array]:
    """The elements of a vector that are not in another one, in order and with repetitions.

    `out[i] == x[idx[i]]`. NaN differs from every value, itself included.

    Follows `tf.compat.v1.setdiff1d`. Differs from it in: traced vectors need a static `size`; bools
    too; 0 and -0 are the same value in every floating-point dtype, and subnormal numbers are told
    apart (TensorFlow tells 0 from -0 in 16 bits, and takes subnormals for 0).

    Args:
        x: vector of bools, integers or real numbers, or of host strings, in which a str equals its
            bytes. Traced only with `size`.
        y: vector of the dtype of `x`. Traced only with `size`.
        index_dtype: static dtype of `idx`, int32 or int64.
        size: static int; the size of the results, for code that is compiled or batched. `mode`
            says what further elements do; places without one get `fill_value` in `out`, and in
            `idx` the size of `x`, which is the position of no element. Default: as many as there
            are.
        fill_value: scalar that fits the dtype of `x`, for use with `size`; default 0 (for
            strings, the empty one). If the result holds positions or segment ids, 0 is one of them:
            pass a number that is none, such as -1. Traced.
        return_size: static bool; whether to return also the number of elements, which `size` does
            not limit.
        mode: static; what elements that `size` does not hold do. `"device"`: an error on the CPU,
            dropped from the end elsewhere. `"error"`: an error everywhere. `"fill"`: dropped.
            `"promise_in_bounds"`: the caller promises that there are none. With
            `return_size=True` they are dropped in every mode.

    Returns:
        Named tuple `(out, idx)` of vectors, `out` of the dtype of `x` (for host strings both are
        NumPy arrays). With `return_size` a tuple of it and an int32 scalar.

    Raises:
        OutOfBoundsError: `size` holds too few elements, where `mode` makes that an error, in an
            eager call. Compiled code raises JAX's exception with the same text.
        TypeError: wrong dtype or type of an argument; `x` or `y` is traced and `size` not given.
        ValueError: wrong rank, shape or value of an argument; `index_dtype` is int64 without x64.

    Gradient: the cotangent of `out` for the elements that it holds. None for `y`.

    Example:
        >>> import jax, jaxops
        >>> jaxops.setdiff1d([1, 2, 3, 4, 5, 6], [1, 3, 5])
        ListDiff(out=Array([2, 4, 6], dtype=int32), idx=Array([1, 3, 5], dtype=int32))
        >>> padded = jax.jit(lambda x, y: jaxops.setdiff1d(x, y, size=3, fill_value=-1))
        >>> padded(jax.numpy.array([1, 2, 2]), jax.numpy.array([1])).out
        Array([ 2,  2, -1], dtype=int32)
    """
    op = "setdiff1d"
    on_host.check_fill_needs_size(op, size, fill_value)
    found: Any  # of NumPy's arrays for strings
    return_size = check_bool(return_size, op, "return_size")
    mode = result_size.mode_of_size(op, mode, size, return_size)
    dtype = static_index_dtype(index_dtype, op, "index_dtype")
    if size is not None:
        size = on_host.check_size(size, op)
    if arguments.is_host_string(x):
        with on_host.named_scope(op, name):
            found = _of_strings(op, x, y, size, fill_value, mode, dtype)
    else:
        if arguments.is_host_string(y):
            arguments.to_operand(y, op, "y")  # refuses strings
        if arguments.is_empty_list(y):
            y = np.zeros(0, arguments.to_operand(x, op, "x").dtype)
        elif arguments.is_empty_list(x):
            x = np.zeros(0, arguments.to_operand(y, op, "y").dtype)
        if size is None:
            with on_host.named_scope(op, name):
                found = _exact(op, x, y, dtype)
        else:
            found = _setdiff.run(
                op,
                x=x,
                y=y,
                name=name,
                mode=mode,
                fill_value=fill_value,
                size=size,
                index_dtype=dtype,
            )
    out, idx, total = found
    return (ListDiff(out, idx), total) if return_size else ListDiff(out, idx)


def _of_strings(op, x, y, size, fill_value, mode, index_dtype):
    x = arguments.to_host_strings(x, op, "x")
    y = arguments.to_host_strings(y, op, "y")
    _check_vectors(op, x, y)
    places = _places_of_others(arguments.as_bytes(x), arguments.as_bytes(y))
    out, total = x[places], np.array(places.size, np.int32)
    if size is not None:
        result_size.check_on_host(op, size, _NOUN, places.size, mode)
        out = on_host.fit_strings(out, 0, size, fill_value, op)
        places = np.append(places[:size], np.full(max(size - places.size, 0), x.size))
    return out, places.astype(index_dtype), total


def _exact(op: str, x: ArrayLike, y: ArrayLike, index_dtype: np.dtype):
    data = on_host.to_data(x, op, "x")
    others = on_host.to_data(y, op, "y")
    if others.dtype != data.dtype:
        others = arguments.to_dtype(y, jnp.asarray(others), data.dtype, op, "y")
    # While `x` is differentiated, but neither compiled nor batched, its values are concrete.
    values = [lax.stop_gradient(v) if isinstance(v, Tracer) else v for v in (data, others)]
    pairs = zip(values, "xy", strict=True)
    x_known, y_known = (on_host.values_of(v, op, arg, x) for v, arg in pairs)
    _check_vectors(op, data, others)
    if x_known.size + y_known.size <= _SMALL and x_known.dtype.kind in "biuf":
        places = _places_of_others(x_known, y_known)
    else:
        with at_once():
            places = np.flatnonzero(~np.asarray(_are_in(*values)))
    out = on_host.take(data, places, 0, 1)
    parts = [places.astype(index_dtype), np.array(places.size, np.int32)]
    idx, total = on_host.from_host(parts, data)
    return out, idx, total


def _places_of_others(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The positions of the other elements, by a set in which each NaN is a value of its own."""
    known = {*y.tolist()}
    return np.array([place for place, value in enumerate(x.tolist()) if value not in known], int)


@operation(data=("x", "y"), pads=True, like="x")
def _setdiff(
    x: jax.Array,
    y: jax.Array,
    fill_value: jax.Array | None,
    *,
    op: str,
    mode: str,
    size: int,
    index_dtype: np.dtype,
):
    _check_vectors(op, x, y)
    are_in = _are_in(lax.stop_gradient(x), lax.stop_gradient(y))
    places, total = true_positions(~are_in, size)
    held = result_size.hold(result_size.num_elements(op, size, _NOUN), total, x.size, mode)
    valid = lax.iota(jnp.int32, size) < held
    out = take_or_fill(x, places, valid, fill_value, 0)
    # `jnp.where` would drop the check if `size` is 0 (test_result_size.py,
    # test_every_result_has_the_check).
    idx = lax.select(valid, places, jnp.full_like(places, x.size))
    return out, idx.astype(index_dtype), total


@jax.jit
def _are_in(x: jax.Array, y: jax.Array) -> jax.Array:
    """Whether the first one equal to each element of `x`, in `y` and then `x`, stands in `y`."""
    first = first_occurrences(lax.concatenate([y, x], 0))
    return first[y.shape[0] :] < y.shape[0]


def _check_vectors(op: str, x: jax.Array | np.ndarray, y: jax.Array | np.ndarray) -> None:
    for arg, array in (("x", x), ("y", y)):
        if array.ndim != 1:
            raise ValueError(f"{op}: {arg} must be a vector; received shape {array.shape}")
        if array.dtype.kind == "c":
            raise TypeError(f"{op}: {arg} must not have a complex dtype; received {array.dtype}")
    on_host.check_countable(x.size + y.size, op, "x and y")
