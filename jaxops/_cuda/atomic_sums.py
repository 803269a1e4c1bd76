"""Scatters whose additions XLA makes a loop of compare-and-swap, in a form of which it makes none.

Where many updates meet in few elements, such a loop is reported to take hundreds of times as long
as an atomic addition. XLA has two of them:

* a scatter that subtracts: the form adds what is negated (of 16-bit floats it stays a loop);
* with jaxlib 0.10.2 and 0.11.0, float32 additions, unless they are vectors of 4. The compiler makes
  vectors of rows, of 8 numbers at least and a multiple of 4, if there are more numbers to add than
  threads of the device. The form adds vectors of 8, in which the elements of the window stand
  among -0.0, the number that changes nothing when it is added, and if they are few adds vectors
  that are out of bounds, which the scatter skips.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.interpreters import ad
from jaxlib.version import __version__ as jaxlib_version

from jaxops import _symbolic
from jaxops._forms import register
from jaxops._indexing.dimension_numbers import (
    ROWS,
    Windows,
    bind_gather_to_batch,
    bind_to_batch,
    lax_gather,
    lax_scatter,
    row_numbers,
    scatter_windows,
)

_LOG_VECTOR = 3
_VECTOR = 1 << _LOG_VECTOR
_MANY = 1 << 16  # vectors, of which a GPU of up to 256 cores makes no loop
# XLA of these versions adds by a loop of compare-and-swap, which takes 450 to 5,000 times as long
# where many updates meet in few rows (reported as openxla/xla issue 46225).
_VERSION = tuple(int(part) for part in jaxlib_version.split(".")[:3])
_ADDS_BY_COMPARE_AND_SWAP = (0, 10, 2) <= _VERSION < (0, 11, 1)


def _is_a_loop(operand, updates, indices, *, kind: str, windows: Windows, mode) -> bool:
    del updates, mode
    if jax.typeof(operand).sharding.mesh.explicit_axes:
        return False  # the rules of `lax` tell how the result is sharded
    if kind == "sub":
        return not jnp.issubdtype(operand.dtype, jnp.bool_)
    return kind == "add" and _is_widened(operand, indices, windows)


def _is_widened(operand, indices, windows: Windows) -> bool:
    if not _ADDS_BY_COMPARE_AND_SWAP or operand.dtype != jnp.float32:
        return False
    if not _symbolic.are_known((*operand.shape, *indices.shape)) or not indices.size:
        return False
    indexed = (*range(windows.batch_dims), *windows.axes)
    row = math.prod(operand.shape[1 + max(indexed, default=-1) :])
    length = math.prod(size for d, size in enumerate(operand.shape) if d not in indexed)
    num_updates = math.prod(indices.shape[:-1]) * length
    # XLA makes vectors of such rows by itself (test_atomic_sums.py,
    # test_many_rows_that_are_vectors_stay_as_they_are).
    if row % 4 == 0 and row >= _VECTOR and num_updates >= _VECTOR * _MANY:
        return False
    return 0 < operand.size < 2**31 - _VECTOR and num_updates < 2**31 // _VECTOR


def _by_additions(operand, updates, indices, *, kind: str, windows: Windows, mode):
    updates = _negated(updates) if kind == "sub" else updates
    if _is_widened(operand, indices, windows):
        return _add_vectors(operand, updates, indices, windows)
    return lax_scatter(operand, updates, indices, kind="add", windows=windows, mode=mode)


def _negated(x: jax.Array) -> jax.Array:
    """`-x`; of float32 by the sign bits, as jaxlib 0.12 makes a subtraction of adding `-x`."""
    if x.dtype != jnp.float32:
        return -x
    bits = lax.bitcast_convert_type(x, jnp.uint32) ^ np.uint32(1 << 31)
    return lax.bitcast_convert_type(bits, x.dtype)


def _add_vectors(operand, updates, indices, windows: Windows):
    """A row of `length` elements covers some vectors of the operand, seen as one long row."""
    indexed = (*range(windows.batch_dims), *windows.axes)
    kept = tuple(d for d in range(operand.ndim) if d not in indexed)
    dims = tuple(operand.shape[d] for d in indexed)
    length = math.prod(operand.shape[d] for d in kept)
    order = (*indexed, *kept)
    num_vectors = -(-operand.size // _VECTOR)

    numbers = row_numbers(indices, windows.batch_dims, dims, jnp.int32).reshape(-1)
    start = numbers * length
    shift = start & (_VECTOR - 1)
    covered = (length + _VECTOR - 2) // _VECTOR + 1 if length % _VECTOR else length // _VECTOR
    # An index out of bounds has the number of the row after the last, whose elements are cut off.
    places = (start >> _LOG_VECTOR)[:, None] + lax.iota(jnp.int32, covered)[None]

    window_dims = windows.window_dims(operand.ndim, indices.ndim)
    selecting = tuple(d for d in range(updates.ndim) if d not in window_dims)
    rows = updates.transpose(*selecting, *window_dims).reshape(-1, length)
    element = lax.iota(jnp.int32, covered * _VECTOR)[None] - shift[:, None]
    inside = (element >= 0) & (element < length)
    taken = jnp.take_along_axis(rows, jnp.clip(element, 0, length - 1), 1, mode="clip")
    # The neighbours get -0.0, as 0.0 + -0.0 is 0.0 and would change a neighbour that is -0.0
    # (test_atomic_sums.py, test_rows).
    vectors = jnp.where(inside, taken, jnp.float32(-0.0)).reshape(-1, _VECTOR)

    places = places.reshape(-1, 1)
    few = max(_MANY - places.size, 0)
    places = jnp.pad(places, [(0, few), (0, 0)], constant_values=num_vectors)
    vectors = jnp.pad(vectors, [(0, few), (0, 0)])

    table = operand.transpose(order).reshape(-1)
    table = lax.pad(table, jnp.float32(0), [(0, num_vectors * _VECTOR - table.size, 0)])
    table = lax_scatter(table.reshape(-1, _VECTOR), vectors, places, kind="add", windows=ROWS)
    table = table.reshape(-1)[: operand.size].reshape([operand.shape[d] for d in order])
    return table.transpose([order.index(d) for d in range(operand.ndim)])


register(
    lax_scatter,
    "atomic_sums",
    form=_by_additions,
    num_linear=2,
    is_for=_is_a_loop,
    batch=bind_to_batch,
    platforms=("cuda",),
)


def _gather_transpose(cotangent, operand, indices, *, windows: Windows):
    zeros = ad.instantiate_zeros(ad.Zero(operand.aval))
    return [scatter_windows("add", zeros, indices, cotangent, windows), None]


if _ADDS_BY_COMPARE_AND_SWAP:
    # A rule of ours makes the scatter of the gradient, as that of `lax` has no forms.
    register(
        lax_gather,
        "gather_for_atomic_sums",
        form=lax_gather,
        num_linear=1,
        is_for=_is_widened,
        batch=bind_gather_to_batch,
        transpose=_gather_transpose,
        platforms=("cuda",),
    )
