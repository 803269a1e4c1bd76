"""What is known of the functions of `_ops/unique.py`."""

import numpy as np

import jaxops
from records.arguments import HELD, NUMBERS
from records.loops import evaluated, filled, fitted
from records.record import Case, Record


def unique_with_counts(x, size=None, fill_value=0):
    values, idx, count = [], [], []
    for value in np.asarray(x):
        found = [k for k, other in enumerate(values) if other == value]  # never for NaN
        if not found:
            found = [len(values)]
            values.append(value)
            count.append(0)
        idx.append(found[0])
        count[found[0]] += 1
    y = fitted(values, (), np.asarray(x).dtype, size, fill_value)
    return y, np.array(idx, np.int32), fitted(count, (), np.int32, size, 0)


def unique_case(x, part, size):
    """One part of the result, of which `y` has a gradient."""
    op = jaxops.unique_with_counts if part == "count" else jaxops.unique

    def oracle(x):
        y, idx, count = unique_with_counts(x, size)
        return {"y": y, "idx": idx, "count": count}[part].astype(np.float32)

    return Case(
        lambda x: getattr(op(x, size=size), part).astype(np.float32),
        oracle,
        (np.asarray(x, np.float32),),
        linear=False,  # which elements are taken depends on them
    )


def of_rows(x, size=None):
    """The numbers of distinct rows, and the rows as numbers."""
    rows = [tuple(row) for row in np.asarray(x).tolist()]
    firsts = [rows.index(row) for row in dict.fromkeys(rows)]
    return fitted([x[i] for i in firsts], x.shape[1:], x.dtype, size, 0)


CALL = {
    "x": ("integers, data", NUMBERS),
    "axis": ("int, or a list of one, in [-1, 1)", 0),
    "out_idx": ("dtype, of indices", "int32"),
    **HELD,
    "fill_value": ("scalar, of that dtype", 7),
}
RECORDS = {
    "unique": Record(
        call=CALL,
        cases={
            "idx": unique_case([5, 3, 5, 1], "idx", 4),
            "padded": unique_case([5, 3, 5, 1], "y", 6),
            "rows": Case(
                lambda x: jaxops.unique(x, size=4, axis=0).y,
                lambda x: of_rows(x, 4),
                (np.array([[5, 3], [3, 5], [5, 3], [5, 1]], np.float32),),
                linear=False,
            ),
            "columns": Case(
                lambda x: jaxops.unique(x, size=3, axis=-1).y,
                lambda x: of_rows(x.T, 3).T,
                (np.array([[5, 5, 3], [3, 3, 5]], np.float32),),
                linear=False,
            ),
        },
        of_dtype=("x",),
        exports=[
            evaluated(filled(jaxops.unique), "(x, size=4)", "n int"),
            evaluated(filled(jaxops.unique), "(x, size=4, axis=0)", "n, m int"),
        ],
        row="Indexing | `unique` | static `size=` | to first occurrences | what `size=` holds",
    ),
    "unique_with_counts": Record(
        call=CALL,
        cases={"count": unique_case([5, 3, 5, 1], "count", 6), "empty": unique_case([], "y", 2)},
        of_dtype=("x",),
        exports=[evaluated(filled(jaxops.unique_with_counts), "(x, size=4)", "n")],
        row=(
            "Indexing | `unique_with_counts` | static `size=` | to first occurrences | "
            "what `size=` holds"
        ),
    ),
}
