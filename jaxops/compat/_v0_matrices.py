"""TensorFlow 0.x's functions of matrices, and those that make arrays of numbers; see `v0.py`."""

from __future__ import annotations

import jax
from jax.typing import DTypeLike

import jaxops
from jaxops._run.arguments import ArrayLike, Ints
from jaxops.compat._spelling import beyond, once_without, under_names


def diag(diagonal: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.tensor_diag(diagonal)`."""
    with under_names(tensor_diag="diag"):
        return jaxops.tensor_diag(diagonal, name)


def diag_part(input: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.tensor_diag_part(input)`."""
    with under_names(tensor_diag_part="diag_part"):
        return jaxops.tensor_diag_part(input, name)


def matrix_diag(diagonal: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.matrix_diag(diagonal)`.

    Example:
        >>> from jaxops.compat import v0
        >>> v0.matrix_diag([1, 2])
        Array([[1, 0],
               [0, 2]], dtype=int32)
    """
    with beyond("matrix_diag", "k"):
        return jaxops.matrix_diag(diagonal, name)


def matrix_diag_part(input: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.matrix_diag_part(input)`."""
    with beyond("matrix_diag_part", "k"):
        return jaxops.matrix_diag_part(input, name)


def matrix_set_diag(input: ArrayLike, diagonal: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.matrix_set_diag(input, diagonal)`."""
    with beyond("matrix_set_diag", "k"):
        return jaxops.matrix_set_diag(input, diagonal, name)


def matrix_transpose(a: ArrayLike, name: str | None = "matrix_transpose") -> jax.Array:
    """`jaxops.matrix_transpose(a)`."""
    return jaxops.matrix_transpose(a, name)


def fill(dims: Ints, value: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.fill(dims, value)`."""
    return jaxops.fill(dims, value, name)


@once_without("dtype", "0.5 to 0.10", "0.11 and 0.12")
def range(
    start: ArrayLike,
    limit: ArrayLike | None = None,
    delta: ArrayLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = "range",
) -> jax.Array:
    """`jaxops.range(start, limit, delta, dtype)`.

    Example:
        >>> from jaxops.compat import v0
        >>> v0.range(1, 10, 3)
        Array([1, 4, 7], dtype=int32)
    """
    return jaxops.range(start, limit, delta, dtype, name)
