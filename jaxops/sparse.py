"""The functions that TensorFlow has in `tf.sparse`."""

from jaxops import SparseTensor as SparseTensor
from jaxops import _getter
from jaxops import sparse_segment_mean as segment_mean
from jaxops import sparse_segment_sqrt_n as segment_sqrt_n
from jaxops import sparse_segment_sum as segment_sum

__all__ = ["SparseTensor", "segment_mean", "segment_sqrt_n", "segment_sum"]


def __dir__() -> list[str]:
    return __all__


globals()["__getattr__"] = _getter(__name__)  # type checkers would let any name pass
