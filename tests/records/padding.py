"""What is known of the functions of `_ops/padding.py`."""

import functools

import numpy as np

import jaxops
from records.arguments import DATA
from records.loops import array_case, evaluated
from records.record import Record

pad_case = functools.partial(array_case, jaxops.pad, np.pad)

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
            "reflect": pad_case((2, 3), ((1, 1), (2, 0)), "reflect"),
            "reflect-one": pad_case((1, 4), ((0, 0), (0, 3)), "reflect"),
            "symmetric": pad_case((2, 3), ((2, 1), (0, 3)), "symmetric"),
            "symmetric-empty": pad_case((0, 3), ((0, 0), (1, 1)), "symmetric"),
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
