"""edit_distance: how many edits make one sequence of another, on the host."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxops._ops.sparse_tensor import Parts, parts_of
from jaxops._run import arguments, on_host
from jaxops._run.arguments import check_bool, refuse_traced

_ELEMENTS = 1 << 16  # of the tables that are computed at a time: they fit into a cache
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
        numbers = _numbers(one, shape, op, "hypothesis"), _numbers(other, shape, op, "truth")
        pairs = np.union1d(*numbers)  # of the others both are empty, with the distance 0
        hypotheses = _sequences(one.values, numbers[0], pairs)
        truths = _sequences(other.values, numbers[1], pairs)
        result = np.zeros(math.prod(shape), np.float32)
        with np.errstate(divide="ignore"):
            distances = _distances(hypotheses, truths).astype(np.float32)
            result[pairs] = distances / truths.lengths if normalize else distances
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


def _numbers(parts: Parts, shape: tuple[int, ...], op: str, arg: str) -> np.ndarray:
    """For each value the number of its sequence, in the flat result."""
    if not parts.count:
        return np.zeros(0, np.int64)
    places = parts.indices[:, :-1]
    outside = ((places < 0) | (places >= shape)).any(1)
    if outside.any():
        n = int(outside.argmax())
        raise ValueError(
            f"{op}: {arg}.indices must lie in the shape of the result, {shape}, but for the last "
            f"dimension; received {parts.indices[n].tolist()} at indices[{n}]"
        )
    return np.asarray(np.ravel_multi_index(tuple(places.T), shape))


class _Sequences(NamedTuple):
    """`values[starts[n] : starts[n] + lengths[n]]` for each pair `n`."""

    values: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray

    def table(self, pairs: np.ndarray, length: int) -> np.ndarray:
        """Array `[length, len(pairs)]` of sequences; unspecified where they are shorter."""
        if not length:  # there may be no values to take
            return np.empty((0, len(pairs)), self.values.dtype)
        return self.values.take(self.starts[pairs] + np.arange(length)[:, None], mode="clip")


def _sequences(values: np.ndarray, numbers: np.ndarray, pairs: np.ndarray) -> _Sequences:
    order = np.argsort(numbers, kind="stable")
    starts, ends = (np.searchsorted(numbers, pairs, side, order) for side in ("left", "right"))
    return _Sequences(values[order], starts, ends - starts)


def _distances(hypotheses: _Sequences, truths: _Sequences) -> np.ndarray:
    """Of many pairs at a time: a call of NumPy costs more than the elements of one pair."""
    longest = np.maximum(hypotheses.lengths, truths.lengths)
    distances, start = np.empty(longest.shape, np.int64), 0
    order = np.argsort(-longest, kind="stable")
    while start < len(order):  # neighbours have about the same lengths
        count = max(1, _ELEMENTS // int(longest[order[start]] + 1))
        pairs = order[start : start + count]
        pairs = pairs[np.argsort(-hypotheses.lengths[pairs], kind="stable")]
        distances[pairs] = _distances_of(hypotheses, truths, pairs)
        start += count
    return distances


def _distances_of(hypotheses: _Sequences, truths: _Sequences, pairs: np.ndarray) -> np.ndarray:
    """By rows of tables whose element `[i, j]` is the distance of `x[:i]` and `y[:j]`.

    A pair is a column of `row`. The pairs with the longer `x` come first, so that those whose `x`
    is not at its end are a slice.
    """
    lengths, ends = hypotheses.lengths[pairs], truths.lengths[pairs]
    x, y = hypotheses.table(pairs, int(lengths.max())), truths.table(pairs, int(ends.max()))
    places = np.arange(len(y) + 1, dtype=np.int32)[:, None]
    row = np.tile(places, len(pairs))
    for n in range(len(x)):
        left = int(np.count_nonzero(lengths > n))
        above = row[:, :left]
        row[1:, :left] = np.minimum(above[1:] + 1, above[:-1] + (y[:, :left] != x[n, :left]))
        row[0, :left] += 1
        # An insert takes the element to the left and adds 1.
        row[:, :left] = np.minimum.accumulate(row[:, :left] - places) + places
    return row[ends, np.arange(len(pairs))]
