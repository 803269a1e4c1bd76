"""The public names of jaxops: the one table of them.

A line holds a name, the module that defines it, and the names that TensorFlow 2 has for it. The
first name of TensorFlow's stands in the documents, and its signature is the function's own, unless
the line says after `#` why not. `jaxops.math.segment_sum` is there because a line has the name
`tf.math.segment_sum`, and `jaxops.nn.segment_softmax` because a line has that without `tf.`.

After a change of the table run `make names`. It writes `jaxops/*.pyi`, which type checkers read,
tests/signatures.txt, and the names in README.md.
"""

import builtins
from typing import NamedTuple

_TABLE = """
IndexedSlices                    _sparse.slices.indexed_slices  # its dense_shape must be given
LazyOptimizer                    _sparse.optimizer.lazy  # a pair of functions, as optax has it
Mode                             _indexing.policy  # the values of mode=
OutOfBoundsError                 _errors  # an exception
RaggedTensor                     _ops.ragged  # a pytree of static shapes
SparseTensor                     _ops.sparse_tensor     tf.sparse.SparseTensor  # static dense_shape
StridedSliceSpec                 _ops.strided_slice  # a tuple of arguments of strided_slice
TiedGradient                     _sparse.slices.indexed_slices  # a pytree of gradients
at                               _checked.at  # JAX's x.at[...]
batch_gather                     _ops.gather            tf.compat.v1.batch_gather
batch_to_space                   _ops.space_to_batch    tf.batch_to_space
batch_to_space_nd                _ops.space_to_batch    tf.compat.v1.batch_to_space_nd
bitcast                          _ops.bitcast           tf.bitcast
boolean_mask                     _ops.boolean_mask      tf.boolean_mask
broadcast_to                     _ops.filling           tf.broadcast_to
cast                             _ops.casting           tf.cast tf.dtypes.cast
check_everything                 _checked.checked  # of code of JAX
checked                          _checked.checked  # of code of JAX
clip_by_global_norm              _sparse.slices.sums_and_norms  # of pytrees, TensorFlow's of lists
concat                           _ops.joining           tf.concat
depth_to_space                   _ops.space_to_depth    tf.nn.depth_to_space
dynamic_partition                _ops.partition         tf.dynamic_partition
dynamic_stitch                   _ops.stitch            tf.dynamic_stitch
edit_distance                    _ops.edit_distance     tf.edit_distance
embedding_lookup                 _ops.embeddings        tf.nn.embedding_lookup
embedding_lookup_sparse          _ops.embeddings        tf.nn.embedding_lookup_sparse
expand_dims                      _ops.shaping           tf.expand_dims
extract_image_patches            _ops.patches           tf.image.extract_patches
extract_patches                  _ops.patches           tf.image.extract_patches
fill                             _ops.filling           tf.fill
gather                           _ops.gather            tf.gather
gather_nd                        _ops.gather            tf.gather_nd
global_norm                      _sparse.slices.sums_and_norms  # of pytrees, TensorFlow's of lists
guarantee_const                  _ops.identities        tf.guarantee_const
invert_permutation               _ops.permutations      tf.math.invert_permutation
lazy                             _sparse.optimizer.lazy  # an optimizer, as optax has it
matrix_band_part                 _ops.band_part         tf.linalg.band_part
matrix_diag                      _ops.diagonals         tf.linalg.diag
matrix_diag_part                 _ops.diagonals         tf.linalg.diag_part
matrix_set_diag                  _ops.diagonals         tf.linalg.set_diag
matrix_transpose                 _ops.band_part         tf.linalg.matrix_transpose
meshgrid                         _ops.rolling           tf.meshgrid  # TensorFlow takes **kwargs
one_hot                          _ops.one_hot           tf.one_hot
pad                              _ops.padding           tf.pad
padding_index                    _checked.checked  # of code of JAX
parallel_stack                   _ops.joining           tf.parallel_stack
pmean                            _sparse.slices.sums_and_norms  # of a mapped axis, as JAX has it
psum                             _sparse.slices.sums_and_norms  # of a mapped axis, as JAX has it
range                            _ops.filling           tf.range
rank                             _ops.shaping           tf.rank
repeat                           _ops.repeating         tf.repeat
required_space_to_batch_paddings _ops.space_to_batch    tf.required_space_to_batch_paddings
reshape                          _ops.shaping           tf.reshape
reverse                          _ops.reversing         tf.reverse
reverse_sequence                 _ops.reversing         tf.reverse_sequence
roll                             _ops.rolling           tf.roll
rowwise_adagrad                  _sparse.optimizer.rowwise_adagrad  # an optimizer, as optax has it
safe_embedding_lookup_sparse     _ops.embeddings        tf.nn.safe_embedding_lookup_sparse
saturate_cast                    _ops.casting           tf.saturate_cast tf.dtypes.saturate_cast
scatter_nd                       _ops.scatter           tf.scatter_nd
searchsorted                     _ops.searching         tf.searchsorted
segment_logsumexp                _ops.segment_statistics nn.segment_logsumexp  # as jax.nn has it
segment_max                      _ops.segments          tf.math.segment_max
segment_mean                     _ops.segments          tf.math.segment_mean
segment_min                      _ops.segments          tf.math.segment_min
segment_moments                  _ops.segment_statistics nn.segment_moments  # TensorFlow's: of axes
segment_prod                     _ops.segments          tf.math.segment_prod
segment_softmax                  _ops.segment_statistics nn.segment_softmax  # as jraph has it
segment_sum                      _ops.segments          tf.math.segment_sum
sequence_mask                    _ops.searching         tf.sequence_mask
setdiff1d                        _ops.setdiff1d         tf.compat.v1.setdiff1d
shape                            _ops.shaping           tf.shape
shape_n                          _ops.shaping           tf.shape_n
sharded_gather                   _devices.sharded_gather  # of a table that devices share
size                             _ops.shaping           tf.size
slice                            _ops.slice             tf.slice
space_to_batch                   _ops.space_to_batch    tf.space_to_batch tf.nn.space_to_batch
space_to_batch_nd                _ops.space_to_batch    tf.space_to_batch_nd
space_to_depth                   _ops.space_to_depth    tf.nn.space_to_depth
sparse_segment_mean              _ops.sparse_segments   tf.sparse.segment_mean
sparse_segment_sqrt_n            _ops.sparse_segments   tf.sparse.segment_sqrt_n
sparse_segment_sum               _ops.sparse_segments   tf.sparse.segment_sum
sparse_value_and_grad            _sparse.gradient.value_and_grad  # a transformation, as JAX has it
split                            _ops.joining           tf.split
squeeze                          _ops.shaping           tf.squeeze
stack                            _ops.joining           tf.stack
stop_gradient                    _ops.identities        tf.stop_gradient
strided_slice                    _ops.strided_slice     tf.strided_slice
strided_slice_spec               _ops.strided_slice  # TensorFlow has it in Tensor.__getitem__
string_to_number                 _ops.string_to_number  tf.strings.to_number
sum_stacked                      _sparse.slices.sums_and_norms  # of a pytree of gradients
take_along_axis                  _ops.along_axis  # as jax.numpy has it
tensor_diag                      _ops.diagonals         tf.linalg.tensor_diag
tensor_diag_part                 _ops.diagonals         tf.linalg.tensor_diag_part
tensor_scatter_nd_add            _ops.scatter           tf.tensor_scatter_nd_add
tensor_scatter_nd_max            _ops.scatter           tf.tensor_scatter_nd_max
tensor_scatter_nd_min            _ops.scatter           tf.tensor_scatter_nd_min
tensor_scatter_nd_sub            _ops.scatter           tf.tensor_scatter_nd_sub
tensor_scatter_nd_update         _ops.scatter           tf.tensor_scatter_nd_update
tile                             _ops.joining           tf.tile
to_bfloat16                      _ops.casting           tf.compat.v1.to_bfloat16
to_double                        _ops.casting           tf.compat.v1.to_double
to_float                         _ops.casting           tf.compat.v1.to_float
to_int32                         _ops.casting           tf.compat.v1.to_int32
to_int64                         _ops.casting           tf.compat.v1.to_int64
transpose                        _ops.shaping           tf.transpose
typed_errors                     _typed_errors  # a context manager about exceptions
unchecked                        _checked.checked  # of code of JAX
unique                           _ops.unique            tf.unique
unique_with_counts               _ops.unique            tf.unique_with_counts
unravel_index                    _ops.permutations      tf.unravel_index
unsorted_segment_max             _ops.unsorted_segments tf.math.unsorted_segment_max
unsorted_segment_mean            _ops.unsorted_segments tf.math.unsorted_segment_mean
unsorted_segment_min             _ops.unsorted_segments tf.math.unsorted_segment_min
unsorted_segment_prod            _ops.unsorted_segments tf.math.unsorted_segment_prod
unsorted_segment_sqrt_n          _ops.unsorted_segments tf.math.unsorted_segment_sqrt_n
unsorted_segment_sum             _ops.unsorted_segments tf.math.unsorted_segment_sum
unstack                          _ops.joining           tf.unstack
where                            _ops.where             tf.where
"""


class Name(NamedTuple):
    """A line of the table."""

    home: str  # the module of jaxops
    tensorflow: tuple[str, ...]  # the names of TensorFlow, without `tf.`
    own_signature: str  # why the signature is not TensorFlow's
    paths: tuple[str, ...]  # TensorFlow's names, and others that jaxops has in the same modules


def _read(line: str) -> tuple[str, Name]:
    columns, _, why = line.partition("#")
    name, home, *paths = columns.split()
    tensorflow = tuple(path.removeprefix("tf.") for path in paths if path.startswith("tf."))
    paths = tuple(path.removeprefix("tf.") for path in paths)
    return name, Name(home, tensorflow, why.strip(), paths)


TABLE = dict(_read(line) for line in _TABLE.strip().splitlines())

# The names that `from jaxops import *` brings. Not `range` and `slice`, which would replace
# Python's own, and not the modules, of which `math` would replace Python's and `nn` that of other
# libraries.
STAR = [name for name in TABLE if not hasattr(builtins, name)]

# By module of TensorFlow the names that are there, and jaxops' names for the same functions. Where
# two functions have one name of TensorFlow's, the later one gets it: `image.extract_patches`.
NAMESPACES: dict[str, dict[str, str]] = {}
for _name, _entry in TABLE.items():
    for _path in _entry.paths:
        _module, _, _theirs = _path.rpartition(".")
        if _module and not _module.startswith("compat."):
            NAMESPACES.setdefault(_module, {})[_theirs] = _name

MODULES = sorted([*NAMESPACES, "compat", "testing", "typing"])
