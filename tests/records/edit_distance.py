"""What is known of the function of `_ops/edit_distance.py`."""

import functools
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

    @functools.cache
    def of_starts(n, m):
        if not n or not m:
            return n + m
        replaced = of_starts(n - 1, m - 1) + (x[n - 1] != y[m - 1])
        return min(replaced, of_starts(n - 1, m) + 1, of_starts(n, m - 1) + 1)

    return of_starts(len(x), len(y))


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
