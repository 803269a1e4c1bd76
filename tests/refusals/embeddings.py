"""Refused calls: embedding_lookup, embedding_lookup_sparse, safe_embedding_lookup_sparse."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import types

import jax
import numpy as np

import jaxops
from jaxops import SparseTensor
from refusals.values import X

UNCHECKED = types.SimpleNamespace(indices=[[0, 0]], values=[1, 2], dense_shape=(2, 2))
IDS = SparseTensor([[0, 0], [1, 1]], [1, 0], (2, 2))
_TABLES = {"embedding_lookup_sparse": "params", "safe_embedding_lookup_sparse": "embedding_weights"}


def _of_both(name):
    """What both lookups of sparse ids refuse."""
    lookup = getattr(jaxops, name)
    table = _TABLES[name]
    safe = name.startswith("safe")
    ids, weights = ("sparse_ids", "sparse_weights") if safe else ("sp_ids", "sp_weights")
    return {
        f"{name}-{table}-scalar": (
            lambda: lookup(np.float32(1), IDS, None), ValueError, f"{name}: {table} must have rank 1 at least; received a scalar"),
        f"{name}-{table}-ints": (
            lambda: lookup(np.ones((4, 2), int), IDS, None), TypeError, f"{name}: {table} must have a real float dtype; received int32"),
        f"{name}-{table}-no-division": (
            lambda: lookup([X[:1], X[1:]], IDS, None), ValueError, f"{name}: {table} must be tables of equal numbers of rows, of which the first may have one more; received [1, 3]"),
        f"{name}-{ids}-list": (
            lambda: lookup(X, [1, 0], None), TypeError, f"{name}: {ids} must be a SparseTensor, with indices, values and dense_shape; received [1, 0]"),
        f"{name}-{ids}-floats": (
            lambda: lookup(X, SparseTensor([[0, 0]], [1.0], (2, 2)), None), TypeError, f"{name}: {ids}.values must have an integer dtype; received float64"),
        f"{name}-{ids}-places": (
            lambda: lookup(X, UNCHECKED, None), ValueError, f"{name}: {ids} must have values of shape (n,), and indices of shape (n, 2) for dense_shape (2, 2); received shapes (2,) and (1, 2)"),
        f"{name}-{ids}-negative-shape": (
            lambda: lookup(X, SparseTensor([[0, 0]], [1], (2, -2)), None), ValueError, f"{name}: {ids}.dense_shape must not be negative; received (2, -2)"),
        f"{name}-{weights}-list": (
            lambda: lookup(X, IDS, [1.0, 2.0]), TypeError, f"{name}: {weights} must be a SparseTensor, with indices, values and dense_shape; received [1.0, 2.0]"),
        f"{name}-{weights}-fewer": (
            lambda: lookup(X, IDS, SparseTensor([[0, 0]], [1.0], (2, 2))), ValueError, f"{name}: {weights} must have the places of {ids}; received 1 values of shape (2, 2) for 2 ids of shape (2, 2)"),
    }  # fmt: skip


CALLS = {
    **_of_both("embedding_lookup_sparse"),
    **_of_both("safe_embedding_lookup_sparse"),
    "embedding_lookup_sparse-sp_ids-rank": (lambda: jaxops.embedding_lookup_sparse(X, SparseTensor([[0]], [1], (2,)), None), ValueError, "must have rank 2 at least; received shape (2,)"),
    "safe_embedding_lookup_sparse-sparse_ids-scalar": (
        lambda: jaxops.safe_embedding_lookup_sparse(X, SparseTensor(np.zeros((1, 0), int), [1], ())), ValueError, "must have rank 1 at least; received a scalar"),
    "embedding_lookup-params-empty": (lambda: jaxops.embedding_lookup([], [0]), ValueError, "must hold one table at least; received []"),
    "embedding_lookup-params-other-shapes": (
        lambda: jaxops.embedding_lookup([X, X[:, :1]], [0]), ValueError, "must agree in all dimensions but the first; received shapes (4, 3) and (4, 1), of params[1]"),
    "embedding_lookup-partition_strategy": (lambda: jaxops.embedding_lookup([X, X], [0], "mod"), TypeError, "TensorFlow 1's partition_strategy is always 'div' here"),
    "embedding_lookup-max_norm-of-ints": (
        lambda: jaxops.embedding_lookup(np.ones(3, np.int32), [0], 1.0), TypeError, "embedding_lookup: params must have a real float dtype where max_norm is given; received int32"),
    "SparseTensor-dense_shape-float": (lambda: SparseTensor([[0]], [1], (2.0,)), TypeError, "must be a one-dimensional sequence of ints; received (2.0,)"),
    "SparseTensor-values-count": (
        lambda: SparseTensor([[0]], [1, 2], [5]), ValueError, "SparseTensor: expected values of shape (n,), and indices of shape (n, 1) for dense_shape (5,); received shapes (2,) and (1, 1)"),
    "SparseTensor-indices-rank": (lambda: SparseTensor([0], [1], [5]), ValueError, "received shapes (1,) and (1,)"),
    "SparseTensor-dense_shape-rank": (lambda: SparseTensor(np.zeros((1, 2), int), jax.numpy.ones(1), [5]), ValueError, "received shapes (1,) and (1, 2)"),
    "SparseTensor-values-traced": (lambda: jax.jit(lambda x: SparseTensor([[0]], x, [5]))(X), ValueError, "received shapes (4, 3) and (1, 1)"),
    "SparseTensor-dense_shape-traced": (lambda: jax.jit(lambda n: SparseTensor([[0]], [1], (n,)))(2), TypeError, "must be static; received a list with a traced value in it"),
}  # fmt: skip
