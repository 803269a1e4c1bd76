"""The equations of a traced program that read rows of a table, and the positions of these rows.

Rows are counted along the first `depth` axes of the table, in row-major order. `depth` is 1 for
`table[indices]`, and 2 for elements `table[i, j]` or with a batch dimension. A position outside
`[0, rows)` reads nothing. In a table of shape [4, 3]:

    table[[2, 0]]            depth 1, positions [2, 0]
    table[[2, 0], [1, 1]]    depth 2, positions [2 * 3 + 1, 0 * 3 + 1]
    table[1:3]               depth 1, positions [1, 2]
    table[[2, 9]]            depth 1, positions [2, 4]: 9 is out of bounds, 4 the number of rows
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxops import _forms, _jax_internals
from jaxops._devices import exchange
from jaxops._devices.exchange import RowSharding
from jaxops._indexing import deterministic_sums, index_dtypes, moved_windows
from jaxops._indexing.dimension_numbers import gather_dimension_numbers, lax_gather
from jaxops._indexing.index_dtypes import position_dtype
from jaxops._jax_internals import JaxprEqn
from jaxops._sparse.jaxprs import jax_primitives, type_of

_MODES = lax.GatherScatterMode


class Access(NamedTuple):
    """The windows of a table that a `slice`, `dynamic_slice` or `gather` reads; all is static."""

    shape: tuple[int, ...]  # of the table
    sizes: tuple[int, ...]  # of a window
    strides: tuple[int, ...]  # within a window
    batch_shape: tuple[int, ...]  # how many windows
    collapsed: tuple[int, ...]  # axes of the windows, of size 1, that the result lacks
    offset_dims: tuple[int, ...]  # dimensions of the result that run over a window
    mode: lax.GatherScatterMode
    sharding: RowSharding | None = None  # of the table, whose `shape` is that of the whole one

    @classmethod
    def of_window(cls, shape: tuple, sizes: tuple, mode: Any, strides: Any = None) -> Access:
        """The access of one window, of which the result has all axes."""
        rank = len(shape)
        return cls(shape, sizes, strides or (1,) * rank, (), (), tuple(range(rank)), mode)

    @property
    def depth(self) -> int:
        """Number of leading axes up to the last one that a window does not read whole."""
        return 1 + max((a for a in range(len(self.shape)) if not self._reads_all(a)), default=0)

    @property
    def chooses_rows(self) -> bool:
        """Whether windows have a part of the first axis, or its only row; else it is no lookup."""
        return not self._reads_all(0) or self.shape[0] == 1

    def _reads_all(self, axis: int) -> bool:
        return self.sizes[axis] == self.shape[axis] and self.strides[axis] == 1

    @property
    def _kept(self) -> list[int]:
        """The axes of a window that the result has."""
        return [axis for axis in range(len(self.shape)) if axis not in self.collapsed]

    def to_result(self, rows: jax.Array) -> jax.Array:
        """The result of the access, from rows `[n, *row_shape]` in the order of the positions."""
        rows = rows.reshape(*self.batch_shape, *(self.sizes[axis] for axis in self._kept))
        rank = rows.ndim
        batch = iter(range(len(self.batch_shape)))
        window = iter(range(len(self.batch_shape), rank))
        return rows.transpose(
            [next(window if d in self.offset_dims else batch) for d in range(rank)]
        )

    @property
    def num_positions(self) -> int:
        return math.prod(self.batch_shape) * math.prod(self._window)

    @property
    def _window(self) -> list[int]:
        """The sizes of a window along those of the first `depth` axes that the result has."""
        return [self.sizes[axis] for axis in range(self.depth) if axis in self._kept]

    @property
    def position_dtype(self) -> Any:
        return position_dtype(self.shape[: self.depth], "sparse_value_and_grad", "tables")

    def positions(self, starts: Sequence[jax.Array | None]) -> jax.Array:
        """Row-major positions `[n]` of the rows, for windows that begin at `starts[axis]`.

        None stands for 0. Of a window that is out of bounds the positions are the number of rows,
        but where the mode clips.
        """
        starts, valid = self.moved_inside(starts)
        result = self.row_major(starts)
        if valid is not None:
            valid = lax.broadcast_in_dim(valid, result.shape, range(valid.ndim))
            rows = math.prod(self.shape[: self.depth])
            result = lax.select(valid, result, lax.full_like(result, rows))
        return lax.reshape(result, (result.size,))

    def moved_inside(self, starts: Sequence) -> tuple[list, jax.Array | None]:
        """The begins of the nearest windows inside, and which windows are inside as they are.

        None if the mode clips. Else a window that is not wholly inside is dropped as a whole.
        """
        starts, valid = list(starts), None
        for axis, start in enumerate(starts):
            if start is not None:
                last = self.shape[axis] - (self.sizes[axis] - 1) * self.strides[axis] - 1
                starts[axis] = nearest = jnp.clip(start, 0, last)
                if self.mode != _MODES.CLIP:
                    inside = lax.eq(start, nearest)
                    valid = inside if valid is None else lax.bitwise_and(valid, inside)
        return starts, valid

    def row_major(self, starts: Sequence[jax.Array | None]) -> jax.Array:
        """Positions `[*batch_shape, *window]` of the rows, if all windows are inside."""
        dtype = self.position_dtype
        shape = (*self.batch_shape, *self._window)
        result: jax.Array | None = None
        dimension = len(self.batch_shape)
        for axis in range(self.depth):
            if result is not None:
                result = lax.mul(result, lax.full_like(result, self.shape[axis]))
            if (start := starts[axis]) is not None:
                start = lax.convert_element_type(start, dtype)
                start = lax.broadcast_in_dim(start, shape, range(start.ndim))
                result = start if result is None else lax.add(result, start)
            if axis in self._kept:
                offset = lax.broadcasted_iota(dtype, shape, dimension)
                offset = lax.mul(offset, lax.full_like(offset, self.strides[axis]))
                result = offset if result is None else lax.add(result, offset)
                dimension += 1
        return jnp.zeros(shape, dtype) if result is None else result


def window_of(eqn: JaxprEqn) -> Access | None:
    """The access by which `eqn` reads windows of its first operand; None if it reads none."""
    reader = _reader(eqn)
    return reader[0](eqn) if reader else None


def is_gather(eqn: JaxprEqn) -> bool:
    """Whether `eqn` is a `lax.gather`, or stands for one."""
    reader = _reader(eqn)
    return reader is not None and reader[0] is _gather_access


def describe(eqn: JaxprEqn) -> str:
    """The use that `eqn` makes of a table if it does not look it up, in words."""
    name = "sharded_gather" if eqn.primitive is exchange.gather_p else eqn.primitive.name
    access = window_of(eqn)
    reads_all = access is not None and not access.chooses_rows
    return f"{name}, with all of its first axis" if reads_all else name


def starts_of(eqn: JaxprEqn, operands: list) -> list[jax.Array | None]:
    """The begin of the windows along each axis of the table, from the operands after the table.

    None stands for 0.
    """
    reader = _reader(eqn)
    assert reader is not None, "asked for after `window_of`"
    return reader[1](eqn, *operands)


def _reader(eqn: JaxprEqn) -> tuple[Callable, Callable] | None:
    """The functions for the access and the starts of an equation that reads parts of a table.

    A form that programs for the CPU compute faster is read as the function of which it is a form.
    """
    return _READERS.get(_forms.reference_of(eqn.primitive) or eqn.primitive)


def _slice_access(eqn: JaxprEqn) -> Access:
    shape, sizes = type_of(eqn.invars[0]).shape, type_of(eqn.outvars[0]).shape
    is_static = eqn.primitive is jax_primitives.slice_p
    strides = _jax_internals.param(eqn, "strides") if is_static else None
    return Access.of_window(shape, sizes, _MODES.CLIP, strides)


def _slice_starts(eqn: JaxprEqn):
    starts = _jax_internals.param(eqn, "start_indices")
    return [jnp.asarray(start) if start else None for start in starts]


def _dynamic_slice_starts(eqn: JaxprEqn, *starts):
    return [index_dtypes.to_signed(jnp.asarray(start)) for start in starts]


def _gather_access(eqn: JaxprEqn) -> Access:
    table, indices = map(type_of, eqn.invars)
    numbers, sizes, mode, _ = gather_params(eqn)
    return Access(
        shape=table.shape,
        sizes=tuple(sizes),
        strides=(1,) * table.ndim,
        batch_shape=indices.shape[:-1],
        collapsed=(*numbers.collapsed_slice_dims, *numbers.operand_batching_dims),
        offset_dims=numbers.offset_dims,
        mode=mode,
    )


def _gather_starts(eqn: JaxprEqn, indices):
    """The begins of `lax.gather`: a component of an index along indexed axes, 0 along others."""
    numbers, *_ = gather_params(eqn)
    indices = index_dtypes.to_signed(jnp.asarray(indices))
    batch_shape = indices.shape[:-1]
    starts: list[jax.Array | None] = [None] * type_of(eqn.invars[0]).ndim
    for component, axis in enumerate(numbers.start_index_map):
        start = lax.slice_in_dim(indices, component, component + 1, axis=indices.ndim - 1)
        starts[axis] = lax.squeeze(start, [indices.ndim - 1])
    batching = zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True)
    for axis, dimension in batching:
        starts[axis] = lax.broadcasted_iota(indices.dtype, batch_shape, dimension)
    return starts


def _moved_access(eqn: JaxprEqn) -> Access:
    """The access of a window that may lie partly outside of the table, element by element."""
    shape = type_of(eqn.invars[0]).shape
    return Access(
        shape=shape,
        sizes=(1,) * len(shape),
        strides=(1,) * len(shape),
        batch_shape=type_of(eqn.outvars[0]).shape,
        collapsed=tuple(range(len(shape))),
        offset_dims=(),
        mode=_MODES.FILL_OR_DROP,
    )


def _moved_starts(eqn: JaxprEqn, begin):
    shape = type_of(eqn.outvars[0]).shape
    starts = [lax.broadcasted_iota(begin.dtype, shape, axis) for axis in range(len(shape))]
    moved = starts[len(shape) - begin.shape[-1] :]
    for n, start in enumerate(moved):
        by = begin[..., n]
        moved[n] = start + by.reshape(by.shape + (1,) * (len(shape) - by.ndim))
    return starts[: len(starts) - len(moved)] + moved


def _sharded_access(eqn: JaxprEqn) -> Access:
    """The access of a `sharded_gather`, whose operand under `shard_map` is a device's shard."""
    shard, numbers = map(type_of, eqn.invars)
    sharding = _jax_internals.param(eqn, "sharding")
    shape = (sharding.num_rows(shard), *shard.shape[1:])
    return Access(
        shape=shape,
        sizes=(1, *shape[1:]),
        strides=(1,) * len(shape),
        batch_shape=numbers.shape,
        collapsed=(0,),
        offset_dims=tuple(range(1, len(shape))),
        mode=_MODES.FILL_OR_DROP,
        sharding=sharding,
    )


def _sharded_starts(eqn: JaxprEqn, numbers):
    shard, _ = map(type_of, eqn.invars)
    return [numbers, *[None] * (len(shard.shape) - 1)]


def gather_params(eqn: JaxprEqn):
    """The parameters of a `lax.gather`, or of the one that a primitive of jaxops stands for.

    Dimension numbers, sizes of a window, mode, and the number for indices out of bounds.
    """
    if eqn.primitive is jax_primitives.gather_p:
        names = ("dimension_numbers", "slice_sizes", "mode", "fill_value")
        return (_jax_internals.param(eqn, name) for name in names)
    windows = _jax_internals.param(eqn, "windows")
    table, indices = map(type_of, eqn.invars)
    numbers = gather_dimension_numbers(windows, table.ndim, indices.ndim)
    return numbers, windows.slice_sizes(table.shape), _MODES.PROMISE_IN_BOUNDS, None


_READERS: dict[Any, tuple[Callable, Callable]] = {
    jax_primitives.slice_p: (_slice_access, _slice_starts),
    jax_primitives.dynamic_slice_p: (_slice_access, _dynamic_slice_starts),
    jax_primitives.gather_p: (_gather_access, _gather_starts),
    deterministic_sums.gather_p: (_gather_access, _gather_starts),
    lax_gather: (_gather_access, _gather_starts),  # and any form of it
    moved_windows.move_p: (_moved_access, _moved_starts),
    exchange.gather_p: (_sharded_access, _sharded_starts),
}
