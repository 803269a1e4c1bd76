"""Scatters into bfloat16 and float8, in which XLA's CPU compiler computes nothing.

The compiler converts the whole operand to float32 or float16 and the whole result back (bfloat16
up to jax 0.11, float8 in jax 0.12 too). Integers of the same bits are no way around, as the array
is copied to be viewed as integers. Only a call of Python is done in place, on the array as it is.
So here the program combines the updates with the rows that they select, in float32, and NumPy puts
these rows into the operand.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.buffer_callback import buffer_callback
from jax.interpreters import ad

from jaxops import _symbolic
from jaxops._forms import register
from jaxops._indexing.dimension_numbers import (
    ROWS,
    Windows,
    bind_to_batch,
    is_widened,
    lax_gather,
    lax_scatter,
    row_numbers,
)
from jaxops._indexing.first_occurrences import first_occurrences


def _is_widened_whole(operand, updates, indices, *, kind: str, windows: Windows, mode) -> bool:
    del updates, kind, windows, mode
    if jax.typeof(operand).sharding.mesh.explicit_axes:
        return False  # the rules of `lax` tell how the result is sharded
    return is_widened(operand.dtype) and _symbolic.are_known((*operand.shape, *indices.shape))


def _scatter_rows(operand, updates, indices, *, kind: str, windows: Windows, mode):
    """The scatter with a call of Python, which puts finished rows into the operand."""
    if not _is_faster(kind, operand.shape, updates.shape, indices.shape, windows):
        return lax_scatter(operand, updates, indices, kind=kind, windows=windows, mode=mode)
    dims = operand.shape[: windows.batch_dims + len(windows.axes)]
    nowhere = math.prod(dims)
    numbers = row_numbers(indices, windows.batch_dims, dims, jnp.int32).reshape(-1)
    rows = updates.reshape(numbers.size, -1)
    if kind != "update":
        # All updates of a row are combined at the first of them, by one scatter into the old rows.
        first = first_occurrences(numbers)
        old = lax_gather(operand, indices, windows).reshape(rows.shape)
        old, new = (x.astype(jnp.float32) for x in (old, rows))
        rows = lax_scatter(old, new, first[:, None], kind=kind, windows=ROWS).astype(operand.dtype)
        numbers = jnp.where(first == lax.iota(first.dtype, first.size), numbers, nowhere)
    result = jax.ShapeDtypeStruct(operand.shape, operand.dtype)
    # The callback writes into the operand itself, so that memory does not grow with the table. XLA
    # copies an operand that is used again (test_narrow_scatter.py,
    # test_memory_of_scatters_is_that_of_the_updates, test_tables_that_are_kept_are_copied).
    put = buffer_callback(_put_rows, result, input_output_aliases={0: 0})
    return put(operand, numbers, rows)


def _is_faster(kind: str, shape, updates_shape, indices_shape, windows: Windows) -> bool:
    """Whether the operand is so large that to widen it takes longer. Measured, with jax 0.10.2.

    False if other axes than leading ones are indexed, as a batch of scatters may do, or if there
    are no elements.
    """
    # The gradient of a batch of gathers along a later axis is such a scatter
    # (test_narrow_scatter.py, test_columns_are_left_to_the_compiler).
    indexed = windows.batch_dims + len(windows.axes)
    if windows.axes != tuple(range(windows.batch_dims, indexed)):
        return False
    count, rows = math.prod(indices_shape[:-1]), math.prod(shape[:indexed])
    size = math.prod(updates_shape)
    if not size or rows > np.iinfo(np.int32).max:
        return False
    costs = size if kind == "update" else 2 * size + 32 * count
    return math.prod(shape) > costs + 32_768


def _put_rows(context, out, operand, numbers, rows) -> None:
    """Called by the program: puts each row into `out`, which is the operand, at its number.

    Bits are copied, in the order of the rows. A row whose number is beyond the last is left out.
    """
    del context, operand
    table, numbers, rows = map(np.asarray, (out, numbers, rows))
    size = rows.nbytes // numbers.size
    # NumPy copies a row as one element: every NaN keeps its bits, and of several rows for one place
    # the last one stays (test_narrow_scatter.py, test_updates_move_bits).
    row = np.dtype(f"u{size}" if size in (1, 2, 4, 8) else f"V{size}")
    table, rows = (x.reshape(-1).view(row) for x in (table, rows))
    inside = numbers < table.size
    if not inside.all():
        numbers, rows = numbers[inside], rows[inside]
    table[numbers] = rows


def _jvp(primals, tangents, *, kind: str, windows: Windows, mode):
    static = {"kind": kind, "windows": windows, "mode": mode}
    operand_dot, updates_dot = map(ad.instantiate_zeros, tangents[:2])
    operand, updates, indices = primals
    if kind in ("add", "sub"):
        out_dot = _scatter_p.bind(operand_dot, updates_dot, indices, **static)
    else:  # the derivative is no scatter of this kind; `lax` knows it, or that there is none

        def of_floats(operand, updates):
            return lax_scatter(operand, updates, indices, **static)

        _, out_dot = jax.jvp(of_floats, (operand, updates), (operand_dot, updates_dot))
    return _scatter_p.bind(*primals, **static), out_dot


# By XLA's scatter a lazy step of Adam in bfloat16 was reported to take 419 ms and 773 MB. The same
# step in float32 took 6.8 ms.
_scatter_p = register(
    lax_scatter,
    "narrow_scatter",
    form=_scatter_rows,
    num_linear=2,
    is_for=_is_widened_whole,
    batch=bind_to_batch,
    calls_python=True,
)
ad.primitive_jvps[_scatter_p] = _jvp
