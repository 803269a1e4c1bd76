"""What is known of the functions of `_ops/segment_statistics.py`."""

import jax.numpy as jnp
import numpy as np
from jax import lax

import jaxops
from records.arguments import FEW, LENGTH, MODE, NUMBERS, PADDING, SIZE, X
from records.loops import evaluated, filled, floats, int32s, outside
from records.record import MODES, Case, Record
from records.unsorted_segments import moderate, rows_of

# A multiple of all numbers of slices that a segment may have, so that means are exact.
MULTIPLE = 840
IDS = np.array([[0, 1, 1, 3], [1, 1, 3, 0]])


def stacked(data, positions):
    return np.stack([data[at] for at in positions])


def segment_softmax(logits, segment_ids, num_segments, mode="fill"):
    out = np.zeros_like(logits)
    for positions in rows_of(segment_ids, num_segments, mode).values():
        if positions:
            rows = stacked(logits, positions)
            rows = np.exp(rows - rows.max(0))
            for at, row in zip(positions, rows / rows.sum(0), strict=True):
                out[at] = row
    return out


def segment_logsumexp(data, segment_ids, num_segments, mode="fill"):
    out = np.full((num_segments, *data.shape[segment_ids.ndim :]), -np.inf, data.dtype)
    for number, positions in rows_of(segment_ids, num_segments, mode).items():
        if positions:
            rows = stacked(data, positions)
            out[number] = np.log(np.exp(rows - rows.max(0)).sum(0)) + rows.max(0)
    return out


def segment_moments(data, segment_ids, num_segments, mode="fill"):
    out = np.zeros((2, num_segments, *data.shape[segment_ids.ndim :]), data.dtype)
    for number, positions in rows_of(segment_ids, num_segments, mode).items():
        if positions:
            rows = stacked(data, positions)
            out[:, number] = rows.mean(0), rows.var(0)
    return out


ORACLES = {
    "segment_softmax": segment_softmax,
    "segment_logsumexp": segment_logsumexp,
    "segment_moments": segment_moments,
}


def case(name, segment_ids, num_segments, *row, factor=1, shown=lambda y: y):
    """`factor`: so that values are exact; by 1000 only the maximum has an exponential but 0."""
    (segment_ids,) = int32s(segment_ids)
    op, oracle = getattr(jaxops, name), ORACLES[name]
    return Case(
        lambda x, i, **k: shown(op(x * x.dtype.type(factor), i, num_segments, **k)),
        lambda x, i, **k: shown(oracle(x * x.dtype.type(factor), i, num_segments, **k)),
        (floats(*segment_ids.shape, *row),),
        (segment_ids,),
        MODES,
        linear=name == "segment_moments",
    )


def cases(name, **options):
    return {
        "matrix": case(name, IDS, 4, 2, **options),
        "no-slices": case(name, np.zeros((0,)), 2, 2, **options),
        "no-columns": case(name, [0, 0, 2, 1], 3, 0, **options),
        # Without a segment no number wraps or is clipped.
        "no-segments": case(name, [-1, -5], 0, 2, **options)._replace(modes=("device", "fill")),
    }


def weighted(case):
    """The data, times the softmax as a constant: of so steep a softmax rounding is all slopes."""
    return case._replace(
        op=lambda x, i, **k: x * lax.stop_gradient(case.op(x, i, **k)),
        oracle=lambda x, i, **k: x * case.oracle(x, i, **k),
    )


def variance(i, **k):
    return jaxops.segment_moments(MULTIPLE * floats(*IDS.shape, 2), i, 4, **k)[1]


def record(name, gradient, cases):
    op = getattr(jaxops, name)
    arg = "logits" if name == "segment_softmax" else "data"
    return Record(
        call={
            arg: ("data, numbers", X),
            "segment_ids": ("integers", NUMBERS),
            "num_segments": SIZE,
            "mode": MODE,
            **PADDING,
        },
        cases=cases,
        out_of_bounds={
            "": outside(
                lambda i, **k: jnp.asarray(op(X[:2], i, 3, **k)),
                [0, 2],
                [0, 3],
                "segment_ids[1] = 3 is out of range [0, 3)",
            )
        },
        narrow={"": case(name, FEW, LENGTH, 3, factor=1000, shown=jnp.asarray)},
        exports=[evaluated(filled(op), "(x, i, 3)", "n, b", "n int")],
        row=(
            f"Indexing | - | static `num_segments` | {gradient} | "
            'ids that are too large; negative ones with `mode="error"`'
        ),
    )


RECORDS = {
    "segment_softmax": record(
        "segment_softmax",
        "of a softmax in each segment",
        {what: weighted(case) for what, case in cases("segment_softmax", factor=1000).items()},
    ),
    "segment_logsumexp": record(
        "segment_logsumexp",
        "of its segment, times the softmax",
        cases("segment_logsumexp", factor=1000, shown=moderate),
    ),
    "segment_moments": record(
        "segment_moments",
        "of its segment, divided",
        cases("segment_moments", factor=MULTIPLE, shown=lambda y: y[0])
        | {
            # A quadratic function: its derivatives are no differences. See test_segment_statistics.
            "variance": Case(
                variance,
                lambda i, **k: segment_moments(MULTIPLE * floats(*IDS.shape, 2), i, 4, **k)[1],
                (),
                int32s(IDS),
                MODES,
            )
        },
    ),
}
