"""What is known of the function of `_ops/edit_distance.py`."""

from types import SimpleNamespace
from typing import Any

import numpy as np

import jaxops
from records.casting import constant_case
from records.loops import evaluated
from records.record import Record


def sparse(rows, dense_shape=None) -> Any:
    """A sparse matrix of rows of different lengths."""
    rows = rows if isinstance(rows, list) else np.asarray(rows).tolist()
    places = [[row, n] for row, values in enumerate(rows) for n in range(len(values))]
    return SimpleNamespace(
        indices=np.array(places, np.int64).reshape(-1, 2),
        values=[value for values in rows for value in values],
        dense_shape=dense_shape or (len(rows), max(map(len, rows))),
    )


def distance(x, y):
    """By the definition: the last elements are equal, or replaced, or one of them is left out."""
    if not len(x) or not len(y):
        return len(x) + len(y)
    replaced = distance(x[:-1], y[:-1]) + (x[-1] != y[-1])
    return min(replaced, distance(x[:-1], y) + 1, distance(x, y[:-1]) + 1)


def _edit_distance(hypothesis, truth, normalize=True, name: Any = "edit_distance"):
    return jaxops.edit_distance(sparse(hypothesis), sparse(truth), normalize, name)


# As the tests call it: with rows of values.
FUNCTIONS = {"edit_distance": _edit_distance}
WORDS = [["kitten", "sunday", ""], ["sitting", "saturday", "a"]]

RECORDS = {
    "edit_distance": Record(
        call={
            "hypothesis": ("text", [["a", "b"], ["c", "d"]]),
            "truth": ("text", [["a", "c"], ["c", "d"]]),
            "normalize": ("word, bool", False),
        },
        cases={
            "": constant_case(
                lambda: jaxops.edit_distance(*map(sparse, WORDS), normalize=False)[None],
                [distance(x, y) for x, y in zip(*WORDS, strict=True)],
            )
        },
        exports=[evaluated(jaxops.edit_distance, "(x, x)", "n", refused="edit_distance: ")],
        row="Indexing | - | constants only: computed on the host | - | -",
    )
}
