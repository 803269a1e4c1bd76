"""The functions that are compared, by name, and those that are not, with the reason."""

from __future__ import annotations

import entries_blocks
import entries_casting
import entries_indexing
import entries_joining
import entries_partition
import entries_shaping
import entries_sparse
import entries_v0

FAMILIES = (
    entries_casting,
    entries_shaping,
    entries_joining,
    entries_blocks,
    entries_indexing,
    entries_partition,
    entries_sparse,
)
ENTRIES = {name: entry for family in FAMILIES for name, entry in family.ENTRIES.items()}
ENTRIES |= entries_v0.entries(ENTRIES)

NOT_COMPARED = {
    "StridedSliceSpec": "what strided_slice_spec returns",
    "TiedGradient": "what sparse_value_and_grad returns; with the entry IndexedSlices",
    "lazy": "a transformation of optimizers; not in TensorFlow",
    "LazyOptimizer": "what lazy returns",
    "psum": "of jax.lax; not in TensorFlow",
    "pmean": "of jax.lax; not in TensorFlow",
    "sum_stacked": "for results of jax.lax.scan; not in TensorFlow",
    "global_norm": "TensorFlow does not sum repeated rows first, and sums squares in another order",
    "clip_by_global_norm": "by global_norm",
    "OutOfBoundsError": "an exception",
    "typed_errors": "turns JAX's exceptions into that one",
}
