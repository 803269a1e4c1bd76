"""Calls that a caller of another library writes, and what the message says to write instead."""

# pyright: reportCallIssue=false, reportArgumentType=false

import functools

import jax.numpy as jnp
import numpy as np

import jaxops
from jaxops.compat import v0
from refusals.values import U, X

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
    "tensor_scatter_nd_add-indices-numbers-of-elements": (lambda: jaxops.tensor_scatter_nd_add(X[0], [0, 1], [1.0, 2.0]), ValueError, "for numbers of rows write indices[:, None]"),
    "tensor_scatter_nd_add-indices-matrix-of-numbers": (lambda: jaxops.tensor_scatter_nd_add(X, [[0, 1]], U[None]), ValueError, "for numbers of rows write indices[:, :, None]"),
}  # fmt: skip


def on(make, call, *arrays):
    """Makes the arrays when it is called, as no table may start JAX by being imported."""
    return call(*map(make, arrays))


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
        ("bools-for-floats", (X, X > 0), "float32", "bool", ""),
    ]
    if not (case == "ints-for-floats" and place.endswith("updates"))
}  # fmt: skip

# Arguments in the order of TensorFlow 0.x, or of another library.
FIRST = "the arrays come first, as in TensorFlow 2"
CALLS |= {
    "split-axis-array": (
        lambda: jaxops.split(0, 2, X), TypeError, f"split: axis must be a static int; received an array of shape (4, 3) and dtype float32; {FIRST} (in jaxops.compat.v0.split as in TensorFlow 0.x)"),
    "reverse-axis-bools-of-0.x": (
        lambda: jaxops.reverse(X, [True, False]), TypeError, "must be a one-dimensional sequence of ints; received [True, False]; jaxops.compat.v0.reverse takes a bool for each dimension, as TensorFlow 0.x"),
}  # fmt: skip
