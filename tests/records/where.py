"""What is known of the functions of `_ops/where.py`."""

import numpy as np

import jaxops
from records.arguments import DATA, X
from records.loops import evaluated, filled, floats
from records.record import Case, Record


def where_case(condition, *shapes):
    return Case(
        lambda x, y: jaxops.where(condition, x, y),
        lambda x, y: np.where(condition, x, y),
        tuple(floats(*shape) for shape in shapes),
    )


RECORDS = {
    "where": Record(
        call={
            "condition": ("bools", np.array([True, False, True])),
            "x": DATA,
            "y": ("data", X + 1),
            # Of positions, which a call without x and y returns.
            "size": ("word", None),
            "fill_value": ("word", None),
            "return_size": ("word", False),
            "mode": ("word", "device"),
        },
        cases={
            "": where_case([[True], [False]], (2, 3), (3,)),
            "empty": where_case(np.zeros((0, 1), bool), (2,), (0, 2)),
        },
        exports=[
            evaluated(jaxops.where, "(condition, x, y)", "n, m bool", "n, m", "m"),
            evaluated(filled(jaxops.where), "(condition, size=3)", "n, m bool"),
        ],
        of_dtype=("x", "y"),
        row=(
            "Indexing | `where`, `select` | static `size=` of positions | "
            "selected, to `x` and `y` | what `size=` holds"
        ),
    )
}
