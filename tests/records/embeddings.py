"""What is known of the functions of `_ops/embeddings.py`."""

from types import SimpleNamespace
from typing import Any

import numpy as np

import jaxops
from jaxops import SparseTensor
from jaxops.typing import Mode
from records.record import (
    DETERMINISTIC,
    MODE,
    MODES,
    TABLE,
    TABLES,
    Case,
    Export,
    OutOfBounds,
    Record,
    X,
    filled,
    floats,
    int32s,
    place_of,
)


def row_of(table, id, mode, max_norm=None):
    place = place_of((int(id),), table.shape[:1], mode)
    row = np.zeros(table.shape[1:], table.dtype) if place is None else table[place]
    norm = np.sqrt((row * row).sum())
    return row if max_norm is None or norm <= max_norm else row * max_norm / norm


def embedding_lookup(table, ids, mode="fill"):
    out = np.empty(ids.shape + table.shape[1:], table.dtype)
    for at in np.ndindex(*ids.shape):
        out[at] = row_of(table, ids[at], mode)
    return out


def embedding_lookup_sparse(table, weights, ids, places, shape, combiner, mode="fill", safe=False):
    out = np.zeros((*shape[:-1], *table.shape[1:]), table.dtype)
    for at in np.ndindex(*shape[:-1]):
        here = [n for n, place in enumerate(places) if tuple(place[:-1]) == at]
        if safe:
            here = [n for n in here if ids[n] >= 0 and (combiner == "sum" or weights[n] > 0)]
        of = np.array([weights[n] for n in here], table.dtype)
        by = {"sum": 1, "mean": of.sum(), "sqrtn": np.sqrt((of**2).sum())}[combiner]
        for n in here:
            out[at] += row_of(table, ids[n], mode) * weights[n]
        out[at] = out[at] / by if by else 0
    return out


PLACES = np.array([[0, 0], [0, 1], [2, 3]], np.int32)
WEIGHTS = np.array([3.0, 1.0, 4.0], np.float32)


def sparse_case(name, combiner, shape=(3, 4), ids=(1, 3, 0)):
    function, safe = getattr(jaxops, name), name.startswith("safe")
    places = PLACES[: len(ids)]

    def call(table, ids, **options):
        sp_ids = SparseTensor(places, ids, shape)
        weights = SparseTensor(places, WEIGHTS[: len(ids)], shape)
        return function(table, sp_ids, weights, combiner, **options)

    def oracle(table, ids, mode="fill", **options):
        return embedding_lookup_sparse(table, WEIGHTS, ids, places, shape, combiner, mode, safe)

    return Case(call, oracle, (floats(4, 2),), int32s(ids), MODES, has_deterministic=True)


def _sparse_tensor(indices, values, dense_shape) -> Any:
    return SimpleNamespace(indices=indices, values=values, dense_shape=dense_shape)


def _sparse(
    params,
    sp_ids,
    indices,
    dense_shape,
    sp_weights,
    combiner,
    max_norm,
    allow_fast_lookup,
    mode: Mode = "device",
    deterministic=False,
    name=None,
):
    return jaxops.embedding_lookup_sparse(
        params,
        _sparse_tensor(indices, sp_ids, dense_shape),
        _sparse_tensor(indices, sp_weights, dense_shape),
        combiner,
        max_norm,
        name,
        allow_fast_lookup,
        mode=mode,
        deterministic=deterministic,
    )


def _safe(
    embedding_weights,
    sparse_ids,
    indices,
    dense_shape,
    sparse_weights,
    combiner,
    default_id,
    max_norm,
    allow_fast_lookup,
    mode: Mode = "device",
    deterministic=False,
    name=None,
):
    return jaxops.safe_embedding_lookup_sparse(
        embedding_weights,
        _sparse_tensor(indices, sparse_ids, dense_shape),
        _sparse_tensor(indices, sparse_weights, dense_shape),
        combiner,
        default_id,
        max_norm,
        name,
        allow_fast_lookup,
        mode=mode,
        deterministic=deterministic,
    )


# As the tests call them: with arrays only, which are the values of the sparse tensors, and places.
FUNCTIONS = {"embedding_lookup_sparse": _sparse, "safe_embedding_lookup_sparse": _safe}


IDS = ("integers, own", [1, 3, 0])
SPARSE_CALL = {
    "indices": ("integers, own", PLACES),
    "dense_shape": ("ints, own", (3, 4)),
    "combiner": ("word, one of mean, sqrtn, sum", "sum"),
    "max_norm": ("word, number", 9.0),
    "allow_fast_lookup": ("word, bool", False),
    "mode": MODE,
    "deterministic": DETERMINISTIC,
}


def narrow(function):
    places = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    return (
        lambda i, **k: function(TABLE, SparseTensor(places, i, (2, 2)), None, "sum", **k),
        lambda i: TABLE[i].reshape(2, 2, 3).sum(1),
    )


RECORDS = {
    "embedding_lookup": Record(
        call={
            "params": TABLES,
            "ids": ("integers", [1, 0]),
            "max_norm": ("word, number", 9.0),
            "mode": MODE,
            "deterministic": DETERMINISTIC,
        },
        cases={
            "": Case(
                jaxops.embedding_lookup,
                lambda t, i, mode="fill", **k: embedding_lookup(t, i, mode),
                (floats(4, 2),),
                int32s([[1, 1], [0, 3]]),
                MODES,
                has_deterministic=True,
            ),
        },
        out_of_bounds={
            "": OutOfBounds(
                lambda i, **k: jaxops.embedding_lookup(X, i, **k),
                [[0, 2]],
                [[0, 4]],
                "indices[0,1] = 4 is not in [0, 4)",
                (0, 1),
                4,
                4,
            )
        },
        narrow={"": (lambda i, **k: jaxops.embedding_lookup(TABLE, i, **k), lambda i: TABLE[i])},
        exports=[Export("(x, i)", filled(jaxops.embedding_lookup), ("a, b", "n int"))],
        section="Embeddings",
        readme="- | - | scatter-add | ids",
    ),
    "embedding_lookup_sparse": Record(
        call={"params": TABLES, "sp_ids": IDS, **SPARSE_CALL, "sp_weights": ("data, own", WEIGHTS)},
        cases={
            "sum": sparse_case("embedding_lookup_sparse", "sum"),
            "mean": sparse_case("embedding_lookup_sparse", "mean"),
            "no-ids": sparse_case("embedding_lookup_sparse", "mean", ids=()),
        },
        out_of_bounds={
            "": OutOfBounds(
                lambda i, **k: jaxops.embedding_lookup_sparse(
                    X, SparseTensor(PLACES, i, (3, 4)), None, **k
                ),
                [0, 2, 1],
                [0, 4, 1],
                "indices[1] = 4 is not in [0, 4)",
                (1,),
                4,
                4,
            )
        },
        narrow={"": narrow(jaxops.embedding_lookup_sparse)},
        exports=[
            Export(
                "(x, SparseTensor(p, i, (3, 4)), None)",
                lambda x, p, i: jaxops.embedding_lookup_sparse(
                    x, SparseTensor(p, i, (3, 4)), None, mode="fill"
                ),
                ("a, b", "n, 2 int", "n int"),
            )
        ],
        of_dtype=("params",),
        section="Embeddings",
        readme="- | static `dense_shape` | scatter-add | ids",
    ),
    "safe_embedding_lookup_sparse": Record(
        call={
            "embedding_weights": TABLES,
            "sparse_ids": IDS,
            **SPARSE_CALL,
            "sparse_weights": ("data, own", WEIGHTS),
            "default_id": ("int", 0),
        },
        cases={
            "": sparse_case("safe_embedding_lookup_sparse", "mean", ids=(1, 3, 0)),
            "no-ids": sparse_case("safe_embedding_lookup_sparse", "sum", ids=()),
        },
        narrow={"": narrow(jaxops.safe_embedding_lookup_sparse)},
        exports=[
            Export(
                "(x, SparseTensor(p, i, (3, 4)))",
                lambda x, p, i: jaxops.safe_embedding_lookup_sparse(
                    x, SparseTensor(p, i, (3, 4)), mode="fill"
                ),
                ("a, b", "n, 2 int", "n int"),
            )
        ],
        of_dtype=("embedding_weights",),
        section="Embeddings",
        readme="- | as above | scatter-add | ids",
    ),
}
