"""The last part of the page of a public name: its sisters, and the guides about it.

Names of one module are sisters. The tables below add others, and choose the guides.
"""

from __future__ import annotations

import inspect

from records import RECORDS

import jaxops
from jaxops import _names

MOST = 10  # sisters; those of the tables come first

_SISTERS = """
gather gather_nd take_along_axis at sharded_gather embedding_lookup batch_gather
scatter_nd gather_nd
scatter_nd unsorted_segment_sum tensor_scatter_nd_add
segment_sum unsorted_segment_sum sparse_segment_sum
segment_mean unsorted_segment_mean sparse_segment_mean
segment_max unsorted_segment_max
segment_min unsorted_segment_min
segment_prod unsorted_segment_prod
segment_softmax segment_logsumexp segment_max
sparse_segment_sqrt_n unsorted_segment_sqrt_n
embedding_lookup embedding_lookup_sparse sparse_value_and_grad
embedding_lookup_sparse SparseTensor sparse_segment_sum
dynamic_partition dynamic_stitch boolean_mask
where boolean_mask
unique unique_with_counts setdiff1d
unique segment_sum
slice strided_slice strided_slice_spec StridedSliceSpec
pad broadcast_to tile
repeat tile
reverse reverse_sequence roll
one_hot sequence_mask
sequence_mask boolean_mask
edit_distance SparseTensor
RaggedTensor segment_sum
extract_patches space_to_depth
expand_dims squeeze reshape
transpose matrix_transpose
matrix_diag tensor_diag
matrix_diag_part tensor_diag_part
matrix_band_part matrix_diag
cast bitcast string_to_number
sparse_value_and_grad lazy IndexedSlices TiedGradient sharded_gather
lazy LazyOptimizer rowwise_adagrad
global_norm clip_by_global_norm psum pmean sum_stacked IndexedSlices
checked unchecked padding_index check_everything at
checked typed_errors
OutOfBoundsError typed_errors
Mode OutOfBoundsError gather
where searchsorted
range fill meshgrid
stop_gradient sparse_value_and_grad
"""

# Guides by the beginning of the module that defines a name.
_GUIDES = {
    "_sparse": ("sparse_gradients.md", "frameworks.md"),
    "_devices": ("many_devices.md", "sparse_gradients.md"),
    "_checked": ("checked.md", "from_jnp.md"),
    "_errors": ("out_of_bounds.md#the-error-message",),
    "_typed_errors": ("out_of_bounds.md#the-error-message", "sharp_bits.md#typed_errors-waits"),
    "_indexing": ("out_of_bounds.md",),
    "_ops.gather": ("sparse_gradients.md",),
    "_ops.embeddings": ("sparse_gradients.md", "frameworks.md"),
    "_ops.along_axis": ("from_jnp.md",),
    "_ops.unsorted_segments": ("from_jnp.md",),
    "_ops.segments": ("porting.md#segments",),
    "_ops.ragged": ("porting.md#ragged-data",),
}
# Guides by an argument.
_BY_ARGUMENT = {
    "mode": "out_of_bounds.md",
    "padding_index": "out_of_bounds.md#padding-is-no-error",
    "size": "porting.md#shapes-that-depend-on-values",
    "deterministic": "sharp_bits.md#float-sums-on-a-gpu-differ-from-run-to-run",
    "out_sharding": "many_devices.md#explicit-axes",
}
_TITLES = {
    "checked.md": "Checked code of JAX",
    "frameworks.md": "Sparse gradients with flax and equinox",
    "from_jnp.md": "From jnp",
    "many_devices.md": "Many devices",
    "many_devices.md#explicit-axes": "Meshes of explicit axes",
    "out_of_bounds.md": "Out of bounds",
    "out_of_bounds.md#padding-is-no-error": "Padding is no error",
    "out_of_bounds.md#the-error-message": "The error message",
    "porting.md#ragged-data": "Ragged data",
    "porting.md#segments": "Segments",
    "porting.md#shapes-that-depend-on-values": "Shapes that depend on values",
    "porting.md": "Porting TensorFlow code",
    "sharp_bits.md#float-sums-on-a-gpu-differ-from-run-to-run": "Float sums on a GPU",
    "sharp_bits.md#typed_errors-waits": "`typed_errors` waits",
    "sparse_gradients.md": "Sparse gradients",
}


def sisters(name: str) -> list[str]:
    groups = [line.split() for line in _SISTERS.strip().splitlines()]
    found = [other for group in groups if name in group for other in group]
    home = _names.TABLE[name].home
    found += [other for other, entry in _names.TABLE.items() if entry.home == home]
    return [other for other in dict.fromkeys(found) if other != name][:MOST]


def guides(name: str) -> list[str]:
    home, value = _names.TABLE[name].home, getattr(jaxops, name)
    found = [guide for start, own in _GUIDES.items() if home.startswith(start) for guide in own]
    if name in RECORDS:  # of a function on arrays
        arguments = inspect.signature(value).parameters
        found += [guide for argument, guide in _BY_ARGUMENT.items() if argument in arguments]
    if not found:
        found = ["porting.md"]
    return [*dict.fromkeys(found)]


def section(name: str) -> list[str]:
    """The parts of the page."""
    links = [f"[`{other}`]({other}.md)" for other in sisters(name)]
    pages = [f"[{_TITLES[guide]}](../{guide})" for guide in guides(name)]
    parts = ["## See also { data-search-exclude }"]
    if links:
        parts.append(f"Functions: {', '.join(links)}.")
    return [*parts, f"Guides: {', '.join(pages)}."]
