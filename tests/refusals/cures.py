"""Calls that a caller of another library writes, and what the message says to write instead."""

# pyright: reportCallIssue=false, reportArgumentType=false

import functools

import jax.numpy as jnp
import numpy as np

import jaxops
from jaxops.compat import v0
from refusals.values import U, X

MASK = np.array([True, False, True, True])
INTS = X.astype(np.int32)
PLACES = [[0], [1], [2], [3]]

# Numbers of rows where index vectors belong.
ROWS = {
    **{
        f"tensor_scatter_nd_{kind}": functools.partial(getattr(jaxops, f"tensor_scatter_nd_{kind}"), X)
        for kind in ("add", "sub", "min", "max", "update")
    },
    "scatter_nd": lambda indices, updates: jaxops.scatter_nd(indices, updates, [4, 3]),
    "gather_nd": lambda indices, updates: jaxops.gather_nd(X, indices[:1] * 3),
    "v0.scatter_nd": lambda indices, updates: v0.scatter_nd(indices, updates, [4, 3]),
    "v0.gather_nd": lambda indices, updates: v0.gather_nd(X, indices[:1] * 3),
}  # fmt: skip
CALLS = {
    f"{name}-indices-numbers-of-rows": (
        functools.partial(call, [0, 1], U), ValueError, "index vectors lie along the last axis: for numbers of rows write indices[:, None]")
    for name, call in ROWS.items()
}  # fmt: skip
CALLS |= {
    "tensor_scatter_nd_add-indices-numbers-of-elements": (
        lambda: jaxops.tensor_scatter_nd_add(X[0], [0, 1], [1.0, 2.0]), ValueError, "for numbers of rows write indices[:, None]"),
    "tensor_scatter_nd_add-indices-matrix-of-numbers": (
        lambda: jaxops.tensor_scatter_nd_add(X, [[0, 1]], U[None]), ValueError, "for numbers of rows write indices[:, :, None]"),
}  # fmt: skip


def on(make, call, *arrays):
    """Makes the arrays when it is called, as no table may start JAX by being imported."""
    return call(*map(make, arrays))


# A mask where indices belong.
MASKS = {
    "gather-indices": lambda mask: jaxops.gather(X, mask),
    "batch_gather-indices": lambda mask: jaxops.batch_gather(X, mask),
    "gather_nd-indices": lambda mask: jaxops.gather_nd(X, mask),
    "embedding_lookup-ids": lambda mask: jaxops.embedding_lookup(X, mask),
    "one_hot-indices": lambda mask: jaxops.one_hot(mask, 2),
    "unravel_index-indices": lambda mask: jaxops.unravel_index(mask, [2]),
    "invert_permutation-x": lambda mask: jaxops.invert_permutation(mask),
    "dynamic_partition-partitions": lambda mask: jaxops.dynamic_partition(X, mask, 2),
    "dynamic_stitch-indices": lambda mask: jaxops.dynamic_stitch([mask], [X]),
    "scatter_nd-indices": lambda mask: jaxops.scatter_nd(mask, X, [4, 3]),
    "repeat-repeats": lambda mask: jaxops.repeat(X, mask, 0),
    "reverse_sequence-seq_lengths": lambda mask: jaxops.reverse_sequence(X, mask, seq_axis=1),
    "RaggedTensor.from_row_splits-row_splits": lambda mask: jaxops.RaggedTensor.from_row_splits(X, mask),
    "RaggedTensor.from_value_rowids-value_rowids": lambda mask: jaxops.RaggedTensor.from_value_rowids(X, mask),
    "RaggedTensor.from_row_lengths-row_lengths": lambda mask: jaxops.RaggedTensor.from_row_lengths(X, mask),
    "IndexedSlices-indices": lambda mask: jaxops.IndexedSlices(X, mask, (9, 3)),
    **{
        f"tensor_scatter_nd_{kind}-indices": lambda mask, op=f"tensor_scatter_nd_{kind}": getattr(jaxops, op)(X, mask, X)
        for kind in ("add", "sub", "min", "max", "update")
    },
    **{
        f"{op}-segment_ids": lambda mask, op=op: getattr(jaxops, op)(X, mask)
        for op in [f"segment_{kind}" for kind in ("sum", "mean", "prod", "min", "max")]
    },
    **{
        f"unsorted_segment_{kind}-segment_ids": lambda mask, op=f"unsorted_segment_{kind}": getattr(jaxops, op)(X, mask, 2)
        for kind in ("sum", "mean", "prod", "min", "max", "sqrt_n")
    },
    **{
        f"sparse_segment_{kind}-indices": lambda mask, op=f"sparse_segment_{kind}": getattr(jaxops, op)(X, mask, [0, 0, 0, 0])
        for kind in ("sum", "mean", "sqrt_n")
    },
    **{
        f"sparse_segment_{kind}-segment_ids": lambda mask, op=f"sparse_segment_{kind}": getattr(jaxops, op)(X, [0, 0, 0, 0], mask)
        for kind in ("sum", "mean", "sqrt_n")
    },
}  # fmt: skip
CALLS |= {
    f"{place}-{kind}": (
        functools.partial(on, make, call, MASK), TypeError, f"must have an integer dtype; received bool; {words}")
    for place, call in MASKS.items()
    for kind, make in {"mask": jnp.asarray, "mask-of-numpy": np.asarray, "mask-as-list": list}.items()
    for words in ["boolean_mask takes a mask, and where(mask) has the places of its true elements; jaxops.cast("]
}  # fmt: skip

# Arrays of two dtypes: the words after that of the argument.
DTYPES = {
    "concat-values": (lambda x, y: jaxops.concat([x, y], 0), "values[1]"),
    "stack-values": (lambda x, y: jaxops.stack([x, y]), "values[1]"),
    "parallel_stack-values": (lambda x, y: jaxops.parallel_stack([x, y]), "values[1]"),
    "where-y": (lambda x, y: jaxops.where(x > 0, x, y), "y"),
    "dynamic_stitch-data": (lambda x, y: jaxops.dynamic_stitch([[0, 1, 2, 3], [4, 5, 6, 7]], [x, y]), "data[1]"),
    "searchsorted-values": (lambda x, y: jaxops.searchsorted(x[0], y[0]), "values"),
    "setdiff1d-y": (lambda x, y: jaxops.setdiff1d(x[0], y[0]), "y"),
    "matrix_set_diag-diagonal": (lambda x, y: jaxops.matrix_set_diag(x, y[0]), "diagonal"),
    **{
        f"tensor_scatter_nd_{kind}-updates": (lambda x, y, op=f"tensor_scatter_nd_{kind}": getattr(jaxops, op)(x, PLACES, y), "updates")
        for kind in ("add", "sub", "min", "max", "update")
    },
}  # fmt: skip
CALLS |= {
    f"{place}-{case}": (
        functools.partial(on, jnp.asarray, call, *arrays), TypeError, f"{arg} must fit dtype {wanted}; received an array of dtype {given}; jaxops.cast({arg}, '{wanted}') converts it{more}")
    for place, (call, arg) in DTYPES.items()
    for case, arrays, wanted, given, more in [
        ("ints-for-floats", (X, INTS), "float32", "int32", ""),
        ("floats-for-ints", (INTS, X), "int32", "float32", ", with a loss; or cast the other array to 'float32'"),
        ("bfloat16s-for-floats", (X, X.astype(jnp.bfloat16)), "float32", "bfloat16", ""),
    ]
}  # fmt: skip

# Arguments in the order of TensorFlow 0.x, or of another library.
FIRST = "the arrays come first, as in TensorFlow 2"
CALLS |= {
    "stack-axis-arrays": (
        lambda: jaxops.stack(0, [X, X]), TypeError, f"stack: axis must be a static int; received a list of 2, the first an array of shape (4, 3) and dtype float32; {FIRST}"),
    "split-axis-array": (
        lambda: jaxops.split(0, 2, X), TypeError, f"split: axis must be a static int; received an array of shape (4, 3) and dtype float32; {FIRST} (in jaxops.compat.v0.split as in TensorFlow 0.x)"),
    "reverse-axis-bools-of-0.x": (
        lambda: jaxops.reverse(X, [True, False]), TypeError, "reverse: axis must be a one-dimensional sequence of ints; received [True, False]; jaxops.compat.v0.reverse takes a bool for each dimension, as TensorFlow 0.x"),
    "expand_dims-axis-array": (
        lambda: jaxops.expand_dims(0, X), TypeError, FIRST),
    "transpose-perm-array": (
        lambda: jaxops.transpose([1, 0], X), TypeError, FIRST),
    "reshape-shape-array": (
        lambda: jaxops.reshape([3, 4], X), TypeError, FIRST),
    "tile-multiples-array": (
        lambda: jaxops.tile([1, 2], X), TypeError, FIRST),
    "broadcast_to-shape-array": (
        lambda: jaxops.broadcast_to([4, 3], X), TypeError, FIRST),
    "unstack-num-array": (
        lambda: jaxops.unstack(0, X), TypeError, FIRST),
    "squeeze-axis-array": (
        lambda: jaxops.squeeze(0, X), TypeError, FIRST),
    "one_hot-depth-array": (
        lambda: jaxops.one_hot(3, np.arange(2)), TypeError, FIRST),
    "sequence_mask-maxlen-array": (
        lambda: jaxops.sequence_mask(3, np.arange(2)), TypeError, FIRST),
}  # fmt: skip
