"""What is compiled for accelerators: a call of each function, beside what users of JAX write.

An idiom means the same on a device: what is out of bounds, or negative, reads 0 and writes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from rows_blocks import (
    jnp_batch_to_space,
    jnp_depth_to_space,
    jnp_patches,
    jnp_space_to_batch,
    jnp_space_to_depth,
)

import jaxops


class Work(NamedTuple):
    """A call `jaxops(*arguments)`, and `idiom`, which has the same results.

    Arguments are shapes with a dtype. Floats are data: they are differentiated, and compiled in
    other dtypes too. One of `other_sizes` is compiled in float32 alone, and without `vmap`.
    """

    op: str
    what: str
    jaxops: Callable[..., Any]
    idiom: Callable[..., Any]
    arguments: tuple[Any, ...]
    quick: bool = False
    other_sizes: bool = False


def data(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def ids(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def mask(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.bool_)


# --- gathers ---


def beyond(i, size):
    """Negative indices out of bounds, where `.at` takes them from the end."""
    return jnp.where(i < 0, size, i)


def take(p, i, axis=0):
    at = (slice(None),) * axis + (beyond(i, p.shape[axis]),)
    return p.at[at].get(mode="fill", fill_value=0)


def along(p, i, axis):
    i = beyond(i, p.shape[axis])
    return jnp.take_along_axis(p, i, axis, mode="fill", fill_value=0)


def take_nd(p, i):
    at = tuple(beyond(i[..., k], p.shape[k]) for k in range(i.shape[-1]))
    return p.at[at].get(mode="fill", fill_value=0)


GATHERS = [
    Work("gather", "rows of 128", jaxops.gather, take, (data(65536, 128), ids(8192)), True),
    Work("gather", "single elements", jaxops.gather, take, (data(1 << 20), ids(1 << 16)), True),
    Work(
        "gather",
        "last axis",
        partial(jaxops.gather, axis=-1),
        partial(take, axis=1),
        (data(2048, 4096), ids(1024)),
    ),
    Work(
        "gather",
        "middle axis",
        partial(jaxops.gather, axis=1),
        partial(take, axis=1),
        (data(64, 512, 128), ids(256)),
    ),
    Work(
        "gather",
        "batch_dims=1",
        partial(jaxops.gather, batch_dims=1),
        jax.vmap(take),
        (data(64, 512, 128), ids(64, 512)),
    ),
    Work("batch_gather", "", jaxops.batch_gather, jax.vmap(take), (data(64, 4096), ids(64, 1024))),
    Work(
        "take_along_axis",
        "last axis",
        jaxops.take_along_axis,
        partial(along, axis=-1),
        (data(1024, 4096), ids(1024, 1024)),
    ),
    Work(
        "take_along_axis",
        "first axis",
        partial(jaxops.take_along_axis, axis=0),
        partial(along, axis=0),
        (data(4096, 1024), ids(1024, 1024)),
    ),
    Work(
        "gather_nd",
        "single elements",
        jaxops.gather_nd,
        take_nd,
        (data(1000, 1000), ids(1 << 16, 2)),
    ),
    Work("gather_nd", "rows", jaxops.gather_nd, take_nd, (data(256, 256, 128), ids(8192, 2))),
    Work(
        "gather_nd",
        "batch_dims=1",
        partial(jaxops.gather_nd, batch_dims=1),
        jax.vmap(take_nd),
        (data(64, 4096), ids(64, 1024, 1)),
    ),
]

# --- embeddings ---


def by_row(ids, weights=None):
    """A sparse tensor with 8 values in each row."""
    places = jnp.stack(jnp.unravel_index(jnp.arange(ids.size), (ids.size // 8, 8)), axis=-1)
    values = ids if weights is None else weights
    return jaxops.SparseTensor(places, values, (ids.size // 8, 8))


def means_of_rows(t, i):
    return take(t, i).reshape(-1, 8, t.shape[1]).mean(1)


def weighted_rows(t, i, w):
    return (take(t, i) * w[:, None]).reshape(-1, 8, t.shape[1]).sum(1)


EMBEDDINGS = [
    Work("embedding_lookup", "", jaxops.embedding_lookup, take, (data(65536, 128), ids(8192))),
    Work(
        "embedding_lookup_sparse",
        "mean",
        lambda t, i: jaxops.embedding_lookup_sparse(t, by_row(i), None),
        means_of_rows,
        (data(65536, 128), ids(8192)),
    ),
    Work(
        "safe_embedding_lookup_sparse",
        "weighted sum",
        lambda t, i, w: jaxops.safe_embedding_lookup_sparse(t, by_row(i), by_row(i, w), "sum"),
        weighted_rows,
        (data(65536, 128), ids(8192), data(8192)),
    ),
]

# --- scatters ---


def put(kind):
    def scatter(t, i, u):
        at = tuple(beyond(i[..., k], t.shape[k]) for k in range(i.shape[-1]))
        return getattr(t.at[at], kind)(u, mode="drop")

    return scatter


def add_to_zeros(*shape):
    return lambda i, u: put("add")(jnp.zeros(shape, u.dtype), i, u)


def scatter_nd(what, shape, indices, updates, quick=False):
    return Work(
        "scatter_nd",
        what,
        lambda i, u: jaxops.scatter_nd(i, u, shape),
        add_to_zeros(*shape),
        (ids(*indices), data(*updates)),
        quick,
    )


def segments(kind):
    """The idiom of `unsorted_segment_*`: `jax.ops`, and what users of it divide by."""

    def reduce(x, i):
        i = beyond(i, 1000)
        if kind not in ("mean", "sqrt_n"):
            return getattr(jax.ops, f"segment_{kind}")(x, i, 1000)
        counts = jax.ops.segment_sum(jnp.ones(i.shape, x.dtype), i, 1000)
        divisors = jnp.maximum(counts, 1)[:, None]
        divisors = jnp.sqrt(divisors) if kind == "sqrt_n" else divisors
        return jax.ops.segment_sum(x, i, 1000) / divisors

    def finite(x, i):
        result = reduce(x, i)
        if kind not in ("min", "max") or jnp.issubdtype(x.dtype, jnp.integer):
            return result
        # Where there is nothing to reduce TensorFlow has the largest finite number, not infinity.
        info = jnp.finfo(x.dtype)
        return jnp.clip(result, info.min, info.max)

    return finite


SEGMENTS = [
    Work(
        f"unsorted_segment_{kind}",
        "rows of 32",
        partial(getattr(jaxops, f"unsorted_segment_{kind}"), num_segments=1000),
        segments(kind),
        (data(8192, 32), ids(8192)),
    )
    for kind in ("sum", "mean", "sqrt_n", "prod", "min", "max")
]


def softmax(x, i):
    """A softmax by the reductions of `jax.ops`, as users of graph networks write it."""
    i = beyond(i, 1000)
    x = jnp.exp(x - jax.ops.segment_max(lax.stop_gradient(x), i, 1000)[i])
    return x / jax.ops.segment_sum(x, i, 1000)[i]


def logsumexp(x, i):
    i = beyond(i, 1000)
    maxima = jax.ops.segment_max(lax.stop_gradient(x), i, 1000)
    maxima = jnp.where(jnp.isfinite(maxima), maxima, 0)
    return jnp.log(jax.ops.segment_sum(jnp.exp(x - maxima[i]), i, 1000)) + maxima


def moments(x, i):
    i = beyond(i, 1000)
    counts = jnp.maximum(jax.ops.segment_sum(jnp.ones(i.shape, x.dtype), i, 1000), 1)[:, None]
    mean = jax.ops.segment_sum(x, i, 1000) / counts
    return mean, jax.ops.segment_sum((x - mean[i]) ** 2, i, 1000) / counts


SEGMENTS += [
    Work(
        f"segment_{idiom.__name__}",
        "rows of 32",
        partial(getattr(jaxops, f"segment_{idiom.__name__}"), num_segments=1000),
        idiom,
        (data(8192, 32), ids(8192)),
    )
    for idiom in (softmax, logsumexp, moments)
]


def of_few(function):
    """With 0 for a segment without rows, as TensorFlow has it for sorted ones."""

    def reduce(x, i):
        counts = jax.ops.segment_sum(jnp.ones(i.shape, jnp.int32), i, 1000)
        return jnp.where(counts[:, None] == 0, 0, function(x, i))

    return reduce


SEGMENTS += [
    Work(
        f"segment_{kind}",
        "rows of 32",
        partial(getattr(jaxops, f"segment_{kind}"), num_segments=1000),
        of_few(segments(kind)) if kind in ("min", "max") else segments(kind),
        (data(8192, 32), ids(8192)),
    )
    for kind in ("sum", "mean", "prod", "min", "max")
]


def sparse_segments(kind):
    reduce = segments(kind)
    return lambda x, i, s: reduce(take(x, i), s)


SEGMENTS += [
    Work(
        f"sparse_segment_{kind}",
        "rows of 32",
        partial(getattr(jaxops, f"sparse_segment_{kind}"), num_segments=1000),
        sparse_segments(kind),
        (data(4096, 32), ids(8192), ids(8192)),
    )
    for kind in ("sum", "mean", "sqrt_n")
]

KINDS = {"add": "add", "sub": "subtract", "max": "max", "min": "min", "update": "set"}
SCATTERS = [
    scatter_nd("single elements", (1000,), (1 << 16, 1), (1 << 16,), True),
    scatter_nd("pairs", (1000, 2), (1 << 16, 1), (1 << 16, 2)),
    scatter_nd("rows of 3", (1000, 3), (1 << 16, 1), (1 << 16, 3), True),
    scatter_nd("rows of 65", (1000, 65), (1 << 16, 1), (1 << 16, 65)),
    scatter_nd("rows of 128", (65536, 128), (8192, 1), (8192, 128)),
    scatter_nd("single elements of a matrix", (1000, 1000), (1 << 16, 2), (1 << 16,)),
    *(
        Work(
            f"tensor_scatter_nd_{kind}",
            "rows of 128",
            getattr(jaxops, f"tensor_scatter_nd_{kind}"),
            put(method),
            (data(65536, 128), ids(8192, 1), data(8192, 128)),
        )
        for kind, method in KINDS.items()
    ),
]

# --- slices ---


def window(x, begin, size):
    """The elements at `begin + [0, size)`, and 0 outside of `x`.

    As XLA moves a window until it fits, it reads from `x` with a window of zeros on each side.
    """
    padded = jnp.pad(x, [(s, s) for s in size])
    at = [jnp.clip(b + s, 0, d + s) for b, s, d in zip(begin, size, x.shape, strict=True)]
    return lax.dynamic_slice(padded, at, size)


SLICES = [
    Work(
        "slice",
        "static begin",
        lambda x: jaxops.slice(x, [3, 5], [1024, 512]),
        lambda x: x[3:1027, 5:517],
        (data(4096, 1024),),
    ),
    Work(
        "slice",
        "traced begin",
        lambda x, b: jaxops.slice(x, b, [1024, 512]),
        lambda x, b: window(x, [b[0], b[1]], (1024, 512)),
        (data(4096, 1024), ids(2)),
        True,
    ),
    Work(
        "strided_slice",
        "steps",
        lambda x: jaxops.strided_slice(x, [0, -1], [4096, -1025], [2, -3]),
        lambda x: x[::2, ::-3],
        (data(4096, 1024),),
    ),
    Work(
        "strided_slice",
        "one traced row",
        lambda x, i: jaxops.strided_slice(x, i, i + 1, [1], shrink_axis_mask=1),
        lambda x, i: take(x, jnp.where(i[0] < 0, i[0] + x.shape[0], i[0])),
        (data(4096, 1024), ids(1)),
    ),
]

# --- shapes that depend on data ---


def masked(x, m, size):
    (places,) = jnp.nonzero(m, size=size, fill_value=m.size)
    return x.at[places].get(mode="fill", fill_value=0)


def partitioned(x, numbers, parts, size):
    """By a stable sort; a number out of bounds is no part's."""
    keys = jnp.where((numbers >= 0) & (numbers < parts), numbers, parts)
    order = jnp.argsort(keys, stable=True)
    ends = jnp.searchsorted(keys[order], jnp.arange(parts + 1, dtype=keys.dtype))
    at = ends[:-1, None] + jnp.arange(size)[None]
    at = jnp.where(at < ends[1:, None], at, x.shape[0])
    rows = x.at[order.at[at].get(mode="fill", fill_value=x.shape[0])]
    return list(rows.get(mode="fill", fill_value=0))


def stitched(i, d, size):
    """Which of several rows stays at a place is not said."""
    at = beyond(jnp.concatenate(i), size)
    rows = jnp.concatenate(d)
    return jnp.zeros((size, *rows.shape[1:]), rows.dtype).at[at].set(rows, mode="drop")


def others(x, y, size):
    (places,) = jnp.nonzero(~jnp.isin(x, y), size=size, fill_value=x.size)
    return x.at[places].get(mode="fill", fill_value=0), places


def distinct(x, size, counts=False):
    """Sorted values, where TensorFlow has them by first occurrence."""
    return jnp.unique(x, return_inverse=True, return_counts=counts, size=size)


DATA_DEPENDENT = [
    Work(
        "boolean_mask",
        "rows",
        lambda x, m: jaxops.boolean_mask(x, m, size=32768),
        partial(masked, size=32768),
        (data(65536, 32), mask(65536)),
    ),
    Work(
        "where",
        "of two matrices",
        jaxops.where,
        jnp.where,
        (mask(2048, 2048), data(2048, 2048), data(2048, 2048)),
    ),
    Work(
        "where",
        "positions",
        lambda m: jaxops.where(m, size=32768),
        lambda m: jnp.argwhere(m, size=32768, fill_value=0),
        (mask(256, 256),),
    ),
    Work(
        "repeat",
        "evenly",
        lambda x: jaxops.repeat(x, 3, 0),
        lambda x: jnp.repeat(x, 3, 0),
        (data(8192, 128),),
    ),
    Work(
        "repeat",
        "with size=",
        lambda x, n: jaxops.repeat(x, n, 0, size=8192),
        lambda x, n: jnp.repeat(x, n, 0, total_repeat_length=8192),
        (data(8192, 128), ids(8192)),
    ),
    Work(
        "sequence_mask",
        "",
        lambda n: jaxops.sequence_mask(n, 512),
        lambda n: jnp.arange(512)[None] < n[:, None],
        (ids(4096),),
    ),
    Work(
        "searchsorted",
        "in 1,000",
        jaxops.searchsorted,
        jnp.searchsorted,
        (ids(1000), ids(1 << 16)),
    ),
    Work(
        "dynamic_partition",
        "8 parts",
        lambda x, n: jaxops.dynamic_partition(x, n, 8, size=8192),
        partial(partitioned, parts=8, size=8192),
        (data(65536, 32), ids(65536)),
    ),
    Work(
        "dynamic_stitch",
        "8 parts",
        lambda i, d: jaxops.dynamic_stitch(i, d, size=65536),
        partial(stitched, size=65536),
        ([ids(8192)] * 8, [data(8192, 32)] * 8),
    ),
    Work(
        "setdiff1d",
        "65,536 elements",
        lambda x, y: jaxops.setdiff1d(x, y, size=1 << 16),
        partial(others, size=1 << 16),
        (ids(1 << 16), ids(1 << 16)),
    ),
    Work(
        "unique",
        "65,536 elements",
        lambda x: jaxops.unique(x, size=1000),
        partial(distinct, size=1000),
        (ids(1 << 16),),
    ),
    Work(
        "unique_with_counts",
        "1,000,000 elements",
        lambda x: jaxops.unique_with_counts(x, size=1000),
        partial(distinct, size=1000, counts=True),
        (ids(1_000_000),),
    ),
    Work(
        "one_hot",
        "f32",
        lambda i: jaxops.one_hot(i, 200),
        lambda i: jax.nn.one_hot(i, 200),
        (ids(65536),),
    ),
]

# --- what moves data ---


def reversed_prefixes(x, lengths):
    at = jnp.arange(x.shape[1])[None]
    lengths = jnp.clip(lengths, 0, x.shape[1])[:, None]
    at = jnp.where(at < lengths, lengths - 1 - at, at)
    return jnp.take_along_axis(x, at[:, :, None], axis=1)


def shuffle_channels(x):
    return jnp_depth_to_space(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


def unraveled(i):
    """Of 1,024 columns; what is out of bounds reads 0."""
    i = jnp.where((i >= 0) & (i < 1 << 20), i, 0)
    return jnp.stack(jnp.unravel_index(i, (1024, 1024)))


def inverted(x):
    """Of numbers that stand there twice the first counts."""
    last = jnp.iinfo(jnp.int32).max
    places = jnp.full(x.shape, last).at[beyond(x, x.size)].min(jnp.arange(x.size), mode="drop")
    return jnp.where(places == last, 0, places)


MATRIX = (data(2048, 2048),)
IMAGE = (data(16, 128, 128, 16),)
BATCHES = (data(64, 64, 64, 16),)
ONES, THREE = [1, 1, 1, 1], [1, 3, 3, 1]
EDGES = [[1, 1], [2, 0]]
MOVES = [
    Work(
        "matrix_band_part",
        "lower triangles",
        lambda x: jaxops.matrix_band_part(x, -1, 0),
        jnp.tril,
        (data(16, 512, 512),),
    ),
    Work(
        "matrix_diag",
        "",
        jaxops.matrix_diag,
        lambda x: x[..., None] * jnp.eye(512, dtype=x.dtype)[None],
        (data(16, 512),),
    ),
    Work(
        "matrix_diag_part",
        "",
        jaxops.matrix_diag_part,
        lambda x: jnp.diagonal(x, axis1=-2, axis2=-1),
        (data(16, 512, 512),),
    ),
    Work(
        "matrix_set_diag",
        "",
        jaxops.matrix_set_diag,
        lambda x, y: jnp.where(jnp.eye(512, dtype=bool), y[..., None], x),
        (data(16, 512, 512), data(16, 512)),
    ),
    Work(
        "tensor_diag",
        "",
        jaxops.tensor_diag,
        lambda x: jnp.diag(x.reshape(-1)).reshape(16, 64, 16, 64),
        (data(16, 64),),
    ),
    Work(
        "tensor_diag_part",
        "",
        jaxops.tensor_diag_part,
        lambda x: jnp.diagonal(x.reshape(1024, 1024)).reshape(16, 64),
        (data(16, 64, 16, 64),),
    ),
    Work(
        "matrix_transpose",
        "",
        jaxops.matrix_transpose,
        lambda x: jnp.swapaxes(x, -1, -2),
        (data(16, 512, 512),),
    ),
    Work("reverse", "", lambda x: jaxops.reverse(x, [0]), lambda x: x[::-1], MATRIX),
    Work(
        "reverse_sequence",
        "",
        lambda x, n: jaxops.reverse_sequence(x, n, seq_axis=1),
        reversed_prefixes,
        (data(64, 512, 128), ids(64)),
    ),
    Work(
        "roll",
        "",
        lambda x, k: jaxops.roll(x, k, 0),
        lambda x, k: jnp.roll(x, k, 0),
        (data(2048, 2048), ids()),
    ),
    Work(
        "unravel_index",
        "",
        lambda i: jaxops.unravel_index(i, [1024, 1024]),
        unraveled,
        (ids(1 << 20),),
    ),
    Work("invert_permutation", "", jaxops.invert_permutation, inverted, (ids(1 << 20),)),
    Work("transpose", "", jaxops.transpose, jnp.transpose, MATRIX),
    Work("reshape", "", lambda x: jaxops.reshape(x, [-1]), lambda x: x.reshape(-1), MATRIX),
    Work("squeeze", "", jaxops.squeeze, jnp.squeeze, (data(1, 2048, 2048),)),
    Work(
        "expand_dims",
        "",
        lambda x: jaxops.expand_dims(x, 1),
        lambda x: jnp.expand_dims(x, 1),
        MATRIX,
    ),
    Work("split", "", lambda x: jaxops.split(x, 8), lambda x: jnp.split(x, 8), MATRIX),
    Work(
        "concat",
        "",
        lambda xs: jaxops.concat(xs, 1),
        lambda xs: jnp.concatenate(xs, 1),
        ([data(1024, 512)] * 4,),
    ),
    Work("stack", "", jaxops.stack, jnp.stack, ([data(1024, 512)] * 4,)),
    Work("parallel_stack", "", jaxops.parallel_stack, jnp.stack, ([data(1024, 512)] * 4,)),
    Work("unstack", "", jaxops.unstack, jnp.unstack, (data(4, 1024, 512),)),
    Work(
        "tile",
        "",
        lambda x: jaxops.tile(x, [2, 3]),
        lambda x: jnp.tile(x, (2, 3)),
        (data(512, 512),),
    ),
    Work("pad", "", lambda x: jaxops.pad(x, EDGES), lambda x: jnp.pad(x, EDGES), MATRIX),
    Work(
        "pad",
        "REFLECT",
        lambda x: jaxops.pad(x, EDGES, "REFLECT"),
        lambda x: jnp.pad(x, EDGES, "reflect"),
        MATRIX,
    ),
    Work("space_to_depth", "", lambda x: jaxops.space_to_depth(x, 2), jnp_space_to_depth, IMAGE),
    Work("depth_to_space", "", lambda x: jaxops.depth_to_space(x, 2), jnp_depth_to_space, BATCHES),
    Work(
        "depth_to_space",
        "NCHW",
        lambda x: jaxops.depth_to_space(x, 2, "NCHW"),
        shuffle_channels,
        BATCHES,
    ),
    *(
        Work(
            op,
            "",
            lambda x, op=op: getattr(jaxops, op)(x, [2, 2], EDGES),
            lambda x: jnp_space_to_batch(x, EDGES),
            IMAGE,
        )
        for op in ("space_to_batch", "space_to_batch_nd")
    ),
    *(
        Work(
            op,
            "",
            lambda x, op=op: getattr(jaxops, op)(x, [2, 2], EDGES),
            lambda x: jnp_batch_to_space(x, EDGES),
            BATCHES,
        )
        for op in ("batch_to_space", "batch_to_space_nd")
    ),
    *(
        Work(
            op,
            "3 x 3",
            lambda x, op=op: getattr(jaxops, op)(x, THREE, ONES, ONES, "SAME"),
            lambda x: jnp_patches(x, 3, "SAME"),
            IMAGE,
        )
        for op in ("extract_patches", "extract_image_patches")
    ),
]

# --- dtypes and shapes ---


def saturated(x):
    return jnp.clip(x, -128, 127).astype(jnp.int8)


def to(dtype):
    return lambda x: x.astype(dtype)


CASTS = [
    Work("cast", "to bf16", lambda x: jaxops.cast(x, jnp.bfloat16), to(jnp.bfloat16), MATRIX),
    Work("saturate_cast", "", lambda x: jaxops.saturate_cast(x, jnp.int8), saturated, MATRIX),
    Work("to_bfloat16", "", jaxops.to_bfloat16, to(jnp.bfloat16), MATRIX),
    Work("to_float", "", jaxops.to_float, to(jnp.float32), MATRIX),
    Work("to_int32", "", jaxops.to_int32, to(jnp.int32), MATRIX),
    Work(
        "bitcast",
        "",
        lambda x: jaxops.bitcast(x, jnp.uint8),
        lambda x: lax.bitcast_convert_type(x, jnp.uint8),
        MATRIX,
    ),
    Work("shape", "", jaxops.shape, lambda x: np.array(x.shape, np.int32), MATRIX),
    Work(
        "shape_n",
        "",
        lambda x: jaxops.shape_n([x, x]),
        lambda x: [np.array(x.shape, np.int32)] * 2,
        MATRIX,
    ),
    Work(
        "broadcast_to",
        "",
        lambda x: jaxops.broadcast_to(x, [64, 8, 1024]),
        lambda x: jnp.broadcast_to(x, (64, 8, 1024)),
        (data(8, 1),),
    ),
    Work(
        "fill",
        "",
        lambda x: jaxops.fill([512, 512], x),
        lambda x: jnp.full((512, 512), x),
        (data(),),
    ),
    Work("meshgrid", "", jaxops.meshgrid, jnp.meshgrid, (data(512), data(1024))),
    Work("range", "", lambda: jaxops.range(2**20), lambda: jnp.arange(2**20), ()),
    Work("stop_gradient", "", jaxops.stop_gradient, lax.stop_gradient, MATRIX),
    Work("guarantee_const", "", jaxops.guarantee_const, lambda x: x, MATRIX),
    Work("rank", "", jaxops.rank, lambda x: np.int32(x.ndim), MATRIX),
    Work("size", "", jaxops.size, lambda x: np.int32(math.prod(x.shape)), MATRIX),
]

# --- other sizes ---


def nonzero_parts(x, numbers, parts, size):
    """Each part by itself, without a sort."""
    places = (jnp.nonzero(numbers == n, size=size, fill_value=x.shape[0])[0] for n in range(parts))
    return [x.at[at].get(mode="fill", fill_value=0) for at in places]


def sums(x, i, count):
    return jax.ops.segment_sum(x, beyond(i, count), count)


def dynamic_slice(x, begin, size):
    """An idiom with fewer bytes than `window`; but a window that does not fit is moved."""
    return lax.dynamic_slice(x, list(begin), size)


CROP = (100, 110, 3)
# The sizes at which a form is most likely to pay for what another size does not show: a slice of
# nearly all, and a small one; single elements, narrow and wide rows; many parts, and large ones;
# updates that are few, and more than the elements they meet.
OTHER_SIZES = [
    Work(
        "slice",
        "nearly all of 4 dimensions",
        lambda x, b: jaxops.slice(x, b, [12, 100, 90, 18]),
        lambda x, b: dynamic_slice(x, b, (12, 100, 90, 18)),
        (data(14, 120, 120, 18), ids(4)),
    ),
    Work(
        "slice",
        "a third of 3 dimensions",
        lambda x, b: jaxops.slice(x, b, [50, 300, 300]),
        lambda x, b: dynamic_slice(x, b, (50, 300, 300)),
        (data(64, 500, 512), ids(3)),
    ),
    Work(
        "slice",
        "few rows of many",
        lambda x, b: jaxops.slice(x, b, [16, 128]),
        lambda x, b: dynamic_slice(x, b, (16, 128)),
        (data(500_000, 128), ids(2)),
    ),
    Work(
        "slice",
        "a crop of each image",
        jax.vmap(lambda x, b: jaxops.slice(x, b, CROP)),
        jax.vmap(lambda x, b: dynamic_slice(x, b, CROP)),
        (data(16, 128, 128, 3), ids(16, 3)),
    ),
    Work(
        "slice",
        "crops of one image",
        jax.vmap(lambda x, b: jaxops.slice(x, b, CROP), (None, 0)),
        jax.vmap(lambda x, b: dynamic_slice(x, b, CROP), (None, 0)),
        (data(512, 512, 3), ids(16, 3)),
    ),
    Work("gather", "more rows than there are", jaxops.gather, take, (data(999, 30), ids(200_000))),
    Work("gather", "700,000 elements", jaxops.gather, take, (data(1_000_000), ids(700_000))),
    Work(
        "gather_nd",
        "700,000 elements",
        jaxops.gather_nd,
        take_nd,
        (data(999, 999), ids(700_000, 2)),
    ),
    scatter_nd("700,000 elements", (999, 999), (700_000, 2), (700_000,)),
    scatter_nd("few rows of many", (500_000, 100), (60, 1), (60, 100)),
    scatter_nd("many wide rows", (50, 300), (20_000, 1), (20_000, 300)),
    Work(
        "tensor_scatter_nd_update",
        "700,000 elements",
        jaxops.tensor_scatter_nd_update,
        put("set"),
        (data(999, 999), ids(700_000, 2), data(700_000)),
    ),
    Work(
        "segment_sum",
        "a vector",
        lambda x, i: jaxops.segment_sum(x, i, num_segments=90_000),
        lambda x, i: sums(x, i, 90_000),
        (data(1_000_000), ids(1_000_000)),
    ),
    Work(
        "unsorted_segment_sum",
        "wide rows",
        lambda x, i: jaxops.unsorted_segment_sum(x, i, 70),
        lambda x, i: sums(x, i, 70),
        (data(9000, 700), ids(9000)),
    ),
    Work(
        "dynamic_partition",
        "7 large parts",
        lambda x, n: jaxops.dynamic_partition(x, n, 7, size=40_000),
        lambda x, n: nonzero_parts(x, n, 7, 40_000),
        (data(150_000, 30), ids(150_000)),
    ),
    Work(
        "dynamic_partition",
        "100 parts",
        lambda x, n: jaxops.dynamic_partition(x, n, 100, size=700),
        partial(partitioned, parts=100, size=700),
        (data(50_000, 16), ids(50_000)),
    ),
    Work(
        "dynamic_stitch",
        "100 parts",
        lambda i, d: jaxops.dynamic_stitch(i, d, size=50_000),
        partial(stitched, size=50_000),
        ([ids(500)] * 100, [data(500, 30)] * 100),
    ),
    Work(
        "boolean_mask",
        "elements",
        lambda x, m: jaxops.boolean_mask(x, m, size=500_000),
        partial(masked, size=500_000),
        (data(700_000), mask(700_000)),
    ),
    Work(
        "concat",
        "300 columns",
        lambda xs: jaxops.concat(xs, 1),
        lambda xs: jnp.concatenate(xs, 1),
        ([data(2000, 3)] * 300,),
    ),
    Work(
        "roll",
        "columns",
        lambda x, k: jaxops.roll(x, k, 1),
        lambda x, k: jnp.roll(x, k, 1),
        (data(3000, 999), ids()),
    ),
    Work(
        "matrix_diag",
        "one large",
        jaxops.matrix_diag,
        lambda x: x[..., None] * jnp.eye(3000, dtype=x.dtype),
        (data(3000),),
    ),
    Work(
        "space_to_depth",
        "blocks of 8",
        lambda x: jaxops.space_to_depth(x, 8),
        partial(jnp_space_to_depth, size=8),
        IMAGE,
    ),
]
OTHER_SIZES = [work._replace(other_sizes=True) for work in OTHER_SIZES]

# --- sparse gradients ---

TABLE, BATCH = (65536, 128), 8192


def loss(table, i):
    return jnp.sum(jnp.tanh(jaxops.gather(table, i)) ** 2)


def loss_of_rows(rows):
    return jnp.sum(jnp.tanh(rows) ** 2)


def sparse_step(table, i):
    """Gradient descent."""
    _, grads = jaxops.sparse_value_and_grad(loss, tables="")(table, i)
    return (-0.1 * grads).add_to(table)


def step_by_hand(table, i):
    grads = jax.grad(loss_of_rows)(take(table, i))
    return table.at[beyond(i, table.shape[0])].add(-0.1 * grads, mode="drop")


def adagrad(optimizer, table, accumulated, i):
    """One step; the only array of the table's shape in the state of `optax.adagrad` is given."""
    state = optimizer.init(table)
    leaves, tree = jax.tree.flatten(state)
    leaves = [accumulated if x.shape == accumulated.shape else x for x in leaves]
    _, grads = jaxops.sparse_value_and_grad(loss, tables="")(table, i)
    table, state = optimizer.apply(grads, jax.tree.unflatten(tree, leaves), table)
    return table, state


def lazy_adagrad(table, accumulated, i):
    import optax

    return adagrad(jaxops.lazy(optax.adagrad(0.1)), table, accumulated, i)


def adagrad_by_hand(table, accumulated, i):
    """The gradients of a row that comes more than once are added up first."""
    size = table.shape[0]
    grads = jax.grad(loss_of_rows)(take(table, i))
    rows, inverse = jnp.unique(beyond(i, size), return_inverse=True, size=BATCH, fill_value=size)
    grads = jax.ops.segment_sum(grads, inverse, BATCH)
    sums = take(accumulated, rows) + grads**2
    scale = jnp.where(sums > 0, lax.rsqrt(sums + 1e-7), 0)
    options = {"mode": "drop", "unique_indices": True}
    return (
        table.at[rows].add(-0.1 * scale * grads, **options),
        accumulated.at[rows].set(sums, **options),
    )


STEPS = [
    Work(
        "sparse_value_and_grad",
        "gradient descent",
        sparse_step,
        step_by_hand,
        (data(*TABLE), ids(BATCH)),
        True,
    ),
    Work(
        "lazy", "Adagrad", lazy_adagrad, adagrad_by_hand, (data(*TABLE), data(*TABLE), ids(BATCH))
    ),
]

WORKS = [*GATHERS, *EMBEDDINGS, *SCATTERS, *SEGMENTS, *SLICES, *DATA_DEPENDENT, *MOVES, *CASTS]
WORKS += [*OTHER_SIZES, *STEPS]
