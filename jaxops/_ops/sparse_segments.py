"""The sparse_segment_* reductions: rows taken by indices, combined where they share a number."""

from __future__ import annotations

from typing import Any

import jax

from jaxops._indexing import bounds, canonical
from jaxops._indexing.dimension_numbers import ROWS
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import RowIndex, padding_of
from jaxops._ops import sums
from jaxops._ops.segments import combined, number_of, run_for
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.dispatch import operation
from jaxops._run.static_values import check_bool


def sparse_segment_sum(
    data: ArrayLike,
    indices: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Int | None = None,
    name: str | None = None,
    sparse_gradient: bool = False,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    deterministic: bool = False,
) -> jax.Array:
    """Sums the rows `data[indices]` that have the same number in `segment_ids`, which is sorted.

    Follows `tf.sparse.segment_sum`. Differs from it in: index dtypes (every integer type); complex
    numbers are summed too; off the CPU an index out of bounds reads zeros, and ids out of range are
    ignored; `sparse_gradient=True` is refused, as `jaxops.sparse_value_and_grad` gives gradients of
    the rows alone for any function; sums of more than 8 rows are rounded in another order.

    Args:
        data: array of rank 1 at least, any numeric dtype. Traced.
        indices: integer vector of rows of `data`, in `[0, data.shape[0])`. Traced.
        segment_ids: integer vector, one number for each index: not negative, and none less than the
            one before. Traced, then only with `num_segments`.
        num_segments: static int, 0 or more; the length of the result. None: the last number plus 1.
        sparse_gradient: static; TensorFlow's default, False.
        mode: static; what an index, or a number of a segment, that is out of range does.
            `"device"`: an error on the CPU; elsewhere the index reads zeros, the row of the number
            is dropped. `"error"`: an error everywhere. `"fill"`: the index reads zeros, the row of
            the number is dropped. `"clip"` and `"wrap"`: the nearest one, or modulo the range.
            `"promise_in_bounds"`: the caller promises that there is none. Numbers that are not
            sorted are an error where those out of range are one, and combined elsewhere.
        padding_index: static int or None; an entry with this number in `indices` is left out, and
            no mean counts it. Its segment is looked at only where `num_segments` is None.
        deterministic: static bool; whether the rows of a segment, and in the gradient those of an
            index, are added in a fixed order, bit for bit repeatable on every platform. On a GPU
            the order is otherwise arbitrary.

    Returns:
        Array of shape `[num_segments] + data.shape[1:]` and dtype of `data`; 0 for a segment
        without rows. Floats of 8 and 16 bits are added in float32 and rounded once.

    Raises:
        OutOfBoundsError: an index is out of bounds, or a number out of range or less than the one
            before, in an eager call, where `mode` makes that an error. Compiled code raises JAX's
            exception with the same text.
        TypeError: wrong dtype or type of an argument; `segment_ids` is traced and `num_segments`
            not given.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: for each row of `data` the sum of the cotangents of the segments that it is in. None
    for `indices` and `segment_ids`.

    Example:
        >>> import jaxops
        >>> table = [[1, 2], [3, 4], [5, 6]]
        >>> jaxops.sparse_segment_sum(table, [0, 2, 2], [0, 0, 1])
        Array([[6, 8],
               [5, 6]], dtype=int32)
        >>> jaxops.sparse_segment_sum(table, [0, 3], [0, 1])
        Traceback (most recent call last):
        ...
        jaxops.OutOfBoundsError: indices[1] = 3 is not in [0, 3) [Op:sparse_segment_sum] at ...
    """
    options = name, sparse_gradient, mode, padding_index, deterministic
    return _run("sum", data, indices, segment_ids, num_segments, *options)


def sparse_segment_mean(
    data: ArrayLike,
    indices: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Int | None = None,
    name: str | None = None,
    sparse_gradient: bool = False,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    deterministic: bool = False,
) -> jax.Array:
    """The mean of the rows `data[indices]` with the same number in `segment_ids`, which is sorted.

    Follows `tf.sparse.segment_mean`. Differs from it in: as `sparse_segment_sum`; sums are divided,
    where TensorFlow multiplies them by the rounded inverse, with other last bits.

    Args:
        data: array of rank 1 at least, any dtype of floats. Traced.
        indices: integer vector, as in `sparse_segment_sum`. Traced.
        segment_ids: integer vector, as in `sparse_segment_sum`. Traced, then only with
            `num_segments`.
        num_segments: static int, 0 or more; the length of the result. None: the last number plus 1.
        sparse_gradient: static; TensorFlow's default, False.
        mode: static; as in `sparse_segment_sum`. A row of zeros, read out of bounds, counts.
        padding_index: static int or None, as in `sparse_segment_sum`.
        deterministic: static bool, as in `sparse_segment_sum`.

    Returns:
        Array of shape `[num_segments] + data.shape[1:]` and dtype of `data`; 0 for a segment
        without rows. Floats of 8 and 16 bits are added in float32 and rounded once.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `sparse_segment_sum`.

    Gradient: for each row of `data` the sum of the cotangents of the segments that it is in, each
    divided by the number of its rows. None for `indices` and `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.sparse_segment_mean([[1.0, 2.0], [3.0, 4.0]], [0, 1, 1], [0, 0, 1])
        Array([[2., 3.],
               [3., 4.]], dtype=float32)
    """
    options = name, sparse_gradient, mode, padding_index, deterministic
    return _run("mean", data, indices, segment_ids, num_segments, *options)


def sparse_segment_sqrt_n(
    data: ArrayLike,
    indices: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Int | None = None,
    name: str | None = None,
    sparse_gradient: bool = False,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    deterministic: bool = False,
) -> jax.Array:
    """The sum of the rows of a segment, divided by the root of how many they are.

    Follows `tf.sparse.segment_sqrt_n`. Differs from it in: as `sparse_segment_mean`.

    Args:
        data: array of rank 1 at least, any dtype of floats. Traced.
        indices: integer vector, as in `sparse_segment_sum`. Traced.
        segment_ids: integer vector, as in `sparse_segment_sum`. Traced, then only with
            `num_segments`.
        num_segments: static int, 0 or more; the length of the result. None: the last number plus 1.
        sparse_gradient: static; TensorFlow's default, False.
        mode: static; as in `sparse_segment_sum`. A row of zeros, read out of bounds, counts.
        padding_index: static int or None, as in `sparse_segment_sum`.
        deterministic: static bool, as in `sparse_segment_sum`.

    Returns:
        Array of shape `[num_segments] + data.shape[1:]` and dtype of `data`; 0 for a segment
        without rows. Floats of 8 and 16 bits are added in float32 and rounded once.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `sparse_segment_sum`.

    Gradient: for each row of `data` the sum of the cotangents of the segments that it is in, each
    divided by the root of the number of its rows. None for `indices` and `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.sparse_segment_sqrt_n([[1.0], [3.0]], [0, 1, 1, 1, 1], [0, 1, 1, 1, 1])
        Array([[1.],
               [6.]], dtype=float32)
    """
    options = name, sparse_gradient, mode, padding_index, deterministic
    return _run("sqrt_n", data, indices, segment_ids, num_segments, *options)


def _run(
    kind: str,
    data: ArrayLike,
    indices: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Any,
    name: str | None,
    sparse_gradient: object,
    mode: str,
    padding_index: object,
    deterministic: object,
) -> jax.Array:
    op = f"sparse_segment_{kind}"
    if check_bool(sparse_gradient, op, "sparse_gradient"):
        raise ValueError(
            f"{op}: sparse_gradient must be False, as the gradient of an array is one in JAX; "
            "received True; jaxops.sparse_value_and_grad gives IndexedSlices"
        )
    return run_for(
        _sparse_segments,
        op,
        number_of(op, segment_ids, num_segments),
        is_given=num_segments is not None,
        data=data,
        indices=indices,
        segment_ids=segment_ids,
        name=name,
        mode=mode,
        padding_index=padding_index,
        kind=kind,
        deterministic=check_bool(deterministic, op, "deterministic"),
    )


@operation(data=("data",), indices=("indices", "segment_ids"))
def _sparse_segments(
    data: jax.Array,
    indices: jax.Array,
    segment_ids: jax.Array,
    *,
    op: str,
    mode: str,
    padding_index: int | None,
    kind: str,
    num_segments: int | None,
    deterministic: bool,
):
    if data.ndim == 0:
        raise ValueError(f"{op}: data must have at least 1 dimension; received shape ()")
    if indices.ndim != 1 or segment_ids.shape != indices.shape:
        raise ValueError(
            f"{op}: indices and segment_ids must be vectors of the same length; "
            f"received shapes {indices.shape} and {segment_ids.shape}"
        )
    sums.check_dtype(op, "data", "sum" if kind == "sum" else "sqrt_n", data.dtype)
    limits = (data.shape[0],)
    spec = RowIndex(op, limits, padding=padding_of(padding_index, limits))
    left_out = bounds.padding(indices[:, None], spec)
    rows = canonical.gather(
        data, indices[:, None], ROWS, spec, mode=mode, deterministic=deterministic
    )
    in_dtype = sums.wide(data.dtype)  # as TensorFlow adds
    return combined(
        op, kind, rows, segment_ids, left_out, num_segments, mode, deterministic, in_dtype
    )
