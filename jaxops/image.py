"""The functions that TensorFlow has in `tf.image`."""

from jaxops import extract_patches as extract_patches

__all__ = ["extract_patches"]


def __dir__() -> list[str]:
    return __all__
