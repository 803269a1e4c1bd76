"""Rows of what only moves data: shaping, joining, tiling, padding, reversing."""

from __future__ import annotations

import jax.numpy as jnp
from peers import keras, tf, torch
from row import Row, bfloat16s, bools, floats, ints

import jaxops

MOVES = "throughput tiny bandwidth"


def matrix(n):
    return (floats(n(2000, 4), n(2000, 6)),)


def matrices(count, rows, columns, small_rows=4, small_columns=3):
    def arguments(n):
        few = min(count, n(count, 3))
        piece = floats(n(rows, small_rows), n(columns, small_columns))
        return ([piece + k % 7 for k in range(few)],)

    return arguments


SHAPES = [
    Row(
        "reshape",
        "2,000 x 2,000 f32 to a vector",
        matrix,
        jaxops=lambda x: jaxops.reshape(x, [-1]),
        tensorflow=lambda x: tf.reshape(x, [-1]),
        jnp=lambda x: jnp.reshape(x, -1),
        keras=lambda x: keras.ops.reshape(x, (-1,)),
        groups=MOVES,
        shares_memory=("tensorflow",),
    ),
    Row(
        "squeeze",
        "1 x 2,000 x 2,000 f32",
        lambda n: (floats(1, n(2000, 4), n(2000, 3)),),
        jaxops=lambda x: jaxops.squeeze(x, 0),
        tensorflow=lambda x: tf.squeeze(x, 0),
        jnp=lambda x: jnp.squeeze(x, 0),
        keras=lambda x: keras.ops.squeeze(x, 0),
        groups=MOVES,
        shares_memory=("tensorflow",),
    ),
    Row(
        "expand_dims",
        "2,000 x 2,000 f32",
        matrix,
        jaxops=lambda x: jaxops.expand_dims(x, 1),
        tensorflow=lambda x: tf.expand_dims(x, 1),
        jnp=lambda x: jnp.expand_dims(x, 1),
        keras=lambda x: keras.ops.expand_dims(x, 1),
        groups=MOVES,
        shares_memory=("tensorflow",),
    ),
    Row(
        "transpose",
        "2,000 x 2,000 f32",
        matrix,
        jaxops=lambda x: jaxops.transpose(x),
        tensorflow=lambda x: tf.transpose(x),
        jnp=lambda x: jnp.transpose(x),
        keras=lambda x: keras.ops.transpose(x),
        torch=lambda x: x.T.contiguous(),
        groups="throughput tiny compile",
    ),
    Row(
        "transpose",
        "[1, 0, 2] of 256 x 256 x 64 bf16",
        lambda n: (bfloat16s(n(256, 4), n(256, 3), n(64, 2)),),
        jaxops=lambda x: jaxops.transpose(x, [1, 0, 2]),
        tensorflow=lambda x: tf.transpose(x, [1, 0, 2]),
        jnp=lambda x: jnp.transpose(x, (1, 0, 2)),
        keras=lambda x: keras.ops.transpose(x, (1, 0, 2)),
        torch=lambda x: x.permute(1, 0, 2).contiguous(),
    ),
    Row(
        "transpose",
        "[0, 3, 1, 2] of 16 x 128 x 128 x 16 f32",
        lambda n: (floats(n(16, 2), n(128, 3), n(128, 4), n(16, 2)),),
        jaxops=lambda x: jaxops.transpose(x, [0, 3, 1, 2]),
        tensorflow=lambda x: tf.transpose(x, [0, 3, 1, 2]),
        jnp=lambda x: jnp.transpose(x, (0, 3, 1, 2)),
        keras=lambda x: keras.ops.transpose(x, (0, 3, 1, 2)),
        torch=lambda x: x.permute(0, 3, 1, 2).contiguous(),
    ),
]

JOINS = [
    Row(
        "split",
        "4,000 x 1,000 f32 in 8, first axis",
        lambda n: (floats(n(4000, 8), n(1000, 3)),),
        jaxops=lambda x: jaxops.split(x, 8),
        tensorflow=lambda x: tf.split(x, 8),
        jnp=lambda x: jnp.split(x, 8),
        keras=lambda x: keras.ops.split(x, 8),
        groups="throughput tiny gradients bandwidth",
    ),
    Row(
        "split",
        "4,000 x 1,000 f32 in 4, last axis",
        lambda n: (floats(n(4000, 3), n(1000, 8)),),
        jaxops=lambda x: jaxops.split(x, 4, axis=-1),
        tensorflow=lambda x: tf.split(x, 4, axis=-1),
        jnp=lambda x: jnp.split(x, 4, axis=-1),
        keras=lambda x: keras.ops.split(x, 4, axis=-1),
        torch=lambda x: [part.contiguous() for part in x.chunk(4, -1)],
        groups="throughput bandwidth",
    ),
    Row(
        "concat",
        "4 of 1,000 x 1,000 f32, first axis",
        matrices(4, 1000, 1000),
        jaxops=lambda xs: jaxops.concat(xs, 0),
        tensorflow=lambda xs: tf.concat(xs, 0),
        jnp=lambda xs: jnp.concatenate(xs, 0),
        keras=lambda xs: keras.ops.concatenate(xs, 0),
        torch=lambda xs: torch.cat(xs, 0),
        groups="throughput tiny compile bandwidth",
    ),
    Row(
        "concat",
        "4 of 16,384 x 64 f32, last axis",
        matrices(4, 16_384, 64),
        jaxops=lambda xs: jaxops.concat(xs, -1),
        tensorflow=lambda xs: tf.concat(xs, -1),
        jnp=lambda xs: jnp.concatenate(xs, -1),
        keras=lambda xs: keras.ops.concatenate(xs, -1),
        torch=lambda xs: torch.cat(xs, -1),
        groups="throughput gradients bandwidth",
        quick=True,
    ),
    Row(
        "concat",
        "2 of 1M x 3 f32, last axis",
        matrices(2, 1_000_000, 3),
        jaxops=lambda xs: jaxops.concat(xs, -1),
        tensorflow=lambda xs: tf.concat(xs, -1),
        jnp=lambda xs: jnp.concatenate(xs, -1),
        keras=lambda xs: keras.ops.concatenate(xs, -1),
        torch=lambda xs: torch.cat(xs, -1),
    ),
    Row(
        "concat",
        "2 of 150,000 x 18 f32, last axis",
        matrices(2, 150_000, 18),
        jaxops=lambda xs: jaxops.concat(xs, -1),
        tensorflow=lambda xs: tf.concat(xs, -1),
        jnp=lambda xs: jnp.concatenate(xs, -1),
        keras=lambda xs: keras.ops.concatenate(xs, -1),
        torch=lambda xs: torch.cat(xs, -1),
        groups="throughput gradients",
    ),
    Row(
        "concat",
        "4 of 4,096 x 1,024 bool, last axis",
        lambda n: ([bools(n(4096, 4), n(1024, 3))] * 4,),
        jaxops=lambda xs: jaxops.concat(xs, -1),
        tensorflow=lambda xs: tf.concat(xs, -1),
        jnp=lambda xs: jnp.concatenate(xs, -1),
        keras=lambda xs: keras.ops.concatenate(xs, -1),
        torch=lambda xs: torch.cat(xs, -1),
        groups="throughput bandwidth",
    ),
    Row(
        "stack",
        "100 of 200 x 200 f32, first axis",
        matrices(100, 200, 200),
        jaxops=lambda xs: jaxops.stack(xs),
        tensorflow=lambda xs: tf.stack(xs),
        jnp=lambda xs: jnp.stack(xs),
        keras=lambda xs: keras.ops.stack(xs),
        torch=lambda xs: torch.stack(xs),
        groups="throughput tiny bandwidth",
    ),
    Row(
        "parallel_stack",
        "100 of 200 x 200 f32",
        matrices(100, 200, 200),
        jaxops=lambda xs: jaxops.parallel_stack(xs),
        tensorflow=lambda xs: tf.stack(xs),
        jnp=lambda xs: jnp.stack(xs),
        keras=lambda xs: keras.ops.stack(xs),
        torch=lambda xs: torch.stack(xs),
        groups="throughput tiny",
    ),
    Row(
        "stack",
        "4 of 1,000 x 1,000 f32, last axis",
        matrices(4, 1000, 1000),
        jaxops=lambda xs: jaxops.stack(xs, -1),
        tensorflow=lambda xs: tf.stack(xs, -1),
        jnp=lambda xs: jnp.stack(xs, -1),
        keras=lambda xs: keras.ops.stack(xs, -1),
        torch=lambda xs: torch.stack(xs, -1),
        groups="throughput gradients",
    ),
    Row(
        "unstack",
        "64 x 62,500 f32, first axis",
        lambda n: (floats(n(64, 3), n(62_500, 3)),),
        jaxops=lambda x: jaxops.unstack(x),
        tensorflow=lambda x: tf.unstack(x),
        jnp=lambda x: jnp.unstack(x),
        keras=lambda x: keras.ops.unstack(x),
        groups="throughput tiny bandwidth",
        comparable=list,
    ),
    Row(
        "unstack",
        "1M x 4 f32, last axis",
        lambda n: (floats(n(1_000_000, 4), n(4, 3)),),
        jaxops=lambda x: jaxops.unstack(x, axis=-1),
        tensorflow=lambda x: tf.unstack(x, axis=-1),
        jnp=lambda x: jnp.unstack(x, axis=-1),
        keras=lambda x: keras.ops.unstack(x, axis=-1),
        torch=lambda x: [part.contiguous() for part in x.unbind(-1)],
        comparable=list,
    ),
    Row(
        "tile",
        "[4, 1] of 1,000 x 1,000 f32",
        lambda n: (floats(n(1000, 4), n(1000, 3)),),
        jaxops=lambda x: jaxops.tile(x, [4, 1]),
        tensorflow=lambda x: tf.tile(x, [4, 1]),
        jnp=lambda x: jnp.tile(x, (4, 1)),
        keras=lambda x: keras.ops.tile(x, (4, 1)),
        torch=lambda x: torch.tile(x, (4, 1)),
        groups="throughput tiny gradients bandwidth",
    ),
    Row(
        "tile",
        "[1, 4] of 16,384 x 64 f32",
        lambda n: (floats(n(16_384, 4), n(64, 3)),),
        jaxops=lambda x: jaxops.tile(x, [1, 4]),
        tensorflow=lambda x: tf.tile(x, [1, 4]),
        jnp=lambda x: jnp.tile(x, (1, 4)),
        keras=lambda x: keras.ops.tile(x, (1, 4)),
        torch=lambda x: torch.tile(x, (1, 4)),
        groups="throughput bandwidth",
    ),
]


def pad_peers(mode):
    """The contenders of `pad`, by TensorFlow's name of the mode."""
    paddings = [[2, 3], [3, 2]]
    lower = mode.lower()
    return {
        "jaxops": lambda x: jaxops.pad(x, paddings, mode),
        "tensorflow": lambda x: tf.pad(x, paddings, mode),
        "jnp": lambda x: jnp.pad(x, paddings, lower),
        "keras": lambda x: keras.ops.pad(x, paddings, lower),
    }


def jnp_reverse_sequence(x, lengths):
    places = jnp.arange(x.shape[1], dtype=lengths.dtype)[None, :]
    ends = lengths[:, None]
    sources = jnp.where(places < ends, ends - 1 - places, places)
    return jnp.take_along_axis(x, sources[:, :, None], axis=1)


PADS_AND_REVERSALS = [
    Row(
        "pad",
        "2,000 x 2,000 f32 with zeros",
        lambda n: (floats(n(2000, 4), n(2000, 4)),),
        **pad_peers("CONSTANT"),
        torch=lambda x: torch.nn.functional.pad(x, (3, 2, 2, 3)),
        groups="throughput tiny compile gradients bandwidth",
    ),
    *(
        Row(
            "pad",
            f"2,000 x 2,000 f32, {mode}",
            lambda n: (floats(n(2000, 4), n(2000, 4)),),
            **pad_peers(mode),
        )
        for mode in ("REFLECT", "SYMMETRIC")
    ),
    Row(
        "reverse",
        "first axis of 4,000 x 1,000 f32",
        lambda n: (floats(n(4000, 4), n(1000, 3)),),
        jaxops=lambda x: jaxops.reverse(x, [0]),
        tensorflow=lambda x: tf.reverse(x, [0]),
        jnp=lambda x: jnp.flip(x, 0),
        keras=lambda x: keras.ops.flip(x, 0),
        torch=lambda x: torch.flip(x, [0]),
        groups=MOVES,
    ),
    Row(
        "reverse",
        "both axes of 2,000 x 2,000 int32",
        lambda n: (ints(99, n(2000, 4), n(2000, 3)),),
        jaxops=lambda x: jaxops.reverse(x, [0, 1]),
        tensorflow=lambda x: tf.reverse(x, [0, 1]),
        jnp=lambda x: jnp.flip(x, (0, 1)),
        keras=lambda x: keras.ops.flip(x, (0, 1)),
        torch=lambda x: torch.flip(x, [0, 1]),
    ),
    Row(
        "reverse_sequence",
        "256 x 256 rows of 64 f32",
        lambda n: (floats(n(256, 3), n(256, 4), n(64, 2)), ints(n(256, 4), n(256, 3))),
        jaxops=lambda x, lengths, **k: jaxops.reverse_sequence(x, lengths, 1, 0, **k),
        tensorflow=lambda x, lengths: tf.reverse_sequence(x, lengths, 1, 0),
        jnp=jnp_reverse_sequence,
        groups="throughput tiny gradients bounds",
    ),
    Row(
        "reverse_sequence",
        "1,024 x 2,048 single int32",
        lambda n: (ints(99, n(1024, 3), n(2048, 4)), ints(n(2048, 4), n(1024, 3))),
        jaxops=lambda x, lengths, **k: jaxops.reverse_sequence(x, lengths, 1, 0, **k),
        tensorflow=lambda x, lengths: tf.reverse_sequence(x, lengths, 1, 0),
        jnp=lambda x, lengths: jnp_reverse_sequence(x[:, :, None], lengths)[:, :, 0],
        groups="throughput bounds",
    ),
]

ROWS = [*SHAPES, *JOINS, *PADS_AND_REVERSALS]
