"""Plain NumPy loops that say what the casting ops mean; they share no code with jaxops."""

import numpy as np


def through(x, dtype):
    """Each element as `dtype` and back."""
    out = np.empty_like(x)
    for at in np.ndindex(x.shape):
        out[at] = np.real(np.dtype(dtype).type(x[at]))
    return out


def times_row(x, row):
    """Column `j` of `x` times `row[j]`."""
    out = np.empty_like(x)
    for at in np.ndindex(x.shape):
        out[at] = x[at] * np.float32(row[at[-1]])
    return out
