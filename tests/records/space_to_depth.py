"""What is known of the functions of `_ops/space_to_depth.py`."""

import numpy as np

import jaxops
from records.arguments import IMAGES
from records.loops import evaluated, floats
from records.record import Case, Record


def space_to_depth(x, size):
    n, h, w, c = x.shape
    out = np.zeros((n, h // size, w // size, c * size * size), x.dtype)
    for i, j, k in np.ndindex(h, w, c):
        out[:, i // size, j // size, (i % size * size + j % size) * c + k] = x[:, i, j, k]
    return out


def depth_to_space(x, size):
    n, h, w, c = x.shape
    out = np.zeros((n, h * size, w * size, c // size**2), x.dtype)
    for i, j, k in np.ndindex(*out.shape[1:]):
        place = i % size * size + j % size
        out[:, i, j, k] = x[:, i // size, j // size, place * out.shape[3] + k]
    return out


def depth_case(op, oracle, shape, size, to_nhwc=None):
    """`to_nhwc`: data format, and the permutations to NHWC and back."""
    if to_nhwc is None:
        return Case(lambda x: op(x, size), lambda x: oracle(x, size), (floats(*shape),))
    data_format, there, back = to_nhwc
    return Case(
        lambda x: op(x, size, data_format),
        lambda x: oracle(x.transpose(there), size).transpose(back),
        (floats(*shape),),
    )


CALL = {
    "input": ("data", IMAGES),
    "block_size": ("int", 2),
    "data_format": ("word, one of NHWC, NCHW, NCHW_VECT_C", "NHWC"),
}
NCHW = ("NCHW", (0, 2, 3, 1), (0, 3, 1, 2))
RECORDS = {
    "depth_to_space": Record(
        call=CALL,
        cases={
            "nhwc": depth_case(jaxops.depth_to_space, depth_to_space, (2, 1, 2, 8), 2),
            "nchw": depth_case(jaxops.depth_to_space, depth_to_space, (1, 8, 1, 2), 2, NCHW),
        },
        exports=[evaluated(jaxops.depth_to_space, "(x, 2)", "n, a, b, 4*c")],
        row="Slicing and joining | `depth_to_space` | - | `space_to_depth` | -",
    ),
    "space_to_depth": Record(
        call=CALL,
        cases={
            "nhwc": depth_case(jaxops.space_to_depth, space_to_depth, (2, 2, 4, 2), 2),
            "nchw": depth_case(jaxops.space_to_depth, space_to_depth, (1, 2, 2, 4), 2, NCHW),
        },
        exports=[evaluated(jaxops.space_to_depth, "(x, 2)", "n, 2*a, 2*b, c")],
        row="Slicing and joining | `space_to_depth` | - | `depth_to_space` | -",
    ),
}
