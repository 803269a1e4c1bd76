"""Rows of functions that `suite.py` does not time, and the functions without any, for growth.py."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import suite
from peers import tf
from records import OF_NO_ARRAYS, RECORDS
from row import Row, floats, ints

import jaxops

# Why a function has no row of its own.
WITHOUT_ROWS = {
    **dict.fromkeys(
        ("rank", "shape", "shape_n", "size", "required_space_to_batch_paddings"),
        "touches no elements",
    ),
    **dict.fromkeys(
        ("IndexedSlices", "RaggedTensor.nrows", "RaggedTensor.with_values"),
        "holds or counts what it is given, and touches no elements",
    ),
    **dict.fromkeys(("psum", "pmean"), "of several devices, of which this machine has one"),
    **dict.fromkeys(
        OF_NO_ARRAYS,
        "of no arrays; what a sparse step costs with larger tables: sparse_gradients.py",
    ),
    **{
        name: "the older arguments of a function that has rows"
        for name in RECORDS
        if name.startswith("v0.")
    },
}

REDUCTIONS = {
    "sum": jax.ops.segment_sum,
    "max": jax.ops.segment_max,
    "min": jax.ops.segment_min,
    "prod": jax.ops.segment_prod,
}


def ragged(n) -> tuple[Any, ...]:
    """Values, and the splits of rows of up to 32 of them."""
    lengths = ints(33, n(32_768, 4))
    return floats(int(lengths.sum()), 16), np.cumsum([0, *lengths]).astype(np.int32)


def rows_of_values(splits, count):
    return jnp.searchsorted(splits, jnp.arange(count, dtype=splits.dtype), side="right") - 1


def of_splits(values, splits):
    return jaxops.RaggedTensor.from_row_splits(values, splits, validate=False)


def of_splits_in_tensorflow(values, splits):
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)


def reduced_row(kind):
    def by_segments(values, splits):
        rows = rows_of_values(splits, len(values))
        count = len(splits) - 1
        if kind == "mean":
            sums = jax.ops.segment_sum(values, rows, count)
            return sums / (splits[1:] - splits[:-1])[:, None].astype(sums.dtype)
        return REDUCTIONS[kind](values, rows, count)

    return Row(
        f"RaggedTensor.reduce_{kind}",
        "32,768 rows of up to 32 of 16 f32",
        ragged,
        jaxops=lambda x, s: getattr(of_splits(x, s), f"reduce_{kind}")(axis=1),
        tensorflow=lambda x, s: getattr(tf, f"reduce_{kind}")(
            of_splits_in_tensorflow(x, s), axis=1
        ),
        jnp=by_segments,
        # What a row without values gives differs, and is no matter of time.
        comparable=lambda answer: [],
    )


def with_lengths(n):
    values, splits = ragged(n)
    return values, np.diff(splits)


def with_numbers(n):
    values, splits = ragged(n)
    numbers = np.repeat(np.arange(len(splits) - 1, dtype=np.int32), np.diff(splits))
    return values, numbers, len(splits) - 1


def dense_rows(n):
    lengths = ints(33, n(32_768, 4))
    return floats(len(lengths), 32, 16), lengths, int(lengths.sum())


def flat(x):
    """Values and splits, of jaxops' or TensorFlow's ragged tensor."""
    return [x.values, x.row_splits]


def chosen_rows(n):
    values, splits = ragged(n)
    indices = ints(len(splits) - 1, n(32_768, 4))
    return values, splits, indices, int(np.diff(splits)[indices].sum())


def first_values(values, lengths, count):
    """Of rows in a dense array, those in front, by a mask's positions."""
    mask = jnp.arange(values.shape[1], dtype=lengths.dtype) < lengths[:, None]
    places = jnp.nonzero(mask.reshape(-1), size=count)[0]
    return values.reshape(-1, values.shape[2])[places]


def filled_up(values, splits):
    rows = rows_of_values(splits, len(values))
    places = jnp.arange(len(values), dtype=splits.dtype) - splits[rows]
    return jnp.zeros((len(splits) - 1, 32, 16), values.dtype).at[rows, places].set(values)


def gathered(values, splits, indices, count):
    lengths = (splits[1:] - splits[:-1])[indices]
    ends = jnp.cumsum(lengths)
    place = jnp.arange(count, dtype=splits.dtype)
    rows = jnp.searchsorted(ends, place, side="right")
    return values[splits[indices[rows]] + place - (ends - lengths)[rows]]


RAGGED = [
    *map(reduced_row, ("sum", "mean", "max", "min", "prod")),
    Row(
        "RaggedTensor.from_row_splits",
        "32,768 rows, jitted",
        ragged,
        jaxops=lambda x, s: flat(jaxops.RaggedTensor.from_row_splits(x, s)),
        tensorflow=lambda x, s: flat(tf.RaggedTensor.from_row_splits(x, s)),
        jnp=lambda x, s: [x, s],
        shares_memory=("tensorflow",),
    ),
    Row(
        "RaggedTensor.from_row_lengths",
        "32,768 rows, jitted",
        with_lengths,
        jaxops=lambda x, n: flat(jaxops.RaggedTensor.from_row_lengths(x, n)),
        tensorflow=lambda x, n: flat(tf.RaggedTensor.from_row_lengths(x, n)),
        jnp=lambda x, n: [x, jnp.concatenate([jnp.zeros(1, n.dtype), jnp.cumsum(n)])],
        shares_memory=("tensorflow",),
    ),
    Row(
        "RaggedTensor.from_value_rowids",
        "32,768 rows, jitted",
        with_numbers,
        jaxops=lambda x, r, n: flat(jaxops.RaggedTensor.from_value_rowids(x, r, n)),
        tensorflow=lambda x, r, n: flat(tf.RaggedTensor.from_value_rowids(x, r, n)),
        jnp=lambda x, r, n: [x, jnp.searchsorted(r, jnp.arange(n + 1, dtype=r.dtype))],
        shares_memory=("tensorflow",),
    ),
    Row(
        "RaggedTensor.from_tensor",
        "32,768 x 32 of 16 f32, jitted with size=",
        dense_rows,
        jaxops=lambda x, n, size: jaxops.RaggedTensor.from_tensor(x, n, size=size).values,
        tensorflow=lambda x, n, size: tf.RaggedTensor.from_tensor(x, n).values,
        jnp=first_values,
    ),
    Row(
        "RaggedTensor.to_tensor",
        "32,768 rows of up to 32 of 16 f32",
        ragged,
        jaxops=lambda x, s: of_splits(x, s).to_tensor(shape=(None, 32, 16)),
        tensorflow=lambda x, s: of_splits_in_tensorflow(x, s).to_tensor(shape=(None, 32, 16)),
        jnp=filled_up,
    ),
    Row(
        "RaggedTensor.gather",
        "32,768 of as many rows, jitted with size=",
        chosen_rows,
        jaxops=lambda x, s, i, size: of_splits(x, s).gather(i, size=size).values,
        tensorflow=lambda x, s, i, size: tf.gather(of_splits_in_tensorflow(x, s), i).values,
        jnp=gathered,
    ),
    Row(
        "RaggedTensor.row_lengths",
        "a million rows",
        lambda n: (floats(n(1_000_000, 4)), np.arange(n(1_000_000, 4) + 1, dtype=np.int32)),
        jaxops=lambda x, s: of_splits(x, s).row_lengths(),
        tensorflow=lambda x, s: of_splits_in_tensorflow(x, s).row_lengths(),
        jnp=lambda x, s: s[1:] - s[:-1],
    ),
    Row(
        "RaggedTensor.value_rowids",
        "32,768 rows of up to 32",
        ragged,
        jaxops=lambda x, s: of_splits(x, s).value_rowids(),
        tensorflow=lambda x, s: of_splits_in_tensorflow(x, s).value_rowids(),
        jnp=lambda x, s: rows_of_values(s, len(x)),
    ),
]


def gradient_of_table(n):
    rows = n(100_000, 16)
    return floats(n(65_536, 8), 16), ints(rows, n(65_536, 8)), floats(rows, 16)


def slices(values, indices, table):
    return jaxops.IndexedSlices(values, indices, table.shape)


def summed(values, indices, table):
    """By sorting, as there are fewer rows than the table has."""
    distinct, places = jnp.unique(
        indices, return_inverse=True, size=len(indices), fill_value=table.shape[0]
    )
    return distinct, jax.ops.segment_sum(values, places, len(indices))


def weights(n):
    return (floats(n(2000, 4), n(2000, 4)),)


def clipped(x):
    norm = jnp.sqrt(jnp.sum(x * x))
    return x * jnp.minimum(1, 3 / norm)


SPARSE = [
    Row(
        "IndexedSlices.add_to",
        "65,536 rows of 16 f32 to 100,000",
        gradient_of_table,
        jaxops=lambda v, i, t: slices(v, i, t).add_to(t),
        tensorflow=lambda v, i, t: tf.tensor_scatter_nd_add(t, i[:, None], v),
        jnp=lambda v, i, t: t.at[i].add(v),
    ),
    Row(
        "IndexedSlices.sum_duplicates",
        "65,536 rows of 16 f32 of 100,000, jitted with size=",
        gradient_of_table,
        jaxops=lambda v, i, t: jax.tree.leaves(slices(v, i, t).sum_duplicates(len(i))),
        jnp=summed,
        comparable=lambda answer: [],  # rows come in another order
    ),
    Row(
        "sum_stacked",
        "16 of 500 x 500 f32",
        lambda n: (floats(16, n(500, 4), n(500, 4)),),
        jaxops=lambda x: jaxops.sum_stacked(x),
        tensorflow=lambda x: tf.reduce_sum(x, 0),
        jnp=lambda x: x.sum(0),
    ),
    Row(
        "global_norm",
        "2,000 x 2,000 f32",
        weights,
        jaxops=lambda x: jaxops.global_norm([x]),
        tensorflow=lambda x: tf.linalg.global_norm([x]),
        jnp=lambda x: jnp.sqrt(jnp.sum(x * x)),
    ),
    Row(
        "clip_by_global_norm",
        "2,000 x 2,000 f32",
        weights,
        jaxops=lambda x: jaxops.clip_by_global_norm([x], 3.0)[0],
        tensorflow=lambda x: tf.clip_by_global_norm([x], 3.0)[0],
        jnp=lambda x: [clipped(x)],
    ),
]


def long_words(n):
    """Two words each of 16 pairs, all of one length."""
    length = n(1000, 4)
    places = np.array([*itertools.product(range(16), range(length))], np.int64)
    return places, ints(4, 16 * length), ints(3, 16 * length)


EDIT_DISTANCE = next(row for row in suite.ROWS if row.op == "edit_distance")
ROWS = [
    *(row for row in suite.ROWS if suite.in_group(row, "throughput")),
    EDIT_DISTANCE._replace(what="16 pairs of 1,000 int32", arguments=long_words),
    *RAGGED,
    *SPARSE,
]
