"""Refused calls: slice, strided_slice and strided_slice_spec."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import jax.numpy as jnp
import numpy as np

import jaxops
from refusals.values import X, key

CALLS = {
    "slice-input_-rank": (lambda: jaxops.slice(X, [0], [1]), ValueError, "slice: begin and size must have one component per dimension of input_, 2; received shapes (1,) and (1,)"),
    "slice-input_-rank-in-vmap": (
        lambda: jax.vmap(lambda x: jaxops.slice(x, [0], [1]))(np.stack([X, X])), ValueError, "slice: begin and size must have one component per dimension of input_, 2; received shapes (1,) and (1,)"),
    "slice-begin-float-array": (lambda: jaxops.slice(X, jnp.array([0.0, 0.0]), [1, 1]), TypeError, "must have an integer dtype; received float32"),
    "slice-begin-negative": (lambda: jaxops.slice(X, [-1, 0], [1, 1]), jaxops.OutOfBoundsError, "Expected begin[0] in [0, 4], but got -1 [Op:slice]"),
    "slice-begin-high-for-the-rest": (lambda: jaxops.slice(X, [5, 0], [-1, 1]), jaxops.OutOfBoundsError, "Expected begin[0] in [0, 4], but got 5 [Op:slice]"),
    "slice-size-negative": (lambda: jaxops.slice(X, [0, 0], [1, -2]), ValueError, "must have components of -1 at least; received (1, -2)"),
    "slice-size-large": (lambda: jaxops.slice(X, [0, 0], [5, 1]), ValueError, "must be at most the shape of input_, (4, 3); received (5, 1)"),
    "slice-size-large-traced-begin": (lambda: jax.jit(lambda b: jaxops.slice(X, b, [5, 1]))(jnp.array([0, 0])), ValueError, "must be at most the shape of input_, (4, 3); received (5, 1)"),
    "slice-size-rest-traced-begin": (
        lambda: jax.jit(lambda b: jaxops.slice(X, b, [-1, 1]))(jnp.array([0, 0])), ValueError, "must be at least 0 where begin is traced; received size (-1, 1) (a size of -1 depends on begin, and shapes are static; a list may mix ints and traced numbers)"),
    "slice-size-2**124-elements": (
        lambda: jaxops.slice(X, [0, 0], [2**62, 2**62], mode="fill"), ValueError, "must be at most 2147483647 for begin of dtype int32; received (4611686018427387904, 4611686018427387904)"),
    "slice-size-beyond-int32-positions": (lambda: jaxops.slice(X, [0, 0], [2**32, 1], mode="fill"), ValueError, "must be at most 2147483647 for begin of dtype int32; received (4294967296, 1)"),
    "slice-fill_value-unused": (lambda: jaxops.slice(X, [0, 0], [1, 1], fill_value=0), ValueError, "slice: fill_value is used by mode=\"fill\" only; received fill_value=0 with mode='device'"),
    "strided_slice-input_-rank": (
        lambda: jaxops.strided_slice(X, [0] * 3, [1] * 3), ValueError, "strided_slice: begin must have at most one entry per dimension of input_, 2, new axes and the ellipsis not counted; received 3"),
    "strided_slice-input_-rank-in-jit": (
        lambda: jax.jit(lambda x: jaxops.strided_slice(x, [0] * 3, [1] * 3))(X), ValueError, "at most one entry per dimension of input_, 2, new axes and the ellipsis not counted; received 3"),
    "strided_slice-input_-scalar": (
        lambda: jaxops.strided_slice(1.0, [0], [1]), ValueError, "strided_slice: begin must have at most one entry per dimension of input_, 0, new axes and the ellipsis not counted; received 1"),
    "strided_slice-begin-lengths": (lambda: jaxops.strided_slice(X, [0, 0], [1]), ValueError, "strided_slice: begin, end and strides must have the same length; received 2, 1 and 2"),
    "strided_slice-begin-float": (lambda: jaxops.strided_slice(X, [0.0], [1]), TypeError, "strided_slice: begin[0] must be a static int; received 0.0"),
    "strided_slice-begin-float-masked": (lambda: jaxops.strided_slice(X, [0.0], [1], begin_mask=1), TypeError, "strided_slice: begin[0] must be a static int; received 0.0"),
    "strided_slice-end-float-masked": (lambda: jaxops.strided_slice(X, [0], [0.5], end_mask=1), TypeError, "strided_slice: end[0] must be a static int; received 0.5"),
    "strided_slice-end-text-of-single": (lambda: jaxops.strided_slice(X, [0], ["1"], shrink_axis_mask=1), TypeError, "strided_slice: end[0] must be a static int; received '1'"),
    "strided_slice-strides-float-of-ellipsis": (lambda: jaxops.strided_slice(X, [0], [0], [1.0], ellipsis_mask=1), TypeError, "strided_slice: strides[0] must be a static int; received 1.0"),
    "strided_slice-begin-bool": (lambda: jaxops.strided_slice(X, [False], [1]), TypeError, "strided_slice: begin[0] must be a static int; received False"),
    "strided_slice-begin-nan": (lambda: jaxops.strided_slice(X, [float("nan")], [1], shrink_axis_mask=1), TypeError, "strided_slice: begin[0] must be a static int; received nan"),
    "strided_slice-begin-scalar": (lambda: jaxops.strided_slice(X, 0, [1]), ValueError, "must be a one-dimensional sequence of ints; received 0"),
    "strided_slice-begin-matrix": (lambda: jaxops.strided_slice(X, [[0]], [[1]]), TypeError, "strided_slice: begin[0] must be a static int; received [0]"),
    "strided_slice-begin-float-array": (lambda: jaxops.strided_slice(X, jnp.array([0.0]), [1]), TypeError, "must have an integer dtype; received float32"),
    "strided_slice-begin-key": (lambda: jaxops.strided_slice(X, key(), [1]), ValueError, "must be a one-dimensional sequence of ints; received an array of dtype key<fry>"),
    "strided_slice-begin-traced-range": (
        lambda: jax.jit(lambda b: jaxops.strided_slice(X, [b], [2]))(0), TypeError, "strided_slice: begin[0] must be static, because a range decides the shape of the result; received a traced value (bit 0 of shrink_axis_mask makes it a single index)"),
    "strided_slice-begin-vector-single": (lambda: jaxops.strided_slice(X, [jnp.array([0, 1])], [0], shrink_axis_mask=1), ValueError, "must hold scalars; received single indices of shapes=[(2,)]"),
    "strided_slice-begin-single-low": (lambda: jaxops.strided_slice(X, [-5], [0], shrink_axis_mask=1), jaxops.OutOfBoundsError, "slice index -1 of dimension 0 out of bounds. [Op:strided_slice]"),
    "strided_slice-end-string": (lambda: jaxops.strided_slice(X, [0], ["a"]), TypeError, "strided_slice: end[0] must be a static int; received 'a'"),
    "strided_slice-end-none-component": (lambda: jaxops.strided_slice(X, [0], [None]), TypeError, "strided_slice: end[0] must be a static int; received None"),
    "strided_slice-end-traced": (
        lambda: jax.jit(lambda e: jaxops.strided_slice(X, [0], [e]))(2), TypeError, "strided_slice: end[0] must be static, because a range decides the shape of the result; received a traced value (bit 0 of shrink_axis_mask makes it a single index)"),
    "strided_slice-strides-0": (lambda: jaxops.strided_slice(X, [0], [1], [0]), ValueError, "strided_slice: strides[0] must be non-zero; received 0"),
    "strided_slice-strides-length": (lambda: jaxops.strided_slice(X, [0], [1], [1, 1]), ValueError, "strided_slice: begin, end and strides must have the same length; received 1, 1 and 2"),
    "strided_slice-strides-float": (lambda: jaxops.strided_slice(X, [0], [1], [1.5]), TypeError, "strided_slice: strides[0] must be a static int; received 1.5"),
    "strided_slice-strides-scalar": (lambda: jaxops.strided_slice(X, [0], [1], 1), ValueError, "must be a one-dimensional sequence of ints; received 1"),
    "strided_slice-strides-traced": (
        lambda: jax.jit(lambda s: jaxops.strided_slice(X, [0], [1], [s]))(1), TypeError, "strided_slice: strides[0] must be a static int; received a traced array of shape ()"),
    "strided_slice-strides-negative-single": (
        lambda: jaxops.strided_slice(X, [1], [0], [-1], shrink_axis_mask=1), ValueError, "strided_slice: strides[0] must be positive for a single index; received -1"),
    "strided_slice-ellipsis_mask-two": (lambda: jaxops.strided_slice(X, [0, 0], [1, 1], ellipsis_mask=3), ValueError, "must have at most one bit; received 0b11"),
    "strided_slice-ellipsis_mask-two-beyond": (lambda: jaxops.strided_slice(X, [0], [1], ellipsis_mask=6), ValueError, "must have at most one bit; received 0b110"),
    "strided_slice-ellipsis_mask-all-bits": (lambda: jaxops.strided_slice(X, [0, 0], [1, 1], ellipsis_mask=-1), ValueError, "must have at most one bit; received -0b1"),
    "strided_slice-var-array": (
        lambda: jaxops.strided_slice(X, [0], [1], var=X), TypeError, "must be None, as arrays are not assigned to; received an array of shape (4, 3) and dtype float32; tensor_scatter_nd_update"),
    "strided_slice-var-name": (lambda: jaxops.strided_slice(X, [0], [1], None, 0, 0, 0, 0, 0, "rows"), TypeError, "received 'rows'; tensor_scatter_nd_update and x.at[...].set(...) make a new array"),
    "strided_slice-fill_value-unused": (
        lambda: jaxops.strided_slice(X, [0], [1], fill_value=0), ValueError, "strided_slice: fill_value is used by mode=\"fill\" only; received fill_value=0 with mode='device'"),
    "strided_slice_spec-index-two-ellipses": (lambda: jaxops.strided_slice_spec((..., ...)), ValueError, "must have at most one ...; received (Ellipsis, Ellipsis)"),
    "strided_slice_spec-index-step-0": (lambda: jaxops.strided_slice_spec(np.s_[::0]), ValueError, "strided_slice_spec: the step of index entry 0 must not be 0; received 0"),
    "strided_slice_spec-index-list": (lambda: jaxops.strided_slice_spec([1, 2]), TypeError, "strided_slice_spec: index entry 0 must be an int, a slice, ... or None; received [1, 2]"),
    "strided_slice_spec-index-bool": (lambda: jaxops.strided_slice_spec(True), TypeError, "strided_slice_spec: index entry 0 must be an int, a slice, ... or None; received True"),
    "strided_slice_spec-index-float": (lambda: jaxops.strided_slice_spec(1.0), TypeError, "strided_slice_spec: index entry 0 must be an int, a slice, ... or None; received 1.0"),
    "strided_slice_spec-index-vector": (lambda: jaxops.strided_slice_spec(np.array([0, 1])), TypeError, "strided_slice_spec: index entry 0 must be an int, a slice, ... or None; received"),
    "strided_slice_spec-index-key": (
        lambda: jaxops.strided_slice_spec(key()), TypeError, "strided_slice_spec: index entry 0 must be an int, a slice, ... or None; received an array of dtype key<fry>"),
    "strided_slice_spec-index-float-start": (lambda: jaxops.strided_slice_spec(np.s_[1.0:]), TypeError, "strided_slice_spec: the start of index entry 0 must be a static int; received 1.0"),
    "strided_slice_spec-index-bool-stop": (lambda: jaxops.strided_slice_spec(np.s_[:True]), TypeError, "strided_slice_spec: the stop of index entry 0 must be a static int; received True"),
    "strided_slice_spec-index-traced-stop": (
        lambda: jax.jit(lambda n: jaxops.strided_slice_spec(np.s_[:n]))(1), TypeError, "strided_slice_spec: the stop of index entry 0 must be a static int; received a traced array of shape ()"),
}  # fmt: skip
