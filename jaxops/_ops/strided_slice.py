"""strided_slice, and Python's indexing syntax in its encoding."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.export import is_symbolic_dim

from jaxops import _jax_internals, _symbolic
from jaxops._frames import without_frames
from jaxops._indexing import canonical, index_dtypes, policy
from jaxops._indexing.dimension_numbers import Windows
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import ShrunkAxes
from jaxops._ops.shaping import shape_of
from jaxops._run.arguments import (
    ArrayLike,
    Int,
    Ints,
    brief,
    rank_or_none,
    readable,
    saturate_ints,
    to_indices,
)
from jaxops._run.dispatch import operation
from jaxops._run.sharding import OutSharding
from jaxops._run.static_values import STATIC_HINT, is_static_int, static_int


@without_frames
class StridedSliceSpec(NamedTuple):
    """The arguments of `strided_slice` after the first: `strided_slice(x, *spec)`.

    Component `i` of `begin`, `end` and `strides`, and bit `i` of each mask, describe one entry of
    Python's index. `to_index` gives that index back.
    """

    begin: tuple[Any, ...]
    end: tuple[Any, ...]
    strides: tuple[int, ...]
    begin_mask: int = 0
    end_mask: int = 0
    ellipsis_mask: int = 0
    new_axis_mask: int = 0
    shrink_axis_mask: int = 0

    def to_index(self) -> tuple[Any, ...]:
        """Python's index that means the same: `x[spec.to_index()]`."""
        index = []
        for i, (begin, end, stride) in enumerate(
            zip(self.begin, self.end, self.strides, strict=True)
        ):
            bit = 1 << i
            if self.ellipsis_mask & bit:
                index.append(...)
            elif self.new_axis_mask & bit:
                index.append(None)
            elif self.shrink_axis_mask & bit:
                index.append(begin)
            else:
                start = None if self.begin_mask & bit else begin
                stop = None if self.end_mask & bit else end
                index.append(builtins.slice(start, stop, None if stride == 1 else stride))
        return tuple(index)


def strided_slice_spec(index: Any) -> StridedSliceSpec:
    """Encodes Python's indexing syntax for `strided_slice`.

    Differs from TensorFlow, which does this inside `Tensor.__getitem__`, in: being a function.

    Args:
        index: the index between the brackets of `x[...]`: an int, a slice, `...`, `None`, or a
            tuple of them. `numpy.s_` makes it from the syntax. Ints may be traced scalars; the
            parts of slices are static ints or None.

    Returns:
        A named tuple `(begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
        shrink_axis_mask)`, whose method `to_index()` leads back.

    Raises:
        TypeError: an entry is none of these; boolean and integer arrays are for `boolean_mask`
            and `gather`.
        ValueError: more than one `...`, or a step of 0.

    Gradient: none; it computes on static values. Bounds are checked by `strided_slice`,
    which knows the array.

    Example:
        >>> import jaxops, numpy as np
        >>> spec = jaxops.strided_slice_spec(np.s_[1, 2:4, None, ..., :-3:-1, :])
        >>> spec.begin, spec.end, spec.strides
        ((1, 2, 0, 0, 0, 0), (2, 4, 0, 0, -3, 0), (1, 1, 1, 1, -1, 1))
        >>> spec[3:]
        (48, 32, 8, 4, 1)
        >>> spec.to_index()
        (1, slice(2, 4, None), None, Ellipsis, slice(None, -3, -1), slice(None, None, None))

    Source: https://www.tensorflow.org/api_docs/python/tf/strided_slice
    """
    op = "strided_slice_spec"
    entries = index if isinstance(index, tuple) else (index,)
    begins, ends, strides = [], [], []
    begin_mask = end_mask = ellipsis_mask = new_axis_mask = shrink_axis_mask = 0
    for i, entry in enumerate(entries):
        begin, end, stride = 0, 0, 1
        bit = 1 << i
        if entry is Ellipsis:
            if ellipsis_mask:
                raise ValueError(f"{op}: index must have at most one ...; received {brief(index)}")
            ellipsis_mask |= bit
        elif entry is None:
            new_axis_mask |= bit
        elif isinstance(entry, builtins.slice):
            stride = _slice_part(op, i, "step", entry.step, 1)
            if stride == 0:
                raise ValueError(f"{op}: the step of index entry {i} must not be 0; received 0")
            begin = _slice_part(op, i, "start", entry.start, 0)
            end = _slice_part(op, i, "stop", entry.stop, 0)
            begin_mask |= bit if entry.start is None else 0
            end_mask |= bit if entry.stop is None else 0
        else:
            begin = _index_entry(op, i, entry)
            end = begin + 1
            shrink_axis_mask |= bit
        begins.append(begin)
        ends.append(end)
        strides.append(stride)
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return StridedSliceSpec(tuple(begins), tuple(ends), tuple(strides), *masks)


def _slice_part(op: str, i: int, part: str, value: object, default: int) -> int:
    return default if value is None else static_int(value, op, f"the {part} of index entry {i}")


def _index_entry(op: str, i: int, entry: Any) -> Any:
    entry = readable(entry)
    if isinstance(entry, jax.Array):
        if entry.ndim == 0 and jnp.issubdtype(entry.dtype, jnp.integer):
            return entry
    elif is_static_int(entry):
        return int(entry)
    raise TypeError(
        f"{op}: index entry {i} must be an int, a slice, ... or None; received {brief(entry)}"
    )


def strided_slice(
    input_: ArrayLike,
    begin: ArrayLike,
    end: ArrayLike,
    strides: Ints | None = None,
    begin_mask: Int = 0,
    end_mask: Int = 0,
    ellipsis_mask: Int = 0,
    new_axis_mask: Int = 0,
    shrink_axis_mask: Int = 0,
    var: None = None,
    name: str | None = None,
    *,
    mode: Mode = "device",
    fill_value: ArrayLike | None = None,
    out_sharding: OutSharding = None,
) -> jax.Array:
    """Extracts `input_[begin:end:strides, ...]`, with Python's indexing encoded in five masks.

    Follows `tf.strided_slice`. Differs from it in: off the CPU a single index out of bounds is no
    error (see `mode`); there are no variables, so `var` must be None.

    Entry `i` of the `m` entries of `begin`, `end` and `strides` is, by bit `i` of the masks and in
    this order of precedence: an ellipsis, a new axis, a single index (`begin[i]`, whose axis is
    dropped), or a range. Entries left out at the end are full ranges.

    Args:
        input_: array of shape `D` and any dtype, or host strings. Traced.
        begin: `m` ints; the first position of a range, or a single index. Negative ones count
            from the end. Ranges are static; single indices may be traced, in a list or as one
            array.
        end: `m` ints, where a range stops. Positions of ranges beyond the ends are clamped to
            them. Static, except where `begin[i]` is a single index: ignored there.
        strides: `m` static ints, not 0, positive for a single index; default all 1.
        begin_mask: static int; at its bits the range starts at the first position there is.
        end_mask: static int; at its bits the range stops at the last position there is.
        ellipsis_mask: static int with at most one bit: as many full ranges as fit.
        new_axis_mask: static int; at its bits a dimension of size 1 is inserted.
        shrink_axis_mask: static int; at its bits stands a single index.
        var: None. What TensorFlow assigns to it, `tensor_scatter_nd_update` puts into a new array.
        mode: static; what a single index outside `[-D, D)` does. `"device"`: an error on the CPU,
            reads 0 elsewhere. `"error"`: an error everywhere. `"fill"`: reads `fill_value`.
            `"clip"`: reads the nearest element. `"wrap"`: counts modulo `D`.
            `"promise_in_bounds"`: the caller promises that there is none.
        fill_value: scalar that fits the dtype of `input_`, for `mode="fill"`; default 0 (for
            strings, the empty one). Traced.

    Returns:
        Array with the dtype of `input_`; for host strings a NumPy array. A range contributes
        `ceil((end - begin) / stride)` elements, a new axis a dimension of 1, a single index none.

    Raises:
        OutOfBoundsError: a single index is out of bounds, where `mode` makes that an error: in an
            eager call, and at trace time where it is static and `mode="error"`. Compiled code
            raises JAX's exception with the same text.
        TypeError: wrong dtype or type of an argument, or a traced range.
        ValueError: wrong rank, shape or value of an argument; a stride of 0; two ellipses; more
            entries than dimensions.

    Gradient: the cotangent, placed into zeros of shape `D` where its elements come from.

    Example:
        >>> import jaxops
        >>> jaxops.strided_slice([1, 2, 3, 4, 5], [1], [4], [2])
        Array([2, 4], dtype=int32)
        >>> jaxops.strided_slice([1, 2, 3, 4], [-2], [0], [-1], end_mask=1)
        Array([3, 2, 1], dtype=int32)
        >>> jaxops.strided_slice([[1, 2], [3, 4]], [1, 0], [2, 0], shrink_axis_mask=1, end_mask=2)
        Array([3, 4], dtype=int32)
    """
    op = "strided_slice"
    if var is not None:
        raise TypeError(
            f"{op}: var must be None, as arrays are not assigned to; received {brief(var)}; "
            "tensor_scatter_nd_update and x.at[...].set(...) make a new array"
        )
    masks = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
    }
    entries = _parse_entries(op, begin, end, strides, masks)
    singles = [e.begin for e in entries if e.kind == "single"]
    static_singles = None
    if _jax_internals.is_in_program() and not any(isinstance(s, jax.Array) for s in singles):
        static_singles = tuple(singles)
    # Ranges alone send no indices to the device: an eager call then takes a third of the time
    # (test_strided_slice.py, test_ranges_alone_send_no_indices_to_the_device).
    return _strided_slice.run(
        op,
        input_=input_,
        **({"begin": _stack(op, singles, mode, input_)} if singles else {}),
        name=name,
        out_sharding=out_sharding,
        mode=mode,
        fill_value=fill_value,
        entries=tuple(e._replace(begin=0) if e.kind == "single" else e for e in entries),
        static_singles=static_singles,
    )


class _Entry(NamedTuple):
    """One entry of the index. `place` is where it stands in `begin`."""

    kind: str  # "ellipsis", "new_axis", "single" or "range"
    place: int
    begin: Any = None  # None in a range: from the first position there is
    end: int | None = None
    stride: int = 1


def _parse_entries(op, begin, end, strides, masks: dict[str, Any]) -> list[_Entry]:
    """The entries of the index, each of the kind that its bits in the masks say."""
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask = (
        static_int(mask, op, arg) for arg, mask in masks.items()
    )
    begins = _components(op, "begin", begin)
    ends = _components(op, "end", end)
    steps = [1] * len(begins) if strides is None else _components(op, "strides", strides)
    if not len(begins) == len(ends) == len(steps):
        raise ValueError(
            f"{op}: begin, end and strides must have the same length; "
            f"received {len(begins)}, {len(ends)} and {len(steps)}"
        )
    if ellipsis_mask & (ellipsis_mask - 1):  # `bit_count` ignores the sign
        raise ValueError(
            f"{op}: ellipsis_mask must have at most one bit; received {ellipsis_mask:#b}"
        )
    entries = []
    for i, (first, last, step) in enumerate(zip(begins, ends, steps, strict=True)):
        bit = 1 << i
        for arg, value in (("begin", first), ("end", last), ("strides", step)):
            if not isinstance(value, jax.Array):  # also a value that a mask makes irrelevant
                static_int(value, op, f"{arg}[{i}]")
        if ellipsis_mask & bit:
            entries.append(_Entry("ellipsis", i))
            continue
        if new_axis_mask & bit:
            entries.append(_Entry("new_axis", i))
            continue
        stride = static_int(step, op, f"strides[{i}]")
        if stride == 0:
            raise ValueError(f"{op}: strides[{i}] must be non-zero; received 0")
        if shrink_axis_mask & bit:
            if stride < 0:
                raise ValueError(
                    f"{op}: strides[{i}] must be positive for a single index; received {stride}"
                )
            single = first if isinstance(first, jax.Array) else int(first)
            entries.append(_Entry("single", i, single))
            continue
        start = None if begin_mask & bit else _range_part(op, "begin", i, first)
        stop = None if end_mask & bit else _range_part(op, "end", i, last)
        entries.append(_Entry("range", i, start, stop, stride))
    return entries


def _components(op: str, arg: str, values: Any) -> list[Any]:
    """Components of a vector: ints, or JAX scalars where traced."""
    values = readable(values)
    if isinstance(values, (list, tuple)):
        return list(values)
    if rank_or_none(values) != 1:
        error = ValueError if isinstance(values, (int, np.ndarray, jax.Array)) else TypeError
        raise error(
            f"{op}: {arg} must be a one-dimensional sequence of ints; received {brief(values)}"
        )
    if isinstance(values, jax.Array) and not jnp.issubdtype(values.dtype, jnp.integer):
        raise TypeError(f"{op}: {arg} must have an integer dtype; received {values.dtype}")
    if isinstance(values, jax.Array) and not isinstance(values, Tracer):
        values = np.asarray(values)
    return [values[i] for i in range(len(values))]


def _range_part(op: str, arg: str, i: int, value: Any) -> int:
    if isinstance(value, Tracer):
        raise TypeError(
            f"{op}: {arg}[{i}] must be static, because a range decides the shape of the result; "
            f"received a traced value (bit {i} of shrink_axis_mask makes it a single index); "
            f"jaxops.slice takes a traced begin, with a static size; {STATIC_HINT}"
        )
    return static_int(value, op, f"{arg}[{i}]")


def _stack(op: str, singles: list[Any], mode: str, input_: object) -> Any:
    """The single indices as one vector."""
    if not any(isinstance(single, jax.Array) for single in singles):
        return saturate_ints(singles)
    dims = shape_of(input_, op, "input_")
    arrays = [to_indices(single, op, "begin", mode, dims) for single in singles]
    if len(arrays) > 1:
        arrays = [index_dtypes.to_signed(array, op, dims) for array in arrays]
    if any(array.shape != () for array in arrays):
        shapes = [array.shape for array in arrays]
        raise ValueError(f"{op}: begin must hold scalars; received single indices of {shapes=}")
    widest = max((array.dtype for array in arrays), key=lambda dtype: dtype.itemsize)
    return jnp.stack([array.astype(widest) for array in arrays])


@operation(data=("input_",), indices=("begin",), moves_elements=True)
def _strided_slice(
    input_: jax.Array,
    fill_value: jax.Array | None,
    *,
    op: str,
    mode: str,
    entries: Sequence[_Entry],
    static_singles: tuple[int, ...] | None,
    begin: jax.Array | None = None,
):
    axes, entries = _one_per_dimension(op, entries, input_.shape)
    singles = [e for e in entries if e.kind == "single"]
    spec = ShrunkAxes(
        op,
        limits=tuple(input_.shape[axes[e.place]] for e in singles),
        axes=tuple(axes[e.place] for e in singles),
        places=tuple(e.place for e in singles),
    )
    # A slice, and no gather, takes an index that is known (test_strided_slice.py,
    # test_a_known_index_is_a_slice).
    if static_singles is not None and _symbolic.are_known(spec.limits):
        vector = saturate_ints(static_singles)
        vector = np.where(vector < 0, vector + np.array(spec.limits, dtype=np.int64), vector)
        if policy.is_known_in_bounds(spec, vector, mode):
            return _static_slice(input_, entries, iter(vector.tolist()))
    if begin is not None:
        # Single indices first, which leaves less for the ranges to copy.
        windows = Windows(axes=spec.axes, batch_dims=0)
        vector = _from_the_end(begin, spec, mode)
        input_ = canonical.gather(input_, vector, windows, spec, mode=mode, fill_value=fill_value)
    return _static_slice(input_, [e for e in entries if e.kind != "single"], iter(()))


def _one_per_dimension(op, entries, shape) -> tuple[dict[int, int], list[_Entry]]:
    """The axis of each entry by its place, and the entries with one full range for each axis that
    an ellipsis, given or implied, stands for."""
    consuming = sum(e.kind in ("single", "range") for e in entries)
    if consuming > len(shape):
        raise ValueError(
            f"{op}: begin must have at most one entry per dimension of input_, {len(shape)}, "
            f"new axes and the ellipsis not counted; received {consuming}"
        )
    if all(e.kind != "ellipsis" for e in entries):
        entries = (*entries, _Entry("ellipsis", len(entries)))
    full = [_Entry("range", -1)] * (len(shape) - consuming)
    expanded = []
    for entry in entries:
        expanded += full if entry.kind == "ellipsis" else [entry]
    over_dims = [e for e in expanded if e.kind != "new_axis"]
    return {e.place: axis for axis, e in enumerate(over_dims)}, expanded


def _from_the_end(begin: jax.Array, spec: ShrunkAxes, mode: str) -> jax.Array:
    """Negative indices as positions; one that counts too far stays out of bounds."""
    if jnp.issubdtype(begin.dtype, jnp.unsignedinteger) or mode == "wrap":
        return begin
    begin = index_dtypes.widen(begin)
    if mode == "clip":  # here, as below the indices may become unsigned
        lowest = _symbolic.as_vector([-dim for dim in spec.limits], begin.dtype)
        begin = jnp.maximum(begin, lowest)
    return index_dtypes.from_the_end(begin, spec.limits, spec.operation)


def _symbolic_range(dim: Any, entry: _Entry) -> tuple[Any, Any, Any]:
    """The begin and the end of a range, and its number of positions, counted in its direction.

    Clamped as in `range(dim)[begin:end:stride]`. JAX knows which of two sizes is larger by itself
    or from the constraints of the export; else it raises. Of sizes that may be equal it knows
    `a >= b` but not `a > b`, so `max` will not do.
    """

    def clamp(place, default):
        if place is None:
            return default
        place = dim + place if place < 0 else place
        if entry.stride < 0:
            place = dim - 1 - place
        place = place if place <= dim else dim
        return place if place >= 0 else 0

    first, last = clamp(entry.begin, 0), clamp(entry.end, dim)
    last = last if last >= first else first
    stride = abs(entry.stride)
    return first, last, (last - first + stride - 1) // stride


def _static_slice(
    input_: jax.Array, entries: Sequence[_Entry], singles: Iterator[int]
) -> jax.Array:
    """Ranges, new axes and in-bounds single indices: `lax.slice`, `lax.rev`, reshape."""
    starts, stops, strides, reversed_axes, shape = [], [], [], [], []
    dims = iter(input_.shape)
    for entry in entries:
        if entry.kind == "new_axis":
            shape.append(1)
            continue
        dim = next(dims)
        if entry.kind == "single":
            positions = range(next(singles), dim)[:1]
        elif is_symbolic_dim(dim):
            if entry.stride < 0:
                input_ = lax.rev(input_, [len(starts)])
            start, stop, size = _symbolic_range(dim, entry)
            starts.append(start)
            stops.append(stop)
            strides.append(abs(entry.stride))
            shape.append(size)
            continue
        else:
            # Python's own slices clamp as TensorFlow's ranges do.
            positions = range(dim)[entry.begin : entry.end : entry.stride]
            shape.append(len(positions))
        if positions.step < 0:
            reversed_axes.append(len(starts))
            positions = positions[::-1]
        starts.append(positions[0] if positions else 0)
        stops.append(positions[-1] + 1 if positions else 0)
        strides.append(positions.step if len(positions) > 1 else 1)
    result = lax.slice(input_, starts, stops, strides)
    if reversed_axes:
        result = lax.rev(result, reversed_axes)
    return result.reshape(shape)
