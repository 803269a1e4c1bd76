"""Prefixes of rows, reversed: the core of reverse_sequence.

A permutation that is its own inverse, so its own transpose too. Left to itself JAX would transpose
the gather to a scatter, which takes several times as long.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from jaxops._primitives import linear_primitive, varying_alike


def reverse_prefixes(
    input: jax.Array, lengths: jax.Array, *, seq_axis: int, batch_axes: tuple[int, ...]
) -> jax.Array:
    """The first `lengths` elements along `seq_axis` in reverse; the rest as it is.

    `lengths` has the dimensions `batch_axes` of `input`, which ascend.
    """
    input, lengths = varying_alike(input, lengths)
    return reverse_prefixes_p.bind(input, lengths, seq_axis=seq_axis, batch_axes=batch_axes)


def _gather_reversed(input, lengths, *, seq_axis, batch_axes):
    indexed = sorted((*batch_axes, seq_axis))
    lengths = lax.expand_dims(lengths, (indexed.index(seq_axis),))
    shape = tuple(input.shape[d] for d in indexed)
    positions = lax.broadcasted_iota(lengths.dtype, shape, indexed.index(seq_axis))
    positions = jnp.where(positions < lengths, lengths - 1 - positions, positions)
    # Batching dimensions let XLA leave each shard of the batch where it is.
    dimension_numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(d for d in range(input.ndim) if d not in indexed),
        collapsed_slice_dims=(seq_axis,),
        start_index_map=(seq_axis,),
        operand_batching_dims=batch_axes,
        start_indices_batching_dims=tuple(indexed.index(axis) for axis in batch_axes),
    )
    return lax.gather(
        input,
        positions[..., None],
        dimension_numbers,
        tuple(1 if d in indexed else dim for d, dim in enumerate(input.shape)),
        mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS,
    )


def _batch(bind, operands, dims, *, seq_axis, batch_axes):
    input, lengths = operands
    input_dim, lengths_dim = dims
    if input_dim is None:
        input = jnp.broadcast_to(input, (lengths.shape[lengths_dim], *input.shape))
    else:
        input = jnp.moveaxis(input, input_dim, 0)
    batch_axes = tuple(axis + 1 for axis in batch_axes)
    if lengths_dim is not None:
        lengths = jnp.moveaxis(lengths, lengths_dim, 0)
        batch_axes = (0, *batch_axes)
    result = bind(input, lengths, seq_axis=seq_axis + 1, batch_axes=batch_axes)
    return result, 0


def _transpose(cotangent, input, lengths, **axes):
    del input
    return reverse_prefixes_p.bind(cotangent, lengths, **axes), None


reverse_prefixes_p = linear_primitive(
    "reverse_sequence", _gather_reversed, num_linear=1, batch=_batch, transpose=_transpose
)
