"""Rules by primitive for `delayed.py`: the positions at which operands of delayed arrays are read.

A rule gets a `Reading` and returns the result at the position `r.at`, with the size 1 along these
axes. It may leave an axis whole, which `delayed` then reduces to the coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _jax_internals
from jaxops._indexing import index_dtypes
from jaxops._jax_internals import JaxprEqn
from jaxops._sparse import row_rules
from jaxops._sparse.gradient.access import gather_params, is_gather
from jaxops._sparse.gradient.delayed import (
    NotRows,
    Position,
    Reading,
    Rule,
    both,
    clip,
    is_known,
)

_RULES: dict[str, Rule] = {}


def _rule(*names: str):
    """Registers the rule of the primitives of these names."""

    def add(rule: Rule) -> Rule:
        _RULES.update(dict.fromkeys(names, rule))
        return rule

    return add


def rule_of(eqn: JaxprEqn) -> Rule | None:
    """The rule by which a result of an equation is read; None if no rule reads it."""
    # A form of `lax.gather` has a name of its own.
    return _RULES.get("gather" if is_gather(eqn) else eqn.primitive.name)


@_rule(*row_rules.ELEMENTWISE, "bitcast_convert_type", "copy", "name", "stop_gradient")
def _elementwise(r: Reading) -> jax.Array:
    numbers = range(len(r.inputs))
    shapes = [r.shape_of(n) or (None,) * len(r.shape) for n in numbers]  # a scalar has no axis
    if any(len(shape) != len(r.shape) for shape in shapes):
        raise NotRows
    at = [{axis: c for axis, c in r.at.items() if s[axis] == r.shape[axis]} for s in shapes]
    return r.bind(*map(r.operand, numbers, at))


@_rule("pvary")
def _pvary(r: Reading) -> jax.Array:
    """Rows of a table that is the same on all devices vary already where the coordinates do."""
    return _jax_internals.varying_over(r.operand(0, r.at), r.param("axes"))


@_rule("sharding_constraint", "reshard")
def _shared_otherwise(r: Reading) -> jax.Array:
    """No reading: the sharding of all rows does not say how devices share a few of them."""
    return r.operand(0, r.at)


@_rule("optimization_barrier")
def _barrier(r: Reading) -> jax.Array:
    return lax.optimization_barrier(r.operand(r.number, r.at))


@_rule("device_put")
def _device_put(r: Reading) -> jax.Array:
    x = r.operand(r.number, r.at)
    device = r.param("devices")[r.number]
    if isinstance(device, jax.sharding.Sharding) and device.memory_kind not in (None, "device"):
        raise NotRows
    return jax.device_put(x, device) if isinstance(device, jax.Device) else x


# --- within rows ---


@_rule("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp", "sort", "top_k", "fft")
def _along(r: Reading) -> jax.Array:
    """Elements meet along some axes, which are computed whole."""
    name, rank = r.eqn.primitive.name, len(r.shape)
    if name == "fft":
        axes = range(rank - len(r.param("fft_lengths")), rank)
    elif name == "sort":
        axes = [r.param("dimension")]
    else:
        axes = [r.param("axis") % rank]
    at = {axis: coordinate for axis, coordinate in r.at.items() if axis not in axes}
    return r.bind(*[r.operand(n, at) for n in range(len(r.inputs))])


@_rule(*row_rules.REDUCTIONS, "squeeze")
def _without_axes(r: Reading) -> jax.Array:
    gone = {int(axis) for axis in r.param("axes", "dimensions")}
    kept = [axis for axis in range(len(r.shape_of(0))) if axis not in gone]
    return r.bind(r.operand(0, {kept[axis]: c for axis, c in r.at.items()}))


@_rule("dot_general")
def _dot_general(r: Reading) -> jax.Array:
    contracting, batch = r.param("dimension_numbers")
    places = [{d: int(axis) for d, axis in enumerate(axes)} for axes in batch]  # by dimension
    dimension = len(batch[0])
    for n, place in enumerate(places):
        used = {*map(int, contracting[n]), *map(int, batch[n])}
        free = [axis for axis in range(len(r.shape_of(n))) if axis not in used]
        place.update(enumerate(free, dimension))
        dimension += len(free)
    at = [{place[d]: c for d, c in r.at.items() if d in place} for place in places]
    return r.bind(*map(r.operand, (0, 1), at))


# --- what moves elements ---


@_rule("transpose")
def _transpose(r: Reading) -> jax.Array:
    permutation = r.param("permutation")
    return r.bind(r.operand(0, {int(permutation[axis]): c for axis, c in r.at.items()}))


@_rule("broadcast_in_dim")
def _broadcast(r: Reading) -> jax.Array:
    axes = [int(axis) for axis in r.param("broadcast_dimensions")]
    shape = r.shape_of(0)
    at = {n: r.at[d] for n, d in enumerate(axes) if d in r.at and shape[n] == r.shape[d]}
    return lax.broadcast_in_dim(r.operand(0, at), r.sizes, axes)


@_rule("tile")
def _tile(r: Reading) -> jax.Array:
    times = list(r.param("reps"))
    at = {
        axis: c % c.dtype.type(r.shape_of(0)[axis]) if times[axis] > 1 else c
        for axis, c in r.at.items()
    }
    return jnp.tile(r.operand(0, at), [1 if d in at else n for d, n in enumerate(times)])


@_rule("iota")
def _iota(r: Reading) -> jax.Array:
    dimension = r.param("dimension")
    if dimension in r.at:
        return jnp.full(r.sizes, r.at[dimension].astype(r.dtype))
    return lax.broadcasted_iota(r.dtype, r.sizes, dimension)


@_rule("rev")
def _rev(r: Reading) -> jax.Array:
    dimensions = {int(axis) for axis in r.param("dimensions")}
    at = {
        axis: c.dtype.type(r.shape[axis] - 1) - c if axis in dimensions else c
        for axis, c in r.at.items()
    }
    return r.bind(r.operand(0, at))


@_rule("concatenate")
def _concatenate(r: Reading) -> jax.Array:
    dimension = r.param("dimension")
    numbers = [n for n in range(len(r.inputs)) if r.shape_of(n)[dimension]]
    if dimension not in r.at:
        return lax.concatenate([r.operand(n, r.at) for n in numbers], dimension)
    coordinate = r.at[dimension]
    pieces, which, begin = [], jnp.zeros((), jnp.int32), 0
    for n in numbers:
        size = r.shape_of(n)[dimension]
        own = coordinate - coordinate.dtype.type(begin)
        inside = clip(own, size - 1)
        if is_known(own) and own == inside:
            return r.operand(n, {**r.at, dimension: own})
        pieces.append(r.operand(n, {**r.at, dimension: inside}, own == inside))
        begin += size
        which = which + (own >= size).astype(jnp.int32)
    return lax.select_n(which, *pieces)


@_rule("stack")
def _stack(r: Reading) -> jax.Array:
    axis = r.param("axis")
    at = {d - (d > axis): c for d, c in r.at.items() if d != axis}
    numbers = range(len(r.inputs))
    if axis not in r.at:
        return r.bind(*(r.operand(n, at) for n in numbers))
    which = r.at[axis]
    if is_known(which):
        return jnp.expand_dims(r.operand(int(which), at), axis)
    arrays = [r.operand(n, at, which == which.dtype.type(n)) for n in numbers]
    return jnp.expand_dims(lax.select_n(which.astype(jnp.int32), *arrays), axis)


@_rule("pad")
def _pad(r: Reading) -> jax.Array:
    config = [(int(low), int(high), int(within)) for low, high, within in r.param("padding_config")]
    at, valid = {}, None
    for axis, c in r.at.items():
        low, high, interior = config[axis]
        config[axis] = (0, 0, 0)
        if (low, high, interior) == (0, 0, 0):
            at[axis] = c
            continue
        own = c - c.dtype.type(low)
        step = c.dtype.type(interior + 1)
        at[axis] = clip(own // step, r.shape_of(0)[axis] - 1)
        valid = both(valid, own == at[axis] * step)
    number = r.operand(1, {})
    x = lax.pad(r.operand(0, at, valid), number, config)
    return x if valid is None else jnp.where(valid, x, number)


@_rule("split")
def _split(r: Reading) -> jax.Array:
    axis, begin = r.param("axis"), sum(r.param("sizes")[: r.number])
    if axis not in r.at:
        return r.bind(r.operand(0, r.at))
    coordinate = r.at[axis]
    return r.operand(0, {**r.at, axis: coordinate + coordinate.dtype.type(begin)})


@_rule("slice")
def _slice(r: Reading) -> jax.Array:
    starts, limits = list(r.param("start_indices")), list(r.param("limit_indices"))
    strides = list(r.param("strides") or [1] * len(starts))
    at = {}
    for axis, c in r.at.items():
        if r.shape[axis] == r.shape_of(0)[axis]:
            at[axis] = c  # the same object, as a function of rows is found by its coordinates
        else:
            at[axis] = c.dtype.type(starts[axis]) + c * c.dtype.type(strides[axis])
        starts[axis], limits[axis], strides[axis] = 0, 1, 1
    return lax.slice(r.operand(0, at), starts, limits, strides)


@_rule("dynamic_slice")
def _dynamic_slice(r: Reading) -> jax.Array:
    shape = r.shape_of(0)
    starts = [r.operand(n + 1, {}) for n in range(len(shape))]
    at = {
        axis: _from(starts[axis], shape[axis], r.shape[axis], c)
        if r.shape[axis] < shape[axis]
        else c
        for axis, c in r.at.items()
    }
    starts = [jnp.zeros_like(s) if axis in at else s for axis, s in enumerate(starts)]
    return r.bind(r.operand(0, at), *starts, slice_sizes=r.sizes)  # `lax` would wrap them again


def _from(start: Any, dim: int, size: int, coordinate: jax.Array) -> jax.Array:
    """The coordinate in an array of a coordinate in a window of it, as `dynamic_slice` moves it."""
    return jnp.clip(jnp.asarray(start), 0, dim - size).astype(coordinate.dtype) + coordinate


@_rule("gather")
def _gather(r: Reading) -> jax.Array:
    numbers, sizes, mode, fill = gather_params(r.eqn)
    sizes = list(sizes)
    gone = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    kept = [axis for axis in range(len(sizes)) if axis not in gone]
    batch = [d for d in range(len(r.shape)) if d not in numbers.offset_dims]
    together = dict(
        zip(numbers.start_indices_batching_dims, numbers.operand_batching_dims, strict=True)
    )
    at, of_indices = {}, {}
    for d, c in r.at.items():
        if d in numbers.offset_dims:
            axis = kept[numbers.offset_dims.index(d)]
            if sizes[axis] == r.shape_of(0)[axis] and axis not in numbers.start_index_map:
                at[axis] = c
                sizes[axis] = 1
        else:
            of_indices[batch.index(d)] = c
            if batch.index(d) in together:
                at[together[batch.index(d)]] = c
    return lax.gather(
        r.operand(0, at),
        r.operand(1, of_indices),
        numbers,
        sizes,
        mode=mode,
        fill_value=fill,
    )


# --- rows that are set ---


@_rule("dynamic_update_slice")
def _dynamic_update_slice(r: Reading) -> jax.Array:
    shape, update = r.shape_of(0), r.shape_of(1)
    starts = [r.operand(n + 2, {}) for n in range(len(shape))]
    of_update, valid = {}, None
    for axis, c in r.at.items():
        own = c - _from(starts[axis], shape[axis], update[axis], jnp.zeros_like(c))
        of_update[axis] = clip(own, update[axis] - 1)
        valid = both(valid, own == of_update[axis])
    starts = [jnp.zeros_like(s) if axis in r.at else s for axis, s in enumerate(starts)]
    x = r.operand(0, r.at)
    updated = r.bind(x, r.operand(1, of_update, valid), *starts)
    return updated if valid is None else jnp.where(valid, updated, x)


@_rule("scatter", "scatter-add", "scatter-sub", "scatter-mul", "scatter-min", "scatter-max")
def _scatter(r: Reading) -> jax.Array:
    numbers = r.param("dimension_numbers")
    gone = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    window = [axis for axis in range(len(r.shape)) if axis not in gone]
    update_dims = dict(zip(window, numbers.update_window_dims, strict=True))
    scattered = numbers.scatter_dims_to_operand_dims
    at = {
        axis: c
        for axis, c in r.at.items()
        if axis in update_dims
        and axis not in scattered
        and r.shape_of(2)[update_dims[axis]] == r.shape[axis]
    }
    of_updates = {int(update_dims[axis]): c for axis, c in at.items()}
    if {*at} == {*r.at}:
        return r.bind(r.operand(0, at), r.operand(1, {}), r.operand(2, of_updates))
    if {*scattered} != {*r.at} - {*at} or len(scattered) != 1 or numbers.operand_batching_dims:
        raise NotRows
    (axis,) = map(int, scattered)
    return _row_set(r, axis, {**at, axis: r.at[axis]}, of_updates, update_dims)


def _row_set(r: Reading, axis: int, at: Position, of_updates: Position, update_dims) -> jax.Array:
    """A row of an array in which some rows were set or added to, found by binary search.

    These are windows of `size` rows.
    """
    name, mode = r.eqn.primitive.name, r.param("mode")
    if name not in ("scatter", "scatter-add", "scatter-sub"):
        raise NotRows
    indices = index_dtypes.to_signed(jnp.asarray(r.operand(1, {}))).reshape(-1, 1)
    size = r.shape_of(2)[update_dims[axis]] if axis in update_dims else 1
    x = r.operand(0, at)
    count = indices.size * size
    if not count:
        return x
    last_start = r.shape[axis] - size
    if mode == lax.GatherScatterMode.CLIP:
        indices = jnp.clip(indices, 0, last_start)
    is_inside = (indices >= 0) & (indices <= last_start)
    rows = jnp.where(
        is_inside, indices + lax.iota(indices.dtype, size)[None], r.shape[axis]
    ).reshape(-1)
    updates = r.operand(2, of_updates)
    updates = -updates if name == "scatter-sub" else updates
    window = [int(d) for a, d in update_dims.items() if a != axis]
    before = [d for d in range(updates.ndim) if d not in update_dims.values()]
    before += [d for a, d in update_dims.items() if a == axis]
    updates = updates.transpose(*before, *window)
    updates = updates.reshape(count, *updates.shape[len(before) :])
    updates = jnp.expand_dims(updates, axis + 1)
    # The same row stands together, in the order in which it is written.
    order = jnp.argsort(rows, stable=True)
    rows, updates = rows[order], updates[order]
    row = r.at[axis].astype(rows.dtype)
    last = jnp.maximum(jnp.searchsorted(rows, row, side="right") - 1, 0)
    if name != "scatter":
        group = jnp.cumsum(jnp.diff(rows, prepend=rows[:1]) != 0)
        updates = jax.ops.segment_sum(updates, group, count, indices_are_sorted=True)
        updated = x + updates[group[last]].astype(x.dtype)
    else:
        updated = updates[last]
    return jnp.where(rows[last] == row, updated, x)


# --- reshaping ---


@_rule("reshape")
def _reshape(r: Reading) -> jax.Array:
    """A reshape, by factors: `[V, h * d]` and `[V * h, d]` both have the factors V, h and d.

    A coordinate of an axis has coordinates along its factors. An axis of the operand is read at
    a coordinate if each of its factors has one; what else has one is chosen afterwards.
    """
    before, after = r.shape_of(0), r.shape
    if not r.at:
        return r.operand(0, {}).reshape(after)
    zero = next(iter(r.at.values())).dtype.type(0)
    if zero.dtype == np.int32 and math.prod(after) >= 2**31:
        raise NotRows
    sizes, of_before, of_after = _factors(before, after)
    chosen: dict[int, jax.Array] = {}  # coordinates by factor
    for axis, c in r.at.items():
        chosen |= _by_factor(c, [n for n, a in enumerate(of_after) if a == axis], sizes)
    at: dict[int, jax.Array] = {}
    for axis in range(len(before)):
        own = [n for n, a in enumerate(of_before) if a == axis]
        if all(n in chosen for n in own):
            at[axis] = _join([chosen[n] for n in own], [sizes[n] for n in own]) if own else zero
    whole = [1 if of_before[n] in at else size for n, size in enumerate(sizes)]
    x = r.operand(0, at).reshape(whole)
    for n, c in chosen.items():
        x = lax.dynamic_slice_in_dim(x, c, 1, n) if whole[n] > 1 else x
    return x.reshape(r.sizes)


def _factors(before: Sequence[int], after: Sequence[int]) -> tuple[list[int], list, list]:
    """Sizes of which the axes before and after are products; for each its axis before and after.

    Example:
        >>> _factors((7, 6), (7, 2, 3)), _factors((7, 6), (14, 3))
        (([7, 2, 3], [0, 1, 1], [0, 1, 2]), ([7, 2, 3], [0, 1, 1], [0, 0, 1]))
    """
    sizes, of_before, of_after = [], [], []
    n = m = 0
    left = right = 1  # what is not divided yet of axes `n - 1` and `m - 1`
    while True:
        while left == 1 and n < len(before):
            left, n = before[n], n + 1
        while right == 1 and m < len(after):
            right, m = after[m], m + 1
        if left == right == 1:
            return sizes, of_before, of_after
        size = min(left, right)
        if size == 0 or left % size or right % size:
            raise NotRows
        sizes.append(size)
        of_before.append(n - 1)
        of_after.append(m - 1)
        left, right = left // size, right // size


def _by_factor(coordinate: jax.Array, numbers: list[int], sizes: Sequence[int]) -> dict[int, Any]:
    """The coordinates along the factors `numbers` of an axis."""
    result = {}
    for n in reversed(numbers[1:]):
        size = coordinate.dtype.type(sizes[n])
        result[n] = coordinate % size
        coordinate = coordinate // size
    return result | {n: coordinate for n in numbers[:1]}


def _join(coordinates: list[jax.Array], sizes: Sequence[int]) -> jax.Array:
    """Undoes `_by_factor`."""
    result = coordinates[0]
    for c, size in zip(coordinates[1:], sizes[1:], strict=True):
        result = result * c.dtype.type(size) + c
    return result
