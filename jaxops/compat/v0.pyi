# Written by `make names` from v0.py, for type checkers and editors.

from jaxops._ops.band_part import (matrix_band_part)
from jaxops._ops.bitcast import (bitcast)
from jaxops._ops.casting import (cast, saturate_cast)
from jaxops._ops.identities import (stop_gradient)
from jaxops._ops.joining import (parallel_stack)
from jaxops._ops.rolling import (meshgrid)
from jaxops._ops.searching import (sequence_mask)
from jaxops._ops.shaping import (rank)
from jaxops._ops.space_to_batch import (batch_to_space_nd, required_space_to_batch_paddings,
    space_to_batch_nd)
from jaxops.compat._v0_blocks import (batch_to_space, depth_to_space, extract_image_patches,
    space_to_batch, space_to_depth)
from jaxops.compat._v0_indexing import (boolean_mask, dynamic_partition, dynamic_stitch,
    expand_dims, gather, gather_nd, invert_permutation, listdiff, one_hot, reshape, scatter_nd,
    select, setdiff1d, shape, shape_n, size, squeeze, string_to_number, to_bfloat16, to_double,
    to_float, to_int32, to_int64, unique, unique_with_counts, where)
from jaxops.compat._v0_joining import (concat, concat_v2, pack, pad, reverse, reverse_sequence,
    reverse_v2, slice as slice, split, split_v, stack, strided_slice, tile, transpose, unpack,
    unstack)
from jaxops.compat._v0_matrices import (diag, diag_part, fill, matrix_diag, matrix_diag_part,
    matrix_set_diag, matrix_transpose, range as range)
from jaxops.compat._v0_segments import (segment_max, segment_mean, segment_min, segment_prod,
    segment_sum, sparse_segment_mean, sparse_segment_sqrt_n, sparse_segment_sum,
    unsorted_segment_sum)
__all__ = ["batch_to_space", "batch_to_space_nd", "bitcast", "boolean_mask", "cast", "concat",
    "concat_v2", "depth_to_space", "diag", "diag_part", "dynamic_partition", "dynamic_stitch",
    "expand_dims", "extract_image_patches", "fill", "gather", "gather_nd", "invert_permutation",
    "listdiff", "matrix_band_part", "matrix_diag", "matrix_diag_part", "matrix_set_diag",
    "matrix_transpose", "meshgrid", "one_hot", "pack", "pad", "parallel_stack", "rank",
    "required_space_to_batch_paddings", "reshape", "reverse", "reverse_sequence", "reverse_v2",
    "saturate_cast", "scatter_nd", "segment_max", "segment_mean", "segment_min", "segment_prod",
    "segment_sum", "select", "sequence_mask", "setdiff1d", "shape", "shape_n", "size",
    "space_to_batch", "space_to_batch_nd", "space_to_depth", "sparse_segment_mean",
    "sparse_segment_sqrt_n", "sparse_segment_sum", "split", "split_v", "squeeze", "stack",
    "stop_gradient", "strided_slice", "string_to_number", "tile", "to_bfloat16", "to_double",
    "to_float", "to_int32", "to_int64", "transpose", "unique", "unique_with_counts", "unpack",
    "unsorted_segment_sum", "unstack", "where"]
