"""The bounds of the indices of each operation, and TensorFlow's words for an index outside."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxops._errors import OutOfBoundsError


def _join(values, separator: str = ",") -> str:
    return separator.join(str(value) for value in values)


@dataclasses.dataclass(frozen=True)
class IndexSpec:
    """Bounds of the index vectors in `indices[..., K]`; component `k` lies in `[0, limits[k])`.

    Static and hashable: it travels as a parameter of a primitive. Subclasses word the error.
    """

    operation: str
    limits: tuple[int, ...]

    def error(self, position: tuple[int, ...], index: tuple[int, ...]) -> OutOfBoundsError:
        """The error for the vector `index` that stands at `position`."""
        message, position, value, bound = self.describe(position, index)
        text = f"{message} [Op:{self.operation}]"
        return OutOfBoundsError(text, self.operation, position, value, bound)

    def describe(self, position, index) -> tuple[str, tuple[int, ...], int | tuple, int | tuple]:
        """Message, and the fields position, index and bound of the error."""
        raise NotImplementedError

    def first_bad_component(self, index: tuple[int, ...]) -> int:
        inside = [0 <= i < limit for i, limit in zip(index, self.limits, strict=True)]
        return inside.index(False)

    def find_error(self, indices: np.ndarray) -> OutOfBoundsError | None:
        """The error for the first vector out of bounds in concrete `indices`, or None."""
        bad = np.zeros(indices.shape[:-1], dtype=bool)
        for component, limit in enumerate(self.limits):
            values = indices[..., component]
            bad |= (values < 0) | (values >= limit)
        if not bad.any():
            return None
        position = np.unravel_index(int(np.argmax(bad)), bad.shape)
        index = tuple(int(i) for i in indices[position])
        return self.error(tuple(int(p) for p in position), index)


def _place(position: tuple[int, ...]) -> str:
    # TensorFlow writes `indices = 7` for a scalar index and `indices[0,1] = 7` otherwise.
    return f"indices[{_join(position)}]" if position else "indices"


@dataclasses.dataclass(frozen=True)
class ScalarIndex(IndexSpec):
    """`gather`: each index selects along one axis."""

    def describe(self, position, index):
        message = f"{_place(position)} = {index[0]} is not in [0, {self.limits[0]})"
        return message, position, index[0], self.limits[0]


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

    seq_axis: int

    def describe(self, position, index):
        length, limit = index[0], self.limits[0]
        place = f"seq_lens({_join(position)})"
        fault = f"{place} < 0" if length < 0 else f"{place} > input.dims({self.seq_axis})"
        return f"{fault}: {length} is not in [0, {limit})", position, length, limit
