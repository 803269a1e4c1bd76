"""What is known of the functions of `_ops/rolling.py`."""

import functools

import numpy as np

import jaxops
from records.arguments import WITH_ROWS, X
from records.loops import array_case, evaluated, floats
from records.record import Case, Record

roll_case = functools.partial(array_case, jaxops.roll, np.roll)


def meshgrid_case(sizes, which, indexing):
    return Case(
        lambda *args: jaxops.meshgrid(*args, indexing=indexing)[which],
        lambda *args: np.meshgrid(*args, indexing=indexing)[which],
        tuple(floats(size) for size in sizes),
    )


RECORDS = {
    "meshgrid": Record(
        call={"args": ("arrays", [X[0], X[1, :2]]), "indexing": ("word, one of xy, ij", "ij")},
        cases={
            "xy": meshgrid_case((3, 2, 4), 0, "xy"),
            "ij": meshgrid_case((3, 2, 4), 1, "ij"),
            "empty": meshgrid_case((0, 2), 1, "xy"),
        },
        exports=[evaluated(jaxops.meshgrid, "(x, y)", "a", "b")],
        row="Shapes and shaping | `meshgrid` | - | summed over the copies | -",
    ),
    "roll": Record(
        call={
            "input": WITH_ROWS,
            "shift": ("integers", [1, -5]),
            "axis": ("ints, int or ints, in [-2, 2)", [0, 1]),
        },
        cases={"": roll_case((3, 4), [7, -1, 0], [-1, 0, 0]), "empty": roll_case((2, 0), [1], [1])},
        exports=[
            evaluated(jaxops.roll, "(x, i, 0)", "a, b", " int"),
            evaluated(jaxops.roll, "(x, 2, 0)", "a, b"),
        ],
        row="Slicing and joining | - | static `axis` | rolled back | -",
    ),
}
