"""What is known of the functions of `_ops/padding.py`."""

import functools

import numpy as np

import jaxops
from records.arguments import DATA
from records.loops import array_case, evaluated
from records.record import Record


def pad(x, paddings, mode="CONSTANT", constant=0):
    shape = [b + d + a for (b, a), d in zip(paddings, x.shape, strict=True)]
    out = np.empty(shape, x.dtype)
    for at in np.ndindex(*shape):
        place = []
        for i, (before, _), dim in zip(at, paddings, x.shape, strict=True):
            k = i - before
            if mode == "REFLECT":
                k = -k if k < 0 else 2 * dim - 2 - k if k >= dim else k
            elif mode == "SYMMETRIC":
                k = -k - 1 if k < 0 else 2 * dim - 1 - k if k >= dim else k
            place.append(k)
        inside = all(0 <= k < d for k, d in zip(place, x.shape, strict=True))
        out[at] = x[tuple(place)] if inside else constant
    return out


pad_case = functools.partial(array_case, jaxops.pad, pad)

RECORDS = {
    "pad": Record(
        call={
            "tensor": DATA,
            "paddings": ("pairs, [rank, 2]", [[0, 1], [1, 0]]),
            "mode": ("word, one of CONSTANT, REFLECT, SYMMETRIC", "CONSTANT"),
            "constant_values": ("scalar, or text", 7.0),
        },
        cases={
            "": pad_case((2, 3), ((1, 0), (2, 1))),
            "empty": pad_case((0, 2), ((1, 1), (0, 1))),
            "reflect": pad_case((2, 3), ((1, 1), (2, 0)), "REFLECT"),
            "reflect-one": pad_case((1, 4), ((0, 0), (0, 3)), "REFLECT"),
            "symmetric": pad_case((2, 3), ((2, 1), (0, 3)), "SYMMETRIC"),
            "symmetric-empty": pad_case((0, 3), ((0, 0), (1, 1)), "SYMMETRIC"),
        },
        exports=[
            evaluated(jaxops.pad, '(x, [[1, 2], [0, 1]], "CONSTANT")', "a, b"),
            evaluated(
                jaxops.pad,
                '(x, [[1, 2], [0, 1]], "REFLECT")',
                "a, b",
                constraints=("a >= 3", "b >= 2"),
            ),
            evaluated(
                jaxops.pad, '(x, [[1, 2], [0, 1]], "SYMMETRIC")', "a, b", constraints=("a >= 2",)
            ),
        ],
        row="Slicing and joining | `pad` | static `paddings` | summed over the images | -",
    )
}
