"""What is known of the functions of `_ops/filling.py`."""

import numpy as np

import jaxops
from records.arguments import X
from records.loops import array_case, evaluated
from records.record import Record


def broadcast_to(x, shape):
    out = np.empty(shape, x.dtype)
    for at in np.ndindex(*shape):
        own = at[len(at) - x.ndim :]
        out[at] = x[tuple(0 if d == 1 else i for i, d in zip(own, x.shape, strict=True))]
    return out


RECORDS = {
    "broadcast_to": Record(
        call={"input": ("data", X[:1]), "shape": ("ints", [2, 3])},
        cases={
            "": array_case(jaxops.broadcast_to, broadcast_to, (2, 1), (3, 2, 4)),
            "empty": array_case(jaxops.broadcast_to, broadcast_to, (1, 2), (0, 2)),
        },
        exports=[evaluated(jaxops.broadcast_to, "(x, (2, *x.shape))", "a, b")],
        row="Shapes and shaping | - | static `shape` | summed over the copies | -",
    ),
    "fill": Record(
        call={
            "dims": ("ints", [2, 3]),
            "value": ("scalar, or text", 7.0),
            "layout": ("word", None),
        },
        cases={
            "": array_case(lambda x, shape: jaxops.fill(shape, x), broadcast_to, (), (2, 3)),
            "empty": array_case(lambda x, shape: jaxops.fill(shape, x), broadcast_to, (), (2, 0)),
        },
        exports=[evaluated(jaxops.fill, "(x.shape, y)", "a, b", "")],
        of_dtype=("value",),
        row="Shapes and shaping | `fill` | static `dims` | summed | -",
    ),
    "range": Record(
        call={
            "start": ("int, number", 2),
            "limit": ("int, number", 8),
            "delta": ("int, number", 3),
            "dtype": ("dtype", "int32"),
        },
        exports=[evaluated(jaxops.range, "(x.shape[0])", "a, b")],
        row="Shapes and shaping | `range` | static numbers | - | -",
    ),
}
