"""What is known of the functions of `_ops/unsorted_segments.py`."""

import jax.numpy as jnp
import numpy as np

import jaxops
from records.arguments import (
    ACCUMULATE,
    DETERMINISTIC,
    FEW,
    LENGTH,
    MODE,
    NUMBERS,
    ONLY_NUMBERS,
    PADDING,
    SIZE,
    X,
)
from records.loops import IS_PADDING, evaluated, filled, floats, int32s, outside
from records.record import MODES, Case, Record

# How slices are combined, and what a segment without any holds.
KINDS = {
    "sum": (sum, 0),
    "mean": (lambda rows: sum(rows) / len(rows), 0),
    "sqrt_n": (lambda rows: sum(rows) / np.sqrt(rows[0].dtype.type(len(rows))), 0),
    "prod": (lambda rows: np.prod(rows, 0), 1),
    "min": (lambda rows: np.min(rows, 0), "max"),
    "max": (lambda rows: np.max(rows, 0), "min"),
}
GRADIENTS = {
    "sum": "of its segment",
    "mean": "of its segment, divided",
    "sqrt_n": "of its segment, divided",
    "prod": "by the others' product",
    "min": "shared among ties",
    "max": "shared among ties",
}
SUMS = ("sum", "mean", "sqrt_n")


def rows_of(segment_ids, num_segments, mode="fill"):
    """By segment the positions of its rows."""
    found = {number: [] for number in range(num_segments)}
    for at in np.ndindex(*segment_ids.shape):
        number = int(segment_ids[at])
        if number == IS_PADDING:
            continue
        if number >= num_segments and mode in ("clip", "wrap"):
            number = num_segments - 1 if mode == "clip" else number % num_segments
        if 0 <= number < num_segments:
            found[number].append(at)
    return found


def segments(kind, data, segment_ids, num_segments, mode="fill"):
    data, segment_ids = np.asarray(data), np.asarray(segment_ids)
    combine, initial = KINDS[kind]
    initial = getattr(jnp.finfo(data.dtype), initial) if isinstance(initial, str) else initial
    out = np.full((num_segments, *data.shape[segment_ids.ndim :]), initial, data.dtype)
    for number, positions in rows_of(segment_ids, num_segments, mode).items():
        if positions:
            out[number] = combine([data[at] for at in positions])
    return out


def moderate(y):
    """Without the extrema of no numbers, beside which the slopes of the others are rounding."""
    return (np if isinstance(y, np.ndarray) else jnp).where(abs(y) < 1e30, y, y.dtype.type(0))


def case(kind, segment_ids, num_segments, *row, shown=lambda y: y):
    (segment_ids,) = int32s(segment_ids)
    op = getattr(jaxops, f"unsorted_segment_{kind}")
    return Case(
        lambda x, i, **k: shown(op(x, i, num_segments, **k)),
        lambda x, i, **k: shown(segments(kind, x, i, num_segments, **k)),
        (floats(*segment_ids.shape, *row),),
        (segment_ids,),
        MODES,
        linear=kind in SUMS,
        has_deterministic=kind in SUMS,
    )


def record(kind):
    name = f"unsorted_segment_{kind}"
    op = getattr(jaxops, name)
    v0 = f"`{name}`" if kind == "sum" else "-"
    call = {
        "data": ONLY_NUMBERS,
        "segment_ids": ("integers", NUMBERS),
        "num_segments": SIZE,
        "mode": MODE,
        **PADDING,
    }
    if kind in SUMS:
        call["deterministic"] = DETERMINISTIC
    if kind == "sum":
        call["accumulate_dtype"] = ACCUMULATE
    return Record(
        call,
        cases={
            "matrix": case(kind, [[0, 1, 1], [3, 1, 1]], 4, 2, shown=moderate),
            "no-slices": case(kind, np.zeros((0,)), 2, 2),
        },
        out_of_bounds={
            "": outside(
                lambda i, **k: op(X[:2], i, 3, **k),
                [0, 2],
                [0, 3],
                "segment_ids[1] = 3 is out of range [0, 3)",
            )
        },
        narrow={"": case(kind, FEW, LENGTH, 3)},
        exports=[
            evaluated(filled(op), "(x, i, 3)", "n, b", "n int"),
            evaluated(filled(op), "(x, i, y.shape[0])", "n, b", "n int", "a, b"),
        ],
        row=(
            f"Indexing | {v0} | static `num_segments` | {GRADIENTS[kind]} | "
            'ids that are too large; negative ones with `mode="error"`'
        ),
    )


RECORDS = {f"unsorted_segment_{kind}": record(kind) for kind in KINDS}
