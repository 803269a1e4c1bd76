"""What is known of the functions of `_ops/segments.py`."""

import numpy as np

import jaxops
from records.arguments import (
    ACCUMULATE,
    DETERMINISTIC,
    FEW,
    LENGTH,
    MODE,
    ONLY_NUMBERS,
    PADDING,
    SIZE,
    X,
)
from records.loops import IS_PADDING, evaluated, filled, floats, int32s, outside, place_of
from records.record import MODES, Case, Record
from records.unsorted_segments import GRADIENTS, KINDS, SUMS

SORTED = ("integers", np.array([0, 0, 1, 3], np.int32))


def segments(kind, data, segment_ids, num_segments, mode="fill", indices=None):
    data = np.asarray(data)
    rows = [[] for _ in range(num_segments)]
    for k, number in enumerate(segment_ids):
        if indices is not None and indices[k] == IS_PADDING:
            continue
        place = place_of((int(number),), (num_segments,), mode)
        row = (k,) if indices is None else place_of((int(indices[k]),), data.shape[:1], mode)
        if place is not None:
            rows[place[0]].append(np.zeros_like(data[0]) if row is None else data[row])
    out = np.full((num_segments, *data.shape[1:]), int(kind == "prod"), data.dtype)
    for number, of_segment in enumerate(rows):
        if of_segment:
            out[number] = KINDS[kind][0](of_segment)
    return out


def case(kind, segment_ids, num_segments, *row):
    op = getattr(jaxops, f"segment_{kind}")
    return Case(
        lambda x, i, **k: op(x, i, num_segments=num_segments, **k),
        lambda x, i, **k: segments(kind, x, i, num_segments, **k),
        (floats(len(segment_ids), *row),),
        int32s(segment_ids),
        MODES,
        linear=kind in SUMS,
        has_deterministic=kind in SUMS,
    )


def record(kind):
    name = f"segment_{kind}"
    op = getattr(jaxops, name)
    call = {"data": ONLY_NUMBERS, "segment_ids": SORTED, "num_segments": SIZE, "mode": MODE}
    call |= PADDING
    if kind in SUMS:
        call["deterministic"] = DETERMINISTIC
    if kind == "sum":
        call["accumulate_dtype"] = ACCUMULATE
    return Record(
        call,
        cases={"rows": case(kind, [0, 1, 1, 1, 1, 3], 4, 2), "empty": case(kind, [], 2, 2)},
        out_of_bounds={
            "": outside(
                lambda i, **k: op(X[:2], i, num_segments=3, **k),
                [0, 2],
                [0, 3],
                "segment_ids[1] = 3 is not in [0, 3)",
            )
        },
        narrow={"": case(kind, FEW, LENGTH, 3)._replace(modes=("fill",))},
        exports=[
            evaluated(filled(op), "(x, i, num_segments=3)", "n, b", "n int"),
            evaluated(filled(op), "(x, i, num_segments=y.shape[0])", "n, b", "n int", "a, b"),
        ],
        row=(
            f"Indexing | `{name}` | static `num_segments` | {GRADIENTS[kind]} | "
            f"ids out of range or not sorted"
        ),
    )


RECORDS = {f"segment_{kind}": record(kind) for kind in KINDS if kind != "sqrt_n"}
