"""The functions that TensorFlow has in `tf.nn`."""

from jaxops._ops.embeddings import embedding_lookup as embedding_lookup
from jaxops._ops.embeddings import embedding_lookup_sparse as embedding_lookup_sparse
from jaxops._ops.embeddings import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
from jaxops._ops.space_to_batch import space_to_batch as space_to_batch
from jaxops._ops.space_to_depth import depth_to_space as depth_to_space
from jaxops._ops.space_to_depth import space_to_depth as space_to_depth

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
