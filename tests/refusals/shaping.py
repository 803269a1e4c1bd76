"""Refused calls: shape, shape_n, size, rank, reshape, squeeze, expand_dims and transpose."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import jax.numpy as jnp
import numpy as np

import jaxops
from refusals.values import X

CALLS = {
    "shape-input-ragged": (
        lambda: jaxops.shape([[1], [2, 3]]), ValueError, "shape: input must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "shape-input-none": (
        lambda: jaxops.shape(None), TypeError, "shape: input must be an array of numbers, bools or strings; received None"),
    "shape-input-dict": (
        lambda: jaxops.shape({"a": 1}), TypeError, "shape: input must be an array of numbers, bools or strings; received {'a': 1}"),
    "shape-out_type-float": (
        lambda: jaxops.shape(X, np.float32), TypeError, "shape: out_type must be int32 or int64; received <class 'numpy.float32'>"),
    "shape-out_type-none": (
        lambda: jaxops.shape(X, None), TypeError, "shape: out_type must be int32 or int64; received None"),
    "shape-out_type-unknown": (
        lambda: jaxops.shape(X, "int31"), TypeError, "shape: out_type must be int32 or int64; received 'int31'"),
    "shape-out_type-value": (
        lambda: jaxops.shape(X, 32), TypeError, "shape: out_type must be int32 or int64; received 32"),
    "shape-out_type-list": (
        lambda: jaxops.shape(X, [np.int32]), TypeError, "shape: out_type must be int32 or int64; received [<class 'numpy.int32'>]"),
    "shape-out_type-int16": (
        lambda: jaxops.shape(X, np.int16), TypeError, "shape: out_type must be int32 or int64; received <class 'numpy.int16'>"),
    "shape_n-input-array": (
        lambda: jaxops.shape_n(X), TypeError, "shape_n: input must be a list of arrays; received ndarray"),
    "shape_n-input-empty": (
        lambda: jaxops.shape_n([]), ValueError, "shape_n: input must hold at least one array; received an empty list"),
    "shape_n-input-none": (
        lambda: jaxops.shape_n([X, None]), TypeError, "shape_n: input[1] must be an array of numbers, bools or strings; received None"),
    "shape_n-input-ragged": (
        lambda: jaxops.shape_n([X, [[1], [2, 3]]]), ValueError, "shape_n: input[1] must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "shape_n-out_type-int16": (
        lambda: jaxops.shape_n([X], np.int16), TypeError, "shape_n: out_type must be int32 or int64; received <class 'numpy.int16'>"),
    "size-input-object": (
        lambda: jaxops.size(object()), TypeError, "size: input must be an array of numbers, bools or strings; received"),
    "size-out_type-uint32": (
        lambda: jaxops.size(X, np.uint32), TypeError, "size: out_type must be int32 or int64; received <class 'numpy.uint32'>"),
    "size-out_type-string": (
        lambda: jaxops.size(X, "abc"), TypeError, "size: out_type must be int32 or int64; received 'abc'"),
    "size-out_type-overflow": (
        lambda: jaxops.size(np.broadcast_to(np.int8(0), (2**16, 2**16))), ValueError, "size: out_type must be int64 to hold 4294967296; received int32"),
    "rank-input-none": (
        lambda: jaxops.rank(None), TypeError, "rank: input must be an array of numbers, bools or strings; received None"),
    "rank-input-ragged": (
        lambda: jaxops.rank([[1], [2, 3]]), ValueError, "rank: input must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "reshape-tensor-none": (
        lambda: jaxops.reshape(None, [1]), TypeError, "reshape: tensor must be an array of numbers or bools; received None"),
    "reshape-tensor-ragged": (
        lambda: jaxops.reshape([[1], [2, 3]], [3]), ValueError, "reshape: tensor must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "reshape-shape-elements": (
        lambda: jaxops.reshape(X, [5, 2]), ValueError, "reshape: shape must have the 12 elements of tensor, whose shape is (4, 3); received (5, 2)"),
    "reshape-shape-not-divisible": (
        lambda: jaxops.reshape(X, [5, -1]), ValueError, "reshape: shape must have the 12 elements of tensor, whose shape is (4, 3); received (5, -1)"),
    "reshape-shape-two-unknown": (
        lambda: jaxops.reshape(X, [-1, -1]), ValueError, "reshape: shape must have components of at least 0, but for one -1; received (-1, -1)"),
    "reshape-shape-negative": (
        lambda: jaxops.reshape(X, [-2, 6]), ValueError, "reshape: shape must have components of at least 0, but for one -1; received (-2, 6)"),
    "reshape-shape-none": (
        lambda: jaxops.reshape(X, None), TypeError, "reshape: shape must be a one-dimensional sequence of ints; received None"),
    "reshape-shape-none-component": (
        lambda: jaxops.reshape(X, [None, 3]), TypeError, "reshape: shape must be a one-dimensional sequence of ints; received [None, 3]"),
    "reshape-shape-float": (
        lambda: jaxops.reshape(X, [4.0, 3.0]), TypeError, "reshape: shape must be a one-dimensional sequence of ints; received [4.0, 3.0]"),
    "reshape-shape-nan": (
        lambda: jaxops.reshape(X, float("nan")), TypeError, "reshape: shape must be a static int; received nan"),
    "reshape-shape-bool": (
        lambda: jaxops.reshape(X, [True, 12]), TypeError, "reshape: shape must be a one-dimensional sequence of ints; received [True, 12]"),
    "reshape-shape-string": (
        lambda: jaxops.reshape(X, "12"), TypeError, "reshape: shape must be a one-dimensional sequence of ints; received '12'"),
    "reshape-shape-matrix": (
        lambda: jaxops.reshape(X, [[12]]), ValueError, "reshape: shape must be a one-dimensional sequence of ints; received [[12]]"),
    "reshape-tensor-ragged-in-jit": (
        lambda: jax.jit(lambda: jaxops.reshape([[1], [2, 3]], [3]))(), ValueError, "reshape: tensor must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "reshape-tensor-ragged-traced": (
        lambda: jax.jit(lambda i: jaxops.reshape([[i], [2, 3]], [3]))(1), ValueError, "reshape: tensor must be an array or nested lists of equal lengths, of dtypes that JAX promotes; received [["),
    "reshape-tensor-none-traced": (
        lambda: jax.jit(lambda i: jaxops.reshape([i, None], [2]))(1), ValueError, "reshape: tensor must be an array or nested lists of equal lengths, of dtypes that JAX promotes; received ["),
    "reshape-tensor-strings-in-jit": (
        lambda: jax.jit(lambda x: x + jaxops.reshape(["a"], []))(1), TypeError, "reshape: tensor hold strings, which exist on the host only; call it outside jit, vmap and grad"),
    "reshape-shape-ragged": (
        lambda: jaxops.reshape(X, [[4], [3, 1]]), ValueError, "reshape: shape must be a one-dimensional sequence of ints; received [[4], [3, 1]]"),
    "reshape-shape-traced": (
        lambda: jax.jit(lambda s: jaxops.reshape(X, s))(jnp.array([12])), TypeError, "reshape: shape must be static; received a traced array of shape (1,)"),
    "reshape-shape-traced-scalar": (
        lambda: jax.jit(lambda s: jaxops.reshape(X, s))(12), TypeError, "reshape: shape must be a static int; received a traced array of shape ()"),
    "reshape-shape-traced-in-list": (
        lambda: jax.jit(lambda s: jaxops.reshape(X, [s, -1]))(2), TypeError, "reshape: shape must be static; received a list with a traced value in it"),
    "reshape-shape-huge": (
        lambda: jaxops.reshape(X, [2**62, 2**62]), ValueError, "reshape: shape must have the 12 elements of tensor, whose shape is (4, 3); received (4611686018427387904, 4611686018427387904)"),
    "reshape-shape-empty-but-huge": (
        lambda: jaxops.reshape(X[:0], [0, 2**63, 2**62]), ValueError, "reshape: tensor and shape must make arrays of less than 2**63 bytes by the dimensions before a 0; received tensor of shape (0, 3), shape (0, 9223372036854775808, 4611686018427387904), which make one of shape (0, 9223372036854775808, 4611686018427387904)"),
    "reshape-shape-rest-of-nothing": (
        lambda: jaxops.reshape(X, [0, -1]), ValueError, "reshape: shape must have the 12 elements of tensor, whose shape is (4, 3); received (0, -1)"),
    "reshape-shape-scalar-of-nothing": (
        lambda: jaxops.reshape(X[:0], []), ValueError, "reshape: shape must have the 0 elements of tensor, whose shape is (0, 3); received ()"),
    "squeeze-input-none": (
        lambda: jaxops.squeeze(None), TypeError, "squeeze: input must be an array of numbers or bools; received None"),
    "squeeze-input-object": (
        lambda: jaxops.squeeze(object()), TypeError, "squeeze: input must be an array of numbers or bools; received"),
    "squeeze-axis-not-1": (
        lambda: jaxops.squeeze(X, 0), ValueError, "squeeze: axis must name dimensions of size 1; received 0 with input of shape (4, 3)"),
    "squeeze-axis-high": (
        lambda: jaxops.squeeze(X[None], 3), ValueError, "squeeze: axis must be in [-3, 3); received 3"),
    "squeeze-axis-low": (
        lambda: jaxops.squeeze(X[None], [-4]), ValueError, "squeeze: axis must be in [-3, 3); received -4"),
    "squeeze-axis-float": (
        lambda: jaxops.squeeze(X[None], 0.0), TypeError, "squeeze: axis must be a static int; received 0.0"),
    "squeeze-axis-bool": (
        lambda: jaxops.squeeze(X[None], False), TypeError, "squeeze: axis must be a static int; received False"),
    "squeeze-axis-string": (
        lambda: jaxops.squeeze(X[None], "0"), TypeError, "squeeze: axis must be a one-dimensional sequence of ints; received '0'"),
    "squeeze-axis-matrix": (
        lambda: jaxops.squeeze(X[None], [[0]]), ValueError, "squeeze: axis must be a one-dimensional sequence of ints; received [[0]]"),
    "squeeze-axis-traced": (
        lambda: jax.jit(lambda a: jaxops.squeeze(X[None], [a]))(0), TypeError, "squeeze: axis must be static; received a list with a traced value in it"),
    "squeeze-axis-of-scalar": (
        lambda: jaxops.squeeze(1.0, 0), ValueError, "squeeze: axis must name a dimension; received 0 for a scalar"),
    "expand_dims-input-none": (
        lambda: jaxops.expand_dims(None, 0), TypeError, "expand_dims: input must be an array of numbers or bools; received None"),
    "expand_dims-input-ragged": (
        lambda: jaxops.expand_dims([[1], [2, 3]], 0), ValueError, "expand_dims: input must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "expand_dims-axis-high": (
        lambda: jaxops.expand_dims(X, 3), ValueError, "expand_dims: axis must be in [-3, 3); received 3"),
    "expand_dims-axis-low": (
        lambda: jaxops.expand_dims(X, -4), ValueError, "expand_dims: axis must be in [-3, 3); received -4"),
    "expand_dims-axis-none": (
        lambda: jaxops.expand_dims(X, None), TypeError, "expand_dims: axis must be a static int; received None"),
    "expand_dims-axis-bool": (
        lambda: jaxops.expand_dims(X, True), TypeError, "expand_dims: axis must be a static int; received True"),
    "expand_dims-axis-list": (
        lambda: jaxops.expand_dims(X, [0, 1]), TypeError, "expand_dims: axis must be a static int; received [0, 1]"),
    "expand_dims-axis-traced": (
        lambda: jax.jit(lambda a: jaxops.expand_dims(X, a))(0), TypeError, "expand_dims: axis must be a static int; received a traced array of shape ()"),
    "expand_dims-axis-float": (
        lambda: jaxops.expand_dims(X, 1.0), TypeError, "expand_dims: axis must be a static int; received 1.0"),
    "transpose-a-none": (
        lambda: jaxops.transpose(None), TypeError, "transpose: a must be an array of numbers or bools; received None"),
    "transpose-a-dict": (
        lambda: jaxops.transpose({"a": X}), TypeError, "transpose: a must be an array of numbers or bools; received {'a':"),
    "transpose-perm-duplicate": (
        lambda: jaxops.transpose(X, [0, 0]), ValueError, "transpose: perm must hold each of the 2 dimensions of a once; received (0, 0)"),
    "transpose-perm-duplicate-negative": (
        lambda: jaxops.transpose(X, [1, -1]), ValueError, "transpose: perm must hold each of the 2 dimensions of a once; received (1, -1)"),
    "transpose-perm-short": (
        lambda: jaxops.transpose(X, [0]), ValueError, "transpose: perm must hold each of the 2 dimensions of a once; received (0,)"),
    "transpose-perm-long": (
        lambda: jaxops.transpose(X, [0, 1, 2]), ValueError, "transpose: perm must be in [-2, 2); received 2"),
    "transpose-perm-high": (
        lambda: jaxops.transpose(X, [0, 2]), ValueError, "transpose: perm must be in [-2, 2); received 2"),
    "transpose-perm-float": (
        lambda: jaxops.transpose(X, [1.0, 0.0]), TypeError, "transpose: perm must be a one-dimensional sequence of ints; received [1.0, 0.0]"),
    "transpose-perm-bools": (
        lambda: jaxops.transpose(X, [True, False]), TypeError, "transpose: perm must be a one-dimensional sequence of ints; received [True, False]"),
    "transpose-perm-scalar": (
        lambda: jaxops.transpose(X, 1), ValueError, "transpose: perm must be a one-dimensional sequence of ints; received 1"),
    "transpose-perm-string": (
        lambda: jaxops.transpose(X, "10"), TypeError, "transpose: perm must be a one-dimensional sequence of ints; received '10'"),
    "transpose-perm-traced": (
        lambda: jax.jit(lambda p: jaxops.transpose(X, p))(jnp.array([1, 0])), TypeError, "transpose: perm must be static; received a traced array of shape (2,)"),
    "transpose-conjugate-int": (
        lambda: jaxops.transpose(X, conjugate=1), TypeError, "transpose: conjugate must be a static bool; received 1"),
    "transpose-conjugate-none": (
        lambda: jaxops.transpose(X, conjugate=None), TypeError, "transpose: conjugate must be a static bool; received None"),
    "transpose-misspelt": (
        lambda: jaxops.transpose(X, axes=[1, 0]), TypeError, "transpose() got an unexpected keyword argument 'axes'"),
}  # fmt: skip
