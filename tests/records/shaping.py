"""What is known of the functions of `_ops/shaping.py`."""

import numpy as np

import jaxops
from records.arguments import ANYTHING, DATA, X
from records.loops import array_case, evaluated, floats
from records.record import Case, Export, Record


def same_elements_case(op, shape, result_shape):
    return Case(op, lambda x: x.reshape(result_shape), (floats(*shape),))


RECORDS = {
    "expand_dims": Record(
        call={"input": DATA, "axis": ("int, or a list of one, in [-3, 3)", 0)},
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
        call={"input": ("data", X[:1]), "axis": ("ints, int or ints, in [-2, 2)", [0])},
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
            "": array_case(jaxops.transpose, np.transpose, (2, 3, 4), (2, 0, 1)),
            "default": array_case(jaxops.transpose, np.transpose, (2, 0, 4)),
        },
        exports=[Export("(x)", jaxops.transpose, ("a, b, c",))],
        row="Shapes and shaping | `transpose` | static `perm` | transposed back | -",
    ),
}
