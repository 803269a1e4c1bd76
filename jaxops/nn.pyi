# Written by `make names` from _names.py, for type checkers and editors.

from jaxops import (depth_to_space, embedding_lookup, embedding_lookup_sparse,
    safe_embedding_lookup_sparse, segment_logsumexp, segment_moments, segment_softmax,
    space_to_batch, space_to_depth)
__all__ = ["depth_to_space", "embedding_lookup", "embedding_lookup_sparse",
    "safe_embedding_lookup_sparse", "segment_logsumexp", "segment_moments", "segment_softmax",
    "space_to_batch", "space_to_depth"]
