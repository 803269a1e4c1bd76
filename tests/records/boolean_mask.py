"""What is known of the functions of `_ops/boolean_mask.py`."""

import functools

import numpy as np

import jaxops
from records.arguments import HELD, MASK, WITH_ROWS
from records.loops import array_case, evaluated, filled, fitted, sized_case
from records.record import Record


def boolean_mask(tensor, mask, axis=0, size=None, fill_value=0, mode="fill"):
    tensor, mask = np.asarray(tensor), np.asarray(mask)
    axis = axis + tensor.ndim if axis < 0 else axis
    tensor = np.moveaxis(tensor, range(axis, axis + mask.ndim), range(mask.ndim))
    rows = [tensor[at] for at in np.ndindex(*mask.shape) if mask[at]]
    row_shape = tensor.shape[mask.ndim :]
    return np.moveaxis(fitted(rows, row_shape, tensor.dtype, size, fill_value), 0, axis)


def of_numbers(x, mask, *args, **kwargs):
    return jaxops.boolean_mask(x, mask > 0, *args, **kwargs)


exact = functools.partial(array_case, jaxops.boolean_mask, boolean_mask)
sized = functools.partial(sized_case, of_numbers, boolean_mask)


RECORDS = {
    "boolean_mask": Record(
        call={"tensor": WITH_ROWS, "mask": MASK, "axis": ("int", 0), **HELD},
        cases={
            "vector": exact((4,), [True, False, True, True]),
            "middle-axis": exact((2, 3, 4), [True, False, True], axis=-2),
            "last-axis": exact((2, 3, 4), [True, False, False, True], -1),
            "last-axes": exact((2, 3, 4), np.eye(3, 4) > 0, 1),
            "all-axes": exact((2, 2), np.eye(2) > 0),
            "none": exact((2,), [False, False]),
            "cut": sized((4,), [1, 0, 1, 1], size=2, mode="fill"),
            "axis": sized((2, 3, 2), [1, 0, 1], axis=1, size=3),
            "axes": sized((2, 3, 2), [[1, 0], [0, 0], [1, 1]], axis=-2, size=5),
            "empty": sized((0, 2), np.zeros(0), size=2),
        },
        exports=[evaluated(filled(jaxops.boolean_mask), "(x, mask, size=3)", "n, b", "n bool")],
        row="Indexing | `boolean_mask` | static `size=` | placed into zeros | what `size=` holds",
    )
}
