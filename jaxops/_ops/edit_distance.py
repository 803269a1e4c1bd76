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
        sequences = _sequences(one, shape, op, "hypothesis")
        others = _sequences(other, shape, op, "truth")
        distances = _distances(sequences, others).astype(np.float32)
        if normalize:
            # Two empty sequences have the distance 0.
            with np.errstate(divide="ignore"):
                np.divide(distances, others.lengths, out=distances, where=distances > 0)
        return jnp.asarray(distances.reshape(shape))


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


class _Sequences(NamedTuple):
    """`values[starts[n] : starts[n] + lengths[n]]` for each element `n` of the flat result."""

    values: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray

    def table(self, which: np.ndarray, length: int) -> np.ndarray:
        """Array `[length, len(which)]` of sequences; unspecified where they are shorter."""
        if not length:  # there may be no values to take
            return np.empty((0, len(which)), self.values.dtype)
        return self.values.take(self.starts[which] + np.arange(length)[:, None], mode="clip")


def _sequences(parts: Parts, shape: tuple[int, ...], op: str, arg: str) -> _Sequences:
    total, values, numbers = math.prod(shape), parts.values[:0], np.zeros(0, np.int64)
    if parts.count:
        places = parts.indices[:, :-1]
        outside = ((places < 0) | (places >= shape)).any(1)
        if outside.any():
            n = int(outside.argmax())
            raise ValueError(
                f"{op}: {arg}.indices must lie in the shape of the result, {shape}, but for the "
                f"last dimension; received {parts.indices[n].tolist()} at indices[{n}]"
            )
        numbers = np.asarray(np.ravel_multi_index(tuple(places.T), shape))
        order = np.argsort(numbers, kind="stable")
        values, numbers = parts.values[order], numbers[order]
    lengths = np.bincount(numbers, minlength=total)
    return _Sequences(values, np.cumsum(lengths) - lengths, lengths)


def _distances(sequences: _Sequences, others: _Sequences) -> np.ndarray:
    """All distances, of many pairs at a time: NumPy's calls cost more than a pair's elements."""
    longest = np.maximum(sequences.lengths, others.lengths)
    distances, start = np.zeros(longest.shape, np.int64), 0
    pairs = np.argsort(-longest, kind="stable")[: np.count_nonzero(longest)]
    while start < len(pairs):  # neighbours have about the same lengths
        count = max(1, _ELEMENTS // int(longest[pairs[start]] + 1))
        some = pairs[start : start + count]
        some = some[np.argsort(-sequences.lengths[some], kind="stable")]
        distances[some] = _distances_of(sequences, others, some)
        start += count
    return distances


def _distances_of(sequences: _Sequences, others: _Sequences, pairs: np.ndarray) -> np.ndarray:
    """By rows of tables whose element `[i, j]` is the distance of `x[:i]` and `y[:j]`.

    A pair is a column of `row`. The longer `x` come first, so that those left over are a slice.
    """
    lengths, ends = sequences.lengths[pairs], others.lengths[pairs]
    x, y = sequences.table(pairs, int(lengths.max())), others.table(pairs, int(ends.max()))
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
