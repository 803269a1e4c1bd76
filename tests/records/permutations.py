"""What is known of the functions of `_ops/permutations.py`."""

import numpy as np

import jaxops
from records.arguments import FEW, LENGTH, NUMBERS
from records.loops import evaluated, filled, int32s, outside, place_of
from records.record import MODES, Case, OutOfBounds, Record


def unravel_index(indices, dims, mode="fill"):
    out = np.zeros((len(dims), *np.shape(indices)), np.float32)
    size = int(np.prod(dims))
    for at in np.ndindex(*np.shape(indices)):
        place = place_of((int(indices[at]),), (size,), mode if mode in MODES[2:5] else "fill")
        out[(..., *at)] = np.unravel_index(0 if place is None else place[0], dims)
    return out


def unravel_case(indices, dims):
    return Case(
        lambda i, **k: jaxops.unravel_index(i, dims, **k).astype(np.float32),
        lambda i, **k: unravel_index(i, dims, **k),
        (),
        int32s(indices),
        MODES,
    )


def invert_permutation(x, mode="fill"):
    out = np.zeros(x.shape, np.float32)
    for i in reversed(range(x.size)):  # of equal ones the first counts
        if 0 <= int(x[i]) < x.size:
            out[int(x[i])] = i
    return out


def invert_case(x):
    return Case(
        lambda x, **k: jaxops.invert_permutation(x, **k).astype(np.float32),
        invert_permutation,
        (),
        int32s(x),
        ("device", "error", "fill", "promise_in_bounds"),
    )


ORDER = np.array([2, 0, 3, 1], np.int32)

RECORDS = {
    "unravel_index": Record(
        call={
            "indices": ("integers", NUMBERS),
            "dims": ("ints", [2, 3]),
            "mode": ("word, one of device, error, fill, clip, wrap, promise_in_bounds", "fill"),
        },
        cases={
            "": unravel_case([5, 0, 4], [2, 3]),
            "scalar": unravel_case(7, [3, 3]),
            "empty": unravel_case([], [2, 3]),
        },
        out_of_bounds={
            "": outside(
                lambda i, **k: jaxops.unravel_index(i, [2, 3], **k).astype(np.float32),
                np.array([5, 0], np.int32),
                np.array([5, 6], np.int32),
                "indices[1] = 6 is not in [0, 6)",
            )
        },
        narrow={"": unravel_case(FEW, [30, 10])},
        of_dtype=("indices",),
        exports=[evaluated(filled(jaxops.unravel_index), "(i, [2, 3])", "n int")],
        row="Indexing | - | static `dims` | - | `indices`",
    ),
    "invert_permutation": Record(
        call={
            "x": ("integers, a vector", ORDER),
            "mode": ("word, one of device, error, fill, promise_in_bounds", "fill"),
        },
        cases={"": invert_case([2, 0, 3, 1]), "empty": invert_case([])},
        out_of_bounds={
            "": outside(
                lambda x, **k: jaxops.invert_permutation(x, **k).astype(np.float32),
                ORDER,
                np.array([2, 0, 4, 1], np.int32),
                "x[2] = 4 is not between 0 and 4",
            ),
            "duplicate": OutOfBounds(
                lambda x, **k: jaxops.invert_permutation(x, **k).astype(np.float32),
                ORDER,
                np.array([2, 0, 0, 1], np.int32),
                "x[2] = 0 is duplicated in the input.",
                (2,),
                0,
                4,
            ),
        },
        narrow={
            # The first of equal ones counts, so the repetitions change nothing.
            "": invert_case(np.tile(FEW, LENGTH // 4))._replace(modes=("fill",))
        },
        of_dtype=("x",),
        exports=[evaluated(filled(jaxops.invert_permutation), "(x)", "n int")],
        row="Indexing | `invert_permutation` | - | - | `x`",
    ),
}
