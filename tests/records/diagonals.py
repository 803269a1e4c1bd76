"""What is known of the functions of `_ops/diagonals.py`."""
# A band is two numbers in a row.
# pyright: reportCallIssue=false

import functools

import numpy as np

import jaxops
from records.arguments import NO_STRINGS, X
from records.loops import array_case, floats
from records.record import Case, Export, Record


def places(rows, columns, k, align):
    """Of the diagonals: where each element lies in the matrix, and where in the array of them."""
    low, high = (k, k) if isinstance(k, int) else k
    on = {
        d: [(r, r + d) for r in range(rows) if 0 <= r + d < columns] for d in range(low, high + 1)
    }
    length = max(map(len, on.values()))
    above, below = align.split("_")
    for d, elements in on.items():
        is_right = (above if d > 0 else below) == "RIGHT"
        first = length - len(elements) if is_right else 0
        for n, at in enumerate(elements):
            yield at, (first + n,) if low == high else (high - d, first + n)


def held(rows, columns, k, align):
    """The shape of the array of those diagonals."""
    found = [place for _, place in places(rows, columns, k, align)]
    count = () if isinstance(k, int) else (k[1] - k[0] + 1,)
    return (*count, max((place[-1] + 1 for place in found), default=0))


def matrix_set_diag(x, diagonal, k, align):
    out = x.copy()
    for at, place in places(*x.shape[-2:], k, align):
        out[(..., *at)] = diagonal[(..., *place)]
    return out


def matrix_diag_part(x, k, align="RIGHT_LEFT"):
    out = np.zeros((*x.shape[:-2], *held(*x.shape[-2:], k, align)), x.dtype)
    for at, place in places(*x.shape[-2:], k, align):
        out[(..., *place)] = x[(..., *at)]
    return out


part_case = functools.partial(array_case, jaxops.matrix_diag_part, matrix_diag_part)


def set_case(shape, k, align="RIGHT_LEFT"):
    own = (*shape[:-2], *held(*shape[-2:], k, align))
    return Case(
        lambda x, y: jaxops.matrix_set_diag(x, y, k=k, align=align),
        lambda x, y: matrix_set_diag(x, y, k, align),
        (floats(*shape), floats(*own)),
    )


def diag_case(shape, k, sizes, **given):
    """With the matrices' shape."""
    return Case(
        lambda x: jaxops.matrix_diag(x, k=k, **given),
        lambda x: matrix_set_diag(np.zeros(sizes, x.dtype), x, k, "RIGHT_LEFT"),
        (floats(*shape),),
    )


def tensor_diag(diagonal):
    return np.diag(diagonal.reshape(-1)).reshape(diagonal.shape * 2)


def tensor_diag_part(x):
    half = x.shape[: x.ndim // 2]
    size = int(np.prod(half))
    return np.diagonal(x.reshape(size, size)).reshape(half)


RECORDS = {
    "matrix_diag": Record(
        call={
            "diagonal": NO_STRINGS,
            "k": ("int, int or ints", 1),
            "num_rows": ("int", 3),
            "num_cols": ("int", 4),
            "padding_value": ("scalar", 7.0),
            "align": ("word, one of LEFT_RIGHT, RIGHT_LEFT, LEFT_LEFT, RIGHT_RIGHT", "LEFT_LEFT"),
        },
        cases={
            "": diag_case((2, 3), -1, (2, 4, 4)),
            "band": diag_case((3, 3), (-1, 1), (3, 4), num_cols=4),
            "more-rows": diag_case((2, 3), 0, (2, 5, 3), num_rows=5),
            "empty": diag_case((2, 0), 0, (2, 0, 0)),
        },
        exports=[Export("(x)", jaxops.matrix_diag, ("a, 3",))],
        row="Slicing and joining | `matrix_diag` | static `k` and sizes | those diagonals | -",
    ),
    "matrix_diag_part": Record(
        call={
            "input": NO_STRINGS,
            "k": ("int, int or ints", -1),
            "padding_value": ("scalar", 7.0),
            "align": ("word, one of LEFT_RIGHT, RIGHT_LEFT, LEFT_LEFT, RIGHT_RIGHT", "LEFT_LEFT"),
        },
        cases={
            "": part_case((2, 3, 4), k=(-1, 2)),
            "one": part_case((4, 3), k=-2),
            "left-right": part_case((4, 3), k=(-2, 1), align="LEFT_RIGHT"),
            "empty": part_case((0, 2, 2), k=0),
        },
        exports=[Export("(x)", jaxops.matrix_diag_part, ("a, 3, 4",))],
        row="Slicing and joining | `matrix_diag_part` | static `k` | on those diagonals | -",
    ),
    "matrix_set_diag": Record(
        call={
            "input": NO_STRINGS,
            "diagonal": ("data, no strings", X[:3, 0]),
            "k": ("int, int or ints", -1),
            "align": ("word, one of LEFT_RIGHT, RIGHT_LEFT, LEFT_LEFT, RIGHT_RIGHT", "LEFT_LEFT"),
        },
        cases={
            "": set_case((2, 3, 3), 1),
            "band": set_case((4, 3), (-2, 1), "RIGHT_RIGHT"),
            "empty": set_case((0, 2, 2), 0),
        },
        exports=[Export("(x, y)", jaxops.matrix_set_diag, ("a, 3, 4", "a, 3"))],
        row="Slicing and joining | `matrix_set_diag` | static `k` | split in two | -",
    ),
    "tensor_diag": Record(
        call={"diagonal": NO_STRINGS},
        cases={
            "": Case(jaxops.tensor_diag, tensor_diag, (floats(2, 3),)),
            "empty": Case(jaxops.tensor_diag, tensor_diag, (floats(2, 0),)),
        },
        exports=[Export("(x)", jaxops.tensor_diag, ("a, b",))],
        row="Slicing and joining | `diag` | - | the diagonal | -",
    ),
    "tensor_diag_part": Record(
        call={"input": ("data, no strings", np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2))},
        cases={
            "": Case(jaxops.tensor_diag_part, tensor_diag_part, (floats(2, 3, 2, 3),)),
            "scalar": Case(jaxops.tensor_diag_part, tensor_diag_part, (floats(),)),
            "empty": Case(jaxops.tensor_diag_part, tensor_diag_part, (floats(2, 0, 2, 0),)),
        },
        exports=[Export("(x)", jaxops.tensor_diag_part, ("a, b, a, b",))],
        row="Slicing and joining | `diag_part` | - | on the diagonal | -",
    ),
}
