"""Rows of where, repeat, sequence_mask and searchsorted."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from peers import keras, tf, torch
from row import Row, bools, floats, ints

import jaxops


def masked(n):
    mask = bools(n(2000, 2), n(500, 3))
    mask[0, 0] = True
    return mask, mask.size


def used(answer):
    """Rows up to the last that is not 0."""
    rows = np.asarray(answer)
    places = np.flatnonzero(rows.any(1))
    return rows[: places[-1] + 1 if places.size else 0]


def to_repeat(rows, columns):
    """Rows, how often each, and how many that makes."""

    def arguments(n):
        repeats = ints(n(4, 2), n(rows, 6))
        repeats[0] = 1
        return floats(n(rows, 6), n(columns, 2)), repeats, int(repeats.sum())

    return arguments


def to_search(length, values):
    def arguments(n):
        limit = 4 * n(length, 4)
        return np.sort(ints(limit, n(length, 4))), ints(limit, n(values, 6))

    return arguments


def search_row(what, arguments, **options):
    return Row(
        "searchsorted",
        what,
        arguments,
        jaxops=jaxops.searchsorted,
        tensorflow=lambda row, values: tf.searchsorted(row, values),
        jnp=jnp.searchsorted,
        torch=lambda row, values: torch.searchsorted(row, values, out_int32=True),
        numpy=lambda row, values: row.searchsorted(values),
        keras=lambda row, values: keras.ops.searchsorted(row, values),
        **options,
    )


ROWS = [
    Row(
        "repeat",
        "100k rows of 16 f32, 3 times each",
        lambda n: (floats(n(100_000, 4), n(16, 2)),),
        jaxops=lambda x: jaxops.repeat(x, 3, 0),
        tensorflow=lambda x: tf.repeat(x, 3, 0),
        jnp=lambda x: jnp.repeat(x, 3, 0),
        keras=lambda x: keras.ops.repeat(x, 3, 0),
        torch=lambda x: x.repeat_interleave(3, 0),
        groups="throughput tiny gradients",
        moves="part",
        quick=True,
    ),
    Row(
        "repeat",
        "100k rows of 16 f32, up to 3 times each, eager",
        to_repeat(100_000, 16),
        jaxops=lambda x, repeats, size: jaxops.repeat(x, repeats, 0),
        tensorflow=lambda x, repeats, size: tf.repeat(x, repeats, 0),
        jnp=lambda x, repeats, size: jnp.repeat(x, repeats, 0),
        torch=lambda x, repeats, size: x.repeat_interleave(repeats, 0),
        numpy=lambda x, repeats, size: x.repeat(repeats, 0),
        eager=True,
    ),
    Row(
        "repeat",
        "100k rows of 16 f32, up to 3 times each, jitted with size=",
        to_repeat(100_000, 16),
        jaxops=lambda x, repeats, size: jaxops.repeat(x, repeats, 0, size=size),
        tensorflow=lambda x, repeats, size: tf.repeat(x, repeats, 0),
        jnp=lambda x, repeats, size: jnp.repeat(x, repeats, 0, total_repeat_length=size),
        torch=lambda x, repeats, size: x.repeat_interleave(repeats, 0, output_size=size),
        groups="throughput gradients",
    ),
    Row(
        "sequence_mask",
        "4,000 x 500",
        lambda n: (ints(n(500, 3), n(4000, 3)), n(500, 3)),
        jaxops=jaxops.sequence_mask,
        tensorflow=lambda lengths, maxlen: tf.sequence_mask(lengths, maxlen),
        jnp=lambda lengths, maxlen: jnp.arange(maxlen)[None] < lengths[:, None],
        torch=lambda lengths, maxlen: torch.arange(maxlen) < lengths[:, None],
        groups="throughput tiny",
    ),
    search_row("1M int32 in 1,000", to_search(1000, 1_000_000), groups="throughput tiny"),
    search_row("1M int32 in 1M", to_search(1_000_000, 1_000_000)),
    Row(
        "where",
        "of two 1M f32",
        lambda n: (bools(n(1_000_000, 6)), floats(n(1_000_000, 6)), -floats(n(1_000_000, 6))),
        jaxops=jaxops.where,
        tensorflow=lambda condition, x, y: tf.where(condition, x, y),
        jnp=jnp.where,
        torch=lambda condition, x, y: torch.where(condition, x, y),
        keras=lambda condition, x, y: keras.ops.where(condition, x, y),
        groups="throughput tiny gradients",
        differentiated=(1, 2),
        quick=True,
    ),
    Row(
        "where",
        "positions of half of 1M, eager",
        masked,
        jaxops=lambda mask, size: jaxops.where(mask),
        tensorflow=lambda mask, size: tf.cast(tf.where(mask), tf.int32),
        jnp=lambda mask, size: jnp.argwhere(mask),
        torch=lambda mask, size: torch.argwhere(mask),
        numpy=lambda mask, size: np.argwhere(mask),
        comparable=used,
        eager=True,
    ),
    Row(
        "where",
        "positions of half of 1M, jitted with size=",
        masked,
        jaxops=lambda mask, size: jaxops.where(mask, size=size),
        tensorflow=lambda mask, size: tf.cast(tf.where(mask), tf.int32),
        jnp=lambda mask, size: jnp.argwhere(mask, size=size, fill_value=0),
        comparable=used,
    ),
]
