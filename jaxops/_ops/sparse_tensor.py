"""SparseTensor: elements and their places, of which each row may have another number."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax

from jaxops._frames import without_frames
from jaxops._ops.shaping import shape_of
from jaxops._run.arguments import ArrayLike, Ints, brief, static_ints


@without_frames
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class SparseTensor:
    """Some elements of an array, and their places in it.

    Follows `tf.SparseTensor`. Differs from it in: `dense_shape` is static; only functions that
    name it in their arguments take it. They take TensorFlow's too, and any object with these three
    attributes.

    A pytree, so it passes through `jit`, `vmap` and `scan` if indices and values are arrays.

    Args:
        indices: integer array of shape `[n, rank]`, the places of the values. Traced.
        values: array of shape `[n]`. Traced.
        dense_shape: static ints, as many as `rank`.

    Returns:
        An immutable object with the three as attributes.

    Raises:
        TypeError: wrong type of `dense_shape`, or a traced one.

    Gradient: passes from what is computed of `values` to them. None for `indices`.

    Example:
        >>> import jaxops
        >>> jaxops.SparseTensor([[0, 0], [1, 2]], [7, 8], (2, 3))
        SparseTensor(indices=[[0, 0], [1, 2]], values=[7, 8], dense_shape=(2, 3))

    Source: https://www.tensorflow.org/api_docs/python/tf/sparse/SparseTensor
    """

    indices: ArrayLike
    values: ArrayLike
    dense_shape: Ints = dataclasses.field(metadata={"static": True})

    def __post_init__(self):
        dims = static_ints(self.dense_shape, "SparseTensor", "dense_shape")
        object.__setattr__(self, "dense_shape", dims)


class Parts(NamedTuple):
    """The parts of a sparse tensor, as functions of sparse tensors need them."""

    indices: Any  # as given: `run` makes the arrays
    values: Any
    dense_shape: tuple[int, ...]
    count: int  # of the values


def parts_of(x: Any, op: str, arg: str) -> Parts:
    """The parts of anything that has them by TensorFlow's names; shapes are looked at."""
    if not all(hasattr(x, name) for name in ("indices", "values", "dense_shape")):
        raise TypeError(
            f"{op}: {arg} must be a SparseTensor, with indices, values and dense_shape; "
            f"received {brief(x)}"
        )
    shape = static_ints(x.dense_shape, op, f"{arg}.dense_shape")
    if any(dim < 0 for dim in shape):
        raise ValueError(f"{op}: {arg}.dense_shape must not be negative; received {shape}")
    places, values = (shape_of(getattr(x, n), op, f"{arg}.{n}") for n in ("indices", "values"))
    if len(values) != 1 or places != (*values, len(shape)):
        raise ValueError(
            f"{op}: {arg} must have values of shape (n,), and indices of shape "
            f"(n, {len(shape)}) for its dense_shape {shape}; "
            f"received shapes {values} and {places}"
        )
    return Parts(x.indices, x.values, shape, values[0])
