"""The functions that TensorFlow has in `tf.sparse`."""

from jaxops._ops.sparse_segments import sparse_segment_mean as segment_mean
from jaxops._ops.sparse_segments import sparse_segment_sqrt_n as segment_sqrt_n
from jaxops._ops.sparse_segments import sparse_segment_sum as segment_sum
from jaxops._ops.sparse_tensor import SparseTensor as SparseTensor

__all__ = ["SparseTensor", "segment_mean", "segment_sqrt_n", "segment_sum"]


def __dir__() -> list[str]:
    return __all__
