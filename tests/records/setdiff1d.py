"""What is known of the functions of `_ops/setdiff1d.py`."""

import numpy as np

import jaxops
from records.arguments import HELD, NUMBERS
from records.loops import evaluated, filled, fitted
from records.record import Case, Record


def setdiff1d(x, y, size=None):
    places = [i for i, value in enumerate(x) if not any(value == other for other in y)]
    out = fitted([x[i] for i in places], (), x.dtype, size, 0)
    return out, fitted(places, (), int, size, len(x))


def setdiff_case(x, y, part, size):
    y = np.array(y, np.float32)
    return Case(
        lambda x: jaxops.setdiff1d(x, y, size=size)[part].astype(np.float32),
        lambda x: setdiff1d(x, y, size)[part].astype(np.float32),
        (np.asarray(x, np.float32),),
        linear=False,  # which elements are taken depends on them
    )


RECORDS = {
    "setdiff1d": Record(
        call={
            "x": ("integers, data, a vector", NUMBERS),
            "y": ("integers, data, a vector", NUMBERS[:1]),
            "index_dtype": ("dtype, of indices", "int32"),
            **HELD,
            "fill_value": ("scalar, of that dtype", 7),
        },
        cases={
            "": setdiff_case([6, 3, 6, 1], [6, 6, 10], 0, 4),
            "idx": setdiff_case([6, 3, 6, 1], [6, 6, 10], 1, 4),
            "empty": setdiff_case([], [1], 0, 2),
        },
        of_dtype=("x", "y"),
        exports=[evaluated(filled(jaxops.setdiff1d), "(x, y, size=4)", "n", "m")],
        row=(
            "Indexing | `listdiff`, `setdiff1d` | static `size=` | "
            "to the elements of `x` | what `size=` holds"
        ),
    )
}
