"""matrix_band_part and matrix_transpose."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from jaxops._indexing import index_dtypes, masks, policy
from jaxops._indexing.specs import BandWidth
from jaxops._run import extents
from jaxops._run.arguments import X64_HINT, ArrayLike, check_scalar
from jaxops._run.dispatch import given_name, operation
from jaxops._run.static_values import check_bool, static_int


def matrix_band_part(
    input: ArrayLike,
    num_lower: ArrayLike,
    num_upper: ArrayLike,
    name: str | None = None,
) -> jax.Array:
    """Matrices with 0 in all elements outside a band about the diagonal.

    Follows `tf.linalg.band_part`. Differs from it in: the two numbers may have different integer
    dtypes; off the CPU a traced number that is too large is no error, and keeps the whole triangle.

    Args:
        input: array of shape `[..., M, N]` and any dtype. Traced.
        num_lower: integer, how many diagonals to keep below the main one: at most `M`; all of them
            where it is negative. Static or traced.
        num_upper: likewise above it: at most `N`.

    Returns:
        Array of the shape and dtype of `input`.

    Raises:
        OutOfBoundsError: a traced number is too large, on the CPU. Compiled code raises JAX's
            exception with the same text.
        TypeError: wrong dtype or type of an argument.
        ValueError: `input` is no matrix; a number is no scalar, or static and too large.

    Gradient: that part of the cotangent. None for the numbers.

    Example:
        >>> import jaxops
        >>> jaxops.matrix_band_part([[1, 2, 3], [4, 5, 6], [7, 8, 9]], -1, 0)
        Array([[1, 0, 0],
               [4, 5, 0],
               [7, 8, 9]], dtype=int32)
    """
    op = "matrix_band_part"
    numbers = {"num_lower": num_lower, "num_upper": num_upper}
    traced: dict[str, Any] = {arg: x for arg, x in numbers.items() if isinstance(x, Tracer)}
    known = {arg: static_int(x, op, arg) for arg, x in numbers.items() if arg not in traced}
    return _matrix_band_part.run(
        op,
        input=input,
        **traced,
        name=name,
        mode="device",
        known=(*known.items(),),
    )


@operation(data=("input",), indices=("num_lower", "num_upper"), moves_elements="no strings")
def _matrix_band_part(
    input: jax.Array, *, op: str, mode: str, known: tuple[tuple[str, int], ...], **numbers: Any
):
    numbers |= known
    check_matrix(input, op, "input")
    *_, rows, columns = input.shape
    dtype = dtype_of_places(op, "input", (rows, columns))
    below = lax.broadcasted_iota(dtype, (rows, columns), 0)
    below -= lax.broadcasted_iota(dtype, (rows, columns), 1)
    in_band = _within(below, numbers["num_lower"], rows, op, "num_lower", mode)
    in_band &= _within(-below, numbers["num_upper"], columns, op, "num_upper", mode)
    return masks.where(in_band, input, jnp.zeros((), input.dtype))


def _within(distance, number, dim, op, arg, mode):
    """The elements with `distance <= number`, at most `dim`; all if `number` is negative."""
    if isinstance(number, int):
        if number < 0:
            return jnp.ones(distance.shape, bool)
        if number > dim:
            raise ValueError(f"{op}: {arg} must be negative or at most {dim}; received {number}")
        return distance <= number
    check_scalar(number, op, arg)
    spec = BandWidth(op, limits=(dim + 1,), arg=arg)
    (width,) = policy.resolve(spec, jnp.maximum(number, 0)[None], mode).indices
    # The width takes the dtype of the distances: an int8 does not count the distances of 200 rows
    # (test_band_part.py, test_narrow_numbers_of_many_rows).
    return (distance <= width.astype(distance.dtype)) | (number < 0)


def matrix_transpose(
    a: ArrayLike, name: str | None = "matrix_transpose", conjugate: bool = False
) -> jax.Array:
    """Swaps the last two dimensions of `a`.

    Follows `tf.linalg.matrix_transpose`. Differs from it in: nothing.

    Args:
        a: array of shape `[..., M, N]` and any dtype, or host strings. Traced.
        conjugate: static bool; whether to conjugate too, where `a` is complex.

    Returns:
        Array of shape `[..., N, M]` and dtype of `a`; for host strings a NumPy array.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: `a` is no matrix.

    Gradient: the cotangent with its last two dimensions swapped, conjugated again.

    Example:
        >>> import jaxops
        >>> jaxops.matrix_transpose([[1, 2, 3], [4, 5, 6]])
        Array([[1, 4],
               [2, 5],
               [3, 6]], dtype=int32)
    """
    op = "matrix_transpose"
    conjugate = check_bool(conjugate, op, "conjugate")
    name = given_name(name, op)
    return _matrix_transpose.run(op, a=a, name=name, conjugate=conjugate)


@operation(data=("a",), moves_elements=True)
def _matrix_transpose(a: jax.Array, *, op: str, conjugate: bool):
    check_matrix(a, op, "a")
    if conjugate and jnp.issubdtype(a.dtype, jnp.complexfloating):
        a = lax.conj(a)
    return jnp.swapaxes(a, -1, -2)


def dtype_of_places(op: str, arg: str, dims) -> np.dtype:
    """The dtype in which rows and columns of matrices are counted, and subtracted."""
    if not index_dtypes.are_long(dims) or extents.limit(dims, np.int8):  # `call_counted` refuses it
        return np.dtype(np.int32)
    if not jax.config.read("jax_enable_x64"):
        raise ValueError(
            f"{op}: {arg} must make matrices of less than 2**31 rows and columns while x64 is off; "
            f"received {max(dims)}; {X64_HINT}"
        )
    return np.dtype(np.int64)


def check_matrix(x, op, arg):
    if x.ndim < 2:
        raise ValueError(f"{op}: {arg} must have at least 2 dimensions; received shape {x.shape}")
