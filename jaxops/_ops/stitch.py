"""dynamic_stitch: the rows of several arrays, merged by place."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Literal, overload

import jax
import jax.numpy as jnp
import numpy as np

from jaxops._indexing import index_dtypes, policy
from jaxops._indexing.policy import Mode
from jaxops._indexing.row_placement import merge, put_rows
from jaxops._indexing.specs import StitchIndices
from jaxops._run import arguments, keys, on_host
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.dispatch import operation
from jaxops._run.static_values import check_addressable, check_bool
from jaxops._run.strings import fill_for_strings

_FEW = 8  # lists: if there are more, all are checked together
_INT32_MAX = 2**31 - 1


@overload
def dynamic_stitch(
    indices: Sequence[ArrayLike],
    data: Sequence[ArrayLike],
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[False] = False,
    mode: Mode = "device",
) -> jax.Array: ...


@overload
def dynamic_stitch(
    indices: Sequence[ArrayLike],
    data: Sequence[ArrayLike],
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[True],
    mode: Mode = "device",
) -> tuple[jax.Array, jax.Array]: ...


def dynamic_stitch(
    indices: Sequence[ArrayLike],
    data: Sequence[ArrayLike],
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: bool = False,
    mode: Mode = "device",
) -> jax.Array | tuple[jax.Array, jax.Array]:
    """Puts the slices of several arrays at the places that `indices` name.

    `merged[indices[m][i, ..., j]] = data[m][i, ..., j]`; of several slices for one place the last
    stays, in the order of the lists and then in row-major order, on every device.

    Follows `tf.dynamic_stitch`. Differs from it in: traced indices need a static `size`; index
    dtypes (every integer type); off the CPU an index out of bounds is no error (see `mode`); a
    slice that did not stay gets no gradient (TensorFlow sends it the cotangent of its place).

    Args:
        indices: list of integer arrays. Traced only with `size`.
        data: list of as many arrays, of one dtype, or host strings; `data[m]` has the shape
            `indices[m].shape + C`, with the same `C` for all. Traced.
        size: static int; the size of the first dimension of the result, for code that is compiled
            or batched over `indices`. Default: the largest index plus 1.
        fill_value: scalar that fits the dtype of `data`, for places that no index names; default 0
            (for strings, the empty one). If `data` hold positions or segment ids, 0 is one of them:
            pass a number that is none, such as -1. Traced.
        return_size: static bool; whether to return also the largest index plus 1, which `size`
            does not limit. Slices at or beyond `size` are then dropped, and are no error.
        mode: static; what an index outside `[0, size)` does. `"device"`: an error on the CPU, its
            slice is ignored elsewhere. `"error"`: an error everywhere. `"fill"`: its slice is
            ignored. `"clip"` and `"wrap"`: it counts as the nearest place, or modulo `size`, which
            must be given. `"promise_in_bounds"`: the caller promises that there is none.

    Returns:
        Array of shape `[size] + C` and dtype of `data`; for host strings a NumPy array. With
        `return_size` a tuple of it and an int32 scalar.

    Raises:
        OutOfBoundsError: an index is out of bounds, where `mode` makes that an error: in an eager
            call, and at trace time where the indices are concrete. Compiled code raises JAX's
            exception with the same text.
        TypeError: wrong dtype or type of an argument; indices are traced and `size` not given.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: the cotangent at its place for a slice that stayed, 0 for one that was overwritten or
    ignored. None for `indices`. Differentiated eagerly without `size`, each new shape compiles
    anew.

    Example:
        >>> import jaxops
        >>> jaxops.dynamic_stitch([[3, 1], [0]], [[30, 10], [5]])
        Array([ 5, 10,  0, 30], dtype=int32)
        >>> jaxops.dynamic_stitch([[0, 1], [1]], [["a", "b"], ["c"]])
        array(['a', 'c'], dtype='<U1')
    """
    op = "dynamic_stitch"
    for arg, arrays in (("indices", indices), ("data", data)):
        arguments.check_list(arrays, op, arg)
    if len(indices) != len(data) or not data:
        raise ValueError(
            f"{op}: indices and data must be lists of the same length, 1 at least; "
            f"received lengths {len(indices)} and {len(data)}"
        )
    policy.check_mode(op, mode)
    if size is None and mode in ("clip", "wrap"):
        raise ValueError(f"{op}: size must be given with mode={mode!r}; received size=None")
    return_size = check_bool(return_size, op, "return_size")
    if size is None:
        with on_host.named_scope(op, name):
            return _stitch_exactly(op, indices, data, fill_value, return_size, mode)
    return _dynamic_stitch.run(
        op,
        data=data,
        indices=indices,
        name=name,
        mode=mode,
        fill_value=fill_value,
        like=f"data[{_first_with_dtype(data)}]",
        size=on_host.check_size(size, op),
        return_size=return_size,
    )


def _stitch_exactly(op, indices, data, fill_value, return_size, mode):
    """The result for concrete indices."""
    if any(map(arguments.are_keys, data)):

        def moved(positions, fill):
            return _stitch_exactly(op, indices, positions, fill, return_size, mode)

        by_name = {f"data[{m}]": x for m, x in enumerate(data)}
        return keys.by_position(op, moved, by_name, fill_value, ())
    arrays = _to_data(op, data)
    find = on_host.concrete_integers
    all_known = [
        on_host.values_of(x, op, f"indices[{m}]", data[0], find) for m, x in enumerate(indices)
    ]
    shapes = tuple(x.shape for x in all_known)
    flat = _join_on_host(all_known)
    limit = max(0, int(flat.max()) + 1) if flat.size else 0
    platform = on_host.platform_of(*arrays)
    spec = StitchIndices(op, limits=(limit,), first=0, shapes=shapes)
    places = policy.resolve_on_host(spec, flat, mode, platform)
    tail = _tail(op, shapes, [x.shape for x in arrays])
    check_addressable((limit, *tail), np.int64, limit - 1, op, "indices")
    if arguments.is_host_string(arrays[0]):
        fill = np.asarray(fill_for_strings(arrays[0], fill_value, op))
        if fill_value is not None:
            *arrays, fill = arguments.of_one_kind([*arrays, fill])
    elif fill_value is None:
        fill = None
    else:
        fill = arguments.to_scalar_like(fill_value, arrays[0].dtype, op, "fill_value")
    try:
        if all(map(on_host.is_on_host, [*arrays, fill])):
            merged = _merge_on_host([np.asarray(x) for x in arrays], places, limit, fill, tail)
            result = on_host.from_host(merged, arrays[0])
        else:
            on_host.check_countable(flat.size, op, "indices")
            given = {f"data[{m}]": x for m, x in enumerate(arrays)}
            with arguments.keeping_64_bits(op, given):
                result = _merge_rows(arrays, _sources(places, limit), fill, tail=tail)
    except MemoryError as error:
        raise MemoryError(
            f"{op}: indices must name places that memory holds; received {limit - 1}, for a "
            f"result of shape {(limit, *tail)} and dtype {arrays[0].dtype}: {error}"
        ) from error
    if not return_size:
        return result
    return result, on_host.from_host(np.array(limit, np.int32), arrays[0])


def _join_on_host(indices: Sequence[np.ndarray]) -> np.ndarray:
    dtypes = {x.dtype for x in indices if x.size}
    if len(dtypes) > 1:  # NumPy makes floats of int64 and uint64
        largest = np.iinfo(np.int64).max
        indices = [np.minimum(x, largest) if x.dtype == np.uint64 else x for x in indices]
    dtype = dtypes.pop() if len(dtypes) == 1 else np.dtype(np.int64)
    return np.concatenate([x.reshape(-1) for x in indices], dtype=dtype, casting="unsafe")


def _to_data(op: str, data: Sequence[ArrayLike]) -> list[Any]:
    arrays: list[Any] = [on_host.to_data(x, op, f"data[{m}]") for m, x in enumerate(data)]
    if any(arguments.is_host_string(x) for x in data):
        strings = [arguments.to_host_strings(x, op, f"data[{m}]") for m, x in enumerate(data)]
        return arguments.of_one_kind(strings)
    dtype = arrays[_first_with_dtype(data)].dtype
    return [
        arguments.to_dtype(x, array, dtype, op, f"data[{m}]")
        for m, (x, array) in enumerate(zip(data, arrays, strict=True))
    ]


def _first_with_dtype(data: Sequence[ArrayLike]) -> int:
    return next((m for m, x in enumerate(data) if not arguments.is_empty_list(x)), 0)


@functools.partial(jax.jit, static_argnames="tail")
def _merge_rows(arrays, source, fill_value, tail):
    return merge([x.reshape(_rows_shape(x, tail)) for x in arrays], source, fill_value)


def _sources(places: np.ndarray, limit: int) -> np.ndarray:
    """The last position in `places` of each of `limit` places; -1 for a place that is not there."""
    sources = np.full(limit, -1, np.int32)
    inside = places >= 0
    sources[places[inside]] = np.flatnonzero(inside)  # if a place repeats, NumPy keeps the last
    return sources


def _merge_on_host(arrays, places, limit, fill_value, tail) -> np.ndarray:
    lists = [x.reshape(_rows_shape(x, tail)) for x in arrays]
    none = np.concatenate([rows[:0] for rows in lists])
    fill = np.zeros((), none.dtype) if fill_value is None else np.asarray(fill_value)
    # The operating system provides zeroed memory, so nothing writes the places between rows
    # (test_stitch.py, test_work_follows_the_rows).
    merged = on_host.full((limit, *tail), fill, np.result_type(none, fill))
    start = 0
    for rows in lists:
        at = places[start : start + len(rows)]
        start += len(rows)
        _put_on_host(merged, at, rows)
    return merged


def _put_on_host(merged: np.ndarray, places: np.ndarray, rows: np.ndarray) -> None:
    """The rows into `merged`, in order, but for those at the place -1."""
    inside = places >= 0
    if not inside.all():
        places, rows = places[inside], rows[inside]
    if merged.dtype.kind not in "USTO" and rows.size:
        # NumPy copies a row as one element of so many bytes, up to 50 times as fast
        # (test_stitch.py, test_exact_rows).
        row = np.dtype((np.void, rows.nbytes // len(rows)))
        merged, rows = (np.ascontiguousarray(x).reshape(len(x), -1) for x in (merged, rows))
        merged, rows = merged.view(row), rows.view(row)
    merged[places.astype(np.intp)] = rows


def _rows_shape(x: jax.Array | np.ndarray, tail: tuple[int, ...]) -> tuple[int, ...]:
    return (math.prod(x.shape[: x.ndim - len(tail)]), *tail)


@operation(data=("data[]",), indices=("indices[]",), pads=True, moves_elements=True)
def _dynamic_stitch(
    data: list[jax.Array],
    indices: list[jax.Array],
    fill_value: jax.Array | None,
    *,
    op: str,
    mode: str,
    size: int,
    return_size: bool,
):
    """The result for traced indices, with a static `size`."""
    tail = _tail(op, [x.shape for x in indices], [x.shape for x in data])
    on_host.check_countable(sum(x.size for x in indices), op, "indices")
    # Each check costs a conditional; to check lists together costs a copy, which joins them. A
    # hundred conditionals took as long as the work (test_stitch.py,
    # test_many_lists_are_checked_together).
    together = 1 if len(indices) <= _FEW else len(indices)
    # A caller who is told how many places there are drops slices beyond `size` on purpose.
    limit = _INT32_MAX if return_size and mode in ("device", "error") else size
    places, true_size = [], jnp.int32(0)
    for first in range(0, len(indices), together):
        lists = indices[first : first + together]
        shapes = tuple(x.shape for x in lists)
        spec = StitchIndices(op, limits=(limit,), first=first, shapes=shapes)
        place, valid = policy.resolve(spec, _join(lists)[:, None], mode)
        place = place[:, 0]
        # The size saturates at the largest int32 (test_stitch.py,
        # test_the_true_size_of_a_stitch_saturates).
        last = jnp.minimum(place.max(initial=-1), jnp.array(_INT32_MAX - 1, place.dtype))
        true_size = jnp.maximum(true_size, last.astype(jnp.int32) + 1)
        if valid is not None:
            place = jnp.where(valid, place, jnp.array(size, place.dtype))
        start = 0
        for x in lists:
            places.append(place[start : start + x.size].astype(jnp.int32))
            start += x.size
    rows = [x.reshape(_rows_shape(x, tail)) for x in data]
    fill = jnp.zeros((), rows[0].dtype) if fill_value is None else fill_value
    merged = put_rows(size, places, rows, fill)
    return (merged, true_size) if return_size else merged


def _join(indices: Sequence[jax.Array]) -> jax.Array:
    if len({x.dtype for x in indices}) > 1:
        indices = [index_dtypes.to_signed(x) for x in indices]
    widest = max((x.dtype for x in indices), key=lambda dtype: dtype.itemsize)
    return jnp.concatenate([x.reshape(-1).astype(widest) for x in indices])


def _tail(op: str, index_shapes, data_shapes) -> tuple[int, ...]:
    """The shape of one row."""
    tail = data_shapes[0][len(index_shapes[0]) :]
    for m, (index_shape, shape) in enumerate(zip(index_shapes, data_shapes, strict=True)):
        if shape != (*index_shape, *tail):
            raise ValueError(
                f"{op}: data[{m}] must have shape indices[{m}].shape + C, the same C for all; "
                f"received {shape} with indices of shape {index_shape}"
                + (f" and C = {tail}" if m else "")
            )
    return tail
