"""Calls that are refused: with which exception, and with which words."""

# pyright: reportCallIssue=false, reportArgumentType=false

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops

X = np.arange(12, dtype=np.float32).reshape(4, 3)
I = np.zeros((2, 1), np.int32)  # noqa: E741
U = np.ones((2, 3), np.float32)
KEY = jax.random.key(0)

# id: (call, exception, words that the message must hold)
CALLS = {
    "gather-float-indices": (
        lambda: jaxops.gather(X, [1.0]), TypeError, "gather: indices must have an integer dtype; received float64"),
    "gather-bool-indices": (
        lambda: jaxops.gather(X, [True]), TypeError, "gather: indices must have an integer dtype; received bool"),
    "gather-string-indices": (
        lambda: jaxops.gather(X, ["a"]), TypeError, "gather: indices must have an integer dtype"),
    "gather-key": (
        lambda: jaxops.gather(KEY, 0), TypeError, "gather: params must have a numeric or bool dtype; received key"),
    "gather-ragged": (
        lambda: jaxops.gather([[1, 2], [3]], 0), ValueError, "gather: params"),
    "gather-none": (
        lambda: jaxops.gather(None, 0), TypeError, "gather: params must"),
    "gather-scalar-params": (
        lambda: jaxops.gather(1.0, 0), ValueError, "gather: axis must be in [0, 0) for params of shape ()"),
    "gather-axis-high": (
        lambda: jaxops.gather(X, 0, axis=2), ValueError, "gather: axis must be in [-2, 2) for params of shape (4, 3); received 2"),
    "gather-axis-low": (
        lambda: jaxops.gather(X, 0, axis=-3), ValueError, "gather: axis must be in [-2, 2) for params of shape (4, 3); received -3"),
    "gather-axis-float": (
        lambda: jaxops.gather(X, 0, axis=1.0), TypeError, "gather: axis must be a static int; received 1.0"),
    "gather-axis-traced": (
        lambda: jax.jit(lambda a: jaxops.gather(X, 0, axis=a))(1), TypeError, "gather: axis must be a static int; received a traced array"),
    "gather-axis-below-batch_dims": (
        lambda: jaxops.gather(X, [[0]] * 4, axis=0, batch_dims=1), ValueError, "gather: axis must be at least batch_dims, 1; received axis 0"),
    "gather-batch_dims-high": (
        lambda: jaxops.gather(X, [0], batch_dims=2), ValueError, "gather: batch_dims must be in [-1, 1], the rank of indices; received 2"),
    "gather-batch-shapes": (
        lambda: jaxops.gather(X, [[0]] * 3, batch_dims=1), ValueError, "gather: params and indices must agree in the first 1 dimensions (batch_dims); received shapes (4, 3) and (3, 1)"),
    "gather-mode": (
        lambda: jaxops.gather(X, 0, mode="drop"), ValueError, "gather: mode must be one of device, error, fill, clip, wrap, promise_in_bounds; received 'drop'"),
    "gather-mode-type": (
        lambda: jaxops.gather(X, 0, mode=None), ValueError, "gather: mode must be one of"),
    "gather-fill_value-unused": (
        lambda: jaxops.gather(X, 0, fill_value=1.0), ValueError, "gather: fill_value is used by mode=\"fill\" only; received fill_value=1.0 with mode='device'"),
    "gather-fill_value-dtype": (
        lambda: jaxops.gather(X.astype(np.int32), 0, mode="fill", fill_value=0.5), TypeError, "gather: fill_value must fit dtype int32; received 0.5"),
    "gather-fill_value-overflow": (
        lambda: jaxops.gather(X.astype(np.int8), 0, mode="fill", fill_value=300), TypeError, "gather: fill_value must fit dtype int8; received 300"),
    "gather-fill_value-infinite": (
        lambda: jaxops.gather(X.astype(np.float16), 0, mode="fill", fill_value=1e6), TypeError, "gather: fill_value must fit dtype float16; received 1000000.0"),
    "gather-clip-empty-axis": (
        lambda: jaxops.gather(X[:0], 0, mode="clip"), ValueError, "gather: mode='clip' must have an index to choose; received shape (0, 3)"),
    "gather-fill_value-shape": (
        lambda: jaxops.gather(X, 0, mode="fill", fill_value=[1.0]), ValueError, "gather: fill_value must be a scalar; received shape (1,)"),
    "gather-deterministic": (
        lambda: jaxops.gather(X, 0, deterministic=1), TypeError, "gather: deterministic must be a static bool; received 1"),
    "gather-name": (
        lambda: jaxops.gather(X, 0, name=3), TypeError, "gather: name must be a str; received 3"),
    "gather-int64-data": (
        lambda: jaxops.gather(np.array([2**40]), 0), ValueError, "gather: params holds 1099511627776, which does not fit int32 (from int64); switch 64-bit types on"),
    "gather-wrap-int64": (
        lambda: jaxops.gather(X, np.array([2**40]), mode="wrap"), ValueError, "gather: indices holds values that do not fit int32"),
    "gather-strings-in-jit": (
        lambda: jax.jit(lambda i: jaxops.gather(["a", "b"], i))(0), TypeError, "gather: params hold strings, which exist on the host only"),
    "gather-strings-fill_value": (
        lambda: jaxops.gather(["a", "b"], 0, mode="fill", fill_value=0), TypeError, "gather: fill_value must be a string; received 0"),
    "gather-objects": (
        lambda: jaxops.gather(np.array(["a", 1], object), 0), TypeError, "gather: params must hold strings only"),
    "gather_nd-depth": (
        lambda: jaxops.gather_nd(X, [[0, 0, 0]]), ValueError, "gather_nd: indices.shape[-1] must be at most the rank of params, 2; received 3 with params of shape (4, 3)"),
    "gather_nd-scalar-indices": (
        lambda: jaxops.gather_nd(X, 1), ValueError, "gather_nd: indices must have rank 1 at least; received a scalar"),
    "gather_nd-batch_dims-negative": (
        lambda: jaxops.gather_nd(X, [[0]], batch_dims=-1), ValueError, "gather_nd: batch_dims must be in [0,"),
    "gather_nd-batch_dims-high": (
        lambda: jaxops.gather_nd(X, [[0]], batch_dims=2), ValueError, "gather_nd: batch_dims must be in [0,"),
    "gather_nd-float": (
        lambda: jaxops.gather_nd(X, [[0.5]]), TypeError, "gather_nd: indices must have an integer dtype"),
    "batch_gather-scalar": (
        lambda: jaxops.batch_gather(X, 1), ValueError, "batch_gather: indices must have"),
    "batch_gather-shapes": (
        lambda: jaxops.batch_gather(X, [[0], [1]]), ValueError, "batch_gather: "),
    "scatter_nd-updates-shape": (
        lambda: jaxops.scatter_nd(I, U, [4, 2]), ValueError, "scatter_nd: updates must have shape indices.shape[:-1] + shape[1:] = (2, 2); received (2, 3)"),
    "scatter_nd-depth": (
        lambda: jaxops.scatter_nd([[0, 0, 0]], [1.0], [4, 3]), ValueError, "scatter_nd: indices.shape[-1] must be at most the rank of shape, 2; received 3"),
    "scatter_nd-negative-shape": (
        lambda: jaxops.scatter_nd(I, U, [-4, 3]), ValueError, "scatter_nd: shape must"),
    "scatter_nd-traced-shape": (
        lambda: jax.jit(lambda s: jaxops.scatter_nd(I, U, s))(jnp.array([4, 3])), TypeError, "scatter_nd: shape must be static"),
    "scatter_nd-scalar-shape": (
        lambda: jaxops.scatter_nd(I, U, 4), ValueError, "scatter_nd: shape must be a one-dimensional sequence of ints"),
    "scatter_nd-strings": (
        lambda: jaxops.scatter_nd([[0]], ["a"], [2]), TypeError, "scatter_nd: computes on values and takes no strings"),
    "scatter_nd-scalar-indices": (
        lambda: jaxops.scatter_nd(0, 1.0, [2]), ValueError, "scatter_nd: indices must have rank 1 at least"),
    "tensor_scatter_nd_add-shape": (
        lambda: jaxops.tensor_scatter_nd_add(X, I, U[:, :2]), ValueError, "tensor_scatter_nd_add: updates must have shape indices.shape[:-1] + tensor.shape[1:] = (2, 3); received (2, 2)"),
    "tensor_scatter_nd_add-dtype": (
        lambda: jaxops.tensor_scatter_nd_add(X, I, jnp.ones((2, 3), jnp.int32)), TypeError, "tensor_scatter_nd_add: updates must fit dtype float32; received an array of dtype int32"),
    "tensor_scatter_nd_add-bool": (
        lambda: jaxops.tensor_scatter_nd_add([True], [[0]], [True]), TypeError, "tensor_scatter_nd_add: "),
    "tensor_scatter_nd_max-complex": (
        lambda: jaxops.tensor_scatter_nd_max(X.astype(np.complex64), I, U), TypeError, "tensor_scatter_nd_max: "),
    "tensor_scatter_nd_min-scalar": (
        lambda: jaxops.tensor_scatter_nd_min(1.0, [[0]], [1.0]), ValueError, "tensor_scatter_nd_min: "),
    "tensor_scatter_nd_update-depth": (
        lambda: jaxops.tensor_scatter_nd_update(X, [[0, 0, 0]], [1.0]), ValueError, "tensor_scatter_nd_update: indices.shape[-1] must be at most the rank of tensor, 2; received 3"),
    "tensor_scatter_nd_min-fill_value": (
        lambda: jaxops.tensor_scatter_nd_min(X, I, U, fill_value=0.0), TypeError, "fill_value"),
    "slice-rank": (
        lambda: jaxops.slice(X, [0], [1]), ValueError, "slice: begin and size must have one component per dimension of input_, 2; received shapes (1,) and (1,)"),
    "slice-size-negative": (
        lambda: jaxops.slice(X, [0, 0], [1, -2]), ValueError, "slice: size must have components of -1 at least; received (1, -2)"),
    "slice-size-large": (
        lambda: jax.jit(lambda b: jaxops.slice(X, b, [5, 1]))(jnp.array([0, 0])), ValueError, "slice: size must be at most the shape of input_, (4, 3); received (5, 1)"),
    "slice-size-large-static": (
        lambda: jaxops.slice(X, [0, 0], [5, 1]), ValueError, "slice: size must be at most the shape of input_, (4, 3); received (5, 1)"),
    "slice-size-rest-traced": (
        lambda: jax.jit(lambda b: jaxops.slice(X, b, [-1, 1]))(jnp.array([0, 0])), ValueError, "slice: size must be at least 0 where begin is traced; received size (-1, 1)"),
    "slice-size-traced": (
        lambda: jax.jit(lambda s: jaxops.slice(X, [0, 0], s))(jnp.array([1, 1])), TypeError, "slice: size must be static"),
    "slice-begin-float": (
        lambda: jaxops.slice(X, [0.5, 0], [1, 1]), TypeError, "slice: begin"),
    "strided_slice-lengths": (
        lambda: jaxops.strided_slice(X, [0, 0], [1]), ValueError, "strided_slice: begin, end and strides must have the same length; received 2, 1 and 2"),
    "strided_slice-stride-0": (
        lambda: jaxops.strided_slice(X, [0], [1], [0]), ValueError, "strided_slice: strides[0] must be non-zero; received 0"),
    "strided_slice-two-ellipses": (
        lambda: jaxops.strided_slice(X, [0, 0], [1, 1], ellipsis_mask=3), ValueError, "strided_slice: ellipsis_mask must have at most one bit; received 0b11"),
    "strided_slice-too-many": (
        lambda: jaxops.strided_slice(X, [0] * 3, [1] * 3), ValueError, "strided_slice: begin must have at most one entry per dimension of input_, 2"),
    "strided_slice-shrink-backwards": (
        lambda: jaxops.strided_slice(X, [1], [0], [-1], shrink_axis_mask=1), ValueError, "strided_slice: strides[0] must be positive for a single index; received -1"),
    "strided_slice-traced-range": (
        lambda: jax.jit(lambda b: jaxops.strided_slice(X, [b], [2]))(0), TypeError, "strided_slice: begin[0] must be static, because a range decides the shape of the result"),
    "strided_slice-mask-type": (
        lambda: jaxops.strided_slice(X, [0], [1], begin_mask=1.5), TypeError, "strided_slice: begin_mask must be a static int; received 1.5"),
    "strided_slice-ellipses-beyond": (
        lambda: jaxops.strided_slice(X, [0], [1], ellipsis_mask=6), ValueError, "strided_slice: ellipsis_mask must have at most one bit; received 0b110"),
    "strided_slice-vector-single": (
        lambda: jaxops.strided_slice(X, [jnp.array([0, 1])], [0], shrink_axis_mask=1), ValueError, "strided_slice: begin must hold scalars"),
    "scatter_nd-traced-shape-in-list": (
        lambda: jax.jit(lambda n: jaxops.scatter_nd(I, U, [n, 3]))(4), TypeError, "scatter_nd: shape must be static"),
    "strided_slice-matrix": (
        lambda: jaxops.strided_slice(X, [[0]], [[1]]), (ValueError, TypeError), "strided_slice: begin"),
    "strided_slice-float": (
        lambda: jaxops.strided_slice(X, [0.0], [1]), TypeError, "strided_slice: begin[0] must be a static int; received 0.0"),
    "strided_slice_spec-two-ellipses": (
        lambda: jaxops.strided_slice_spec((..., ...)), ValueError, "strided_slice_spec: index must have at most one ..."),
    "strided_slice_spec-step-0": (
        lambda: jaxops.strided_slice_spec(np.s_[::0]), ValueError, "strided_slice_spec: the step of index entry 0 must not be 0"),
    "strided_slice_spec-array": (
        lambda: jaxops.strided_slice_spec([1, 2]), TypeError, "strided_slice_spec: index entry 0 must be an int, a slice, ... or None; received [1, 2]"),
    "strided_slice_spec-bool": (
        lambda: jaxops.strided_slice_spec(True), TypeError, "strided_slice_spec: index entry 0 must be"),
    "strided_slice_spec-float": (
        lambda: jaxops.strided_slice_spec(np.s_[1.0:]), TypeError, "strided_slice_spec: the start of index entry 0 must be a static int"),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_refused(case):
    call, exception, words = CALLS[case]
    with pytest.raises(exception) as info:
        call()
    assert not isinstance(info.value, jaxops.OutOfBoundsError)
    assert words in str(info.value)


TRACEABLE = {
    "gather": lambda x: jaxops.gather(x, [[0]] * 3, batch_dims=1),
    "scatter_nd": lambda x: jaxops.scatter_nd(I, x, [4, 2]),
    "slice": lambda x: jaxops.slice(x, [0], [1]),
    "strided_slice": lambda x: jaxops.strided_slice(x, [0] * 3, [1] * 3),
}


@pytest.mark.parametrize("case", TRACEABLE)
def test_refused_while_tracing(case):
    for transform in (jax.jit, jax.vmap):
        with pytest.raises(ValueError, match=f"{case}: "):
            transform(TRACEABLE[case])(np.stack([X, X]) if transform is jax.vmap else X)
