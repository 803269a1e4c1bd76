"""Calls of TensorFlow's security advisories, and what a user of jaxops gets of each.

They stand in https://github.com/tensorflow/tensorflow/tree/master/tensorflow/security/advisory, and
ended a process, read or wrote outside of arrays, hung, or asked for more memory than there is.
Those of functions that jaxops has are here. For a kernel that jaxops has under another name (one
that scatters into a variable, a kernel of TFLite, the gradient of mirrored padding) the row calls
the function that a user of jaxops calls for the same. Left out are advisories without a call (of
files, graphs and compilers), and those of functions that jaxops does not have.
"""

# pyright: reportCallIssue=false, reportArgumentType=false

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import numpy as np

import jaxops
from jaxops.compat import v0

Ragged, Sparse = jaxops.RaggedTensor, jaxops.SparseTensor


class Row(NamedTuple):
    advisory: str  # its number
    function: str  # of jaxops, or of jaxops.compat.v0 with "v0." before
    call: Callable
    traced: tuple = ()  # arguments of the call, which are traced where it is compiled
    expected: Any = ValueError  # the exception, or the value, or the shape if NumPy has none such
    words: str = ""  # a part of the message, a pattern
    compiled: str | None = None  # a part of the message under jit, where it has other words


FAR = jaxops.OutOfBoundsError
ONES = np.ones((3, 2), np.float32)
HUGE = 1676240524292489355
# A number of segments that int64 holds: too many for 32 bits, or too large for any machine.
TOO_MANY = r"do not fit uint32|less than 2\*\*56 bytes"
GIVEN = "num_segments must be given"
TOO_LARGE = r"must make arrays of less than 2\*\*56 bytes"


def none(*shape, dtype=np.float32):
    assert 0 in shape
    return np.zeros(shape, dtype)


def ints(*x):
    return np.array(x, np.int32)


def _segments(name):
    """Its segment numbers are read at once, so that under jit the number of them must be given."""
    return Row("2021-200", f"segment_{name}", lambda d, i: getattr(jaxops, f"segment_{name}")(d, i),
               (np.ones((1, 10, 1), np.float32), np.array([HUGE])), ValueError, TOO_MANY, GIVEN)  # fmt: skip


def _gradient(params):
    """Of a lookup in rows that hold no ids, which is 0."""
    ids = Sparse(none(0, 2, dtype=np.int32), none(0, dtype=np.int32), (0, 2))
    lookup = jaxops.safe_embedding_lookup_sparse
    return jax.grad(lambda p: lookup(p, ids).sum())(params)


ROWS = [
    Row("2019-002", "unsorted_segment_sum", lambda d, i: jaxops.unsorted_segment_sum(d, i, 2),
        (ONES, ints(0, -(2**31), 2**31 - 1)), FAR, "segment_ids"),
    Row("2019-002", "unsorted_segment_sum", lambda d: jaxops.unsorted_segment_sum(d, [0], 2**60),
        (np.ones((1, 4), np.float32),), ValueError, TOO_LARGE),
    Row("2020-001", "cast", lambda: jaxops.cast("hello", np.float16), (), TypeError, "x must be an array of numbers"),
    Row("2020-002", "segment_sum", lambda d, i: jaxops.segment_sum(d, i, num_segments=3),
        (ONES, ints(2, 1, 0)), FAR, "less than the one before"),
    Row("2020-003", "segment_sum", lambda d, i: jaxops.segment_sum(d, i),
        (ONES, np.array([0, 1, 2**62])), ValueError, TOO_MANY, GIVEN),
    Row("2020-004", "segment_sum", lambda d, i: jaxops.segment_sum(d, i, num_segments=3),
        (ONES, ints(-5, 0, 1)), FAR, "segment_ids"),
    Row("2021-003", "one_hot", lambda: jaxops.one_hot([62, 50], 136, np.int32(237), 158, 856, dtype=np.dtype("V")),
        (), TypeError, "dtype must be a numeric dtype"),
    Row("2021-003", "one_hot", lambda i: jaxops.one_hot(i, 136, axis=856), (ints(62, 50),), ValueError, "axis must be"),
    Row("2021-003", "range", lambda: jaxops.range(np.int32(214), 660, 129, dtype=np.dtype("V")),
        (), TypeError, "dtype must be a numeric dtype"),
    Row("2021-004", "matrix_diag", lambda d, p: jaxops.matrix_diag(d, k=0, num_rows=0, num_cols=0, padding_value=p),
        (none(0), none(0)), ValueError, "padding_value must be a scalar"),
    Row("2021-005", "RaggedTensor.from_row_splits", lambda v, s: Ragged.from_row_splits(v, s).row_splits,
        (none(0, 0), none(0, dtype=np.int32)), ValueError, "row_splits must not be empty"),
    Row("2021-045", "v0.reverse", lambda x: v0.reverse(x, [False, True, False]),
        (none(0, 1, 1, dtype=np.int32),), none(0, 1, 1, dtype=np.int32)),
    Row("2021-048", "RaggedTensor.from_row_splits", lambda v, s: Ragged.from_row_splits(v, s).to_tensor(default_value=0, shape=(10, 10)),
        (ints(0), ints(849, *[0] * 214).reshape(5, 43)), ValueError, "row_splits must be a vector"),
    Row("2021-052", "edit_distance",
        lambda: jaxops.edit_distance(Sparse([[247] * 3], np.array([-9.9999], np.float32), [0] * 3), Sparse(none(0, 3, dtype=np.int32), none(0), [0] * 3)),
        (), ValueError, r"hypothesis.indices must lie in the shape"),
    Row("2021-053", "safe_embedding_lookup_sparse",
        lambda p: jaxops.safe_embedding_lookup_sparse(p, Sparse(none(0, 0, dtype=np.int32), none(0, dtype=np.int32), none(0, dtype=np.int32))),
        (ONES,), ValueError, "sparse_ids must have rank 1"),
    Row("2021-061", "reverse_sequence", lambda x, n: jaxops.reverse_sequence(x, n, seq_axis=-2, batch_axis=0),
        (ints(0).reshape(1, 1, 1), ints(0)), ValueError, "seq_axis must be in"),
    Row("2021-061", "reverse_sequence", lambda x, n: jaxops.reverse_sequence(x, n, seq_axis=1, batch_axis=7),
        (ints(0).reshape(1, 1, 1), ints(0)), ValueError, "batch_axis must be in"),
    Row("2021-075", "space_to_depth", lambda x: jaxops.space_to_depth(x, 0),
        (np.ones((1, 2, 2, 1), np.float32),), ValueError, "block_size must be at least 2"),
    Row("2021-076", "gather_nd", lambda x, i: jaxops.gather_nd(x, i), (none(0, 2), ints([0, 1])), FAR, "does not index into"),
    Row("2021-079", "reshape", lambda x: jaxops.reshape(x, None), (ONES,), TypeError, "shape must be"),
    Row("2021-081", "depth_to_space", lambda x: jaxops.depth_to_space(x, 0),
        (np.ones((1, 2, 2, 4), np.float32),), ValueError, "block_size must be at least 2"),
    Row("2021-083", "embedding_lookup", lambda p, i: jaxops.embedding_lookup(p, i), (none(0, 2), ints(0)), FAR, r"not in \[0, 0\)"),
    Row("2021-084", "batch_to_space", lambda x: jaxops.batch_to_space(x, [0, 1], [[0, 0], [0, 0]]),
        (np.ones((4, 1, 1, 1), np.float32),), ValueError, "block_shape must be at least 1"),
    Row("2021-085", "space_to_batch", lambda x: jaxops.space_to_batch(x, [0, 1], [[0, 0], [0, 0]]),
        (np.ones((4, 1, 1, 1), np.float32),), ValueError, "block_shape must be at least 1"),
    Row("2021-087", "split", lambda x: jaxops.split(x, 0), (ONES,), ValueError, "num_or_size_splits must make at least one"),
    Row("2021-088", "one_hot", lambda i: jaxops.one_hot(i, 3, axis=1), (none(2, 0, dtype=np.int32),), none(2, 3, 0)),
    Row("2021-091", "concat", lambda x: jaxops.concat([x, x], 0), (none(2**31 - 1, 0),), (2**32 - 2, 0)),
    Row("2021-094", "split", lambda x: jaxops.split(x, [1, 2], 5), (ONES,), ValueError, "axis must be in"),
    Row("2021-095", "RaggedTensor.from_row_splits", lambda v, s: Ragged.from_row_splits(v, s).to_tensor(default_value=404, shape=(7, 3)),
        (none(0, dtype=np.int32), ints(269, 404, 0, 0, 0, 0, 0)), ValueError, r"row_splits\[0\] = 269"),
    Row("2021-105", "transpose", lambda x: jaxops.transpose(x, conjugate=True), (1 + 2j,), np.array(1 - 2j, np.complex64)),
    Row("2021-112", "RaggedTensor.from_row_splits", lambda v, s: Ragged.from_row_splits(v, s).to_tensor(default_value=21, shape=(3, 3)),
        (np.int32(10), ints(0, 0, 0, 0)), ValueError, "values must have rank 1"),
    Row("2021-116", "RaggedTensor.from_row_splits", lambda v, s: Ragged.from_row_splits(v, s).row_splits,
        (ints(1, 1), ints(0, 0, 0)), ValueError, r"row_splits\[2\] = 0 is not the number of values"),
    Row("2021-116", "RaggedTensor.gather", lambda v, i: Ragged.from_row_splits(v, [0, 2, 2]).gather(i, size=5).values,
        (ints(1, 1), ints(0, 0, 9, 0, 0)), FAR, r"indices\[2\] = 9"),
    Row("2021-118", "matrix_diag_part", lambda x, p: jaxops.matrix_diag_part(x, k=[1, 1], padding_value=p),
        (np.ones((2, 2), np.int32), none(0, dtype=np.int32)), ValueError, "padding_value must be a scalar"),
    Row("2021-118", "matrix_diag_part", lambda x: jaxops.matrix_diag_part(x, k=[1, 1]), (ints(1, 1),), ValueError, "input must have"),
    Row("2021-127", "gather", lambda p, i: jaxops.gather(p, i, batch_dims=1),
        (none(0, 1, dtype=np.uint32), ints(0)), ValueError, "must agree in the first 1"),
    Row("2021-128", "gather", lambda p, i: jaxops.gather(p, i, batch_dims=10),
        (np.ones((3, 2), np.uint32), ints(0)), ValueError, "batch_dims must be in"),
    Row("2021-129", "tensor_scatter_nd_update", lambda x, u: jaxops.tensor_scatter_nd_update(x, [[0]], u),
        (np.ones(1, np.float32), np.ones(5, np.float32)), ValueError, "updates must broadcast to"),
    Row("2021-130", "RaggedTensor.from_row_splits", lambda v, s: Ragged.from_row_splits(v, s).row_splits,
        (none(0), ints(0, 38, 0)), ValueError, r"row_splits\[1\] = 38"),
    Row("2021-131", "matrix_diag", lambda d: jaxops.matrix_diag(d, k=[], num_rows=2, num_cols=2, align="RIGHT_RIGHT"),
        (ints(1, 0),), ValueError, "k must be one diagonal"),
    Row("2021-132", "matrix_set_diag", lambda x, d: jaxops.matrix_set_diag(x, d, k=[], align="RIGHT_LEFT"),
        (np.ones((2, 2), np.int32), ints(1, 1)), ValueError, "k must be one diagonal"),
    Row("2021-134", "tensor_scatter_nd_sub", lambda x, i, u: jaxops.tensor_scatter_nd_sub(x, i, u),
        (none(0), ints([-99], [-1], [-1]), np.ones(3, np.float32)), FAR, r"indices\[0\] = \[-99\]"),
    Row("2021-140", "RaggedTensor.from_row_splits", lambda v, s: Ragged.from_row_splits(v, s).row_splits,
        (ints(1, 2, 3), none(0, dtype=np.int32)), ValueError, "row_splits must not be empty"),
    Row("2021-142", "unravel_index", lambda i: jaxops.unravel_index(i, [1, 0, 2]), (ints(-1),), ValueError, "dims must be at least 1"),
    Row("2021-144", "searchsorted", lambda s, v: jaxops.searchsorted(s, v, side="right"),
        (ints(1, 2, 3), ints([0] * 3, [1] * 3, [2] * 3)), ValueError, "must have the same dimensions before the last"),
    Row("2021-149", "safe_embedding_lookup_sparse",
        lambda p, i: jaxops.safe_embedding_lookup_sparse(p, Sparse(i, none(0, dtype=np.int32), ())),
        (ONES, none(0, 0, dtype=np.int32)), ValueError, "sparse_ids must have rank 1"),
    Row("2021-159", "strided_slice", lambda x: jaxops.strided_slice(x, [0] * 6, [1] * 6, ellipsis_mask=1),
        (ONES,), ValueError, "begin must have at most one entry per dimension"),
    Row("2021-160", "expand_dims", lambda x: jaxops.expand_dims(x, -100000), (ONES,), ValueError, "axis must be in"),
    Row("2021-161", "gather", lambda p, i: jaxops.gather(p, i), (ints(1), np.int32(-10)), FAR, "indices = -10 is not in"),
    Row("2021-161", "gather_nd", lambda p, i: jaxops.gather_nd(p, i), (ints(1), ints([-10])), FAR, r"\[-10\] does not index into"),
    Row("2021-172", "safe_embedding_lookup_sparse", lambda p: jaxops.safe_embedding_lookup_sparse(p, SimpleNamespace(indices=[[0, 0]] * 3, values=[1], dense_shape=[5, 3])),
        (ONES,), ValueError, "sparse_ids must have values of shape"),
    Row("2021-173", "v0.split_v", lambda x: v0.split_v(x, [-1, -2], 0), (none(0),), ValueError, "sizes of at least 0"),
    Row("2021-179", "transpose", lambda x: jaxops.transpose(x, [-10]), (ints(1, 2, 3, 4),), ValueError, "perm must be in"),
    Row("2021-186", "parallel_stack", lambda: jaxops.parallel_stack([]), (), ValueError, "values must hold at least one"),
    Row("2021-186", "parallel_stack", lambda x: jaxops.parallel_stack([x]), (none(0),), none(1, 0)),
    Row("2021-194", "range", lambda: jaxops.range(-1e38, 1), (), ValueError, r"limit must be fewer than 2\*\*63 steps from start"),
    Row("2021-196", "tile", lambda x: jaxops.tile(x, [10**8] * 3), (np.ones((1, 1, 1), np.float32),), ValueError, TOO_LARGE),
    Row("2021-198", "fill", lambda x: jaxops.fill([2**40, 2**40], x), (np.float32(1),), ValueError, TOO_LARGE),
    Row("2021-198", "pad", lambda x: jaxops.pad(x, [[2**62, 2**62]]), (ints(1),), ValueError, TOO_LARGE),
    Row("2021-198", "one_hot", lambda i: jaxops.one_hot(i, 2**62), (ints(0, 1),), ValueError, "depth|" + TOO_LARGE),
    Row("2021-198", "scatter_nd", lambda u: jaxops.scatter_nd([[0, 0]], u, [2**30, 2**30]), (np.ones(1, np.float32),), ValueError, TOO_LARGE),
    Row("2021-198", "matrix_diag", lambda d: jaxops.matrix_diag(d, num_rows=2, num_cols=2**60), (ints(1, 2),), ValueError, TOO_LARGE),
    Row("2021-198", "repeat", lambda x: jaxops.repeat(x, 2**60), (ints(1, 2),), FAR, "repeats = 1152921504606846976 is not in"),
    Row("2021-198", "sequence_mask", lambda n: jaxops.sequence_mask(n, 2**60), (ints(1, 2),), ValueError, "maxlen|" + TOO_LARGE),
    *map(_segments, ("max", "min", "mean", "sum", "prod")),
    Row("2022-002", "reverse_sequence", lambda: jaxops.reverse_sequence(["aaa", "bbb"], [1, 1, 1], -10, -10),
        (), ValueError, "seq_axis must be in"),
    Row("2022-002", "reverse_sequence", lambda x, n: jaxops.reverse_sequence(x, n, 0, -10),
        (ints(1, 2), ints(1, 1, 1)), ValueError, "batch_axis must be in"),
    Row("2022-006", "unravel_index", lambda i: jaxops.unravel_index(i, ints(2**20, 2**20)),
        (np.int32(-(2**20)),), ValueError, "dims must have a product"),
    Row("2022-007", "concat", lambda x, y: jaxops.concat([x, y], 0xB500005B), (ints(1, 2, 3), ints(4, 5, 6)), ValueError, "axis must be in"),
    Row("2022-015", "broadcast_to", lambda x: jaxops.broadcast_to(x, [2**31 - 1] * 3), (ints(1),), ValueError, TOO_LARGE),
    Row("2022-024", "embedding_lookup_sparse",
        lambda p: jaxops.embedding_lookup_sparse(p, Sparse([[0, 0]], [1], [2**60, 2**60]), None, combiner="sum"),
        (ONES,), ValueError, TOO_LARGE),
    Row("2022-028", "range", lambda: jaxops.range(2**62, -(2**62), -1), (), ValueError, r"start must fit dtype|2\*\*56 bytes"),
    Row("2022-076", "space_to_batch", lambda x: jaxops.space_to_batch(x, [-1879048192] * 2, [[0, 0]] * 2),
        (np.ones((10, 19, 22), np.float32),), ValueError, "block_shape must be at least 1"),
    Row("2022-076", "space_to_batch", lambda x: jaxops.space_to_batch(x, [2**31 - 1] * 2, [[0, 0]] * 2),
        (np.ones((10, 19, 22), np.float32),), ValueError, "multiple|divi"),
    Row("2022-077", "edit_distance",
        lambda: jaxops.edit_distance(Sparse([[-1250999896764] * 3] * 3, [0] * 3, [0] * 3), Sparse([[-1250999896764] * 3] * 3, [2] * 3, [2] * 3)),
        (), ValueError, r"hypothesis.indices must lie in the shape"),
    Row("2022-085", "reshape", lambda x: jaxops.reshape(x, [0] * 255), (ints([1]),), ValueError, "shape must have the 1 elements"),
    Row("2022-087", "gather_nd", lambda x, i: jaxops.gather_nd(x, i), (ONES, ints([3, 0])), FAR, "does not index into"),
    Row("2022-089", "scatter_nd", lambda i, u: jaxops.scatter_nd(i, u, [3]), (ints([5], [-1]), np.ones(2, np.float32)), FAR, r"indices\[0\] = \[5\]"),
    Row("2022-090", "range", lambda: jaxops.range(0.1, 1e20, 1), (), ValueError, r"limit must be fewer than 2\*\*63 steps from start"),
    Row("2022-097", "searchsorted", lambda s, v: jaxops.searchsorted(s, v),
        (none(10, 0), none(10, 10, 0, 10, 0)), ValueError, "must have the same dimensions"),
    Row("2022-097", "searchsorted", lambda s, v: jaxops.searchsorted(s, v, side="right"),
        (none(2, 2, 0, 0, 0, 0, 0, 2), np.full((2, 4), 0.37, np.float32)), ValueError, "must have the same dimensions"),
    Row("2022-097", "searchsorted", lambda s, v: jaxops.searchsorted(s, v), (none(2, 0), np.ones((2, 3), np.float32)), np.zeros((2, 3), np.int32)),
    Row("2022-111", "RaggedTensor.from_row_splits", lambda v, s: Ragged.from_row_splits(v, s).row_splits,
        (ints(0, 32, 64), np.int32(0)), ValueError, "row_splits must be a vector"),
    Row("2022-141", "range", lambda: jaxops.range(-(2**63), 2**63 - 1, 1), (), ValueError, r"start must fit dtype|2\*\*56 bytes"),
    Row("2022-143", "gather_nd", lambda x, i: jaxops.gather_nd(x, i), (ONES, ints([0, 0, 0])), ValueError, r"indices.shape\[-1\] must be"),
    Row("2022-145", "dynamic_stitch", lambda i, d: jaxops.dynamic_stitch([i], [d, d + 2], size=2),
        (ints([0, 1]), ints([5, 6])), ValueError, "lists of the same length"),
    Row("2022-146", "broadcast_to", lambda x: jaxops.broadcast_to(x, np.arange(21)), (ints(1),), tuple(range(21))),
    Row("2022-153", "broadcast_to", lambda x: jaxops.broadcast_to(x, [2**20] * 4), (np.bool_(False),), ValueError, TOO_LARGE),
    Row("2022-157", "pad", lambda x: jaxops.pad(x, [[0x77F00000, 0xA000000]], "REFLECT"), (ints(1),), ValueError, "paddings must be less than"),
    Row("2022-157", "pad", lambda x: jaxops.pad(x, [[0x77F00000, 0xA000000]], "SYMMETRIC"), (ints(1),), ValueError, "paddings must be at most"),
    Row("2022-160", "safe_embedding_lookup_sparse", _gradient, (ONES,), np.zeros_like(ONES)),
    Row("2023-005", "parallel_stack", lambda x: jaxops.parallel_stack([x]), (np.int32(1),), ints(1)),
    Row("2023-014", "edit_distance", lambda: jaxops.edit_distance(Sparse(none(1, 0, dtype=np.int32), ["tmp/"], []), Sparse(none(1, 0, dtype=np.int32), [""], []), False),
        (), ValueError, "hypothesis and truth must have the same rank"),
    Row("2023-018", "dynamic_stitch", lambda i, d: jaxops.dynamic_stitch([i, [405]], [d, [120.5]], size=406),
        (ints(0xDEADBEEF - 2**32), np.array([110.5], np.float32)), FAR, r"indices\[0\]\[0\] = -559038737"),
    Row("2023-018", "dynamic_stitch", lambda i, d: jaxops.dynamic_stitch([i], [d], size=9),
        (ints(0, 1), np.ones(1, np.float32)), ValueError, "data"),
]  # fmt: skip
