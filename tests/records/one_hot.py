"""What is known of the functions of `_ops/one_hot.py`."""

import functools

import numpy as np

import jaxops
from jaxops.typing import Mode
from records.arguments import FEW, LENGTH, MODE, NUMBERS, PADDING, SIZE
from records.loops import evaluated, floats, int32s, outside, place_of
from records.record import MODES, Case, Record


def one_hot(indices, depth, on_value, off_value, axis=-1, mode="fill"):
    indices = np.asarray(indices)
    out = np.full((*indices.shape, depth), off_value)
    for at in np.ndindex(*indices.shape):
        place = place_of((int(indices[at]),), (depth,), mode)
        if place is not None:
            out[(*at, *place)] = on_value
    return np.moveaxis(out, -1, axis)


def one_hot_case(indices, depth, modes=MODES, **options):
    return Case(
        lambda on, off, i, **k: jaxops.one_hot(i, depth, on[0], off[0], **options, **k),
        lambda on, off, i, **k: one_hot(i, depth, on[0], off[0], **options, **k),
        (1 + floats(1), floats(1)),
        int32s(indices),
        modes,
    )


def one_hot_or_error(i, mode: Mode = "device", **options):
    return jaxops.one_hot(i, 3, mode=mode, **options)


CALL = {
    "indices": ("integers", NUMBERS),
    "depth": SIZE,
    "on_value": ("scalar, or text", 2.0),
    "off_value": ("scalar, or text", 1.0),
    "axis": ("int", 0),
    "dtype": ("dtype", "float32"),
    "mode": MODE,
    **PADDING,
}
RECORDS = {
    "one_hot": Record(
        call=CALL,
        cases={
            "first": one_hot_case([[0, 2], [1, 0]], 3, axis=0),
            "last": one_hot_case([0, 2, 2], 3),
            "last-by-number": one_hot_case([0, 2, 2], 3, axis=1),
            "empty": one_hot_case([0], 0, modes=("fill",)),
        },
        out_of_bounds={
            "": outside(one_hot_or_error, [0, 2], [0, 3], "indices[1] = 3 is not in [0, 3)"),
            "negative": outside(
                functools.partial(one_hot_or_error, axis=0),
                [[0], [1]],
                [[0], [-1]],
                "indices[1,0] = -1 is not in [0, 3)",
            ),
        },
        narrow={"": one_hot_case(FEW, LENGTH)},
        of_dtype=("on_value", "off_value"),
        exports=[
            evaluated(jaxops.one_hot, "(i, 5)", "n, m int"),
            evaluated(jaxops.one_hot, "(i, x.shape[0])", "n, m int", "a"),
        ],
        row=(
            "Indexing | `one_hot` | static `depth` | sums, to `on_value` and `off_value` | "
            "indices, with `mode`"
        ),
    )
}
