"""What is known of the functions of `_ops/filling.py`."""

import numpy as np

import jaxops
from records.record import Case, Export, Record, X, floats


def broadcast_to(x, shape):
    out = np.empty(shape, x.dtype)
    for at in np.ndindex(*shape):
        own = at[len(at) - x.ndim :]
        out[at] = x[tuple(0 if d == 1 else i for i, d in zip(own, x.shape, strict=True))]
    return out


def broadcast_case(op, shape, result_shape):
    return Case(
        lambda x: op(x, result_shape), lambda x: broadcast_to(x, result_shape), (floats(*shape),)
    )


RECORDS = {
    "broadcast_to": Record(
        call={"input": ("data", X[:1]), "shape": ("ints", [2, 3])},
        cases={
            "": broadcast_case(jaxops.broadcast_to, (2, 1), (3, 2, 4)),
            "empty": broadcast_case(jaxops.broadcast_to, (1, 2), (0, 2)),
        },
        exports=[
            Export("(x, (2, *x.shape))", lambda x: jaxops.broadcast_to(x, (2, *x.shape)), ("a, b",))
        ],
        section="Shapes and shaping",
        readme="- | static `shape` | summed over the copies | -",
    ),
    "fill": Record(
        call={
            "dims": ("ints", [2, 3]),
            "value": ("scalar, or text", 7.0),
            "layout": ("word", None),
        },
        cases={
            "": broadcast_case(lambda x, shape: jaxops.fill(shape, x), (), (2, 3)),
            "empty": broadcast_case(lambda x, shape: jaxops.fill(shape, x), (), (2, 0)),
        },
        exports=[Export("(x.shape, y)", lambda x, y: jaxops.fill(x.shape, y), ("a, b", ""))],
        of_dtype=("value",),
        section="Shapes and shaping",
        readme="`fill` | static `dims` | summed | -",
    ),
    "range": Record(
        call={
            "start": ("int, number", 2),
            "limit": ("int, number", 8),
            "delta": ("int, number", 3),
            "dtype": ("dtype", "int32"),
        },
        exports=[Export("(x.shape[0])", lambda x: jaxops.range(x.shape[0]), ("a, b",))],
        section="Shapes and shaping",
        readme="`range` | static numbers | - | -",
    ),
}
