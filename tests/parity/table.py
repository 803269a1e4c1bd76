"""The functions that are compared, by name, and those that are not, with the reason."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

_MODULES = [
    importlib.import_module(module.name)
    for module in pkgutil.iter_modules([str(Path(__file__).parent)])
    if module.name.startswith("entries_")
]
# Those of compat.v0 are made of the others.
ENTRIES = {
    name: entry for module in _MODULES for name, entry in getattr(module, "ENTRIES", {}).items()
}
ENTRIES |= importlib.import_module("entries_v0").entries(ENTRIES)

NOT_COMPARED = {
    "SparseTensor": "with the entries of embedding_lookup_sparse",
    "StridedSliceSpec": "what strided_slice_spec returns",
    "TiedGradient": "what sparse_value_and_grad returns; with the entry IndexedSlices",
    "lazy": "a transformation of optimizers; not in TensorFlow",
    "LazyOptimizer": "what lazy returns",
    "psum": "of jax.lax; not in TensorFlow",
    "pmean": "of jax.lax; not in TensorFlow",
    "sharded_gather": "gather from devices; not in TensorFlow",
    "sum_stacked": "for results of jax.lax.scan; not in TensorFlow",
    "global_norm": "TensorFlow does not sum repeated rows first, and sums squares in another order",
    "clip_by_global_norm": "by global_norm",
    "OutOfBoundsError": "an exception",
    "typed_errors": "turns JAX's exceptions into that one",
}
