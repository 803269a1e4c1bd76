"""Copies along new dimensions, whose cotangents programs for a CPU add up fast."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax

from jaxops import _symbolic

# Elements of a copy. XLA's CPU compiler adds copies of so many and more element by element, fifty
# times as slowly as it adds arrays (test_copies.py, test_long_copies_are_added_as_slices).
_LONG = 2**15
_FEW = 32  # arrays in one concatenation, so that programs stay short


def broadcast_in_dim(operand: jax.Array, shape: Sequence, dims: Sequence[int]) -> jax.Array:
    """`lax.broadcast_in_dim`. On a CPU its transpose adds slices of long cotangents.

    It broadcasts along all dimensions but `dims`.
    """
    is_long = _symbolic.are_known(shape) and _long_copies(shape, dims)
    if not is_long or not jnp.issubdtype(operand.dtype, jnp.inexact):
        return lax.broadcast_in_dim(operand, shape, dims)
    return _broadcast(tuple(shape), tuple(dims), operand)


def _long_copies(shape: Sequence[int], dims: Sequence[int]) -> list[int]:
    """The dimensions along which there are copies, and long ones."""
    copied = [d for d, size in enumerate(shape) if d not in dims and size > 1]
    return [d for d in copied if math.prod(shape[d + 1 :]) >= _LONG]


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _broadcast(shape, dims, operand):
    return lax.broadcast_in_dim(operand, shape, dims)


@_broadcast.defjvp
def _broadcast_jvp(shape, dims, primals, tangents):
    (operand,), (tangent,) = primals, tangents
    # A TPU would write the slices first, and move 2.5 to 4 times the bytes (test_copies.py,
    # test_accelerators_sum_long_copies).
    copies = lax.platform_dependent(
        tangent,
        cpu=functools.partial(_joined, shape, dims),
        default=functools.partial(_broadcast, shape, dims),
    )
    return _broadcast(shape, dims, operand), copies


def _joined(shape, dims, tangent):
    """The copies as a concatenation, whose transpose adds slices."""
    ones = [shape[d] if d in dims else 1 for d, _ in enumerate(shape)]
    tangent = lax.broadcast_in_dim(tangent, ones, dims)
    # The last dimension first, while there is least to copy.
    for d in reversed(_long_copies(shape, dims)):
        tangent = _join_copies(tangent, shape[d], d)
    # The others come last, as the transpose then sums over them first: XLA would fuse a sum that
    # comes after slices with them, into something slow.
    return jnp.broadcast_to(tangent, shape)


def _join_copies(x: jax.Array, count: int, axis: int) -> jax.Array:
    """`count` arrays joined, few at a time."""
    if count <= _FEW:
        return lax.concatenate([x] * count, axis)
    many = _join_copies(_join_copies(x, _FEW, axis), count // _FEW, axis)
    rest = count % _FEW
    return lax.concatenate([many, _join_copies(x, rest, axis)], axis) if rest else many
