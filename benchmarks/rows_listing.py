"""Rows of what rolls, and of lists of positions."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from peers import keras, tf, torch
from row import Row, floats, ints, permutation

import jaxops


def rolled(n):
    return (floats(n(2000, 4), n(2000, 3)), n(700, 2))


def words(n):
    """Two tables of words, as many as there are places in them."""
    count, length = n(1000, 3), n(40, 4)
    places = np.indices((count, length)).reshape(2, -1).T
    return places.astype(np.int64), ints(4, count * length), ints(3, count * length)


def numpy_inverse(x):
    inverse = np.empty_like(x)
    inverse[x] = np.arange(x.size, dtype=x.dtype)
    return inverse


ROWS = [
    Row(
        "edit_distance",
        "1,000 pairs of 40 int32",
        words,
        jaxops=lambda i, x, y: jaxops.edit_distance(
            jaxops.SparseTensor(i, x, (*(i[-1] + 1),)), jaxops.SparseTensor(i, y, (*(i[-1] + 1),))
        ),
        tensorflow=lambda i, x, y: tf.edit_distance(
            tf.SparseTensor(i, x, i[-1] + 1), tf.SparseTensor(i, y, i[-1] + 1)
        ),
        groups="throughput tiny",
        eager=True,
        note="on the host; nothing in JAX computes it",
    ),
    Row(
        "meshgrid",
        "1,000 x 1,000 f32",
        lambda n: (floats(n(1000, 3)), floats(n(1000, 4))),
        jaxops=lambda x, y: jaxops.meshgrid(x, y),
        tensorflow=lambda x, y: tf.meshgrid(x, y),
        jnp=lambda x, y: jnp.meshgrid(x, y),
        torch=lambda x, y: [t.contiguous() for t in torch.meshgrid(x, y, indexing="xy")],
        groups="throughput tiny",
    ),
    Row(
        "setdiff1d",
        "100,000 of 1,000,000 int32 in 100,000 others",
        lambda n: (ints(n(1_000_000, 9), n(100_000, 5)), ints(n(1_000_000, 9), n(100_000, 4))),
        jaxops=jaxops.setdiff1d,
        tensorflow=lambda x, y: tf.compat.v1.setdiff1d(x, y),
        groups="throughput",
        eager=True,
    ),
    Row(
        "roll",
        "2,000 x 2,000 f32 along rows",
        rolled,
        jaxops=lambda x, k: jaxops.roll(x, k, 0),
        tensorflow=lambda x, k: tf.roll(x, k, 0),
        jnp=lambda x, k: jnp.roll(x, k, 0),
        keras=lambda x, k: keras.ops.roll(x, k, 0),
        torch=lambda x, k: torch.roll(x, int(k), 0),
        groups="throughput gradients bandwidth",
    ),
    Row(
        "unravel_index",
        "a million of 1,000 x 1,000",
        lambda n: (ints(1_000_000, n(1_000_000, 5)),),
        jaxops=lambda i: jaxops.unravel_index(i, [1000, 1000]),
        tensorflow=lambda i: tf.unravel_index(i, [1000, 1000]),
        jnp=lambda i: jnp.stack(jnp.unravel_index(i, (1000, 1000))),
        torch=lambda i: torch.stack(torch.unravel_index(i, (1000, 1000))),
        numpy=lambda i: np.stack(np.unravel_index(i, (1000, 1000))),
        groups="throughput",
    ),
    Row(
        "invert_permutation",
        "a million int32",
        lambda n: (permutation(n(1_000_000, 5)),),
        jaxops=jaxops.invert_permutation,
        tensorflow=lambda x: tf.math.invert_permutation(x),
        jnp=jnp.argsort,
        numpy=numpy_inverse,
        groups="throughput",
    ),
]
