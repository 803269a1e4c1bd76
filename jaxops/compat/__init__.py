"""Other surfaces over the functions of `jaxops`: `jaxops.compat.v0`, as TensorFlow 0.x had them."""

from jaxops.compat import v0 as v0

__all__ = ["v0"]


def __dir__() -> list[str]:
    return __all__
