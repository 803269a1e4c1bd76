"""The bounds of an index of JAX, and the words for one that is outside."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from jaxops._call_sites import CallSite
from jaxops._checked import whose
from jaxops._errors import OutOfBoundsError
from jaxops._indexing.specs import IndexSpec

# The site of a check in a function of JAX that is traced once for all of its calls, as it is jitted
# or handed to `lax.cond` or `jax.checkpoint` by name. Where the function is called in a trace, the
# call gets a program with its own site. Where it is called eagerly, the error gets the site of the
# call. Of a program that `jax.stages` calls, the stack tells the site when the program raises.
LATER = CallSite("<a call of a function of JAX>", None)


class IndexOfJax(IndexSpec):
    """An index, or another number of JAX's functions, that the caller's code gives."""

    to_export: ClassVar[str] = (
        "Export a function that is not checked (jaxops.unchecked), or the function"
    )
    is_of_jax: ClassVar[bool] = True
    # Whether `outside="padding"` lets it be the limit.
    takes_padding: ClassVar[bool] = False

    def raises_at(self, site):
        return site != LATER

    def error(self, position, index, site):
        if site != LATER:
            return super().error(position, index, site)
        spec, site = self._of_running_call()
        if spec is None or all(map(self.inside, index, spec.limits)):
            return None
        return spec.error(position, index, site)

    def find_error(self, indices, site, active=None) -> OutOfBoundsError | None:
        if site != LATER:
            return super().find_error(indices, site, active)
        spec, site = self._of_running_call()
        return spec and spec.find_error(indices, site, active)

    def _of_running_call(self) -> tuple[IndexOfJax | None, CallSite]:
        access = whose.access_of_running_call()
        if access is None or access.site is None:
            return None, LATER
        return self.of(access), access.site

    def of(self, access: whose.Access) -> IndexOfJax:
        """The index with another access: the words for how the caller's code takes it."""
        slack = access.slack and self.takes_padding
        limits = tuple(limit + slack for limit in self.limits)
        operation = access.operation or self.operation  # if the caller called the function itself
        # A call has the padding of the trace of its program: keys of JAX's caches have it.
        padding = self.padding if access.padding is None else self.padded_with(access.padding)
        return dataclasses.replace(self, operation=operation, limits=limits, padding=padding)

    def padded_with(self, number: int) -> tuple[int | None, ...]:
        """The `padding` where an index that the caller writes as this number is no error."""
        return (number,)


def _at(position: tuple[int, ...]) -> str:
    return f" at position {list(position)}" if position else ""


def _refused(index: int, position: tuple[int, ...]) -> str:
    return f"index {index}{_at(position)} is negative, which negative='error' refuses"


class Components(NamedTuple):
    """The axis, the size of the slice, and `wraps` for each component of the index vectors.

    `wraps` says whether JAX counts a negative number from the end. In a gather or scatter JAX does
    so for the index of an element, and leaves the start of a `jax.ds` as it is.
    """

    axes: tuple[int, ...]
    sizes: tuple[int, ...]
    wraps: tuple[bool, ...]

    @classmethod
    def of_gather(cls, numbers: Any, slice_sizes: Sequence[int], wraps: bool) -> Components:
        """The components of a gather."""
        axes, elements = numbers.start_index_map, numbers.collapsed_slice_dims
        sizes = [slice_sizes[axis] for axis in axes]
        return cls(axes, tuple(sizes), tuple(wraps and axis in elements for axis in axes))

    @classmethod
    def of_scatter(cls, operand: Any, updates: Any, numbers: Any, wraps: bool) -> Components:
        """The components of a scatter."""
        axes, elements = numbers.scatter_dims_to_operand_dims, numbers.inserted_window_dims
        window = iter([np.shape(updates)[d] for d in numbers.update_window_dims])
        inserted = {*elements, *numbers.operand_batching_dims}
        sizes = [1 if d in inserted else next(window) for d in range(np.ndim(operand))]
        wrapped = tuple(wraps and axis in elements for axis in axes)
        return cls(axes, tuple(sizes[axis] for axis in axes), wrapped)

    @classmethod
    def of_starts(cls, axes: Sequence[int], slice_sizes: Sequence[int], wraps: Any) -> Components:
        """The components of a slice that begins at a start along each of `axes`.

        `wraps` is a bool, or a bool for each axis of the operand.
        """
        each = np.broadcast_to(wraps, len(slice_sizes)).tolist()
        sizes = tuple(slice_sizes[axis] for axis in axes)
        return cls(tuple(axes), sizes, tuple(each[axis] for axis in axes))


@dataclasses.dataclass(frozen=True)
class JaxIndex(IndexOfJax):
    """`x[i]`, `jnp.take`, `x.at[i].set`, `lax.dynamic_slice` and others.

    Component `k` indexes the axis `axes[k]` of an array of this shape, where a window of
    `sizes[k]` elements begins. `wraps[k]`: JAX has added the size of the axis to a negative index.
    """

    takes_padding = True
    axes: tuple[int, ...]
    sizes: tuple[int, ...]
    shape: tuple[int, ...]
    wraps: tuple[bool, ...]
    bits: int = dataclasses.field(default=64, kw_only=True)

    @classmethod
    def into(cls, shape, operation: str, components: Components, bits: int = 64) -> JaxIndex:
        """The index, of so many bits, into an array of this shape."""
        each = zip(components.axes, components.sizes, strict=True)
        limits = tuple(shape[axis] - size + 1 for axis, size in each)
        fields = limits, components.axes, components.sizes, shape, components.wraps
        return cls(operation, *fields, bits=bits)

    def padded_with(self, number):
        # A component in bounds marks no padding: the error of another component must stay one.
        each = zip(self.axes, self.wraps, self.limits, strict=True)
        numbers = [
            (number + self.shape[axis] if number < 0 and wraps else number, limit)
            for axis, wraps, limit in each
        ]
        return tuple(None if 0 <= value < limit else value for value, limit in numbers)

    def describe(self, position, index):
        k = self.first_bad_component(index)
        axis, value, limit = self.axes[k], index[k], self.limits[k]
        if value < 0 and self.wraps[k]:
            # As the caller wrote it. JAX adds the size of the axis in the dtype of the index.
            half, size = 2 ** (self.bits - 1), self.shape[axis]
            value = (value - size + half) % (2 * half) - half
        message = (
            f"index {value}{_at(position)} is out of bounds for axis {axis} of an array of shape "
            f"{self.shape}"
        )
        if -self.shape[axis] <= value < 0 and self.wraps[k]:
            message += f"; an int{self.bits} does not hold the size of the axis, which JAX adds"
        if self.sizes[k] > 1:
            message += f", where a window of {self.sizes[k]} begins in [0, {limit})"
            # JAX gives the same number for both (test_index.py, test_window_from_the_end).
            if self.wraps[k] and limit <= value < self.shape[axis]:
                message += f"; {value - self.shape[axis]} counts from the end to {value}"
        return message, position, value, limit


class SegmentNumber(JaxIndex):
    """`jax.ops.segment_sum` and its sisters: a negative number is that of no segment."""

    ignores_negative = True


class SegmentNumberFromZero(JaxIndex):
    """The number of a segment, where `negative="error"` refuses negative numbers."""

    def describe(self, position, index):
        message, position, index, bound = super().describe(position, index)
        return _refused(index, position) if index < 0 else message, position, index, bound


class PutIndex(JaxIndex):
    """`jnp.put`: an index into the flat array."""

    def describe(self, position, index):
        message, position, index, bound = super().describe(position, index)
        return f"{message}, flat", position, index, bound


class NegativeIndex(IndexOfJax):
    """An array of indices as the caller wrote them, before JAX adds the size of the axis."""

    def describe(self, position, index):
        return _refused(index[0], position), position, index[0], self.limits[0]


class OneHotClass(IndexOfJax):
    """`jax.nn.one_hot`: the number of a class."""

    takes_padding = True

    def describe(self, position, index):
        message = f"class {index[0]}{_at(position)} is not in [0, {self.limits[0]})"
        return message, position, index[0], self.limits[0]


@dataclasses.dataclass(frozen=True)
class WideIndex(IndexOfJax):
    """An index that JAX converts to int32, by its distance from the `least` number of int32."""

    comes_first = True  # the number that JAX makes of the index may be out of bounds too
    least: int

    def padded_with(self, number):
        return (number - self.least,)

    def describe(self, position, index):
        value = index[0] + self.least
        value += (value < -(2**63)) * 2**64  # of the largest the difference did not fit either
        added = ", with the size of the axis added," if value < 0 else ""
        message = f"index {value}{_at(position)}{added} is out of bounds: int32 does not hold it"
        return message, position, value, self.limits[0] + self.least


@dataclasses.dataclass(frozen=True)
class RepeatedLength(IndexOfJax):
    """`jnp.repeat`: how much more than `total` the sum of the repeats is, which must be 0."""

    total: int

    def padded_with(self, number):
        del number
        return ()

    def describe(self, position, index):
        received = self.total + index[0]
        message = f"the sum of repeats, {received}, is not total_repeat_length, {self.total}"
        return message, position, received, self.total
