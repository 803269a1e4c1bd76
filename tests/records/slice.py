"""What is known of the functions of `_ops/slice.py`."""

import numpy as np

import jaxops
from records.arguments import DATA, FILL, LENGTH, X
from records.loops import evaluated, filled, indexed_case, place_of
from records.record import OutOfBounds, Record


def slice(input_, begin, size, mode="fill", fill_value=0):
    input_ = np.asarray(input_)
    out = np.empty(size, input_.dtype)
    for at in np.ndindex(*size):
        place = place_of(tuple(b + i for b, i in zip(begin, at, strict=True)), input_.shape, mode)
        out[at] = fill_value if place is None else input_[place]
    return out


def slice_case(*args):
    return indexed_case(jaxops.slice, slice, *args)._replace(has_deterministic=False)


RECORDS = {
    "slice": Record(
        call={
            "input_": DATA,
            "begin": ("integers, or ints", [1, 0]),
            "size": ("ints", [2, -1]),
            **FILL,
        },
        cases={
            "part": slice_case((4, 3), [1, 0], (2, 3)),
            "empty": slice_case((4, 3), [4, 0], (0, 3)),
        },
        out_of_bounds={
            "begin": OutOfBounds(
                lambda i, **k: jaxops.slice(X, i, [1, 2], **k),
                [3, 1],
                [5, 0],
                "Expected begin[0] in [0, 4], but got 5",
                (0,),
                5,
                4,
            ),
            "size": OutOfBounds(
                lambda i, **k: jaxops.slice(X, i, [1, 2], **k),
                [3, 1],
                [0, 2],
                "Expected size[1] in [0, 1], but got 2",
                (1,),
                2,
                2,
            ),
        },
        narrow={"": slice_case((LENGTH, 3), [99, 0], (150, 3))},
        exports=[
            evaluated(jaxops.slice, "(x, [1, 1], [-1, 2])", "a, b", constraints=("b >= 3",)),
            evaluated(filled(jaxops.slice), "(x, i, [2, 2])", "a, b", "2 int"),
            evaluated(filled(jaxops.slice), "(x, i, y.shape)", "a, b", "2 int", "m, k"),
        ],
        row=(
            "Slicing and joining | `slice` | static `size`; `begin` may be traced | "
            "placed into zeros | begin and size"
        ),
    )
}
