"""TensorFlow's array operations for JAX, with bounds and gradients you can trust."""

from importlib.metadata import version as _version

from jaxops._boolean_mask import boolean_mask as boolean_mask
from jaxops._errors import OutOfBoundsError as OutOfBoundsError
from jaxops._gather import batch_gather as batch_gather
from jaxops._gather import gather as gather
from jaxops._gather import gather_nd as gather_nd
from jaxops._one_hot import one_hot as one_hot
from jaxops._partition import dynamic_partition as dynamic_partition
from jaxops._scatter import scatter_nd as scatter_nd
from jaxops._scatter import tensor_scatter_nd_add as tensor_scatter_nd_add
from jaxops._scatter import tensor_scatter_nd_max as tensor_scatter_nd_max
from jaxops._scatter import tensor_scatter_nd_min as tensor_scatter_nd_min
from jaxops._scatter import tensor_scatter_nd_sub as tensor_scatter_nd_sub
from jaxops._scatter import tensor_scatter_nd_update as tensor_scatter_nd_update
from jaxops._slice import slice as slice
from jaxops._stitch import dynamic_stitch as dynamic_stitch
from jaxops._strided_slice import StridedSliceSpec as StridedSliceSpec
from jaxops._strided_slice import strided_slice as strided_slice
from jaxops._strided_slice import strided_slice_spec as strided_slice_spec
from jaxops._unique import unique as unique
from jaxops._unique import unique_with_counts as unique_with_counts

__version__ = _version("jaxops")

OutOfBoundsError.__module__ = "jaxops"  # where users find it, and what tracebacks print
