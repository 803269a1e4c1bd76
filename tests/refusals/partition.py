"""Refused calls: dynamic_partition, dynamic_stitch, boolean_mask, one_hot and unique."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import jax.numpy as jnp
import numpy as np

import jaxops
from refusals.values import X, key

CALLS = {
    "dynamic_partition-data-shape": (lambda: jaxops.dynamic_partition(X, [0, 1], 2), ValueError, "dynamic_partition: data.shape must start with partitions.shape, (2,); received (4, 3)"),
    "dynamic_partition-data-shape-with-size": (
        lambda: jaxops.dynamic_partition([1, 2], [[0, 0]], 2, size=1), ValueError, "dynamic_partition: data.shape must start with partitions.shape, (1, 2); received (2,)"),
    "dynamic_partition-partitions-traced": (
        lambda: jax.jit(lambda p: jaxops.dynamic_partition(X, p, 2))([0] * 4), TypeError, "dynamic_partition: size must be given where partitions is traced, as the shape of the result depends on the values; received a traced partitions"),
    "dynamic_partition-partitions-traced-for-strings": (
        lambda: jax.jit(lambda p: jaxops.dynamic_partition(["a"], p, 2, size=1))([0]), TypeError, "dynamic_partition: data hold strings, which exist on the host only; call it outside jit, vmap and grad"),
    "dynamic_partition-num_partitions-0": (lambda: jaxops.dynamic_partition(X, [0] * 4, 0), ValueError, "must be 1 at least; received 0"),
    "dynamic_partition-num_partitions-2**31": (lambda: jaxops.dynamic_partition(X, [0] * 4, 2**31), ValueError, "must be less than 2**31; received 2147483648"),
    "dynamic_partition-size-negative": (lambda: jaxops.dynamic_partition(X, [0] * 4, 2, size=-1), ValueError, "must be at least 0; received -1"),
    "dynamic_partition-size-length": (lambda: jaxops.dynamic_partition(X, [0] * 4, 2, size=[1, 2, 3]), ValueError, "must have one component per partition, 2; received 3"),
    "dynamic_partition-size-component": (lambda: jaxops.dynamic_partition(X, [0] * 4, 2, size=[4, -4]), ValueError, "dynamic_partition: size[1] must be at least 0; received -4"),
    "dynamic_partition-size-2**31": (lambda: jaxops.dynamic_partition(X, [0] * 4, 2, size=2**31 - 1), ValueError, "must be less than 2**31 - 1; received 2147483647"),
    "dynamic_partition-fill_value-without-size": (
        lambda: jaxops.dynamic_partition(X, [0] * 4, 2, fill_value=0), ValueError, "dynamic_partition: fill_value is used with size only; received fill_value=0"),
    "dynamic_partition-fill_value-number-for-strings": (lambda: jaxops.dynamic_partition(["a"], [0], 2, size=4, fill_value=0), TypeError, "must be a string; received 0"),
    "dynamic_stitch-indices-array": (lambda: jaxops.dynamic_stitch(np.array([[0], [1]]), [X[:1], X[1:2]]), TypeError, "must be a list of arrays; received"),
    "dynamic_stitch-indices-not-given": (lambda: jaxops.dynamic_stitch(None, [X]), TypeError, "must be a list of arrays; received None"),
    "dynamic_stitch-data-list-of-floats": (lambda: jaxops.dynamic_stitch([[0], [1]], [[1], [1.5]]), TypeError, "dynamic_stitch: data[1] must fit dtype int32; received an array of dtype float32"),
    "dynamic_stitch-indices-length": (
        lambda: jaxops.dynamic_stitch([[0]], [X[:1], X[1:2]]), ValueError, "dynamic_stitch: indices and data must be lists of the same length, 1 at least; received lengths 1 and 2"),
    "dynamic_stitch-indices-empty": (lambda: jaxops.dynamic_stitch([], []), ValueError, "dynamic_stitch: indices and data must be lists of the same length, 1 at least; received lengths 0 and 0"),
    "dynamic_stitch-indices-traced": (
        lambda: jax.jit(lambda i: jaxops.dynamic_stitch([i], [X[:1]]))([0]), TypeError, "dynamic_stitch: size must be given where indices[0] is traced, as the shape of the result depends on the values; received a traced indices[0]"),
    "dynamic_stitch-indices-2**62": (lambda: jaxops.dynamic_stitch([[2**62]], [X[:1]]), ValueError, "must make arrays of less than 2**56 bytes; received 4611686018427387904"),
    "dynamic_stitch-indices-second-traced": (
        lambda: jax.jit(lambda i: jaxops.dynamic_stitch([[0], i], [[1], [1, 2]]))(np.array([0, 1])), TypeError, "dynamic_stitch: size must be given where indices[1] is traced, as the shape of the result depends on the values; received a traced indices[1]"),
    "dynamic_stitch-data-array": (lambda: jaxops.dynamic_stitch([[0], [1]], X[:2, None]), TypeError, "must be a list of arrays; received"),
    "dynamic_stitch-data-shape": (
        lambda: jaxops.dynamic_stitch([[0, 1]], [X[:1]]), ValueError, "dynamic_stitch: data[0] must have shape indices[0].shape + C, the same C for all; received (1, 3) with indices of shape (2,)"),
    "dynamic_stitch-data-tails": (
        lambda: jaxops.dynamic_stitch([[0], [1]], [X[:1], X[:1, :2]]), ValueError, "dynamic_stitch: data[1] must have shape indices[1].shape + C, the same C for all; received (1, 2) with indices of shape (1,) and C = (3,)"),
    "dynamic_stitch-data-mixed": (lambda: jaxops.dynamic_stitch([[0], [1]], [["a"], [1]]), TypeError, "dynamic_stitch: data[1] must hold strings only; received"),
    "dynamic_stitch-data-tails-with-size": (
        lambda: jaxops.dynamic_stitch([[0], [1]], [[[1, 2]], [[1, 2, 3]]], size=2), ValueError, "dynamic_stitch: data[1] must have shape indices[1].shape + C, the same C for all; received (1, 3) with indices of shape (1,) and C = (2,)"),
    "dynamic_stitch-size-missing-with-clip": (lambda: jaxops.dynamic_stitch([[0]], [X[:1]], mode="clip"), ValueError, "must be given with mode='clip'; received size=None"),
    "dynamic_stitch-fill_value-number-for-strings": (lambda: jaxops.dynamic_stitch([[1]], [["a"]], fill_value=1), TypeError, "must be a string; received 1"),
    "dynamic_stitch-mode-wrap-without-size": (lambda: jaxops.dynamic_stitch([[0]], [[1]], mode="wrap"), ValueError, "dynamic_stitch: size must be given with mode='wrap'; received size=None"),
    "boolean_mask-mask-shape": (lambda: jaxops.boolean_mask(X, [True]), ValueError, "must have shape tensor.shape[0:1] = (4,); received (1,)"),
    "boolean_mask-mask-scalar": (lambda: jaxops.boolean_mask(X, True), ValueError, "must have rank 1 at least and that of tensor, 2, at most; received a scalar"),
    "boolean_mask-mask-rank": (lambda: jaxops.boolean_mask(X, np.ones((4, 3, 1), bool)), ValueError, "must have rank 1 at least and that of tensor, 2, at most; received shape (4, 3, 1)"),
    "boolean_mask-mask-shape-with-size": (lambda: jaxops.boolean_mask([1, 2, 3], [True], size=1), ValueError, "must have shape tensor.shape[0:1] = (3,); received (1,)"),
    "boolean_mask-axis-high": (lambda: jaxops.boolean_mask(X, [True] * 4, axis=2), ValueError, "must be in [-2, 1] for tensor of shape (4, 3) and mask of shape (4,); received 2"),
    "boolean_mask-axis-low": (lambda: jaxops.boolean_mask(X, [True] * 4, axis=-3), ValueError, "must be in [-2, 1] for tensor of shape (4, 3) and mask of shape (4,); received -3"),
    "boolean_mask-size-2**31": (lambda: jaxops.boolean_mask(X, [True] * 4, size=2**31), ValueError, "must be less than 2**31 - 1; received 2147483648"),
    "one_hot-depth-2**62": (lambda: jaxops.one_hot([0, 1], 2**62), ValueError, "must be at most 2147483648 for indices of dtype int32; received 4611686018427387904"),
    "one_hot-depth-beyond-the-indices": (lambda: jaxops.one_hot([0, 1], 2**31 + 1), ValueError, "must be at most 2147483648 for indices of dtype int32; received 2147483649"),
    "one_hot-on_value-dtype": (lambda: jaxops.one_hot([0], 3, on_value=0.5, dtype=np.int32), TypeError, "must fit dtype int32; received 0.5"),
    "one_hot-on_value-string-alone": (
        lambda: jaxops.one_hot([0], 3, on_value="a"), TypeError, "one_hot: on_value and off_value must both be given, and no dtype of numbers, where they are strings or keys; received {'on_value': 'a'} and dtype=None"),
    "one_hot-on_value-bool-alone": (lambda: jaxops.one_hot([0], 3, on_value=True), TypeError, "one_hot: on_value and off_value must both be given where the dtype is bool; received on_value"),
    "one_hot-on_value-none-with-strings": (
        lambda: jaxops.one_hot([0], 3, None, "a"), TypeError, "one_hot: on_value and off_value must both be given, and no dtype of numbers, where they are strings or keys; received {'off_value': 'a'} and dtype=None"),
    "one_hot-off_value-dtypes": (
        lambda: jaxops.one_hot([0], 3, on_value=jnp.float32(1), off_value=jnp.int32(0)), TypeError, "one_hot: on_value and off_value must have the same dtype; received float32 and int32"),
    "one_hot-off_value-number-with-strings": (lambda: jaxops.one_hot([0], 3, "a", 1), TypeError, "must hold strings only; received 1"),
    "one_hot-axis-high": (lambda: jaxops.one_hot([0], 3, axis=2), ValueError, "must be in [-1, 1], the rank of indices; received 2"),
    "one_hot-axis-low": (lambda: jaxops.one_hot([0], 3, axis=-2), ValueError, "must be in [-1, 1], the rank of indices; received -2"),
    "one_hot-dtype-bool-alone": (lambda: jaxops.one_hot([0], 3, dtype=bool), TypeError, "one_hot: on_value and off_value must both be given where the dtype is bool; received neither"),
    "one_hot-dtype-number-with-strings": (
        lambda: jaxops.one_hot([0], 3, "a", "b", dtype="float32"), TypeError, "one_hot: on_value and off_value must both be given, and no dtype of numbers, where they are strings or keys; received {'on_value': 'a', 'off_value': 'b'} and dtype='float32'"),
    "one_hot-dtype-unknown-with-strings": (
        lambda: jaxops.one_hot([0], 3, "a", "b", dtype="(,)f4"), TypeError, "one_hot: on_value and off_value must both be given, and no dtype of numbers, where they are strings"),
    "unique-x-matrix": (lambda: jaxops.unique([[1, 2]]), ValueError, "must be a vector, or axis given; received shape (1, 2)"),
    "unique-x-scalar": (lambda: jaxops.unique(1), ValueError, "must be a vector, or axis given; received shape ()"),
    "unique-x-key": (lambda: jaxops.unique(jax.random.split(key(), 2)), TypeError, "must have a numeric or bool dtype; received key<fry>"),
    "unique-axis-scalar": (lambda: jaxops.unique(1, axis=0), ValueError, "must name a dimension; received 0 for a scalar"),
    "unique-x-matrix-of-strings": (lambda: jaxops.unique([["a"]]), ValueError, "must be a vector, or axis given; received shape (1, 1)"),
    "unique-x-complex": (lambda: jaxops.unique([1j]), TypeError, "must not have a complex dtype; received complex64"),
    "unique-size-2**31": (lambda: jaxops.unique([1, 2], size=2**31), ValueError, "must be less than 2**31 - 1; received 2147483648"),
    "unique-fill_value-number-for-strings": (lambda: jaxops.unique(["a"], size=2, fill_value=1), TypeError, "must be a string; received 1"),
}  # fmt: skip
