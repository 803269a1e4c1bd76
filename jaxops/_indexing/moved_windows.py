"""Windows of an array that may lie outside of it, where they are 0: `slice` off the CPU.

A window of the array among zeros, which a compiler reads without making the zeros. Left to itself
JAX transposes that to an update of the padded array, which has up to `3 ** rank` times the elements
of a window. But the transpose is a window too: of the cotangent among zeros, at `-begin`.
"""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.interpreters import ad, mlir

from jaxops import _symbolic
from jaxops._indexing import index_dtypes
from jaxops._primitives import linear_primitive, lower_fun, varying_alike

# An operand of more than so many times the elements of a window is first cut to the nearest window.
_SMALL = 3


def window_or_zeros(operand: jax.Array, begin: jax.Array, *, size: tuple[int, ...]) -> jax.Array:
    """The elements at `begin[i] + [0, size[i])` along each axis; 0 for those outside of `operand`.

    `begin` is a vector, and no window is larger than the operand.
    """
    begin = index_dtypes.to_signed(begin)
    # A window further out holds the same zeros. The clip keeps `-begin` from overflowing at both
    # ends of int32 (test_moved_windows.py, test_values_and_derivatives).
    low = _symbolic.as_vector([-length for length in size], begin.dtype)
    high = _symbolic.as_vector(operand.shape, begin.dtype)
    operand, begin = varying_alike(operand, jnp.clip(begin, low, high))
    return move_p.bind(operand, begin, size=size)


def _fitting(operand, begin, size):
    """The nearest window inside of the operand, and where the one at `begin` begins in that."""
    if begin.ndim > 1:
        return jax.vmap(functools.partial(_fitting, size=size))(operand, begin)
    dims = operand.shape[operand.ndim - len(size) :]
    lengths = [min(length, dim) for length, dim in zip(size, dims, strict=True)]
    last = [dim - length for length, dim in zip(lengths, dims, strict=True)]
    start = jnp.clip(begin, 0, _symbolic.as_vector(last, begin.dtype))
    return _dynamic_slice(operand, start, lengths), begin - start


def _dynamic_slice(operand, start, sizes):
    """`lax.dynamic_slice` along the last dimensions."""
    whole = operand.shape[: operand.ndim - len(sizes)]
    starts = [np.zeros((), start.dtype)] * len(whole) + [start[i] for i in range(len(sizes))]
    return lax.dynamic_slice(operand, starts, (*whole, *sizes), allow_negative_indices=False)


def _among_zeros(operand, begin, *, size):
    """`window_or_zeros` along the last dimensions of `operand`, for windows of any size.

    The dimensions of `begin` before its last one are the first of the operand, which has a window
    for each.
    """
    if begin.ndim > 1:
        return jax.vmap(functools.partial(_among_zeros, size=size))(operand, begin)
    dims = operand.shape[operand.ndim - len(size) :]
    if not _symbolic.are_known((*dims, *size)) or _SMALL * math.prod(size) < math.prod(dims):
        operand, begin = _fitting(operand, begin, size)
    edges = [(0, 0, 0)] * (operand.ndim - len(size)) + [(length, length, 0) for length in size]
    padded = lax.pad(operand, jnp.zeros((), operand.dtype), edges)
    return _dynamic_slice(padded, begin + _symbolic.as_vector(size, begin.dtype), size)


def _in_turn(operand, begin, *, size):
    """One window at a time, without temporaries.

    A TPU gathers windows one by one, and out of an array of which it makes the zeros.
    """
    if begin.ndim > 1:
        return lax.map(lambda one: _in_turn(*one, size=size), (operand, begin))
    return _among_zeros(operand, begin, size=size)


def _batch(bind, operands, dims, *, size):
    (operand, begin), (operand_dim, begin_dim) = operands, dims
    if begin_dim is None:  # one more dimension of which a window has all
        operand = jnp.moveaxis(operand, operand_dim, begin.ndim - 1)
        return bind(operand, begin, size=size), begin.ndim - 1
    begin = jnp.moveaxis(begin, begin_dim, 0)
    # An operand that the whole batch shares is not copied (test_moved_windows.py,
    # test_a_batch_shares_an_array).
    if operand_dim is None:
        fitting = functools.partial(_fitting, size=size)
        operand, begin = jax.vmap(fitting, (None, 0))(operand, begin)
    else:
        operand = jnp.moveaxis(operand, operand_dim, 0)
    return bind(operand, begin, size=size), 0


def _transpose(cotangent, operand, begin, *, size):
    cotangent, begin = varying_alike(ad.instantiate_zeros(cotangent), begin)
    dims = operand.aval.shape[operand.aval.ndim - len(size) :]
    # Compiled for a TPU v5e, JAX's own transpose took 908 MB of temporaries for a slice of
    # 14 x 120 x 120 x 18, and this one takes 0.2 MB (test_moved_windows.py,
    # test_the_gradient_updates_nothing).
    return [move_p.bind(cotangent, -begin, size=dims), None]


move_p = linear_primitive(
    "moved_window", _among_zeros, num_linear=1, batch=_batch, transpose=_transpose
)
mlir.register_lowering(move_p, lower_fun(_in_turn, multiple_results=False), platform="tpu")
