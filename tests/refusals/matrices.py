"""Refused calls: the functions of matrices."""

# pyright: reportCallIssue=false, reportArgumentType=false

import jax

import jaxops
from refusals.values import X

CALLS = {
    "matrix_band_part-input-vector": (lambda: jaxops.matrix_band_part(X[0], 0, 0), ValueError, "must have at least 2 dimensions; received shape (3,)"),
    "matrix_band_part-num_lower-large": (lambda: jaxops.matrix_band_part(X, 5, 0), ValueError, "must be negative or at most 4; received 5"),
    "matrix_band_part-num_lower-traced-vector": (lambda: jax.jit(lambda n: jaxops.matrix_band_part(X, n, 0))(X[0].astype(int)), ValueError, "must be a scalar; received shape (3,)"),
    "matrix_band_part-num_upper-large": (lambda: jaxops.matrix_band_part(X, 0, 4), ValueError, "must be negative or at most 3; received 4"),
    "matrix_band_part-num_upper-traced-float": (lambda: jax.jit(lambda n: jaxops.matrix_band_part(X, 0, n))(1.0), TypeError, "must have an integer dtype; received float32"),
    "matrix_diag-diagonal-scalar": (lambda: jaxops.matrix_diag(1.0), ValueError, "must have shape [..., L] for k=(0, 0); received shape ()"),
    "matrix_diag-diagonal-number": (lambda: jaxops.matrix_diag(X, k=(0, 2)), ValueError, "must have shape [..., 3, L] for k=(0, 2); received shape (4, 3)"),
    "matrix_diag-k-order": (lambda: jaxops.matrix_diag(X, k=(1, 0)), ValueError, "must be one diagonal, or the lowest and the highest; received (1, 0)"),
    "matrix_diag-k-three": (lambda: jaxops.matrix_diag(X, k=(1, 2, 3)), ValueError, "must be one diagonal, or the lowest and the highest; received (1, 2, 3)"),
    "matrix_diag-num_rows-few": (lambda: jaxops.matrix_diag(X, num_rows=2), ValueError, "must be at least 3, or -1; received 2"),
    "matrix_diag-num_cols-few": (lambda: jaxops.matrix_diag(X, k=1, num_cols=3), ValueError, "must be at least 4, or -1; received 3"),
    "matrix_diag-num_cols-and-rows": (
        lambda: jaxops.matrix_diag(X, num_rows=5, num_cols=4), ValueError, "matrix_diag: num_rows must be 3, or num_cols 3, for diagonals of that length; received 5 and 4"),
    "tensor_diag-diagonal-scalar": (lambda: jaxops.tensor_diag(1.0), ValueError, "must have at least 1 dimension; received shape ()"),
    "tensor_diag_part-input-odd": (lambda: jaxops.tensor_diag_part(X[0]), ValueError, "must have an even number of dimensions, the second half the same as the first; received shape (3,)"),
    "tensor_diag_part-input-halves": (lambda: jaxops.tensor_diag_part(X), ValueError, "must have an even number of dimensions, the second half the same as the first; received shape (4, 3)"),
    "matrix_diag_part-input-vector": (lambda: jaxops.matrix_diag_part(X[0]), ValueError, "must have at least 2 dimensions; received shape (3,)"),
    "matrix_diag_part-k-high": (lambda: jaxops.matrix_diag_part(X, k=3), ValueError, "must name diagonals between -4 and 3, both excluded, for input of shape (4, 3); received (3, 3)"),
    "matrix_diag_part-k-low": (lambda: jaxops.matrix_diag_part(X, k=(-4, 0)), ValueError, "must name diagonals between -4 and 3, both excluded, for input of shape (4, 3); received (-4, 0)"),
    "matrix_set_diag-diagonal-shape": (lambda: jaxops.matrix_set_diag(X, X), ValueError, "must have shape (3,) for k=(0, 0) and input of shape (4, 3); received shape (4, 3)"),
    "matrix_set_diag-k-high": (lambda: jaxops.matrix_set_diag(X, X[0], k=3), ValueError, "must name diagonals between -4 and 3, both excluded, for input of shape (4, 3); received (3, 3)"),
    "matrix_transpose-a-vector": (lambda: jaxops.matrix_transpose(X[0]), ValueError, "must have at least 2 dimensions; received shape (3,)"),
}  # fmt: skip
