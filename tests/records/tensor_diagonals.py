"""What is known of the functions of `_ops/tensor_diagonals.py`."""

import numpy as np

import jaxops
from records.arguments import NO_STRINGS
from records.loops import floats
from records.record import Case, Export, Record


def tensor_diag(diagonal):
    return np.diag(diagonal.reshape(-1)).reshape(diagonal.shape * 2)


def tensor_diag_part(x):
    half = x.shape[: x.ndim // 2]
    size = int(np.prod(half))
    return np.diagonal(x.reshape(size, size)).reshape(half)


RECORDS = {
    "tensor_diag": Record(
        call={"diagonal": NO_STRINGS},
        cases={
            "": Case(jaxops.tensor_diag, tensor_diag, (floats(2, 3),)),
            "empty": Case(jaxops.tensor_diag, tensor_diag, (floats(2, 0),)),
        },
        exports=[Export("(x)", jaxops.tensor_diag, ("a, b",))],
        row="Slicing and joining | `diag` | - | the diagonal | -",
    ),
    "tensor_diag_part": Record(
        call={"input": ("data, no strings", np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2))},
        cases={
            "": Case(jaxops.tensor_diag_part, tensor_diag_part, (floats(2, 3, 2, 3),)),
            "scalar": Case(jaxops.tensor_diag_part, tensor_diag_part, (floats(),)),
            "empty": Case(jaxops.tensor_diag_part, tensor_diag_part, (floats(2, 0, 2, 0),)),
        },
        exports=[Export("(x)", jaxops.tensor_diag_part, ("a, b, a, b",))],
        row="Slicing and joining | `diag_part` | - | on the diagonal | -",
    ),
}
