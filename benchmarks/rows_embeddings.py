"""Rows of lookups in tables of embeddings."""

from __future__ import annotations

import numpy as np
from peers import tf, torch
from row import Row, floats, ints

import jaxops

IDS = 8  # in each row


def places(count):
    return np.stack(np.unravel_index(np.arange(count), (count // IDS, IDS)), axis=-1)


def table_and_ids(n):
    rows = n(100_000, 16)
    return floats(rows, n(64, 3)), ints(rows, n(1024, 2) * IDS)


def ours(lookup):
    def call(table, ids):
        sp_ids = jaxops.SparseTensor(places(ids.size), ids, (ids.size // IDS, IDS))
        return lookup(table, sp_ids, None, "mean")

    return call


def theirs(name):
    def call(table, ids):
        count = int(ids.shape[0])
        sp_ids = tf.SparseTensor(places(count), ids, (count // IDS, IDS))
        return getattr(tf.nn, name)(table, sp_ids, None, "mean")

    return call


def means(table, ids):
    return table.at[ids].get(mode="fill", fill_value=0).reshape(-1, IDS, table.shape[1]).mean(1)


ROWS = [
    Row(
        "embedding_lookup",
        "8,192 rows of 64 f32",
        table_and_ids,
        jaxops=jaxops.embedding_lookup,
        tensorflow=lambda t, i: tf.nn.embedding_lookup(t, i),
        jnp=lambda t, i: t.at[i].get(mode="fill", fill_value=0),
        torch=lambda t, i: torch.nn.functional.embedding(i, t),
        groups="throughput gradients",
    ),
    *(
        Row(
            name,
            "mean of 8 rows of 64 f32, 1,024 times",
            table_and_ids,
            jaxops=ours(getattr(jaxops, name)),
            tensorflow=theirs(name),
            jnp=means,
            torch=lambda t, i: torch.nn.functional.embedding_bag(i.reshape(-1, IDS), t),
            groups="throughput gradients",
        )
        for name in ("embedding_lookup_sparse", "safe_embedding_lookup_sparse")
    ),
]
