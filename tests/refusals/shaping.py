"""Refused calls: shape, shape_n, size, rank, reshape, squeeze, expand_dims and transpose."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import numpy as np

import jaxops
from refusals.values import X

CALLS = {
    "shape_n-input-array": (lambda: jaxops.shape_n(X), TypeError, "must be a list of arrays; received an array of shape (4, 3) and dtype float32"),
    "shape_n-input-empty": (lambda: jaxops.shape_n([]), ValueError, "must hold at least one array; received an empty list"),
    "size-out_type-overflow": (lambda: jaxops.size(np.broadcast_to(np.int8(0), (2**16, 2**16))), ValueError, "must be int64 to hold 4294967296; received int32"),
    "reshape-shape-elements": (lambda: jaxops.reshape(X, [5, 2]), ValueError, "must have the 12 elements of tensor, whose shape is (4, 3); received (5, 2)"),
    "reshape-shape-not-divisible": (lambda: jaxops.reshape(X, [5, -1]), ValueError, "must have the 12 elements of tensor, whose shape is (4, 3); received (5, -1)"),
    "reshape-shape-two-unknown": (lambda: jaxops.reshape(X, [-1, -1]), ValueError, "must have components of at least 0, but for one -1; received (-1, -1)"),
    "reshape-shape-negative": (lambda: jaxops.reshape(X, [-2, 6]), ValueError, "must have components of at least 0, but for one -1; received (-2, 6)"),
    "reshape-tensor-ragged-traced": (
        lambda: jax.jit(lambda i: jaxops.reshape([[i], [2, 3]], [3]))(1), ValueError, "must be an array or nested lists of equal lengths, of dtypes that JAX promotes; received [["),
    "reshape-tensor-none-traced": (
        lambda: jax.jit(lambda i: jaxops.reshape([i, None], [2]))(1), ValueError, "must be an array or nested lists of equal lengths, of dtypes that JAX promotes; received ["),
    "reshape-tensor-strings-in-jit": (
        lambda: jax.jit(lambda x: x + jaxops.reshape(["a"], []))(1), TypeError, "reshape: tensor hold strings, which exist on the host only; call it outside jit, vmap and grad"),
    "reshape-shape-huge": (lambda: jaxops.reshape(X, [2**62, 2**62]), ValueError, "must have the 12 elements of tensor, whose shape is (4, 3); received (4611686018427387904, 4611686018427387904)"),
    "reshape-shape-empty-but-huge": (
        lambda: jaxops.reshape(X[:0], [0, 2**63, 2**62]), ValueError, "reshape: tensor and shape must make arrays of less than 2**63 bytes by the dimensions before a 0; received tensor of shape (0, 3), shape (0, 9223372036854775808, 4611686018427387904), which make one of shape (0, 9223372036854775808, 4611686018427387904)"),
    "reshape-shape-rest-of-nothing": (lambda: jaxops.reshape(X, [0, -1]), ValueError, "must have the 12 elements of tensor, whose shape is (4, 3); received (0, -1)"),
    "reshape-shape-scalar-of-nothing": (lambda: jaxops.reshape(X[:0], []), ValueError, "must have the 0 elements of tensor, whose shape is (0, 3); received ()"),
    "squeeze-axis-not-1": (lambda: jaxops.squeeze(X, 0), ValueError, "must name dimensions of size 1; received 0 with input of shape (4, 3)"),
    "squeeze-axis-of-scalar": (lambda: jaxops.squeeze(1.0, 0), ValueError, "must name a dimension; received 0 for a scalar"),
    "transpose-perm-duplicate": (lambda: jaxops.transpose(X, [0, 0]), ValueError, "must hold each of the 2 dimensions of a once; received (0, 0)"),
    "transpose-perm-duplicate-negative": (lambda: jaxops.transpose(X, [1, -1]), ValueError, "must hold each of the 2 dimensions of a once; received (1, -1)"),
    "transpose-perm-short": (lambda: jaxops.transpose(X, [0]), ValueError, "must hold each of the 2 dimensions of a once; received (0,)"),
    "transpose-perm-high": (lambda: jaxops.transpose(X, [0, 2]), ValueError, "must be in [-2, 2); received 2"),
}  # fmt: skip
