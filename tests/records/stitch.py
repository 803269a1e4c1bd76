"""What is known of the functions of `_ops/stitch.py`."""

import numpy as np

import jaxops
from records.arguments import FEW, HELD, LENGTH, NUMBERS, X
from records.loops import evaluated, filled, floats, place_of
from records.record import MODES, Case, OutOfBounds, Record


def dynamic_stitch(indices, data, size=None, mode="fill", fill_value=0):
    indices, data = [np.asarray(i) for i in indices], [np.asarray(d) for d in data]
    if size is None:
        size = max([int(i.max()) + 1 for i in indices if i.size], default=0)
    out = np.full((size, *data[0].shape[indices[0].ndim :]), fill_value, data[0].dtype)
    for index, rows in zip(indices, data, strict=True):
        for at in np.ndindex(*index.shape):
            place = place_of((int(index[at]),), (size,), mode)
            if place is not None:
                out[place] = rows[at]
    return out


def stitch_case(indices, row_shape, size):
    count = len(indices)
    indices = tuple(np.asarray(i, np.int32) for i in indices)
    data = tuple(floats(*i.shape, *row_shape) for i in indices)
    return Case(
        lambda *a, **k: jaxops.dynamic_stitch(list(a[count:]), list(a[:count]), size=size, **k),
        lambda *a, mode="fill", **k: dynamic_stitch(a[count:], a[:count], size, mode, **k),
        data,
        indices,
        MODES,
    )


RECORDS = {
    "dynamic_stitch": Record(
        call={
            "indices": ("indices", [NUMBERS[:2], NUMBERS[2:]]),
            "data": ("arrays", [X[:2], X[2:]]),
            **HELD,
        },
        cases={
            "duplicates": stitch_case([[0, 3, 0], [3]], (), 5),
            "rows": stitch_case([2, [[3], [1]], [1]], (2,), 4),
            "empty": stitch_case([np.zeros(0)], (2,), 3),
        },
        out_of_bounds={
            "": OutOfBounds(
                lambda i, **k: jaxops.dynamic_stitch([i[0], i[1:]], [X[0], X[1:3]], size=3, **k),
                [0, 2, 1],
                [0, 2, -3],
                "indices[1] is out of range: indices[1][1] = -3 is not in [0, 3)",
                (1, 1),
                -3,
                3,
            )
        },
        narrow={"": stitch_case([FEW], (3,), LENGTH)},
        exports=[
            evaluated(
                filled(jaxops.dynamic_stitch),
                "([i, j], [x, y], size=5)",
                "n int",
                "m int",
                "n, b",
                "m, b",
            )
        ],
        row="Indexing | `dynamic_stitch` | static `size=` | none to what was overwritten | indices",
    )
}
