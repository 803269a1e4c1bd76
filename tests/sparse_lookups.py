"""Lookups of a table of any shape by indices of any shape and dtype."""

import functools

import jax.numpy as jnp
import numpy as np
from jax import lax

import jaxops


def namespace_of(i):
    """The module of the functions of `i`: what is made of NumPy's indices stays NumPy's."""
    return np if isinstance(i, np.ndarray) else jnp


def first(i):
    """Some index; 0 where there is none."""
    return namespace_of(i).concatenate([i.reshape(-1), namespace_of(i).zeros(1, i.dtype)])[0]


def other(i, t, axis):
    """Indices along another axis, which differ from `i`."""
    return (3 * i + axis) % np.array(t.shape[axis], i.dtype)


def gather_nd(t, i, depth, **options):
    indices = [i, *(other(i, t, axis) for axis in range(1, depth))]
    return jaxops.gather_nd(t, namespace_of(i).stack(indices, -1), **options)


def columns(t, i):
    """Some columns, the same ones for each row."""
    return namespace_of(i).tile(other(i.reshape(-1), t, 1), (t.shape[0], 1))


def batch_gather(t, i):
    *batch, last = t.shape
    numbers = i.reshape(-1) % np.array(last, i.dtype)
    return jaxops.batch_gather(t, namespace_of(i).broadcast_to(numbers, (*batch, numbers.size)))


def slice_of(t, i, size):
    begin = [first(i) % (t.shape[0] - size + 1), *[0] * (t.ndim - 1)]
    return jaxops.slice(t, begin, [size, *t.shape[1:]])


def slice_of_part(t, i):
    begin = [first(i) % t.shape[0], *[1] * (t.ndim - 1)]
    return jaxops.slice(t, begin, [1, *(size - 1 for size in t.shape[1:])])


def strided_slice(t, i):
    begin = namespace_of(i).stack([first(i) % t.shape[0]]).astype(np.int32)
    return jaxops.strided_slice(t, begin, begin + 1, shrink_axis_mask=1)


# By indices that are inside.
READS = {
    "indexing": lambda t, i: t[i],
    "gather": jaxops.gather,
    "gather, deterministic": functools.partial(jaxops.gather, deterministic=True),
    "gather, error": functools.partial(jaxops.gather, mode="error"),
    "gather, promise": functools.partial(jaxops.gather, mode="promise_in_bounds"),
    "gather_nd, one axis": functools.partial(gather_nd, depth=1),
    "take": lambda t, i: jnp.take(t, i, axis=0),
    "embedding_lookup": jaxops.embedding_lookup,
    "take_along_axis": lambda t, i: jaxops.take_along_axis(
        t, i.reshape(-1, *[1] * (t.ndim - 1)), 0
    ),
    "along axis": lambda t, i: jnp.take_along_axis(t, i.reshape(-1, *[1] * (t.ndim - 1)), axis=0),
    "row": lambda t, i: t[first(i)],
    "range": lambda t, i: t[1:3],
    "masked rows": lambda t, i: t[np.arange(t.shape[0]) % 3 == 1],
    "dynamic_index": lambda t, i: lax.dynamic_index_in_dim(t, first(i), keepdims=False),
    "slice": functools.partial(slice_of, size=1),
    "slice of no rows": functools.partial(slice_of, size=0),
    "slice of a part": slice_of_part,
    "strided_slice": strided_slice,
    "part of rows": lambda t, i: t[i, ..., 1:] if t.ndim > 1 else t[i],
}
# Also by indices that are out of bounds.
READS_OUTSIDE = {
    "outside": lambda t, i: t[i],
    "fill": lambda t, i: t.at[i].get(mode="fill", fill_value=2),
    "clip": lambda t, i: t.at[i].get(mode="clip"),
    "gather, fill": functools.partial(jaxops.gather, mode="fill", fill_value=2),
    "gather, clip": functools.partial(jaxops.gather, mode="clip"),
    "gather, wrap": functools.partial(jaxops.gather, mode="wrap"),
    "gather, fill, deterministic": functools.partial(
        jaxops.gather, mode="fill", fill_value=2, deterministic=True
    ),
    "gather_nd, fill": functools.partial(gather_nd, depth=1, mode="fill"),
    "take outside": lambda t, i: jnp.nan_to_num(jnp.take(t, i, axis=0)),
    "take, fill": lambda t, i: jnp.take(t, i, axis=0, mode="fill", fill_value=3),
    "take, clip": lambda t, i: jnp.take(t, i, axis=0, mode="clip"),
    "take, wrap": lambda t, i: jnp.take(t, i, axis=0, mode="wrap"),
}
# Of two rows at least: the only row of a table is all of it, and not looked up.
READS_OF_SEVERAL = {"last row": lambda t, i: t[-1], "first row": lambda t, i: t[:1]}
READS_OF_MATRICES = {  # or of tables of rank 3
    "elements": lambda t, i: t[i, other(i, t, 1)],
    "element": lambda t, i: t[first(i), first(other(i, t, 1))],
    "column of rows": lambda t, i: t[i, ..., -1],
    "gather_nd": functools.partial(gather_nd, depth=2),
    "gather_nd, deterministic": functools.partial(gather_nd, depth=2, deterministic=True),
    "gather_nd, clip": functools.partial(gather_nd, depth=2, mode="clip"),
}
READS_OF_MANY = {  # rows: nearly as many as the table has
    "every other row": lambda t, i: t[1::2],
    "batch_gather": batch_gather,
    "gather, batch_dims": lambda t, i: jaxops.gather(t, columns(t, i), batch_dims=1),
    "gather, batch_dims, deterministic": lambda t, i: jaxops.gather(
        t, columns(t, i), batch_dims=1, deterministic=True
    ),
    "gather_nd, batch_dims": lambda t, i: jaxops.gather_nd(
        t, columns(t, i)[..., None], batch_dims=1
    ),
}
READS_OF_CUBES = {
    "gather_nd, depth 3": functools.partial(gather_nd, depth=3),
    "first and last axis": lambda t, i: t[i, :, other(i, t, 2)],
    "outer": lambda t, i: t[i[..., None], other(i, t, 1)[..., None], :],
}
