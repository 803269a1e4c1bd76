"""What is known of the functions of `_ops/searching.py`."""

import numpy as np

import jaxops
from records.arguments import FEW, LENGTH, NUMBERS, SIZE
from records.loops import evaluated, floats
from records.record import Case, Export, Record


def sequence_mask(lengths, maxlen):
    return np.arange(maxlen) < np.array(lengths)[..., None]


def searchsorted(rows, values, side):
    return np.array([np.searchsorted(*pair, side) for pair in zip(rows, values, strict=True)])


def times(ours, theirs):
    """A case of integers, or bools, by what they are multiplied with."""
    return Case(
        lambda x: x[0] * ours().astype(np.float32),
        lambda x: x[0] * theirs().astype(np.float32),
        (floats(1),),
    )


def mask_case(*args):
    return times(lambda: jaxops.sequence_mask(*args), lambda: sequence_mask(*args))


def search_case(rows, values, side):
    args = np.asarray(rows, np.float32), np.asarray(values, np.float32), side
    return times(lambda: jaxops.searchsorted(*args), lambda: searchsorted(*args))


ROWS = [[0, 3, 3, 8, 9], [1, 2, 3, 4, 5]]
VALUES = [[9.5, 3, -1], [0, 6, 2]]
RECORDS = {
    "sequence_mask": Record(
        call={"lengths": ("integers", NUMBERS), "maxlen": SIZE, "dtype": ("dtype", "int32")},
        cases={"": mask_case([[2, 0], [-1, 7]], 3), "empty": mask_case([1, 2], 0)},
        narrow={
            "": Case(
                lambda i: jaxops.sequence_mask(i, LENGTH),
                lambda i: sequence_mask(i, LENGTH),
                (),
                (FEW,),
            )
        },
        of_dtype=("lengths",),
        exports=[
            evaluated(jaxops.sequence_mask, "(lengths, 5)", "n int"),
            evaluated(jaxops.sequence_mask, "(lengths, x.shape[1])", "n int", "n, m"),
        ],
        row="Indexing | `sequence_mask` | static `maxlen` | - | -",
    ),
    "searchsorted": Record(
        call={
            "sorted_sequence": ("data, numbers, with rows", np.array([1, 3, 5], np.float32)),
            "values": ("data, numbers, with rows", np.array([0, 3, 4, 9], np.float32)),
            "side": ("word, one of left, right", "right"),
            "out_type": ("dtype, of indices", "int32"),
        },
        cases={
            "left": search_case(ROWS, VALUES, "left"),
            "right": search_case(ROWS, VALUES, "right"),
            "empty": search_case(np.zeros((2, 0)), VALUES, "left"),
        },
        exports=[Export("(rows, values)", jaxops.searchsorted, ("b, n", "b, m"))],
        row="Indexing | - | - | - | -",
    ),
}
