# Written by `make names` from _names.py, for type checkers and editors.

from typing import Any

__version__: str

def _namespace(module: str) -> dict[str, Any]: ...

from jaxops import (compat as compat, dtypes as dtypes, image as image, linalg as linalg, math as
    math, nn as nn, sparse as sparse, strings as strings, testing as testing, typing as typing)
from jaxops._checked.at import (at)
from jaxops._checked.checked import (check_everything, checked, padding_index, unchecked)
from jaxops._devices.sharded_gather import (sharded_gather)
from jaxops._errors import (OutOfBoundsError)
from jaxops._indexing.policy import (Mode)
from jaxops._ops.along_axis import (take_along_axis)
from jaxops._ops.band_part import (matrix_band_part, matrix_transpose)
from jaxops._ops.bitcast import (bitcast)
from jaxops._ops.boolean_mask import (boolean_mask)
from jaxops._ops.casting import (cast, saturate_cast, to_bfloat16, to_double, to_float, to_int32,
    to_int64)
from jaxops._ops.diagonals import (matrix_diag, matrix_diag_part, matrix_set_diag, tensor_diag,
    tensor_diag_part)
from jaxops._ops.edit_distance import (edit_distance)
from jaxops._ops.embeddings import (embedding_lookup, embedding_lookup_sparse,
    safe_embedding_lookup_sparse)
from jaxops._ops.filling import (broadcast_to, fill, range as range)
from jaxops._ops.gather import (batch_gather, gather, gather_nd)
from jaxops._ops.identities import (guarantee_const, stop_gradient)
from jaxops._ops.joining import (concat, parallel_stack, split, stack, tile, unstack)
from jaxops._ops.one_hot import (one_hot)
from jaxops._ops.padding import (pad)
from jaxops._ops.partition import (dynamic_partition)
from jaxops._ops.patches import (extract_image_patches, extract_patches)
from jaxops._ops.permutations import (invert_permutation, unravel_index)
from jaxops._ops.ragged import (RaggedTensor)
from jaxops._ops.repeating import (repeat)
from jaxops._ops.reversing import (reverse, reverse_sequence)
from jaxops._ops.rolling import (meshgrid, roll)
from jaxops._ops.scatter import (scatter_nd, tensor_scatter_nd_add, tensor_scatter_nd_max,
    tensor_scatter_nd_min, tensor_scatter_nd_sub, tensor_scatter_nd_update)
from jaxops._ops.searching import (searchsorted, sequence_mask)
from jaxops._ops.segment_statistics import (segment_logsumexp, segment_moments, segment_softmax)
from jaxops._ops.segments import (segment_max, segment_mean, segment_min, segment_prod, segment_sum)
from jaxops._ops.setdiff1d import (setdiff1d)
from jaxops._ops.shaping import (expand_dims, rank, reshape, shape, shape_n, size, squeeze,
    transpose)
from jaxops._ops.slice import (slice as slice)
from jaxops._ops.space_to_batch import (batch_to_space, batch_to_space_nd,
    required_space_to_batch_paddings, space_to_batch, space_to_batch_nd)
from jaxops._ops.space_to_depth import (depth_to_space, space_to_depth)
from jaxops._ops.sparse_segments import (sparse_segment_mean, sparse_segment_sqrt_n,
    sparse_segment_sum)
from jaxops._ops.sparse_tensor import (SparseTensor)
from jaxops._ops.stitch import (dynamic_stitch)
from jaxops._ops.strided_slice import (StridedSliceSpec, strided_slice, strided_slice_spec)
from jaxops._ops.string_to_number import (string_to_number)
from jaxops._ops.unique import (unique, unique_with_counts)
from jaxops._ops.unsorted_segments import (unsorted_segment_max, unsorted_segment_mean,
    unsorted_segment_min, unsorted_segment_prod, unsorted_segment_sqrt_n, unsorted_segment_sum)
from jaxops._ops.where import (where)
from jaxops._sparse.gradient.value_and_grad import (sparse_value_and_grad)
from jaxops._sparse.optimizer.lazy import (LazyOptimizer, lazy)
from jaxops._sparse.optimizer.rowwise_adagrad import (rowwise_adagrad)
from jaxops._sparse.slices.indexed_slices import (IndexedSlices, TiedGradient)
from jaxops._sparse.slices.sums_and_norms import (clip_by_global_norm, global_norm, pmean, psum,
    sum_stacked)
from jaxops._typed_errors import (typed_errors)
__all__ = ["IndexedSlices", "LazyOptimizer", "Mode", "OutOfBoundsError", "RaggedTensor",
    "SparseTensor", "StridedSliceSpec", "TiedGradient", "at", "batch_gather", "batch_to_space",
    "batch_to_space_nd", "bitcast", "boolean_mask", "broadcast_to", "cast", "check_everything",
    "checked", "clip_by_global_norm", "concat", "depth_to_space", "dynamic_partition",
    "dynamic_stitch", "edit_distance", "embedding_lookup", "embedding_lookup_sparse", "expand_dims",
    "extract_image_patches", "extract_patches", "fill", "gather", "gather_nd", "global_norm",
    "guarantee_const", "invert_permutation", "lazy", "matrix_band_part", "matrix_diag",
    "matrix_diag_part", "matrix_set_diag", "matrix_transpose", "meshgrid", "one_hot", "pad",
    "padding_index", "parallel_stack", "pmean", "psum", "rank", "repeat",
    "required_space_to_batch_paddings", "reshape", "reverse", "reverse_sequence", "roll",
    "rowwise_adagrad", "safe_embedding_lookup_sparse", "saturate_cast", "scatter_nd",
    "searchsorted", "segment_logsumexp", "segment_max", "segment_mean", "segment_min",
    "segment_moments", "segment_prod", "segment_softmax", "segment_sum", "sequence_mask",
    "setdiff1d", "shape", "shape_n", "sharded_gather", "size", "space_to_batch",
    "space_to_batch_nd", "space_to_depth", "sparse_segment_mean", "sparse_segment_sqrt_n",
    "sparse_segment_sum", "sparse_value_and_grad", "split", "squeeze", "stack", "stop_gradient",
    "strided_slice", "strided_slice_spec", "string_to_number", "sum_stacked", "take_along_axis",
    "tensor_diag", "tensor_diag_part", "tensor_scatter_nd_add", "tensor_scatter_nd_max",
    "tensor_scatter_nd_min", "tensor_scatter_nd_sub", "tensor_scatter_nd_update", "tile",
    "to_bfloat16", "to_double", "to_float", "to_int32", "to_int64", "transpose", "typed_errors",
    "unchecked", "unique", "unique_with_counts", "unravel_index", "unsorted_segment_max",
    "unsorted_segment_mean", "unsorted_segment_min", "unsorted_segment_prod",
    "unsorted_segment_sqrt_n", "unsorted_segment_sum", "unstack", "where"]
