"""What a case of the harness is."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

MODES = ("device", "error", "fill", "clip", "wrap", "promise_in_bounds")


# Public functions that are no array operations.
TRANSFORMATIONS = {"lazy", "sparse_value_and_grad"}
TRANSFORMATIONS |= {"psum", "pmean", "sum_stacked", "global_norm", "clip_by_global_norm"}


class Case(NamedTuple):
    """A call `op(*data, *indices, **options)` and a plain-loop oracle that takes the same.

    `data` are the float arrays, which have gradients; `indices` the integer ones that have bounds.
    """

    op: Callable[..., Any]
    oracle: Callable[..., Any]
    data: tuple[np.ndarray, ...]
    indices: tuple[np.ndarray, ...] = ()
    modes: tuple[str, ...] = ()  # none: the op has no argument `mode`
    linear: bool = True  # in `data`
    has_deterministic: bool = False

    @property
    def args(self) -> tuple[np.ndarray, ...]:
        return (*self.data, *self.indices)


def floats(*shape):
    return np.random.default_rng(0).integers(-9, 9, shape).astype(np.float32)
