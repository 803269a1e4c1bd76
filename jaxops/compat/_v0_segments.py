"""TensorFlow 0.x's reductions of segments; see `v0.py`."""

from __future__ import annotations

import jax

import jaxops
from jaxops._run.arguments import ArrayLike, Int
from jaxops.compat._spelling import beyond


def segment_sum(data: ArrayLike, segment_ids: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.segment_sum(data, segment_ids)`.

    Example:
        >>> from jaxops.compat import v0
        >>> v0.segment_sum([[1, 2, 3, 4], [-1, -2, -3, -4], [5, 6, 7, 8]], [0, 0, 1])
        Array([[0, 0, 0, 0],
               [5, 6, 7, 8]], dtype=int32)
    """
    with beyond("segment_sum", "num_segments"):
        return jaxops.segment_sum(data, segment_ids, name)


def segment_mean(data: ArrayLike, segment_ids: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.segment_mean(data, segment_ids)`."""
    with beyond("segment_mean", "num_segments"):
        return jaxops.segment_mean(data, segment_ids, name)


def segment_prod(data: ArrayLike, segment_ids: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.segment_prod(data, segment_ids)`."""
    with beyond("segment_prod", "num_segments"):
        return jaxops.segment_prod(data, segment_ids, name)


def segment_min(data: ArrayLike, segment_ids: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.segment_min(data, segment_ids)`."""
    with beyond("segment_min", "num_segments"):
        return jaxops.segment_min(data, segment_ids, name)


def segment_max(data: ArrayLike, segment_ids: ArrayLike, name: str | None = None) -> jax.Array:
    """`jaxops.segment_max(data, segment_ids)`."""
    with beyond("segment_max", "num_segments"):
        return jaxops.segment_max(data, segment_ids, name)


def unsorted_segment_sum(
    data: ArrayLike, segment_ids: ArrayLike, num_segments: Int, name: str | None = None
) -> jax.Array:
    """`jaxops.unsorted_segment_sum(data, segment_ids, num_segments)`."""
    return jaxops.unsorted_segment_sum(data, segment_ids, num_segments, name)


def sparse_segment_sum(
    data: ArrayLike, indices: ArrayLike, segment_ids: ArrayLike, name: str | None = None
) -> jax.Array:
    """`jaxops.sparse_segment_sum(data, indices, segment_ids)`."""
    with beyond("sparse_segment_sum", "num_segments"):
        return jaxops.sparse_segment_sum(data, indices, segment_ids, name=name)


def sparse_segment_mean(
    data: ArrayLike, indices: ArrayLike, segment_ids: ArrayLike, name: str | None = None
) -> jax.Array:
    """`jaxops.sparse_segment_mean(data, indices, segment_ids)`."""
    with beyond("sparse_segment_mean", "num_segments"):
        return jaxops.sparse_segment_mean(data, indices, segment_ids, name=name)


def sparse_segment_sqrt_n(
    data: ArrayLike, indices: ArrayLike, segment_ids: ArrayLike, name: str | None = None
) -> jax.Array:
    """`jaxops.sparse_segment_sqrt_n(data, indices, segment_ids)`."""
    with beyond("sparse_segment_sqrt_n", "num_segments"):
        return jaxops.sparse_segment_sqrt_n(data, indices, segment_ids, name=name)
