"""Rows of the ops whose shapes depend on values, and of one_hot."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from peers import compiled_by_numba, keras, tf, torch
from row import Row, bfloat16s, bools, floats, ints, permutation

import jaxops

TINY = "throughput tiny"


def without_padding(answer):
    """Each part up to its last row that is not 0."""
    parts = []
    for part in answer if isinstance(answer, list | tuple) else [answer]:
        part = np.asarray(part)
        used = np.flatnonzero(part.reshape(len(part), -1).astype(bool).any(1))
        parts.append(part[: used[-1] + 1 if used.size else 0])
    return parts


def in_any_order(answer):
    """What `unique` tells, whatever the order of the values: x itself, sizes and counts."""
    y, idx, *count = (np.asarray(a) for a in answer)
    used = idx.max(initial=-1) + 1
    y, order = y[:used], np.lexsort(y[:used].reshape(used, -1).T)
    return [y[idx], y[order], *(c[:used][order] for c in count)]


def to_partition(rows, small_rows, columns, parts, dtype=floats):
    """Data, partition of each row, static size of a part: a fifth and 300 more than the mean."""

    def arguments(n):
        few = n(parts, 2)
        shape = (n(rows, small_rows), n(columns, 2)) if columns > 1 else (n(rows, small_rows),)
        size = n(rows * 6 // (5 * parts), small_rows) + 300
        return dtype(*shape), ints(few, shape[0]), few, size

    return arguments


def jnp_partition_with_size(data, partitions, parts, size):
    """By a stable sort: `jnp.nonzero` for each part takes longer."""
    order = jnp.argsort(partitions, stable=True)
    ends = jnp.searchsorted(partitions[order], jnp.arange(parts + 1, dtype=partitions.dtype))
    places = jnp.arange(size)
    found = []
    for k in range(parts):
        inside = (places < ends[k + 1] - ends[k]).reshape(-1, *[1] * (data.ndim - 1))
        found.append(jnp.where(inside, data[order[ends[k] + places]], 0))
    return found


def in_turn(data, partitions, parts, size):
    ends = np.zeros(parts + 1, np.int64)
    for part in partitions:
        ends[part + 1] += 1
    ends = np.cumsum(ends)
    places, grouped = ends[:-1].copy(), np.empty_like(data)
    for n in range(len(data)):
        grouped[places[partitions[n]]] = data[n]
        places[partitions[n]] += 1
    return [grouped[ends[k] : ends[k + 1]] for k in range(parts)]


split_by_number = compiled_by_numba(in_turn)


def numpy_stitch(indices, data, size):
    merged = np.empty((size, *data[0].shape[1:]), data[0].dtype)
    for places, rows in zip(indices, data, strict=True):
        merged[places] = rows
    return merged


def partition_rows(what, arguments, quick=False, groups=TINY):
    return [
        Row(
            "dynamic_partition",
            f"{what}, eager",
            arguments,
            jaxops=lambda d, p, parts, size, **k: jaxops.dynamic_partition(d, p, parts, **k),
            tensorflow=lambda d, p, parts, size: tf.dynamic_partition(d, p, parts),
            jnp=lambda d, p, parts, size: [d[p == k] for k in range(parts)],
            torch=lambda d, p, parts, size: [d[p == k] for k in range(parts)],
            numpy=lambda d, p, parts, size: [d[p == k] for k in range(parts)],
            numba=split_by_number,
            groups=groups,
            comparable=list,
            eager=True,
            quick=quick,
        ),
        Row(
            "dynamic_partition",
            f"{what}, jitted with size=",
            arguments,
            jaxops=lambda d, p, parts, size, **k: jaxops.dynamic_partition(
                d, p, parts, size=size, **k
            ),
            tensorflow=lambda d, p, parts, size: tf.dynamic_partition(d, p, parts),
            jnp=jnp_partition_with_size,
            torch=lambda d, p, parts, size: [d[p == k] for k in range(parts)],
            groups="throughput bounds",
            comparable=without_padding,
            quick=quick,
        ),
    ]


def to_stitch(rows, columns, parts):
    """As `dynamic_partition` gives them: each place once."""

    def arguments(n):
        few, total = n(parts, 2), n(rows, 6)
        shape = (total, n(columns, 2)) if columns > 1 else (total,)
        data, places = floats(*shape), permutation(total)
        pieces = [np.sort(piece) for piece in np.array_split(places, few)]
        return pieces, [data[piece] for piece in pieces], total

    return arguments


def stitch_row(what, arguments, **options):
    return Row(
        "dynamic_stitch",
        what,
        arguments,
        jaxops=lambda i, d, size, **k: jaxops.dynamic_stitch(i, d, size=size, **k),
        tensorflow=lambda i, d, size: tf.dynamic_stitch(i, d),
        jnp=lambda i, d, size: (
            jnp.zeros((size, *d[0].shape[1:]), d[0].dtype)
            .at[jnp.concatenate(i)]
            .set(jnp.concatenate(d))
        ),
        torch=lambda i, d, size: (
            d[0].new_empty((size, *d[0].shape[1:])).index_copy(0, torch.cat(i).long(), torch.cat(d))
        ),
        numpy=numpy_stitch,
        **options,
    )


def unique_row(op, what, make, size, groups="throughput", eager=False, quick=False):
    """`size` is the static size of the values, not used by eager calls."""
    with_counts = op == "unique_with_counts"

    def jnp_unique(x, size, unique=jnp.unique):
        return unique(
            x, return_inverse=True, return_counts=with_counts, size=None if eager else size
        )

    return Row(
        op,
        f"{what}, {'eager' if eager else 'jitted with size='}",
        lambda n: (make(n), n(size, 4)),
        jaxops=lambda x, size: getattr(jaxops, op)(x, size=None if eager else size),
        tensorflow=lambda x, size: getattr(tf, op)(x),
        jnp=jnp_unique,
        keras=lambda x, size: jnp_unique(x, size, keras.ops.unique),
        torch=lambda x, size: torch.unique(x, return_inverse=True, return_counts=with_counts),
        numpy=lambda x, size: np.unique(x, return_inverse=True, return_counts=with_counts),
        groups=groups,
        comparable=in_any_order,
        eager=eager,
        quick=quick,
    )


def thousand_ints(n):
    return ints(n(1000, 3), n(1_000_000, 4)) * 7


def thousand_floats(n):
    return thousand_ints(n).astype(np.float32)


def million_ints(n):
    # Nearly all distinct: drawn from 2**31 numbers.
    return ints(2**31 - 1, n(1_000_000, 4))


unique = partial(unique_row, "unique")
with_counts = partial(unique_row, "unique_with_counts")
UNIQUES = [
    unique("1M int32, 1,000 distinct", thousand_ints, 1000, TINY, eager=True),
    unique("1M f32, 1,000 distinct", thousand_floats, 1000),
    unique("1M int32, 1M distinct", million_ints, 1_000_000, eager=True),
    with_counts("1M int32, 1,000 distinct", thousand_ints, 1000, TINY, eager=True, quick=True),
    with_counts("1M int32, 1,000 distinct", thousand_ints, 1000, quick=True),
    with_counts("1M int32, 1M distinct", million_ints, 1_000_000, eager=True, quick=True),
    with_counts("1M int32, 1M distinct", million_ints, 1_000_000, quick=True),
]


UNIQUES += [
    Row(
        "unique",
        f"rows of {rows:,} x {columns} int32, eager",
        lambda n, limit=limit, rows=rows, columns=columns: (
            ints(limit, n(rows, 4), n(columns, 2)),
        ),
        jaxops=lambda x: jaxops.unique(x, axis=0),
        tensorflow=lambda x: tf.raw_ops.UniqueV2(x=x, axis=[0]),
        jnp=lambda x: jnp.unique(x, axis=0, return_inverse=True),
        torch=lambda x: torch.unique(x, dim=0, return_inverse=True),
        numpy=lambda x: np.unique(x, axis=0, return_inverse=True),
        comparable=in_any_order,
        eager=True,
    )
    for rows, columns, limit in ((60_000, 8, 6), (20_000, 64, 2))
]


def masked(columns, dtype=floats):
    def arguments(n):
        rows = n(4_000_000 // columns, 6)
        shape = (rows, n(columns, 2)) if columns > 1 else (rows,)
        mask = bools(rows)
        mask[0] = True
        return dtype(*shape), mask, rows

    return arguments


def jnp_mask_with_size(x, mask, size):
    (places,) = jnp.nonzero(mask, size=size, fill_value=size)
    return x.at[places].get(mode="fill", fill_value=0)


def mask_rows(what, arguments, groups):
    return [
        Row(
            "boolean_mask",
            f"half of {what}, eager",
            arguments,
            jaxops=lambda x, mask, size: jaxops.boolean_mask(x, mask),
            tensorflow=lambda x, mask, size: tf.boolean_mask(x, mask),
            jnp=lambda x, mask, size: x[mask],
            keras=lambda x, mask, size: x[mask],
            torch=lambda x, mask, size: x[mask],
            numpy=lambda x, mask, size: x[mask],
            groups=groups,
            eager=True,
        ),
        Row(
            "boolean_mask",
            f"half of {what}, jitted with size=",
            arguments,
            jaxops=lambda x, mask, size: jaxops.boolean_mask(x, mask, size=size),
            tensorflow=lambda x, mask, size: tf.boolean_mask(x, mask),
            jnp=jnp_mask_with_size,
            comparable=without_padding,
        ),
    ]


def one_hot_row(what, rows, small_rows, depth, dtype="float32", axis=-1, **options):
    return Row(
        "one_hot",
        what,
        lambda n: (ints(n(depth, 3), n(rows, small_rows)), n(depth, 3)),
        jaxops=lambda i, depth: jaxops.one_hot(i, depth, axis=axis, dtype=dtype),
        tensorflow=lambda i, depth: tf.one_hot(i, depth, axis=axis, dtype=dtype),
        jnp=lambda i, depth: jax.nn.one_hot(i, depth, axis=axis, dtype=dtype),
        keras=lambda i, depth: keras.ops.one_hot(i, depth, axis=axis, dtype=dtype),
        torch=(
            (lambda i, depth: torch.nn.functional.one_hot(i.long(), depth).to(torch.float32))
            if dtype == "float32" and axis == -1
            else None
        ),
        **options,
    )


jitted_partition = partial(partition_rows, groups="throughput")
ROWS = [
    *partition_rows("200k single f32, 8 parts", to_partition(200_000, 6, 1, 8), quick=True),
    *jitted_partition("200k rows of 16 f32, 8 parts", to_partition(200_000, 6, 16, 8)),
    *jitted_partition("200k rows of 16 f32, 100 parts", to_partition(200_000, 6, 16, 100)),
    stitch_row(
        "200k rows of 16 f32 in 8 parts",
        to_stitch(200_000, 16, 8),
        groups="throughput tiny gradients bounds",
        differentiated=(1,),
        quick=True,
    ),
    stitch_row(
        "200k rows of 16 f32 in 100 parts",
        to_stitch(200_000, 16, 100),
        groups="throughput bounds",
    ),
    stitch_row("150k rows of 30 f32 in 4 parts", to_stitch(150_000, 30, 4)),
    stitch_row("1M single f32 in 2 parts", to_stitch(1_000_000, 1, 2), groups="throughput bounds"),
    *mask_rows("4M single f32", masked(1), TINY),
    *mask_rows("62,500 rows of 64 bf16", masked(64, bfloat16s), "throughput"),
    one_hot_row("100k x 200 f32", 100_000, 4, 200, groups=f"{TINY} compile", quick=True),
    one_hot_row("4M x 2 f32", 4_000_000, 4, 2),
    one_hot_row("axis=0, 200 x 100k int32", 100_000, 4, 200, "int32", 0),
    *UNIQUES,
]
