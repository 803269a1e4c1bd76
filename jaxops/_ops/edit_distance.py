"""edit_distance: how many edits make one sequence of another, on the host."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxops._ops.sparse_tensor import Parts, parts_of
from jaxops._run import arguments, on_host
from jaxops._run.arguments import check_bool, refuse_traced

_HINT = "call it outside jit, vmap and grad, or by jax.pure_callback"


def edit_distance(
    hypothesis: Any,
    truth: Any,
    normalize: bool = True,
    name: str | None = "edit_distance",
) -> jax.Array:
    """The Levenshtein distances of sequences: the least numbers of edits between them.

    An edit inserts, deletes or replaces an element. The sequences lie along the last dimension of
    sparse tensors; each has the values of one index in the other dimensions, in their order.

    Follows `tf.edit_distance`. Differs from it in: runs on the host, at trace time under `jit`; a
    result may have no elements; values may stand in any order of sequences.

    Args:
        hypothesis: a `SparseTensor` of rank 2 or more, TensorFlow's, or any object with its
            attributes `indices`, `values` and `dense_shape`. Values are of any dtype, or host
            strings. Static.
        truth: another of the same rank, and dtype of values. Static.
        normalize: static bool; whether to divide by the length of the sequence of `truth`.
        name: static; name of the `jax.named_scope` of the operation.

    Returns:
        float32 array. Its shape is the larger of the two `dense_shape` in each dimension but the
        last. Two empty sequences have the distance 0; where only that of `truth` is empty the
        normalized distance is infinite.

    Raises:
        TypeError: wrong type of an argument; different dtypes of the values; traced arrays.
        ValueError: different ranks, or a rank below 2; an index outside the result's shape.

    Gradient: none.

    Example:
        >>> import jaxops
        >>> words = jaxops.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], (2, 2))
        >>> truth = jaxops.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "c", "c"], (2, 2))
        >>> jaxops.edit_distance(words, truth)
        Array([0.5, 0. ], dtype=float32)

    Source: https://www.tensorflow.org/api_docs/python/tf/edit_distance
    """
    op = "edit_distance"
    normalize = check_bool(normalize, op, "normalize")
    with on_host.named_scope(op, None if name == op else name):
        one = _known_parts(hypothesis, op, "hypothesis")
        other = _known_parts(truth, op, "truth")
        if len(one.dense_shape) != len(other.dense_shape) or len(one.dense_shape) < 2:
            raise ValueError(
                f"{op}: hypothesis and truth must have the same rank, at least 2; "
                f"received dense_shape {one.dense_shape} and {other.dense_shape}"
            )
        if one.values.dtype != other.values.dtype:
            raise TypeError(
                f"{op}: hypothesis and truth must have values of the same dtype; "
                f"received {one.values.dtype} and {other.values.dtype}"
            )
        shape = tuple(map(max, one.dense_shape, other.dense_shape))[:-1]
        sequences = _sequences(one, shape, op, "hypothesis")
        others = _sequences(other, shape, op, "truth")
        result = np.zeros(math.prod(shape), np.float32)
        for n in {*sequences, *others}:
            x, y = (s[n] if n in s else one.values[:0] for s in (sequences, others))
            with np.errstate(divide="ignore"):
                result[n] = np.float32(_distance(x, y)) / np.float32(len(y) if normalize else 1)
        return jnp.asarray(result.reshape(shape))


def _known_parts(x: Any, op: str, arg: str) -> Parts:
    """With NumPy arrays, which the host can look at."""
    parts = parts_of(x, op, arg)
    refuse_traced(parts.indices, op, f"{arg}.indices", _HINT)
    refuse_traced(parts.values, op, f"{arg}.values", _HINT)
    indices = arguments.to_numpy(parts.indices, op, f"{arg}.indices")
    arguments.check_integer(indices.dtype, op, f"{arg}.indices")
    if arguments.is_host_string(parts.values):
        values = arguments.to_host_strings(parts.values, op, f"{arg}.values")
        values = np.array([v.encode() if isinstance(v, str) else v for v in values.tolist()], "O")
    else:
        values = np.asarray(on_host.to_data(parts.values, op, f"{arg}.values"))
    return parts._replace(indices=np.asarray(indices), values=values)


def _sequences(parts: Parts, shape: tuple[int, ...], op: str, arg: str) -> dict[int, np.ndarray]:
    """The values of each sequence that has any, by its number in the flat result."""
    if not parts.count:
        return {}
    places = parts.indices[:, :-1]
    outside = ((places < 0) | (places >= shape)).any(1)
    if outside.any():
        n = int(outside.argmax())
        raise ValueError(
            f"{op}: {arg}.indices must lie in the shape of the result, {shape}, but for the last "
            f"dimension; received {parts.indices[n].tolist()} at indices[{n}]"
        )
    numbers = np.asarray(np.ravel_multi_index(tuple(places.T), shape))
    order = np.argsort(numbers, kind="stable")
    distinct, starts = np.unique(numbers[order], return_index=True)
    return dict(zip(distinct.tolist(), np.split(parts.values[order], starts[1:]), strict=True))


def _distance(x: np.ndarray, y: np.ndarray) -> int:
    """By rows of the table whose element `[i, j]` is the distance of `x[:i]` and `y[:j]`."""
    places: Any = np.arange(len(y) + 1)
    row = places
    for element in x:
        replaced = row[:-1] + (y != element)
        without_inserts = np.append(row[:1] + 1, np.minimum(row[1:] + 1, replaced))
        row = np.minimum.accumulate(without_inserts - places) + places
    return int(row[-1])
