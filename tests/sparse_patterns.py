"""Losses that compute with a table before they look rows up."""

import jax
import jax.numpy as jnp
from jax import lax
from sparse_checks import assert_sparse

import jaxops

ROWS, WIDTH = 17, 3
INDICES = jnp.array([3, 0, 3, 16], jnp.int32)
OUTSIDE = jnp.array([3, 20, -30, 3], jnp.int32)
K = jnp.int32(1)


def params(dtype=jnp.float32):
    t = jnp.arange(ROWS * WIDTH).reshape(ROWS, WIDTH) * 7 % 11 - 4
    return {
        "t": (t / 4 + 0.125).astype(dtype),
        "c": jnp.array([2.0, -1.0, 0.5], dtype),
        "w": jnp.array([[1, 2, 3, 0], [0, 1, -1, 2], [0.5, 1, 0, 1]], dtype),
        "of_rows": (jnp.arange(ROWS) % 5 + 1).astype(dtype),
    }


def normalized(x):
    centered = x - jnp.mean(x, axis=-1, keepdims=True)
    return centered * lax.rsqrt(jnp.mean(centered**2, axis=-1, keepdims=True) + 1e-3)


# Their results have the shape of the table, and the same rows as that, or in another order.
STEPS = {
    "scaled": lambda t, p: 2 * t,
    "scaled by columns": lambda t, p: t * p["c"][None, :1],
    "scaled by rows": lambda t, p: t * p["of_rows"][:, None],
    "negated": lambda t, p: -t,
    "masked": lambda t, p: t * (jnp.arange(t.shape[0]) % 2 == 0).astype(t.dtype)[:, None],
    "divided by norms of rows": lambda t, p: (
        t / (1 + jnp.sum(t**2, axis=1, keepdims=True, dtype=t.dtype))
    ),
    "added to itself": lambda t, p: t + t,
    "tanh": lambda t, p: jnp.tanh(t),
    "relu": lambda t, p: jnp.maximum(t, 0),
    "where": lambda t, p: jnp.where(jnp.arange(t.shape[0])[:, None] > 3, t, p["c"][0]),
    "clipped": lambda t, p: jnp.clip(t, -0.5, p["c"][0]),
    "normalized": lambda t, p: normalized(t),
    "cumsum of columns": lambda t, p: jnp.cumsum(t, axis=1, dtype=t.dtype),
    "reversed rows": lambda t, p: t[::-1],
    "without the first row": lambda t, p: jnp.concatenate([p["c"][None, : t.shape[1]], t[1:]]),
    "rolled": lambda t, p: jnp.roll(2 * t, 5, axis=0),
    "rolled, traced": lambda t, p: jnp.roll(t, INDICES[0], axis=0),
    "differences": lambda t, p: jnp.diff(t, axis=0, prepend=p["c"][None, : t.shape[1]]),
    "ravelled and back": lambda t, p: (2 * t).reshape(-1).reshape(t.shape),
    "reversed columns": lambda t, p: t[:, ::-1],
    "transposed twice": lambda t, p: (t.T * 3).T,
    "reshaped": lambda t, p: (t.reshape(t.shape[0], 1, -1) * 2).reshape(t.shape),
    "new axis": lambda t, p: t[None, :, None][0, :, 0],
    "row set": lambda t, p: t.at[0].set(0),
    "rows set": lambda t, p: t.at[jnp.array([3, 5, 3, -1])].set(  # to others: the last counts
        p["c"][0] * jnp.arange(1, 5, dtype=t.dtype)[:, None]
    ),
    "rows added to": lambda t, p: t.at[jnp.array([3, 5, 3, -1, 99])].add(p["c"][0]),
    "column set": lambda t, p: t.at[:, 0].set(p["of_rows"]),
    "first rows set": lambda t, p: t.at[:2].set(p["c"][1]),
    "updated": lambda t, p: lax.dynamic_update_slice(  # of INDICES 0 is before, 16 just behind
        t, p["c"][0] * jnp.arange(13, dtype=t.dtype)[:, None], (K + 2, 0 * K)
    ),
    "padded and cut": lambda t, p: lax.pad(t, p["c"][0], ((1, -1, 0), (0, 1, 0)))[:, :-1],
    "barrier": lambda t, p: lax.optimization_barrier((t, p["c"]))[0],
    "device_put": lambda t, p: jax.device_put(t),
    "device_put on a device": lambda t, p: jax.device_put(t, jax.devices()[0]),
    "reduce_precision": lambda t, p: lax.reduce_precision(t, 8, 7),
    "stopped in part": lambda t, p: t * lax.stop_gradient(t),
    "of two": lambda t, p: jnp.stack([t, 2 * t])[1],
    "of two, traced": lambda t, p: jnp.stack([t, 2 * t])[K],
    "sorted columns": lambda t, p: jnp.sort(t, axis=1),
    "jit": lambda t, p: jax.jit(lambda t, c: t * c)(t, p["c"][0]),
    "checkpoint": lambda t, p: jax.checkpoint(lambda t, c: jnp.sin(t * c))(t, p["c"][0]),
    "cond": lambda t, p: lax.cond(p["c"][0] > 0, lambda: t, lambda: 2 * t),
    "cond with zeros": lambda t, p: lax.cond(
        p["c"][0] > 0, lambda: t * p["c"][1], lambda: jnp.zeros_like(t)
    ),
    "switch": lambda t, p: lax.switch(K, [lambda: t, lambda: p["c"][0] * t, lambda: t + 1]),
    "mapped over rows": lambda t, p: jax.vmap(lambda row: jnp.sin(row) * p["c"][0])(t),
}

LOOKUPS = {  # of an array [ROWS, n]
    "indexing": lambda t, p: t[INDICES],
    "outside": lambda t, p: t[OUTSIDE],
    "take": lambda t, p: jnp.nan_to_num(jnp.take(t, OUTSIDE, axis=0)),
    "fill": lambda t, p: t.at[OUTSIDE].get(mode="fill", fill_value=2),
    "clip": lambda t, p: t.at[OUTSIDE].get(mode="clip"),
    "gather": lambda t, p: jaxops.gather(t, INDICES),
    "gather, filled": lambda t, p: jaxops.gather(t, OUTSIDE, mode="fill", fill_value=2),
    "gather, deterministic": lambda t, p: jaxops.gather(t, INDICES, deterministic=True),
    "gather_nd": lambda t, p: jaxops.gather_nd(t, jnp.stack([INDICES, INDICES % 2], -1)),
    "elements": lambda t, p: t[INDICES, INDICES % 2],
    "elements outside": lambda t, p: t[OUTSIDE, OUTSIDE % 2],
    "row": lambda t, p: t[K],
    "last row": lambda t, p: t[-1],
    "range": lambda t, p: t[2:5],
    "dynamic_slice": lambda t, p: lax.dynamic_slice_in_dim(t, INDICES[3], 2),
    "along axis": lambda t, p: jnp.take_along_axis(t, INDICES[:, None], axis=0),
    "mapped": lambda t, p: jax.vmap(lambda i: t[i] * i.astype(t.dtype))(INDICES),
    "mapped cond": lambda t, p: jax.vmap(
        lambda i: lax.cond(i > 2, lambda: t[i], lambda: 2 * t[i + 1])
    )(INDICES),
    "scan": lambda t, p: lax.scan(lambda c, i: (c + t[i], t[i + 1]), 0 * t[0], INDICES)[1],
    "scan of a scaled table": lambda t, p: lax.scan(
        lambda c, i: (c + (p["c"][0] * t)[i], None), 0 * t[0], INDICES
    )[0],
    "carried": lambda t, p: lax.scan(
        lambda c, i: ((c[0], c[1] + jnp.sin(c[0])[i]), None), (t, 0 * t[0]), INDICES
    )[0][1],
    "layers": lambda t, p: lax.scan(
        lambda c, layer: (c + layer[INDICES], None), 0 * t[INDICES], jnp.stack([t, 2 * t, -t])
    )[0],
    "layers, backwards": lambda t, p: lax.scan(
        lambda c, layer: (2 * c + layer[0][INDICES + layer[1]], None),
        0 * t[INDICES],
        (jnp.stack([t, 2 * t, -t]), jnp.array([0, -1, -2], INDICES.dtype)),
        reverse=True,
    )[0],
    "of a part": lambda t, p: t[1:][INDICES - 1],
    "of every other row": lambda t, p: (t * p["c"][0])[::2][INDICES // 2],
    "of a part of a part": lambda t, p: lax.dynamic_slice_in_dim(t[2:], K, 9)[INDICES % 9],
    "columns of rows": lambda t, p: jnp.take(t, jnp.array([1, 0, 1]), axis=1)[INDICES],
    "one column": lambda t, p: t[:, 1][INDICES],
    "transposed": lambda t, p: t.T[:, INDICES],
    "take of columns": lambda t, p: jnp.take(t.T, INDICES, axis=1),
    "with a first row": lambda t, p: jnp.concatenate([p["c"][None, : t.shape[1]], t])[INDICES],
    "with rows behind": lambda t, p: jnp.concatenate([t, 2 * t])[INDICES * 2],
    "with columns": lambda t, p: jnp.concatenate([t, 2 * t], axis=1)[INDICES],
    "padded": lambda t, p: jnp.pad(t, ((1, 2), (2, 1)), constant_values=3)[INDICES],
    "padded within": lambda t, p: lax.pad(t, p["c"][0], ((-1, 2, 1), (0, 0, 1)))[INDICES],
    "jaxops.pad": lambda t, p: jaxops.pad(t, [[1, 0], [0, 0]])[INDICES],
    "reshaped": lambda t, p: t.reshape(t.shape[0], 1, -1)[INDICES],
    "ravelled": lambda t, p: t.reshape(-1)[INDICES * 2],
    "new axis": lambda t, p: t[None][0, INDICES],
    "mean of rows": lambda t, p: jnp.mean(t, axis=1, dtype=t.dtype)[INDICES],
    "largest": lambda t, p: lax.top_k(t, 2)[0][INDICES],
    "part of columns": lambda t, p: jnp.split(t[:, :2], 2, axis=1)[1][INDICES],
    "product": lambda t, p: (t @ p["w"][: t.shape[1]])[INDICES],
    "product, transposed": lambda t, p: (p["w"][: t.shape[1]].T @ t.T)[:, INDICES],
    "tiled": lambda t, p: jnp.tile(t, (2, 1))[INDICES + 5],
    "stacked": lambda t, p: jnp.stack([t, 2 * t])[jnp.array([0, 1, 1, 0]), INDICES],
    "mapped scales": lambda t, p: jax.vmap(lambda c: (t * c)[INDICES])(p["c"]),
    "bfloat16": lambda t, p: t.astype(jnp.bfloat16)[INDICES].astype(t.dtype),
}


def polynomial(rows):
    """A scalar whose derivative tells rows and elements apart."""
    numbers = jnp.arange(rows.size).reshape(rows.shape) % 3 + 1
    return jnp.sum((rows * rows + 3 * rows) * numbers.astype(rows.dtype), dtype=jnp.float32)


def composed(*names, lookup="indexing"):
    def loss(p):
        t = p["t"]
        for name in names:
            t = STEPS[name](t, p)
        return polynomial(LOOKUPS[lookup](t, p))

    return loss


def assert_rows_first(loss, p, tables=("t",), tolerance=1e-5, **options):
    """As jax.value_and_grad; returns the gradients, which are sparse for the tables."""
    grads = assert_sparse(loss, p, tables=tables, tolerance=tolerance, **options)
    assert all(isinstance(grads[name], jaxops.IndexedSlices) for name in tables)
    return grads
