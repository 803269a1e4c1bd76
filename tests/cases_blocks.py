"""Calls of the functions of `_ops/`: `space_to_batch.py`, `space_to_depth.py`, `patches.py`."""

import jax.numpy as jnp
import oracles_blocks
from case import Case, floats

import jaxops

# What the tests of these modules move.
DTYPES = [jnp.bool_, jnp.int4, jnp.uint4, jnp.int8, jnp.uint8, jnp.uint16, jnp.int32, jnp.uint64]
DTYPES += [jnp.float16, jnp.bfloat16, jnp.float64, jnp.complex64, jnp.complex128]
DTYPES += [jnp.float8_e4m3fn, jnp.float8_e5m2]


def batch_case(op, oracle, shape, block_shape, edges):
    return Case(
        lambda x: op(x, block_shape, edges),
        lambda x: oracle(x, block_shape, edges),
        (floats(*shape),),
    )


def to_batch(op, *arguments):
    return batch_case(op, oracles_blocks.space_to_batch, *arguments)


def to_space(op, *arguments):
    return batch_case(op, oracles_blocks.batch_to_space, *arguments)


def depth_case(op, oracle, shape, size, to_nhwc=None):
    """`to_nhwc`: data format, and the permutations to NHWC and back."""
    if to_nhwc is None:
        return Case(lambda x: op(x, size), lambda x: oracle(x, size), (floats(*shape),))
    data_format, there, back = to_nhwc
    return Case(
        lambda x: op(x, size, data_format),
        lambda x: oracle(x.transpose(there), size).transpose(back),
        (floats(*shape),),
    )


def patches_case(op, shape, sizes, strides=(1, 1), rates=(1, 1), padding="SAME"):
    return Case(
        lambda x: op(x, [1, *sizes, 1], [1, *strides, 1], [1, *rates, 1], padding),
        lambda x: oracles_blocks.extract_patches(x, sizes, strides, rates, padding),
        (floats(*shape),),
    )


NCHW = ("NCHW", (0, 2, 3, 1), (0, 3, 1, 2))
NO_EDGES = [[0, 0], [0, 0]]
s2d, d2s = jaxops.space_to_depth, jaxops.depth_to_space
CASES = {
    "space_to_batch-padded": to_batch(
        jaxops.space_to_batch, (1, 3, 1, 2), [2, 3], [[1, 0], [0, 2]]
    ),
    "space_to_batch-one-dim": to_batch(jaxops.space_to_batch, (3, 2, 2), [2], [[0, 0]]),
    "space_to_batch-empty-space": to_batch(
        jaxops.space_to_batch, (1, 0, 2, 1), [2, 2], [[1, 1], [0, 0]]
    ),
    "space_to_batch_nd-image": to_batch(jaxops.space_to_batch_nd, (1, 2, 2), [2, 2], NO_EDGES),
    "batch_to_space-cropped": to_space(
        jaxops.batch_to_space, (4, 2, 1, 1), [2, 2], [[1, 0], [0, 1]]
    ),
    "batch_to_space-all-cropped": to_space(
        jaxops.batch_to_space, (4, 2, 2, 1), [2, 2], [[3, 1], [0, 0]]
    ),
    "batch_to_space-one-dim": to_space(jaxops.batch_to_space, (6, 2), [3], [[0, 0]]),
    "batch_to_space_nd-image": to_space(jaxops.batch_to_space_nd, (4, 1, 2), [2, 2], NO_EDGES),
    "space_to_depth-nhwc": depth_case(s2d, oracles_blocks.space_to_depth, (2, 2, 4, 2), 2),
    "space_to_depth-nchw": depth_case(s2d, oracles_blocks.space_to_depth, (1, 2, 2, 4), 2, NCHW),
    "depth_to_space-nhwc": depth_case(d2s, oracles_blocks.depth_to_space, (2, 1, 2, 8), 2),
    "depth_to_space-nchw": depth_case(d2s, oracles_blocks.depth_to_space, (1, 8, 1, 2), 2, NCHW),
    **{
        f"extract_image_patches-{name}": patches_case(jaxops.extract_image_patches, *arguments)
        for name, arguments in {
            "small": ((1, 2, 2, 2), (2, 2)),
            "strides": ((1, 5, 2, 1), (3, 1), (2, 1)),
            "disjoint": ((1, 4, 3, 1), (2, 3), (2, 3), (1, 1), "VALID"),
            "rates": ((1, 4, 2, 1), (2, 2), (1, 2), (2, 1)),
            "large": ((1, 2, 1, 1), (6, 1)),
            "wide": ((1, 13, 2, 1), (10, 1), (1, 1), (1, 1), "VALID"),
            "no-windows": ((1, 2, 3, 1), (3, 2), (1, 1), (1, 1), "VALID"),
        }.items()
    },
    "extract_patches-row": patches_case(jaxops.extract_patches, (1, 1, 2, 1), (1, 2)),
}
