"""TensorFlow's array operations for JAX, with bounds and gradients you can trust."""

from jaxops import compat as compat
from jaxops._bitcast import bitcast as bitcast
from jaxops._blocks import batch_to_space as batch_to_space
from jaxops._blocks import batch_to_space_nd as batch_to_space_nd
from jaxops._blocks import space_to_batch as space_to_batch
from jaxops._blocks import space_to_batch_nd as space_to_batch_nd
from jaxops._boolean_mask import boolean_mask as boolean_mask
from jaxops._casting import cast as cast
from jaxops._casting import saturate_cast as saturate_cast
from jaxops._casting import to_bfloat16 as to_bfloat16
from jaxops._casting import to_double as to_double
from jaxops._casting import to_float as to_float
from jaxops._casting import to_int32 as to_int32
from jaxops._casting import to_int64 as to_int64
from jaxops._depth import depth_to_space as depth_to_space
from jaxops._depth import space_to_depth as space_to_depth
from jaxops._errors import OutOfBoundsError as OutOfBoundsError
from jaxops._gather import batch_gather as batch_gather
from jaxops._gather import gather as gather
from jaxops._gather import gather_nd as gather_nd
from jaxops._indexed_slices import IndexedSlices as IndexedSlices
from jaxops._indexed_slices import TiedGradient as TiedGradient
from jaxops._joining import concat as concat
from jaxops._joining import split as split
from jaxops._joining import stack as stack
from jaxops._joining import tile as tile
from jaxops._joining import unstack as unstack
from jaxops._lazy import LazyOptimizer as LazyOptimizer
from jaxops._lazy import lazy as lazy
from jaxops._one_hot import one_hot as one_hot
from jaxops._padding import pad as pad
from jaxops._partition import dynamic_partition as dynamic_partition
from jaxops._patches import extract_image_patches as extract_image_patches
from jaxops._patches import extract_patches as extract_patches
from jaxops._reversing import reverse as reverse
from jaxops._reversing import reverse_sequence as reverse_sequence
from jaxops._scatter import scatter_nd as scatter_nd
from jaxops._scatter import tensor_scatter_nd_add as tensor_scatter_nd_add
from jaxops._scatter import tensor_scatter_nd_max as tensor_scatter_nd_max
from jaxops._scatter import tensor_scatter_nd_min as tensor_scatter_nd_min
from jaxops._scatter import tensor_scatter_nd_sub as tensor_scatter_nd_sub
from jaxops._scatter import tensor_scatter_nd_update as tensor_scatter_nd_update
from jaxops._shaping import expand_dims as expand_dims
from jaxops._shaping import rank as rank
from jaxops._shaping import reshape as reshape
from jaxops._shaping import shape as shape
from jaxops._shaping import shape_n as shape_n
from jaxops._shaping import size as size
from jaxops._shaping import squeeze as squeeze
from jaxops._shaping import transpose as transpose
from jaxops._slice import slice as slice
from jaxops._sparse_grad import sparse_value_and_grad as sparse_value_and_grad
from jaxops._stitch import dynamic_stitch as dynamic_stitch
from jaxops._strided_slice import StridedSliceSpec as StridedSliceSpec
from jaxops._strided_slice import strided_slice as strided_slice
from jaxops._strided_slice import strided_slice_spec as strided_slice_spec
from jaxops._string_to_number import string_to_number as string_to_number
from jaxops._unique import unique as unique
from jaxops._unique import unique_with_counts as unique_with_counts

__version__ = "0.1.0"

OutOfBoundsError.__module__ = "jaxops"  # where users find it, and what tracebacks print
