"""What is known of the functions of `_ops/embeddings.py`."""

import functools
import inspect
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

import jaxops
from jaxops import SparseTensor
from records.arguments import DETERMINISTIC, FEW, LENGTH, MODE, PADDING, TABLES, X
from records.loops import (
    IS_PADDING,
    evaluated,
    filled,
    floats,
    indexed_case,
    int32s,
    outside,
    place_of,
)
from records.record import MODES, Case, Record


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


lookup_case = functools.partial(indexed_case, jaxops.embedding_lookup, embedding_lookup)


def embedding_lookup_sparse(table, weights, ids, places, shape, combiner, mode="fill", safe=False):
    out = np.zeros((*shape[:-1], *table.shape[1:]), table.dtype)
    for at in np.ndindex(*shape[:-1]):
        here = [n for n, place in enumerate(places) if tuple(place[:-1]) == at]
        here = [n for n in here if ids[n] != IS_PADDING]
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


def sparse_case(name, combiner, ids=(1, 3, 0), rows=4):
    function, safe = getattr(jaxops, name), name.startswith("safe")
    places, shape = PLACES[: len(ids)], (3, 4)

    def call(table, ids, **options):
        sp_ids = SparseTensor(places, ids, shape)
        weights = SparseTensor(places, WEIGHTS[: len(ids)], shape)
        return function(table, sp_ids, weights, combiner, **options)

    def oracle(table, ids, mode="fill", **options):
        return embedding_lookup_sparse(table, WEIGHTS, ids, places, shape, combiner, mode, safe)

    return Case(call, oracle, (floats(rows, 2),), int32s(ids), MODES, has_deterministic=True)


def _of_parts(name: str, ids: str, weights: str) -> Callable:
    """As the tests call it: with arrays only, the values of the sparse tensors and their places."""
    function = getattr(jaxops, name)

    def call(indices, dense_shape, **arguments):
        parts = {"indices": indices, "dense_shape": dense_shape}
        for arg in (ids, weights):
            arguments[arg] = SimpleNamespace(**parts, values=arguments[arg])
        return function(**arguments)

    parameters = [
        p.replace(kind=p.KEYWORD_ONLY, default=p.default if p.name in OPTIONS else p.empty)
        for p in inspect.signature(function).parameters.values()
    ]
    places = [
        inspect.Parameter(arg, inspect.Parameter.KEYWORD_ONLY) for arg in ("indices", "dense_shape")
    ]
    call.__signature__ = inspect.Signature([*parameters, *places])
    return call


OPTIONS = ("name", "mode", "padding_index", "deterministic")
FUNCTIONS = {
    "embedding_lookup_sparse": _of_parts("embedding_lookup_sparse", "sp_ids", "sp_weights"),
    "safe_embedding_lookup_sparse": _of_parts(
        "safe_embedding_lookup_sparse", "sparse_ids", "sparse_weights"
    ),
}
IDS = ("integers, own", [1, 3, 0])
SPARSE_CALL = {
    "indices": ("integers, own", PLACES),
    "dense_shape": ("ints, own", (3, 4)),
    "combiner": ("word, one of mean, sqrtn, sum", "sum"),
    "max_norm": ("word, number", 9.0),
    "allow_fast_lookup": ("word, bool", False),
    "mode": MODE,
    **PADDING,
    "deterministic": DETERMINISTIC,
}


RECORDS = {
    "embedding_lookup": Record(
        call={
            "params": TABLES,
            "ids": ("integers", [1, 0]),
            "max_norm": ("word, number", 9.0),
            "mode": MODE,
            **PADDING,
            "deterministic": DETERMINISTIC,
        },
        cases={"": lookup_case((4, 2), [[1, 1], [0, 3]])},
        out_of_bounds={
            "": outside(
                lambda i, **k: jaxops.embedding_lookup(X, i, **k),
                [[0, 2]],
                [[0, 4]],
                "indices[0,1] = 4 is not in [0, 4)",
            )
        },
        narrow={"": lookup_case((LENGTH, 3), FEW)},
        exports=[evaluated(filled(jaxops.embedding_lookup), "(x, i)", "a, b", "n int")],
        row="Embeddings | - | - | scatter-add | ids",
    ),
    "embedding_lookup_sparse": Record(
        call={"params": TABLES, "sp_ids": IDS, **SPARSE_CALL, "sp_weights": ("data, own", WEIGHTS)},
        cases={
            "sum": sparse_case("embedding_lookup_sparse", "sum"),
            "mean": sparse_case("embedding_lookup_sparse", "mean"),
            "no-ids": sparse_case("embedding_lookup_sparse", "mean", ids=()),
        },
        out_of_bounds={
            "": outside(
                lambda i, **k: jaxops.embedding_lookup_sparse(
                    X, SparseTensor(PLACES, i, (3, 4)), None, **k
                ),
                [0, 2, 1],
                [0, 4, 1],
                "indices[1] = 4 is not in [0, 4)",
            )
        },
        narrow={"": sparse_case("embedding_lookup_sparse", "sum", ids=FEW[:3], rows=LENGTH)},
        exports=[
            evaluated(
                filled(jaxops.embedding_lookup_sparse),
                "(x, SparseTensor(p, i, (3, 4)), None)",
                "a, b",
                "n, 2 int",
                "n int",
            )
        ],
        of_dtype=("params",),
        row="Embeddings | - | static `dense_shape` | scatter-add | ids",
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
        narrow={"": sparse_case("safe_embedding_lookup_sparse", "sum", ids=FEW[:3], rows=LENGTH)},
        exports=[
            evaluated(
                filled(jaxops.safe_embedding_lookup_sparse),
                "(x, SparseTensor(p, i, (3, 4)))",
                "a, b",
                "n, 2 int",
                "n int",
            )
        ],
        of_dtype=("embedding_weights",),
        row="Embeddings | - | as above | scatter-add | ids",
    ),
}
