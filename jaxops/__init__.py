"""TensorFlow's array operations for JAX, with bounds and gradients you can trust."""

from importlib.metadata import version as _version

from jaxops._bitcast import bitcast as bitcast
from jaxops._casting import cast as cast
from jaxops._casting import saturate_cast as saturate_cast
from jaxops._casting import to_bfloat16 as to_bfloat16
from jaxops._casting import to_double as to_double
from jaxops._casting import to_float as to_float
from jaxops._casting import to_int32 as to_int32
from jaxops._casting import to_int64 as to_int64
from jaxops._errors import OutOfBoundsError as OutOfBoundsError
from jaxops._gather import batch_gather as batch_gather
from jaxops._gather import gather as gather
from jaxops._gather import gather_nd as gather_nd
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
from jaxops._string_to_number import string_to_number as string_to_number

__version__ = _version("jaxops")

OutOfBoundsError.__module__ = "jaxops"  # where users find it, and what tracebacks print
