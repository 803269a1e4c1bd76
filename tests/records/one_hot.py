"""What is known of the functions of `_ops/one_hot.py`."""

import numpy as np

import jaxops
from records.record import LENGTH, NUMBERS, Case, Export, Record, floats


def one_hot(indices, depth, on_value=1, off_value=0, axis=-1, dtype=np.float32):
    indices = np.asarray(indices)
    out = np.full((*indices.shape, depth), off_value, dtype)
    for at in np.ndindex(*indices.shape):
        if 0 <= int(indices[at]) < depth:
            out[(*at, int(indices[at]))] = on_value
    return np.moveaxis(out, -1, axis)


def one_hot_case(indices, depth, **options):
    return Case(
        lambda on, off: jaxops.one_hot(indices, depth, on[0], off[0], **options),
        lambda on, off: one_hot(indices, depth, on[0], off[0], **options),
        (floats(1), floats(1)),
    )


CALL = {
    "indices": ("integers", NUMBERS),
    "depth": ("int", 3),
    "on_value": ("scalar", 2.0),
    "off_value": ("scalar", 1.0),
    "axis": ("int", 0),
    "dtype": ("dtype", "float32"),
}
RECORDS = {
    "one_hot": Record(
        call=CALL,
        cases={
            "first": one_hot_case([[0, 3], [1, -1]], 3, axis=0),
            "last": one_hot_case([0, 2, 2], 3),
            "empty": one_hot_case([0], 0),
        },
        narrow={
            "": (
                lambda i, **k: jaxops.one_hot(i, LENGTH),
                lambda i: np.eye(LENGTH, dtype=np.float32)[i],
            )
        },
        of_dtype=("on_value", "off_value"),
        exports=[
            Export("(i, 5)", lambda i: jaxops.one_hot(i, 5), ("n, m int",)),
            Export(
                "(i, x.shape[0])", lambda x, i: jaxops.one_hot(i, x.shape[0]), ("a", "n, m int")
            ),
        ],
        section="Indexing",
        readme=(
            "`tf.one_hot` | `one_hot` | static `depth` | sums, to `on_value` and `off_value` | -"
        ),
    )
}
