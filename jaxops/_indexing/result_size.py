"""Elements that a static `size=` does not hold: one rule, in every function with that argument.

An element that has no place in the result is an index beyond it. In the default mode that is an
error on the CPU; elsewhere the element is dropped. `mode="fill"` drops it everywhere. So does
`return_size=True`, as the number that it returns tells the caller.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax
import numpy as np
from jax.export import is_symbolic_dim

from jaxops._indexing import policy
from jaxops._indexing.check_primitive import raises
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import IndexSpec

_INT32_MAX = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class NumElements(IndexSpec):
    """The number of elements for each result is an index, below the limit `size + 1`."""

    noun: str  # the elements
    is_list: bool  # whether there are several results
    drops: str  # the arguments with which the rest is dropped

    def describe(self, position, index):
        which = self.first_bad_component(index)
        count, size = index[which], self.limits[which] - 1
        noun = f"{self.noun} {which}" if self.is_list else self.noun
        of_batch = f" at {list(position)} of the batch" if position else ""
        message = f"{count} {noun}{of_batch} do not fit size={size}; {self.drops} drops the rest"
        place = (*position, which) if self.is_list else position
        return message, place, count, size + 1


def num_elements(
    op: str,
    sizes: int | Sequence[int],
    noun: str,
    drops: str = 'mode="fill" or return_size=True',
) -> NumElements:
    is_list = not isinstance(sizes, int)
    # There are always fewer elements than int32 has numbers.
    limits = tuple(min(size + 1, _INT32_MAX) for size in (sizes if is_list else [sizes]))
    return NumElements(op, limits, noun, is_list, drops)


def check_mode_of_size(op: str, mode: Mode) -> None:
    """Refuses a mode that says nothing of elements that a size does not hold."""
    policy.check_mode(op, mode)
    if mode in ("clip", "wrap"):
        raise ValueError(
            f"{op}: mode must be device, error, fill or promise_in_bounds, as there is no other "
            f"place for an element that size does not hold; received {mode!r}"
        )


def mode_of_size(op: str, mode: Mode, size: object, return_size: bool = False) -> Mode:
    """The mode that applies, in functions where `mode` is about `size` alone."""
    check_mode_of_size(op, mode)
    if size is None and mode != "device":
        raise ValueError(f"{op}: mode is used with size only; received mode={mode!r}")
    return "fill" if return_size else mode


def hold(spec: NumElements, counts: jax.Array, most: int, mode: str) -> jax.Array:
    """int32 `counts` that are checked; none of them is larger than `most`.

    XLA drops a check on whose result nothing depends, so compute with the result. The check
    compares one scalar for each size, or nothing if the sizes hold `most`.
    """
    # test_result_size.py, test_a_size_that_holds_the_most_there_can_be_costs_no_check, looks for a
    # check in the program.
    fits = not is_symbolic_dim(most) and most < min(spec.limits)
    if fits or not raises(mode, "cpu"):
        return counts
    return policy.resolve(spec, counts.reshape(-1), mode).indices.reshape(counts.shape)


def check_on_host(op: str, size: int, noun: str, count: int, mode: str) -> None:
    """Checks a count that is known, as `hold` does counts in a program."""
    policy.is_known_in_bounds(num_elements(op, size, noun), np.array([count]), mode, "cpu")
