"""Other surfaces over the functions of `jaxops`: `jaxops.compat.v0`, as TensorFlow 0.x had them."""

from typing import TYPE_CHECKING

from jaxops.compat import v0 as v0

__all__ = ["v0"]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # with it every name would pass a type checker
    from jaxops import _missing

    def __getattr__(name):
        raise AttributeError(_missing(__name__, name))
