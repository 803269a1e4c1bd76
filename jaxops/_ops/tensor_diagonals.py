"""tensor_diag and tensor_diag_part: diagonals of arrays whose second half of axes is the first."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxops._indexing import explicit_axes
from jaxops._run.arguments import ArrayLike
from jaxops._run.dispatch import operation

# What XLA need not find out of the places on a diagonal.
_PLACES_ARE: Any = {
    "unique_indices": True,
    "indices_are_sorted": True,
    "mode": "promise_in_bounds",
}


def tensor_diag(diagonal: ArrayLike, name: str | None = None) -> jax.Array:
    """An array of 0 with a given diagonal: `result[i, .., k, i, .., k] = diagonal[i, .., k]`.

    Follows `tf.linalg.tensor_diag`. Differs from it in: dtypes (every one of numbers and bool).

    Args:
        diagonal: array of shape `S`, at least 1-D. Traced.
        name: static; name of the `jax.named_scope` of the operation.

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

    Source: https://www.tensorflow.org/api_docs/python/tf/linalg/tensor_diag
    """
    moves = "no strings"
    return _tensor_diag.run("tensor_diag", diagonal=diagonal, name=name, moves_elements=moves)


@operation(data=("diagonal",))
def _tensor_diag(diagonal: jax.Array, *, op: str):
    if diagonal.ndim == 0:
        raise ValueError(f"{op}: diagonal must have at least 1 dimension; received shape ()")
    size = math.prod(diagonal.shape)
    # On a CPU zeros are written many at once, where a pad asks of each element what it is: 32 x 32
    # takes a tenth of the time. On a GPU the pad is one kernel, and on an explicit mesh JAX knows
    # how devices share it.
    on_cpu = _put_in_zeros if size and explicit_axes.mesh_of(diagonal) is None else _padded
    matrix = lax.platform_dependent(diagonal.reshape(size), cpu=on_cpu, default=_padded)
    return matrix.reshape(diagonal.shape * 2)


def _put_in_zeros(diagonal):
    size = diagonal.shape[0]
    places = jnp.arange(size)
    zeros = jnp.zeros((size, size), diagonal.dtype)
    return zeros.at[places, places].set(diagonal, **_PLACES_ARE)


def _padded(diagonal):
    """Rows that are one element longer than the matrix has columns begin on its diagonal."""
    size = diagonal.shape[0]
    rows = jnp.pad(diagonal.reshape(size, 1), ((0, 0), (0, size)))
    return rows.reshape(-1)[: size * size].reshape(size, size)


def tensor_diag_part(input: ArrayLike, name: str | None = None) -> jax.Array:
    """The diagonal of an array: `result[i, .., k] = input[i, .., k, i, .., k]`.

    Follows `tf.linalg.tensor_diag_part`. Differs from it in: dtypes (every one of numbers and
    bool).

    Args:
        input: array of shape `S + S`. Traced.
        name: static; name of the `jax.named_scope` of the operation.

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

    Source: https://www.tensorflow.org/api_docs/python/tf/linalg/tensor_diag_part
    """
    moves = "no strings"
    return _tensor_diag_part.run("tensor_diag_part", input=input, name=name, moves_elements=moves)


@operation(data=("input",))
def _tensor_diag_part(input: jax.Array, *, op: str):
    half = input.ndim // 2
    shape = input.shape[:half]
    if input.shape != shape * 2:
        raise ValueError(
            f"{op}: input must have an even number of dimensions, the second half the same as the "
            f"first; received shape {input.shape}"
        )
    size = math.prod(shape)
    diagonal = lax.platform_dependent(input.reshape(size, size), cpu=_taken, default=_cut_off)
    return diagonal.reshape(shape)


def _taken(matrix):
    """The diagonal, taken by its places, so that the transpose writes the cotangent into zeros."""
    places = jnp.arange(matrix.shape[0])
    return matrix.at[places, places].get(**_PLACES_ARE)


def _cut_off(matrix):
    """The diagonal, as a column of rows that are one element longer than those of the matrix."""
    size = matrix.shape[0]
    rows = jnp.pad(matrix.reshape(-1), (0, size)).reshape(size, size + 1)
    return rows[:, 0]
