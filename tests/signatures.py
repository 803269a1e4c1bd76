"""TensorFlow 2.21's signatures, by jaxops' function; `make parity` compares them with TensorFlow.

A new function of `jaxops` gets a line here, or in `NOT_TENSORFLOWS`.
"""

import inspect

import numpy as np

# fmt: off
# ruff: noqa: E501
OF_TENSORFLOW = {
    "batch_gather": "tf.compat.v1.batch_gather(params, indices, name=None)",
    "batch_to_space": "tf.batch_to_space(input, block_shape, crops, name=None)",
    "batch_to_space_nd": "tf.compat.v1.batch_to_space_nd(input, block_shape, crops, name=None)",
    "bitcast": "tf.bitcast(input, type, name=None)",
    "boolean_mask": "tf.boolean_mask(tensor, mask, axis=None, name='boolean_mask')",
    "broadcast_to": "tf.broadcast_to(input, shape, name=None)",
    "cast": "tf.cast(x, dtype, name=None)",
    "concat": "tf.concat(values, axis, name='concat')",
    "depth_to_space": "tf.nn.depth_to_space(input, block_size, data_format='NHWC', name=None)",
    "dynamic_partition": "tf.dynamic_partition(data, partitions, num_partitions, name=None)",
    "dynamic_stitch": "tf.dynamic_stitch(indices, data, name=None)",
    "edit_distance": "tf.edit_distance(hypothesis, truth, normalize=True, name='edit_distance')",
    "embedding_lookup": "tf.nn.embedding_lookup(params, ids, max_norm=None, name=None)",
    "embedding_lookup_sparse": "tf.nn.embedding_lookup_sparse(params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None, allow_fast_lookup=False)",
    "expand_dims": "tf.expand_dims(input, axis, name=None)",
    "extract_image_patches": "tf.image.extract_patches(images, sizes, strides, rates, padding, name=None)",
    "extract_patches": "tf.image.extract_patches(images, sizes, strides, rates, padding, name=None)",
    "fill": "tf.fill(dims, value, name=None, layout=None)",
    "gather": "tf.gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None)",
    "gather_nd": "tf.gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy='')",
    "guarantee_const": "tf.guarantee_const(input, name=None)",
    "invert_permutation": "tf.math.invert_permutation(x, name=None)",
    "matrix_band_part": "tf.linalg.band_part(input, num_lower, num_upper, name=None)",
    "matrix_diag": "tf.linalg.diag(diagonal, name='diag', k=0, num_rows=-1, num_cols=-1, padding_value=0, align='RIGHT_LEFT')",
    "matrix_diag_part": "tf.linalg.diag_part(input, name='diag_part', k=0, padding_value=0, align='RIGHT_LEFT')",
    "matrix_set_diag": "tf.linalg.set_diag(input, diagonal, name='set_diag', k=0, align='RIGHT_LEFT')",
    "matrix_transpose": "tf.linalg.matrix_transpose(a, name='matrix_transpose', conjugate=False)",
    "one_hot": "tf.one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None)",
    "pad": "tf.pad(tensor, paddings, mode='CONSTANT', constant_values=0, name=None)",
    "parallel_stack": "tf.parallel_stack(values, name='parallel_stack')",
    "range": "tf.range(start, limit=None, delta=1, dtype=None, name='range')",
    "rank": "tf.rank(input, name=None)",
    "repeat": "tf.repeat(input, repeats, axis=None, name=None)",
    "required_space_to_batch_paddings": "tf.required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None)",
    "reshape": "tf.reshape(tensor, shape, name=None)",
    "reverse": "tf.reverse(tensor, axis, name=None)",
    "reverse_sequence": "tf.reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None)",
    "roll": "tf.roll(input, shift, axis, name=None)",
    "safe_embedding_lookup_sparse": "tf.nn.safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner='mean', default_id=None, max_norm=None, name=None, allow_fast_lookup=False)",
    "saturate_cast": "tf.saturate_cast(value, dtype, name=None)",
    "scatter_nd": "tf.scatter_nd(indices, updates, shape, bad_indices_policy='', name=None)",
    "searchsorted": "tf.searchsorted(sorted_sequence, values, side='left', out_type='int32', name=None)",
    "segment_max": "tf.math.segment_max(data, segment_ids, name=None)",
    "segment_mean": "tf.math.segment_mean(data, segment_ids, name=None)",
    "segment_min": "tf.math.segment_min(data, segment_ids, name=None)",
    "segment_prod": "tf.math.segment_prod(data, segment_ids, name=None)",
    "segment_sum": "tf.math.segment_sum(data, segment_ids, name=None)",
    "sequence_mask": "tf.sequence_mask(lengths, maxlen=None, dtype='bool', name=None)",
    "setdiff1d": "tf.compat.v1.setdiff1d(x, y, index_dtype='int32', name=None)",
    "shape": "tf.shape(input, out_type=None, name=None)",
    "shape_n": "tf.shape_n(input, out_type='int32', name=None)",
    "size": "tf.size(input, out_type=None, name=None)",
    "slice": "tf.slice(input_, begin, size, name=None)",
    "space_to_batch": "tf.space_to_batch(input, block_shape, paddings, name=None)",
    "space_to_batch_nd": "tf.space_to_batch_nd(input, block_shape, paddings, name=None)",
    "space_to_depth": "tf.nn.space_to_depth(input, block_size, data_format='NHWC', name=None)",
    "sparse_segment_mean": "tf.sparse.segment_mean(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False)",
    "sparse_segment_sqrt_n": "tf.sparse.segment_sqrt_n(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False)",
    "sparse_segment_sum": "tf.sparse.segment_sum(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False)",
    "split": "tf.split(value, num_or_size_splits, axis=0, num=None, name='split')",
    "squeeze": "tf.squeeze(input, axis=None, name=None)",
    "stack": "tf.stack(values, axis=0, name='stack')",
    "stop_gradient": "tf.stop_gradient(input, name=None)",
    "strided_slice": "tf.strided_slice(input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0, var=None, name=None)",
    "string_to_number": "tf.strings.to_number(input, out_type='float32', name=None)",
    "tensor_diag": "tf.linalg.tensor_diag(diagonal, name=None)",
    "tensor_diag_part": "tf.linalg.tensor_diag_part(input, name=None)",
    "tensor_scatter_nd_add": "tf.tensor_scatter_nd_add(tensor, indices, updates, bad_indices_policy='', name=None)",
    "tensor_scatter_nd_max": "tf.tensor_scatter_nd_max(tensor, indices, updates, bad_indices_policy='', name=None)",
    "tensor_scatter_nd_min": "tf.tensor_scatter_nd_min(tensor, indices, updates, bad_indices_policy='', name=None)",
    "tensor_scatter_nd_sub": "tf.tensor_scatter_nd_sub(tensor, indices, updates, bad_indices_policy='', name=None)",
    "tensor_scatter_nd_update": "tf.tensor_scatter_nd_update(tensor, indices, updates, name=None)",
    "tile": "tf.tile(input, multiples, name=None)",
    "to_bfloat16": "tf.compat.v1.to_bfloat16(x, name='ToBFloat16')",
    "to_double": "tf.compat.v1.to_double(x, name='ToDouble')",
    "to_float": "tf.compat.v1.to_float(x, name='ToFloat')",
    "to_int32": "tf.compat.v1.to_int32(x, name='ToInt32')",
    "to_int64": "tf.compat.v1.to_int64(x, name='ToInt64')",
    "transpose": "tf.transpose(a, perm=None, conjugate=False, name='transpose')",
    "unique": "tf.unique(x, out_idx='int32', name=None)",
    "unique_with_counts": "tf.unique_with_counts(x, out_idx='int32', name=None)",
    "unravel_index": "tf.unravel_index(indices, dims, name=None)",
    "unsorted_segment_max": "tf.math.unsorted_segment_max(data, segment_ids, num_segments, name=None)",
    "unsorted_segment_mean": "tf.math.unsorted_segment_mean(data, segment_ids, num_segments, name=None)",
    "unsorted_segment_min": "tf.math.unsorted_segment_min(data, segment_ids, num_segments, name=None)",
    "unsorted_segment_prod": "tf.math.unsorted_segment_prod(data, segment_ids, num_segments, name=None)",
    "unsorted_segment_sqrt_n": "tf.math.unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None)",
    "unsorted_segment_sum": "tf.math.unsorted_segment_sum(data, segment_ids, num_segments, name=None)",
    "unstack": "tf.unstack(value, num=None, axis=0, name='unstack')",
    "where": "tf.where(condition, x=None, y=None, name=None)",
}
# fmt: on

# Why other public functions have signatures of their own.
NOT_TENSORFLOWS = {
    "IndexedSlices": "dense_shape must be given, as a gradient has a shape",
    "LazyOptimizer": "a pair of functions, as optax has it",
    "OutOfBoundsError": "an exception",
    "RaggedTensor": "a pytree of arrays of static shapes; its methods are TensorFlow's",
    "SparseTensor": "dense_shape is static",
    "StridedSliceSpec": "a tuple of arguments of strided_slice",
    "TiedGradient": "a pytree of gradients",
    "clip_by_global_norm": "of a pytree of gradients, where TensorFlow has a list",
    "global_norm": "of a pytree of gradients, where TensorFlow has a list",
    "lazy": "an optimizer, as optax has it",
    "meshgrid": "names the two keywords that TensorFlow takes as **kwargs",
    "pmean": "of a mapped axis, as JAX has it",
    "psum": "of a mapped axis, as JAX has it",
    "sparse_value_and_grad": "a transformation, as JAX has it",
    "strided_slice_spec": "what TensorFlow does inside Tensor.__getitem__",
    "sum_stacked": "of a pytree of gradients",
    "typed_errors": "a context manager about exceptions",
}


def written(name: str, signature: inspect.Signature) -> str:
    """`name(argument, other=default)` without types, and with dtypes by their names."""
    parameters = []
    for parameter in signature.parameters.values():
        default = parameter.default
        if not isinstance(default, (int, str, type(None))) and default is not parameter.empty:
            default = getattr(default, "name", None) or np.dtype(default).name
        parameters.append(parameter.replace(annotation=inspect.Parameter.empty, default=default))
    bare = signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    return f"{name}{bare}"


def path_of(line: str) -> str:
    return line.partition("(")[0]
