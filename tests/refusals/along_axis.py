"""Refused calls: take_along_axis."""

# pyright: reportCallIssue=false, reportArgumentType=false

import jaxops
from refusals.values import X

CALLS = {
    "take_along_axis-indices-rank": (
        lambda: jaxops.take_along_axis(X, [0, 1]), ValueError, "take_along_axis: indices must have the rank of arr, 2; received indices of shape (2,) with arr of shape (4, 3)"),
    "take_along_axis-indices-rank-without-axis": (
        lambda: jaxops.take_along_axis(X, [[0]], None), ValueError, "take_along_axis: indices must have rank 1 where axis is None; received shape (1, 1)"),
    "take_along_axis-indices-sizes": (
        lambda: jaxops.take_along_axis(X, [[0]] * 3), ValueError, "take_along_axis: arr and indices must have the same sizes, or one of them size 1, in the dimensions other than axis, 1; received shapes (4, 3) and (3, 1)"),
    "take_along_axis-fill_value-unused": (
        lambda: jaxops.take_along_axis(X, [[0]], fill_value=1.0), ValueError, "take_along_axis: fill_value is used by mode=\"fill\" and padding_index only; received fill_value=1.0 with mode='device'"),
    "take_along_axis-mode-clip-empty-axis": (
        lambda: jaxops.take_along_axis(X[:0], [[0] * 3], 0, mode="clip"), ValueError, "take_along_axis: mode='clip' must have an index to choose; received shape (0, 3) with indexed axes (0, 1)"),
}  # fmt: skip
