"""What is known of the functions of `_ops/gather.py`."""

import functools
import itertools

import jax
import numpy as np

import jaxops
from records.arguments import DATA, DETERMINISTIC, FEW, FILL, LENGTH, PADDING, POLICY, WITH_ROWS, X
from records.loops import evaluated, filled, gradient, indexed_case, outside, place_of
from records.record import Export, OutOfBounds, Record


def gather(params, indices, axis=None, batch_dims=0, mode="fill", fill_value=0):
    params, indices = np.asarray(params), np.asarray(indices)
    axis = batch_dims if axis is None else axis  # as given: -1 is the last one of params
    batch_dims = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    axis = axis + params.ndim if axis < 0 else axis
    before, after = params.shape[batch_dims:axis], params.shape[axis + 1 :]
    selected = indices.shape[batch_dims:]
    batch = params.shape[:batch_dims]
    out = np.empty(batch + before + selected + after, params.dtype)
    for b in np.ndindex(*batch):
        for p, s in itertools.product(np.ndindex(*before), np.ndindex(*selected)):
            place = place_of((int(indices[b + s]),), (params.shape[axis],), mode)
            out[b + p + s] = fill_value if place is None else params[b + p + place]
    return out


def gather_nd(params, indices, batch_dims=0, mode="fill", fill_value=0):
    params, indices = np.asarray(params), np.asarray(indices)
    depth = indices.shape[-1]
    dims = params.shape[batch_dims : batch_dims + depth]
    out = np.empty(indices.shape[:-1] + params.shape[batch_dims + depth :], params.dtype)
    for at in np.ndindex(*indices.shape[:-1]):
        place = place_of(tuple(int(i) for i in indices[at]), dims, mode)
        out[at] = fill_value if place is None else params[at[:batch_dims] + place]
    return out


gather_case = functools.partial(indexed_case, jaxops.gather, gather)
gather_nd_case = functools.partial(indexed_case, jaxops.gather_nd, gather_nd)
batch_gather_case = functools.partial(
    indexed_case, jaxops.batch_gather, lambda p, i, **k: gather(p, i, None, i.ndim - 1, **k)
)

OPTIONS = {**FILL, **PADDING, "deterministic": DETERMINISTIC}
RECORDS = {
    "batch_gather": Record(
        call={"params": DATA, "indices": ("integers, no scalar", [[0]] * 4), **OPTIONS},
        cases={"": batch_gather_case((2, 3, 2), [[1, 1], [0, 2]])},
        out_of_bounds={
            "": outside(
                lambda i, **k: jaxops.batch_gather(X, i, **k),
                [[0]] * 4,
                [[0], [0], [5], [9]],
                "indices[2,0] = 5 is not in [0, 3)",
            )
        },
        narrow={"": batch_gather_case((200, LENGTH), np.tile(FEW, (200, 1)))},
        exports=[evaluated(filled(jaxops.batch_gather), "(x, i)", "a, b, c", "a, n int")],
        row="Indexing | - | - | scatter-add | indices",
    ),
    "gather": Record(
        call={
            "params": WITH_ROWS,
            "indices": ("integers", [[0]] * 4),
            "validate_indices": ("word, bool", True),
            "axis": ("int, in [-2, 2)", 1),
            "batch_dims": ("int", 1),
            **OPTIONS,
        },
        cases={
            "vector": gather_case((4,), [3, 0, 3, 3]),
            "rows": gather_case((4, 3), [[1, 1], [0, 3]]),
            "scalar": gather_case((4, 3), 2),
            "last-axis": gather_case((2, 3, 4), [3, 0, 0], axis=-1),
            "batch": gather_case((2, 3, 4), [[2, 0, 2], [1, 1, 0]], batch_dims=1),
            "batch-axis": gather_case((2, 3, 4), [[2, 0], [1, 1]], axis=2, batch_dims=1),
            "batch-all": gather_case((2, 3), [1, 2], batch_dims=1),
            "batch-negative": gather_case((2, 3, 4), [[1, 1], [2, 0]], batch_dims=-1),
            "no-indices": gather_case((4, 3), np.zeros((0,))),
            "empty-rows": gather_case((4, 0), [1, 2]),
        },
        out_of_bounds={
            "": outside(
                lambda i, **k: jaxops.gather(X, i, axis=1, **k),
                [[0, 2]],
                [[0, 3]],
                "indices[0,1] = 3 is not in [0, 3)",
            ),
            "negative": outside(
                lambda i, **k: jaxops.gather(X, i, **k),
                [1],
                [-1],
                "indices[0] = -1 is not in [0, 4)",
            ),
            "scalar": outside(
                lambda i, **k: jaxops.gather(X, i, **k), 1, 7, "indices = 7 is not in [0, 4)"
            ),
        },
        narrow={
            "": gather_case((LENGTH, 3), FEW),
            "axis": gather_case((3, LENGTH), FEW, axis=1),
            # 200 rows: int8 could not number the batch either.
            "batch_dims": gather_case((200, LENGTH), np.tile(FEW, (200, 1)), batch_dims=1),
        },
        exports=[
            evaluated(filled(jaxops.gather), "(x, i)", "a, b", "n, m int"),
            Export("(x, i), rows of 64", filled(jaxops.gather), ("a, 64", "n int")),
            evaluated(filled(jaxops.gather), "(x, i, axis=-1)", "a, b", "n, m int"),
            evaluated(filled(jaxops.gather), "(x, i, batch_dims=1)", "a, b, c", "a, n int"),
            Export("(x, i), vmapped", jax.vmap(filled(jaxops.gather)), ("k, a, b", "k, n int")),
            Export("(x, i), gradient", gradient(filled(jaxops.gather)), ("a, b", "n int")),
            evaluated(jaxops.gather, '(x, i, mode="clip")', "a, b", "n int"),
            evaluated(jaxops.gather, '(x, i, mode="wrap")', "a, b", "n int"),
            Export(
                "(x, i, deterministic=True), gradient",
                gradient(filled(jaxops.gather, deterministic=True)),
                ("a, b", "n int"),
                refused="associative scan",
            ),
        ],
        row="Indexing | `gather` | - | scatter-add | indices",
    ),
    "gather_nd": Record(
        call={
            "params": DATA,
            "indices": ("integers, no scalar", [[[0]]] * 4),
            "batch_dims": ("int", 1),
            "bad_indices_policy": POLICY,
            **OPTIONS,
        },
        cases={
            "elements": gather_nd_case((3, 4), [[0, 1], [2, 3], [2, 3]]),
            "rows": gather_nd_case((3, 4), [[[1], [1]], [[0], [2]]]),
            "one": gather_nd_case((3, 4), [2, 1]),
            "empty-vectors": gather_nd_case((3, 4), np.zeros((2, 0))),
            "batch": gather_nd_case((2, 3, 4), [[[1], [1]], [[0], [2]]], batch_dims=1),
            "no-indices": gather_nd_case((3, 4), np.zeros((0, 1))),
        },
        out_of_bounds={
            "": outside(
                lambda i, **k: jaxops.gather_nd(X, i, **k),
                [[0, 0], [3, 2]],
                [[0, 0], [2, 9]],
                "indices[1] = [2, 9] does not index into param shape [4,3]",
            ),
            "batch": OutOfBounds(
                lambda i, **k: jaxops.gather_nd(X, i, batch_dims=1, **k),
                [[[0]]] * 4,
                [[[1]], [[9]], [[0]], [[0]]],
                "indices[1,0] = [1, 9] does not index into param shape [4,3]",
                (1, 0),
                (9,),
                (3,),
            ),
        },
        narrow={
            # Row-major positions reach 60,000.
            "": gather_nd_case((200, LENGTH), np.stack([FEW, FEW], 1)),
            "batch_dims": gather_nd_case(
                (200, LENGTH), np.tile(FEW[:, None], (200, 1, 1)), batch_dims=1
            ),
        },
        exports=[
            evaluated(filled(jaxops.gather_nd), "(x, i)", "a, b, c", "n, 2 int"),
            evaluated(filled(jaxops.gather_nd), "(x, i, batch_dims=1)", "a, b, c", "a, n, 1 int"),
        ],
        row="Indexing | `gather_nd` | - | `scatter_nd` | indices",
    ),
}
