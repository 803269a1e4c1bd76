"""Diagonals of matrices, one or a band, and of arrays whose second half of axes is the first."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops._ops.band_part import check_matrix, dtype_of_places
from jaxops._run.arguments import ArrayLike, Int, Ints, brief, check_scalar
from jaxops._run.dispatch import given_name, operation
from jaxops._run.static_values import (
    check_choice,
    is_scalar,
    refuse_traced,
    static_int,
    static_ints,
)

_ALIGNS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


class _Band(NamedTuple):
    """The diagonals `low` to `high` of matrices, and how they stand in an array `[high - low + 1,
    length]`, the highest first; one alone is a vector."""

    rows: int
    columns: int
    low: int
    high: int
    align: str
    dtype: np.dtype  # of the numbers of rows and columns

    @property
    def length(self) -> int:
        """The length of the longest diagonal."""
        return max(0, min(self.rows + min(self.high, 0), self.columns - max(self.low, 0)))

    @property
    def shape(self) -> tuple[int, ...]:
        count = self.high - self.low + 1
        return (self.length,) if count == 1 else (count, self.length)

    def offsets(self, d):
        """The distance from the left at which each of the diagonals `d` begins, and its length."""
        above, below = (self.align.split("_")[i] == "RIGHT" for i in (0, 1))
        lengths = jnp.minimum(self.rows + jnp.minimum(d, 0), self.columns - jnp.maximum(d, 0))
        is_right = jnp.where(d > 0, above, below)
        return jnp.where(is_right, self.length - lengths, 0), lengths

    def iota(self, shape, axis):
        return lax.broadcasted_iota(self.dtype, shape, axis)


def matrix_diag(
    diagonal: ArrayLike,
    name: str | None = "diag",
    k: Int | Ints = 0,
    num_rows: Int = -1,
    num_cols: Int = -1,
    padding_value: ArrayLike = 0,
    align: str = "RIGHT_LEFT",
) -> jax.Array:
    """Matrices with given diagonals, and `padding_value` elsewhere.

    Follows `tf.linalg.diag`. Differs from it in: `k` and the sizes are static; `padding_value` has
    to fit the dtype of `diagonal`, and has a gradient.

    Args:
        diagonal: array of shape `[..., L]` and any dtype, or `[..., k[1] - k[0] + 1, L]` for
            several diagonals, the highest first. Traced.
        k: static int, the diagonal: 0 is the main one, positive ones lie above it. Or two, the
            lowest and the highest of several.
        num_rows: static int, the number of rows; by default as many as the diagonals need, and of
            a square matrix where `num_cols` is not given either.
        num_cols: likewise of columns.
        padding_value: scalar of the dtype of `diagonal`. Traced.
        align: static; at which end of `L` the shorter diagonals stand: those above the main one,
            and those below. `"RIGHT_LEFT"`, `"LEFT_RIGHT"`, `"LEFT_LEFT"` or `"RIGHT_RIGHT"`.

    Returns:
        Array of shape `[..., num_rows, num_cols]` and dtype of `diagonal`.

    Raises:
        TypeError: wrong type of an argument; traced `k` or sizes.
        ValueError: wrong shape or value of an argument; sizes that do not fit the diagonals.

    Gradient: those diagonals of the cotangent; for `padding_value` the sum over the elements that
    it fills.

    Example:
        >>> import jaxops
        >>> jaxops.matrix_diag([1, 2], k=1)
        Array([[0, 1, 0],
               [0, 0, 2],
               [0, 0, 0]], dtype=int32)
        >>> jaxops.matrix_diag([[0, 8, 9], [1, 2, 3]], k=(0, 1))
        Array([[1, 8, 0],
               [0, 2, 9],
               [0, 0, 3]], dtype=int32)
    """
    op = "matrix_diag"
    return _matrix_diag.run(
        op,
        diagonal=diagonal,
        **_padding(padding_value),
        name=given_name(name, "diag"),
        k=_diagonals(k, op),
        num_rows=static_int(num_rows, op, "num_rows"),
        num_cols=static_int(num_cols, op, "num_cols"),
        align=check_choice(align, _ALIGNS, op, "align"),
    )


@operation(data=("diagonal", "padding_value"), moves_elements="no strings", like="diagonal")
def _matrix_diag(
    diagonal: jax.Array,
    *,
    op: str,
    k: tuple[int, int],
    num_rows: int,
    num_cols: int,
    align: str,
    padding_value: jax.Array | None = None,
):
    padding = _scalar(padding_value, diagonal.dtype, op)
    low, high = k
    dims = 1 if low == high else 2
    if diagonal.ndim < dims or (dims == 2 and diagonal.shape[-2] != high - low + 1):
        wanted = "[..., L]" if dims == 1 else f"[..., {high - low + 1}, L]"
        raise ValueError(
            f"{op}: diagonal must have shape {wanted} for k={k}; received shape {diagonal.shape}"
        )
    rows = diagonal.shape[-1] - min(high, 0)
    columns = diagonal.shape[-1] + max(low, 0)
    sizes = [rows if num_rows == -1 else num_rows, columns if num_cols == -1 else num_cols]
    if num_rows == num_cols == -1:
        sizes = [max(sizes)] * 2
    for arg, size, least in (("num_rows", sizes[0], rows), ("num_cols", sizes[1], columns)):
        if size < least:
            raise ValueError(f"{op}: {arg} must be at least {least}, or -1; received {size}")
    if sizes[0] != rows and sizes[1] != columns:
        raise ValueError(
            f"{op}: num_rows must be {rows}, or num_cols {columns}, for diagonals of that length; "
            f"received {sizes[0]} and {sizes[1]}"
        )
    matrix = jnp.broadcast_to(padding, (*diagonal.shape[:-dims], *sizes))
    dtype = dtype_of_places(op, "diagonal", sizes)
    return _put(matrix, diagonal, _Band(sizes[0], sizes[1], low, high, align, dtype))


def matrix_diag_part(
    input: ArrayLike,
    name: str | None = "diag_part",
    k: Int | Ints = 0,
    padding_value: ArrayLike = 0,
    align: str = "RIGHT_LEFT",
) -> jax.Array:
    """Diagonals of matrices.

    Follows `tf.linalg.diag_part`. Differs from it in: `k` is static; `padding_value` has to fit the
    dtype of `input`, and has a gradient.

    Args:
        input: array of shape `[..., M, N]` and any dtype. Traced.
        k: static int in `(-M, N)`, the diagonal: 0 is the main one, positive ones lie above it. Or
            two, the lowest and the highest of several.
        padding_value: scalar of the dtype of `input`, for the places that shorter diagonals leave.
            Traced.
        align: static; at which end of the result the shorter diagonals stand: those above the main
            one, and those below. `"RIGHT_LEFT"`, `"LEFT_RIGHT"`, `"LEFT_LEFT"` or
            `"RIGHT_RIGHT"`.

    Returns:
        Array of the dtype of `input`, of shape `[..., L]`, or `[..., k[1] - k[0] + 1, L]` for
        several diagonals, the highest first. `L` is the length of the longest.

    Raises:
        TypeError: wrong type of an argument; traced `k`.
        ValueError: `input` is no matrix; wrong value of an argument.

    Gradient: the cotangent on those diagonals, 0 elsewhere; for `padding_value` the sum over the
    elements that it fills.

    Example:
        >>> import jaxops
        >>> jaxops.matrix_diag_part([[1, 2, 3], [4, 5, 6]])
        Array([1, 5], dtype=int32)
        >>> jaxops.matrix_diag_part([[1, 2, 3], [4, 5, 6]], k=(-1, 0))
        Array([[1, 5],
               [4, 0]], dtype=int32)
    """
    op = "matrix_diag_part"
    return _matrix_diag_part.run(
        op,
        input=input,
        **_padding(padding_value),
        name=given_name(name, "diag_part"),
        k=_diagonals(k, op),
        align=check_choice(align, _ALIGNS, op, "align"),
    )


@operation(data=("input", "padding_value"), moves_elements="no strings", like="input")
def _matrix_diag_part(
    input: jax.Array,
    *,
    op: str,
    k: tuple[int, int],
    align: str,
    padding_value: jax.Array | None = None,
):
    padding = _scalar(padding_value, input.dtype, op)
    band = _band_of(input, k, align, op)
    # One diagonal alone is the longest and is not padded. A gather without a mask takes half of the
    # time.
    if len(band.shape) == 1:
        return _taken(input, band)
    d = band.high - band.iota(band.shape, 0)
    offset, lengths = band.offsets(d)
    n = band.iota(band.shape, 1) - offset
    is_inside = (n >= 0) & (n < lengths)
    place = jnp.where(is_inside, n, 0)
    rows, columns = place + jnp.maximum(-d, 0), place + jnp.maximum(d, 0)
    result = input.at[..., rows, columns].get(mode="promise_in_bounds")
    return jnp.where(is_inside, result, padding)


def _taken(input, band):
    """The one diagonal of `band`."""
    place = band.iota(band.shape, 0)
    rows, columns = place + max(-band.low, 0), place + max(band.low, 0)
    # Else the gradient adds by compare-and-swap on a GPU, see docs/accelerators.md.
    return input.at[..., rows, columns].get(mode="promise_in_bounds", unique_indices=True)


def matrix_set_diag(
    input: ArrayLike,
    diagonal: ArrayLike,
    name: str | None = "set_diag",
    k: Int | Ints = 0,
    align: str = "RIGHT_LEFT",
) -> jax.Array:
    """Matrices with other diagonals.

    Follows `tf.linalg.set_diag`. Differs from it in: `k` is static.

    Args:
        input: array of shape `[..., M, N]` and any dtype. Traced.
        diagonal: array of the dtype of `input`, of shape `[..., L]`, or `[..., k[1] - k[0] + 1, L]`
            for several diagonals, the highest first. `L` is the length of the longest. Traced.
        k: static int in `(-M, N)`, the diagonal: 0 is the main one, positive ones lie above it. Or
            two, the lowest and the highest of several.
        align: static; at which end of `L` the shorter diagonals stand: those above the main one,
            and those below. `"RIGHT_LEFT"`, `"LEFT_RIGHT"`, `"LEFT_LEFT"` or `"RIGHT_RIGHT"`.

    Returns:
        Array of the shape and dtype of `input`.

    Raises:
        TypeError: wrong type of an argument; different dtypes; traced `k`.
        ValueError: wrong shape or value of an argument.

    Gradient: of `input` the cotangent, 0 on those diagonals; of `diagonal` the cotangent there.

    Example:
        >>> import jaxops
        >>> jaxops.matrix_set_diag([[1, 2, 3], [4, 5, 6]], [8, 9], k=1)
        Array([[1, 8, 3],
               [4, 5, 9]], dtype=int32)
    """
    op = "matrix_set_diag"
    return _matrix_set_diag.run(
        op,
        input=input,
        diagonal=diagonal,
        name=given_name(name, "set_diag"),
        k=_diagonals(k, op),
        align=check_choice(align, _ALIGNS, op, "align"),
    )


@operation(data=("input", "diagonal"), moves_elements="no strings", like="input")
def _matrix_set_diag(
    input: jax.Array, diagonal: jax.Array, *, op: str, k: tuple[int, int], align: str
):
    band = _band_of(input, k, align, op)
    shape = (*input.shape[:-2], *band.shape)
    if diagonal.shape != shape:
        raise ValueError(
            f"{op}: diagonal must have shape {shape} for k={k} and input of shape {input.shape}; "
            f"received shape {diagonal.shape}"
        )
    return _put(input, diagonal, band)


def _put(matrix, diagonal, band):
    """`matrix` with the diagonals of `band`."""
    if 0 in diagonal.shape:
        return matrix
    shape = (band.rows, band.columns)
    row, column = band.iota(shape, 0), band.iota(shape, 1)
    d = column - row
    if band.low == band.high:  # without a gather, whose transpose would be a scatter
        is_in_band, values = d == band.low, _spread(band, diagonal)
    else:
        is_in_band = (d >= band.low) & (d <= band.high)
        offset, _ = band.offsets(d)
        which = jnp.where(is_in_band, band.high - d, 0)
        place = jnp.where(is_in_band, jnp.minimum(row, column) + offset, 0)
        values = diagonal.at[..., which, place].get(mode="promise_in_bounds")
    return jnp.where(is_in_band, values, matrix)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _spread(band, diagonal):
    """`diagonal` in its place in matrices. The other elements have any value: callers drop them.

    The fastest way to spread a diagonal is to repeat each of its elements along its row.
    """
    column = _pad(diagonal, max(-band.low, 0), band.rows, 0)[..., None]
    return jnp.broadcast_to(column, (*column.shape[:-1], band.columns))


@_spread.defjvp
def _spread_jvp(band, primals, tangents):
    """The transpose of `_spread` adds up the rows of a cotangent, all of which a CPU would read."""
    (diagonal,), (tangent,) = primals, tangents
    # On a CPU the gradient takes a tenth of the time by `_alone` (test_diagonals.py,
    # test_the_gradient_reads_the_diagonal_alone). A GPU and a TPU add rows up while they compute
    # them (test_accelerators_add_up_rows).
    matrix = lax.platform_dependent(
        tangent, cpu=functools.partial(_alone, band), default=functools.partial(_spread, band)
    )
    return _spread(band, diagonal), matrix


def _alone(band, diagonal):
    """`diagonal` in its place in matrices of 0. The transpose of this is a slice with a stride."""
    first = max(-band.low, 0) * band.columns + max(band.low, 0)
    elements = _pad(diagonal, first, band.rows * band.columns, band.columns)
    return elements.reshape(*diagonal.shape[:-1], band.rows, band.columns)


def _pad(x, before, size, between):
    """`x` with zeros before, between and after the elements of its last dimension, up to `size`."""
    after = size - before - x.shape[-1] - between * (x.shape[-1] - 1)
    ends = [(0, 0, 0)] * (x.ndim - 1) + [(before, after, between)]
    return lax.pad(x, jnp.zeros((), x.dtype), ends)


def _band_of(input, k, align, op) -> _Band:
    check_matrix(input, op, "input")
    *_, rows, columns = input.shape
    if not all(d == 0 or -rows < d < columns for d in k):
        raise ValueError(
            f"{op}: k must name diagonals between {-rows} and {columns}, both excluded, for input "
            f"of shape {input.shape}; received {k}"
        )
    return _Band(rows, columns, k[0], k[1], align, dtype_of_places(op, "input", (rows, columns)))


def _diagonals(k, op) -> tuple[int, int]:
    refuse_traced(k, op, "k")
    numbers = (static_int(k, op, "k"),) if is_scalar(k) else static_ints(k, op, "k")
    if len(numbers) not in (1, 2) or numbers[0] > numbers[-1]:
        raise ValueError(
            f"{op}: k must be one diagonal, or the lowest and the highest; received {brief(k)}"
        )
    return numbers[0], numbers[-1]


def _padding(padding_value) -> dict:
    """The argument of `run`; none for 0, which every dtype has."""
    is_zero = type(padding_value) is int and padding_value == 0
    return {} if is_zero else {"padding_value": padding_value}


def _scalar(padding_value, dtype, op):
    if padding_value is None:
        return jnp.zeros((), dtype)
    check_scalar(padding_value, op, "padding_value")
    return padding_value


def tensor_diag(diagonal: ArrayLike, name: str | None = None) -> jax.Array:
    """An array of 0 with a given diagonal: `result[i, .., k, i, .., k] = diagonal[i, .., k]`.

    Follows `tf.linalg.tensor_diag`. Differs from it in: dtypes (every one of numbers and bool).

    Args:
        diagonal: array of shape `S`, at least 1-D. Traced.

    Returns:
        Array of shape `S + S` and dtype of `diagonal`.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: `diagonal` is a scalar.

    Gradient: the diagonal of the cotangent.

    Example:
        >>> import jaxops
        >>> jaxops.tensor_diag([1, 2])
        Array([[1, 0],
               [0, 2]], dtype=int32)
    """
    return _tensor_diag.run("tensor_diag", diagonal=diagonal, name=name)


@operation(data=("diagonal",), moves_elements="no strings")
def _tensor_diag(diagonal: jax.Array, *, op: str):
    if diagonal.ndim == 0:
        raise ValueError(f"{op}: diagonal must have at least 1 dimension; received shape ()")
    size = math.prod(diagonal.shape)
    band = _main_diagonal(op, "diagonal", size)
    matrix = _put(jnp.zeros((size, size), diagonal.dtype), diagonal.reshape(size), band)
    return matrix.reshape(diagonal.shape * 2)


def tensor_diag_part(input: ArrayLike, name: str | None = None) -> jax.Array:
    """The diagonal of an array: `result[i, .., k] = input[i, .., k, i, .., k]`.

    Follows `tf.linalg.tensor_diag_part`. Differs from it in: dtypes (every one of numbers and
    bool).

    Args:
        input: array of shape `S + S`. Traced.

    Returns:
        Array of shape `S` and dtype of `input`.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: the second half of the dimensions of `input` is not the first.

    Gradient: the cotangent on the diagonal, 0 elsewhere.

    Example:
        >>> import jaxops
        >>> jaxops.tensor_diag_part([[1, 2], [3, 4]])
        Array([1, 4], dtype=int32)
    """
    return _tensor_diag_part.run("tensor_diag_part", input=input, name=name)


@operation(data=("input",), moves_elements="no strings")
def _tensor_diag_part(input: jax.Array, *, op: str):
    shape = input.shape[: input.ndim // 2]
    if input.shape != shape * 2:
        raise ValueError(
            f"{op}: input must have an even number of dimensions, the second half the same as the "
            f"first; received shape {input.shape}"
        )
    size = math.prod(shape)
    band = _main_diagonal(op, "input", size)
    return _taken(input.reshape(size, size), band).reshape(shape)


def _main_diagonal(op: str, arg: str, size: int) -> _Band:
    return _Band(size, size, 0, 0, "LEFT_LEFT", dtype_of_places(op, arg, (size, size)))
