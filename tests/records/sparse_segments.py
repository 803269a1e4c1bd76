"""What is known of the functions of `_ops/sparse_segments.py`."""

import numpy as np

import jaxops
from records.arguments import DETERMINISTIC, FEW, LENGTH, MODE, ONLY_NUMBERS, PADDING, SIZE, X
from records.loops import evaluated, filled, floats, int32s, outside
from records.record import MODES, Case, OutOfBounds, Record
from records.segments import SORTED, segments
from records.unsorted_segments import GRADIENTS, SUMS


def case(kind, indices, segment_ids, num_segments, *shape):
    op = getattr(jaxops, f"sparse_segment_{kind}")
    return Case(
        lambda x, i, s, **k: op(x, i, s, num_segments, **k),
        lambda x, i, s, **k: segments(kind, x, s, num_segments, indices=i, **k),
        (floats(*shape),),
        (*int32s(indices), *int32s(segment_ids)),
        MODES,
        has_deterministic=True,
    )


def record(kind):
    name = f"sparse_segment_{kind}"
    op = getattr(jaxops, name)
    return Record(
        {
            "data": ONLY_NUMBERS,
            "indices": ("integers", np.array([3, 0, 3, 1], np.int32)),
            "segment_ids": SORTED,
            "num_segments": SIZE,
            "sparse_gradient": ("word, bool", False),
            "mode": MODE,
            **PADDING,
            "deterministic": DETERMINISTIC,
        },
        cases={
            "rows": case(kind, [0, 2, 2, 1, 0, 1], [0, 1, 1, 1, 1, 3], 4, 3, 2),
            "empty": case(kind, [], [], 2, 3, 2),
        },
        out_of_bounds={
            "": outside(
                lambda i, **k: op(X, i, [0, 0], **k),
                [0, 2],
                [0, 4],
                "indices[1] = 4 is not in [0, 4)",
            ),
            "segment_ids": OutOfBounds(
                lambda i, **k: op(X, [0, 0], i, 3, **k),
                [0, 2],
                [2, 1],
                "segment_ids[1] = 1 is less than the one before, 2; "
                f"unsorted_segment_{kind} of the rows takes any order",
                (1,),
                1,
                3,
            ),
        },
        narrow={"": case(kind, FEW, [0, 0, 0, 1], 2, LENGTH, 200)},
        exports=[evaluated(filled(op), "(x, i, s, 3)", "a, b", "n int", "n int")],
        row=(
            f"Indexing | `{name}` | static `num_segments` | "
            f"to the rows, {GRADIENTS[kind]} | `indices`; ids out of range or not sorted"
        ),
    )


RECORDS = {f"sparse_segment_{kind}": record(kind) for kind in SUMS}
