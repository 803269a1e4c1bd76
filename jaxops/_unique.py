"""unique and unique_with_counts."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from jaxops import _arguments, _dynamic_shape
from jaxops._arguments import Arrayable, check_bool
from jaxops._casting import static_dtype
from jaxops._dispatch import run


class Unique(NamedTuple):
    """What `unique` returns."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """What `unique_with_counts` returns."""

    y: Any
    idx: Any
    count: Any


def unique(
    x: Arrayable,
    out_idx: Any = np.int32,
    name: str | None = None,
    *,
    size: int | None = None,
    fill_value: Arrayable | None = None,
    return_size: bool = False,
) -> Any:
    """Finds the distinct values of a vector, in the order of their first occurrence.

    `x[i] == y[idx[i]]`. NaN is distinct from every value, itself included.

    Follows `tf.unique`. Differs from it in: a traced `x` needs a static `size`; `y` has a
    gradient; 0 and -0 are the same value in every floating-point dtype, and subnormal numbers are
    told apart (TensorFlow tells 0 from -0 in 16 bits, and takes subnormals for 0).

    Args:
        x: vector of bools, integers or real numbers, or of host strings. Traced only with `size`.
        out_idx: static dtype of `idx`, int32 or int64.
        name: static; name of the `jax.named_scope` of the operation.
        size: static int; the size of `y`, for code that is compiled or batched over `x`. Values
            beyond it are dropped from the end, and `idx` still counts them; places without a
            value get `fill_value`. Default: as many as there are.
        fill_value: scalar that fits the dtype of `x`, for use with `size`; default 0 (for
            strings, the empty one). Traced.
        return_size: static bool; whether to return also the number of distinct values, which
            `size` does not limit.

    Returns:
        Named tuple `(y, idx)`: `y` of shape `[size]` and dtype of `x` (for host strings a NumPy
        array), `idx` with the shape of `x`. With `return_size` a tuple of it and an int32 scalar.

    Raises:
        TypeError: wrong dtype or type of an argument; `x` is traced and `size` not given.
        ValueError: wrong rank, shape or value of an argument; `out_idx` is int64 without x64.

    Gradient: the cotangent of `y` for the first occurrence of each value; padding sends nothing
    back. Differentiated eagerly without `size`, each new size compiles anew.

    Example:
        >>> import jax, jaxops
        >>> y, idx = jaxops.unique([5, 3, 5, 5, 1])
        >>> y, idx
        (Array([5, 3, 1], dtype=int32), Array([0, 1, 0, 0, 2], dtype=int32))
        >>> padded = jax.jit(lambda x: jaxops.unique(x, size=4, fill_value=-1, return_size=True))
        >>> result, size = padded(jax.numpy.array([5, 3, 5, 5, 1]))
        >>> result.y, size
        (Array([ 5,  3,  1, -1], dtype=int32), Array(3, dtype=int32))

    Source: https://www.tensorflow.org/api_docs/python/tf/unique
    """
    return _run("unique", x, out_idx, name, size, fill_value, return_size, with_counts=False)


def unique_with_counts(
    x: Arrayable,
    out_idx: Any = np.int32,
    name: str | None = None,
    *,
    size: int | None = None,
    fill_value: Arrayable | None = None,
    return_size: bool = False,
) -> Any:
    """Finds the distinct values of a vector, in the order of first occurrence, and counts them.

    `x[i] == y[idx[i]]`. NaN is distinct from every value, itself included.

    Follows `tf.unique_with_counts`. Differs from it in: what `unique` differs in.

    Args:
        x: vector, as in `unique`.
        out_idx: static dtype of `idx` and `count`, int32 or int64.
        name: static; name of the `jax.named_scope` of the operation.
        size: static int; the size of `y` and `count`, as in `unique`.
        fill_value: scalar for places of `y` without a value, as in `unique`. Traced.
        return_size: static bool, as in `unique`.

    Returns:
        Named tuple `(y, idx, count)`: `y` and `idx` as of `unique`; `count[k]` tells how often
        `y[k]` occurs in `x`, and is 0 for padding. With `return_size` a tuple of it and an int32
        scalar.

    Raises:
        TypeError: as `unique`.
        ValueError: as `unique`.

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

    Source: https://www.tensorflow.org/api_docs/python/tf/unique_with_counts
    """
    op = "unique_with_counts"
    return _run(op, x, out_idx, name, size, fill_value, return_size, with_counts=True)


def _run(op, x, out_idx, name, size, fill_value, return_size, *, with_counts) -> Any:
    _dynamic_shape.check_fill_needs_size(op, size, fill_value)
    return_size = check_bool(return_size, op, "return_size")
    dtype = static_dtype(out_idx, op, "out_idx")
    if dtype not in (np.int32, np.int64):
        raise TypeError(f"{op}: out_idx must be int32 or int64; received {dtype}")
    if size is not None:
        size = _dynamic_shape.check_size(size, op)
    if _arguments.is_host_string(x):
        x = _arguments.to_host_strings(x, op, "x")
        result, total = _of_strings(op, x, size, fill_value, dtype)
    elif size is None:
        with _dynamic_shape.named_scope(op, name):
            result, total = _exact(op, x, dtype)
    else:
        result, total = run(
            op,
            _unique,
            {"x": x},
            name=name,
            fill_value=fill_value,
            pads=True,
            size=size,
            out_idx=dtype,
        )
    result = UniqueWithCounts(*result) if with_counts else Unique(*result[:2])
    return (result, total) if return_size else result


def _of_strings(op: str, x: np.ndarray, size: int | None, fill_value, out_idx: np.dtype):
    _check_vector(op, x)
    values, first, inverse, count = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)  # `np.unique` sorts by value
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    y, count = values[order], count[order].astype(out_idx)
    if size is not None:
        y = _dynamic_shape.fit_strings(y, 0, size, fill_value, op)
        count = np.pad(count[:size], (0, max(size - count.size, 0)))
    return (y, rank[inverse].astype(out_idx), count), np.array(order.size, np.int32)


def _exact(op: str, x: Arrayable, out_idx: np.dtype):
    data = _dynamic_shape.to_data(x, op, "x")
    # Not traced where `x` is differentiated, but neither compiled nor batched.
    values = lax.stop_gradient(data) if isinstance(data, Tracer) else data
    if _dynamic_shape.concrete(values, op, "x") is None:
        _dynamic_shape.refuse_traced(op, "x", x)
    _check_vector(op, data)
    with jax.ensure_compile_time_eval():
        first = np.asarray(_compiled_search(values))
    firsts = np.flatnonzero(first == np.arange(first.size))
    rank = np.empty(first.size, out_idx)
    rank[firsts] = np.arange(firsts.size)
    idx = np.take(rank, first)
    count = np.bincount(idx, minlength=firsts.size).astype(out_idx)
    y = _dynamic_shape.take(data, firsts, 0, 1)
    idx, count, total = _dynamic_shape.from_host(
        [idx, count, np.array(firsts.size, np.int32)], data
    )
    return (y, idx, count), total


def _unique(x, fill_value, *, op, size, out_idx):
    _check_vector(op, x)
    n = x.shape[0]
    first = first_occurrences(lax.stop_gradient(x))
    ordinal = jnp.cumsum((first == lax.iota(jnp.int32, n)).astype(jnp.int32))
    idx = ordinal.at[first].get(mode="promise_in_bounds") - 1
    nothing = jnp.zeros(n, jnp.int32)
    count = nothing.at[idx].add(1, mode="promise_in_bounds")
    firsts = nothing.at[idx].max(first, mode="promise_in_bounds")  # one value per place
    total = idx.max(initial=-1) + 1
    valid = jnp.arange(size, dtype=jnp.int32) < total
    firsts, count = _dynamic_shape.resize(firsts, size), _dynamic_shape.resize(count, size)
    y = _dynamic_shape.take_or_fill(x, firsts, valid, fill_value, 0)
    return (y, idx.astype(out_idx), count.astype(out_idx)), total


def _check_vector(op: str, x: jax.Array | np.ndarray) -> None:
    if x.ndim != 1:
        raise ValueError(f"{op}: x must be a vector; received shape {x.shape}")
    if x.dtype.kind == "c":
        raise TypeError(f"{op}: x must not have a complex dtype; received {x.dtype}")


def first_occurrences(x: jax.Array) -> jax.Array:
    """For each element the position of the first one equal to it.

    By a hash table that is filled in rounds, as XLA's sort is slow on a CPU. In each round every
    element that has no result yet goes to a slot, where the lowest position stays. Equal elements
    take the same way from slot to slot, so they all find the same position there: either that of
    the first of them, or that of another value, and then they try another slot. Slots need not be
    cleared or kept: results of former rounds are no longer read, and can only be in the way.
    """
    n = x.shape[0]
    if n == 0:
        return lax.iota(jnp.int32, 0)
    keys, is_nan = _keys(x)
    # At most a quarter of the slots are ever used: with half of them, many distinct values take
    # twice the rounds.
    bits = min(max(n - 1, 1).bit_length() + 2, 31)
    hashes = _hash(keys)
    # Odd, hence each element comes by all slots.
    steps = _hash(keys ^ np.array(0x9E3779B9, keys.dtype)) | np.uint32(1)
    positions = lax.iota(jnp.int32, n)
    first = jnp.where(is_nan, positions, jnp.int32(-1))
    # Made from the keys, so that under `shard_map` it varies along the same axes as they do.
    empty = jnp.where(keys[0] == keys[0], jnp.int32(n), jnp.int32(0))
    table = jnp.broadcast_to(empty, 1 << bits)

    def body(state):
        table, first, hashes = state
        waiting = first < 0
        slots = jnp.where(waiting, (hashes >> np.uint32(32 - bits)).astype(jnp.int32), 0)
        bids = jnp.where(waiting, positions, jnp.int32(n))
        table = table.at[slots].min(bids, mode="promise_in_bounds")
        winners = table.at[slots].get(mode="promise_in_bounds")
        winning_keys = keys.at[winners].get(mode="clip")
        found = waiting & (winning_keys == keys)
        return table, jnp.where(found, winners, first), hashes + steps

    return lax.while_loop(lambda state: jnp.any(state[1] < 0), body, (table, first, hashes))[1]


_compiled_search = jax.jit(first_occurrences)


def _keys(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Unsigned integers that are equal where elements are; and which elements are NaN.

    From the bits, as compiled arithmetic may take subnormal numbers for 0.
    """
    if not jnp.issubdtype(x.dtype, jnp.floating):
        keys = x.astype(jnp.uint64 if x.dtype.itemsize == 8 else jnp.uint32)
        return keys, jnp.zeros_like(keys, dtype=bool)
    if x.dtype.itemsize == 1:  # formats with infinities and zeros of their own
        x = x.astype(jnp.float32)
    width = 8 * x.dtype.itemsize
    bits = lax.bitcast_convert_type(x, np.dtype(f"uint{width}"))
    magnitude = bits & np.array((1 << (width - 1)) - 1, bits.dtype)
    infinity = np.array(np.inf, x.dtype).view(bits.dtype)
    keys = jnp.where(magnitude == 0, magnitude, bits)  # -0 is 0
    return keys.astype(jnp.uint64 if width == 64 else jnp.uint32), magnitude > infinity


def _hash(keys: jax.Array) -> jax.Array:
    """32 well mixed bits; different for different 32-bit keys (the end of MurmurHash3)."""
    if keys.dtype == jnp.uint64:
        keys = keys ^ ((keys >> np.uint64(32)) * np.uint64(0x9E3779B97F4A7C15))
        keys = keys ^ (keys >> np.uint64(32))
    h = keys.astype(jnp.uint32)
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return h ^ (h >> np.uint32(16))
