"""Loops of NumPy for `_ops/`: `space_to_batch.py`, `space_to_depth.py`, `patches.py`."""

import numpy as np


def _batch_moves(block_shape, batch, dims):
    """Pairs `(at in batches, at in space)`, without the dimensions after space."""
    for b, position in np.ndindex(batch, int(np.prod(dims, initial=1))):
        at = np.unravel_index(position, dims) if dims else ()
        place = 0
        for i, block in zip(at, block_shape, strict=True):
            place = place * block + i % block
        outer = tuple(i // block for i, block in zip(at, block_shape, strict=True))
        yield (place * batch + b, *outer), (b, *at)


def space_to_batch(x, block_shape, paddings):
    m = len(block_shape)
    dims = tuple(d + low + high for d, (low, high) in zip(x.shape[1:], paddings, strict=False))
    outer = tuple(d // block for d, block in zip(dims, block_shape, strict=True))
    blocks = int(np.prod(block_shape, initial=1))
    out = np.zeros((x.shape[0] * blocks, *outer, *x.shape[1 + m :]), x.dtype)
    for in_batches, (b, *at) in _batch_moves(block_shape, x.shape[0], dims):
        at = [i - low for i, (low, _) in zip(at, paddings, strict=True)]
        if all(0 <= i < d for i, d in zip(at, x.shape[1:], strict=False)):
            out[in_batches] = x[(b, *at)]
    return out


def batch_to_space(x, block_shape, crops):
    m = len(block_shape)
    dims = tuple(d * block for d, block in zip(x.shape[1:], block_shape, strict=False))
    batch = x.shape[0] // int(np.prod(block_shape, initial=1))
    kept = tuple(d - low - high for d, (low, high) in zip(dims, crops, strict=True))
    out = np.zeros((batch, *kept, *x.shape[1 + m :]), x.dtype)
    for in_batches, (b, *at) in _batch_moves(block_shape, batch, dims):
        at = [i - low for i, (low, _) in zip(at, crops, strict=True)]
        if all(0 <= i < d for i, d in zip(at, kept, strict=True)):
            out[(b, *at)] = x[in_batches]
    return out


def space_to_depth(x, size):
    n, h, w, c = x.shape
    out = np.zeros((n, h // size, w // size, c * size * size), x.dtype)
    for i, j, k in np.ndindex(h, w, c):
        out[:, i // size, j // size, (i % size * size + j % size) * c + k] = x[:, i, j, k]
    return out


def depth_to_space(x, size):
    n, h, w, c = x.shape
    out = np.zeros((n, h * size, w * size, c // size**2), x.dtype)
    for i, j, k in np.ndindex(*out.shape[1:]):
        place = i % size * size + j % size
        out[:, i, j, k] = x[:, i // size, j // size, place * out.shape[3] + k]
    return out


def extract_patches(x, sizes, strides, rates, padding):
    """All of `sizes`, `strides` and `rates` are (rows, cols)."""
    counts, lows = [], []
    for dim, size, stride, rate in zip(x.shape[1:3], sizes, strides, rates, strict=True):
        if padding == "VALID":
            # Every place where all of the window is inside.
            places = [p for p in range(0, dim, stride) if p + (size - 1) * rate < dim]
            counts.append(len(places))
            lows.append(0)
        else:
            counts.append(len(range(0, dim, stride)))
            over = (counts[-1] - 1) * stride + (size - 1) * rate + 1 - dim
            lows.append(max(over, 0) // 2)
    depth = x.shape[3]
    out = np.zeros((x.shape[0], *counts, sizes[0] * sizes[1] * depth), x.dtype)
    for at in np.ndindex(*counts, *sizes, depth):
        where, inside, k = at[:2], at[2:4], at[4]
        i, j = (
            p * s + q * r - low
            for p, s, q, r, low in zip(where, strides, inside, rates, lows, strict=True)
        )
        if 0 <= i < x.shape[1] and 0 <= j < x.shape[2]:
            out[:, *where, (inside[0] * sizes[1] + inside[1]) * depth + k] = x[:, i, j, k]
    return out
