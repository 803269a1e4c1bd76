"""Refused calls: compat.v0, with the names of its arguments."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import numpy as np

import jaxops
from jaxops.compat import v0
from refusals.values import IMAGES, NO_PADS, ONES, SIZES, WINDOW, X, key

CALLS = {
    "v0.string_to_number-string_tensor-number": (lambda: v0.string_to_number(1.5), TypeError, "must hold strings only; received 1.5"),
    "v0.string_to_number-string_tensor-word": (lambda: v0.string_to_number(["one"]), ValueError, "must hold numbers; received 'one' at [0]"),
    "v0.string_to_number-string_tensor-name": (lambda: v0.string_to_number(["input"]), ValueError, "must hold numbers; received 'input' at [0]"),
    "v0.string_to_number-out_type-int8": (lambda: v0.string_to_number("1", np.int8), TypeError, "must be float32, float64, int32, int64, uint32 or uint64; received int8"),
    "v0.squeeze-squeeze_dims-not-1": (lambda: v0.squeeze(X, squeeze_dims=[1]), ValueError, "must name dimensions of size 1; received 1 with input of shape (4, 3)"),
    "v0.squeeze-squeeze_dims-high": (lambda: v0.squeeze(X, squeeze_dims=[2]), ValueError, "must be in [-2, 2); received 2"),
    "v0.expand_dims-dim-high": (lambda: v0.expand_dims(X, dim=3), ValueError, "must be in [-3, 3); received 3"),
    "v0.split-split_dim-high": (lambda: v0.split(2, 2, X), ValueError, "must be in [-2, 2); received 2"),
    "v0.split-num_split-not-divisor": (lambda: v0.split(0, 3, X), ValueError, "must divide dimension 0 of value, 4; received 3"),
    "v0.split-num_split-0": (lambda: v0.split(0, 0, X), ValueError, "must make at least one piece; received 0"),
    "v0.pad-constant_values": (lambda: v0.pad(X, [[1, 1], [1, 1]], constant_values=1), TypeError, "pad() got an unexpected keyword argument 'constant_values'"),
    "v0.concat-concat_dim-high": (lambda: v0.concat(2, [X, X]), ValueError, "must be in [-2, 2); received 2"),
    "v0.concat-values-empty": (lambda: v0.concat(0, []), ValueError, "must hold at least one array; received an empty list"),
    "v0.concat-values-shapes": (lambda: v0.concat(1, [X, X[:3]]), ValueError, "concat: values[1] must have the shape of values[0], (4, 3), but for dimension 1; received shape (3, 3)"),
    "v0.pack-values-shapes": (lambda: v0.pack([X, X[0]]), ValueError, "pack: values[1] must have the shape of values[0], (4, 3); received shape (3,)"),
    "v0.pack-values-empty": (lambda: v0.pack([]), ValueError, "must hold at least one array; received an empty list"),
    "v0.unpack-value-scalar": (lambda: v0.unpack(1.0), ValueError, "must have rank 1 at least; received a scalar"),
    "v0.unpack-num-differs": (lambda: v0.unpack(X, 3), ValueError, "must be dimension 0 of value, 4; received 3"),
    "v0.reverse_sequence-seq_lengths-high": (lambda: v0.reverse_sequence(X, [4, 0, 0, 0], 1), jaxops.OutOfBoundsError, "seq_lens(0) > input.dims(1): 4 is not in [0, 4) [Op:reverse_sequence]"),
    "v0.reverse_sequence-seq_dim-high": (lambda: v0.reverse_sequence(X, [1] * 4, seq_dim=2), ValueError, "must be in [0, 2) for input of shape (4, 3); received 2"),
    "v0.reverse_sequence-batch_dim-same": (lambda: v0.reverse_sequence(X, [1] * 4, seq_dim=1, batch_dim=1), ValueError, "reverse_sequence: seq_dim must differ from batch_dim; received 1 twice"),
    "v0.reverse-dims-length": (lambda: v0.reverse(X, [True]), ValueError, "must be one bool per dimension of tensor, 2; received [True]"),
    "v0.reverse-dims-axes": (lambda: v0.reverse(X, dims=[0, 1]), ValueError, "must be one bool per dimension of tensor, 2; received [0, 1]"),
    "v0.reverse-dims-none": (lambda: v0.reverse(X, None), ValueError, "must be one bool per dimension of tensor, 2; received None"),
    "v0.reverse-dims-key": (lambda: v0.reverse(X, key()), ValueError, "must be one bool per dimension of tensor, 2; received an array of dtype key<fry>"),
    "v0.reverse-dims-ragged": (lambda: v0.reverse(X, [[True], [True, False]]), ValueError, "must be one bool per dimension of tensor, 2; received [[True], [True, False]]"),
    "v0.reverse-dims-traced": (lambda: jax.jit(lambda d: v0.reverse(X, d))(np.array([True, False])), TypeError, "must be static; received a traced array"),
    "v0.transpose-conjugate": (lambda: v0.transpose(X, conjugate=True), TypeError, "transpose() got an unexpected keyword argument 'conjugate'"),
    "v0.extract_image_patches-images-rank": (lambda: v0.extract_image_patches(X, "VALID", *WINDOW), ValueError, "must have shape [batch, rows, cols, depth]; received shape (4, 3)"),
    "v0.extract_image_patches-ksizes-missing": (lambda: v0.extract_image_patches(IMAGES, "VALID"), ValueError, "must be [1, rows, cols, 1] with numbers of at least 1; received ()"),
    "v0.extract_image_patches-strides-missing": (lambda: v0.extract_image_patches(IMAGES, "VALID", SIZES), ValueError, "must be [1, rows, cols, 1] with numbers of at least 1; received ()"),
    "v0.extract_image_patches-rates-missing": (lambda: v0.extract_image_patches(IMAGES, "VALID", SIZES, ONES), ValueError, "must be [1, rows, cols, 1] with numbers of at least 1; received ()"),
    "v0.space_to_batch-input-rank": (lambda: v0.space_to_batch(X, NO_PADS, 2), ValueError, "must have rank 4; received shape (4, 3)"),
    "v0.space_to_batch-paddings-negative": (lambda: v0.space_to_batch(IMAGES, [[-2, 0], [0, 0]], 2), ValueError, "must be at least 0; received ((-2, 0), (0, 0))"),
    "v0.space_to_batch-block_size-1": (lambda: v0.space_to_batch(IMAGES, NO_PADS, 1), ValueError, "must be 2 at least; received 1"),
    "v0.batch_to_space-crops-high": (lambda: v0.batch_to_space(IMAGES, [[9, 0], [0, 0]], 2), ValueError, "must drop at most the 4 positions of dimension 1; received ((9, 0), (0, 0))"),
    "v0.batch_to_space-block_size-0": (lambda: v0.batch_to_space(IMAGES, NO_PADS, 0), ValueError, "must be 2 at least; received 0"),
    "v0.space_to_depth-input-rank": (lambda: v0.space_to_depth(X, 2), ValueError, "must have shape [N, H, W, C] for format NHWC; received shape (4, 3)"),
    "v0.depth_to_space-block_size-1": (lambda: v0.depth_to_space(IMAGES, 1), ValueError, "must be at least 2; received 1"),
    "v0.gather-indices-high": (lambda: v0.gather(X, 4), jaxops.OutOfBoundsError, "indices = 4 is not in [0, 4) [Op:gather]"),
    "v0.one_hot-off_value-string-alone": (
        lambda: v0.one_hot([0], 3, None, "b"), TypeError, "one_hot: on_value and off_value must both be given, and no dtype of numbers, where they are strings or keys; received {'off_value': 'b'} and dtype=None"),
    "v0.unique_with_counts-x-matrix": (lambda: v0.unique_with_counts(X), ValueError, "must be a vector, or `axis` of `jaxops.unique_with_counts` given; received shape (4, 3)"),
}  # fmt: skip
