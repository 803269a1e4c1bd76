"""The bounds of the indices of each operation, and TensorFlow's words for an index outside."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from jaxops import _symbolic
from jaxops._call_sites import CallSite
from jaxops._errors import OutOfBoundsError


def _join(values, separator: str = ",") -> str:
    return separator.join(str(value) for value in values)


@dataclasses.dataclass(frozen=True)
class IndexSpec:
    """Bounds of the index vectors in `indices[..., K]`; component `k` lies in `[0, limits[k])`.

    Static and hashable: it travels as a parameter of a primitive. Subclasses word the error, and
    state the rules in which functions of TensorFlow differ. Those without fields of their own are
    made no dataclasses again, which would take a tenth of the time to import jaxops.
    """

    operation: str
    limits: tuple[int, ...]
    # For each component the number that marks an index vector as padding, in bounds or not, or
    # None. Empty where no vector is padding.
    padding: tuple[int | None, ...] = dataclasses.field(default=(), kw_only=True)

    # In mode "device", what an index out of bounds is where it is no error. "ignored": it reads 0,
    # and what it would write is dropped. "clipped": the nearest index in bounds. "by element": the
    # function looks at each element by itself.
    off_cpu: ClassVar[str] = "ignored"
    # What to do where a program is stored that would raise: the end of a message.
    to_export: ClassVar[str] = (
        "Use 'fill', 'clip', 'wrap' or 'promise_in_bounds', or export the function"
    )
    # Whether an index out of bounds is an error where no element would be read.
    is_checked_if_empty: ClassVar[bool] = True
    # Whether a negative index is ignored, and no error.
    ignores_negative: ClassVar[bool] = False
    # Whether this error is raised before that of the next check, of a number made of the index.
    comes_first: ClassVar[bool] = False
    # Whether a function of JAX takes the index. Where no check can stand, JAX's behaviour remains
    # for it; a function of jaxops is refused there.
    is_of_jax: ClassVar[bool] = False

    def raises_at(self, site: CallSite) -> bool:
        """Whether an index out of bounds is an error, whoever calls the program that checks it."""
        del site
        return True

    def inside(self, index, limit):
        """Whether a component of an index is in bounds; of a NumPy array whether each number is."""
        return (index < limit) & (self.ignores_negative | (index >= 0))

    def error(
        self, position: tuple[int, ...], index: tuple[int, ...], site: CallSite
    ) -> OutOfBoundsError:
        """The error for the vector `index` that stands at `position`, in the call at `site`."""
        message, position, value, bound = self.describe(position, index)
        text = f"{message}{_end_of_dtype(value)} [Op:{self.operation}]{site}"
        return OutOfBoundsError(text, self.operation, position, value, bound, *site)

    def describe(self, position, index) -> tuple[str, tuple[int, ...], int | tuple, int | tuple]:
        """Message, and the fields position, index and bound of the error."""
        raise NotImplementedError

    def first_bad_component(self, index: tuple[int, ...]) -> int:
        return [*map(self.inside, index, self.limits)].index(False)

    def outside(self, indices: np.ndarray, active: np.ndarray | None = None) -> np.ndarray:
        """Mask `[...]` of the vectors in concrete `indices[..., K]` that are out of bounds.

        `active` is a mask of the leading axes of the indices that count.
        """
        bad = np.zeros(indices.shape[:-1], dtype=bool)
        for component, limit in enumerate(self.limits):
            bad |= ~self.inside(indices[..., component], limit)
        for component, number in enumerate(self.padding):
            if number is not None:
                bad &= indices[..., component] != number
        if active is not None:
            bad &= active.reshape(active.shape + (1,) * (bad.ndim - active.ndim))
        return bad

    def find_error(
        self, indices: np.ndarray, site: CallSite, active: np.ndarray | None = None
    ) -> OutOfBoundsError | None:
        """The error for the first vector that is `outside`, or None."""
        bad = self.outside(indices, active)
        if not bad.any():
            return None
        position = np.unravel_index(int(np.argmax(bad)), bad.shape)
        index = tuple(int(i) for i in indices[position])
        return self.error(tuple(int(p) for p in position), index, site)


def _end_of_dtype(index: int | tuple[int, ...]) -> str:
    """The hint about an index that may stand for one beyond it: see `arguments.to_indices`."""
    for bits in (32, 64):
        if not {-(2 ** (bits - 1)), 2 ** (bits - 1) - 1}.isdisjoint(np.ravel(index).tolist()):
            return f" (int{bits} has no number beyond it)"
    return ""


def _place(position: tuple[int, ...], arg: str = "indices") -> str:
    # TensorFlow writes `indices = 7` for a scalar index and `indices[0,1] = 7` otherwise.
    return f"{arg}[{_join(position)}]" if position else arg


def padding_of(number: int | None, limits: tuple[int, ...]) -> tuple[int | None, ...]:
    """The `padding` of index vectors with these limits, where one number marks padding.

    If some axis has no element of this number, only components along such axes mark padding: in an
    array of shape (5, 3) the vector [1, 3] is padding where 3 is the number, and [3, 1] is none.
    """
    if number is None:
        return ()
    held = [
        number >= 0 and (not _symbolic.are_known([limit]) or number < limit) for limit in limits
    ]
    return tuple(None if is_held and not all(held) else number for is_held in held)


class ScalarIndex(IndexSpec):
    """`gather`: each index selects along one axis."""

    arg: ClassVar[str] = "indices"
    # TensorFlow's gather looks at no index of an empty result, and its gather_nd looks at all
    # (test_check.py, test_empty_results).
    is_checked_if_empty = False

    def describe(self, position, index):
        message = f"{_place(position, self.arg)} = {index[0]} is not in [0, {self.limits[0]})"
        return message, position, index[0], self.limits[0]


class DefaultId(ScalarIndex):
    """`safe_embedding_lookup_sparse`: one number, which the caller gives as `default_id`."""

    arg = "default_id"


class RowIndex(ScalarIndex):
    """`sparse_segment_*`: looked at also where rows have no elements."""

    is_checked_if_empty = True


@dataclasses.dataclass(frozen=True)
class VectorIndex(IndexSpec):
    """`gather_nd` and the scatters: each index vector selects along the axes after `batch_dims`.

    As in TensorFlow, the coordinates of the batch belong to the vector that is printed.
    """

    noun: str  # the message's name for the shape of the indexed array
    shape: tuple[int, ...]
    indices_ndim: int
    batch_dims: int = 0

    def describe(self, position, index):
        mapped_axes = len(position) - (self.indices_ndim - 1)
        batch = position[mapped_axes : mapped_axes + self.batch_dims]
        message = (
            f"{_place(position)} = [{_join(batch + index, ', ')}] "
            f"does not index into {self.noun} [{_join(self.shape)}]"
        )
        return message, position, index, self.limits


@dataclasses.dataclass(frozen=True)
class SliceBegin(IndexSpec):
    """`slice`: `begin[i]` lies in `[0, D_i - size_i]`, that is below `limits[i]`."""

    off_cpu = "by element"
    shape: tuple[int, ...]

    def describe(self, position, index):
        axis = self.first_bad_component(index)
        begin, dim = index[axis], self.shape[axis]
        if 0 <= begin <= dim:
            size = dim - self.limits[axis] + 1
            message = f"Expected size[{axis}] in [0, {dim - begin}], but got {size}"
        else:
            message = f"Expected begin[{axis}] in [0, {dim}], but got {begin}"
        return message, (*position, axis), begin, self.limits[axis]


@dataclasses.dataclass(frozen=True)
class ShrunkAxes(IndexSpec):
    """`strided_slice`: the single indices of shrunk axes, negative ones already resolved.

    Component `k` stands at `begin[places[k]]` and indexes the axis `axes[k]`.
    """

    axes: tuple[int, ...]
    places: tuple[int, ...]

    def describe(self, position, index):
        k = self.first_bad_component(index)
        message = f"slice index {index[k]} of dimension {self.axes[k]} out of bounds."
        return message, (*position, self.places[k]), index[k], self.limits[k]


@dataclasses.dataclass(frozen=True)
class SequenceLength(IndexSpec):
    """`reverse_sequence`: a length is at most the dimension of `seq_axis`, so below the limit."""

    off_cpu = "clipped"
    seq_axis: int

    def describe(self, position, index):
        length, limit = index[0], self.limits[0]
        place = f"seq_lens({_join(position)})"
        fault = f"{place} < 0" if length < 0 else f"{place} > input.dims({self.seq_axis})"
        return f"{fault}: {length} is not in [0, {limit})", position, length, limit


@dataclasses.dataclass(frozen=True)
class BandWidth(IndexSpec):
    """`matrix_band_part`: a number of diagonals is at most that of rows or columns."""

    off_cpu = "clipped"
    arg: str

    def describe(self, position, index):
        width, limit = index[0], self.limits[0]
        what = "rows" if self.arg == "num_lower" else "columns"
        message = f"{self.arg} must be negative or at most the number of {what}, {limit - 1}"
        return f"{message}; received {width}", position, width, limit


class PartitionNumber(ScalarIndex):
    """`dynamic_partition`: each entry of `partitions` is the number of a partition."""

    arg = "partitions"
    is_checked_if_empty = True


class RepeatCount(ScalarIndex):
    """`repeat`: how often a slice is repeated is no index, but as an index not negative."""

    arg = "repeats"
    is_checked_if_empty = True
    off_cpu = "by element"


class PermutationEntry(IndexSpec):
    """`invert_permutation`: a number, and whether it stands in `x` before as well (0 or 1)."""

    def describe(self, position, index):
        place = f"{_place(position, 'x')} = {index[0]}"
        number, limit = index[0], self.limits[0]
        if self.inside(number, limit):
            return f"{place} is duplicated in the input.", position, number, limit
        return f"{place} is not between 0 and {limit}", position, number, limit


@dataclasses.dataclass(frozen=True)
class StitchIndices(IndexSpec):
    """`dynamic_stitch`: each entry of some lists of indices, joined, is a place in the result."""

    first: int  # of the lists
    shapes: tuple[tuple[int, ...], ...]

    def describe(self, position, index):
        # TensorFlow's message tells the flat position in that tensor, and not in which.
        *batch, flat = position
        number, shape = self.first, self.shapes[0]
        while flat >= math.prod(shape):
            flat -= math.prod(shape)
            number += 1
            shape = self.shapes[number - self.first]
        within = tuple(map(int, np.unravel_index(flat, shape)))
        place = _place(within, f"indices[{number}]")
        message = (
            f"indices[{flat}] is out of range: {place} = {index[0]} is not in [0, {self.limits[0]})"
        )
        return message, (*batch, number, *within), index[0], self.limits[0]


@dataclasses.dataclass(frozen=True)
class RowPartition(IndexSpec):
    """`RaggedTensor` and `segment_*`: numbers that say where rows are, each beside the step to it.

    The component 0 is a row split, below the number of values plus 1, or the number of a row. The
    component 1 is how far it is from the one before; that of the first split how far from 0, and
    behind `count` splits may come the number of values.
    """

    arg: str
    count: int

    def describe(self, position, index):
        *batch, k = position
        number, step = index[:2]  # a third component says whether a row is left out
        if self.arg in ("value_rowids", "segment_ids"):
            message, bound = self._of_rowid(k, number, step), self.limits[0]
        else:
            message, bound = self._of_split(k, number, step), self.limits[0] - 1
        return message, (*batch, min(k, self.count - 1)), number, bound

    def _of_rowid(self, k, number, step):
        if 0 <= number < self.limits[0]:
            cure = "sort the rows by them"
            if self.arg == "segment_ids":
                of_rows = " of the rows" if self.operation.startswith("sparse_") else ""
                function = f"unsorted_{self.operation.removeprefix('sparse_')}"
                cure = f"{function}{of_rows} takes any order"
            place = f"{self.arg}[{k}] = {number}"
            return f"{place} is less than the one before, {number - step}; {cure}"
        return f"{self.arg}[{k}] = {number} is not in [0, {self.limits[0]})"

    def _of_split(self, k, number, step):
        capacity = self.limits[0] - 1
        of_lengths = self.arg == "row_lengths"
        if k == self.count or number > capacity:
            total = (
                "the sum of row_lengths" if of_lengths else f"row_splits[{min(k, self.count - 1)}]"
            )
            relation = "more than" if number > capacity else "not"
            return f"{total} = {number} is {relation} the number of values, {capacity}"
        if of_lengths:
            return f"row_lengths[{k - 1}] = {step} is negative"
        if k == 0:
            return f"row_splits[0] = {number} is not 0"
        return f"row_splits[{k}] = {number} is less than the one before, {number - step}"


class SegmentIds(IndexSpec):
    """`unsorted_segment_*`: the number of the segment that a slice belongs to."""

    # A mean looks at its ids even so, because its counts have elements (test_segments.py,
    # test_ids_are_not_looked_at_where_data_have_no_elements).
    is_checked_if_empty = False

    def describe(self, position, index):
        place = _place(position, "segment_ids")
        message = f"{place} = {index[0]} is out of range [0, {self.limits[0]})"
        return message, position, index[0], self.limits[0]


class SegmentIdsOrNone(SegmentIds):
    """Segment numbers of which a negative one says that the slice belongs to no segment."""

    ignores_negative = True
