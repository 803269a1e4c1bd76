"""Prefixes of rows, reversed: the core of reverse_sequence.

A permutation that is its own inverse, so its own transpose too. Left to itself JAX would transpose
the gather to a scatter, which takes several times as long.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax
from jax.interpreters import mlir

from jaxops._primitives import linear_primitive, lower_fun, varying_alike

_PROMISE = lax.GatherScatterMode.PROMISE_IN_BOUNDS


def reverse_prefixes(
    input: jax.Array, lengths: jax.Array, *, seq_axis: int, batch_axes: tuple[int, ...]
) -> jax.Array:
    """The first `lengths` elements along `seq_axis` in reverse; the rest as it is.

    `lengths` has the dimensions `batch_axes` of `input`, which ascend.
    """
    input, lengths = varying_alike(input, lengths)
    return reverse_prefixes_p.bind(input, lengths, seq_axis=seq_axis, batch_axes=batch_axes)


def _gather_reversed(input, lengths, *, seq_axis, batch_axes):
    positions, windows, in_positions = _positions(input, lengths, seq_axis, batch_axes)
    indexed = (*batch_axes, seq_axis)
    # Batching dimensions let XLA leave each shard of the batch where it is.
    dimension_numbers = lax.GatherDimensionNumbers(
        offset_dims=windows,
        collapsed_slice_dims=(seq_axis,),
        start_index_map=(seq_axis,),
        operand_batching_dims=batch_axes,
        start_indices_batching_dims=in_positions,
    )
    sizes = tuple(1 if d in indexed else dim for d, dim in enumerate(input.shape))
    return lax.gather(input, positions, dimension_numbers, sizes, mode=_PROMISE)


def _scatter_reversed(input, lengths, *, seq_axis, batch_axes):
    """The same values by a scatter, as the permutation of reversed prefixes is its own inverse."""
    positions, windows, in_positions = _positions(input, lengths, seq_axis, batch_axes)
    dimension_numbers = lax.ScatterDimensionNumbers(
        update_window_dims=windows,
        inserted_window_dims=(seq_axis,),
        scatter_dims_to_operand_dims=(seq_axis,),
        operand_batching_dims=batch_axes,
        scatter_indices_batching_dims=in_positions,
    )
    options = {"unique_indices": True, "mode": _PROMISE}
    return lax.scatter(jnp.zeros_like(input), positions, input, dimension_numbers, **options)


def _positions(input, lengths, seq_axis: int, batch_axes: tuple[int, ...]):
    """Index vectors along `seq_axis`, the other axes, and which of its dimensions are the batch."""
    indexed = sorted((*batch_axes, seq_axis))
    lengths = lax.expand_dims(lengths, (indexed.index(seq_axis),))
    shape = tuple(input.shape[d] for d in indexed)
    positions = lax.broadcasted_iota(lengths.dtype, shape, indexed.index(seq_axis))
    positions = jnp.where(positions < lengths, lengths - 1 - positions, positions)
    windows = tuple(d for d in range(input.ndim) if d not in indexed)
    return positions[..., None], windows, tuple(map(indexed.index, batch_axes))


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
    # The transpose is the same reversal, so the gradient needs no scatter
    # (test_reversed_prefixes.py, test_its_gradient_is_itself).
    return reverse_prefixes_p.bind(cotangent, lengths, **axes), None


reverse_prefixes_p = linear_primitive(
    "reverse_sequence", _gather_reversed, num_linear=1, batch=_batch, transpose=_transpose
)
# On a TPU a scatter of rows moves a third of the bytes of the gather.
mlir.register_lowering(
    reverse_prefixes_p, lower_fun(_scatter_reversed, multiple_results=False), platform="tpu"
)
