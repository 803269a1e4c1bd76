"""Softmax, log of the sum of exponentials, mean and variance of rows that share a number."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _symbolic
from jaxops._indexing import canonical, index_dtypes, masks, policy
from jaxops._indexing.dimension_numbers import ROWS
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import SegmentIds, SegmentIdsOrNone
from jaxops._ops import sums
from jaxops._ops.unsorted_segments import averaged, check_choice, check_segments, spec_of
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.dispatch import operation
from jaxops._run.static_values import static_dim


def segment_softmax(
    logits: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Int,
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
) -> jax.Array:
    """The softmax of `logits` within each segment: attention over the edges of a node.

    Follows `jraph.segment_softmax`, and within a segment `jax.nn.softmax`. Differs from them in: a
    segment that holds nothing but -inf, such as one of padding, gets 0, where they give NaN; floats
    of 8 and 16 bits are added in float32; `num_segments` must be given; bounds (see `mode`).

    Args:
        logits: array of shape `segment_ids.shape + C`, any dtype of floats. Traced.
        segment_ids: integer array of any shape and order; numbers below `num_segments`. Traced.
        num_segments: static int, 0 or more.
        mode: static; what a number of `num_segments` or more does, as in `unsorted_segment_sum`. A
            slice that is dropped, or has a negative number, gets 0.
        padding_index: static int or None, as in `unsorted_segment_sum`.

    Returns:
        Array of the shape and dtype of `logits`, whose elements have the sum 1 in each segment and
        each place of `C`; 0 for -inf.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `unsorted_segment_sum`.

    Gradient: that of a softmax within each segment, of every order; 0 for -inf, and for a slice
    that is dropped. None for `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.segment_softmax([0.0, 5.0, 0.0, float("-inf")], [0, 1, 0, 2], 3)
        Array([0.5, 1. , 0.5, 0. ], dtype=float32)

    Source: https://jraph.readthedocs.io/en/latest/api.html
    """
    op, given = "segment_softmax", {"logits": logits, "segment_ids": segment_ids}
    return _run(op, _segment_softmax, given, num_segments, name, mode, padding_index)


def segment_logsumexp(
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Int,
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
) -> jax.Array:
    """The log of the sum of the exponentials of the slices of `data` in each segment.

    Follows `jax.nn.logsumexp` within each segment, without overflow. Differs from it in: floats of
    8 and 16 bits are added in float32; no gradient is NaN where a segment holds nothing but -inf.

    Args:
        data: array of shape `segment_ids.shape + C`, any dtype of floats. Traced.
        segment_ids: integer array of any shape and order; numbers below `num_segments`. Slices with
            a negative one are dropped, in every `mode` but `"error"`. Traced.
        num_segments: static int, 0 or more.
        mode: static; what a number of `num_segments` or more does, as in `unsorted_segment_sum`.
        padding_index: static int or None, as in `unsorted_segment_sum`.

    Returns:
        Array of shape `[num_segments] + C` and dtype of `data`; -inf for a segment without slices,
        or with nothing but -inf.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `unsorted_segment_sum`.

    Gradient: the cotangent of its segment for each slice, times its softmax there; 0 for -inf, and
    for a slice that is dropped. None for `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.segment_logsumexp([1000.0, 2.0, 1000.0], [0, 1, 0], 3)
        Array([1000.6932,    2.    ,      -inf], dtype=float32)

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.nn.logsumexp.html
    """
    op, given = "segment_logsumexp", {"data": data, "segment_ids": segment_ids}
    return _run(op, _segment_logsumexp, given, num_segments, name, mode, padding_index)


def segment_moments(
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Int,
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
) -> tuple[jax.Array, jax.Array]:
    """The mean and the variance of the slices of `data` in each segment.

    Follows `tf.nn.moments` within each segment. Differs from it in: floats of 8 and 16 bits are
    added in float32. The sums are those of distances, so a large mean takes no digits from them.
    The distances are from the rounded mean: of float32 `[1e8, 1e8 + 8]` the variance is 32, as in
    TensorFlow, and not 16.

    Args:
        data: array of shape `segment_ids.shape + C`, any dtype of floats. Traced.
        segment_ids: integer array of any shape and order; numbers below `num_segments`. Slices with
            a negative one are dropped, in every `mode` but `"error"`. Traced.
        num_segments: static int, 0 or more.
        mode: static; what a number of `num_segments` or more does, as in `unsorted_segment_sum`.
        padding_index: static int or None, as in `unsorted_segment_sum`.

    Returns:
        Two arrays of shape `[num_segments] + C` and dtype of `data`: the means, and the mean
        squares of the distances from them; 0 for a segment without slices.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `unsorted_segment_sum`.

    Gradient: of a mean its cotangent, divided by the number of slices; of a variance besides times
    twice the distance from the mean; 0 for a slice that is dropped. None for `segment_ids`.

    Example:
        >>> import jaxops
        >>> mean, variance = jaxops.segment_moments([1.0, 5.0, 3.0, 7.0], [0, 2, 0, 2], 3)
        >>> mean
        Array([2., 0., 6.], dtype=float32)
        >>> variance
        Array([1., 0., 1.], dtype=float32)

    Source: https://www.tensorflow.org/api_docs/python/tf/nn/moments
    """
    op, given = "segment_moments", {"data": data, "segment_ids": segment_ids}
    return _run(op, _segment_moments, given, num_segments, name, mode, padding_index)


def _run(op, statistic, given, num_segments, name, mode, padding_index) -> Any:
    num_segments = static_dim(num_segments, op, "num_segments")
    return statistic.run(
        op,
        **given,
        name=name,
        mode=mode,
        padding_index=padding_index,
        indexed=(num_segments,),
        num_segments=num_segments,
    )


class _Segments(NamedTuple):
    """The segment of each row: reduces rows to segments, and reads the values of segments for rows.

    Results have one segment more, the last, to which nothing is written, and which a row of no
    segment reads: its number lies behind that one. So bounds are looked at once, and no element is
    masked, around which XLA's CPU compiler makes loops of single elements.
    """

    op: str
    number: int  # with the last one
    ids: jax.Array

    @property
    def spec(self) -> SegmentIds:
        return SegmentIds(self.op, limits=(self.number,))

    def reduce(self, kind: str, initial: float, rows: jax.Array) -> jax.Array:
        shape = (self.number, *rows.shape[self.ids.ndim - 1 :])
        mode = "promise_in_bounds"  # a scatter skips numbers that lie behind
        return canonical.reduce(kind, initial, shape, self.ids, rows, ROWS, self.spec, mode=mode)

    def of_rows(self, values: jax.Array) -> jax.Array:
        (last,) = _symbolic.numbers([self.number - 1], self.ids.dtype)
        ids = jnp.minimum(self.ids, last)
        return canonical.gather(values, ids, ROWS, self.spec, mode="promise_in_bounds")

    def without_last(self, values: jax.Array) -> jax.Array:
        return canonical.without_padding(values, (self.number - 1, *values.shape[1:]))


def _rows_of(
    op: str,
    arg: str,
    rows: jax.Array,
    segment_ids: jax.Array,
    num_segments: int,
    mode: str,
    padding_index: int | None,
) -> tuple[jax.Array, _Segments]:
    """The rows in the dtype of their sums, and their segments, whose numbers are checked."""
    check_segments(op, arg, rows, segment_ids, num_segments)
    if not jnp.issubdtype(rows.dtype, jnp.floating):
        raise TypeError(f"{op}: {arg} must have a dtype of floats; received {rows.dtype}")
    check_choice(op, mode, segment_ids, num_segments)
    spec = spec_of(op, mode, num_segments, padding_index)
    ids, valid = policy.resolve(spec, segment_ids[..., None], mode)
    ids = index_dtypes.widen_to_count(ids, (num_segments + 1,), op)
    if valid is not None:
        (none,) = _symbolic.numbers([num_segments + 1], ids.dtype)
        ids = jnp.where(valid[..., None], ids, none)
    return rows.astype(sums.wide(rows.dtype)), _Segments(op, num_segments + 1, ids)


def _exponentials(rows: jax.Array, segments: _Segments) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The exponentials of the rows, their sums by segment, and the maxima of the segments.

    Each exponential is that of a row less the maximum of its segment, so that none overflows.
    A segment without any row above -inf has the maximum -inf, exponentials of 0 and the sum 1,
    so that neither a quotient nor a logarithm has a slope that is not finite.
    """
    zero, one, least = map(rows.dtype.type, (0, 1, -np.inf))
    maxima = segments.reduce("max", least, lax.stop_gradient(rows))
    # A maximum of inf becomes 0 here, as inf - inf is NaN (test_segment_statistics.py,
    # test_other_infinities_and_nan_stay_in_their_segments).
    maxima = masks.where(maxima == np.inf, zero, maxima)
    of_rows = segments.of_rows(maxima)
    exponentials = jnp.exp(masks.where(of_rows == least, least, rows - of_rows))
    totals = segments.reduce("add", 0, exponentials)
    return exponentials, masks.where(maxima == least, one, totals), maxima


@operation(data=("logits",), indices=("segment_ids",))
def _segment_softmax(
    logits: jax.Array, segment_ids: jax.Array, *, op: str, num_segments: int, **bounds
) -> jax.Array:
    rows, segments = _rows_of(op, "logits", logits, segment_ids, num_segments, **bounds)
    exponentials, totals, _ = _exponentials(rows, segments)
    return (exponentials / segments.of_rows(totals)).astype(logits.dtype)


@operation(data=("data",), indices=("segment_ids",))
def _segment_logsumexp(
    data: jax.Array, segment_ids: jax.Array, *, op: str, num_segments: int, **bounds
) -> jax.Array:
    rows, segments = _rows_of(op, "data", data, segment_ids, num_segments, **bounds)
    _, totals, maxima = _exponentials(rows, segments)
    return segments.without_last(jnp.log(totals) + maxima).astype(data.dtype)


@operation(data=("data",), indices=("segment_ids",))
def _segment_moments(
    data: jax.Array, segment_ids: jax.Array, *, op: str, num_segments: int, **bounds
) -> tuple[jax.Array, jax.Array]:
    """The distances are those from one of the rows first, then from the mean that they give.

    A sum of rows loses digits: of 10,000 rows with mean 10,000 and variance 1 it makes a float32
    mean that is wrong by 1. Neither result depends on the point that distances are from, so
    derivatives leave it out; of second order is the square of a step, which is 0.
    """
    rows, segments = _rows_of(op, "data", data, segment_ids, num_segments, **bounds)
    counts = segments.reduce("add", 0, jnp.ones(segment_ids.shape, jnp.int32))
    counts = jnp.maximum(counts, 1)
    zero, least = map(rows.dtype.type, (0, -np.inf))

    def mean_distance(center, power):
        of_rows = segments.of_rows(center)
        # A row of no segment may be infinite, and so would be the slope of its square
        # (test_segment_statistics.py, test_dropped_rows_count_for_nothing).
        distances = masks.where(of_rows == least, zero, rows - of_rows) ** power
        return averaged("mean", segments.reduce("add", 0, distances), counts, rows.dtype)

    center = _a_row_of_each(lax.stop_gradient(rows), segments)  # -inf where there is none
    # The mean of the distances from one row keeps its digits if the mean of the rows is large, and
    # if that row lies far from the others (test_segment_statistics.py,
    # test_moments_with_a_large_mean, test_moments_with_a_row_that_lies_far_from_the_others).
    step = mean_distance(center, 1)
    mean = center + step
    variance = mean_distance(lax.stop_gradient(mean), 2) - (step - lax.stop_gradient(step)) ** 2
    is_empty = center == least
    results = (masks.where(is_empty, zero, y) for y in (mean, variance))
    mean, variance = (segments.without_last(y).astype(data.dtype) for y in results)
    return mean, variance


def _a_row_of_each(rows: jax.Array, segments: _Segments) -> jax.Array:
    """A row of each segment, with 0 for infinities and NaN; -inf for a segment without rows."""
    shape = segments.ids.shape[:-1]
    size = math.prod(shape)
    last = segments.reduce("max", -1, jnp.arange(size, dtype=jnp.int32).reshape(shape))
    found = canonical.gather(
        rows.reshape(size, *rows.shape[len(shape) :]),
        last[:, None],
        ROWS,
        SegmentIdsOrNone(segments.op, limits=(size,)),  # -1 is no row
        mode="promise_in_bounds",
    )
    is_empty = (last < 0).reshape(-1, *(1,) * (found.ndim - 1))
    return jnp.where(is_empty, -jnp.inf, jnp.where(jnp.isfinite(found), found, 0))
