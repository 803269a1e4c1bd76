"""Refused calls: compat.v0, where the releases of TensorFlow 0.x differ, and its later functions."""

# pyright: reportCallIssue=false, reportArgumentType=false

import functools

from jaxops.compat import v0
from refusals.values import NO_PADS, X, in_jit

CALLS = {
    "v0.concat-both-readings": (
        lambda: v0.concat(0, 1), TypeError, "concat: arguments must be named, as concat(a, b) reads as concat(concat_dim=a, values=b) (0.5 to 0.12) or as concat(values=a, axis=b) (concat_v2 of 0.12); received a=0, b=1"),
    "v0.concat-lists-of-ints": (lambda: v0.concat([0], [1]), TypeError, "concat: arguments must be named, as concat(a, b) reads as"),
    "v0.concat-axis-none": (lambda: v0.concat([X, X], None), TypeError, "must be a static int; received None"),
    "v0.concat-axis-traced": (
        lambda: in_jit(lambda d: v0.concat([X, X], d), 0), TypeError, "must be a static int; received a traced array of shape (); inside jit compute it from Python ints, NumPy arrays, x.shape or jaxops.shape(x) in place of arrays of jnp, or name it in static_argnums or static_argnames"),
    "v0.concat-axis-twice": (lambda: v0.concat(0, values=[X], axis=0), TypeError, "concat() got an unexpected keyword argument 'axis'"),
    "v0.split-axis-high": (lambda: v0.split(X, 2, 2), ValueError, "must be in [-2, 2); received 2"),
    "v0.split-num_or_size_splits-sum": (lambda: v0.split(X, [1, 2]), ValueError, "must have sizes of at least 0, but for one -1, and make up dimension 0 of value, 4; received (1, 2)"),
    "v0.pad-both-readings": (
        lambda: v0.pad(X, NO_PADS, "WRAP"), TypeError, "pad: arguments must be named, as pad(a, b, c) reads as pad(tensor=a, paddings=b, mode=c) (0.7 to 0.12) or as pad(tensor=a, paddings=b, name=c) (0.5 and 0.6); received c='WRAP'"),
    "v0.pad-input-none": (lambda: v0.pad(input=None, paddings=[[1, 1]]), TypeError, "must be an array of numbers or bools; received None"),
    "v0.squeeze-axis-high": (lambda: v0.squeeze(X, [2]), ValueError, "must be in [-2, 2); received 2"),
    "v0.squeeze-axis-twice": (
        lambda: v0.squeeze(X, 0, squeeze_dims=0), ValueError, "must be None where squeeze_dims is given (Cannot specify both 'squeeze_dims' and 'axis'); received axis=0 and squeeze_dims=0"),
    "v0.expand_dims-axis-twice": (lambda: v0.expand_dims(X, 0, dim=1), ValueError, "must be None where dim is given (Cannot specify both 'dim' and 'axis'); received axis=0 and dim=1"),
    "v0.reverse_sequence-seq_axis-high": (lambda: v0.reverse_sequence(X, [1] * 4, 2), ValueError, "must be in [0, 2) for input of shape (4, 3); received 2"),
    "v0.reverse_sequence-batch_axis-same": (lambda: v0.reverse_sequence(X, [1] * 4, 1, 1), ValueError, "reverse_sequence: seq_axis must differ from batch_axis; received 1 twice"),
    "v0.reverse_sequence-batch_axis-twice": (
        lambda: v0.reverse_sequence(X, [1] * 4, 1, 0, batch_dim=0), ValueError, "must be None where batch_dim is given (Cannot specify both 'batch_dim' and 'batch_axis'); received batch_axis=0 and batch_dim=0"),
    "v0.reverse-axis-high": (lambda: v0.reverse(X, [2]), ValueError, "must be in [-2, 2); received 2"),
    "v0.reverse-axis-traced": (lambda: in_jit(lambda d: v0.reverse(X, d), [0]), TypeError, "must be static; received"),
    "v0.where-condition-scalar": (lambda: v0.where(condition=True), ValueError, "must have rank 1 at least"),
    "v0.where-x-shape": (lambda: v0.where([True, False], [1], [2]), ValueError, "where: condition, x and y must have one shape"),
    "v0.one_hot-both-readings": (
        lambda: v0.one_hot([0], 3, 1.0, 0.0, -1, "float32"), TypeError, "one_hot: arguments must be named, as one_hot(a, b, c, d, e, f) reads as one_hot(indices=a, depth=b, on_value=c, off_value=d, axis=e, dtype=f) (0.8 to 0.12) or as one_hot(indices=a, depth=b, on_value=c, off_value=d, axis=e, name=f) (0.7); received f='float32'"),
    "v0.shape_n-both-readings": (
        lambda: v0.shape_n([X], "int32"), TypeError, "shape_n: arguments must be named, as shape_n(a, b) reads as shape_n(input=a, out_type=b) (0.11 and 0.12) or as shape_n(input=a, name=b) (0.5 to 0.10); received b='int32'"),
    "v0.unique-x-matrix": (lambda: v0.unique(X), ValueError, "must be a vector, or `axis` of `jaxops.unique` given; received shape (4, 3)"),
    "v0.unique-both-readings": (
        lambda: v0.unique([1], "int64"), TypeError, "unique: arguments must be named, as unique(a, b) reads as unique(x=a, out_idx=b) (0.11 and 0.12) or as unique(x=a, name=b) (0.5 to 0.10); received b='int64'"),
    "v0.listdiff-x-traced": (lambda: in_jit(lambda x: v0.listdiff(x, [1]), [1]), TypeError, "listdiff: `size` of `jaxops.setdiff1d` must be given where x is traced"),
    "v0.strided_slice-var-given": (lambda: v0.strided_slice(X, [0], [1], var=X), TypeError, "must be None, as arrays are not assigned to"),
    "v0.range-both-readings": (
        lambda: v0.range(0, 3, 1, "float32"), TypeError, "range: arguments must be named, as range(a, b, c, d) reads as range(start=a, limit=b, delta=c, dtype=d) (0.11 and 0.12) or as range(start=a, limit=b, delta=c, name=d) (0.5 to 0.10); received d='float32'"),
}  # fmt: skip

# What 0.x does not have: the error says whose argument it is.
WITHOUT_SIZE = {
    "boolean_mask-mask": lambda x: v0.boolean_mask([1], x == 1),
    "dynamic_partition-partitions": lambda x: v0.dynamic_partition(x, x, 2),
    "dynamic_stitch-indices": lambda x: v0.dynamic_stitch([x], [x]),
    "setdiff1d-x": lambda x: v0.setdiff1d(x, [1]),
    "unique-x": v0.unique,
    "unique_with_counts-x": v0.unique_with_counts,
    "where-condition": lambda x: v0.where(condition=x),
}
CALLS |= {
    f"v0.{place}-without-size": (functools.partial(in_jit, call, [1]), TypeError, f"`size` of `jaxops.{place.split('-')[0]}` must be given where {place.split('-')[1]}")
    for place, call in WITHOUT_SIZE.items()
}  # fmt: skip
CALLS |= {
    f"v0.{name}-segment_ids-traced": (
        functools.partial(in_jit, lambda i, name=name, n=count: getattr(v0, name)([1.0], *[i] * n), [0]), TypeError, f"{name}: `num_segments` of `jaxops.{name}` must be given")
    for way, kinds, count in (("segment", "sum mean prod min max", 1), ("sparse_segment", "sum mean sqrt_n", 2))
    for name in (f"{way}_{kind}" for kind in kinds.split())
}  # fmt: skip
