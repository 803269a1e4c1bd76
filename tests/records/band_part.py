"""What is known of the functions of `_ops/band_part.py`."""

import functools

import numpy as np

import jaxops
from records.arguments import DATA, NO_STRINGS
from records.loops import array_case, evaluated, floats
from records.record import Case, Export, Record


def matrix_band_part(x, lower, upper):
    out = np.zeros_like(x)
    for at in np.ndindex(*x.shape):
        *_, row, column = at
        if (lower < 0 or row - column <= lower) and (upper < 0 or column - row <= upper):
            out[at] = x[at]
    return out


band_case = functools.partial(array_case, jaxops.matrix_band_part, matrix_band_part)

RECORDS = {
    "matrix_band_part": Record(
        call={
            "input": NO_STRINGS,
            "num_lower": ("int, or traced", 1),
            "num_upper": ("int, or traced", 0),
        },
        cases={
            "": band_case((2, 4, 3), 2, 1),
            "triangle": band_case((3, 4), 0, -1),
            "empty": band_case((0, 2), -1, 1),
        },
        exports=[evaluated(jaxops.matrix_band_part, "(x, -1, 0)", "a, b, c")],
        row="Slicing and joining | `matrix_band_part` | - | in the band | -",
    ),
    "matrix_transpose": Record(
        call={"a": DATA, "conjugate": ("word, bool", True)},
        cases={
            "": Case(jaxops.matrix_transpose, np.matrix_transpose, (floats(2, 3, 4),)),
            "empty": Case(jaxops.matrix_transpose, np.matrix_transpose, (floats(0, 2),)),
        },
        exports=[Export("(x)", jaxops.matrix_transpose, ("a, b, c",))],
        row="Shapes and shaping | `matrix_transpose` | - | transposed | -",
    ),
}
