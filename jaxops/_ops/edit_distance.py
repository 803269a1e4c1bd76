"""edit_distance: how many edits make one sequence of another, on the host."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxops._ops.sparse_tensor import Parts, parts_of
from jaxops._run import arguments, on_host
from jaxops._run.arguments import check_bool, refuse_traced
from jaxops._run.dispatch import given_name

_WORDS = 1 << 11  # of the columns that are computed at a time: what they need fits into a cache
_MANY = 8  # pairs, of columns of one word, which NumPy computes faster together than Python each
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
    with on_host.named_scope(op, given_name(name, op)):
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
                f"received {one.values.dtype} and {other.values.dtype}; "
                "jaxops.cast converts the values of one"
            )
        if one.values.dtype == object:
            one, other = _with_numbers(one, other)
        shape = tuple(map(max, one.dense_shape, other.dense_shape))[:-1]
        numbers = _numbers(one, shape, op, "hypothesis"), _numbers(other, shape, op, "truth")
        result = np.zeros(math.prod(shape), np.float32)
        result[numbers[0]] = result[numbers[1]] = 1
        pairs = result.nonzero()[0]  # of the others both are empty, with the distance 0
        hypotheses = _sequences(one.values, numbers[0], pairs)
        truths = _sequences(other.values, numbers[1], pairs)
        with np.errstate(divide="ignore"):
            distances = _distances(hypotheses, truths).astype(np.float32)
            result[pairs] = distances / truths.lengths if normalize else distances
        return jnp.asarray(result.reshape(shape))


def _known_parts(x: Any, op: str, arg: str) -> Parts:
    """The parts with NumPy arrays, which the host can look at."""
    parts = parts_of(x, op, arg)
    refuse_traced(parts.indices, op, f"{arg}.indices", _HINT)
    refuse_traced(parts.values, op, f"{arg}.values", _HINT)
    indices = on_host.concrete_integers(parts.indices, op, f"{arg}.indices")
    if arguments.is_host_string(parts.values):
        values = arguments.to_host_strings(parts.values, op, f"{arg}.values")
        values = np.array([v.encode() if isinstance(v, str) else v for v in values.tolist()], "O")
    else:
        values = np.asarray(on_host.to_data(parts.values, op, f"{arg}.values"))
    return parts._replace(indices=indices, values=values)


def _with_numbers(*both: Parts) -> list[Parts]:
    """The parts with a number for each string, as NumPy compares numbers faster."""
    number_of: dict[bytes, int] = {}
    numbers = [[number_of.setdefault(v, len(number_of)) for v in x.values.tolist()] for x in both]
    return [x._replace(values=np.array(n, np.int32)) for x, n in zip(both, numbers, strict=True)]


def _numbers(parts: Parts, shape: tuple[int, ...], op: str, arg: str) -> np.ndarray:
    """The number of the sequence that each value belongs to, in the flat result."""
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

    def elements(self, pair: int) -> list[Any]:
        return self.values[self.starts[pair] :][: self.lengths[pair]].tolist()

    def table(self, pairs: np.ndarray, multiple: int = 1) -> np.ndarray:
        """A row for each sequence, a `multiple` long; unspecified where the sequence is shorter."""
        longest = -(-int(self.lengths[pairs].max()) // multiple) * multiple
        if not longest:  # there may be no values to take
            return np.empty((len(pairs), 0), self.values.dtype)
        return self.values.take(self.starts[pairs, None] + np.arange(longest), mode="clip")


def _sequences(values: np.ndarray, numbers: np.ndarray, pairs: np.ndarray) -> _Sequences:
    order = np.argsort(numbers, kind="stable")
    starts, ends = (np.searchsorted(numbers, pairs, side, order) for side in ("left", "right"))
    return _Sequences(values[order], starts, ends - starts)


def _distances(hypotheses: _Sequences, truths: _Sequences) -> np.ndarray:
    """The distances of all pairs, many at a time: a call of NumPy costs more than one pair."""
    longest = np.maximum(hypotheses.lengths, truths.lengths)
    distances, start = np.empty(longest.shape, np.int64), 0
    order = np.argsort(-longest, kind="stable")
    while start < len(order):  # neighbours have about the same lengths
        words = int(longest[order[start]]) // 64 + 1
        pairs = order[start : start + max(1, _WORDS // words)]
        if len(pairs) < _MANY * words:
            both = ((hypotheses.elements(n), truths.elements(n)) for n in pairs.tolist())
            distances[pairs] = [*itertools.starmap(_distance, both)]
        else:
            pairs = pairs[np.argsort(-hypotheses.lengths[pairs], kind="stable")]
            distances[pairs] = _distances_of(hypotheses, truths, pairs)
        start += len(pairs)
    return distances


def _next_column(equal, rises, falls, rise, fall, ones, last):
    """The next column of the table whose element `[i, j]` is the distance of `x[:j]` and `y[:i]`.

    By the algorithm of Myers (1999), as Hyyro (2003) has it for sequences of more than one word.
    Neighbours in the table differ by 1 at most, so a column is two words: bit `i` of `rises` is
    set where element `i + 1` is greater by 1 than element `i`, that of `falls` where it is less.

    Bit `i` of `equal` is set where `y[i]` is the next element of `x`. `rise` and `fall` are 1 where
    the element above the words is greater by 1, or less, in the next column than in this one; for
    the words below they are returned after `rises` and `falls` of the next column. `ones` is a word
    of all the bits, of which `last` is the number of the last.
    """
    falls_or_equal = falls | equal
    equal = equal | fall
    same = (((equal & rises) + rises & ones) ^ rises) | equal
    rises_along = falls | (ones ^ (same | rises))
    falls_along = rises & same
    below = rises_along >> last, falls_along >> last
    rises_along = (rises_along << 1 | rise) & ones
    falls_along = (falls_along << 1 | fall) & ones
    rises = falls_along | (ones ^ (falls_or_equal | rises_along))
    return rises, rises_along & falls_or_equal, *below


def _distance(x: list[Any], y: list[Any]) -> int:
    """The distance of one pair. A column is an int of Python, with a bit for each element."""
    places: dict[Any, int] = {}
    # `tolist` makes a new object of each NaN, and no NaN equals the key of another
    # (test_edit_distance.py, test_nan_equals_nothing_and_text_equals_its_bytes).
    for place, value in enumerate(y):
        places[value] = places.get(value, 0) | 1 << place
    ones = (1 << len(y)) - 1
    rises, falls = ones, 0
    for value in x:
        equal = places.get(value, 0)
        rises, falls, *_ = _next_column(equal, rises, falls, 1, 0, ones, len(y))
    return len(x) + rises.bit_count() - falls.bit_count()


def _distances_of(hypotheses: _Sequences, truths: _Sequences, pairs: np.ndarray) -> np.ndarray:
    """The distances of many pairs. Columns are words of 64 bits, `[number of words, pairs]`.

    The pairs with the longer `x` come first, so that those whose `x` is not at its end are a slice.
    """
    lengths, ends = hypotheses.lengths[pairs], truths.lengths[pairs]
    x, y = hypotheses.table(pairs), truths.table(pairs, 64)
    words = y.shape[1] // 64
    ones = 2**64 - 1
    rises = np.full((words, len(pairs)), ones, np.uint64)
    falls = np.zeros_like(rises)
    for n in range(x.shape[1]):
        left = int(np.count_nonzero(lengths > n))
        equal = np.packbits(y[:left] == x[:left, n, None], bitorder="little").view("<u8")
        rise: Any = 1
        fall: Any = 0
        for word, is_equal in enumerate(equal.reshape(left, words).T):
            rises[word, :left], falls[word, :left], rise, fall = _next_column(
                is_equal, rises[word, :left], falls[word, :left], rise, fall, ones, 63
            )
    in_word = np.clip(ends - 64 * np.arange(words)[:, None], 0, 64)
    of_y = np.uint64(ones) >> (64 - in_word).astype(np.uint64)  # the other bits are of no element
    counts = (np.bitwise_count(column & of_y).sum(0, dtype=np.int64) for column in (rises, falls))
    return lengths + next(counts) - next(counts)
