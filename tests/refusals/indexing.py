"""Refused calls: gather, gather_nd, batch_gather, scatter_nd and the tensor_scatter_nd family."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import jax.numpy as jnp
import numpy as np

import jaxops
from refusals.values import I, U, X, in_x64, key


def filled_in_jit(x, value):
    return jax.jit(lambda x, v: jaxops.gather(x, [0, 9], mode="fill", fill_value=v))(x, value)


MASKED = np.ma.array([0, 1], mask=[True, False])

CALLS = {
    "gather-params-objects": (lambda: jaxops.gather(np.array(["a", 1], object), 0), TypeError, "must hold strings only; received"),
    "gather-params-text-and-number": (lambda: jaxops.gather(["a", 1], 0), TypeError, "must hold strings only; received ['a', 1]"),
    "gather-params-masked-array": (lambda: jaxops.gather(MASKED, 0), TypeError, "must be an array without a mask, which would be ignored; received masked_array("),
    "gather-params-masked-array-in-lists": (lambda: jaxops.gather([[X, X], [X, np.ma.array(X, mask=False)]], 0), TypeError, "must be an array without a mask, which would be ignored; received [["),
    "gather-indices-masked-array": (lambda: jaxops.gather(X, MASKED), TypeError, "must be an array without a mask, which would be ignored; received masked_array("),
    "gather-params-int64": (
        lambda: jaxops.gather(np.array([2**40]), 0), ValueError, 'gather: params holds 1099511627776, which does not fit int32 (from int64); switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "gather-params-float64-overflow": (
        lambda: jaxops.gather(np.array([1e300]), 0), ValueError, 'gather: params holds 1e+300, which does not fit float32 (from float64); switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "gather-params-strings-in-vmap": (
        lambda: jax.vmap(lambda i: jaxops.gather(["a", "b"], i))(np.zeros(1, int)), TypeError, "gather: params hold strings, which exist on the host only; call it outside jit, vmap and grad"),
    "gather-params-strings-in-jit": (
        lambda: jax.jit(lambda i: jaxops.gather(["a", "b"], i))(0), TypeError, "gather: params hold strings, which exist on the host only; call it outside jit, vmap and grad"),
    "gather-params-empty": (lambda: jaxops.gather([], 0), jaxops.OutOfBoundsError, "indices = 0 is not in [0, 0) [Op:gather]"),
    "gather-indices-wrap-int64": (
        lambda: jaxops.gather(X, np.array([2**40]), mode="wrap"), ValueError, 'gather: indices holds values that do not fit int32, which mode="wrap" cannot wrap; switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "gather-indices-beyond-int64": (lambda: jaxops.gather(X, 2**70), jaxops.OutOfBoundsError, "indices = 9223372036854775807 is not in [0, 4) (int64 has no number beyond it) [Op:gather]"),
    "gather-indices-uint64": (lambda: jaxops.gather(X, np.array([2**63], np.uint64)), jaxops.OutOfBoundsError, "indices[0] = 9223372036854775808 is not in [0, 4) [Op:gather]"),
    "gather-axis-huge": (lambda: jaxops.gather(X, 0, axis=2**70), ValueError, "must be in [-2, 2) for params of shape (4, 3); received 1180591620717411303424"),
    "gather-validate_indices-axis": (lambda: jaxops.gather(X, 0, 1), TypeError, "must be a static bool; received 1; axis is the argument after it"),
    "gather-axis-below-batch_dims": (lambda: jaxops.gather(X, [[0]] * 4, axis=0, batch_dims=1), ValueError, "must be at least batch_dims, 1; received axis 0"),
    "gather-batch_dims-shapes-in-vmap": (
        lambda: jax.vmap(lambda x: jaxops.gather(x, [[0]] * 3, batch_dims=1))(np.stack([X, X])), ValueError, "gather: params and indices must agree in the first 1 dimensions (batch_dims); received shapes (4, 3) and (3, 1)"),
    "gather-batch_dims-high": (lambda: jaxops.gather(X, [0], batch_dims=2), ValueError, "must be in [-1, 1], the rank of indices; received 2"),
    "gather-batch_dims-low": (lambda: jaxops.gather(X, [0], batch_dims=-2), ValueError, "must be in [-1, 1], the rank of indices; received -2"),
    "gather-batch_dims-shapes": (
        lambda: jaxops.gather(X, [[0]] * 3, batch_dims=1), ValueError, "gather: params and indices must agree in the first 1 dimensions (batch_dims); received shapes (4, 3) and (3, 1)"),
    "gather-mode-clip-empty-axis": (lambda: jaxops.gather(X[:0], 0, mode="clip"), ValueError, "gather: mode='clip' must have an index to choose; received shape (0, 3) with indexed axes (0,)"),
    "gather-mode-wrap-empty-axis": (lambda: jaxops.gather(X[:0], 0, mode="wrap"), ValueError, "gather: mode='wrap' must have an index to choose; received shape (0, 3) with indexed axes (0,)"),
    "gather-fill_value-unused": (lambda: jaxops.gather(X, 0, fill_value=1.0), ValueError, "gather: fill_value is used by mode=\"fill\" and padding_index only; received fill_value=1.0 with mode='device'"),
    "gather-fill_value-dtype": (lambda: jaxops.gather(X.astype(np.int32), 0, mode="fill", fill_value=0.5), TypeError, "must fit dtype int32; received 0.5"),
    "gather-fill_value-overflow": (lambda: jaxops.gather(X.astype(np.int8), 0, mode="fill", fill_value=300), TypeError, "must fit dtype int8; received 300"),
    "gather-fill_value-negative-unsigned": (lambda: jaxops.gather(X.astype(np.uint8), 0, mode="fill", fill_value=-1), TypeError, "must fit dtype uint8; received -1"),
    "gather-fill_value-infinite": (lambda: jaxops.gather(X.astype(np.float16), 0, mode="fill", fill_value=1e6), TypeError, "must fit dtype float16; received 1000000.0"),
    "gather-fill_value-number-for-strings": (lambda: jaxops.gather(["a", "b"], 0, mode="fill", fill_value=0), TypeError, "must be a string; received 0"),
    "gather-fill_value-list-of-strings": (lambda: jaxops.gather(["a", "b"], 0, mode="fill", fill_value=["c", "d"]), TypeError, "must be a string; received ['c', 'd']"),
    "gather-fill_value-array-dtype": (lambda: jaxops.gather(X, 0, mode="fill", fill_value=jnp.int32(1)), TypeError, "must fit dtype float32; received"),
    "gather-fill_value-traced-float-for-int": (lambda: filled_in_jit(np.ones(3, np.int32), 2.5), TypeError, "must fit dtype int32; received"),
    "gather-fill_value-traced-overflow": (lambda: filled_in_jit(np.ones(3, np.int8), 300), TypeError, "must fit dtype int8; received"),
    "gather-fill_value-traced-64-bit": (lambda: in_x64(filled_in_jit, np.ones(3, np.int32), 2**40), TypeError, "must fit dtype int32; received"),
    "gather-fill_value-traced-complex": (lambda: filled_in_jit(np.ones(3, np.float32), 1j), TypeError, "must fit dtype float32; received"),
    "gather-fill_value-traced-array-dtype": (lambda: filled_in_jit(np.ones(3, np.float16), jnp.float32(2)), TypeError, "must fit dtype float16; received"),
    "gather-misspelt": (lambda: jaxops.gather(X, 0, batchdims=1), TypeError, "gather() got an unexpected keyword argument 'batchdims'"),
    "gather-missing": (lambda: jaxops.gather(X), TypeError, "gather() missing 1 required positional argument: 'indices'"),
    "batch_gather-params-shapes": (
        lambda: jaxops.batch_gather(X, [[0], [1]]), ValueError, "batch_gather: params and indices must agree in the first 1 dimensions (batch_dims); received shapes (4, 3) and (2, 1)"),
    "batch_gather-params-rank": (lambda: jaxops.batch_gather(X[:, 0], [[0]] * 4), ValueError, "batch_gather: axis must be in [-1, 1) for params of shape (4,); received 1"),
    "batch_gather-fill_value-unused": (
        lambda: jaxops.batch_gather(X, [0], fill_value=0), ValueError, "batch_gather: fill_value is used by mode=\"fill\" and padding_index only; received fill_value=0 with mode='device'"),
    "gather-indices-ragged-arrays": (lambda: jaxops.gather(X, [[jnp.int32(0)], [1, 2]]), ValueError, "must be an array or nested lists of equal lengths, of dtypes that JAX promotes; received [["),
    "gather-indices-none-among-arrays": (lambda: jaxops.gather(X, [jnp.int32(0), None]), ValueError, "must be an array or nested lists of equal lengths, of dtypes that JAX promotes; received ["),
    "gather-indices-of-no-integer-dtype": (lambda: jaxops.gather(X, [0, -1, 2**63]), jaxops.OutOfBoundsError, "indices[1] = -1 is not in [0, 4) [Op:gather]"),
    "gather_nd-indices-depth": (lambda: jaxops.gather_nd(X, [[0, 0, 0]]), ValueError, "gather_nd: indices.shape[-1] must be at most the rank of params, 2; received 3 with params of shape (4, 3)"),
    "gather_nd-indices-depth-with-batch": (
        lambda: jaxops.gather_nd(X, [[0, 0]] * 4, batch_dims=1), ValueError, "gather_nd: indices.shape[-1] must be at most the rank of params less batch_dims, 1; received 2 with params of shape (4, 3)"),
    "gather_nd-batch_dims-negative": (lambda: jaxops.gather_nd(X, [[0]], batch_dims=-1), ValueError, "must be in [0, 2), the rank of indices; received -1"),
    "gather_nd-batch_dims-high": (lambda: jaxops.gather_nd(X, [[0]], batch_dims=2), ValueError, "must be in [0, 2), the rank of indices; received 2"),
    "gather_nd-batch_dims-shapes": (
        lambda: jaxops.gather_nd(X, [[0]] * 3, batch_dims=1), ValueError, "gather_nd: params and indices must agree in the first 1 dimensions (batch_dims); received shapes (4, 3) and (3, 1)"),
    "gather_nd-bad_indices_policy-contradicted": (
        lambda: jaxops.gather_nd(X, [[0]], bad_indices_policy="IGNORE", mode="error"), ValueError, "must agree with mode: \"IGNORE\" is mode=\"fill\"; received mode='error' too"),
    "gather_nd-bad_indices_policy-default-contradicted": (
        lambda: jaxops.gather_nd(X, [[0]], bad_indices_policy="DEFAULT", mode="fill"), ValueError, "must agree with mode: \"DEFAULT\" is mode=\"device\"; received mode='fill' too"),
    "gather_nd-bad_indices_policy-fill_value": (
        lambda: jaxops.gather_nd(X, [[0]], bad_indices_policy="ERROR", fill_value=0), ValueError, "gather_nd: fill_value is used by mode=\"fill\" and padding_index only; received fill_value=0 with mode='error'"),
    "gather_nd-fill_value-unused": (
        lambda: jaxops.gather_nd(X, [[0]], mode="clip", fill_value=0), ValueError, "gather_nd: fill_value is used by mode=\"fill\" and padding_index only; received fill_value=0 with mode='clip'"),
    "scatter_nd-indices-depth": (lambda: jaxops.scatter_nd([[0, 0, 0]], [1.0], [4, 3]), ValueError, "scatter_nd: indices.shape[-1] must be at most the rank of shape, 2; received 3 with shape (4, 3)"),
    "scatter_nd-updates-shape": (lambda: jaxops.scatter_nd(I, U, [4, 2]), ValueError, "must broadcast to indices.shape[:-1] + shape[1:] = (2, 2); received (2, 3) with indices of shape (2, 1)"),
    "scatter_nd-updates-rank": (lambda: jaxops.scatter_nd(I, [[1.0]], [4]), ValueError, "must broadcast to indices.shape[:-1] + shape[1:] = (2,); received (1, 1) with indices of shape (2, 1)"),
    "scatter_nd-updates-rank-in-vmap": (
        lambda: jax.vmap(lambda x: jaxops.scatter_nd(I, x, [4, 2]))(np.stack([X, X])), ValueError, "must broadcast to indices.shape[:-1] + shape[1:] = (2, 2); received (4, 3) with"),
    "scatter_nd-updates-strings-in-vmap": (
        lambda: jax.vmap(lambda i: jaxops.scatter_nd(i, ["a"], [2]))(np.zeros((1, 1, 1), int)), TypeError, "scatter_nd: updates hold strings, which exist on the host only; call it outside jit, vmap and grad"),
    "scatter_nd-updates-strings-in-jit": (
        lambda: jax.jit(lambda i: jaxops.scatter_nd(i, ["a"], [2]))([[0]]), TypeError, "scatter_nd: updates hold strings, which exist on the host only; call it outside jit, vmap and grad"),
    "scatter_nd-updates-strings-and-numbers": (lambda: jaxops.scatter_nd([[0], [1]], np.array(["a", 1], object), [2]), TypeError, "must hold strings only; received"),
    "scatter_nd-updates-strings-shape": (
        lambda: jaxops.scatter_nd([[0]], ["a", "b"], [2]), ValueError, "must broadcast to indices.shape[:-1] + shape[1:] = (1,); received (2,) with indices of shape (1, 1)"),
    "scatter_nd-updates-strings-bounds": (lambda: jaxops.scatter_nd([[1], [5]], ["a", "b"], [2]), jaxops.OutOfBoundsError, "indices[1] = [5] does not index into shape [2] [Op:scatter_nd]"),
    "scatter_nd-shape-strings-large": (lambda: jaxops.scatter_nd([[0]], ["a"], [2**31 - 1]), ValueError, "must have fewer than 2**31 - 1 strings; received (2147483647,)"),
    "scatter_nd-shape-strings-negative": (lambda: jaxops.scatter_nd([[0]], ["a"], [-2]), ValueError, "must have no negative dimension; received (-2,)"),
    "scatter_nd-updates-key": (lambda: jaxops.scatter_nd([[0]], jax.random.split(key(), 1), [2]), TypeError, "must have a numeric or bool dtype; received key<fry>"),
    "scatter_nd-shape-negative": (lambda: jaxops.scatter_nd(I, U, [-1, 3]), ValueError, "must have no negative dimension; received (-1, 3)"),
    "scatter_nd-shape-2**80-elements": (
        lambda: jaxops.scatter_nd([[0, 0]], [1.0], [2**40, 2**40]), ValueError, "scatter_nd: updates and indices and shape must make arrays of less than 2**56 bytes; received updates of shape (1,), indices of shape (1, 2), shape (1099511627776, 1099511627776), which make one of shape (1099511627776, 1099511627776)"),
    "scatter_nd-shape-empty-but-huge": (
        lambda: jaxops.scatter_nd(np.zeros((0, 3), int), np.zeros(0), [0, 2**63, 2**40]), ValueError, "scatter_nd: updates and indices and shape must make arrays of less than 2**63 bytes; received updates of shape (0,), indices of shape (0, 3), shape (0, 9223372036854775808, 1099511627776)"),
    "scatter_nd-bad_indices_policy-contradicted": (
        lambda: jaxops.scatter_nd(I, U, [4, 3], "IGNORE", mode="error"), ValueError, "must agree with mode: \"IGNORE\" is mode=\"fill\"; received mode='error' too"),
    "scatter_nd-mode-clip-empty": (
        lambda: jaxops.scatter_nd(I, U, [0, 3], mode="clip"), ValueError, "scatter_nd: mode='clip' must have an index to choose; received shape (0, 3) with indexed axes (0,)"),
    "tensor_scatter_nd_add-tensor-bool": (lambda: jaxops.tensor_scatter_nd_add([True], [[0]], [True]), TypeError, "must have a numeric dtype; received bool"),
    "tensor_scatter_nd_add-updates-shape": (
        lambda: jaxops.tensor_scatter_nd_add(X, I, U[:, :2]), ValueError, "must broadcast to indices.shape[:-1] + tensor.shape[1:] = (2, 3); received (2, 2) with indices of shape (2, 1)"),
    "tensor_scatter_nd_add-updates-overflow": (lambda: jaxops.tensor_scatter_nd_add(np.zeros(2, np.int8), [[0]], [200]), TypeError, "must fit dtype int8; received an array of dtype int32"),
    "tensor_scatter_nd_add-bad_indices_policy-contradicted": (
        lambda: jaxops.tensor_scatter_nd_add(X, I, U, "IGNORE", mode="error"), ValueError, "must agree with mode: \"IGNORE\" is mode=\"fill\"; received mode='error' too"),
    "tensor_scatter_nd_sub-tensor-bool": (lambda: jaxops.tensor_scatter_nd_sub([True], [[0]], [True]), TypeError, "must have a numeric dtype; received bool"),
    "tensor_scatter_nd_min-tensor-scalar": (
        lambda: jaxops.tensor_scatter_nd_min(1.0, [[0]], [1.0]), ValueError, "tensor_scatter_nd_min: indices.shape[-1] must be at most the rank of tensor, 0; received 1 with tensor ()"),
    "tensor_scatter_nd_min-tensor-complex": (lambda: jaxops.tensor_scatter_nd_min(X.astype(np.complex64), I, U), TypeError, "must have an ordered dtype; received complex64"),
    "tensor_scatter_nd_min-updates-unsigned": (lambda: jaxops.tensor_scatter_nd_min(np.zeros(2, np.uint8), [[0]], [-1]), TypeError, "must fit dtype uint8; received an array of dtype int32"),
    "tensor_scatter_nd_max-tensor-bool": (lambda: jaxops.tensor_scatter_nd_max([True], [[0]], [True]), TypeError, "must have a numeric dtype; received bool"),
    "tensor_scatter_nd_update-tensor-numbers-for-strings": (lambda: jaxops.tensor_scatter_nd_update([1, 2], [[0]], ["a"]), TypeError, "must hold strings only; received [1, 2]"),
    "tensor_scatter_nd_update-indices-depth": (
        lambda: jaxops.tensor_scatter_nd_update(X, [[0, 0, 0]], [1.0]), ValueError, "tensor_scatter_nd_update: indices.shape[-1] must be at most the rank of tensor, 2; received 3 with tensor (4, 3)"),
    "tensor_scatter_nd_update-updates-numbers-for-strings": (lambda: jaxops.tensor_scatter_nd_update(["a", "b"], [[0]], [1]), TypeError, "must hold strings only; received [1]"),
    "tensor_scatter_nd_update-updates-rank": (
        lambda: jaxops.tensor_scatter_nd_update(X, I, U[None]), ValueError, "must broadcast to indices.shape[:-1] + tensor.shape[1:] = (2, 3); received (1, 2, 3) with indices of shape (2, 1)"),
}  # fmt: skip
