"""unique and unique_with_counts."""

from __future__ import annotations

import functools
import math
from typing import Any, Literal, NamedTuple, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.export import register_namedtuple_serialization
from jax.typing import DTypeLike

from jaxops._indexing import result_size
from jaxops._indexing.first_occurrences import number_distinct
from jaxops._indexing.policy import Mode
from jaxops._indexing.positions import take_or_fill
from jaxops._ops.casting import static_index_dtype
from jaxops._run import arguments, on_host
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.dispatch import operation
from jaxops._run.known import at_once
from jaxops._run.static_values import canonical_axis, check_bool, static_int_of_one

_NOUN = "distinct values of x"
_SMALL = 1024  # up to so many elements are numbered by a loop in Python


class Unique(NamedTuple):
    """The result of `unique`."""

    y: jax.Array
    idx: jax.Array


class UniqueWithCounts(NamedTuple):
    """The result of `unique_with_counts`."""

    y: jax.Array
    idx: jax.Array
    count: jax.Array


register_namedtuple_serialization(Unique, serialized_name="jaxops.Unique")
register_namedtuple_serialization(UniqueWithCounts, serialized_name="jaxops.UniqueWithCounts")


@overload
def unique(
    x: ArrayLike,
    out_idx: DTypeLike = np.int32,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[False] = False,
    mode: Mode = "device",
    axis: Int | None = None,
) -> Unique: ...


@overload
def unique(
    x: ArrayLike,
    out_idx: DTypeLike = np.int32,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[True],
    mode: Mode = "device",
    axis: Int | None = None,
) -> tuple[Unique, jax.Array]: ...


def unique(
    x: ArrayLike,
    out_idx: DTypeLike = np.int32,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: bool = False,
    mode: Mode = "device",
    axis: Int | None = None,
) -> Unique | tuple[Unique, jax.Array]:
    """Finds the distinct values of a vector, in the order of their first occurrence.

    `x[i] == y[idx[i]]`. NaN is distinct from every value, itself included. With `axis` it finds the
    distinct slices of an array along that axis, as `tf.raw_ops.UniqueV2` does.

    Follows `tf.unique`. Differs from it in: a traced `x` needs a static `size`; `y` has a
    gradient; 0 and -0 are the same value in every floating-point dtype, and subnormal numbers are
    told apart (TensorFlow tells 0 from -0 in 16 bits, and takes subnormals for 0).

    Args:
        x: vector of bools, integers or real numbers, or of host strings; with `axis` an array of
            these, of rank 1 at least. A str equals its bytes. Traced only with `size`.
        out_idx: static dtype of `idx`, int32 or int64.
        size: static int; the size of `y`, for code that is compiled or batched over `x`. `mode`
            says what further values do; places without a value get `fill_value`. Default: as
            many as there are.
        fill_value: scalar that fits the dtype of `x`, for use with `size`; default 0 (for
            strings, the empty one). If the result holds positions or segment ids, 0 is one of them:
            pass a number that is none, such as -1. Traced.
        return_size: static bool; whether to return also the number of distinct values, which
            `size` does not limit.
        mode: static; what values that `size` does not hold do. `"device"`: an error on the CPU,
            dropped from the end elsewhere, where `idx` still counts them. `"error"`: an error
            everywhere. `"fill"`: dropped. `"promise_in_bounds"`: the caller promises that there
            are none. With `return_size=True` they are dropped in every mode.
        axis: static int in `[-rank(x), rank(x))`, along which slices are compared. Default: `x` is
            a vector. The time grows with the size of a slice.

    Returns:
        Named tuple `(y, idx)`: `y` of shape `[size]` and dtype of `x` (for host strings a NumPy
        array), `idx` with the shape of `x`; with `axis` `y` has the shape of `x` but for `size`
        along the axis, and `idx` is a vector of a number for each slice. With `return_size` a tuple
        of it and an int32 scalar.

    Raises:
        OutOfBoundsError: `size` holds too few values, where `mode` makes that an error, in an
            eager call. Compiled code raises JAX's exception with the same text.
        TypeError: wrong dtype or type of an argument; `x` is traced and `size` not given.
        ValueError: wrong rank, shape or value of an argument; `out_idx` is int64 without x64.

    Gradient: the cotangent of `y` for the first occurrence of each value; padding sends nothing
    back. Differentiated eagerly without `size`, each new size compiles anew.

    Example:
        >>> import jax, jaxops
        >>> y, idx = jaxops.unique([5, 3, 5, 5, 1])
        >>> y, idx
        (Array([5, 3, 1], dtype=int32), Array([0, 1, 0, 0, 2], dtype=int32))
        >>> jaxops.unique([[1, 2], [3, 4], [1, 2]], axis=0).y
        Array([[1, 2],
               [3, 4]], dtype=int32)
        >>> padded = jax.jit(lambda x: jaxops.unique(x, size=4, fill_value=-1, return_size=True))
        >>> result, size = padded(jax.numpy.array([5, 3, 5, 5, 1]))
        >>> result.y, size
        (Array([ 5,  3,  1, -1], dtype=int32), Array(3, dtype=int32))
    """
    op = "unique"
    return _run(op, x, out_idx, name, size, fill_value, return_size, mode, axis, with_counts=False)


@overload
def unique_with_counts(
    x: ArrayLike,
    out_idx: DTypeLike = np.int32,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[False] = False,
    mode: Mode = "device",
    axis: Int | None = None,
) -> UniqueWithCounts: ...


@overload
def unique_with_counts(
    x: ArrayLike,
    out_idx: DTypeLike = np.int32,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[True],
    mode: Mode = "device",
    axis: Int | None = None,
) -> tuple[UniqueWithCounts, jax.Array]: ...


def unique_with_counts(
    x: ArrayLike,
    out_idx: DTypeLike = np.int32,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: bool = False,
    mode: Mode = "device",
    axis: Int | None = None,
) -> UniqueWithCounts | tuple[UniqueWithCounts, jax.Array]:
    """Finds the distinct values of a vector, in the order of first occurrence, and counts them.

    `x[i] == y[idx[i]]`. NaN is distinct from every value, itself included.

    Follows `tf.unique_with_counts`. Differs from it in: as `unique`.

    Args:
        x: vector, as in `unique`.
        out_idx: static dtype of `idx` and `count`, int32 or int64.
        size: static int; the size of `y` and `count`, as in `unique`.
        fill_value: scalar for places of `y` without a value, as in `unique`. Traced.
        return_size: static bool, as in `unique`.
        mode: static, as in `unique`.
        axis: static int, as in `unique`.

    Returns:
        Named tuple `(y, idx, count)`: `y` and `idx` as of `unique`; `count[k]` tells how often
        `y[k]` occurs in `x`, and is 0 for padding. With `return_size` a tuple of it and an int32
        scalar.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `unique`.

    Gradient: as `unique`.

    Example:
        >>> import jaxops
        >>> y, idx, count = jaxops.unique_with_counts([1, 1, 2, 4, 4, 4, 7, 8, 8])
        >>> y, count
        (Array([1, 2, 4, 7, 8], dtype=int32), Array([2, 1, 3, 1, 2], dtype=int32))
        >>> idx
        Array([0, 0, 1, 2, 2, 2, 3, 4, 4], dtype=int32)
        >>> jaxops.unique_with_counts(["b", "a", "b"]).y
        array(['b', 'a'], dtype='<U1')
    """
    op = "unique_with_counts"
    return _run(op, x, out_idx, name, size, fill_value, return_size, mode, axis, with_counts=True)


def _run(op, x, out_idx, name, size, fill_value, return_size, mode, axis, *, with_counts) -> Any:
    result: Any  # of NumPy's arrays for strings
    on_host.check_fill_needs_size(op, size, fill_value)
    return_size = check_bool(return_size, op, "return_size")
    mode = result_size.mode_of_size(op, mode, size, return_size)
    dtype = static_index_dtype(out_idx, op, "out_idx")
    if size is not None:
        size = on_host.check_size(size, op)
    if axis is not None:
        axis = static_int_of_one(axis, op, "axis")
    if arguments.is_host_string(x):
        x = arguments.to_host_strings(x, op, "x")
        with on_host.named_scope(op, name):
            result, total = _of_strings(op, x, axis, size, fill_value, dtype)
            if size is not None:
                result_size.check_on_host(op, size, _NOUN, int(total), mode)
    elif size is None:
        with on_host.named_scope(op, name):
            result, total = _exact(op, x, axis, dtype, with_counts, return_size)
    else:
        result, total = _unique.run(
            op,
            x=x,
            name=name,
            mode=mode,
            fill_value=fill_value,
            size=size,
            out_idx=dtype,
            axis=axis,
        )
    result = UniqueWithCounts(*result) if with_counts else Unique(*result[:2])
    return (result, total) if return_size else result


def _of_strings(op: str, x: np.ndarray, axis, size: int | None, fill_value, out_idx: np.dtype):
    axis = _check_axis(op, x, axis)
    firsts, idx = _number_by_dict(arguments.as_bytes(x), axis)
    y = np.take(x, firsts, axis)
    count = np.bincount(idx, minlength=firsts.size).astype(out_idx)
    if size is not None:
        y = on_host.fit_strings(y, axis, size, fill_value, op)
        count = np.pad(count[:size], (0, max(size - count.size, 0)))
    return (y, idx.astype(out_idx), count), np.array(firsts.size, np.int32)


def _exact(op: str, x: ArrayLike, axis, out_idx: np.dtype, with_counts: bool, with_total: bool):
    data = on_host.to_data(x, op, "x")
    # While `x` is differentiated, but neither compiled nor batched, its values are concrete.
    values = lax.stop_gradient(data) if isinstance(data, Tracer) else data
    known = on_host.values_of(values, op, "x", x)
    axis = _check_axis(op, data, axis)
    # A loop in Python takes less time than a call of compiled code (test_unique.py,
    # test_small_eager_calls_run_no_compiled_code).
    if max(known.size, known.shape[axis]) <= _SMALL and known.dtype.kind in "biuf":
        firsts, idx = _number_by_dict(known, axis)
        counts = [np.bincount(idx, minlength=firsts.size)] if with_counts else []
    else:
        with at_once():
            size = known.shape[axis]
            numbered = _number_compiled(values, axis, size=size, with_counts=with_counts)
        firsts, idx, total, *counts = map(np.asarray, numbered)
        firsts, counts = firsts[:total], [count[:total] for count in counts]
    # To move an array to the device costs as much as all the rest of a small call.
    parts = [x.astype(out_idx, copy=False) for x in (idx, *counts)]
    if with_total:
        parts.append(np.array(firsts.size, np.int32))
    y = on_host.take(data, firsts, axis, 1)
    idx, *rest = on_host.from_host(parts, data)
    total = rest.pop() if with_total else None
    return (y, idx, *rest), total


def _number_by_dict(x: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the distinct values, and the number of the value of each element.

    Each NaN is a new key of the dictionary. For few values it is faster than compiled code.
    """
    numbers: dict[Any, int] = {}
    firsts, idx = [], []
    values = x.tolist() if x.ndim == 1 else map(tuple, _rows(x, axis).tolist())
    for position, value in enumerate(values):
        number = numbers.setdefault(value, len(numbers))
        if number == len(firsts):
            firsts.append(position)
        idx.append(number)
    return np.array(firsts, np.int32), np.array(idx, np.int32)


@operation(data=("x",), pads=True)
def _unique(
    x: jax.Array,
    fill_value: jax.Array | None,
    *,
    op: str,
    mode: str,
    size: int,
    out_idx: np.dtype,
    axis: int,
):
    axis = _check_axis(op, x, axis)
    numbered = number_distinct(_rows(lax.stop_gradient(x), axis), size=size, with_counts=True)
    firsts, idx, total, count = numbered
    spec = result_size.num_elements(op, size, _NOUN)
    held = result_size.hold(spec, total, x.shape[axis], mode)
    idx += held - total  # adds 0: XLA drops a check of `total` on which no result depends
    valid = lax.iota(jnp.int32, size) < held
    y = take_or_fill(x, firsts, valid, fill_value, axis)
    count += held - total
    return (y, idx.astype(out_idx), count.astype(out_idx)), total


@functools.partial(jax.jit, static_argnames=("axis", "size", "with_counts"))
def _number_compiled(x, axis: int, *, size: int, with_counts: bool) -> list[jax.Array]:
    return number_distinct(_rows(x, axis), size=size, with_counts=with_counts)


def _rows(x: Any, axis: int) -> Any:
    """The slices of `x` along `axis` as the rows of a matrix; `x` itself if it is a vector."""
    if x.ndim == 1:
        return x
    shape = (x.shape[axis], math.prod(x.shape[:axis]) * math.prod(x.shape[axis + 1 :]))
    numpy: Any = jnp if isinstance(x, jax.Array) else np
    return numpy.moveaxis(x, axis, 0).reshape(shape)


def _check_axis(op: str, x: jax.Array | np.ndarray, axis: int | None) -> int:
    """The axis along which slices are compared: of a vector the one that it has."""
    if axis is None and x.ndim != 1:
        raise ValueError(f"{op}: x must be a vector, or axis given; received shape {x.shape}")
    axis = 0 if axis is None else canonical_axis(axis, x.ndim, op)
    on_host.check_countable(x.shape[axis], op, "x")
    if x.dtype.kind == "c":
        raise TypeError(f"{op}: x must not have a complex dtype; received {x.dtype}")
    return axis
