"""sequence_mask and searchsorted."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import DTypeLike

from jaxops import _symbolic
from jaxops._indexing import index_dtypes
from jaxops._indexing.bisection import places_of
from jaxops._ops.casting import static_dtype, static_index_dtype
from jaxops._run import on_host
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.dispatch import operation
from jaxops._run.static_values import check_choice, static_dim

_LONGEST = 2**31 - 1  # rows that TensorFlow refuses


def sequence_mask(
    lengths: ArrayLike,
    maxlen: Int | None = None,
    dtype: DTypeLike | None = bool,
    name: str | None = None,
) -> jax.Array:
    """Makes masks that are true at the first places of each row, as many as its length says.

    `result[..., j] = j < lengths[...]`.

    Follows `tf.sequence_mask`. Differs from it in: `lengths` and `maxlen` are integers; a length
    that int32 does not hold is longer than any row (TensorFlow takes its low bits).

    Args:
        lengths: integer array of shape `D`. A length below 0 counts as 0, one above `maxlen` as
            `maxlen`. Traced only with `maxlen`.
        maxlen: static int, 0 at least; the size of the new axis. Default: the largest length.
        dtype: static dtype of the result; None means bool.

    Returns:
        Array of shape `D + [maxlen]`: true, or 1, where the mask holds.

    Raises:
        TypeError: wrong dtype or type of an argument; `lengths` is traced and `maxlen` not given.
        ValueError: `maxlen` is negative; `dtype` has 64 bits while 64-bit types are off.

    Gradient: none.

    Example:
        >>> import jaxops
        >>> jaxops.sequence_mask([1, 3, 2], 5, dtype="int32")
        Array([[1, 0, 0, 0, 0],
               [1, 1, 1, 0, 0],
               [1, 1, 0, 0, 0]], dtype=int32)
    """
    op = "sequence_mask"
    dtype = np.dtype(bool) if dtype is None else static_dtype(dtype, op, "dtype")
    width: Any = _largest(op, lengths) if maxlen is None else static_dim(maxlen, op, "maxlen")
    if width < 0:
        raise ValueError(f"{op}: maxlen must be at least 0; received {width}")
    return _sequence_mask.run(op, lengths=lengths, name=name, maxlen=width, dtype=dtype)


def _largest(op: str, lengths: Any) -> int:
    known = on_host.concrete_integers(lengths, op, "lengths")
    if known is None:
        raise TypeError(
            f"{op}: maxlen must be given where lengths is traced, as the shape of the result "
            "depends on the values; received a traced lengths"
        )
    return max(0, int(known.max(initial=0)))


@operation(indices=("lengths",))
def _sequence_mask(lengths: jax.Array, *, op: str, maxlen: int, dtype: np.dtype):
    lengths = index_dtypes.widen(lengths)
    largest = jnp.iinfo(lengths.dtype).max
    if _symbolic.longest([maxlen]) > largest:
        raise ValueError(
            f"{op}: maxlen must be at most {largest} for lengths of dtype {lengths.dtype}; "
            f"received {maxlen}"
        )
    places = lax.broadcasted_iota(lengths.dtype, (*lengths.shape, maxlen), lengths.ndim)
    return (places < lengths[..., None]).astype(dtype)


def searchsorted(
    sorted_sequence: ArrayLike,
    values: ArrayLike,
    side: str = "left",
    out_type: DTypeLike = np.int32,
    name: str | None = None,
) -> jax.Array:
    """Finds where values would go in the sorted rows of an array.

    Follows `tf.searchsorted`. Differs from it in: the dimensions before the last are the same in
    both arrays (TensorFlow compares their product only).

    Args:
        sorted_sequence: array of shape `D + [n]`, of integers or real numbers that ascend along
            the last axis; otherwise the result is not specified. Traced.
        values: array of shape `D + [m]` and the dtype of `sorted_sequence`. Traced.
        side: static; `"left"`: the first place whose element is not less than the value.
            `"right"`: the first whose element is greater. NaN is neither less nor greater.
        out_type: static dtype of the result, int32 or int64.

    Returns:
        Array of the shape of `values` and dtype `out_type`: places in `[0, n]`.

    Raises:
        TypeError: wrong dtype or type of an argument.
        ValueError: wrong rank, shape or value of an argument; `out_type` is int64 while 64-bit
            types are off.

    Gradient: none.

    Example:
        >>> import jaxops
        >>> jaxops.searchsorted([[0, 3, 9, 10], [1, 2, 3, 4]], [[3, 11], [0, 4]])
        Array([[1, 4],
               [0, 3]], dtype=int32)
        >>> jaxops.searchsorted([0, 3, 9, 10, 10], [0, 4, 10], side="right")
        Array([1, 2, 5], dtype=int32)
    """
    op = "searchsorted"
    check_choice(side, ("left", "right"), op, "side")
    dtype = static_index_dtype(out_type, op, "out_type")
    return _searchsorted.run(
        op,
        sorted_sequence=sorted_sequence,
        values=values,
        name=name,
        side=side,
        out_type=dtype,
    )


@operation(data=("sorted_sequence", "values"), like="sorted_sequence")
def _searchsorted(
    sorted_sequence: jax.Array, values: jax.Array, *, op: str, side: str, out_type: np.dtype
):
    _check_rows(op, sorted_sequence, values)
    dtype = sorted_sequence.dtype
    if dtype.kind in "bc":
        raise TypeError(f"{op}: sorted_sequence must have an ordered dtype; received {dtype}")
    sequence, values = lax.stop_gradient((sorted_sequence, values))
    return places_of(sequence, values, side=side).astype(out_type)


def _check_rows(op: str, sorted_sequence, values) -> None:
    for arg, x in (("sorted_sequence", sorted_sequence), ("values", values)):
        if x.ndim == 0:
            raise ValueError(f"{op}: {arg} must have rank 1 at least; received a scalar")
    if sorted_sequence.shape[:-1] != values.shape[:-1]:
        raise ValueError(
            f"{op}: sorted_sequence and values must have the same dimensions before the last; "
            f"received shapes {sorted_sequence.shape} and {values.shape}"
        )
    length = sorted_sequence.shape[-1]
    if _symbolic.longest([length]) >= _LONGEST:
        raise ValueError(
            f"{op}: sorted_sequence must have rows of less than {_LONGEST} elements; "
            f"received shape {sorted_sequence.shape}"
        )
