"""Refused calls: edit_distance, meshgrid, roll, unravel_index, invert_permutation and setdiff1d."""

# pyright: reportCallIssue=false, reportArgumentType=false

import jax
import jax.numpy as jnp
import numpy as np

import jaxops
from refusals.values import X, in_jit, in_x64

WORD = jaxops.SparseTensor([[0, 0]], [1], (1, 1))
CALLS = {
    "edit_distance-hypothesis-none": (lambda: jaxops.edit_distance(None, WORD), TypeError, "must be a SparseTensor, with indices, values and dense_shape; received None"),
    "edit_distance-truth-dense": (lambda: jaxops.edit_distance(WORD, [[1]]), TypeError, "must be a SparseTensor, with indices, values and dense_shape; received [[1]]"),
    "edit_distance-truth-traced": (
        lambda: in_jit(lambda x: jaxops.edit_distance(WORD, jaxops.SparseTensor([[0, 0]], x, (1, 1))), np.array([1])), TypeError, "edit_distance: truth.values must be static; received a traced array of shape (1,); call it outside jit, vmap and grad, or by jax.pure_callback"),
    "edit_distance-hypothesis-traced-indices": (
        lambda: in_jit(lambda x: jaxops.edit_distance(jaxops.SparseTensor(x, [1], (1, 1)), WORD), np.array([[0, 0]])), TypeError, "edit_distance: hypothesis.indices must be static; received a traced array of shape (1, 2); call it outside jit, vmap and grad, or by jax.pure_callback"),
    "edit_distance-truth-objects": (
        lambda: jaxops.edit_distance(WORD, jaxops.SparseTensor([[0, 0]], [None], (1, 1))), TypeError, "edit_distance: truth.values must be an array of numbers or bools; received array([None], dtype=object)"),
    "edit_distance-hypothesis-float-indices": (
        lambda: jaxops.edit_distance(jaxops.SparseTensor([[0.5, 0]], [1], (1, 1)), WORD), TypeError, "edit_distance: hypothesis.indices must have an integer dtype; received float64"),
    "edit_distance-truth-dtype": (
        lambda: jaxops.edit_distance(WORD, jaxops.SparseTensor([[0, 0]], np.array([1], np.int8), (1, 1))), TypeError, "edit_distance: hypothesis and truth must have values of the same dtype; received int32 and int8"),
    **{
        f"edit_distance-dense_shape-of-{first}-and-more": (
            lambda shape=(first, 2**40, 2**40, 1): jaxops.edit_distance(*[jaxops.SparseTensor(np.zeros((0, 4), int), [], shape)] * 2), ValueError, f"edit_distance: dense_shape must make arrays of less than 2**56 bytes; received ({first}, 1099511627776, 1099511627776)")
        for first in [0, 1]
    },
    "edit_distance-truth-rank": (
        lambda: jaxops.edit_distance(WORD, jaxops.SparseTensor([[0, 0, 0]], [1], (1, 1, 1))), ValueError, "edit_distance: hypothesis and truth must have the same rank, at least 2; received dense_shape (1, 1) and (1, 1, 1)"),
    "edit_distance-hypothesis-vectors": (
        lambda: jaxops.edit_distance(*[jaxops.SparseTensor([[0]], [1], (1,))] * 2), ValueError, "edit_distance: hypothesis and truth must have the same rank, at least 2; received dense_shape (1,) and (1,)"),
    "edit_distance-hypothesis-outside": (
        lambda: jaxops.edit_distance(jaxops.SparseTensor([[0, 0], [1, 0]], [1, 1], (1, 1)), WORD), ValueError, "edit_distance: hypothesis.indices must lie in the shape of the result, (1,), but for the last dimension; received [1, 0] at indices[1]"),
    "edit_distance-hypothesis-outside-of-one-axis": (
        lambda: jaxops.edit_distance(*[jaxops.SparseTensor([[0, 2, 0]], [1], (1, 1, 1))] * 2), ValueError, "received [0, 2, 0] at indices[0]"),
    "edit_distance-truth-negative": (
        lambda: jaxops.edit_distance(WORD, jaxops.SparseTensor([[-1, 0]], [1], (1, 1))), ValueError, "edit_distance: truth.indices must lie in the shape of the result, (1,), but for the last dimension; received [-1, 0] at indices[0]"),
    "meshgrid-args-strings-and-numbers": (lambda: jaxops.meshgrid(["a"], [1]), TypeError, "meshgrid: args[1] must hold strings only; received [1]"),
    "meshgrid-args-dtypes": (lambda: jaxops.meshgrid(jnp.array([1]), jnp.array([1.0])), TypeError, "meshgrid: args[1] must fit dtype int32; received an array of dtype float32"),
    "meshgrid-misspelt": (lambda: jaxops.meshgrid([1], index="xy"), TypeError, "meshgrid() got an unexpected keyword argument 'index'"),
    "roll-shift-vector": (lambda: jaxops.roll(X, [1], 0), ValueError, "must have the shape of axis, (); received shape (1,)"),
    "roll-shift-scalar": (lambda: jaxops.roll(X, 1, [0, 1]), ValueError, "must have the shape of axis, (2,); received shape ()"),
    "roll-shift-matrix": (lambda: jaxops.roll(X, [[1]], [0]), ValueError, "must have the shape of axis, (1,); received shape (1, 1)"),
    "roll-shift-64-bits": (lambda: jaxops.roll(X, [0, 2**31], [0, 1]), ValueError, "must fit int32; received 2147483648; switch 64-bit types on"),
    "roll-shift-array-of-64-bits": (lambda: jaxops.roll(X, np.array([-2**31 - 1]), [0]), ValueError, "roll: shift holds -2147483649, which does not fit int32 (from int64); switch 64-bit types on"),
    "roll-shift-2**63": (lambda: in_x64(jaxops.roll, X, [-1, 2**63], [0, 1]), ValueError, "must fit int64; received 9223372036854775808"),
    "roll-axis-low-of-nothing": (lambda: jaxops.roll(X[:0], [1], [-3]), ValueError, "must be in [-2, 2); received -3"),
    "unravel_index-indices-matrix": (lambda: jaxops.unravel_index([[1]], [2, 3]), ValueError, "must be a scalar or a vector; received shape (1, 1)"),
    "unravel_index-indices-of-nothing": (lambda: jaxops.unravel_index([1], []), jaxops.OutOfBoundsError, "indices[0] = 1 is not in [0, 1) [Op:unravel_index]"),
    "unravel_index-dims-0": (lambda: jaxops.unravel_index([], [2, 0]), ValueError, "must be at least 1 each; received (2, 0)"),
    "unravel_index-dims-negative": (lambda: jaxops.unravel_index([1], [-2, -3]), ValueError, "must be at least 1 each; received (-2, -3)"),
    "unravel_index-dims-2**31": (lambda: jaxops.unravel_index([1], [2**16, 2**15]), ValueError, "must have a product of at most 2147483647 where indices are int32; received (65536, 32768)"),
    "unravel_index-dims-2**63": (lambda: jaxops.unravel_index([1], [2**32, 2**31]), ValueError, "must have a product below 2**63; received (4294967296, 2147483648)"),
    "invert_permutation-x-negative": (lambda: jaxops.invert_permutation([-1, 0]), jaxops.OutOfBoundsError, "x[0] = -1 is not between 0 and 2 [Op:invert_permutation]"),
    "setdiff1d-x-complex": (lambda: jaxops.setdiff1d([1j], [1j]), TypeError, "must not have a complex dtype; received complex64"),
    "setdiff1d-x-matrix-of-strings": (lambda: jaxops.setdiff1d([["a"]], ["a"]), ValueError, "must be a vector; received shape (1, 1)"),
    "setdiff1d-y-dtype-with-size": (lambda: jaxops.setdiff1d(jnp.array([1]), jnp.array([1.0]), size=1), TypeError, "must fit dtype int32; received an array of dtype float32"),
    "setdiff1d-y-strings": (lambda: jaxops.setdiff1d([1], ["a"]), TypeError, "must be an array of numbers or bools; received dtype <U1"),
    "setdiff1d-y-numbers-for-strings": (lambda: jaxops.setdiff1d(["a"], [1]), TypeError, "must hold strings only; received [1]"),
    "setdiff1d-y-traced": (
        lambda: jax.jit(lambda y: jaxops.setdiff1d([1], y))(jnp.array([1, 2])), TypeError, "setdiff1d: size must be given where y is traced, as the shape of the result depends on the values; received a traced y"),
    "setdiff1d-size-small": (
        lambda: jaxops.setdiff1d([1, 2, 3], [2], size=1), jaxops.OutOfBoundsError, '2 values of x that are not in y do not fit size=1; mode="fill" or return_size=True drops the rest [Op:setdiff1d]'),
}  # fmt: skip
