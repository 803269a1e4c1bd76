"""Dtypes of indices: which ones count the elements along an axis, and what `lax` takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _symbolic

_INT32_MAX = 2**31 - 1


def are_long(dims) -> bool:
    """Whether some of `dims` has elements that an int32 does not reach."""
    return _symbolic.longest(dims) > _INT32_MAX


def widen(indices: jax.Array, dims=()) -> jax.Array:
    """The indices with 32 bits at least, because a bound such as 300 cannot be written in int8.

    To 64 bits where there are such, and some of `dims` takes them.
    """
    bits = jnp.iinfo(indices.dtype).bits
    if bits < 64 and are_long(dims) and jax.config.read("jax_enable_x64"):
        return indices.astype(jnp.int64)
    return indices.astype(jnp.int32) if bits < 32 else indices


def widen_to_count(indices: jax.Array, dims, op: str) -> jax.Array:
    """`widen`, and to uint32 where int32 does not count the elements along some of `dims`."""
    indices = widen(indices, dims)
    if are_long(dims) and indices.dtype == np.int32:
        check_uint32_reaches(_symbolic.longest(dims), op)
        return lax.bitcast_convert_type(indices, jnp.uint32)
    return indices


def to_signed(indices: jax.Array, op: str = "", dims=()) -> jax.Array:
    """The indices in a type that index arrays share, so that joining arrays changes no value.

    Large ones are saturated, so some of `dims` may take 64-bit types.
    """
    indices = widen(indices, dims)
    if are_long(dims) and indices.dtype == np.uint32:
        raise ValueError(
            f"{op}: uint32 indices must come as one array, not in a list, where a dimension is "
            f"longer than int32 counts, {_symbolic.longest(dims)}; "
            'or switch 64-bit types on with jax.config.update("jax_enable_x64", True)'
        )
    return narrow(indices)


def narrow(indices: jax.Array, dims=()) -> jax.Array:
    """The indices in the signed type that `lax` gathers with; a wider one stays out of bounds.

    Where it would not, because some of `dims` are that long, `lax` gathers with an unsigned one.
    """
    if not jnp.issubdtype(indices.dtype, jnp.unsignedinteger):
        return indices
    # The largest int32 is in bounds of such an axis: when the cast saturated larger indices to that
    # number, programs read and wrote another element in silence (test_index_dtypes.py,
    # test_dtypes_that_count).
    if are_long(dims) and not jax.config.read("jax_enable_x64"):
        return indices
    signed = jnp.int32
    if jax.config.read("jax_enable_x64"):
        signed = jnp.int64
    largest = np.array(min(jnp.iinfo(signed).max, jnp.iinfo(indices.dtype).max), indices.dtype)
    return jnp.minimum(indices, largest).astype(signed)


def from_the_end(indices: jax.Array, dims, op: str) -> jax.Array:
    """Index vectors whose negative components count from the end of their axis, as positions.

    Those that count too far stay negative. Where an axis is longer than int32 counts they become
    uint32, if JAX has no 64-bit types: out of bounds of the other axes all the same.
    """
    if jnp.issubdtype(indices.dtype, jnp.unsignedinteger):
        return indices
    # The sign is read before the indices become uint32, which has no negative numbers
    # (test_strided_slice.py, test_single_indices_count_from_the_end).
    from_end = indices < 0
    indices = widen_to_count(indices, dims, op)
    lengths = over_components(_symbolic.numbers(dims, indices.dtype), indices)
    return jnp.where(from_end, indices + lengths, indices)


def check_uint32_reaches(length: int, op: str, arg: str = "indices") -> None:
    if length >= 2**32:
        raise ValueError(
            f"{op}: positions among {length} take 64 bits in {arg}; "
            'jax.config.update("jax_enable_x64", True) switches them on'
        )


def over_components(numbers: Sequence[Any], indices: jax.Array) -> jax.Array:
    """One number for each component of `indices[..., K]`, whose rank must not be promoted."""
    return _symbolic.joined(numbers, indices.ndim)


def position_dtype(dims: tuple[int, ...], op: str, arg: str = "dense_shape"):
    """The dtype of positions among `prod(dims)` rows, and of that number, which stands for none."""
    if math.prod(dims) <= _INT32_MAX:
        return jnp.int32
    if not jax.config.read("jax_enable_x64"):
        raise ValueError(
            f"{op}: {arg} must have less than 2**31 rows, as more rows take 64-bit indices; "
            f"received {math.prod(dims)}; switch 64-bit types on with "
            'jax.config.update("jax_enable_x64", True)'
        )
    return jnp.int64
