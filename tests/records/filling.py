"""What is known of the functions of `_ops/filling.py`."""

import numpy as np

import jaxops
from records.arguments import X
from records.loops import array_case, evaluated
from records.record import Record


def fill_case(dims):
    return array_case(lambda x: jaxops.fill(dims, x), lambda x: np.broadcast_to(x, dims), ())


RECORDS = {
    "broadcast_to": Record(
        call={"input": ("data", X[:1]), "shape": ("ints", [2, 3])},
        cases={
            "": array_case(jaxops.broadcast_to, np.broadcast_to, (2, 1), (3, 2, 4)),
            "empty": array_case(jaxops.broadcast_to, np.broadcast_to, (1, 2), (0, 2)),
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
            "": fill_case((2, 3)),
            "empty": fill_case((2, 0)),
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
