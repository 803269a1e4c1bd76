"""Softmax, log of the sum of exponentials, mean and variance of rows that share a number."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops._indexing import canonical
from jaxops._indexing.dimension_numbers import Windows
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import SegmentIdsOrNone
from jaxops._ops import sums
from jaxops._ops.unsorted_segments import averaged, check_segments, spec_of
from jaxops._run.arguments import ArrayLike, Int, static_dim
from jaxops._run.dispatch import operation

_ROWS = Windows(axes=(0,), batch_dims=0)


def segment_softmax(
    logits: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Int,
    name: str | None = None,
    *,
    mode: Mode = "device",
) -> jax.Array:
    """The softmax of `logits` within each segment: attention over the edges of a node.

    Follows `jraph.segment_softmax`, and within a segment `jax.nn.softmax`. Differs from them in: a
    segment that holds nothing but -inf, such as one of padding, gets 0, where they give NaN; floats
    of 8 and 16 bits are added in float32; `num_segments` must be given; bounds (see `mode`).

    Args:
        logits: array of shape `segment_ids.shape + C`, any dtype of floats. Traced.
        segment_ids: integer array of any shape and order; numbers below `num_segments`. Traced.
        num_segments: static int, 0 or more.
        name: static; name of the `jax.named_scope` of the operation.
        mode: static; what a number of `num_segments` or more does, as in `unsorted_segment_sum`. A
            slice that is dropped, or has a negative number, gets 0.

    Returns:
        Array of the shape and dtype of `logits`, whose elements have the sum 1 in each segment and
        each place of `C`; 0 for -inf.

    Raises:
        OutOfBoundsError: as `unsorted_segment_sum`.
        TypeError: wrong dtype or type of an argument.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: that of a softmax within each segment, of every order; 0 for -inf, and for a slice
    that is dropped. None for `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.segment_softmax([0.0, 5.0, 0.0, float("-inf")], [0, 1, 0, 2], 3)
        Array([0.5, 1. , 0.5, 0. ], dtype=float32)

    Source: https://jraph.readthedocs.io/en/latest/api.html
    """
    return _segment_softmax.run(
        "segment_softmax",
        logits=logits,
        segment_ids=segment_ids,
        name=name,
        mode=mode,
        **_static(num_segments, "segment_softmax"),
    )


def segment_logsumexp(
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Int,
    name: str | None = None,
    *,
    mode: Mode = "device",
) -> jax.Array:
    """The log of the sum of the exponentials of the slices of `data` in each segment.

    Follows `jax.nn.logsumexp` within each segment, without overflow. Differs from it in: floats of
    8 and 16 bits are added in float32; no gradient is NaN where a segment holds nothing but -inf.

    Args:
        data: array of shape `segment_ids.shape + C`, any dtype of floats. Traced.
        segment_ids: integer array of any shape and order; numbers below `num_segments`. Slices with
            a negative one are dropped, in every `mode` but `"error"`. Traced.
        num_segments: static int, 0 or more.
        name: static; name of the `jax.named_scope` of the operation.
        mode: static; what a number of `num_segments` or more does, as in `unsorted_segment_sum`.

    Returns:
        Array of shape `[num_segments] + C` and dtype of `data`; -inf for a segment without slices,
        or with nothing but -inf.

    Raises:
        OutOfBoundsError: as `unsorted_segment_sum`.
        TypeError: wrong dtype or type of an argument.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: the cotangent of its segment for each slice, times its softmax there; 0 for -inf, and
    for a slice that is dropped. None for `segment_ids`.

    Example:
        >>> import jaxops
        >>> jaxops.segment_logsumexp([1000.0, 2.0, 1000.0], [0, 1, 0], 3)
        Array([1000.6931,    2.    ,     -inf], dtype=float32)

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.nn.logsumexp.html
    """
    return _segment_logsumexp.run(
        "segment_logsumexp",
        data=data,
        segment_ids=segment_ids,
        name=name,
        mode=mode,
        **_static(num_segments, "segment_logsumexp"),
    )


def segment_moments(
    data: ArrayLike,
    segment_ids: ArrayLike,
    num_segments: Int,
    name: str | None = None,
    *,
    mode: Mode = "device",
) -> tuple[jax.Array, jax.Array]:
    """The mean and the variance of the slices of `data` in each segment.

    Follows `tf.nn.moments` within each segment. Differs from it in: floats of 8 and 16 bits are
    added in float32. The sums are those of distances, so a large mean takes no digits from them.

    Args:
        data: array of shape `segment_ids.shape + C`, any dtype of floats. Traced.
        segment_ids: integer array of any shape and order; numbers below `num_segments`. Slices with
            a negative one are dropped, in every `mode` but `"error"`. Traced.
        num_segments: static int, 0 or more.
        name: static; name of the `jax.named_scope` of the operation.
        mode: static; what a number of `num_segments` or more does, as in `unsorted_segment_sum`.

    Returns:
        Two arrays of shape `[num_segments] + C` and dtype of `data`: the means, and the mean
        squares of the distances from them; 0 for a segment without slices.

    Raises:
        OutOfBoundsError: as `unsorted_segment_sum`.
        TypeError: wrong dtype or type of an argument.
        ValueError: wrong rank, shape or value of an argument.

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
    return _segment_moments.run(
        "segment_moments",
        data=data,
        segment_ids=segment_ids,
        name=name,
        mode=mode,
        **_static(num_segments, "segment_moments"),
    )


def _static(num_segments: Int, op: str) -> dict[str, Any]:
    num_segments = static_dim(num_segments, op, "num_segments")
    return {"indexed": (num_segments,), "num_segments": num_segments}


class _Segments(NamedTuple):
    """Which row belongs to which segment: sums over rows, and values of segments for rows."""

    op: str
    ids: jax.Array
    number: int
    mode: str

    def reduce(self, kind: str, initial: float, rows: jax.Array) -> jax.Array:
        return canonical.reduce(
            kind,
            initial,
            (self.number, *rows.shape[self.ids.ndim :]),
            self.ids[..., None],
            rows,
            _ROWS,
            spec_of(self.op, self.mode, self.number),
            mode=self.mode,
        )

    def of_rows(self, values: jax.Array, fill_value: float) -> jax.Array:
        """For each row the value of its segment, or the fill value for a row of none."""
        return canonical.gather(
            values,
            self.ids[..., None],
            _ROWS,
            spec_of(self.op, self.mode, self.number),
            mode=self.mode,
            fill_value=jnp.asarray(fill_value, values.dtype),
        )

    def checked(self) -> _Segments:
        """These segments, after the ids were checked."""
        return self._replace(mode="fill" if self.mode in ("device", "error") else self.mode)


def _rows_of(
    op: str, arg: str, rows: jax.Array, segment_ids: jax.Array, num_segments: int, mode: str
) -> tuple[jax.Array, _Segments]:
    """The rows in the dtype of their sums, and their segments."""
    check_segments(op, arg, rows, segment_ids, num_segments)
    if not jnp.issubdtype(rows.dtype, jnp.floating):
        raise TypeError(f"{op}: {arg} must have a dtype of floats; received {rows.dtype}")
    return rows.astype(sums.wide(rows.dtype)), _Segments(op, segment_ids, num_segments, mode)


def _exponentials(
    rows: jax.Array, segments: _Segments
) -> tuple[jax.Array, jax.Array, jax.Array, _Segments]:
    """Of each row its exponential by that of the maximum of its segment; their sums; the maxima.

    A segment without any row above -inf has the maximum -inf, exponentials of 0 and the sum 1,
    so that neither a quotient nor a logarithm has a slope that is not finite.
    """
    maxima = segments.reduce("max", -np.inf, lax.stop_gradient(rows))
    maxima = jnp.where(maxima == np.inf, 0, maxima)  # inf - inf is NaN
    segments = segments.checked()
    of_rows = segments.of_rows(maxima, -np.inf)
    exponentials = jnp.exp(jnp.where(of_rows == -np.inf, -np.inf, rows - of_rows))
    totals = segments.reduce("add", 0, exponentials)
    return exponentials, jnp.where(maxima == -np.inf, 1, totals), maxima, segments


@operation(data=("logits",), indices=("segment_ids",))
def _segment_softmax(
    logits: jax.Array, segment_ids: jax.Array, *, op: str, mode: str, num_segments: int
) -> jax.Array:
    rows, segments = _rows_of(op, "logits", logits, segment_ids, num_segments, mode)
    exponentials, totals, _, segments = _exponentials(rows, segments)
    return (exponentials / segments.of_rows(totals, 1)).astype(logits.dtype)


@operation(data=("data",), indices=("segment_ids",))
def _segment_logsumexp(
    data: jax.Array, segment_ids: jax.Array, *, op: str, mode: str, num_segments: int
) -> jax.Array:
    rows, segments = _rows_of(op, "data", data, segment_ids, num_segments, mode)
    _, totals, maxima, _ = _exponentials(rows, segments)
    return (jnp.log(totals) + maxima).astype(data.dtype)


@operation(data=("data",), indices=("segment_ids",))
def _segment_moments(
    data: jax.Array, segment_ids: jax.Array, *, op: str, mode: str, num_segments: int
) -> tuple[jax.Array, jax.Array]:
    """The distances are those from one of the rows first, then from the mean that they give.

    A sum of rows loses digits: of 10,000 rows with mean 10,000 and variance 1 it makes a float32
    mean that is wrong by 1. Neither result depends on what distances are from, so derivatives leave
    that out, and the square of the distance between two means, which is 0, has the second ones.
    """
    rows, segments = _rows_of(op, "data", data, segment_ids, num_segments, mode)
    counts = segments.reduce("add", 0, jnp.ones(segment_ids.shape, jnp.int32))
    segments = segments.checked()

    def mean_distance(center, power):
        of_rows = segments.of_rows(center, -np.inf)
        # A row of no segment may be infinite, and so would be the slope of its square.
        distances = jnp.where(of_rows == -np.inf, 0, rows - of_rows) ** power
        return averaged("mean", segments.reduce("add", 0, distances), counts, rows.dtype)

    center = _a_row_of_each(lax.stop_gradient(rows), segments)
    mean = center + mean_distance(center, 1)
    center = lax.stop_gradient(mean)
    variance = mean_distance(center, 2) - (mean - center) ** 2
    return mean.astype(data.dtype), variance.astype(data.dtype)


def _a_row_of_each(rows: jax.Array, segments: _Segments) -> jax.Array:
    """A row of each segment, with 0 for what is not finite, or for a segment without rows."""
    size, ids = segments.ids.size, segments.ids
    last = segments.reduce("max", -1, jnp.arange(size, dtype=jnp.int32).reshape(ids.shape))
    found = canonical.gather(
        rows.reshape(size, *rows.shape[ids.ndim :]),
        last[:, None],
        _ROWS,
        SegmentIdsOrNone(segments.op, limits=(size,)),  # -1 is no row
        mode="promise_in_bounds",
    )
    return jnp.where(jnp.isfinite(found), found, 0)
