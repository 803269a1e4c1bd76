"""Rows of the blocks, the depth and the patches of images."""

from __future__ import annotations

import jax.numpy as jnp
from peers import keras, tf, torch
from row import Row, bfloat16s, floats

import jaxops

NO_EDGES = [[0, 0], [0, 0]]


def image(n, channels=16, dtype=floats):
    return (dtype(n(16, 2), n(128, 6), n(128, 6), n(channels, 4)),)


def batches(n):
    return (floats(n(64, 4), n(64, 2), n(64, 2), n(16, 2)),)


def jnp_space_to_depth(x, size=2):
    batch, rows, columns, depth = x.shape
    x = x.reshape(batch, rows // size, size, columns // size, size, depth)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(batch, rows // size, columns // size, -1)


def torch_space_to_depth(x, size=2):
    batch, rows, columns, depth = x.shape
    x = x.reshape(batch, rows // size, size, columns // size, size, depth)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(batch, rows // size, columns // size, -1)


def jnp_depth_to_space(x, size=2):
    batch, rows, columns, depth = x.shape
    x = x.reshape(batch, rows, columns, size, size, depth // size**2)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(batch, rows * size, columns * size, -1)


def jnp_space_to_batch(x, paddings, size=2):
    x = jnp.pad(x, [[0, 0], *paddings, [0, 0]])
    batch, rows, columns, depth = x.shape
    x = x.reshape(batch, rows // size, size, columns // size, size, depth)
    x = x.transpose(2, 4, 0, 1, 3, 5)
    return x.reshape(batch * size**2, rows // size, columns // size, depth)


def jnp_batch_to_space(x, crops, size=2):
    batch, rows, columns, depth = x.shape
    x = x.reshape(size, size, batch // size**2, rows, columns, depth)
    x = x.transpose(2, 3, 0, 4, 1, 5).reshape(batch // size**2, rows * size, columns * size, depth)
    (top, bottom), (left, right) = crops
    return x[:, top : x.shape[1] - bottom, left : x.shape[2] - right]


def jnp_patches(x, size, padding):
    """Shifted slices, joined: several times faster than `lax.conv_general_dilated_patches`."""
    if padding == "SAME":
        before, after = (size - 1) // 2, size // 2
        x = jnp.pad(x, [[0, 0], [before, after], [before, after], [0, 0]])
    rows, columns = x.shape[1] - size + 1, x.shape[2] - size + 1
    shifted = [x[:, i : i + rows, j : j + columns] for i in range(size) for j in range(size)]
    return jnp.concatenate(shifted, -1)


def patches_row(op, what, arguments, size, padding, **options):
    ones, sizes = [1, 1, 1, 1], [1, size, size, 1]
    return Row(
        op,
        what,
        arguments,
        jaxops=lambda x: getattr(jaxops, op)(x, sizes, ones, ones, padding),
        tensorflow=lambda x: tf.image.extract_patches(x, sizes, ones, ones, padding),
        jnp=lambda x: jnp_patches(x, size, padding),
        keras=lambda x: keras.ops.image.extract_patches(
            x, size, strides=1, padding=padding.lower(), data_format="channels_last"
        ),
        **options,
    )


def to_batch_row(op, what, paddings, dtype, **options):
    return Row(
        op,
        what,
        lambda n: image(n, dtype=dtype),
        jaxops=lambda x: getattr(jaxops, op)(x, [2, 2], paddings),
        tensorflow=lambda x: tf.space_to_batch(x, [2, 2], paddings),
        jnp=lambda x: jnp_space_to_batch(x, paddings),
        **options,
    )


def to_space_row(op, what, crops, **options):
    return Row(
        op,
        what,
        batches,
        jaxops=lambda x: getattr(jaxops, op)(x, [2, 2], crops),
        tensorflow=lambda x: tf.batch_to_space(x, [2, 2], crops),
        jnp=lambda x: jnp_batch_to_space(x, crops),
        **options,
    )


TINY = "throughput tiny"
ROWS = [
    patches_row(
        "extract_image_patches",
        "3 x 3, SAME, 16 x 128 x 128 x 16 f32",
        image,
        3,
        "SAME",
        groups="throughput tiny compile gradients",
        quick=True,
    ),
    patches_row(
        "extract_image_patches", "3 x 3, SAME, 3 channels", lambda n: image(n, 3), 3, "SAME"
    ),
    patches_row("extract_patches", "5 x 5, VALID, 4 channels", lambda n: image(n, 4), 5, "VALID"),
    patches_row(
        "extract_patches",
        "2 x 2, SAME, 16 channels bf16",
        lambda n: image(n, 16, bfloat16s),
        2,
        "SAME",
        groups=TINY,
    ),
    to_batch_row("space_to_batch", "16 x 128 x 128 x 16 f32", NO_EDGES, floats, groups=TINY),
    to_batch_row("space_to_batch_nd", "the same, padded", [[1, 1], [2, 0]], floats, groups=TINY),
    to_batch_row("space_to_batch_nd", "the same, bf16", NO_EDGES, bfloat16s),
    to_space_row("batch_to_space", "64 x 64 x 64 x 16 f32", NO_EDGES, groups=TINY),
    to_space_row("batch_to_space_nd", "the same, cropped", [[1, 1], [2, 0]], groups=TINY),
    Row(
        "space_to_depth",
        "16 x 128 x 128 x 16 f32",
        image,
        jaxops=lambda x: jaxops.space_to_depth(x, 2),
        tensorflow=lambda x: tf.nn.space_to_depth(x, 2),
        jnp=jnp_space_to_depth,
        torch=torch_space_to_depth,
        keras=lambda x: keras.ops.space_to_depth(x, 2, "channels_last"),
        groups="throughput tiny compile gradients bandwidth",
        quick=True,
    ),
    Row(
        "space_to_depth",
        "32 x 256 x 256 x 3 f32",
        lambda n: (floats(n(32, 2), n(256, 4), n(256, 4), 3),),
        jaxops=lambda x: jaxops.space_to_depth(x, 2),
        tensorflow=lambda x: tf.nn.space_to_depth(x, 2),
        jnp=jnp_space_to_depth,
        torch=torch_space_to_depth,
        keras=lambda x: keras.ops.space_to_depth(x, 2, "channels_last"),
    ),
    Row(
        "depth_to_space",
        "16 x 64 x 64 x 64 f32",
        lambda n: (floats(n(16, 2), n(64, 2), n(64, 2), n(64, 8)),),
        jaxops=lambda x: jaxops.depth_to_space(x, 2),
        tensorflow=lambda x: tf.nn.depth_to_space(x, 2),
        jnp=jnp_depth_to_space,
        keras=lambda x: keras.ops.depth_to_space(x, 2, "channels_last"),
        groups="throughput tiny bandwidth",
    ),
    Row(
        "depth_to_space",
        "NCHW, 16 x 64 x 64 x 64 f32",
        lambda n: (floats(n(16, 2), n(64, 8), n(64, 2), n(64, 2)),),
        jaxops=lambda x: jaxops.depth_to_space(x, 2, "NCHW"),
        jnp=lambda x: jnp_depth_to_space(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2),
        torch=lambda x: torch.permute(
            x.reshape(x.shape[0], 2, 2, x.shape[1] // 4, *x.shape[2:]), (0, 3, 4, 1, 5, 2)
        ).reshape(x.shape[0], x.shape[1] // 4, 2 * x.shape[2], 2 * x.shape[3]),
        note="TensorFlow has no NCHW kernel on the CPU",
    ),
]
