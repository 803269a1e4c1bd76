"""Rows of the gathers, the scatters and the slices."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from peers import compiled_by_numba, keras, tf, torch
from row import Row, bfloat16s, bools, floats, ints, pairs, permutation

import jaxops

EVERY = "throughput tiny compile gradients bounds"
BIG = "throughput gradients bounds"


def in_turn(indices, updates, size):
    sums = np.zeros(size, updates.dtype)
    for n in range(len(updates)):
        sums[indices[n, 0]] += updates[n]
    return sums


scattered = compiled_by_numba(in_turn)

GATHERS = [
    Row(
        "gather",
        "65,536 rows of 128 f32",
        lambda n: (floats(n(65_536, 4), n(128, 3)), ints(n(65_536, 4), n(65_536, 3))),
        jaxops=lambda p, i, **k: jaxops.gather(p, i, **k),
        tensorflow=lambda p, i: tf.gather(p, i),
        jnp=lambda p, i: p[i],
        keras=lambda p, i: keras.ops.take(p, i, axis=0),
        torch=lambda p, i: torch.index_select(p, 0, i),
        groups=f"{EVERY} bandwidth",
        moves="part",
        quick=True,
    ),
    Row(
        "gather",
        "131,072 rows of 64 bf16, 1,000 distinct",
        lambda n: (bfloat16s(n(1000, 4), n(64, 3)), ints(n(1000, 4), n(131_072, 3))),
        jaxops=lambda p, i, **k: jaxops.gather(p, i, **k),
        tensorflow=lambda p, i: tf.gather(p, i),
        jnp=lambda p, i: p[i],
        keras=lambda p, i: keras.ops.take(p, i, axis=0),
        torch=lambda p, i: torch.index_select(p, 0, i),
        groups="throughput bounds",
    ),
    Row(
        "gather",
        "1M single f32",
        lambda n: (floats(n(1_000_000, 4)), ints(n(1_000_000, 4), n(1_000_000, 3))),
        jaxops=lambda p, i, **k: jaxops.gather(p, i, **k),
        tensorflow=lambda p, i: tf.gather(p, i),
        jnp=lambda p, i: p[i],
        keras=lambda p, i: keras.ops.take(p, i, axis=0),
        torch=lambda p, i: torch.index_select(p, 0, i),
        numpy=lambda p, i: p.take(i),
        groups=BIG,
    ),
    Row(
        "gather",
        "1,024 of 4,096 columns, last axis, f32",
        lambda n: (floats(n(2048, 4), n(4096, 4)), ints(n(4096, 4), n(1024, 3))),
        jaxops=lambda p, i, **k: jaxops.gather(p, i, axis=-1, **k),
        tensorflow=lambda p, i: tf.gather(p, i, axis=-1),
        jnp=lambda p, i: p[:, i],
        keras=lambda p, i: keras.ops.take(p, i, axis=-1),
        torch=lambda p, i: torch.index_select(p, 1, i),
        groups=BIG,
    ),
    Row(
        "gather",
        "middle axis, 64 x 256 of 512 x 128 f32",
        lambda n: (floats(n(64, 2), n(512, 4), n(128, 3)), ints(n(512, 4), n(256, 3))),
        jaxops=lambda p, i, **k: jaxops.gather(p, i, axis=1, **k),
        tensorflow=lambda p, i: tf.gather(p, i, axis=1),
        jnp=lambda p, i: p[:, i],
        keras=lambda p, i: keras.ops.take(p, i, axis=1),
        torch=lambda p, i: torch.index_select(p, 1, i),
        groups="throughput bounds",
    ),
    Row(
        "gather",
        "batch_dims=1, 64 x 512 rows of 128 f32",
        lambda n: (floats(n(64, 2), n(512, 4), n(128, 3)), ints(n(512, 4), n(64, 2), n(512, 3))),
        jaxops=lambda p, i, **k: jaxops.gather(p, i, batch_dims=1, **k),
        tensorflow=lambda p, i: tf.gather(p, i, batch_dims=1),
        jnp=lambda p, i: jax.vmap(lambda rows, at: rows[at])(p, i),
        keras=lambda p, i: keras.ops.take_along_axis(p, i[:, :, None], axis=1),
        torch=lambda p, i: p[torch.arange(len(p))[:, None], i],
        groups=BIG,
    ),
    Row(
        "batch_gather",
        "64 x 16,384 single f32",
        lambda n: (floats(n(64, 2), n(16_384, 4)), ints(n(16_384, 4), n(64, 2), n(16_384, 3))),
        jaxops=lambda p, i, **k: jaxops.batch_gather(p, i, **k),
        tensorflow=lambda p, i: tf.gather(p, i, batch_dims=-1),
        jnp=lambda p, i: jnp.take_along_axis(p, i, axis=1),
        keras=lambda p, i: keras.ops.take_along_axis(p, i, axis=1),
        torch=lambda p, i: torch.take_along_dim(p, i.long(), 1),
        groups="throughput tiny gradients bounds",
    ),
    Row(
        "gather_nd",
        "1M single f32",
        lambda n: (floats(n(1000, 4), n(1000, 4)), pairs(n(1000, 4), n(1000, 4), n(1_000_000, 3))),
        jaxops=lambda p, i, **k: jaxops.gather_nd(p, i, **k),
        tensorflow=lambda p, i: tf.gather_nd(p, i),
        jnp=lambda p, i: p[i[:, 0], i[:, 1]],
        keras=lambda p, i: p[i[:, 0], i[:, 1]],
        torch=lambda p, i: p[i[:, 0], i[:, 1]],
        groups=EVERY,
        quick=True,
    ),
    Row(
        "gather_nd",
        "1M single bool",
        lambda n: (bools(n(1000, 4), n(1000, 4)), pairs(n(1000, 4), n(1000, 4), n(1_000_000, 3))),
        jaxops=lambda p, i, **k: jaxops.gather_nd(p, i, **k),
        tensorflow=lambda p, i: tf.gather_nd(p, i),
        jnp=lambda p, i: p[i[:, 0], i[:, 1]],
        torch=lambda p, i: p[i[:, 0], i[:, 1]],
        groups="throughput bounds",
    ),
    Row(
        "gather_nd",
        "65,536 rows of 128 f32",
        lambda n: (
            floats(n(256, 4), n(256, 4), n(128, 3)),
            pairs(n(256, 4), n(256, 4), n(65_536, 3)),
        ),
        jaxops=lambda p, i, **k: jaxops.gather_nd(p, i, **k),
        tensorflow=lambda p, i: tf.gather_nd(p, i),
        jnp=lambda p, i: p[i[:, 0], i[:, 1]],
        torch=lambda p, i: p[i[:, 0], i[:, 1]],
        groups=BIG,
    ),
    Row(
        "gather_nd",
        "batch_dims=1, 64 x 16,384 single f32",
        lambda n: (floats(n(64, 2), n(16_384, 4)), ints(n(16_384, 4), n(64, 2), n(16_384, 3), 1)),
        jaxops=lambda p, i, **k: jaxops.gather_nd(p, i, batch_dims=1, **k),
        tensorflow=lambda p, i: tf.gather_nd(p, i, batch_dims=1),
        jnp=lambda p, i: jnp.take_along_axis(p, i[:, :, 0], axis=1),
        torch=lambda p, i: torch.take_along_dim(p, i[:, :, 0].long(), 1),
        groups="throughput bounds",
    ),
]

SCATTERS = [
    Row(
        "scatter_nd",
        "1M f32 to 1,000 places",
        lambda n: (ints(n(1000, 4), n(1_000_000, 3), 1), floats(n(1_000_000, 3)), n(1000, 4)),
        jaxops=lambda i, u, size, **k: jaxops.scatter_nd(i, u, [size], **k),
        tensorflow=lambda i, u, size: tf.scatter_nd(i, u, [size]),
        jnp=lambda i, u, size: jnp.zeros(size, u.dtype).at[i[:, 0]].add(u),
        keras=lambda i, u, size: keras.ops.scatter(i, u, (size,)),
        torch=lambda i, u, size: u.new_zeros(size).index_add(0, i[:, 0], u),
        numpy=lambda i, u, size: np.bincount(i[:, 0], u, size).astype(u.dtype),
        numba=scattered,
        groups="throughput tiny compile gradients bounds",
        differentiated=(1,),
        quick=True,
    ),
    Row(
        "scatter_nd",
        "1M f32 to 1M places",
        lambda n: (
            ints(n(1_000_000, 4), n(1_000_000, 3), 1),
            floats(n(1_000_000, 3)),
            n(1_000_000, 4),
        ),
        jaxops=lambda i, u, size, **k: jaxops.scatter_nd(i, u, [size], **k),
        tensorflow=lambda i, u, size: tf.scatter_nd(i, u, [size]),
        jnp=lambda i, u, size: jnp.zeros(size, u.dtype).at[i[:, 0]].add(u),
        keras=lambda i, u, size: keras.ops.scatter(i, u, (size,)),
        torch=lambda i, u, size: u.new_zeros(size).index_add(0, i[:, 0], u),
        numpy=lambda i, u, size: np.bincount(i[:, 0], u, size).astype(u.dtype),
        numba=scattered,
        groups="throughput bounds",
    ),
    Row(
        "scatter_nd",
        "65,536 rows of 128 f32 to as many",
        lambda n: (
            ints(n(65_536, 4), n(65_536, 3), 1),
            floats(n(65_536, 3), n(128, 3)),
            n(65_536, 4),
        ),
        jaxops=lambda i, u, size, **k: jaxops.scatter_nd(i, u, [size, u.shape[1]], **k),
        tensorflow=lambda i, u, size: tf.scatter_nd(i, u, [size, u.shape[1]]),
        jnp=lambda i, u, size: jnp.zeros((size, u.shape[1]), u.dtype).at[i[:, 0]].add(u),
        keras=lambda i, u, size: keras.ops.scatter(i, u, (size, u.shape[1])),
        torch=lambda i, u, size: u.new_zeros(size, u.shape[1]).index_add(0, i[:, 0], u),
        groups="throughput gradients bounds",
        differentiated=(1,),
    ),
    Row(
        "tensor_scatter_nd_add",
        "65,536 rows of 128 f32",
        lambda n: (
            floats(n(65_536, 4), n(128, 3)),
            ints(n(65_536, 4), n(65_536, 3), 1),
            floats(n(65_536, 3), n(128, 3)),
        ),
        jaxops=lambda t, i, u, **k: jaxops.tensor_scatter_nd_add(t, i, u, **k),
        tensorflow=lambda t, i, u: tf.tensor_scatter_nd_add(t, i, u),
        jnp=lambda t, i, u: t.at[i[:, 0]].add(u),
        torch=lambda t, i, u: t.index_add(0, i[:, 0], u),
        groups=EVERY,
        differentiated=(0, 2),
        quick=True,
    ),
    Row(
        "tensor_scatter_nd_add",
        "65,536 rows of 128 f32 to 100 rows",
        lambda n: (
            floats(n(100, 4), n(128, 3)),
            ints(n(100, 4), n(65_536, 3), 1),
            floats(n(65_536, 3), n(128, 3)),
        ),
        jaxops=lambda t, i, u, **k: jaxops.tensor_scatter_nd_add(t, i, u, **k),
        tensorflow=lambda t, i, u: tf.tensor_scatter_nd_add(t, i, u),
        jnp=lambda t, i, u: t.at[i[:, 0]].add(u),
        torch=lambda t, i, u: t.index_add(0, i[:, 0], u),
        groups="throughput bounds",
    ),
    Row(
        "tensor_scatter_nd_sub",
        "1M single int32",
        lambda n: (
            ints(99, n(1000, 4), n(1000, 4)),
            pairs(n(1000, 4), n(1000, 4), n(1_000_000, 3)),
            ints(99, n(1_000_000, 3)),
        ),
        jaxops=lambda t, i, u, **k: jaxops.tensor_scatter_nd_sub(t, i, u, **k),
        tensorflow=lambda t, i, u: tf.tensor_scatter_nd_sub(t, i, u),
        jnp=lambda t, i, u: t.at[i[:, 0], i[:, 1]].subtract(u),
        torch=lambda t, i, u: t.index_put((i[:, 0], i[:, 1]), -u, accumulate=True),
        groups="throughput tiny bounds",
    ),
    *(
        Row(
            f"tensor_scatter_nd_{kind}",
            "1M single f32",
            lambda n: (
                floats(n(1000, 4), n(1000, 4)),
                pairs(n(1000, 4), n(1000, 4), n(1_000_000, 3)),
                floats(n(1_000_000, 3)),
            ),
            jaxops=lambda t, i, u, op=f"tensor_scatter_nd_{kind}", **k: getattr(jaxops, op)(
                t, i, u, **k
            ),
            tensorflow=lambda t, i, u, op=f"tensor_scatter_nd_{kind}": getattr(tf, op)(t, i, u),
            jnp=lambda t, i, u, kind=kind: getattr(t.at[i[:, 0], i[:, 1]], kind)(u),
            torch=lambda t, i, u, kind=kind: (
                t.flatten()
                .scatter_reduce(0, i[:, 0].long() * t.shape[1] + i[:, 1], u, f"a{kind}")
                .reshape(t.shape)
            ),
            groups="throughput tiny bounds",
        )
        for kind in ("min", "max")
    ),
    Row(
        "tensor_scatter_nd_update",
        "1M single f32, no duplicates",
        lambda n: (
            floats(n(1_000_000, 4)),
            permutation(n(1_000_000, 4))[:, None],
            floats(n(1_000_000, 4)) + 1,
        ),
        jaxops=lambda t, i, u, **k: jaxops.tensor_scatter_nd_update(t, i, u, **k),
        tensorflow=lambda t, i, u: tf.tensor_scatter_nd_update(t, i, u),
        jnp=lambda t, i, u: t.at[i[:, 0]].set(u),
        keras=lambda t, i, u: keras.ops.scatter_update(t, i, u),
        torch=lambda t, i, u: t.index_copy(0, i[:, 0].long(), u),
        groups="throughput tiny bounds",
    ),
    Row(
        "tensor_scatter_nd_update",
        "16,384 of 65,536 rows of 128 f32",
        lambda n: (
            floats(n(65_536, 4), n(128, 3)),
            permutation(n(65_536, 4))[: n(16_384, 2), None],
            floats(n(16_384, 2), n(128, 3)) + 1,
        ),
        jaxops=lambda t, i, u, **k: jaxops.tensor_scatter_nd_update(t, i, u, **k),
        tensorflow=lambda t, i, u: tf.tensor_scatter_nd_update(t, i, u),
        jnp=lambda t, i, u: t.at[i[:, 0]].set(u),
        keras=lambda t, i, u: keras.ops.scatter_update(t, i, u),
        torch=lambda t, i, u: t.index_copy(0, i[:, 0].long(), u),
        groups="throughput gradients bounds",
        differentiated=(0, 2),
    ),
]

SLICES = [
    Row(
        "slice",
        "3,000 x 2,000 of 4,000 x 4,000 f32, traced begin",
        lambda n: (
            floats(n(4000, 5), n(4000, 4)),
            ints(n(1000, 2), 2),
            n(3000, 2),
            n(2000, 2),
        ),
        jaxops=lambda x, begin, rows, columns, **k: jaxops.slice(x, begin, [rows, columns], **k),
        tensorflow=lambda x, begin, rows, columns: tf.slice(x, begin, [rows, columns]),
        jnp=lambda x, begin, rows, columns: jax.lax.dynamic_slice(x, begin, (rows, columns)),
        keras=lambda x, begin, rows, columns: keras.ops.slice(x, begin, (rows, columns)),
        groups=f"{EVERY} bandwidth",
        moves="part",
    ),
    Row(
        "strided_slice",
        "[1:-1, 1:-1] of 4,000 x 4,000 f32",
        lambda n: (floats(n(4000, 5), n(4000, 4)),),
        jaxops=lambda x: jaxops.strided_slice(x, [1, 1], [-1, -1]),
        tensorflow=lambda x: tf.strided_slice(x, [1, 1], [-1, -1]),
        jnp=lambda x: x[1:-1, 1:-1],
        keras=lambda x: x[1:-1, 1:-1],
        torch=lambda x: x[1:-1, 1:-1].contiguous(),
        groups="throughput tiny compile gradients bandwidth",
        moves="part",
    ),
    Row(
        "strided_slice",
        "[::2, ::-3] of 4,000 x 4,000 int32",
        lambda n: (ints(99, n(4000, 5), n(4000, 4)),),
        jaxops=lambda x: jaxops.strided_slice(
            x, *jaxops.strided_slice_spec((slice(None, None, 2), slice(None, None, -3)))
        ),
        tensorflow=lambda x: x[::2, ::-3],
        jnp=lambda x: x[::2, ::-3],
    ),
    Row(
        "strided_slice",
        "[traced] of 16 x 2,000 x 1,000 f32",
        lambda n: (floats(n(16, 3), n(2000, 4), n(1000, 3)), ints(n(16, 3), 1)),
        jaxops=lambda x, i, **k: jaxops.strided_slice(x, i, i + 1, [1], shrink_axis_mask=1, **k),
        tensorflow=lambda x, i: tf.strided_slice(x, i, i + 1, [1], shrink_axis_mask=1),
        jnp=lambda x, i: x[i[0]],
        torch=lambda x, i: x[i[0]].clone(),
        groups="throughput bounds",
        shares_memory=("tensorflow",),
    ),
    Row(
        "strided_slice_spec",
        "three entries",
        lambda n: (),
        jaxops=lambda: jaxops.strided_slice_spec((1, slice(2, None, -1), None)),
        groups="tiny",
        note="no peer has it",
    ),
]

ROWS = [*GATHERS, *SCATTERS, *SLICES]
