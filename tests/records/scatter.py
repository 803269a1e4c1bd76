"""What is known of the functions of `_ops/scatter.py`."""

import numpy as np

import jaxops
from records.arguments import ACCUMULATE, DETERMINISTIC, FEW, LENGTH, MODE, PADDING, POLICY, X
from records.loops import evaluated, filled, floats, int32s, outside, place_of
from records.record import MODES, Case, Export, Record

COMBINE = {
    "add": lambda old, new: old + new,
    "max": np.maximum,
    "min": np.minimum,
    "sub": lambda old, new: old - new,
    "update": lambda old, new: new,
}
GRADIENTS = {
    "add": "`gather_nd`",
    "max": "shared among ties",
    "min": "shared among ties",
    "sub": "`gather_nd`, negated",
    "update": "none to what was overwritten",
}


def tensor_scatter(kind, tensor, indices, updates, mode="fill"):
    out, indices = np.array(tensor), np.asarray(indices)
    dims = out.shape[: indices.shape[-1]]
    updates = np.broadcast_to(updates, (*indices.shape[:-1], *out.shape[len(dims) :]))
    for at in np.ndindex(*indices.shape[:-1]):
        place = place_of(tuple(int(i) for i in indices[at]), dims, mode)
        if place is not None:
            out[place] = COMBINE[kind](out[place], updates[at])
    return out


def scatter_nd_case(shape, indices, of_updates=None):
    (indices,) = int32s(indices)
    whole = (*indices.shape[:-1], *shape[indices.shape[-1] :])
    updates = floats(*(whole if of_updates is None else of_updates))
    return Case(
        lambda u, i, **k: jaxops.scatter_nd(i, u, shape, **k),
        lambda u, i, **k: tensor_scatter("add", np.zeros(shape, u.dtype), i, u, **k),
        (updates,),
        (indices,),
        MODES,
        has_deterministic=True,
    )


def tensor_scatter_case(kind, shape, indices, of_updates=None):
    (indices,) = int32s(indices)
    whole = (*indices.shape[:-1], *shape[indices.shape[-1] :])
    updates = floats(*(whole if of_updates is None else of_updates))
    op = getattr(jaxops, f"tensor_scatter_nd_{kind}")
    return Case(
        lambda t, u, i, **k: op(t, i, u, **k),
        lambda t, u, i, **k: tensor_scatter(kind, t, i, u, **k),
        (floats(*shape), updates),
        (indices,),
        MODES,
        linear=kind in ("add", "sub"),
        has_deterministic=kind in ("add", "sub"),
    )


def tensor_scatter_record(kind):
    name = f"tensor_scatter_nd_{kind}"
    op = getattr(jaxops, name)
    numbers = "data" if kind == "update" else "data, numbers"
    call = {
        "tensor": (numbers, X),
        "indices": ("integers, no scalar", [[1], [2]]),
        "updates": (numbers, X[:2]),
        "mode": MODE,
        **PADDING,
    }
    if kind != "update":
        call["bad_indices_policy"] = POLICY
    if kind in ("add", "sub"):
        call |= {"deterministic": DETERMINISTIC, "accumulate_dtype": ACCUMULATE}
    arrays = ("a, b", "n, 1 int", "n, b")
    exports = [Export("(x, i, y)", filled(op), arrays)]
    if kind == "add":
        how, refused = "(x, i, y, deterministic=True)", "associative scan"
        exports.append(Export(how, filled(op, deterministic=True), arrays, refused=refused))
    return Record(
        call,
        cases={
            "elements": tensor_scatter_case(kind, (3, 4), [[0, 1], [2, 3], [2, 3]]),
            "rows": tensor_scatter_case(kind, (3, 2), [[[1], [1]], [[0], [2]]]),
            "no-updates": tensor_scatter_case(kind, (3, 2), np.zeros((0, 1))),
            "scalar-update": tensor_scatter_case(kind, (3, 2), [[0], [2]], ()),
            "one-row": tensor_scatter_case(kind, (3, 2), [[[1], [1]], [[0], [2]]], (2, 1, 2)),
        },
        out_of_bounds={
            "": outside(
                lambda i, **k: op(X, i, np.ones(1, np.float32), **k),
                [[3, 2]],
                [[3, -1]],
                "indices[0] = [3, -1] does not index into shape [4,3]",
            )
        },
        narrow={"": tensor_scatter_case(kind, (LENGTH, 3), FEW[:, None])},
        exports=exports,
        row=f"Indexing | - | - | {GRADIENTS[kind]} | indices",
    )


RECORDS = {
    "scatter_nd": Record(
        call={
            "indices": ("integers, no scalar", [[1], [2]]),
            "updates": ("data", X[:2]),
            "shape": ("ints", [4, 3]),
            "bad_indices_policy": POLICY,
            "mode": MODE,
            **PADDING,
            "deterministic": DETERMINISTIC,
            "accumulate_dtype": ACCUMULATE,
        },
        cases={
            "elements": scatter_nd_case((3, 4), [[0, 1], [2, 3], [2, 3]]),
            "rows": scatter_nd_case((3, 4), [[[1], [1]], [[0], [2]]]),
            "empty-vectors": scatter_nd_case((3, 4), np.zeros((2, 0))),
            "no-updates": scatter_nd_case((3, 4), np.zeros((0, 1))),
            "one-column": scatter_nd_case((3, 4), [[1], [1]], (2, 1)),
        },
        out_of_bounds={
            "": outside(
                lambda i, **k: jaxops.scatter_nd(i, np.ones(1, np.float32), [8], **k),
                [[7]],
                [[8]],
                "indices[0] = [8] does not index into shape [8]",
            )
        },
        narrow={"": scatter_nd_case((LENGTH, 3), FEW[:, None])},
        exports=[
            evaluated(filled(jaxops.scatter_nd), "(i, x, [8, 3])", "n, 1 int", "n, 3"),
            evaluated(filled(jaxops.scatter_nd), "(i, x, y.shape)", "n, 1 int", "n, b", "a, b"),
        ],
        row="Indexing | `scatter_nd` | static `shape` | `gather_nd` | indices",
    ),
    **{f"tensor_scatter_nd_{kind}": tensor_scatter_record(kind) for kind in COMBINE},
}
