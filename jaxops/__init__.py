"""TensorFlow's array operations for JAX, with bounds and gradients you can trust."""

import importlib
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:  # imported by `__getattr__`, at their first use
    from jaxops import compat as compat
    from jaxops import dtypes as dtypes
    from jaxops import image as image
    from jaxops import linalg as linalg
    from jaxops import math as math
    from jaxops import nn as nn
    from jaxops import sparse as sparse
    from jaxops import strings as strings
    from jaxops import testing as testing
    from jaxops import typing as typing
    from jaxops._errors import OutOfBoundsError as OutOfBoundsError
    from jaxops._indexing.policy import Mode as Mode
    from jaxops._ops.band_part import matrix_band_part as matrix_band_part
    from jaxops._ops.band_part import matrix_transpose as matrix_transpose
    from jaxops._ops.bitcast import bitcast as bitcast
    from jaxops._ops.boolean_mask import boolean_mask as boolean_mask
    from jaxops._ops.casting import cast as cast
    from jaxops._ops.casting import saturate_cast as saturate_cast
    from jaxops._ops.casting import to_bfloat16 as to_bfloat16
    from jaxops._ops.casting import to_double as to_double
    from jaxops._ops.casting import to_float as to_float
    from jaxops._ops.casting import to_int32 as to_int32
    from jaxops._ops.casting import to_int64 as to_int64
    from jaxops._ops.diagonals import matrix_diag as matrix_diag
    from jaxops._ops.diagonals import matrix_diag_part as matrix_diag_part
    from jaxops._ops.diagonals import matrix_set_diag as matrix_set_diag
    from jaxops._ops.edit_distance import edit_distance as edit_distance
    from jaxops._ops.embeddings import embedding_lookup as embedding_lookup
    from jaxops._ops.embeddings import embedding_lookup_sparse as embedding_lookup_sparse
    from jaxops._ops.embeddings import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
    from jaxops._ops.filling import broadcast_to as broadcast_to
    from jaxops._ops.filling import fill as fill
    from jaxops._ops.filling import range as range
    from jaxops._ops.gather import batch_gather as batch_gather
    from jaxops._ops.gather import gather as gather
    from jaxops._ops.gather import gather_nd as gather_nd
    from jaxops._ops.identities import guarantee_const as guarantee_const
    from jaxops._ops.identities import stop_gradient as stop_gradient
    from jaxops._ops.joining import concat as concat
    from jaxops._ops.joining import parallel_stack as parallel_stack
    from jaxops._ops.joining import split as split
    from jaxops._ops.joining import stack as stack
    from jaxops._ops.joining import tile as tile
    from jaxops._ops.joining import unstack as unstack
    from jaxops._ops.one_hot import one_hot as one_hot
    from jaxops._ops.padding import pad as pad
    from jaxops._ops.partition import dynamic_partition as dynamic_partition
    from jaxops._ops.patches import extract_image_patches as extract_image_patches
    from jaxops._ops.patches import extract_patches as extract_patches
    from jaxops._ops.permutations import invert_permutation as invert_permutation
    from jaxops._ops.permutations import unravel_index as unravel_index
    from jaxops._ops.ragged import RaggedTensor as RaggedTensor
    from jaxops._ops.repeating import repeat as repeat
    from jaxops._ops.reversing import reverse as reverse
    from jaxops._ops.reversing import reverse_sequence as reverse_sequence
    from jaxops._ops.rolling import meshgrid as meshgrid
    from jaxops._ops.rolling import roll as roll
    from jaxops._ops.scatter import scatter_nd as scatter_nd
    from jaxops._ops.scatter import tensor_scatter_nd_add as tensor_scatter_nd_add
    from jaxops._ops.scatter import tensor_scatter_nd_max as tensor_scatter_nd_max
    from jaxops._ops.scatter import tensor_scatter_nd_min as tensor_scatter_nd_min
    from jaxops._ops.scatter import tensor_scatter_nd_sub as tensor_scatter_nd_sub
    from jaxops._ops.scatter import tensor_scatter_nd_update as tensor_scatter_nd_update
    from jaxops._ops.searching import searchsorted as searchsorted
    from jaxops._ops.searching import sequence_mask as sequence_mask
    from jaxops._ops.segments import segment_max as segment_max
    from jaxops._ops.segments import segment_mean as segment_mean
    from jaxops._ops.segments import segment_min as segment_min
    from jaxops._ops.segments import segment_prod as segment_prod
    from jaxops._ops.segments import segment_sum as segment_sum
    from jaxops._ops.setdiff1d import setdiff1d as setdiff1d
    from jaxops._ops.shaping import expand_dims as expand_dims
    from jaxops._ops.shaping import rank as rank
    from jaxops._ops.shaping import reshape as reshape
    from jaxops._ops.shaping import shape as shape
    from jaxops._ops.shaping import shape_n as shape_n
    from jaxops._ops.shaping import size as size
    from jaxops._ops.shaping import squeeze as squeeze
    from jaxops._ops.shaping import transpose as transpose
    from jaxops._ops.slice import slice as slice
    from jaxops._ops.space_to_batch import batch_to_space as batch_to_space
    from jaxops._ops.space_to_batch import batch_to_space_nd as batch_to_space_nd
    from jaxops._ops.space_to_batch import (
        required_space_to_batch_paddings as required_space_to_batch_paddings,
    )
    from jaxops._ops.space_to_batch import space_to_batch as space_to_batch
    from jaxops._ops.space_to_batch import space_to_batch_nd as space_to_batch_nd
    from jaxops._ops.space_to_depth import depth_to_space as depth_to_space
    from jaxops._ops.space_to_depth import space_to_depth as space_to_depth
    from jaxops._ops.sparse_segments import sparse_segment_mean as sparse_segment_mean
    from jaxops._ops.sparse_segments import sparse_segment_sqrt_n as sparse_segment_sqrt_n
    from jaxops._ops.sparse_segments import sparse_segment_sum as sparse_segment_sum
    from jaxops._ops.sparse_tensor import SparseTensor as SparseTensor
    from jaxops._ops.stitch import dynamic_stitch as dynamic_stitch
    from jaxops._ops.strided_slice import StridedSliceSpec as StridedSliceSpec
    from jaxops._ops.strided_slice import strided_slice as strided_slice
    from jaxops._ops.strided_slice import strided_slice_spec as strided_slice_spec
    from jaxops._ops.string_to_number import string_to_number as string_to_number
    from jaxops._ops.tensor_diagonals import tensor_diag as tensor_diag
    from jaxops._ops.tensor_diagonals import tensor_diag_part as tensor_diag_part
    from jaxops._ops.unique import unique as unique
    from jaxops._ops.unique import unique_with_counts as unique_with_counts
    from jaxops._ops.unsorted_segments import unsorted_segment_max as unsorted_segment_max
    from jaxops._ops.unsorted_segments import unsorted_segment_mean as unsorted_segment_mean
    from jaxops._ops.unsorted_segments import unsorted_segment_min as unsorted_segment_min
    from jaxops._ops.unsorted_segments import unsorted_segment_prod as unsorted_segment_prod
    from jaxops._ops.unsorted_segments import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
    from jaxops._ops.unsorted_segments import unsorted_segment_sum as unsorted_segment_sum
    from jaxops._ops.where import where as where
    from jaxops._sparse.gradients import clip_by_global_norm as clip_by_global_norm
    from jaxops._sparse.gradients import global_norm as global_norm
    from jaxops._sparse.gradients import pmean as pmean
    from jaxops._sparse.gradients import psum as psum
    from jaxops._sparse.gradients import sum_stacked as sum_stacked
    from jaxops._sparse.indexed_slices import IndexedSlices as IndexedSlices
    from jaxops._sparse.indexed_slices import TiedGradient as TiedGradient
    from jaxops._sparse.lazy import LazyOptimizer as LazyOptimizer
    from jaxops._sparse.lazy import lazy as lazy
    from jaxops._sparse.sharded_gather import sharded_gather as sharded_gather
    from jaxops._sparse.value_and_grad import sparse_value_and_grad as sparse_value_and_grad
    from jaxops._typed_errors import typed_errors as typed_errors

__version__ = "0.1.0"

# What `from jaxops import *` brings. Not `range` and `slice`, which would replace Python's own, and
# not the modules, of which `math` would replace Python's and `nn` that of other libraries.
__all__ = [
    "IndexedSlices",
    "LazyOptimizer",
    "Mode",
    "OutOfBoundsError",
    "RaggedTensor",
    "SparseTensor",
    "StridedSliceSpec",
    "TiedGradient",
    "batch_gather",
    "batch_to_space",
    "batch_to_space_nd",
    "bitcast",
    "boolean_mask",
    "broadcast_to",
    "cast",
    "clip_by_global_norm",
    "concat",
    "depth_to_space",
    "dynamic_partition",
    "dynamic_stitch",
    "edit_distance",
    "embedding_lookup",
    "embedding_lookup_sparse",
    "expand_dims",
    "extract_image_patches",
    "extract_patches",
    "fill",
    "gather",
    "gather_nd",
    "global_norm",
    "guarantee_const",
    "invert_permutation",
    "lazy",
    "matrix_band_part",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_set_diag",
    "matrix_transpose",
    "meshgrid",
    "one_hot",
    "pad",
    "parallel_stack",
    "pmean",
    "psum",
    "rank",
    "repeat",
    "required_space_to_batch_paddings",
    "reshape",
    "reverse",
    "reverse_sequence",
    "roll",
    "safe_embedding_lookup_sparse",
    "saturate_cast",
    "scatter_nd",
    "searchsorted",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "sequence_mask",
    "setdiff1d",
    "shape",
    "shape_n",
    "sharded_gather",
    "size",
    "space_to_batch",
    "space_to_batch_nd",
    "space_to_depth",
    "sparse_segment_mean",
    "sparse_segment_sqrt_n",
    "sparse_segment_sum",
    "sparse_value_and_grad",
    "split",
    "squeeze",
    "stack",
    "stop_gradient",
    "strided_slice",
    "strided_slice_spec",
    "string_to_number",
    "sum_stacked",
    "tensor_diag",
    "tensor_diag_part",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "tile",
    "to_bfloat16",
    "to_double",
    "to_float",
    "to_int32",
    "to_int64",
    "transpose",
    "typed_errors",
    "unique",
    "unique_with_counts",
    "unravel_index",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
    "unstack",
    "where",
]

# Public names by their module, which is imported at the first use of one of them. All modules take
# 70 ms to import, those of `gather` 12.
_NAMES = {
    "_errors": ["OutOfBoundsError"],
    "_indexing.policy": ["Mode"],
    "_ops.band_part": ["matrix_band_part", "matrix_transpose"],
    "_ops.bitcast": ["bitcast"],
    "_ops.boolean_mask": ["boolean_mask"],
    "_ops.casting": [
        "cast",
        "saturate_cast",
        "to_bfloat16",
        "to_double",
        "to_float",
        "to_int32",
        "to_int64",
    ],
    "_ops.diagonals": ["matrix_diag", "matrix_diag_part", "matrix_set_diag"],
    "_ops.edit_distance": ["edit_distance"],
    "_ops.embeddings": [
        "embedding_lookup",
        "embedding_lookup_sparse",
        "safe_embedding_lookup_sparse",
    ],
    "_ops.filling": ["broadcast_to", "fill", "range"],
    "_ops.gather": ["batch_gather", "gather", "gather_nd"],
    "_ops.identities": ["guarantee_const", "stop_gradient"],
    "_ops.joining": ["concat", "parallel_stack", "split", "stack", "tile", "unstack"],
    "_ops.one_hot": ["one_hot"],
    "_ops.padding": ["pad"],
    "_ops.partition": ["dynamic_partition"],
    "_ops.patches": ["extract_image_patches", "extract_patches"],
    "_ops.permutations": ["invert_permutation", "unravel_index"],
    "_ops.ragged": ["RaggedTensor"],
    "_ops.repeating": ["repeat"],
    "_ops.reversing": ["reverse", "reverse_sequence"],
    "_ops.rolling": ["meshgrid", "roll"],
    "_ops.scatter": [
        "scatter_nd",
        "tensor_scatter_nd_add",
        "tensor_scatter_nd_max",
        "tensor_scatter_nd_min",
        "tensor_scatter_nd_sub",
        "tensor_scatter_nd_update",
    ],
    "_ops.searching": ["searchsorted", "sequence_mask"],
    "_ops.segments": ["segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum"],
    "_ops.setdiff1d": ["setdiff1d"],
    "_ops.shaping": [
        "expand_dims",
        "rank",
        "reshape",
        "shape",
        "shape_n",
        "size",
        "squeeze",
        "transpose",
    ],
    "_ops.slice": ["slice"],
    "_ops.space_to_batch": [
        "batch_to_space",
        "batch_to_space_nd",
        "required_space_to_batch_paddings",
        "space_to_batch",
        "space_to_batch_nd",
    ],
    "_ops.space_to_depth": ["depth_to_space", "space_to_depth"],
    "_ops.sparse_segments": ["sparse_segment_mean", "sparse_segment_sqrt_n", "sparse_segment_sum"],
    "_ops.sparse_tensor": ["SparseTensor"],
    "_ops.stitch": ["dynamic_stitch"],
    "_ops.strided_slice": ["StridedSliceSpec", "strided_slice", "strided_slice_spec"],
    "_ops.string_to_number": ["string_to_number"],
    "_ops.tensor_diagonals": ["tensor_diag", "tensor_diag_part"],
    "_ops.unique": ["unique", "unique_with_counts"],
    "_ops.unsorted_segments": [
        "unsorted_segment_max",
        "unsorted_segment_mean",
        "unsorted_segment_min",
        "unsorted_segment_prod",
        "unsorted_segment_sqrt_n",
        "unsorted_segment_sum",
    ],
    "_ops.where": ["where"],
    "_sparse.gradients": ["clip_by_global_norm", "global_norm", "pmean", "psum", "sum_stacked"],
    "_sparse.indexed_slices": ["IndexedSlices", "TiedGradient"],
    "_sparse.lazy": ["LazyOptimizer", "lazy"],
    "_sparse.sharded_gather": ["sharded_gather"],
    "_sparse.value_and_grad": ["sparse_value_and_grad"],
    "_typed_errors": ["typed_errors"],
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
_MODULES = [
    "compat",
    "dtypes",
    "image",
    "linalg",
    "math",
    "nn",
    "sparse",
    "strings",
    "testing",
    "typing",
]


if not TYPE_CHECKING:  # to whom it would say that every name is there

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            value = getattr(importlib.import_module(f"jaxops.{_HOMES[name]}"), name)
            if isinstance(value, FunctionType):
                from jaxops._frames import without_frames

                value = without_frames(value, __name__)
        elif name in _MODULES:
            value = importlib.import_module(f"jaxops.{name}")
        else:
            raise AttributeError(_missing(__name__, name))
        # From now on it is found at once; of two threads both have that of the first.
        return globals().setdefault(name, value)


def _missing(module: str, name: str) -> str:
    """The words for a name that a module does not have, which TensorFlow may have there."""
    text = f"module {module!r} has no attribute {name!r}"
    if name.startswith("_"):  # that of a room, when it is imported
        return text
    from jaxops._tensorflow_names import OTHERS, answer

    path = f"{module}.{name}".removeprefix("jaxops.")
    is_here = name in _HOMES and path.partition(".")[0] not in OTHERS
    found = f"jaxops.{name}" if is_here else answer(path)
    if found is None:
        return text
    reason = found.replace("`", "").removeprefix("no: ")
    return f"{text}; {'JAX has none: ' if found.startswith('no: ') else 'use '}{reason}"


def _getter(module: str) -> Callable[[str], NoReturn]:
    """`__getattr__` of the modules with names of TensorFlow's."""

    def get(name: str) -> NoReturn:
        raise AttributeError(_missing(module, name))

    return get


def __dir__() -> list[str]:
    return [*_HOMES, *_MODULES, "__version__"]
