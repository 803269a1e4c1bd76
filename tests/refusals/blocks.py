"""Refused calls: patches, space_to_batch, batch_to_space, space_to_depth and depth_to_space."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jaxops
from refusals.values import IMAGES, NO_PADS, ONES, SIZES, WINDOW, X

CALLS = {
    "extract_image_patches-images-rank": (lambda: jaxops.extract_image_patches(X, *WINDOW, "VALID"), ValueError, "must have shape [batch, rows, cols, depth]; received shape (4, 3)"),
    "extract_image_patches-images-rank-5": (
        lambda: jaxops.extract_image_patches(IMAGES[None], *WINDOW, "VALID"), ValueError, "must have shape [batch, rows, cols, depth]; received shape (1, 4, 2, 2, 4)"),
    "extract_image_patches-sizes-length": (
        lambda: jaxops.extract_image_patches(IMAGES, [2, 2], ONES, ONES, "VALID"), ValueError, "must be [1, rows, cols, 1] with numbers of at least 1; received (2, 2)"),
    "extract_image_patches-sizes-0": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 0, 2, 1], ONES, ONES, "VALID"), ValueError, "must be [1, rows, cols, 1] with numbers of at least 1; received (1, 0, 2, 1)"),
    "extract_image_patches-sizes-over-batch": (
        lambda: jaxops.extract_image_patches(IMAGES, [2, 2, 2, 1], ONES, ONES, "VALID"), ValueError, "must be [1, rows, cols, 1] with numbers of at least 1; received (2, 2, 2, 1)"),
    "extract_image_patches-sizes-over-depth": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 2, 2, 2], ONES, ONES, "VALID"), ValueError, "must be [1, rows, cols, 1] with numbers of at least 1; received (1, 2, 2, 2)"),
    "extract_image_patches-sizes-2**80-elements": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 2**40, 2**40, 1], ONES, ONES, "SAME"), ValueError, "must make arrays of less than 2**56 bytes; received (1099511627776, 1099511627776)"),
    "extract_image_patches-sizes-of-five": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 2, 2, 1, 1], ONES, ONES, "VALID"), ValueError, "must be [1, rows, cols, 1] with numbers of at least 1; received (1, 2, 2, 1, 1)"),
    "extract_image_patches-sizes-reach": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 4, 2, 1], ONES, ONES, "VALID"), ValueError, "must reach less than two strides beyond images; received a reach of 4, a stride of 1 and a dimension of 2"),
    "extract_image_patches-sizes-reach-of-strides": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 8, 1, 1], [1, 3, 1, 1], ONES, "VALID"), ValueError, "must reach less than two strides beyond images; received a reach of 8, a stride of 3 and a dimension of 2"),
    "extract_image_patches-sizes-reach-of-rates": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 3, 1, 1], ONES, [1, 3, 1, 1], "VALID"), ValueError, "must reach less than two strides beyond images; received a reach of 7, a stride of 1 and a dimension of 2"),
    "extract_image_patches-strides-0": (
        lambda: jaxops.extract_image_patches(IMAGES, SIZES, [1, 0, 1, 1], ONES, "VALID"), ValueError, "must be [1, rows, cols, 1] with numbers of at least 1; received (1, 0, 1, 1)"),
    "extract_image_patches-rates-negative": (
        lambda: jaxops.extract_image_patches(IMAGES, SIZES, ONES, [1, -1, 1, 1], "VALID"), ValueError, "must be [1, rows, cols, 1] with numbers of at least 1; received (1, -1, 1, 1)"),
    "extract_image_patches-rates-2**70": (
        lambda: jaxops.extract_image_patches(IMAGES, SIZES, ONES, [1, 2**70, 1, 1], "SAME"), ValueError, "extract_image_patches: sizes and rates must make arrays of less than 2**56 bytes; received ((2, 2), (1180591620717411303424, 1))"),
    "space_to_batch-input-rank": (lambda: jaxops.space_to_batch(X[0], [2, 2], NO_PADS), ValueError, "must have rank 3 at least, for the batch and block_shape (2, 2); received shape (3,)"),
    "space_to_batch-input-divisible": (
        lambda: jaxops.space_to_batch(IMAGES, [3, 2], NO_PADS), ValueError, "space_to_batch: padded input must have dimensions 1 to 2 divisible by (3, 2); received shape (4, 2, 2, 4)"),
    "space_to_batch-input-padded-not-divisible": (
        lambda: jaxops.space_to_batch(IMAGES, [2, 2], [[1, 0], [0, 0]]), ValueError, "space_to_batch: padded input must have dimensions 1 to 2 divisible by (2, 2); received shape (4, 3, 2, 4)"),
    "space_to_batch-block_shape-0": (lambda: jaxops.space_to_batch(IMAGES, [0, 2], NO_PADS), ValueError, "must be at least 1; received (0, 2)"),
    "space_to_batch-block_shape-2**63": (
        lambda: jaxops.space_to_batch(IMAGES, [2**62, 2], [[0, 2**62 - 2], [0, 0]]), ValueError, "space_to_batch: input and block_shape and paddings must make arrays of less than 2**56 bytes; received input of shape (4, 2, 2, 4), block_shape (4611686018427387904, 2), paddings ((0, 4611686018427387902), (0, 0)), which make one of shape (4, 4611686018427387904, 2, 4)"),
    "space_to_batch-paddings-rows": (lambda: jaxops.space_to_batch(IMAGES, [2, 2], [[0, 0]]), ValueError, "must have shape [2, 2]; received ((0, 0),)"),
    "space_to_batch-paddings-negative": (lambda: jaxops.space_to_batch(IMAGES, [2, 2], [[0, -2], [0, 0]]), ValueError, "must be at least 0; received ((0, -2), (0, 0))"),
    "space_to_batch-paddings-2**62": (
        lambda: jaxops.space_to_batch(IMAGES, [2, 2], [[0, 2**62], [0, 0]]), ValueError, "space_to_batch: input and paddings must make arrays of less than 2**56 bytes; received input of shape (4, 2, 2, 4), paddings ((0, 4611686018427387904), (0, 0)), which make one of shape (4, 4611686018427387906, 2, 4)"),
    "space_to_batch-paddings-short-row": (lambda: jaxops.space_to_batch(IMAGES, [2, 2], [[0, 0], [0]]), ValueError, "must have shape [M, 2]; received ((0, 0), (0,))"),
    "space_to_batch-paddings-float-in-row": (
        lambda: jaxops.space_to_batch(IMAGES, [2, 2], [[0.0, 0], [0, 0]]), TypeError, "space_to_batch: each row of paddings must be a one-dimensional sequence of ints; received [0.0, 0]"),
    "required_space_to_batch_paddings-input_shape-length": (lambda: jaxops.required_space_to_batch_paddings([5], [2, 2]), ValueError, "must have 2 numbers of at least 0; received (5,)"),
    "required_space_to_batch_paddings-input_shape-negative": (lambda: jaxops.required_space_to_batch_paddings([-5], [2]), ValueError, "must have 1 numbers of at least 0; received (-5,)"),
    "required_space_to_batch_paddings-block_shape-0": (lambda: jaxops.required_space_to_batch_paddings([5], [0]), ValueError, "must have 1 numbers of at least 1; received (0,)"),
    "required_space_to_batch_paddings-base_paddings-negative": (
        lambda: jaxops.required_space_to_batch_paddings([5], [2], [[-1, 0]]), ValueError, "must have shape [1, 2] and numbers of at least 0; received ((-1, 0),)"),
    "required_space_to_batch_paddings-base_paddings-shape": (
        lambda: jaxops.required_space_to_batch_paddings([5, 6], [2, 4], [[1, 0]]), ValueError, "must have shape [2, 2] and numbers of at least 0; received ((1, 0),)"),
    "required_space_to_batch_paddings-base_paddings-large": (
        lambda: jaxops.required_space_to_batch_paddings([5], [2], [[2**31, 0]]), ValueError, "must make paddings that fit int32; received [(2147483648, 1)]"),
    "batch_to_space-input-batch": (
        lambda: jaxops.batch_to_space(IMAGES[:3], [2, 2], NO_PADS), ValueError, "must have a first dimension divisible by the product of block_shape, 4; received shape (3, 2, 2, 4)"),
    "batch_to_space-input-rank": (lambda: jaxops.batch_to_space(X, [2, 2], NO_PADS), ValueError, "must have rank 3 at least, for the batch and block_shape (2, 2); received shape (4, 3)"),
    "batch_to_space-block_shape-0": (lambda: jaxops.batch_to_space(IMAGES, 0, NO_PADS), ValueError, "must be at least 1; received (0, 0)"),
    "batch_to_space-crops-high": (lambda: jaxops.batch_to_space(IMAGES, [2, 2], [[3, 2], [0, 0]]), ValueError, "must drop at most the 4 positions of dimension 1; received ((3, 2), (0, 0))"),
    "batch_to_space-crops-negative": (lambda: jaxops.batch_to_space(IMAGES, [2, 2], [[-1, 0], [0, 0]]), ValueError, "must be at least 0; received ((-1, 0), (0, 0))"),
    "batch_to_space-crops-rows": (lambda: jaxops.batch_to_space(IMAGES, [2, 2], [[0, 0]]), ValueError, "must have shape [2, 2]; received ((0, 0),)"),
    "space_to_depth-input-vect_c": (
        lambda: jaxops.space_to_depth(IMAGES, 2, "NCHW_VECT_C"), ValueError, "must have shape [N, C / 4, H, W, 4] for data_format NCHW_VECT_C; received shape (4, 2, 2, 4)"),
    "space_to_depth-block_size-1": (lambda: jaxops.space_to_depth(IMAGES, 1), ValueError, "must be at least 2; received 1"),
    "space_to_depth-input-not-divisible": (lambda: jaxops.space_to_depth(IMAGES, 3), ValueError, "must have dimensions 1 to 2 divisible by (3, 3); received shape (4, 2, 2, 4)"),
    "space_to_depth-input-rank-5": (lambda: jaxops.space_to_depth(IMAGES[None], 2), ValueError, "must have shape [N, H, W, C] for data_format NHWC; received shape (1, 4, 2, 2, 4)"),
    "depth_to_space-input-depth": (lambda: jaxops.depth_to_space(IMAGES[..., :3], 2), ValueError, "must have dimension 3 divisible by block_size**2, 4; received shape (4, 2, 2, 3)"),
    "depth_to_space-input-rank": (lambda: jaxops.depth_to_space(X, 2), ValueError, "must have shape [N, H, W, C] for data_format NHWC; received shape (4, 3)"),
    "depth_to_space-block_size-0": (lambda: jaxops.depth_to_space(IMAGES, 0), ValueError, "must be at least 2; received 0"),
}  # fmt: skip
