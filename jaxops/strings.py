"""The functions that TensorFlow has in `tf.strings`."""

from jaxops import _getter
from jaxops import string_to_number as to_number

__all__ = ["to_number"]


def __dir__() -> list[str]:
    return __all__


globals()["__getattr__"] = _getter(__name__)  # type checkers would let any name pass
