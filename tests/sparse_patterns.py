"""Losses that look rows of a table up: steps before, lookups, and programs around."""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from sparse_checks import assert_sparse
from sparse_lookups import (
    READS,
    READS_OF_MANY,
    READS_OF_MATRICES,
    READS_OF_SEVERAL,
    READS_OUTSIDE,
)

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


# --- steps before lookups ---

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
    "rows subtracted from": lambda t, p: t.at[jnp.array([3, 5, 3, -1, 99])].subtract(p["c"][0]),
    "tensor_scatter_nd_add": lambda t, p: jaxops.tensor_scatter_nd_add(
        t, [[3], [5], [3]], p["c"][0]
    ),
    "tensor_scatter_nd_update": lambda t, p: jaxops.tensor_scatter_nd_update(
        t, [[0], [16]], p["c"][0]
    ),
    "columns gathered": lambda t, p: jaxops.gather(t, np.arange(t.shape[1])[::-1], axis=1),
    "column set": lambda t, p: t.at[:, 0].set(p["of_rows"]),
    "first rows set": lambda t, p: t.at[:2].set(p["c"][1]),
    "updated": lambda t, p: lax.dynamic_update_slice(  # of INDICES 0 is before, 16 just behind
        t, p["c"][0] * jnp.arange(13, dtype=t.dtype)[:, None], (K + 2, 0 * K)
    ),
    "padded and cut": lambda t, p: lax.pad(t, p["c"][0], ((1, -1, 0), (0, 1, 0)))[:, :-1],
    # The table as it is.
    "copied": lambda t, p: jnp.array(t, copy=True),
    "cast and back": lambda t, p: t.astype(jnp.bfloat16).astype(t.dtype),
    "named": lambda t, p: checkpoint_name(t, "table"),
    "constrained": lambda t, p: lax.with_sharding_constraint(
        t, jax.sharding.SingleDeviceSharding(jax.devices()[0])
    ),
    "through jit": lambda t, p: jax.jit(lambda t: t)(t),
    "through checkpoint": lambda t, p: jax.checkpoint(lambda t: (t, 2 * t[INDICES]))(t)[0],
    "through cond": lambda t, p: lax.cond(t[0, 0] > 0, lambda t: t, lambda t: t, t),
    "through cond of checkpoint": lambda t, p: lax.cond(
        t[0, 0] > 0, jax.checkpoint(lambda t: t), jax.jit(lambda t: t), t
    ),
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

# --- lookups ---


@jax.custom_jvp
def twice(rows):
    return 2 * rows


twice.defjvp(lambda primals, tangents: (twice(*primals), 3 * tangents[0]))


@jax.custom_vjp
def thrice(rows):
    return 3 * rows


thrice.defvjp(lambda rows: (3 * rows, rows), lambda rows, cotangent: (cotangent * (rows + 1),))


def index_carried(t, i, reverse=False):
    """Rows whose numbers a loop computes."""

    def step(index, j):
        return (2 * index + j) % 7, (j + 1).astype(t.dtype) * t[index]

    return lax.scan(step, K, i.astype(jnp.int32), reverse=reverse)[1]


# Of an array [ROWS, n], indices and parameters.
LOOKUPS = {
    **{
        name: lambda t, i, p, read=read: read(t, i)
        for name, read in (READS | READS_OF_SEVERAL | READS_OF_MATRICES | READS_OF_MANY).items()
    },
    **{name: lambda t, i, p, read=read: read(t, OUTSIDE) for name, read in READS_OUTSIDE.items()},
    "elements outside": lambda t, i, p: t[OUTSIDE, OUTSIDE % 2],
    "dynamic_slice": lambda t, i, p: lax.dynamic_slice_in_dim(t, i[3], 2),
    "mapped": lambda t, i, p: jax.vmap(lambda j: t[j] * j.astype(t.dtype))(i),
    "mapped cond": lambda t, i, p: jax.vmap(
        lambda j: lax.cond(j > 2, lambda: t[j], lambda: 2 * t[j + 1])
    )(i),
    "scan": lambda t, i, p: lax.scan(lambda c, j: (c + t[j], t[j + 1]), 0 * t[0], i)[1],
    "scan of a scaled table": lambda t, i, p: lax.scan(
        lambda c, j: (c + (p["c"][0] * t)[j], None), 0 * t[0], i
    )[0],
    "carried": lambda t, i, p: lax.scan(
        lambda c, j: ((c[0], c[1] + jnp.sin(c[0])[j]), None), (t, 0 * t[0]), i
    )[0][1],
    "layers": lambda t, i, p: lax.scan(
        lambda c, layer: (c + layer[i], None), 0 * t[i], jnp.stack([t, 2 * t, -t])
    )[0],
    "layers, backwards": lambda t, i, p: lax.scan(
        lambda c, layer: (2 * c + layer[0][i + layer[1]], None),
        0 * t[i],
        (jnp.stack([t, 2 * t, -t]), jnp.array([0, -1, -2], i.dtype)),
        reverse=True,
    )[0],
    "of a part": lambda t, i, p: t[1:][i - 1],
    "of every other row": lambda t, i, p: (t * p["c"][0])[::2][i // 2],
    "of a part of a part": lambda t, i, p: lax.dynamic_slice_in_dim(t[2:], K, 9)[i % 9],
    "columns of rows": lambda t, i, p: jnp.take(t, jnp.array([1, 0, 1]), axis=1)[i],
    "one column": lambda t, i, p: t[:, 1][i],
    "transposed": lambda t, i, p: t.T[:, i],
    "take of columns": lambda t, i, p: jnp.take(t.T, i, axis=1),
    "with a first row": lambda t, i, p: jnp.concatenate([p["c"][None, : t.shape[1]], t])[i],
    "with rows behind": lambda t, i, p: jnp.concatenate([t, 2 * t])[i * 2],
    "with columns": lambda t, i, p: jnp.concatenate([t, 2 * t], axis=1)[i],
    "padded": lambda t, i, p: jnp.pad(t, ((1, 2), (2, 1)), constant_values=3)[i],
    "padded within": lambda t, i, p: lax.pad(t, p["c"][0], ((-1, 2, 1), (0, 0, 1)))[i],
    "jaxops.pad": lambda t, i, p: jaxops.pad(t, [[1, 0], [0, 0]])[i],
    "of a reshaped table": lambda t, i, p: t.reshape(t.shape[0], 1, -1)[i],
    "ravelled": lambda t, i, p: t.reshape(-1)[i * 2],
    "of rows in pairs": lambda t, i, p: jnp.concatenate([t, 2 * t[:1]]).reshape(-1, 2, t.shape[1])[
        i // 2, i % 2
    ],
    "of a new axis": lambda t, i, p: t[None][0, i],
    "mean of rows": lambda t, i, p: jnp.mean(t, axis=1, dtype=t.dtype)[i],
    "largest": lambda t, i, p: lax.top_k(t, 2)[0][i],
    "part of columns": lambda t, i, p: jnp.split(t[:, :2], 2, axis=1)[1][i],
    "product": lambda t, i, p: (t @ p["w"][: t.shape[1]])[i],
    "product, transposed": lambda t, i, p: (p["w"][: t.shape[1]].T @ t.T)[:, i],
    "tiled": lambda t, i, p: jnp.tile(t, (2, 2))[i + 5],
    "stacked": lambda t, i, p: jnp.stack([t, 2 * t])[jnp.array([0, 1, 1, 0]), i],
    "mapped scales": lambda t, i, p: jax.vmap(lambda c: (t * c)[i])(p["c"]),
    "bfloat16": lambda t, i, p: t.astype(jnp.bfloat16)[i].astype(t.dtype) * (1 + 2**-10),
    "computed in bfloat16": lambda t, i, p: (2 * t.astype(jnp.bfloat16)[i] - 1).astype(t.dtype),
    "by platform": lambda t, i, p: lax.platform_dependent(
        t, cpu=lambda t: t[i], default=lambda t: t[i + 1]
    ),
    "index carried": lambda t, i, p: jax.checkpoint(index_carried)(t, i),
    "index carried, backwards": lambda t, i, p: jax.checkpoint(
        functools.partial(index_carried, reverse=True)
    )(t, i),
    # Functions of rows.
    "custom_jvp": lambda t, i, p: twice(t[i]),
    "custom_vjp": lambda t, i, p: thrice(t[i]),
    "checkpoint of rows": lambda t, i, p: jax.checkpoint(jnp.sin)(t[i]),
    "sort": lambda t, i, p: jnp.sort(t[i].reshape(-1)),
    "associative_scan": lambda t, i, p: lax.associative_scan(jnp.add, t[i]),
    "stopped rows": lambda t, i, p: t[i] + lax.stop_gradient(t[i]),
}


def polynomial(rows):
    """A scalar whose derivative tells rows and elements apart."""
    numbers = jnp.arange(rows.size).reshape(rows.shape) % 3 + 1
    return jnp.sum((rows * rows + 3 * rows) * numbers.astype(rows.dtype), dtype=jnp.float32)


def composed(*steps, lookup="indexing", total=polynomial):
    def loss(p, i):
        t = p["t"]
        for name in steps:
            t = STEPS[name](t, p)
        return total(LOOKUPS[lookup](t, i, p))

    return loss


assert not STEPS.keys() & LOOKUPS.keys()
# One step, or one lookup of an array that is computed first.
PATTERNS = {name: composed(name) for name in STEPS}
PATTERNS |= {name: composed("tanh", lookup=name) for name in LOOKUPS}


# --- programs around losses ---

ROUNDS = jnp.arange(3, dtype=jnp.int32)


def of_round(loss, p, i, n):
    """The loss of a round of a loop, with parameters and indices of its own."""
    return loss({**p, "c": (n + 1).astype(p["c"].dtype) * p["c"]}, (i + n.astype(i.dtype)) % ROWS)


def zero(i):
    """A start of a loop, which varies over devices as indices do."""
    return 0.0 * i.reshape(-1)[0].astype(jnp.float32)


def in_scan(loss, **options):
    def scanned(p, i):
        step = lambda so_far, n: (so_far + of_round(loss, p, i, n), None)  # noqa: E731
        return lax.scan(step, zero(i), ROUNDS, **options)[0]

    return scanned


def in_carry(loss, wrap):
    """Parameters go from round to round, and a table is looked up in the loop and behind it."""

    def scanned(p, i):
        def step(carry, n):
            p, so_far = carry
            return (p, so_far + of_round(loss, p, i, n)), None

        (p, so_far), _ = lax.scan(wrap(step), (p, zero(i)), ROUNDS)
        return so_far + polynomial(p["t"][i])

    return scanned


def in_fori_loop(loss):
    def step(p, i):
        return lambda n, so_far: so_far + of_round(loss, p, i, jnp.asarray(n))

    return lambda p, i: lax.fori_loop(0, 3, step(p, i), zero(i))


def in_map(loss, mapped=lax.map):
    return lambda p, i: mapped(lambda n: of_round(loss, p, i, n), ROUNDS).sum()


def in_cond(loss, other):
    return lambda p, i: lax.cond(p["w"][0, 0] > 0, loss, other(loss), p, i)


def negated(loss):
    return lambda p, i: loss({**p, "t": -p["t"]}, i)


def of_nothing(loss):
    return lambda p, i: zero(i)


CARRIED = {
    "carry": lambda step: step,
    "carry through jit": jax.jit,
    "carry through checkpoint": jax.checkpoint,
    "carry through checkpoint in jit": lambda step: jax.jit(jax.checkpoint(step)),
    "carry through cond": lambda step: (
        lambda c, n: (
            lax.cond(n > 0, lambda c: step(c, n)[0], lambda c: c, c),
            None,
        )
    ),
    "carry through scan": lambda step: lambda c, n: lax.scan(jax.jit(step), c, n + ROUNDS[:2]),
}
POLICIES = {
    name: functools.partial(jax.checkpoint, policy=getattr(jax.checkpoint_policies, name))
    for name in ("everything_saveable", "nothing_saveable", "dots_saveable")
}
# Of a function of parameters and indices. Branches are chosen by a weight, as `vmap` copies the
# table for a branching that differs between its examples.
WITHIN = {
    "jit": jax.jit,
    "jit of indices": lambda loss: lambda p, i: jax.jit(lambda i: loss(p, i))(i),
    "checkpoint": jax.checkpoint,
    **POLICIES,
    "scan": in_scan,
    "scan backwards": functools.partial(in_scan, reverse=True),
    "scan unrolled": functools.partial(in_scan, unroll=2),
    "scan of checkpoints": lambda loss: in_scan(jax.checkpoint(loss)),
    **{name: functools.partial(in_carry, wrap=wrap) for name, wrap in CARRIED.items()},
    "fori_loop": in_fori_loop,
    "map": in_map,
    "map in batches": functools.partial(in_map, mapped=functools.partial(lax.map, batch_size=2)),
    "vmap": functools.partial(in_map, mapped=lambda f, xs: jax.vmap(f)(xs)),
    "vmap of indices": lambda loss: (
        lambda p, i: jax.vmap(loss, (None, 0))(p, jnp.stack([i, (i + 1) % ROWS])).sum()
    ),
    "cond": functools.partial(in_cond, other=negated),
    "cond, one reads": functools.partial(in_cond, other=of_nothing),
    "switch": lambda loss: (
        lambda p, i: lax.switch(
            p["w"][0, 0].astype(jnp.int32), [of_nothing(loss), loss, negated(loss)], p, i
        )
    ),
}


def assert_rows_first(loss, p, i: Any = INDICES, tables=("t",), tolerance=1e-5, **options):
    """As jax.value_and_grad; returns the gradients, which are sparse for the tables."""
    grads = assert_sparse(loss, p, i, tables=tables, tolerance=tolerance, **options)
    for slices in map(grads.get, tables):
        assert isinstance(slices, jaxops.IndexedSlices)
        indices = np.asarray(slices.indices)  # stacked, if `run` maps over axes
        depth = len(slices.dense_shape) + indices.ndim - slices.values.ndim
        rows = math.prod(slices.dense_shape[:depth])
        assert ((indices >= 0) & (indices <= rows)).all()
        assert not slices.values[indices == rows].any()
    return grads
