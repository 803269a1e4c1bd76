"""The functions that TensorFlow has in `tf.math`."""

from jaxops import _getter
from jaxops import invert_permutation as invert_permutation
from jaxops import segment_max as segment_max
from jaxops import segment_mean as segment_mean
from jaxops import segment_min as segment_min
from jaxops import segment_prod as segment_prod
from jaxops import segment_sum as segment_sum
from jaxops import unsorted_segment_max as unsorted_segment_max
from jaxops import unsorted_segment_mean as unsorted_segment_mean
from jaxops import unsorted_segment_min as unsorted_segment_min
from jaxops import unsorted_segment_prod as unsorted_segment_prod
from jaxops import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
from jaxops import unsorted_segment_sum as unsorted_segment_sum

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


globals()["__getattr__"] = _getter(__name__)  # type checkers would let any name pass
