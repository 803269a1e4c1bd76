"""The functions that TensorFlow has in `tf.image`."""

from jaxops import _getter
from jaxops import extract_patches as extract_patches

__all__ = ["extract_patches"]


def __dir__() -> list[str]:
    return __all__


globals()["__getattr__"] = _getter(__name__)  # type checkers would let any name pass
