"""TensorFlow 0.x's functions of patches and of blocks of images; see `v0.py`."""

from __future__ import annotations

from collections.abc import Sequence

import jax

import jaxops
from jaxops._ops.shaping import shape_of
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.static_values import static_int
from jaxops.compat._spelling import spelled, under_names


def _padding_last(
    images: ArrayLike,
    ksizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
    name: str | None = None,
) -> jax.Array:
    with under_names(sizes="ksizes"):
        return jaxops.extract_image_patches(images, ksizes, strides, rates, padding, name)


@spelled("0.8", (_padding_last, "0.9 to 0.12"))
def extract_image_patches(
    images: ArrayLike,
    padding: str,
    ksizes: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    rates: Sequence[int] | None = None,
    name: str | None = None,
) -> jax.Array:
    """`jaxops.extract_image_patches(images, ksizes, strides, rates, padding)`.

    The lists default to `[]` in TensorFlow 0.8 too, which refuses them: each takes 4 ints. Also
    `extract_image_patches(images, ksizes, strides, rates, padding)`, of later releases.
    """
    ksizes, strides, rates = ([] if x is None else x for x in (ksizes, strides, rates))
    return _padding_last(images, ksizes, strides, rates, padding, name)


def space_to_batch(
    input: ArrayLike, paddings: ArrayLike, block_size: Int, name: str | None = None
) -> jax.Array:
    """`jaxops.space_to_batch` of a 4-D `input`, with blocks of `block_size` by `block_size`."""
    _check_block(input, block_size, "space_to_batch")
    with under_names(block_shape="block_size"):
        return jaxops.space_to_batch(input, [block_size] * 2, paddings, name)


def batch_to_space(
    input: ArrayLike, crops: ArrayLike, block_size: Int, name: str | None = None
) -> jax.Array:
    """`jaxops.batch_to_space` of a 4-D `input`, with blocks of `block_size` by `block_size`."""
    _check_block(input, block_size, "batch_to_space")
    with under_names(block_shape="block_size"):
        return jaxops.batch_to_space(input, [block_size] * 2, crops, name)


def _check_block(input: ArrayLike, block_size: Int, op: str) -> None:
    shape = shape_of(input, op, "input")
    if len(shape) != 4:
        raise ValueError(f"{op}: input must have rank 4; received shape {shape}")
    if static_int(block_size, op, "block_size") < 2:
        raise ValueError(f"{op}: block_size must be 2 at least; received {block_size}")


def space_to_depth(input: ArrayLike, block_size: Int, name: str | None = None) -> jax.Array:
    """`jaxops.space_to_depth(input, block_size)`."""
    with under_names(data_format="format"):
        return jaxops.space_to_depth(input, block_size, name=name)


def depth_to_space(input: ArrayLike, block_size: Int, name: str | None = None) -> jax.Array:
    """`jaxops.depth_to_space(input, block_size)`."""
    with under_names(data_format="format"):
        return jaxops.depth_to_space(input, block_size, name=name)
