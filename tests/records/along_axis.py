"""What is known of the functions of `_ops/along_axis.py`."""

import functools

import numpy as np

import jaxops
from records.arguments import DETERMINISTIC, FEW, FILL, LENGTH, PADDING, WITH_ROWS, X
from records.loops import evaluated, filled, gradient, indexed_case, outside, place_of
from records.record import Export, Record


def take_along_axis(arr, indices, axis: int | None = -1, mode="fill", fill_value=0):
    arr, indices = np.asarray(arr), np.asarray(indices)
    if axis is None:
        arr, axis = arr.reshape(-1), 0
    axis %= arr.ndim
    sizes = [i if d == axis or p == 1 else p
             for d, (p, i) in enumerate(zip(arr.shape, indices.shape, strict=True))]  # fmt: skip
    out = np.empty(sizes, arr.dtype)
    for at in np.ndindex(*sizes):
        index = int(
            indices[tuple(a if i > 1 else 0 for a, i in zip(at, indices.shape, strict=True))]
        )
        place = place_of((index,), (arr.shape[axis],), mode)
        of_arr = [a if p > 1 else 0 for a, p in zip(at, arr.shape, strict=True)]
        out[at] = fill_value
        if place is not None:
            out[at] = arr[(*of_arr[:axis], *place, *of_arr[axis + 1 :])]
    return out


case = functools.partial(indexed_case, jaxops.take_along_axis, take_along_axis)

RECORDS = {
    "take_along_axis": Record(
        call={
            "arr": WITH_ROWS,
            "indices": ("integers", [[0, 2]] * 4),
            "axis": ("int, in [-2, 2)", 1),
            **FILL,
            **PADDING,
            "deterministic": DETERMINISTIC,
        },
        cases={
            "": case((2, 3), [[2, 0, 2, 2], [1, 1, 0, 2]]),
            "vector": case((4,), [3, 0, 3]),
            "first-axis": case((4, 3), [[3, 0, 1], [3, 3, 0]], 0),
            "middle-axis": case((2, 4, 2), [[[3, 0]], [[1, 1]]], 1),
            "rows": case((4, 3), [[3], [0], [3]], 0),
            "windows-around": case((2, 3, 2, 2), [[[[2]], [[0]], [[2]], [[1]]]], 1),
            "one-arr-of-many": case((1, 4), [[3, 0], [1, 1], [0, 3]]),
            "both": case((2, 1, 3, 2), [[[[1, 2]], [[0, 0]]]], 2),
            "all-elements": case((2, 3), [5, 0, 5, 1], None),
            "no-indices": case((4, 3), np.zeros((0, 3)), 0),
            "no-lines": case((0, 3), np.zeros((0, 2))),
        },
        out_of_bounds={
            "": outside(
                lambda i, **k: jaxops.take_along_axis(X, i, **k),
                [[0], [2], [1], [0]],
                [[0], [2], [3], [-1]],
                "indices[2,0] = 3 is not in [0, 3)",
            ),
            "first-axis": outside(
                lambda i, **k: jaxops.take_along_axis(X, i, 0, **k),
                [[0, 3, 1], [0, 0, 0]],
                [[0, 3, -1], [9, 0, 0]],
                "indices[0,2] = -1 is not in [0, 4)",
            ),
            "rows": outside(
                lambda i, **k: jaxops.take_along_axis(X, i, 0, **k),
                [[3], [0]],
                [[3], [4]],
                "indices[1,0] = 4 is not in [0, 4)",
            ),
        },
        narrow={
            # 200 rows: int8 could not number them either.
            "": case((200, LENGTH), np.tile(FEW, (200, 1))),
            "first-axis": case((200, LENGTH), np.tile(FEW[:, None], (1, LENGTH)), 0),
        },
        exports=[
            evaluated(filled(jaxops.take_along_axis), "(x, i)", "a, b", "a, n int"),
            evaluated(filled(jaxops.take_along_axis), "(x, i, axis=0)", "a, b", "n, b int"),
            Export(
                "(x, i), gradient", gradient(filled(jaxops.take_along_axis)), ("a, b", "a, n int")
            ),
        ],
        row="Indexing | - | - | scatter-add | indices",
    )
}
