"""SparseTensor: elements and their places, of which each row may have another number."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.export import register_pytree_node_serialization

from jaxops._frames import without_frames
from jaxops._ops.shaping import shape_of
from jaxops._run.arguments import ArrayLike, Ints, brief, is_foreign, to_numpy
from jaxops._run.static_values import static_ints


@without_frames
@jax.tree_util.register_pytree_with_keys_class
@dataclasses.dataclass(frozen=True, eq=False)
class SparseTensor:
    """Some elements of an array, and their places in it.

    Follows `tf.SparseTensor`. Differs from it in: `dense_shape` is static; only functions that
    name it in their arguments take it. They take TensorFlow's too, and any object with these three
    attributes.

    A pytree, so it passes through `jit`, `vmap` and `scan` unless its values are strings.

    Args:
        indices: integer array of shape `[n, rank]`, the places of the values. Traced.
        values: array of shape `[n]`. Traced.
        dense_shape: static ints, as many as `rank`.

    Returns:
        An immutable object with the three as attributes. Of lists and NumPy arrays it holds copies
        that cannot be written.

    Raises:
        TypeError: wrong type of `dense_shape`, or a traced one.
        ValueError: shapes that do not fit each other.

    Gradient: passes from what is computed of `values` to them. None for `indices`.

    Example:
        >>> import jaxops
        >>> jaxops.SparseTensor([[0, 0], [1, 2]], [7, 8], (2, 3))
        SparseTensor(indices=array([[0, 0],
               [1, 2]]), values=array([7, 8]), dense_shape=(2, 3))

    Source: https://www.tensorflow.org/api_docs/python/tf/sparse/SparseTensor
    """

    indices: ArrayLike
    values: ArrayLike
    dense_shape: Ints

    def __post_init__(self):
        op = "SparseTensor"
        dims = static_ints(self.dense_shape, op, "dense_shape")
        indices, values = (_own(getattr(self, n), op, n) for n in ("indices", "values"))
        self._set(indices, values, dims)
        # Neither has a shape where it is an axis or a specification of an array.
        if all(isinstance(x, (jax.Array, np.ndarray)) for x in (indices, values)):
            _check_shapes(f"{op}: expected", indices.shape, values.shape, dims)

    def _set(self, indices: Any, values: Any, dense_shape: Any) -> None:
        object.__setattr__(self, "indices", indices)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "dense_shape", dense_shape)

    def tree_flatten_with_keys(self):
        key = jax.tree_util.GetAttrKey
        return ((key("indices"), self.indices), (key("values"), self.values)), self.dense_shape

    @classmethod
    def tree_unflatten(cls, dense_shape, children) -> SparseTensor:
        self = object.__new__(cls)  # unchecked: leaves need not be arrays
        indices, values = children
        self._set(indices, values, dense_shape)
        return self


register_pytree_node_serialization(
    SparseTensor,
    serialized_name="jaxops.SparseTensor",
    serialize_auxdata=lambda dense_shape: json.dumps(dense_shape).encode(),
    deserialize_auxdata=lambda stored: tuple(json.loads(stored)),
)


def _own(x: Any, op: str, arg: str) -> Any:
    """An array that changes of `x` do not reach; anything but an array and a list as it is."""
    if not isinstance(x, (list, tuple, np.ndarray)) and not is_foreign(x):
        return x
    array = to_numpy(x, op, arg)
    if isinstance(array, np.ndarray):
        array = array.copy()
        array.flags.writeable = False
    return array


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
    _check_shapes(f"{op}: {arg} must have", places, values, shape)
    return Parts(x.indices, x.values, shape, values[0])


def _check_shapes(words: str, indices: Any, values: Any, dense_shape: tuple[int, ...]) -> None:
    if len(values) != 1 or indices != (*values, len(dense_shape)):
        raise ValueError(
            f"{words} values of shape (n,), and indices of shape (n, {len(dense_shape)}) for "
            f"dense_shape {dense_shape}; received shapes {values} and {indices}"
        )
