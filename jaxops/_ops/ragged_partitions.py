"""The places of the rows of a ragged array, by splits, lengths, or row numbers of the values.

Numbers are NumPy arrays where the host knows them, else arrays that are traced.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxops import _symbolic
from jaxops._errors import OutOfBoundsError
from jaxops._indexing import canonical, index_dtypes, policy
from jaxops._indexing.dimension_numbers import ROWS
from jaxops._indexing.specs import RowPartition, ScalarIndex
from jaxops._ops.casting import static_index_dtype
from jaxops._run import arguments, on_host
from jaxops._run.known import at_once
from jaxops._run.static_values import check_bool


def from_partition(
    op: str, values: Any, arg: str, numbers: Any, name, validate, padded, nrows: Any = None
) -> tuple[jax.Array, jax.Array]:
    """Values, and row splits of the argument "row_splits", "row_lengths" or "value_rowids"."""
    validate = check_bool(validate, op, "validate")
    padded = check_bool(padded, op, "padded")
    with on_host.named_scope(op, name):
        values = arguments.to_elements(values, op, "values")
        if values.ndim == 0:
            raise ValueError(f"{op}: values must have rank 1 at least; received a scalar")
        numbers = to_partition(op, numbers, arg)
        if not _symbolic.are_known(values.shape[:1]):
            numbers = to_device(numbers)
        if arg == "value_rowids":
            splits = _of_rowids(op, values.shape[0], numbers, nrows, validate, padded)
            return values, to_device(splits)
        if arg == "row_lengths":
            numbers = splits_of(numbers)
        elif not numbers.shape[0]:
            raise ValueError(f"{op}: row_splits must not be empty; received shape {numbers.shape}")
        if validate:
            numbers = _check_splits(op, arg, values.shape[0], numbers, padded)
        return values, to_device(numbers)


def _of_rowids(op: str, capacity: int, ids: Any, nrows, validate: bool, padded: bool) -> Any:
    """The splits of rows that have these numbers."""
    if ids.shape != (capacity,):
        raise ValueError(
            f"{op}: value_rowids must have one number for each of {capacity} values; "
            f"received shape {ids.shape}"
        )
    nrows = _number_of_rows(op, nrows, ids, padded)
    if validate:
        steps = join(ids[:1] * 0, ids[1:] - ids[:-1])
        limit = nrows + 1 if padded else nrows
        spec = RowPartition(op, (limit, limit + 1), "value_rowids", ids.shape[0])
        ids = _check(spec, ids, steps)
    return splits_of(_count(ids, nrows))


def dtype_of_splits(op: str, dtype: Any) -> np.dtype:
    """TensorFlow's default, int64, is int32 while JAX has no 64-bit types."""
    if dtype is np.int64 and not jax.config.read("jax_enable_x64"):
        dtype = np.int32
    return static_index_dtype(dtype, op, "row_splits_dtype")


def to_partition(op: str, x: Any, arg: str) -> Any:
    """int32 or int64 numbers."""

    def to_signed():
        return index_dtypes.to_signed(arguments.to_indices(x, op, arg, None), op)

    if on_host.concrete_integers(x, op, arg) is None:
        numbers = to_signed()
    else:
        with at_once(), jax.enable_x64(True):  # the error of a number names all of its bits
            numbers = np.asarray(to_signed())
    if numbers.ndim != 1:
        raise ValueError(f"{op}: {arg} must be a vector; received shape {numbers.shape}")
    return numbers


def to_device(splits: Any) -> jax.Array:
    if not isinstance(splits, np.ndarray):
        return splits
    with at_once():
        return arguments.to_indices(splits, "", "", None)


def _number_of_rows(op: str, nrows: Any, ids: Any, padded: bool) -> int:
    if nrows is not None:
        return on_host.check_size(nrows, op, "nrows")
    if padded or not isinstance(ids, np.ndarray):
        why = "padded=True" if padded else "traced value_rowids"
        raise TypeError(f"{op}: nrows must be given with {why}; received nrows=None")
    number = max(int(ids[-1]) + 1, 0) if ids.size else 0
    return on_host.check_size(number, op, "the last of value_rowids plus 1")


def join(*parts: Any) -> Any:
    on_the_host = all(isinstance(part, np.ndarray) for part in parts)
    return np.concatenate(parts) if on_the_host else jnp.concatenate(parts)


def splits_of(lengths: Any) -> Any:
    """The ends of rows of these lengths, after a 0; in the dtype of the lengths."""
    xp = np if isinstance(lengths, np.ndarray) else jnp
    ends = xp.cumsum(lengths, dtype=lengths.dtype)
    return join(xp.zeros(1, lengths.dtype), ends)


def _check_splits(op: str, arg: str, capacity: int, splits: Any, padded: bool) -> Any:
    """`splits`, which begin with 0, do not decrease, and end with the number of values."""
    dtype = jax.dtypes.canonicalize_dtype(splits.dtype)
    if not padded and _symbolic.longest([capacity]) > np.iinfo(dtype).max:
        raise ValueError(f"{op}: {arg} must be int64 for {capacity} values; received dtype {dtype}")
    numbers, steps = splits, join(-splits[:1], splits[1:] - splits[:-1])
    if not padded:
        numbers = join(numbers, splits[-1:])
        (end,) = _symbolic.numbers([capacity], splits.dtype)
        steps = join(steps, splits[-1:] - end)
    limits = (capacity + 1, capacity + 1)
    spec = RowPartition(op, limits, arg, splits.shape[0])
    return _check(spec, numbers, steps)[: splits.shape[0]]


def _check(spec: RowPartition, numbers: Any, steps: Any) -> Any:
    """`numbers`; the error is at once where they are known, else that of the program."""
    if isinstance(numbers, np.ndarray):
        try:
            policy.is_known_in_bounds(spec, np.stack([numbers, steps], -1), "error")
        except OutOfBoundsError as error:
            raise ValueError(str(error)) from None
        return numbers
    return policy.resolve(spec, jnp.stack([numbers, steps], -1), "device").indices[:, 0]


def _count(ids: Any, nrows: int) -> Any:
    """The number of values of each row."""
    if isinstance(ids, np.ndarray):
        inside = ids[(ids >= 0) & (ids < nrows)]
        return np.bincount(inside, minlength=nrows).astype(ids.dtype)
    spec = ScalarIndex("value_rowids", (nrows,))
    zeros, ones = jnp.zeros(nrows, ids.dtype), jnp.ones_like(ids)
    return canonical.scatter("add", zeros, ids[:, None], ones, ROWS, spec, mode="fill")
