"""Rows of the segment reductions."""

from __future__ import annotations

import jax
import numpy as np
from peers import compiled_by_numba, tf
from row import Row, floats, ints

import jaxops


def single(n):
    return floats(n(1_000_000, 6)), ints(n(1000, 4), n(1_000_000, 6)), n(1000, 4)


def rows(n):
    """No segment is empty, of which libraries make different maxima."""
    number = n(8192, 4)
    ids = ints(number, n(65_536, 6))
    ids[:number] = np.arange(number)
    return floats(n(65_536, 6), n(128, 3)), ids, number


def in_turn(x, ids, number):
    sums = np.zeros((number, *x.shape[1:]), x.dtype)
    for n in range(len(x)):
        sums[ids[n]] += x[n]
    return sums


summed = compiled_by_numba(in_turn)


def torch_sum(x, ids, number):
    return x.new_zeros(number, *x.shape[1:]).index_add(0, ids, x)


def torch_reduced(how):
    """Of segments with an element at least; rows are reduced with an index for each column."""

    def reduced(x, ids, number):
        places = ids.long().reshape(-1, *[1] * (x.ndim - 1)).expand(x.shape)
        empty = x.new_zeros(number, *x.shape[1:])
        return empty.scatter_reduce(0, places, x, how, include_self=False)

    return reduced


TORCH = {
    "sum": torch_sum,
    "max": torch_reduced("amax"),
    "min": torch_reduced("amin"),
    "mean": torch_reduced("mean"),
}


def unsorted(kind, what, arguments, jnp=None, **options):
    function = getattr(jaxops, f"unsorted_segment_{kind}")
    return Row(
        f"unsorted_segment_{kind}",
        what,
        arguments,
        jaxops=lambda x, i, number, **k: function(x, i, number, **k),
        tensorflow=lambda x, i, number: getattr(tf.math, f"unsorted_segment_{kind}")(x, i, number),
        jnp=jnp,
        torch=TORCH.get(kind),
        numba=summed if kind == "sum" else None,
        **options,
    )


def sorted_rows(n):
    x, ids, number = rows(n)
    return x, np.sort(ids), number


def in_order(kind, jnp=None, **options):
    """TensorFlow counts the segments by the last id."""
    function = getattr(jaxops, f"segment_{kind}")
    return Row(
        f"segment_{kind}",
        "65,536 sorted rows of 128 f32 in 8,192 segments",
        sorted_rows,
        jaxops=lambda x, i, number, **k: function(x, i, num_segments=number, **k),
        tensorflow=lambda x, i, number: getattr(tf.math, f"segment_{kind}")(x, i),
        jnp=jnp,
        torch=TORCH.get(kind),
        numba=summed if kind == "sum" else None,
        **options,
    )


def of_table(n):
    x, ids, number = rows(n)
    return x, ids, np.sort(np.random.default_rng(1).permutation(ids)), number


def sparse(kind):
    function = getattr(jaxops, f"sparse_segment_{kind}")
    return Row(
        f"sparse_segment_{kind}",
        "65,536 rows of 128 f32 in 8,192 segments",
        of_table,
        jaxops=lambda x, i, s, number, **k: function(x, i, s, number, **k),
        tensorflow=lambda x, i, s, number: getattr(tf.sparse, f"segment_{kind}")(x, i, s, number),
        groups="throughput",
    )


ROWS = [
    unsorted(
        "sum",
        "1M f32 in 1,000 segments",
        single,
        lambda x, i, number: jax.ops.segment_sum(x, i, number),
        groups="throughput tiny gradients bounds",
        quick=True,
    ),
    unsorted(
        "sum",
        "65,536 rows of 128 f32 in 8,192 segments",
        rows,
        lambda x, i, number: jax.ops.segment_sum(x, i, number),
        groups="throughput gradients bounds",
    ),
    unsorted(
        "max",
        "65,536 rows of 128 f32 in 8,192 segments",
        rows,
        lambda x, i, number: jax.ops.segment_max(x, i, number),
        groups="throughput gradients bounds",
    ),
    *(
        unsorted(kind, "65,536 rows of 128 f32 in 8,192 segments", rows)
        for kind in ("mean", "sqrt_n", "prod", "min")
    ),
    in_order(
        "sum",
        lambda x, i, number: jax.ops.segment_sum(x, i, number, indices_are_sorted=True),
        groups="throughput gradients bounds",
    ),
    in_order(
        "max",
        lambda x, i, number: jax.ops.segment_max(x, i, number, indices_are_sorted=True),
    ),
    *(in_order(kind) for kind in ("mean", "prod", "min")),
    *(sparse(kind) for kind in ("sum", "mean", "sqrt_n")),
]
