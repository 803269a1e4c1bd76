"""What is known of RaggedTensor, by its methods."""

import itertools
from typing import Any

import numpy as np

import jaxops
from records.arguments import FEW, LENGTH, MODE, NO_STRINGS, SIZE, X
from records.loops import fitted, floats, int32s, outside, place_of
from records.record import Case, Record

LENGTHS = [2, 0, 3]
VALUES = ("data, no strings, with rows", X)
ROWS = {"values": VALUES, "row_splits": ("integers, a vector", [0, 1, 1, 4])}
PARTITION = {"validate": ("word, bool", True), "padded": ("word, bool", True)}
MODES = ("device", "error", "fill", "promise_in_bounds")


def rows_of(values, lengths=LENGTHS):
    return jaxops.RaggedTensor.from_row_lengths(values, np.array(lengths, np.int32))


def split(values, lengths=LENGTHS):
    ends = np.cumsum([0, *lengths])
    return [values[start:end] for start, end in itertools.pairwise(ends)]


def dense(rows, ncols, row_shape, dtype, default: Any = 0.0):
    out = np.empty((len(rows), ncols, *row_shape), dtype)
    for n, row in enumerate(rows):
        out[n] = fitted(row, row_shape, dtype, ncols, default)
    return out


def to_tensor_case(row_shape, ncols, default_shape, lengths=LENGTHS):
    def oracle(values, default):
        default = np.broadcast_to(default, row_shape)
        return dense(split(values, lengths), ncols, row_shape, values.dtype, default)

    return Case(
        lambda x, d: rows_of(x, lengths).to_tensor(d, shape=(None, ncols, *row_shape)),
        oracle,
        (floats(sum(lengths), *row_shape), floats(*default_shape)),
    )


def from_tensor_case(shape, lengths):
    """To a ragged tensor and back."""

    def oracle(x, lengths, mode="fill"):
        rows = [row[: max(n, 0)] for row, n in zip(x, lengths, strict=True)]
        return dense(rows, shape[1], shape[2:], x.dtype)

    def op(x, lengths, **options):
        size = shape[0] * shape[1]
        x = jaxops.RaggedTensor.from_tensor(x, lengths, size=size, **options)
        return x.to_tensor(shape=(None, shape[1], *shape[2:]))

    return Case(
        op, oracle, (floats(*shape),), int32s(lengths), ("device", "fill", "promise_in_bounds")
    )


def gather_case(row_shape, indices):
    def oracle(values, indices, mode="fill"):
        places = [place_of((i,), (len(LENGTHS),), mode) for i in indices]
        rows = [values[:0] if at is None else split(values)[at[0]] for at in places]
        return dense(rows, 3, row_shape, values.dtype)

    def op(values, indices, **options):
        x = rows_of(values).gather(indices, size=3 * indices.shape[0], **options)
        return x.to_tensor(shape=(None, 3, *row_shape))

    return Case(op, oracle, (floats(5, *row_shape),), int32s(indices), MODES)


NONE = np.finfo(np.float32)
OF_ROWS = {
    "sum": lambda row: row.sum(0),
    "mean": lambda row: row.sum(0) / np.float32(max(len(row), 1)),
    "max": lambda row: row.max(0, initial=NONE.min),
    "min": lambda row: row.min(0, initial=NONE.max),
    "prod": lambda row: row.prod(0),
}


def reduced_case(kind, row_shape, lengths):
    def op(values):
        return getattr(rows_of(values, lengths), f"reduce_{kind}")(1)

    def oracle(values):
        results = [OF_ROWS[kind](row) for row in split(values, lengths)]
        return np.reshape(results, (len(lengths), *row_shape)).astype(values.dtype)

    values = floats(sum(lengths), *row_shape)
    return Case(op, oracle, (values,), linear=kind in ("sum", "mean"))


def reduced_cases(kind):
    # The mean of none is NaN, and its extrema are too large for differences.
    lengths = [3, 0, 1] if kind in ("sum", "prod") else [2, 1, 4]
    return {
        "": reduced_case(kind, (), lengths),
        "of-vectors": reduced_case(kind, (2,), lengths),
        "empty": reduced_case(kind, (2,), []),
    }


RECORDS = {
    **{
        f"RaggedTensor.reduce_{kind}": Record(
            call={**ROWS, "axis": ("int, or a list of one", 1), "keepdims": ("word, bool", True)},
            cases=reduced_cases(kind),
        )
        for kind in OF_ROWS
    },
    "RaggedTensor.from_row_splits": Record(call={**ROWS, **PARTITION}),
    "RaggedTensor.from_row_lengths": Record(
        call={"values": VALUES, "row_lengths": ("integers, a vector", [1, 0, 3]), **PARTITION}
    ),
    "RaggedTensor.from_value_rowids": Record(
        call={
            "values": VALUES,
            "value_rowids": ("integers, a vector", [0, 1, 1, 3]),
            "nrows": SIZE,
            **PARTITION,
        }
    ),
    "RaggedTensor.from_tensor": Record(
        call={
            "tensor": NO_STRINGS,
            "lengths": ("integers", [1, 2, 3, 0]),
            "padding": ("word", None),
            "ragged_rank": ("int", 1),
            "row_splits_dtype": ("dtype, of indices", np.int32),
            "size": ("int", 6),
            "mode": MODE,
        },
        cases={
            "": from_tensor_case((3, 4), [1, 4, 0]),
            "of-vectors": from_tensor_case((2, 2, 3), [2, 1]),
            "empty": from_tensor_case((2, 0), [0, 0]),
        },
        narrow={"": from_tensor_case((4, LENGTH), FEW)},
    ),
    "RaggedTensor.to_tensor": Record(
        call={
            **ROWS,
            "default_value": ("scalar, of any shape", 7.0),
            "shape": ("ints, own", (3, 2, 3)),
        },
        cases={
            "": to_tensor_case((), 3, ()),
            "of-vectors": to_tensor_case((2,), 2, (2,)),
            "empty": to_tensor_case((2,), 3, (), []),
        },
    ),
    "RaggedTensor.gather": Record(
        call={**ROWS, "indices": ("integers, a vector", [2, 0]), "size": SIZE, "mode": MODE},
        cases={
            "": gather_case((), [2, 0, 2]),
            "of-vectors": gather_case((2,), [1, 2]),
            "empty": gather_case((), np.zeros(0)),
        },
        narrow={
            "": Case(
                lambda x, i: rows_of(x, [1] * LENGTH).gather(i, size=4).values,
                lambda x, i: x[i],
                (floats(LENGTH, 3),),
                (FEW,),
            )
        },
        out_of_bounds={
            "": outside(
                lambda i, **k: rows_of(floats(5)).gather(i, size=6, **k).values,
                [2, 0],
                [1, 3],
                "indices[1] = 3 is not in [0, 3)",
            )
        },
    ),
    "RaggedTensor.row_lengths": Record(call={**ROWS, "axis": ("int, or a list of one", 1)}),
    "RaggedTensor.nrows": Record(call={**ROWS, "out_type": ("dtype, of indices", np.int32)}),
    "RaggedTensor.value_rowids": Record(call=ROWS),
    "RaggedTensor.with_values": Record(call={**ROWS, "new_values": NO_STRINGS}),
}
