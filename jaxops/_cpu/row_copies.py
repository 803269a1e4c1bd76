"""`lax.gather` in vectors, for rows that XLA's CPU compiler would copy element by element."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _symbolic
from jaxops._forms import register
from jaxops._indexing.dimension_numbers import Windows, bind_gather_to_batch, lax_gather


def _is_copied_by_element(operand: jax.Array, indices: jax.Array, *, windows: Windows) -> bool:
    """Whether LLVM does not vectorize the loop over a row. Measured, with jax 0.10 and 0.12.

    Shorter rows are unrolled and longer ones vectorized, except for rows of bfloat16.
    """
    del indices
    last = operand.ndim - 1
    if not windows.axes or last in windows.axes:
        return False
    if operand.dtype.kind not in "biuf" and operand.dtype != jnp.bfloat16:
        return False  # complex numbers, and those of fewer than 8 bits
    if not _symbolic.are_known(operand.shape):
        return False
    # XLA leaves the copies of such rows a scalar loop, which takes two to five times as long as a
    # loop that computes (test_row_copies.py, test_rows_are_numpys, has a case beside each limit).
    longest = np.inf if operand.dtype == jnp.bfloat16 else 75
    return 60 <= operand.shape[last] <= longest


def _gather_in_vectors(operand, indices, *, windows: Windows):
    """LLVM vectorizes a loop that computes something: here OR of the bits with 0.

    The compiler must not know that it is 0. So it is the sign bit of the index, which is in bounds.
    If an index is not, the caller masks its row, or leaves it unspecified.
    """
    rows = lax_gather(operand, indices, windows)
    # XLA keeps the OR: test_row_copies.py, test_only_programs_for_the_cpu_are_changed, finds it in
    # the compiled program.
    sign = indices[..., 0] < 0
    if rows.dtype != np.bool_:
        # As integers, so that each NaN keeps its payload (test_row_copies.py, test_bits_are_kept).
        bits = np.dtype(f"uint{8 * rows.dtype.itemsize}")
        rows, sign = lax.bitcast_convert_type(rows, bits), sign.astype(bits)
    rows = lax.bitwise_or(rows, jnp.broadcast_to(windows.over_result(sign, rows.ndim), rows.shape))
    return lax.bitcast_convert_type(rows, operand.dtype)


register(
    lax_gather,
    "gather_rows",
    form=_gather_in_vectors,
    num_linear=1,
    is_for=_is_copied_by_element,
    batch=bind_gather_to_batch,
)
