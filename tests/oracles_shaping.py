"""Plain NumPy loops that say what the shaping ops mean; they share no code with jaxops."""

import numpy as np


def same_elements(x, shape):
    """Those of `x` in row-major order in another shape."""
    out = np.empty(shape, x.dtype)
    for to, at in zip(np.ndindex(*shape), np.ndindex(*x.shape), strict=True):
        out[to] = x[at]
    return out


def transpose(x, perm):
    out = np.empty([x.shape[p] for p in perm], x.dtype)
    for at in np.ndindex(*out.shape):
        place = [0] * x.ndim
        for i, p in enumerate(perm):
            place[p] = at[i]
        out[at] = x[tuple(place)]
    return out


def _moved(at, axis, by):
    return (*at[:axis], at[axis] + by, *at[axis + 1 :])


def split(x, sizes, axis):
    pieces, start = [], 0
    for size in sizes:
        piece = np.empty((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
        for at in np.ndindex(*piece.shape):
            piece[at] = x[_moved(at, axis, start)]
        pieces.append(piece)
        start += size
    return pieces


def concat(values, axis):
    first = values[0].shape
    total = sum(value.shape[axis] for value in values)
    out = np.empty((*first[:axis], total, *first[axis + 1 :]), values[0].dtype)
    start = 0
    for value in values:
        for at in np.ndindex(*value.shape):
            out[_moved(at, axis, start)] = value[at]
        start += value.shape[axis]
    return out


def stack(values, axis):
    shape = values[0].shape
    out = np.empty((*shape[:axis], len(values), *shape[axis:]), values[0].dtype)
    for n, value in enumerate(values):
        for at in np.ndindex(*shape):
            out[(*at[:axis], n, *at[axis:])] = value[at]
    return out


def unstack(x, axis):
    pieces = []
    for n in range(x.shape[axis]):
        piece = np.empty(x.shape[:axis] + x.shape[axis + 1 :], x.dtype)
        for at in np.ndindex(*piece.shape):
            piece[at] = x[(*at[:axis], n, *at[axis:])]
        pieces.append(piece)
    return pieces


def tile(x, multiples):
    out = np.empty([d * m for d, m in zip(x.shape, multiples, strict=True)], x.dtype)
    for at in np.ndindex(*out.shape):
        out[at] = x[tuple(i % d for i, d in zip(at, x.shape, strict=True))]
    return out


def pad(x, paddings, mode="CONSTANT", constant=0):
    shape = [b + d + a for (b, a), d in zip(paddings, x.shape, strict=True)]
    out = np.empty(shape, x.dtype)
    for at in np.ndindex(*shape):
        place = []
        for i, (before, _), dim in zip(at, paddings, x.shape, strict=True):
            k = i - before
            if mode == "REFLECT":
                k = -k if k < 0 else 2 * dim - 2 - k if k >= dim else k
            elif mode == "SYMMETRIC":
                k = -k - 1 if k < 0 else 2 * dim - 1 - k if k >= dim else k
            place.append(k)
        inside = all(0 <= k < d for k, d in zip(place, x.shape, strict=True))
        out[at] = x[tuple(place)] if inside else constant
    return out


def reverse(x, axes):
    out = np.empty(x.shape, x.dtype)
    for at in np.ndindex(*x.shape):
        out[at] = x[tuple(d - 1 - i if n in axes else i
                          for n, (i, d) in enumerate(zip(at, x.shape, strict=True)))]  # fmt: skip
    return out


def reverse_sequence(x, lengths, seq_axis, batch_axis, mode="clip"):
    out = np.empty(x.shape, x.dtype)
    dim = x.shape[seq_axis]
    for at in np.ndindex(*x.shape):
        length = int(lengths[at[batch_axis]])
        if not 0 <= length <= dim:
            assert mode == "clip", f"length {length} in dimension {dim}"
            length = min(max(length, 0), dim)
        i = at[seq_axis]
        source = length - 1 - i if i < length else i
        out[at] = x[(*at[:seq_axis], source, *at[seq_axis + 1 :])]
    return out
