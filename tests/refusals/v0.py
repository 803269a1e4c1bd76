"""Refused calls: compat.v0, with the names of its arguments."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import numpy as np

from jaxops.compat import v0
from refusals.values import IMAGES, NO_PADS, ONES, SIZES, X, key

CALLS = {
    "v0.string_to_number-string_tensor-name": (lambda: v0.string_to_number(["input"]), ValueError, "must hold numbers; received 'input' at [0]"),
    "v0.string_to_number-out_type-int8": (lambda: v0.string_to_number("1", np.int8), TypeError, "must be float32, float64, int32, int64, uint32 or uint64; received int8"),
    "v0.pad-constant_values": (lambda: v0.pad(X, [[1, 1], [1, 1]], constant_values=1), TypeError, "pad() got an unexpected keyword argument 'constant_values'"),
    "v0.reverse_sequence-batch_dim-same": (lambda: v0.reverse_sequence(X, [1] * 4, seq_dim=1, batch_dim=1), ValueError, "reverse_sequence: seq_dim must differ from batch_dim; received 1 twice"),
    "v0.reverse-dims-length": (lambda: v0.reverse(X, [True]), ValueError, "must be one bool per dimension of tensor, 2; received [True]"),
    "v0.reverse-dims-axes": (lambda: v0.reverse(X, dims=[0, 1]), ValueError, "must be one bool per dimension of tensor, 2; received [0, 1]"),
    "v0.reverse-dims-none": (lambda: v0.reverse(X, None), ValueError, "must be one bool per dimension of tensor, 2; received None"),
    "v0.reverse-dims-key": (lambda: v0.reverse(X, key()), ValueError, "must be one bool per dimension of tensor, 2; received an array of dtype key<fry>"),
    "v0.reverse-dims-ragged": (lambda: v0.reverse(X, [[True], [True, False]]), ValueError, "must be one bool per dimension of tensor, 2; received [[True], [True, False]]"),
    "v0.reverse-dims-traced": (lambda: jax.jit(lambda d: v0.reverse(X, d))(np.array([True, False])), TypeError, "must be static; received a traced array"),
    "v0.extract_image_patches-ksizes-missing": (lambda: v0.extract_image_patches(IMAGES, "VALID"), ValueError, "must be [1, rows, cols, 1] with numbers of at least 1; received ()"),
    "v0.extract_image_patches-strides-missing": (lambda: v0.extract_image_patches(IMAGES, "VALID", SIZES), ValueError, "must be [1, rows, cols, 1] with numbers of at least 1; received ()"),
    "v0.extract_image_patches-rates-missing": (lambda: v0.extract_image_patches(IMAGES, "VALID", SIZES, ONES), ValueError, "must be [1, rows, cols, 1] with numbers of at least 1; received ()"),
    "v0.space_to_batch-input-rank": (lambda: v0.space_to_batch(X, NO_PADS, 2), ValueError, "must have rank 4; received shape (4, 3)"),
    "v0.space_to_batch-block_size-1": (lambda: v0.space_to_batch(IMAGES, NO_PADS, 1), ValueError, "must be 2 at least; received 1"),
    "v0.batch_to_space-block_size-0": (lambda: v0.batch_to_space(IMAGES, NO_PADS, 0), ValueError, "must be 2 at least; received 0"),
    "v0.space_to_depth-input-rank": (lambda: v0.space_to_depth(X, 2), ValueError, "must have shape [N, H, W, C] for format NHWC; received shape (4, 3)"),
    "v0.unique_with_counts-x-matrix": (lambda: v0.unique_with_counts(X), ValueError, "must be a vector, or `axis` of `jaxops.unique_with_counts` given; received shape (4, 3)"),
}  # fmt: skip
