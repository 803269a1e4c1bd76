"""TensorFlow's array operations for JAX, with bounds and gradients you can trust."""

from jaxops._blocks import batch_to_space as batch_to_space
from jaxops._blocks import batch_to_space_nd as batch_to_space_nd
from jaxops._blocks import space_to_batch as space_to_batch
from jaxops._blocks import space_to_batch_nd as space_to_batch_nd
from jaxops._depth import depth_to_space as depth_to_space
from jaxops._depth import space_to_depth as space_to_depth
from jaxops._errors import OutOfBoundsError as OutOfBoundsError
from jaxops._gather import batch_gather as batch_gather
from jaxops._gather import gather as gather
from jaxops._gather import gather_nd as gather_nd
from jaxops._patches import extract_image_patches as extract_image_patches
from jaxops._patches import extract_patches as extract_patches
from jaxops._scatter import scatter_nd as scatter_nd
from jaxops._scatter import tensor_scatter_nd_add as tensor_scatter_nd_add
from jaxops._scatter import tensor_scatter_nd_max as tensor_scatter_nd_max
from jaxops._scatter import tensor_scatter_nd_min as tensor_scatter_nd_min
from jaxops._scatter import tensor_scatter_nd_sub as tensor_scatter_nd_sub
from jaxops._scatter import tensor_scatter_nd_update as tensor_scatter_nd_update
from jaxops._slice import slice as slice
from jaxops._strided_slice import StridedSliceSpec as StridedSliceSpec
from jaxops._strided_slice import strided_slice as strided_slice
from jaxops._strided_slice import strided_slice_spec as strided_slice_spec

__version__ = "0.1.0"

OutOfBoundsError.__module__ = "jaxops"  # where users find it, and what tracebacks print
