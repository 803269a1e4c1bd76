"""Refused calls: patches, space_to_batch, batch_to_space, space_to_depth and depth_to_space."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import jax.numpy as jnp
import numpy as np

import jaxops
from refusals.values import IMAGES, NO_PADS, ONES, SIZES, WINDOW, X, key

CALLS = {
    "extract_image_patches-images-none": (
        lambda: jaxops.extract_image_patches(None, *WINDOW, "VALID"), TypeError, "extract_image_patches: images must be an array of numbers or bools; received None"),
    "extract_image_patches-images-rank": (
        lambda: jaxops.extract_image_patches(X, *WINDOW, "VALID"), ValueError, "extract_image_patches: images must have shape [batch, rows, cols, depth]; received shape (4, 3)"),
    "extract_image_patches-images-rank-5": (
        lambda: jaxops.extract_image_patches(IMAGES[None], *WINDOW, "VALID"), ValueError, "extract_image_patches: images must have shape [batch, rows, cols, depth]; received shape (1, 4, 2, 2, 4)"),
    "extract_image_patches-sizes-length": (
        lambda: jaxops.extract_image_patches(IMAGES, [2, 2], ONES, ONES, "VALID"), ValueError, "extract_image_patches: sizes must be [1, rows, cols, 1] with numbers of at least 1; received (2, 2)"),
    "extract_image_patches-sizes-scalar": (
        lambda: jaxops.extract_image_patches(IMAGES, 2, ONES, ONES, "VALID"), ValueError, "extract_image_patches: sizes must be a one-dimensional sequence of ints; received 2"),
    "extract_image_patches-sizes-0": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 0, 2, 1], ONES, ONES, "VALID"), ValueError, "extract_image_patches: sizes must be [1, rows, cols, 1] with numbers of at least 1; received (1, 0, 2, 1)"),
    "extract_image_patches-sizes-over-batch": (
        lambda: jaxops.extract_image_patches(IMAGES, [2, 2, 2, 1], ONES, ONES, "VALID"), ValueError, "extract_image_patches: sizes must be [1, rows, cols, 1] with numbers of at least 1; received (2, 2, 2, 1)"),
    "extract_image_patches-sizes-over-depth": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 2, 2, 2], ONES, ONES, "VALID"), ValueError, "extract_image_patches: sizes must be [1, rows, cols, 1] with numbers of at least 1; received (1, 2, 2, 2)"),
    "extract_image_patches-sizes-float": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 2.0, 2, 1], ONES, ONES, "VALID"), TypeError, "extract_image_patches: sizes must be a one-dimensional sequence of ints; received [1, 2.0, 2, 1]"),
    "extract_image_patches-sizes-traced": (
        lambda: jax.jit(lambda s: jaxops.extract_image_patches(IMAGES, s, ONES, ONES, "VALID"))(jnp.array(SIZES)), TypeError, "extract_image_patches: sizes must be static; received a traced array of shape (4,)"),
    "extract_image_patches-sizes-beyond-the-image": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 9, 9, 1], ONES, ONES, "VALID"), ValueError, "extract_image_patches: sizes must reach less than two strides beyond images; received a reach of 9, a stride of 1 and a dimension of 2"),
    "extract_image_patches-sizes-2**80-elements": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 2**40, 2**40, 1], ONES, ONES, "SAME"), ValueError, "extract_image_patches: sizes must make arrays of less than 2**56 bytes; received (1099511627776, 1099511627776)"),
    "extract_image_patches-sizes-negative": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 2, -1, 1], ONES, ONES, "VALID"), ValueError, "extract_image_patches: sizes must be [1, rows, cols, 1] with numbers of at least 1; received (1, 2, -1, 1)"),
    "extract_image_patches-sizes-five": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 2, 2, 1, 1], ONES, ONES, "VALID"), ValueError, "extract_image_patches: sizes must be [1, rows, cols, 1] with numbers of at least 1; received (1, 2, 2, 1, 1)"),
    "extract_image_patches-sizes-reach": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 4, 2, 1], ONES, ONES, "VALID"), ValueError, "extract_image_patches: sizes must reach less than two strides beyond images; received a reach of 4, a stride of 1 and a dimension of 2"),
    "extract_image_patches-sizes-reach-of-strides": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 8, 1, 1], [1, 3, 1, 1], ONES, "VALID"), ValueError, "extract_image_patches: sizes must reach less than two strides beyond images; received a reach of 8, a stride of 3 and a dimension of 2"),
    "extract_image_patches-sizes-reach-of-rates": (
        lambda: jaxops.extract_image_patches(IMAGES, [1, 3, 1, 1], ONES, [1, 3, 1, 1], "VALID"), ValueError, "extract_image_patches: sizes must reach less than two strides beyond images; received a reach of 7, a stride of 1 and a dimension of 2"),
    "extract_image_patches-strides-0": (
        lambda: jaxops.extract_image_patches(IMAGES, SIZES, [1, 0, 1, 1], ONES, "VALID"), ValueError, "extract_image_patches: strides must be [1, rows, cols, 1] with numbers of at least 1; received (1, 0, 1, 1)"),
    "extract_image_patches-strides-none": (
        lambda: jaxops.extract_image_patches(IMAGES, SIZES, None, ONES, "VALID"), TypeError, "extract_image_patches: strides must be a one-dimensional sequence of ints; received None"),
    "extract_image_patches-strides-bools": (
        lambda: jaxops.extract_image_patches(IMAGES, SIZES, [True] * 4, ONES, "VALID"), TypeError, "extract_image_patches: strides must be a one-dimensional sequence of ints; received [True, True, True, True]"),
    "extract_image_patches-strides-over-batch": (
        lambda: jaxops.extract_image_patches(IMAGES, ONES, [2, 1, 1, 1], ONES, "SAME"), ValueError, "extract_image_patches: strides must be [1, rows, cols, 1] with numbers of at least 1; received (2, 1, 1, 1)"),
    "extract_image_patches-rates-negative": (
        lambda: jaxops.extract_image_patches(IMAGES, SIZES, ONES, [1, -1, 1, 1], "VALID"), ValueError, "extract_image_patches: rates must be [1, rows, cols, 1] with numbers of at least 1; received (1, -1, 1, 1)"),
    "extract_image_patches-rates-string": (
        lambda: jaxops.extract_image_patches(IMAGES, SIZES, ONES, "1111", "VALID"), TypeError, "extract_image_patches: rates must be a one-dimensional sequence of ints; received '1111'"),
    "extract_image_patches-rates-2**70": (
        lambda: jaxops.extract_image_patches(IMAGES, SIZES, ONES, [1, 2**70, 1, 1], "SAME"), ValueError, "extract_image_patches: sizes and rates must make arrays of less than 2**56 bytes; received ((2, 2), (1180591620717411303424, 1))"),
    "extract_image_patches-rates-over-depth": (
        lambda: jaxops.extract_image_patches(IMAGES, ONES, ONES, [1, 1, 1, 2], "SAME"), ValueError, "extract_image_patches: rates must be [1, rows, cols, 1] with numbers of at least 1; received (1, 1, 1, 2)"),
    "extract_image_patches-padding-unknown": (
        lambda: jaxops.extract_image_patches(IMAGES, *WINDOW, "FULL"), ValueError, "extract_image_patches: padding must be VALID or SAME; received 'FULL'"),
    "extract_image_patches-padding-lower-case": (
        lambda: jaxops.extract_image_patches(IMAGES, *WINDOW, "same"), ValueError, "extract_image_patches: padding must be VALID or SAME; received 'same'"),
    "extract_image_patches-padding-array": (
        lambda: jaxops.extract_image_patches(IMAGES, *WINDOW, np.zeros((2, 2))), ValueError, "extract_image_patches: padding must be VALID or SAME; received"),
    "extract_image_patches-padding-none": (
        lambda: jaxops.extract_image_patches(IMAGES, *WINDOW, None), ValueError, "extract_image_patches: padding must be VALID or SAME; received None"),
    "extract_patches-images-rank": (
        lambda: jaxops.extract_patches(IMAGES[0], *WINDOW, "VALID"), ValueError, "extract_patches: images must have shape [batch, rows, cols, depth]; received shape (2, 2, 4)"),
    "extract_patches-images-object": (
        lambda: jaxops.extract_patches(object(), *WINDOW, "VALID"), TypeError, "extract_patches: images must be an array of numbers or bools; received"),
    "extract_patches-sizes-none": (
        lambda: jaxops.extract_patches(IMAGES, None, ONES, ONES, "VALID"), TypeError, "extract_patches: sizes must be a one-dimensional sequence of ints; received None"),
    "extract_patches-sizes-negative": (
        lambda: jaxops.extract_patches(IMAGES, [1, -2, 2, 1], ONES, ONES, "VALID"), ValueError, "extract_patches: sizes must be [1, rows, cols, 1] with numbers of at least 1; received (1, -2, 2, 1)"),
    "extract_patches-strides-matrix": (
        lambda: jaxops.extract_patches(IMAGES, SIZES, [ONES], ONES, "VALID"), ValueError, "extract_patches: strides must be a one-dimensional sequence of ints; received [[1, 1, 1, 1]]"),
    "extract_patches-strides-over-depth": (
        lambda: jaxops.extract_patches(IMAGES, SIZES, [1, 1, 1, 2], ONES, "VALID"), ValueError, "extract_patches: strides must be [1, rows, cols, 1] with numbers of at least 1; received (1, 1, 1, 2)"),
    "extract_patches-rates-0": (
        lambda: jaxops.extract_patches(IMAGES, SIZES, ONES, [1, 1, 0, 1], "VALID"), ValueError, "extract_patches: rates must be [1, rows, cols, 1] with numbers of at least 1; received (1, 1, 0, 1)"),
    "extract_patches-rates-nan": (
        lambda: jaxops.extract_patches(IMAGES, SIZES, ONES, [1, float("nan"), 1, 1], "VALID"), TypeError, "extract_patches: rates must be a one-dimensional sequence of ints; received [1, nan, 1, 1]"),
    "extract_patches-padding-none": (
        lambda: jaxops.extract_patches(IMAGES, *WINDOW, None), ValueError, "extract_patches: padding must be VALID or SAME; received None"),
    "extract_patches-padding-unknown": (
        lambda: jaxops.extract_patches(IMAGES, *WINDOW, "REFLECT"), ValueError, "extract_patches: padding must be VALID or SAME; received 'REFLECT'"),
    "space_to_batch-input-none": (
        lambda: jaxops.space_to_batch(None, [2, 2], NO_PADS), TypeError, "space_to_batch: input must be an array of numbers or bools; received None"),
    "space_to_batch-input-rank": (
        lambda: jaxops.space_to_batch(X[0], [2, 2], NO_PADS), ValueError, "space_to_batch: input must have rank 3 at least, for the batch and block_shape (2, 2); received shape (3,)"),
    "space_to_batch-input-divisible": (
        lambda: jaxops.space_to_batch(IMAGES, [3, 2], NO_PADS), ValueError, "space_to_batch: padded input must have dimensions 1 to 2 divisible by (3, 2); received shape (4, 2, 2, 4)"),
    "space_to_batch-input-scalar": (
        lambda: jaxops.space_to_batch(1.0, [], np.zeros((0, 2))), ValueError, "space_to_batch: input must have rank 1 at least, for the batch and block_shape (); received shape ()"),
    "space_to_batch-input-padded-not-divisible": (
        lambda: jaxops.space_to_batch(IMAGES, [2, 2], [[1, 0], [0, 0]]), ValueError, "space_to_batch: padded input must have dimensions 1 to 2 divisible by (2, 2); received shape (4, 3, 2, 4)"),
    "space_to_batch-block_shape-0": (
        lambda: jaxops.space_to_batch(IMAGES, [0, 2], NO_PADS), ValueError, "space_to_batch: block_shape must be at least 1; received (0, 2)"),
    "space_to_batch-block_shape-scalar": (
        lambda: jaxops.space_to_batch(IMAGES, 2, NO_PADS), ValueError, "space_to_batch: block_shape must be a one-dimensional sequence of ints; received 2"),
    "space_to_batch-block_shape-float": (
        lambda: jaxops.space_to_batch(IMAGES, [2.0, 2.0], NO_PADS), TypeError, "space_to_batch: block_shape must be a one-dimensional sequence of ints; received [2.0, 2.0]"),
    "space_to_batch-block_shape-bools": (
        lambda: jaxops.space_to_batch(IMAGES, [True, True], NO_PADS), TypeError, "space_to_batch: block_shape must be a one-dimensional sequence of ints; received [True, True]"),
    "space_to_batch-block_shape-traced": (
        lambda: jax.jit(lambda b: jaxops.space_to_batch(IMAGES, b, NO_PADS))(jnp.array([2, 2])), TypeError, "space_to_batch: block_shape must be static; received a traced array of shape (2,)"),
    "space_to_batch-block_shape-2**63": (
        lambda: jaxops.space_to_batch(IMAGES, [2**62, 2], [[0, 2**62 - 2], [0, 0]]), ValueError, "space_to_batch: input and block_shape and paddings must make arrays of less than 2**56 bytes; received input of shape (4, 2, 2, 4), block_shape (4611686018427387904, 2), paddings ((0, 4611686018427387902), (0, 0)), which make one of shape (4, 4611686018427387904, 2, 4)"),
    "space_to_batch-paddings-rows": (
        lambda: jaxops.space_to_batch(IMAGES, [2, 2], [[0, 0]]), ValueError, "space_to_batch: paddings must have shape [2, 2]; received ((0, 0),)"),
    "space_to_batch-paddings-columns": (
        lambda: jaxops.space_to_batch(IMAGES, [2, 2], [[0], [0]]), ValueError, "space_to_batch: paddings must have shape [M, 2]; received ((0,), (0,))"),
    "space_to_batch-paddings-negative": (
        lambda: jaxops.space_to_batch(IMAGES, [2, 2], [[0, -2], [0, 0]]), ValueError, "space_to_batch: paddings must be at least 0; received ((0, -2), (0, 0))"),
    "space_to_batch-paddings-none": (
        lambda: jaxops.space_to_batch(IMAGES, [2, 2], None), TypeError, "space_to_batch: paddings must have shape [M, 2]; received None"),
    "space_to_batch-paddings-ragged": (
        lambda: jaxops.space_to_batch(IMAGES, [2, 2], [[0, 0], 0]), ValueError, "space_to_batch: paddings must have shape [M, 2]; received [[0, 0], 0]"),
    "space_to_batch-paddings-2**62": (
        lambda: jaxops.space_to_batch(IMAGES, [2, 2], [[0, 2**62], [0, 0]]), ValueError, "space_to_batch: input and paddings must make arrays of less than 2**56 bytes; received input of shape (4, 2, 2, 4), paddings ((0, 4611686018427387904), (0, 0)), which make one of shape (4, 4611686018427387906, 2, 4)"),
    "space_to_batch-paddings-vector": (
        lambda: jaxops.space_to_batch(IMAGES, [2, 2], [0, 0]), ValueError, "space_to_batch: paddings must have shape [M, 2]; received [0, 0]"),
    "space_to_batch-paddings-vector-array": (
        lambda: jaxops.space_to_batch(IMAGES, [2, 2], np.array([0, 0])), ValueError, "space_to_batch: paddings must have shape [M, 2]; received array([0, 0])"),
    "space_to_batch-paddings-short-row": (
        lambda: jaxops.space_to_batch(IMAGES, [2, 2], [[0, 0], [0]]), ValueError, "space_to_batch: paddings must have shape [M, 2]; received ((0, 0), (0,))"),
    "space_to_batch-paddings-float-in-row": (
        lambda: jaxops.space_to_batch(IMAGES, [2, 2], [[0.0, 0], [0, 0]]), TypeError, "space_to_batch: each row of paddings must be a one-dimensional sequence of ints; received [0.0, 0]"),
    "space_to_batch-paddings-traced": (
        lambda: jax.jit(lambda p: jaxops.space_to_batch(IMAGES, [2, 2], p))(np.array(NO_PADS)), TypeError, "space_to_batch: paddings must be static; received a traced array of shape (2, 2)"),
    "space_to_batch_nd-input-ragged": (
        lambda: jaxops.space_to_batch_nd([[1], [2, 3]], [2], [[0, 0]]), ValueError, "space_to_batch_nd: input must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "space_to_batch_nd-input-divisible": (
        lambda: jaxops.space_to_batch_nd(X, [2], [[0, 0]]), ValueError, "space_to_batch_nd: padded input must have dimensions 1 to 1 divisible by (2,); received shape (4, 3)"),
    "space_to_batch_nd-block_shape-none": (
        lambda: jaxops.space_to_batch_nd(IMAGES, None, NO_PADS), TypeError, "space_to_batch_nd: block_shape must be a one-dimensional sequence of ints; received None"),
    "space_to_batch_nd-block_shape-negative": (
        lambda: jaxops.space_to_batch_nd(IMAGES, [-2, 2], NO_PADS), ValueError, "space_to_batch_nd: block_shape must be at least 1; received (-2, 2)"),
    "required_space_to_batch_paddings-input_shape-length": (
        lambda: jaxops.required_space_to_batch_paddings([5], [2, 2]), ValueError, "required_space_to_batch_paddings: input_shape must have 2 numbers of at least 0; received (5,)"),
    "required_space_to_batch_paddings-input_shape-traced": (
        lambda: jax.jit(lambda n: jaxops.required_space_to_batch_paddings([n], [2]))(5), TypeError, "required_space_to_batch_paddings: input_shape must be static; received a list with a traced value in it"),
    "required_space_to_batch_paddings-input_shape-negative": (
        lambda: jaxops.required_space_to_batch_paddings([-5], [2]), ValueError, "required_space_to_batch_paddings: input_shape must have 1 numbers of at least 0; received (-5,)"),
    "required_space_to_batch_paddings-block_shape-0": (
        lambda: jaxops.required_space_to_batch_paddings([5], [0]), ValueError, "required_space_to_batch_paddings: block_shape must have 1 numbers of at least 1; received (0,)"),
    "required_space_to_batch_paddings-base_paddings-negative": (
        lambda: jaxops.required_space_to_batch_paddings([5], [2], [[-1, 0]]), ValueError, "required_space_to_batch_paddings: base_paddings must have shape [1, 2] and numbers of at least 0; received ((-1, 0),)"),
    "required_space_to_batch_paddings-base_paddings-shape": (
        lambda: jaxops.required_space_to_batch_paddings([5, 6], [2, 4], [[1, 0]]), ValueError, "required_space_to_batch_paddings: base_paddings must have shape [2, 2] and numbers of at least 0; received ((1, 0),)"),
    "required_space_to_batch_paddings-base_paddings-large": (
        lambda: jaxops.required_space_to_batch_paddings([5], [2], [[2**31, 0]]), ValueError, "required_space_to_batch_paddings: base_paddings must make paddings that fit int32; received [(2147483648, 1)]"),
    "space_to_batch_nd-paddings-float": (
        lambda: jaxops.space_to_batch_nd(IMAGES, [2, 2], [[0.0, 0], [0, 0]]), TypeError, "space_to_batch_nd: each row of paddings must be a one-dimensional sequence of ints; received [0.0, 0]"),
    "space_to_batch_nd-paddings-traced": (
        lambda: jax.jit(lambda p: jaxops.space_to_batch_nd(IMAGES, [2, 2], p))(jnp.zeros((2, 2), int)), TypeError, "space_to_batch_nd: paddings must be static; received a traced array of shape (2, 2)"),
    "space_to_batch_nd-paddings-scalar": (
        lambda: jaxops.space_to_batch_nd(IMAGES, [2, 2], 0), ValueError, "space_to_batch_nd: paddings must have shape [M, 2]; received 0"),
    "batch_to_space-input-none": (
        lambda: jaxops.batch_to_space(None, [2, 2], NO_PADS), TypeError, "batch_to_space: input must be an array of numbers or bools; received None"),
    "batch_to_space-input-batch": (
        lambda: jaxops.batch_to_space(IMAGES[:3], [2, 2], NO_PADS), ValueError, "batch_to_space: input must have a first dimension divisible by the product of block_shape, 4; received shape (3, 2, 2, 4)"),
    "batch_to_space-input-rank": (
        lambda: jaxops.batch_to_space(X, [2, 2], NO_PADS), ValueError, "batch_to_space: input must have rank 3 at least, for the batch and block_shape (2, 2); received shape (4, 3)"),
    "batch_to_space-block_shape-0": (
        lambda: jaxops.batch_to_space(IMAGES, 0, NO_PADS), ValueError, "batch_to_space: block_shape must be at least 1; received (0, 0)"),
    "batch_to_space-block_shape-bool": (
        lambda: jaxops.batch_to_space(IMAGES, True, NO_PADS), TypeError, "batch_to_space: block_shape must be a static int; received True"),
    "batch_to_space-block_shape-string": (
        lambda: jaxops.batch_to_space(IMAGES, "22", NO_PADS), TypeError, "batch_to_space: block_shape must be a one-dimensional sequence of ints; received '22'"),
    "batch_to_space-crops-high": (
        lambda: jaxops.batch_to_space(IMAGES, [2, 2], [[3, 2], [0, 0]]), ValueError, "batch_to_space: crops must drop at most the 4 positions of dimension 1; received ((3, 2), (0, 0))"),
    "batch_to_space-crops-negative": (
        lambda: jaxops.batch_to_space(IMAGES, [2, 2], [[-1, 0], [0, 0]]), ValueError, "batch_to_space: crops must be at least 0; received ((-1, 0), (0, 0))"),
    "batch_to_space-crops-rows": (
        lambda: jaxops.batch_to_space(IMAGES, [2, 2], [[0, 0]]), ValueError, "batch_to_space: crops must have shape [2, 2]; received ((0, 0),)"),
    "batch_to_space-crops-key": (
        lambda: jaxops.batch_to_space(IMAGES, [2, 2], key()), TypeError, "batch_to_space: crops must have shape [M, 2]; received an array of dtype key<fry>"),
    "batch_to_space-crops-none": (
        lambda: jaxops.batch_to_space(IMAGES, [2, 2], None), TypeError, "batch_to_space: crops must have shape [M, 2]; received None"),
    "batch_to_space_nd-input-rank": (
        lambda: jaxops.batch_to_space_nd(X, [2, 2], NO_PADS), ValueError, "batch_to_space_nd: input must have rank 3 at least, for the batch and block_shape (2, 2); received shape (4, 3)"),
    "batch_to_space_nd-input-object": (
        lambda: jaxops.batch_to_space_nd(object(), [2, 2], NO_PADS), TypeError, "batch_to_space_nd: input must be an array of numbers or bools; received"),
    "batch_to_space_nd-block_shape-matrix": (
        lambda: jaxops.batch_to_space_nd(IMAGES, [[2, 2]], NO_PADS), ValueError, "batch_to_space_nd: block_shape must be a one-dimensional sequence of ints; received [[2, 2]]"),
    "batch_to_space_nd-block_shape-negative": (
        lambda: jaxops.batch_to_space_nd(IMAGES, [-2, -2], NO_PADS), ValueError, "batch_to_space_nd: block_shape must be at least 1; received (-2, -2)"),
    "batch_to_space_nd-crops-vector": (
        lambda: jaxops.batch_to_space_nd(IMAGES, [2, 2], [0, 0]), ValueError, "batch_to_space_nd: crops must have shape [M, 2]; received [0, 0]"),
    "batch_to_space_nd-crops-high": (
        lambda: jaxops.batch_to_space_nd(IMAGES, [2, 2], [[0, 0], [0, 5]]), ValueError, "batch_to_space_nd: crops must drop at most the 4 positions of dimension 2; received ((0, 0), (0, 5))"),
    "space_to_depth-input-rank": (
        lambda: jaxops.space_to_depth(X, 2), ValueError, "space_to_depth: input must have shape [N, H, W, C] for data_format NHWC; received shape (4, 3)"),
    "space_to_depth-input-none": (
        lambda: jaxops.space_to_depth(None, 2), TypeError, "space_to_depth: input must be an array of numbers or bools; received None"),
    "space_to_depth-input-vect_c": (
        lambda: jaxops.space_to_depth(IMAGES, 2, "NCHW_VECT_C"), ValueError, "space_to_depth: input must have shape [N, C / 4, H, W, 4] for data_format NCHW_VECT_C; received shape (4, 2, 2, 4)"),
    "space_to_depth-block_size-1": (
        lambda: jaxops.space_to_depth(IMAGES, 1), ValueError, "space_to_depth: block_size must be at least 2; received 1"),
    "space_to_depth-input-not-divisible": (
        lambda: jaxops.space_to_depth(IMAGES, 3), ValueError, "space_to_depth: input must have dimensions 1 to 2 divisible by (3, 3); received shape (4, 2, 2, 4)"),
    "space_to_depth-input-rank-5": (
        lambda: jaxops.space_to_depth(IMAGES[None], 2), ValueError, "space_to_depth: input must have shape [N, H, W, C] for data_format NHWC; received shape (1, 4, 2, 2, 4)"),
    "space_to_depth-block_size-float": (
        lambda: jaxops.space_to_depth(IMAGES, 2.0), TypeError, "space_to_depth: block_size must be a static int; received 2.0"),
    "space_to_depth-block_size-list": (
        lambda: jaxops.space_to_depth(IMAGES, [2, 2]), TypeError, "space_to_depth: block_size must be a static int; received [2, 2]"),
    "space_to_depth-block_size-traced": (
        lambda: jax.jit(lambda b: jaxops.space_to_depth(IMAGES, b))(2), TypeError, "space_to_depth: block_size must be a static int; received a traced array of shape ()"),
    "space_to_depth-block_size-bool": (
        lambda: jaxops.space_to_depth(IMAGES, True), TypeError, "space_to_depth: block_size must be a static int; received True"),
    "space_to_depth-data_format-unknown": (
        lambda: jaxops.space_to_depth(IMAGES, 2, "HWCN"), ValueError, "space_to_depth: data_format must be one of NHWC, NCHW, NCHW_VECT_C; received 'HWCN'"),
    "space_to_depth-data_format-none": (
        lambda: jaxops.space_to_depth(IMAGES, 2, None), ValueError, "space_to_depth: data_format must be one of NHWC, NCHW, NCHW_VECT_C; received None"),
    "space_to_depth-data_format-list": (
        lambda: jaxops.space_to_depth(IMAGES, 2, ["NHWC"]), ValueError, "space_to_depth: data_format must be one of NHWC, NCHW, NCHW_VECT_C; received ['NHWC']"),
    "depth_to_space-input-ragged": (
        lambda: jaxops.depth_to_space([[1], [2, 3]], 2), ValueError, "depth_to_space: input must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "depth_to_space-input-depth": (
        lambda: jaxops.depth_to_space(IMAGES[..., :3], 2), ValueError, "depth_to_space: input must have dimension 3 divisible by block_size**2, 4; received shape (4, 2, 2, 3)"),
    "depth_to_space-input-rank": (
        lambda: jaxops.depth_to_space(X, 2), ValueError, "depth_to_space: input must have shape [N, H, W, C] for data_format NHWC; received shape (4, 3)"),
    "depth_to_space-input-rank-5": (
        lambda: jaxops.depth_to_space(IMAGES[None], 2), ValueError, "depth_to_space: input must have shape [N, H, W, C] for data_format NHWC; received shape (1, 4, 2, 2, 4)"),
    "depth_to_space-input-vect_c": (
        lambda: jaxops.depth_to_space(IMAGES[None, ..., :3], 2, "NCHW_VECT_C"), ValueError, "depth_to_space: input must have shape [N, C / 4, H, W, 4] for data_format NCHW_VECT_C; received shape (1, 4, 2, 2, 3)"),
    "depth_to_space-block_size-0": (
        lambda: jaxops.depth_to_space(IMAGES, 0), ValueError, "depth_to_space: block_size must be at least 2; received 0"),
    "depth_to_space-block_size-negative": (
        lambda: jaxops.depth_to_space(IMAGES, -2), ValueError, "depth_to_space: block_size must be at least 2; received -2"),
    "depth_to_space-block_size-none": (
        lambda: jaxops.depth_to_space(IMAGES, None), TypeError, "depth_to_space: block_size must be a static int; received None"),
    "depth_to_space-block_size-bool": (
        lambda: jaxops.depth_to_space(IMAGES, True), TypeError, "depth_to_space: block_size must be a static int; received True"),
    "depth_to_space-block_size-float": (
        lambda: jaxops.depth_to_space(IMAGES, 2.0), TypeError, "depth_to_space: block_size must be a static int; received 2.0"),
    "depth_to_space-data_format-int": (
        lambda: jaxops.depth_to_space(IMAGES, 2, 3), ValueError, "depth_to_space: data_format must be one of NHWC, NCHW, NCHW_VECT_C; received 3"),
    "depth_to_space-data_format-lower-case": (
        lambda: jaxops.depth_to_space(IMAGES, 2, "nhwc"), ValueError, "depth_to_space: data_format must be one of NHWC, NCHW, NCHW_VECT_C; received 'nhwc'"),
    "depth_to_space-data_format-list": (
        lambda: jaxops.depth_to_space(IMAGES, 2, ["NHWC"]), ValueError, "depth_to_space: data_format must be one of NHWC, NCHW, NCHW_VECT_C; received ['NHWC']"),
}  # fmt: skip
