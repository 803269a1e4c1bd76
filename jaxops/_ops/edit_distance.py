"""edit_distance: how many edits make one sequence of another, on the host."""

from __future__ import annotations

import math
from typing import Any

import jax
import numpy as np

from jaxops._ops.sparse_tensor import Parts, parts_of
from jaxops._run import arguments, on_host
from jaxops._run.arguments import check_bool, refuse_traced
from jaxops._run.dispatch import given_name

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
        shape = tuple(map(max, one.dense_shape, other.dense_shape))[:-1]
        hypotheses = _sequences(one, shape, op, "hypothesis")
        truths = _sequences(other, shape, op, "truth")
        result = np.zeros(math.prod(shape), np.float32)
        for n in hypotheses.keys() | truths.keys():  # of the others both are empty
            x, y = hypotheses.get(n, []), truths.get(n, [])
            length = len(y) if normalize else 1
            result[n] = _distance(x, y) / length if length else np.inf
        return arguments.to_operand(result.reshape(shape), op, "the result")


def _known_parts(x: Any, op: str, arg: str) -> Parts:
    """The parts with NumPy arrays, which the host can look at."""
    parts, name = parts_of(x, op, arg), f"{arg}.values"
    refuse_traced(parts.indices, op, f"{arg}.indices", _HINT)
    refuse_traced(parts.values, op, name, _HINT)
    indices = on_host.concrete_integers(parts.indices, op, f"{arg}.indices")
    values: Any
    if arguments.is_host_string(parts.values):
        values = arguments.to_host_strings(parts.values, op, name)
        # Of bytes without dtype "O" NumPy drops null characters at the end (test_edit_distance.py,
        # test_text_that_ends_with_a_null_character_is_another_text).
        values = np.array([v.encode() if isinstance(v, str) else v for v in values.tolist()], "O")
    else:
        values = on_host.concrete(parts.values, op, name)
        arguments.check_numeric_or_bool(values.dtype, op, name, parts.values)
        values = arguments.in_jax_dtype(values, op, name)
    return parts._replace(indices=indices, values=values)


def _sequences(parts: Parts, shape: tuple[int, ...], op: str, arg: str) -> dict[int, list[Any]]:
    """The sequences that have values, by their numbers in the flat result."""
    places = parts.indices[:, :-1]
    outside = ((places < 0) | (places >= shape)).any(1)
    if outside.any():
        n = int(outside.argmax())
        raise ValueError(
            f"{op}: {arg}.indices must lie in the shape of the result, {shape}, but for the last "
            f"dimension; received {parts.indices[n].tolist()} at indices[{n}]"
        )
    sequences: dict[int, list[Any]] = {}
    if parts.count:  # `ravel_multi_index` refuses empty shapes
        numbers = np.ravel_multi_index(tuple(places.T), shape)
        for number, value in zip(numbers.tolist(), parts.values.tolist(), strict=True):
            sequences.setdefault(number, []).append(value)
    return sequences


def _distance(x: list[Any], y: list[Any]) -> int:
    """The distance of two sequences, by the algorithm of Myers (1999).

    It has a table whose element `[i, j]` is the distance of `x[:j]` and `y[:i]`. Neighbours in it
    differ by 1 at most, so a column is two ints: bit `i` of `rises` is set where element `i + 1` is
    greater by 1 than element `i`, that of `falls` where it is less.
    """
    places: dict[Any, int] = {}
    for n, value in enumerate(y):
        places[value] = places.get(value, 0) | 1 << n
    ones = rises = (1 << len(y)) - 1
    falls = 0
    for value in x:
        equal = places.get(value, 0)
        falls_or_equal = falls | equal
        same = (((equal & rises) + rises) ^ rises) | equal
        rises_along = (falls | (ones ^ (same | rises))) << 1 | 1
        falls_along = (rises & same) << 1
        rises = (falls_along | (ones ^ (falls_or_equal | rises_along))) & ones
        falls = rises_along & falls_or_equal
    return len(x) + rises.bit_count() - falls.bit_count()
