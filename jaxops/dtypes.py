"""The functions that TensorFlow has in `tf.dtypes`."""

from jaxops import _getter
from jaxops import cast as cast
from jaxops import saturate_cast as saturate_cast

__all__ = ["cast", "saturate_cast"]


def __dir__() -> list[str]:
    return __all__


globals()["__getattr__"] = _getter(__name__)  # type checkers would let any name pass
