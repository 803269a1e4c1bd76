"""What is known of the functions of `_ops/shaping.py`."""

import numpy as np

import jaxops
from records.arguments import ANYTHING, DATA, X
from records.loops import evaluated, floats
from records.record import Case, Export, Record


def same_elements(x, shape):
    """Those of `x` in row-major order in another shape."""
    out = np.empty(shape, x.dtype)
    for to, at in zip(np.ndindex(*shape), np.ndindex(*x.shape), strict=True):
        out[to] = x[at]
    return out


def transpose(x, perm):
    out = np.empty([x.shape[p] for p in perm], x.dtype)
    for at in np.ndindex(*out.shape):
        place = [0] * x.ndim
        for i, p in enumerate(perm):
            place[p] = at[i]
        out[at] = x[tuple(place)]
    return out


def same_elements_case(op, shape, result_shape):
    return Case(op, lambda x: same_elements(x, result_shape), (floats(*shape),))


def transpose_case(shape, perm, same_as=None):
    return Case(
        lambda x: jaxops.transpose(x, perm),
        lambda x: transpose(x, perm if same_as is None else same_as),
        (floats(*shape),),
    )


RECORDS = {
    "expand_dims": Record(
        call={"input": DATA, "axis": ("int, or a list of one", 0)},
        cases={"": same_elements_case(lambda x: jaxops.expand_dims(x, -2), (2, 3), (2, 1, 3))},
        exports=[evaluated(jaxops.expand_dims, "(x, 1)", "a, b")],
        row="Shapes and shaping | `expand_dims` | - | reshaped back | -",
    ),
    "rank": Record(
        call={"input": ANYTHING},
        exports=[Export("(x)", lambda x: x * float(jaxops.rank(x)), ("a, b",))],
        row="Shapes and shaping | `rank` | known at trace time | - | -",
    ),
    "reshape": Record(
        call={"tensor": DATA, "shape": ("ints, int or ints", [3, 4])},
        cases={
            "": same_elements_case(lambda x: jaxops.reshape(x, [3, -1]), (2, 3, 2), (3, 4)),
            "scalar": same_elements_case(lambda x: jaxops.reshape(x, []), (1, 1), ()),
            "empty": same_elements_case(lambda x: jaxops.reshape(x, [2, -1]), (0, 3), (2, 0)),
        },
        exports=[
            evaluated(jaxops.reshape, "(x, (*x.shape[1:], -1))", "a, b, c"),
            evaluated(jaxops.reshape, "(x, x.size)", "a, b"),
        ],
        row="Shapes and shaping | `reshape` | static `shape` | reshaped back | -",
    ),
    "shape": Record(
        call={"input": ANYTHING, "out_type": ("dtype, of shapes", "int32")},
        exports=[Export("(x)", jaxops.shape, ("a, b",))],
        row="Shapes and shaping | `shape` | known at trace time | - | -",
    ),
    "shape_n": Record(
        call={"input": ("arrays, anything", [X, X]), "out_type": ("dtype, of shapes", "int32")},
        exports=[evaluated(jaxops.shape_n, "([x, y])", "a, b", "n")],
        row="Shapes and shaping | `shape_n` | known at trace time | - | -",
    ),
    "size": Record(
        call={"input": ANYTHING, "out_type": ("dtype, of shapes", "int32")},
        exports=[Export("(x)", jaxops.size, ("a, b",))],
        row="Shapes and shaping | `size` | known at trace time | - | -",
    ),
    "squeeze": Record(
        call={"input": ("data", X[:1]), "axis": ("ints, int or ints", [0])},
        cases={
            "": same_elements_case(jaxops.squeeze, (1, 2, 1), (2,)),
            "axis": same_elements_case(lambda x: jaxops.squeeze(x, [-1]), (1, 2, 1), (1, 2)),
        },
        exports=[evaluated(jaxops.squeeze, "(x, [1])", "a, 1, b")],
        row="Shapes and shaping | `squeeze` | - | reshaped back | -",
    ),
    "transpose": Record(
        call={"a": DATA, "perm": ("ints", [1, 0]), "conjugate": ("word, bool", False)},
        cases={
            "": transpose_case((2, 3, 4), (2, 0, 1)),
            "default": transpose_case((2, 0, 4), None, (2, 1, 0)),
        },
        exports=[Export("(x)", jaxops.transpose, ("a, b, c",))],
        row="Shapes and shaping | `transpose` | static `perm` | transposed back | -",
    ),
}
