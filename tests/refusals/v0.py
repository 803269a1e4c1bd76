"""Refused calls: compat.v0, with the names of its arguments."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import numpy as np

import jaxops
from jaxops.compat import v0
from refusals.values import IMAGES, NO_PADS, ONES, SIZES, WINDOW, X, key

CALLS = {
    "v0.string_to_number-string_tensor-number": (
        lambda: v0.string_to_number(1.5), TypeError, "string_to_number: string_tensor must hold strings only; received 1.5"),
    "v0.string_to_number-string_tensor-word": (
        lambda: v0.string_to_number(["one"]), ValueError, "string_to_number: string_tensor must hold numbers; received 'one' at [0]"),
    "v0.string_to_number-string_tensor-name": (
        lambda: v0.string_to_number(["input"]), ValueError, "string_to_number: string_tensor must hold numbers; received 'input' at [0]"),
    "v0.string_to_number-out_type-int8": (
        lambda: v0.string_to_number("1", np.int8), TypeError, "string_to_number: out_type must be float32, float64, int32, int64, uint32 or uint64; received int8"),
    "v0.to_double-x-x64-off": (
        lambda: v0.to_double(X), ValueError, 'to_double: the result must have 32 bits at most while x64 is off; received float64; switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "v0.to_float-x-none": (
        lambda: v0.to_float(None), TypeError, "to_float: x must be an array of numbers or bools; received None"),
    "v0.to_bfloat16-x-string": (
        lambda: v0.to_bfloat16("1"), TypeError, "to_bfloat16: x must be an array of numbers or bools; received dtype <U1"),
    "v0.to_int32-x-key": (
        lambda: v0.to_int32(key()), TypeError, "to_int32: x must have a numeric or bool dtype; received key<fry>"),
    "v0.to_int64-x-x64-off": (
        lambda: v0.to_int64(X), ValueError, 'to_int64: the result must have 32 bits at most while x64 is off; received int64; indices and lengths need no cast, functions take them as int32; for other numbers switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "v0.cast-x-object": (
        lambda: v0.cast(object(), np.int32), TypeError, "cast: x must be an array of numbers or bools; received"),
    "v0.cast-dtype-unsized": (
        lambda: v0.cast(X, complex), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received <class 'complex'>"),
    "v0.saturate_cast-value-bool": (
        lambda: v0.saturate_cast(True, np.int8), TypeError, "saturate_cast: value must have a numeric dtype; received bool"),
    "v0.saturate_cast-dtype-bool": (
        lambda: v0.saturate_cast(X, bool), TypeError, "saturate_cast: dtype must have a numeric dtype; received bool"),
    "v0.bitcast-input-shape": (
        lambda: v0.bitcast(np.zeros(3, np.uint8), np.float32), ValueError, "bitcast: input must have a last dimension of 4 to become float32 from uint8; received shape (3,)"),
    "v0.bitcast-type-string": (
        lambda: v0.bitcast(X, "text"), TypeError, "bitcast: type must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received 'text'"),
    "v0.shape-input-none": (
        lambda: v0.shape(None), TypeError, "shape: input must be an array of numbers, bools or strings; received None"),
    "v0.shape_n-input-none": (
        lambda: v0.shape_n(None), TypeError, "shape_n: input must be a list of arrays; received NoneType"),
    "v0.size-input-ragged": (
        lambda: v0.size([[1], [2, 3]]), ValueError, "size: input must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "v0.rank-input-dict": (
        lambda: v0.rank({}), TypeError, "rank: input must be an array of numbers, bools or strings; received {}"),
    "v0.reshape-tensor-none": (
        lambda: v0.reshape(None, [1]), TypeError, "reshape: tensor must be an array of numbers or bools; received None"),
    "v0.reshape-shape-elements": (
        lambda: v0.reshape(X, [7]), ValueError, "reshape: shape must have the 12 elements of tensor, whose shape is (4, 3); received (7,)"),
    "v0.reshape-shape-float": (
        lambda: v0.reshape(X, [12.0]), TypeError, "reshape: shape must be a one-dimensional sequence of ints; received [12.0]"),
    "v0.squeeze-input-none": (
        lambda: v0.squeeze(None), TypeError, "squeeze: input must be an array of numbers or bools; received None"),
    "v0.squeeze-squeeze_dims-not-1": (
        lambda: v0.squeeze(X, squeeze_dims=[1]), ValueError, "squeeze: squeeze_dims must name dimensions of size 1; received 1 with input of shape (4, 3)"),
    "v0.squeeze-squeeze_dims-high": (
        lambda: v0.squeeze(X, squeeze_dims=[2]), ValueError, "squeeze: squeeze_dims must be in [-2, 2); received 2"),
    "v0.squeeze-squeeze_dims-string": (
        lambda: v0.squeeze(X, squeeze_dims="0"), TypeError, "squeeze: squeeze_dims must be a one-dimensional sequence of ints; received '0'"),
    "v0.squeeze-squeeze_dims-name": (
        lambda: v0.squeeze(X, squeeze_dims="axis"), TypeError, "squeeze: squeeze_dims must be a one-dimensional sequence of ints; received 'axis'"),
    "v0.expand_dims-input-ragged": (
        lambda: v0.expand_dims([[1], [2, 3]], 0), ValueError, "expand_dims: input must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "v0.expand_dims-dim-high": (
        lambda: v0.expand_dims(X, dim=3), ValueError, "expand_dims: dim must be in [-3, 3); received 3"),
    "v0.expand_dims-dim-float": (
        lambda: v0.expand_dims(X, dim=0.0), TypeError, "expand_dims: dim must be a static int; received 0.0"),
    "v0.slice-input_-rank": (
        lambda: v0.slice(X, [0], [1]), ValueError, "slice: begin and size must have one component per dimension of input_, 2; received shapes (1,) and (1,)"),
    "v0.slice-begin-high": (
        lambda: v0.slice(X, [4, 0], [1, 1]), jaxops.OutOfBoundsError, "Expected size[0] in [0, 0], but got 1 [Op:slice]"),
    "v0.slice-begin-string": (
        lambda: v0.slice(X, "00", [1, 1]), TypeError, "slice: begin must be a one-dimensional sequence of ints; received '00'"),
    "v0.slice-size-negative": (
        lambda: v0.slice(X, [0, 0], [-2, 1]), ValueError, "slice: size must have components of -1 at least; received (-2, 1)"),
    "v0.slice-size-none": (
        lambda: v0.slice(X, [0, 0], None), TypeError, "slice: size must be a one-dimensional sequence of ints; received None"),
    "v0.split-split_dim-high": (
        lambda: v0.split(2, 2, X), ValueError, "split: split_dim must be in [-2, 2); received 2"),
    "v0.split-split_dim-none": (
        lambda: v0.split(None, 2, X), TypeError, "split: split_dim must be a static int; received None"),
    "v0.split-num_split-list": (
        lambda: v0.split(0, [2, 2], X), TypeError, "split: num_split must be a static int; received [2, 2]"),
    "v0.split-num_split-not-divisor": (
        lambda: v0.split(0, 3, X), ValueError, "split: num_split must divide dimension 0 of value, 4; received 3"),
    "v0.split-num_split-0": (
        lambda: v0.split(0, 0, X), ValueError, "split: num_split must make at least one piece; received 0"),
    "v0.split-value-none": (
        lambda: v0.split(0, 2, None), TypeError, "split: value must be an array of numbers or bools; received None"),
    "v0.tile-input-object": (
        lambda: v0.tile(object(), [2]), TypeError, "tile: input must be an array of numbers or bools; received"),
    "v0.tile-multiples-length": (
        lambda: v0.tile(X, [2]), ValueError, "tile: multiples must have one component of at least 0 per dimension of input, 2; received (2,)"),
    "v0.pad-tensor-none": (
        lambda: v0.pad(None, [[1, 1]]), TypeError, "pad: tensor must be an array of numbers or bools; received None"),
    "v0.pad-paddings-shape": (
        lambda: v0.pad(X, [[1, 1]]), ValueError, "pad: paddings must have shape [2, 2] for tensor of shape (4, 3); received ((1, 1),)"),
    "v0.pad-mode-unknown": (
        lambda: v0.pad(X, [[1, 1], [1, 1]], mode="WRAP"), ValueError, "pad: mode must be one of CONSTANT, REFLECT, SYMMETRIC; received 'WRAP'"),
    "v0.pad-constant_values": (
        lambda: v0.pad(X, [[1, 1], [1, 1]], constant_values=1), TypeError, "pad() got an unexpected keyword argument 'constant_values'"),
    "v0.concat-concat_dim-high": (
        lambda: v0.concat(2, [X, X]), ValueError, "concat: concat_dim must be in [-2, 2); received 2"),
    "v0.concat-values-empty": (
        lambda: v0.concat(0, []), ValueError, "concat: values must hold at least one array; received an empty list"),
    "v0.concat-values-shapes": (
        lambda: v0.concat(1, [X, X[:3]]), ValueError, "concat: values[1] must have the shape of values[0], (4, 3), but for dimension 1; received shape (3, 3)"),
    "v0.pack-values-none": (
        lambda: v0.pack(None), TypeError, "pack: values must be an array of numbers or bools; received None"),
    "v0.pack-values-shapes": (
        lambda: v0.pack([X, X[0]]), ValueError, "pack: values[1] must have the shape of values[0], (4, 3); received shape (3,)"),
    "v0.pack-values-empty": (
        lambda: v0.pack([]), ValueError, "pack: values must hold at least one array; received an empty list"),
    "v0.unpack-value-scalar": (
        lambda: v0.unpack(1.0), ValueError, "unpack: value must have rank 1 at least; received a scalar"),
    "v0.unpack-num-differs": (
        lambda: v0.unpack(X, 3), ValueError, "unpack: num must be dimension 0 of value, 4; received 3"),
    "v0.unpack-num-string": (
        lambda: v0.unpack(X, "4"), TypeError, "unpack: num must be a static int; received '4'"),
    "v0.reverse_sequence-input-none": (
        lambda: v0.reverse_sequence(None, [1], 1), TypeError, "reverse_sequence: input must be an array of numbers or bools; received None"),
    "v0.reverse_sequence-seq_lengths-high": (
        lambda: v0.reverse_sequence(X, [4, 0, 0, 0], 1), jaxops.OutOfBoundsError, "seq_lens(0) > input.dims(1): 4 is not in [0, 4) [Op:reverse_sequence]"),
    "v0.reverse_sequence-seq_lengths-float": (
        lambda: v0.reverse_sequence(X, [1.0] * 4, 1), TypeError, "reverse_sequence: seq_lengths must have an integer dtype; received float64"),
    "v0.reverse_sequence-seq_dim-high": (
        lambda: v0.reverse_sequence(X, [1] * 4, seq_dim=2), ValueError, "reverse_sequence: seq_dim must be in [0, 2) for input of shape (4, 3); received 2"),
    "v0.reverse_sequence-batch_dim-same": (
        lambda: v0.reverse_sequence(X, [1] * 4, seq_dim=1, batch_dim=1), ValueError, "reverse_sequence: seq_dim must differ from batch_dim; received 1 twice"),
    "v0.reverse_sequence-batch_dim-float": (
        lambda: v0.reverse_sequence(X, [1] * 4, seq_dim=1, batch_dim=0.0), TypeError, "reverse_sequence: batch_dim must be a static int; received 0.0"),
    "v0.reverse-tensor-ragged": (
        lambda: v0.reverse([[1], [2, 3]], [True]), ValueError, "reverse: tensor must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "v0.reverse-dims-length": (
        lambda: v0.reverse(X, [True]), ValueError, "reverse: dims must be one bool per dimension of tensor, 2; received [True]"),
    "v0.reverse-dims-axes": (
        lambda: v0.reverse(X, dims=[0, 1]), ValueError, "reverse: dims must be one bool per dimension of tensor, 2; received [0, 1]"),
    "v0.reverse-dims-none": (
        lambda: v0.reverse(X, None), ValueError, "reverse: dims must be one bool per dimension of tensor, 2; received None"),
    "v0.reverse-dims-key": (
        lambda: v0.reverse(X, key()), ValueError, "reverse: dims must be one bool per dimension of tensor, 2; received an array of dtype key<fry>"),
    "v0.reverse-dims-ragged": (
        lambda: v0.reverse(X, [[True], [True, False]]), ValueError, "reverse: dims must be one bool per dimension of tensor, 2; received [[True], [True, False]]"),
    "v0.reverse-dims-traced": (
        lambda: jax.jit(lambda d: v0.reverse(X, d))(np.array([True, False])), TypeError, "reverse: dims must be static; received a traced array"),
    "v0.transpose-a-none": (
        lambda: v0.transpose(None), TypeError, "transpose: a must be an array of numbers or bools; received None"),
    "v0.transpose-perm-duplicate": (
        lambda: v0.transpose(X, [0, 0]), ValueError, "transpose: perm must hold each of the 2 dimensions of a once; received (0, 0)"),
    "v0.transpose-conjugate": (
        lambda: v0.transpose(X, conjugate=True), TypeError, "transpose() got an unexpected keyword argument 'conjugate'"),
    "v0.extract_image_patches-images-rank": (
        lambda: v0.extract_image_patches(X, "VALID", *WINDOW), ValueError, "extract_image_patches: images must have shape [batch, rows, cols, depth]; received shape (4, 3)"),
    "v0.extract_image_patches-ksizes-missing": (
        lambda: v0.extract_image_patches(IMAGES, "VALID"), ValueError, "extract_image_patches: ksizes must be [1, rows, cols, 1] with numbers of at least 1; received ()"),
    "v0.extract_image_patches-ksizes-array": (
        lambda: v0.extract_image_patches(IMAGES, "VALID", np.zeros((2, 2), int), ONES, ONES), ValueError, "extract_image_patches: ksizes must be a one-dimensional sequence of ints; received"),
    "v0.extract_image_patches-strides-float": (
        lambda: v0.extract_image_patches(IMAGES, "VALID", SIZES, [1, 1.0, 1, 1], ONES), TypeError, "extract_image_patches: strides must be a one-dimensional sequence of ints; received [1, 1.0, 1, 1]"),
    "v0.extract_image_patches-rates-0": (
        lambda: v0.extract_image_patches(IMAGES, "VALID", SIZES, ONES, [1, 0, 0, 1]), ValueError, "extract_image_patches: rates must be [1, rows, cols, 1] with numbers of at least 1; received (1, 0, 0, 1)"),
    "v0.space_to_batch-input-rank": (
        lambda: v0.space_to_batch(X, NO_PADS, 2), ValueError, "space_to_batch: input must have rank 4; received shape (4, 3)"),
    "v0.space_to_batch-input-ragged": (
        lambda: v0.space_to_batch([[1], [2, 3]], NO_PADS, 2), ValueError, "space_to_batch: input must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "v0.space_to_batch-paddings-negative": (
        lambda: v0.space_to_batch(IMAGES, [[-2, 0], [0, 0]], 2), ValueError, "space_to_batch: paddings must be at least 0; received ((-2, 0), (0, 0))"),
    "v0.space_to_batch-block_size-1": (
        lambda: v0.space_to_batch(IMAGES, NO_PADS, 1), ValueError, "space_to_batch: block_size must be 2 at least; received 1"),
    "v0.space_to_batch-block_size-list": (
        lambda: v0.space_to_batch(IMAGES, NO_PADS, [2, 2]), TypeError, "space_to_batch: block_size must be a static int; received [2, 2]"),
    "v0.batch_to_space-input-none": (
        lambda: v0.batch_to_space(None, NO_PADS, 2), TypeError, "batch_to_space: input must be an array of numbers, bools or strings; received None"),
    "v0.batch_to_space-crops-high": (
        lambda: v0.batch_to_space(IMAGES, [[9, 0], [0, 0]], 2), ValueError, "batch_to_space: crops must drop at most the 4 positions of dimension 1; received ((9, 0), (0, 0))"),
    "v0.batch_to_space-crops-string": (
        lambda: v0.batch_to_space(IMAGES, "0000", 2), TypeError, "batch_to_space: crops must have shape [M, 2]; received '0000'"),
    "v0.batch_to_space-block_size-float": (
        lambda: v0.batch_to_space(IMAGES, NO_PADS, 2.0), TypeError, "batch_to_space: block_size must be a static int; received 2.0"),
    "v0.batch_to_space-block_size-0": (
        lambda: v0.batch_to_space(IMAGES, NO_PADS, 0), ValueError, "batch_to_space: block_size must be 2 at least; received 0"),
    "v0.space_to_depth-input-rank": (
        lambda: v0.space_to_depth(X, 2), ValueError, "space_to_depth: input must have shape [N, H, W, C] for format NHWC; received shape (4, 3)"),
    "v0.space_to_depth-block_size-string": (
        lambda: v0.space_to_depth(IMAGES, "2"), TypeError, "space_to_depth: block_size must be a static int; received '2'"),
    "v0.depth_to_space-input-none": (
        lambda: v0.depth_to_space(None, 2), TypeError, "depth_to_space: input must be an array of numbers or bools; received None"),
    "v0.depth_to_space-block_size-1": (
        lambda: v0.depth_to_space(IMAGES, 1), ValueError, "depth_to_space: block_size must be at least 2; received 1"),
    "v0.gather-params-none": (
        lambda: v0.gather(None, 0), TypeError, "gather: params must be an array of numbers or bools; received None"),
    "v0.gather-indices-high": (
        lambda: v0.gather(X, 4), jaxops.OutOfBoundsError, "indices = 4 is not in [0, 4) [Op:gather]"),
    "v0.gather-indices-float": (
        lambda: v0.gather(X, 0.0), TypeError, "gather: indices must have an integer dtype; received float64"),
    "v0.gather-validate_indices-string": (
        lambda: v0.gather(X, 0, validate_indices="name"), TypeError, "gather: validate_indices must be a bool or None; received 'name'"),
    "v0.gather-validate_indices-int": (
        lambda: v0.gather(X, 0, 0), TypeError, "gather: validate_indices must be a bool or None; received 0"),
    "v0.gather-validate_indices-array": (
        lambda: v0.gather(X, 0, np.array([True, False])), TypeError, "gather: validate_indices must be a bool or None; received"),
    "v0.gather_nd-params-object": (
        lambda: v0.gather_nd(object(), [[0]]), TypeError, "gather_nd: params must be an array of numbers or bools; received"),
    "v0.gather_nd-indices-high": (
        lambda: v0.gather_nd(X, [[0, 3]]), jaxops.OutOfBoundsError, "indices[0] = [0, 3] does not index into param shape [4,3] [Op:gather_nd]"),
    "v0.gather_nd-indices-bool": (
        lambda: v0.gather_nd(X, [[True]]), TypeError, "gather_nd: indices must have an integer dtype; received bool"),
    "v0.dynamic_partition-data-shape": (
        lambda: v0.dynamic_partition(X, [0, 1], 2), ValueError, "dynamic_partition: data.shape must start with partitions.shape, (2,); received (4, 3)"),
    "v0.dynamic_partition-partitions-high": (
        lambda: v0.dynamic_partition(X, [0, 1, 2, 3], 2), jaxops.OutOfBoundsError, "partitions[2] = 2 is not in [0, 2) [Op:dynamic_partition]"),
    "v0.dynamic_partition-num_partitions-float": (
        lambda: v0.dynamic_partition(X, [0] * 4, 2.0), TypeError, "dynamic_partition: num_partitions must be a static int; received 2.0"),
    "v0.dynamic_stitch-indices-length": (
        lambda: v0.dynamic_stitch([[0]], []), ValueError, "dynamic_stitch: indices and data must be lists of the same length, 1 at least; received lengths 1 and 0"),
    "v0.dynamic_stitch-data-none": (
        lambda: v0.dynamic_stitch([[0]], None), TypeError, "dynamic_stitch: data must be a list of arrays; received None"),
    "v0.boolean_mask-tensor-scalar": (
        lambda: v0.boolean_mask(1.0, [True]), ValueError, "boolean_mask: tensor must have rank 1 at least; received a scalar"),
    "v0.boolean_mask-mask-shape": (
        lambda: v0.boolean_mask(X, [True] * 3), ValueError, "boolean_mask: mask must have shape tensor.shape[0:1] = (4,); received (3,)"),
    "v0.one_hot-indices-float": (
        lambda: v0.one_hot([0.0], 3), TypeError, "one_hot: indices must have an integer dtype; received float64"),
    "v0.one_hot-depth-none": (
        lambda: v0.one_hot([0], None), TypeError, "one_hot: depth must be a static int; received None"),
    "v0.one_hot-on_value-shape": (
        lambda: v0.one_hot([0], 3, [1.0, 1.0]), ValueError, "one_hot: on_value must be a scalar; received shape (2,)"),
    "v0.one_hot-off_value-string-alone": (
        lambda: v0.one_hot([0], 3, None, "b"), TypeError, "one_hot: on_value and off_value must both be given, and no dtype of numbers, where they are strings or keys; received {'off_value': 'b'} and dtype=None"),
    "v0.one_hot-axis-high": (
        lambda: v0.one_hot([0], 3, axis=2), ValueError, "one_hot: axis must be in [-1, 1], the rank of indices; received 2"),
    "v0.one_hot-dtype-unknown": (
        lambda: v0.one_hot([0], 3, dtype="text"), TypeError, "one_hot: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received 'text'"),
    "v0.invert_permutation-x-matrix": (
        lambda: v0.invert_permutation([[0]]), ValueError, "invert_permutation: x must be a vector; received shape (1, 1)"),
    "v0.unique_with_counts-x-matrix": (
        lambda: v0.unique_with_counts(X), ValueError, "unique_with_counts: x must be a vector, or `axis` of `jaxops.unique_with_counts` given; received shape (4, 3)"),
}  # fmt: skip
