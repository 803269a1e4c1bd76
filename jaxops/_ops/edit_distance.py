"""edit_distance: how many edits make one sequence of another, on the host."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxops._ops.sparse_tensor import Parts, parts_of
from jaxops._run import arguments, on_host
from jaxops._run.dispatch import given_name
from jaxops._run.static_values import check_addressable, check_bool, refuse_traced

# Words of 64 bits in the columns that are computed at a time: their data fit into a cache.
_WORDS = 1 << 11
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
        # NumPy refuses a shape with a 0 as well if the product of its other dimensions overflows.
        factors = [dim or 1 for dim in shape]
        check_addressable(factors, np.float32, shape, op, "dense_shape")
        numbers = _numbers(one, shape, op, "hypothesis"), _numbers(other, shape, op, "truth")
        result = np.zeros(math.prod(shape), np.float32)
        result[numbers[0]] = result[numbers[1]] = 1
        pairs = result.nonzero()[0]  # of the others both are empty, with the distance 0
        hypotheses = _sequences(one.values, numbers[0], pairs)
        truths = _sequences(other.values, numbers[1], pairs)
        with np.errstate(divide="ignore"):
            distances = _distances(hypotheses, truths).astype(np.float32)
            result[pairs] = distances / truths.lengths if normalize else distances
        return arguments.to_operand(result.reshape(shape), op, "the result")


def _known_parts(x: Any, op: str, arg: str) -> Parts:
    """The parts with NumPy arrays, which the host can look at."""
    parts, name = parts_of(x, op, arg), f"{arg}.values"
    refuse_traced(parts.indices, op, f"{arg}.indices", _HINT)
    refuse_traced(parts.values, op, name, _HINT)
    indices = on_host.concrete_integers(parts.indices, op, f"{arg}.indices")
    values: Any
    if arguments.is_host_string(parts.values):
        values = arguments.as_bytes(arguments.to_host_strings(parts.values, op, name))
    else:
        values = on_host.concrete(parts.values, op, name)
        arguments.check_numeric_or_bool(values.dtype, op, name, parts.values)
        values = arguments.in_jax_dtype(values, op, name)
    return parts._replace(indices=indices, values=values)


def _with_numbers(*both: Parts) -> list[Parts]:
    """The parts with a number for each string, as NumPy compares numbers faster."""
    number_of: dict[bytes, int] = {}
    numbers = [[number_of.setdefault(v, len(number_of)) for v in x.values.tolist()] for x in both]
    return [x._replace(values=np.array(n, np.int32)) for x, n in zip(both, numbers, strict=True)]


def _numbers(parts: Parts, shape: tuple[int, ...], op: str, arg: str) -> np.ndarray:
    """The number of the sequence that each value belongs to, in the flat result."""
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

    def table(self, firsts: np.ndarray, size: int) -> np.ndarray:
        """A row of `size` values from each of `firsts` on; unspecified beyond a sequence."""
        if not self.values.size:
            return np.zeros((len(firsts), size), self.values.dtype)
        return self.values.take(firsts[:, None] + np.arange(size), mode="clip")


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
        pairs = pairs[np.argsort(-hypotheses.lengths[pairs], kind="stable")]
        distances[pairs] = _distances_of(hypotheses, truths, pairs)
        start += len(pairs)
    return distances


def _distances_of(hypotheses: _Sequences, truths: _Sequences, pairs: np.ndarray) -> np.ndarray:
    """The distances of the `pairs`, of which those with the longer hypotheses come first.

    By the algorithm of Myers (1999), of the table whose element `[i, j]` is the distance of `x[:j]`
    and `y[:i]`. Neighbours in it differ by 1 at most, so a column is two ints of Python: bit `i` of
    `rises` is set where element `i + 1` is greater by 1 than element `i`, that of `falls` where it
    is less. Each pair has a field of bits there, and at least one to spare, where a carry ends. All
    `x` end with the same column: pairs with a shorter one begin later, and add their fields above.
    """
    lengths, ends = hypotheses.lengths[pairs], truths.lengths[pairs]
    longest, num_bytes = int(lengths.max()), int(ends.max()) // 8 + 1
    x = hypotheses.table(hypotheses.starts[pairs] + lengths - longest, longest)
    y = truths.table(truths.starts[pairs], 8 * num_bytes)
    of_y = np.packbits(np.arange(8 * num_bytes) < ends[:, None], axis=1, bitorder="little")
    first = ((1 << y.size) - 1) // ((1 << 8 * num_bytes) - 1)  # the first bit of each field
    begun = np.searchsorted(-lengths, np.arange(-longest, 0), "right").tolist()
    ones = rises = falls = num_fields = 0
    for equal, count in zip(_equal(x, y), begun, strict=True):
        if count > num_fields:
            added = _to_int(of_y[num_fields:count]) << num_fields * y.shape[1]
            ones, rises, num_fields = ones | added, rises | added, count
        equal &= ones
        falls_or_equal = falls | equal
        same = (((equal & rises) + rises) ^ rises) | equal
        rises_along = (falls | (ones ^ (same | rises))) << 1 | first
        falls_along = (rises & same) << 1
        rises = (falls_along | (ones ^ (falls_or_equal | rises_along))) & ones
        falls = rises_along & falls_or_equal
    both = rises.to_bytes(of_y.size, "little") + falls.to_bytes(of_y.size, "little")
    counts = np.bitwise_count(np.frombuffer(both, np.uint8)).reshape(2, *of_y.shape)
    up, down = counts.sum(-1, dtype=np.int64)
    return np.where(lengths > 0, lengths + up - down, ends)


def _to_int(fields: np.ndarray) -> int:
    return int.from_bytes(fields.tobytes(), "little")


def _equal(x: np.ndarray, y: np.ndarray) -> Iterator[int]:
    """For each column of `x` the bits that say which elements of `y` are equal to that of `x`."""
    step = max(1, 64 * _WORDS // y.size)
    for start in range(0, x.shape[1], step):
        equal = np.packbits(y == x.T[start : start + step, :, None], bitorder="little")
        yield from map(_to_int, equal.reshape(-1, y.size // 8))
