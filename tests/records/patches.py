"""What is known of the functions of `_ops/patches.py`."""

import numpy as np

import jaxops
from records.arguments import IMAGES
from records.loops import floats
from records.record import Case, Export, Record


def extract_patches(x, sizes, strides, rates, padding):
    """All of `sizes`, `strides` and `rates` are (rows, cols)."""
    counts, lows = [], []
    for dim, size, stride, rate in zip(x.shape[1:3], sizes, strides, rates, strict=True):
        if padding == "VALID":
            # Every place where all of the window is inside.
            places = [p for p in range(0, dim, stride) if p + (size - 1) * rate < dim]
            counts.append(len(places))
            lows.append(0)
        else:
            counts.append(len(range(0, dim, stride)))
            over = (counts[-1] - 1) * stride + (size - 1) * rate + 1 - dim
            lows.append(max(over, 0) // 2)
    depth = x.shape[3]
    out = np.zeros((x.shape[0], *counts, sizes[0] * sizes[1] * depth), x.dtype)
    for at in np.ndindex(*counts, *sizes, depth):
        where, inside, k = at[:2], at[2:4], at[4]
        i, j = (
            p * s + q * r - low
            for p, s, q, r, low in zip(where, strides, inside, rates, lows, strict=True)
        )
        if 0 <= i < x.shape[1] and 0 <= j < x.shape[2]:
            out[:, *where, (inside[0] * sizes[1] + inside[1]) * depth + k] = x[:, i, j, k]
    return out


def patches_case(op, shape, sizes, strides=(1, 1), rates=(1, 1), padding="SAME"):
    return Case(
        lambda x: op(x, [1, *sizes, 1], [1, *strides, 1], [1, *rates, 1], padding),
        lambda x: extract_patches(x, sizes, strides, rates, padding),
        (floats(*shape),),
    )


ONES = [1, 1, 1, 1]
CALL = {
    "images": ("data", IMAGES),
    "sizes": ("ints", [1, 2, 2, 1]),
    "strides": ("ints", ONES),
    "rates": ("ints", ONES),
    "padding": ("word, one of VALID, SAME", "SAME"),
}
INSIDE = (("n, a, b, c",), ("a >= 3", "b >= 3"))  # where windows of 3 by 3 fit
RECORDS = {
    "extract_image_patches": Record(
        call=CALL,
        cases={
            name: patches_case(jaxops.extract_image_patches, *arguments)
            for name, arguments in {
                "small": ((1, 2, 2, 2), (2, 2)),
                "strides": ((1, 5, 2, 1), (3, 1), (2, 1)),
                "disjoint": ((1, 4, 3, 1), (2, 3), (2, 3), (1, 1), "VALID"),
                "rates": ((1, 4, 2, 1), (2, 2), (1, 2), (2, 1)),
                "large": ((1, 2, 1, 1), (6, 1)),
                "wide": ((1, 13, 2, 1), (10, 1), (1, 1), (1, 1), "VALID"),
                "no-windows": ((1, 2, 3, 1), (3, 2), (1, 1), (1, 1), "VALID"),
                "no-windows-in-rows": ((1, 2, 3, 1), (2, 4), (1, 1), (1, 1), "VALID"),
                "too-large-by-strides": ((1, 4, 5, 1), (9, 1), (3, 1), (1, 1), "VALID"),
                "no-images": ((0, 4, 5, 1), (2, 3), (2, 1)),
                "no-rows": ((1, 0, 5, 1), (2, 3), (2, 1)),
                "no-columns": ((1, 4, 0, 1), (2, 3), (2, 1)),
                "no-channels": ((1, 4, 5, 0), (2, 3), (2, 1)),
            }.items()
        },
        exports=[
            Export(
                '(x, [1, 3, 3, 1], ..., "VALID")',
                lambda x: jaxops.extract_image_patches(x, [1, 3, 3, 1], ONES, ONES, "VALID"),
                *INSIDE,
            ),
            Export(
                '(x, [1, 3, 3, 1], ..., "SAME")',
                lambda x: jaxops.extract_image_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], ONES, "SAME"),
                ("n, a, b, c",),
            ),
        ],
        row=(
            "Slicing and joining | `extract_image_patches` | static but `images` | "
            "summed over the patches | -"
        ),
    ),
    "extract_patches": Record(
        call=CALL,
        cases={"row": patches_case(jaxops.extract_patches, (1, 1, 2, 1), (1, 2))},
        exports=[
            Export(
                '(x, [1, 3, 3, 1], ..., "VALID")',
                lambda x: jaxops.extract_patches(x, [1, 3, 3, 1], ONES, ONES, "VALID"),
                *INSIDE,
            )
        ],
        row="Slicing and joining | - | static but `images` | summed over the patches | -",
    ),
}
