"""The functions that TensorFlow has in `tf.math`."""

from jaxops._ops.permutations import invert_permutation as invert_permutation
from jaxops._ops.segments import segment_max as segment_max
from jaxops._ops.segments import segment_mean as segment_mean
from jaxops._ops.segments import segment_min as segment_min
from jaxops._ops.segments import segment_prod as segment_prod
from jaxops._ops.segments import segment_sum as segment_sum
from jaxops._ops.unsorted_segments import unsorted_segment_max as unsorted_segment_max
from jaxops._ops.unsorted_segments import unsorted_segment_mean as unsorted_segment_mean
from jaxops._ops.unsorted_segments import unsorted_segment_min as unsorted_segment_min
from jaxops._ops.unsorted_segments import unsorted_segment_prod as unsorted_segment_prod
from jaxops._ops.unsorted_segments import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
from jaxops._ops.unsorted_segments import unsorted_segment_sum as unsorted_segment_sum

__all__ = [
    "invert_permutation",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
]


def __dir__() -> list[str]:
    return __all__
