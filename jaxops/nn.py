"""The functions that TensorFlow has in `tf.nn`."""

from jaxops import _getter
from jaxops import depth_to_space as depth_to_space
from jaxops import embedding_lookup as embedding_lookup
from jaxops import embedding_lookup_sparse as embedding_lookup_sparse
from jaxops import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
from jaxops import space_to_batch as space_to_batch
from jaxops import space_to_depth as space_to_depth

__all__ = [
    "depth_to_space",
    "embedding_lookup",
    "embedding_lookup_sparse",
    "safe_embedding_lookup_sparse",
    "space_to_batch",
    "space_to_depth",
]


def __dir__() -> list[str]:
    return __all__


globals()["__getattr__"] = _getter(__name__)  # type checkers would let any name pass
