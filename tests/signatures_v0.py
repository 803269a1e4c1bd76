"""The signatures of TensorFlow 0.5 to 0.12, by function and by release, as its documents print them.

"1.0" stands where code of that release is taken too. `tests/compat/test_spelling.py` makes the
calls that they allow.
"""

import inspect

import numpy as np

# fmt: off
# ruff: noqa: E501
ALL = "0.5 to 0.12"
RECORDED = {
    "string_to_number": {ALL: "string_tensor, out_type=None, name=None"},
    "to_double": {ALL: "x, name='ToDouble'"},
    "to_float": {ALL: "x, name='ToFloat'"},
    "to_bfloat16": {ALL: "x, name='ToBFloat16'"},
    "to_int32": {ALL: "x, name='ToInt32'"},
    "to_int64": {ALL: "x, name='ToInt64'"},
    "cast": {ALL: "x, dtype, name=None"},
    "saturate_cast": {"0.7 to 0.12": "value, dtype, name=None"},
    "bitcast": {"0.7 to 0.12": "input, type, name=None"},
    "shape": {"0.5 to 0.10": "input, name=None", "0.11 and 0.12": "input, name=None, out_type=int32"},
    "shape_n": {"0.7 to 0.10": "input, name=None", "0.11 and 0.12": "input, out_type=None, name=None"},
    "size": {"0.5 to 0.10": "input, name=None", "0.11 and 0.12": "input, name=None, out_type=int32"},
    "rank": {ALL: "input, name=None"},
    "reshape": {ALL: "tensor, shape, name=None"},
    "squeeze": {"0.5 to 0.11": "input, squeeze_dims=None, name=None", "0.12": "input, axis=None, name=None, squeeze_dims=None"},
    "expand_dims": {"0.5 to 0.11": "input, dim, name=None", "0.12": "input, axis=None, name=None, dim=None"},
    "meshgrid": {"0.9 to 0.12": "*args, **kwargs"},
    "slice": {ALL: "input_, begin, size, name=None"},
    "strided_slice": {
        "0.10": "input_, begin, end, strides, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0, name=None",
        "0.11": "input_, begin, end, strides, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0, var=None, name=None",
        "0.12": "input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0, var=None, name=None",
    },
    "split": {ALL: "split_dim, num_split, value, name='split'", "1.0": "value, num_or_size_splits, axis=0, num=None, name='split'"},
    "split_v": {"0.12": "value, size_splits, split_dim=0, num=None, name='split_v'"},
    "tile": {ALL: "input, multiples, name=None"},
    "pad": {"0.5 and 0.6": "input, paddings, name=None", "0.7 to 0.12": "tensor, paddings, mode='CONSTANT', name=None"},
    "concat": {ALL: "concat_dim, values, name='concat'", "1.0": "values, axis, name='concat'"},
    "concat_v2": {"0.12": "values, axis, name='concat_v2'"},
    "stack": {"0.12": "values, axis=0, name='stack'"},
    "parallel_stack": {"0.12": "values, name='parallel_stack'"},
    "pack": {"0.5 to 0.9": "values, name='pack'", "0.10 to 0.12": "values, axis=0, name='pack'"},
    "unstack": {"0.12": "value, num=None, axis=0, name='unstack'"},
    "unpack": {"0.5 to 0.9": "value, num=None, name='unpack'", "0.10 to 0.12": "value, num=None, axis=0, name='unpack'"},
    "reverse_sequence": {
        "0.5 and 0.6": "input, seq_lengths, seq_dim, name=None",
        "0.7 to 0.11": "input, seq_lengths, seq_dim, batch_dim=None, name=None",
        "0.12": "input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None",
    },
    "reverse": {ALL: "tensor, dims, name=None", "1.0": "tensor, axis, name=None"},
    "reverse_v2": {"0.12": "tensor, axis, name=None"},
    "transpose": {ALL: "a, perm=None, name='transpose'"},
    "extract_image_patches": {
        "0.8": "images, padding, ksizes=None, strides=None, rates=None, name=None",
        "0.9 to 0.12": "images, ksizes, strides, rates, padding, name=None",
    },
    "space_to_batch": {"0.8 to 0.12": "input, paddings, block_size, name=None"},
    "batch_to_space": {"0.8 to 0.12": "input, crops, block_size, name=None"},
    "space_to_batch_nd": {"0.11 and 0.12": "input, block_shape, paddings, name=None"},
    "batch_to_space_nd": {"0.11 and 0.12": "input, block_shape, crops, name=None"},
    "required_space_to_batch_paddings": {"0.11 and 0.12": "input_shape, block_shape, base_paddings=None, name=None"},
    "space_to_depth": {"0.6 to 0.12": "input, block_size, name=None"},
    "depth_to_space": {"0.6 to 0.12": "input, block_size, name=None"},
    "gather": {"0.5": "params, indices, name=None", "0.6 to 0.12": "params, indices, validate_indices=None, name=None"},
    "gather_nd": {"0.7 to 0.12": "params, indices, name=None"},
    "scatter_nd": {"0.12": "indices, updates, shape, name=None"},
    "dynamic_partition": {ALL: "data, partitions, num_partitions, name=None"},
    "dynamic_stitch": {ALL: "indices, data, name=None"},
    "boolean_mask": {"0.6 to 0.12": "tensor, mask, name='boolean_mask'"},
    "one_hot": {
        "0.7": "indices, depth, on_value, off_value, axis=None, name=None",
        "0.8 to 0.12": "indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None",
    },
    "sequence_mask": {"0.9 to 0.12": "lengths, maxlen=None, dtype=bool, name=None"},
    "where": {ALL: "input, name=None", "1.0": "condition, x=None, y=None, name=None"},
    "select": {ALL: "condition, t, e, name=None"},
    "invert_permutation": {ALL: "x, name=None"},
    "unique": {"0.5 to 0.10": "x, name=None", "0.11 and 0.12": "x, out_idx=None, name=None"},
    "unique_with_counts": {"0.7 to 0.10": "x, name=None", "0.11 and 0.12": "x, out_idx=None, name=None"},
    "listdiff": {"0.5 to 0.10": "x, y, name=None", "0.11 and 0.12": "x, y, out_idx=None, name=None"},
    "setdiff1d": {"0.12": "x, y, index_dtype=int32, name=None"},
    "stop_gradient": {ALL: "input, name=None"},
    "matrix_band_part": {"0.12": "input, num_lower, num_upper, name=None"},
    "matrix_diag": {"0.12": "diagonal, name=None"},
    "matrix_diag_part": {"0.12": "input, name=None"},
    "matrix_set_diag": {"0.12": "input, diagonal, name=None"},
    "matrix_transpose": {"0.12": "a, name='matrix_transpose'"},
    "diag": {ALL: "diagonal, name=None"},
    "diag_part": {ALL: "input, name=None"},
    "fill": {ALL: "dims, value, name=None"},
    "range": {"0.5 to 0.10": "start, limit=None, delta=1, name='range'", "0.11 and 0.12": "start, limit=None, delta=1, dtype=None, name='range'"},
    "segment_sum": {ALL: "data, segment_ids, name=None"},
    "segment_mean": {ALL: "data, segment_ids, name=None"},
    "segment_prod": {ALL: "data, segment_ids, name=None"},
    "segment_min": {ALL: "data, segment_ids, name=None"},
    "segment_max": {ALL: "data, segment_ids, name=None"},
    "unsorted_segment_sum": {ALL: "data, segment_ids, num_segments, name=None"},
    "sparse_segment_sum": {ALL: "data, indices, segment_ids, name=None"},
    "sparse_segment_mean": {ALL: "data, indices, segment_ids, name=None"},
    "sparse_segment_sqrt_n": {ALL: "data, indices, segment_ids, name=None"},
}
# fmt: on


def parameters(signature):
    function = eval(f"lambda {signature}: None", {"int32": np.int32, "bool": bool})
    return [*inspect.signature(function).parameters.values()]
