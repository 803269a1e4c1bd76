"""The functions that TensorFlow has in `tf.dtypes`."""

from jaxops._ops.casting import cast as cast
from jaxops._ops.casting import saturate_cast as saturate_cast

__all__ = ["cast", "saturate_cast"]


def __dir__() -> list[str]:
    return __all__
