"""The distinct values of a vector: where each comes first, its number, and how often it comes.

By a stable sort, in which equal elements stand in a run that begins with the first of them:

    elements          7    9    7    5    9
    sorted            5    7    7    9    9
    their positions   3    0    2    1    4
    run               0    1    1    2    2

The first positions of the runs are 3, 0, 1. Values are numbered by these: 7 is number 0, 9 is 1 and
5 is 2.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _forms, _symbolic
from jaxops._primitives import varying_alike


def first_occurrences(x: jax.Array) -> jax.Array:
    """The position of the first element equal to each element; for a NaN its own position.

    Example:
        >>> first_occurrences(jnp.array([7, 9, 7, 5, 9]))
        Array([0, 1, 0, 3, 1], dtype=int32)
    """
    if x.shape[0] == 0:
        return lax.iota(jnp.int32, 0)
    (first,) = _forms.call(first_by_sort, x)
    return first


def first_occurrences_in_rows(x: jax.Array) -> jax.Array:
    """`first_occurrences` of each row of a matrix, by one program for all of them.

    Example:
        >>> first_occurrences_in_rows(jnp.array([[7, 9, 7], [5, 5, 5]]))
        Array([[0, 1, 0],
               [0, 0, 0]], dtype=int32)
    """
    if x.size == 0:
        return lax.full(x.shape, 0, jnp.int32)
    if x.shape[0] == 1:
        return first_occurrences(x[0])[None]
    (first,) = _forms.call(first_in_rows_by_sort, x)
    return first


def first_equal_rows(x: jax.Array) -> jax.Array:
    """The position of the first row equal to each row of a matrix; its own for a row with a NaN.

    Column after column: rows are equal so far if they were before, and so are their elements.

    Example:
        >>> first_equal_rows(jnp.array([[7, 9], [7, 8], [7, 9]]))
        Array([0, 1, 0], dtype=int32)
    """
    positions = lax.iota(jnp.int32, x.shape[0])

    def refine(first, column):
        keys = equality_keys(column)
        first, keys, order = lax.sort((first, keys, positions), num_keys=2)
        is_new = (first != jnp.roll(first, 1)) | _differ(keys, x.dtype)
        run_starts = lax.cummax(jnp.where(is_new, positions, 0))
        return _put(order, order[run_starts], order), None  # every place is written

    # Under `shard_map` the carry of a scan must vary along the same axes as the rows do
    # (test_varying.py, test_function_and_derivatives).
    alike, columns = varying_alike(jnp.zeros_like(positions), x.T)
    return lax.scan(refine, alike, columns)[0]


def number_distinct(x: jax.Array, *, size: int, with_counts: bool) -> list[jax.Array]:
    """Numbers the distinct values of a vector, or rows of a matrix, by first occurrence.

    Returns the positions of the first `size` distinct values, 0 beyond; the number of the value of
    each element; how many values there are; and, if wanted, how often each one comes, 0 beyond.

    Example:
        >>> x = jnp.array([7, 9, 7, 5, 9])
        >>> firsts, numbers, total, counts = number_distinct(x, size=4, with_counts=True)
        >>> firsts, numbers
        (Array([0, 1, 3, 0], dtype=int32), Array([0, 1, 0, 2, 1], dtype=int32))
        >>> total, counts
        (Array(3, dtype=int32), Array([2, 2, 1, 0], dtype=int32))
    """
    if x.shape[0] == 0:
        nothing = jnp.zeros(size, jnp.int32)
        return [nothing, lax.iota(jnp.int32, 0), jnp.int32(0), *[nothing] * with_counts]
    return _forms.call(number_by_sort, x, size=size, with_counts=with_counts)


def first_by_sort(x: jax.Array) -> list[jax.Array]:
    order, is_new = _runs(x)
    run_starts = lax.cummax(jnp.where(is_new, lax.iota(jnp.int32, x.shape[0]), 0))
    return [_put(order, order[run_starts], order)]  # every place is written


def first_in_rows_by_sort(x: jax.Array) -> list[jax.Array]:
    return jax.vmap(first_by_sort)(x)


def number_by_sort(x: jax.Array, *, size: int, with_counts: bool) -> list[jax.Array]:
    if x.ndim == 2:
        x = first_equal_rows(x)
    positions = lax.iota(jnp.int32, x.shape[0])
    # Not `x.shape[0]`: the length may be symbolic (test_first_occurrences.py,
    # test_nan_is_distinct_where_the_length_is_symbolic).
    (n,) = _symbolic.numbers(x.shape, jnp.int32)
    order, is_new = _runs(x)
    run = jnp.cumsum(is_new, dtype=jnp.int32) - 1
    total = run[-1] + 1
    # Of each run the first position, and where it begins; `n` for runs that there are not.
    places = jnp.where(is_new, run, positions + n)
    nowhere = jnp.broadcast_to(n, x.shape)
    first, start = (_put(places, values, nowhere) for values in (order, positions))
    length = jnp.append(start[1:], n) - start
    # The second sort puts the values in the order of their first occurrence. Two sorts of a million
    # values compile to 17 kernels for CUDA; the hash table compiled to 69.
    first, run_of_number, length = lax.sort((first, positions, length), num_keys=1)
    number_of_run = _put(run_of_number, positions, positions)
    numbers = _put(order, number_of_run[run], order)  # every place is written

    def of_values(x):
        number = lax.iota(jnp.int32, size)
        return jnp.where(number < total, x.at[number].get(mode="clip"), 0)

    counts = [of_values(length)] if with_counts else []
    return [of_values(first), numbers, total, *counts]


def _runs(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The positions of the elements in sorted order, and whether a run begins there."""
    positions = lax.iota(jnp.int32, x.shape[0])
    keys, order = lax.sort((equality_keys(x), positions), num_keys=1, is_stable=True)
    return order, _differ(keys, x.dtype)


def _differ(keys: jax.Array, dtype: np.dtype) -> jax.Array:
    """Whether elements of `dtype` with these `equality_keys` are not equal to the one before."""
    is_first = lax.iota(jnp.int32, keys.shape[0]) == 0
    return (keys != jnp.roll(keys, 1)) | is_first | are_nan(keys, dtype)


def _put(places: jax.Array, values: jax.Array, into: jax.Array) -> jax.Array:
    """`values` at distinct `places`; those beyond the end are dropped."""
    return into.at[places].set(values, mode="drop", unique_indices=True)


def equality_keys(x: jax.Array) -> jax.Array:
    """Unsigned integers of 32 or 64 bits, equal where elements are; a NaN is known by `are_nan`.

    From the bits, as compiled arithmetic may take subnormal numbers for 0.
    """
    if x.dtype == bool:
        x = (x.astype(jnp.uint8) != 0).astype(jnp.uint8)  # some bools are bytes beyond 0 and 1
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x.astype(jnp.uint64 if x.dtype.itemsize == 8 else jnp.uint32)
    dtype = _with_ieee_zeros(x.dtype)
    # Subnormal numbers are several values, and 0 and -0 are one (test_first_occurrences.py,
    # test_against_numpy).
    bits = lax.bitcast_convert_type(x.astype(dtype), np.dtype(f"uint{8 * dtype.itemsize}"))
    magnitude = bits & _magnitude(bits)
    keys = jnp.where(magnitude == 0, magnitude, bits)  # -0 is 0
    return keys.astype(jnp.uint64 if dtype.itemsize == 8 else jnp.uint32)


def are_nan(keys: jax.Array, dtype: np.dtype) -> jax.Array:
    """Whether each of the `equality_keys` of elements of `dtype` is that of a NaN."""
    if not jnp.issubdtype(dtype, jnp.floating):
        return jnp.zeros_like(keys, dtype=bool)
    dtype = _with_ieee_zeros(dtype)
    bits = keys.astype(np.dtype(f"uint{8 * dtype.itemsize}"))
    return (bits & _magnitude(bits)) > np.array(np.inf, dtype).view(bits.dtype)


def _with_ieee_zeros(dtype: np.dtype) -> np.dtype:
    """The formats of 8 bits have infinities and zeros of their own."""
    return np.dtype(np.float32) if dtype.itemsize == 1 else dtype


def _magnitude(bits: jax.Array) -> np.ndarray:
    """All bits but the sign."""
    return np.array((1 << (8 * bits.dtype.itemsize - 1)) - 1, bits.dtype)
