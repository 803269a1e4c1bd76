"""What is known of the functions of `_ops/repeating.py`."""

import functools

import numpy as np

import jaxops
from records.arguments import AXIS, DATA, HELD, NUMBERS
from records.loops import array_case, evaluated, filled, fitted, sized_case
from records.record import Record


def repeat(x, repeats, axis=None, size=None, mode="fill"):
    x = np.asarray(x)
    if axis is None:
        x, axis = x.reshape(-1), 0
    rows = np.moveaxis(np.atleast_1d(x), axis, 0)
    counts = np.broadcast_to(repeats, len(rows))
    copies = [row for row, count in zip(rows, counts, strict=True) for _ in range(count)]
    padding = rows[-1] if len(rows) else 0
    return np.moveaxis(fitted(copies, rows.shape[1:], x.dtype, size, padding), 0, axis)


repeat_case = functools.partial(array_case, jaxops.repeat, repeat)
sized = functools.partial(sized_case, jaxops.repeat, repeat)


RECORDS = {
    "repeat": Record(
        call={"input": DATA, "repeats": ("integers", NUMBERS), "axis": AXIS, **HELD},
        cases={
            "evenly": repeat_case((2, 3), 2, 1),
            "each": repeat_case((2, 3), np.array([2, 0, 1]), -1),
            "flat": repeat_case((2, 3), np.array([0, 1, 2, 0, 0, 1])),
            "flat-evenly": repeat_case((2, 3), 2, None),
            "one-number": repeat_case((2, 3), np.array([2]), 1),
            "scalar": repeat_case((), 4, 0),
            "nothing": repeat_case((2, 3), np.array([0, 0]), 0),
            "no-elements": repeat_case((2, 0), np.array([1, 2]), 0),
            "padded": sized((3, 2), [2, 0, 1], 0, size=4),
            "padded-after-none": sized((2, 3), [1, 2, 0], 1, size=6),
            "cut": sized((2, 2), [1, 2, 0, 3], None, size=4, mode="fill"),
            "empty": repeat_case((0, 2), 3, 0),
        },
        exports=[
            evaluated(jaxops.repeat, "(x, 2, 1)", "n, m"),
            evaluated(filled(jaxops.repeat), "(x, repeats, 0, size=5)", "n, m", "n int"),
        ],
        row=(
            "Slicing and joining | - | static `repeats` or `size=` | summed over copies | "
            "what `size=` holds; repeats"
        ),
    )
}
