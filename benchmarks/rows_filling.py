"""Rows of what makes arrays of a shape, and of what passes them on."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from peers import keras, tf, torch
from row import Row, floats

import jaxops


def matrix(n):
    return (floats(n(1000, 4), n(1000, 3)),)


ROWS = [
    Row(
        "broadcast_to",
        "1,000 x 1,000 f32, 4 times",
        matrix,
        jaxops=lambda x: jaxops.broadcast_to(x, [4, *x.shape]),
        tensorflow=lambda x: tf.broadcast_to(x, [4, *x.shape]),
        jnp=lambda x: jnp.broadcast_to(x, (4, *x.shape)),
        keras=lambda x: keras.ops.broadcast_to(x, (4, *x.shape)),
        torch=lambda x: x.expand(4, *x.shape).contiguous(),
        groups="throughput gradients",
    ),
    Row(
        "fill",
        "1,000 x 1,000 f32",
        lambda n: (n(1000, 4), np.full((), 7.0, np.float32)),
        jaxops=lambda size, x: jaxops.fill([size, size], x),
        tensorflow=lambda size, x: tf.fill([size, size], x),
        jnp=lambda size, x: jnp.full((size, size), x),
        torch=lambda size, x: x.expand(size, size).contiguous(),
        groups="throughput",
    ),
    Row(
        "range",
        "a million int32",
        lambda n: (n(1_000_000, 4),),
        jaxops=lambda limit: jaxops.range(limit),
        tensorflow=lambda limit: tf.range(limit),
        jnp=lambda limit: jnp.arange(limit),
        torch=lambda limit: torch.arange(limit),
        groups="throughput",
    ),
    Row(
        "stop_gradient",
        "1,000 x 1,000 f32",
        matrix,
        jaxops=lambda x: jaxops.stop_gradient(x) + 1,
        tensorflow=lambda x: tf.stop_gradient(x) + 1,
        jnp=lambda x: jax.lax.stop_gradient(x) + 1,
        groups="throughput",
    ),
    Row(
        "guarantee_const",
        "1,000 x 1,000 f32",
        matrix,
        jaxops=lambda x: jaxops.guarantee_const(x) + 1,
        tensorflow=lambda x: tf.guarantee_const(x) + 1,
        jnp=lambda x: x + 1,
        groups="throughput",
    ),
]
