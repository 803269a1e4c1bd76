"""slice: a window of static size at a begin that may be traced."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.core import Tracer

from jaxops import _jax_internals, _symbolic
from jaxops._indexing import canonical, index_dtypes, policy
from jaxops._indexing.dimension_numbers import Windows
from jaxops._indexing.moved_windows import window_or_zeros
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import IndexSpec, ScalarIndex, SliceBegin
from jaxops._ops.shaping import shape_of
from jaxops._run.arguments import ArrayLike, Ints, saturate_ints
from jaxops._run.dispatch import operation
from jaxops._run.sharding import OutSharding
from jaxops._run.static_values import static_dims, static_ints_or_none


def slice(
    input_: ArrayLike,
    begin: ArrayLike,
    size: Ints,
    name: str | None = None,
    *,
    mode: Mode = "device",
    fill_value: ArrayLike | None = None,
    out_sharding: OutSharding = None,
) -> jax.Array:
    """Extracts the window of shape `size` that starts at `begin`.

    Follows `tf.slice`. Differs from it in: `begin` has every integer dtype; off the CPU a window
    that does not fit is no error (see `mode`).

    Args:
        input_: array of shape `D` and any dtype, or host strings. Traced.
        begin: integer vector with one component per dimension, `0 <= begin[i] <= D[i] - size[i]`.
            A list may mix ints and traced scalars. Traced.
        size: static sequence of ints; -1 means all that remains after `begin[i]`, which must be
            static then.
        mode: static; what a window that leaves `input_` does. `"device"`: an error on the CPU;
            elsewhere the elements outside read 0. `"error"`: an error everywhere. `"fill"`: the
            elements outside read `fill_value`. `"clip"` and `"wrap"`: each position is clipped,
            or counted modulo its dimension. `"promise_in_bounds"`: the caller promises that the
            window fits.
        fill_value: scalar that fits the dtype of `input_`, for `mode="fill"`; default 0 (for
            strings, the empty one). Traced.

    Returns:
        Array of shape `size` (with -1 resolved) and dtype of `input_`; for host strings a NumPy
        array.

    Raises:
        OutOfBoundsError: the window leaves `input_`, where `mode` makes that an error: in an eager
            call, and at trace time with a static `begin` in `mode="error"`. Compiled code raises
            JAX's exception with the same text.
        TypeError: wrong dtype or type of an argument.
        ValueError: wrong rank, shape or value of an argument; a `size` larger than `input_`,
            unless `mode` says what lies outside.

    Gradient: the cotangent, placed into zeros of shape `D` at the window; none for `begin`.

    Example:
        >>> import jaxops
        >>> jaxops.slice([[1, 2, 3], [4, 5, 6]], [1, 0], [1, -1])
        Array([[4, 5, 6]], dtype=int32)
        >>> jaxops.slice([1, 2, 3], [2], [2])
        Traceback (most recent call last):
        ...
        jaxops.OutOfBoundsError: Expected size[0] in [0, 1], but got 2 [Op:slice] at ...
    """
    op = "slice"
    static_begin = static_ints_or_none(begin, op, "begin")
    return _slice.run(
        op,
        input_=input_,
        begin=begin,
        name=name,
        out_sharding=out_sharding,
        mode=mode,
        fill_value=fill_value,
        size=_resolve_rest(op, input_, begin, static_dims(size, op, "size")),
        # Outside of programs `begin` is data: one compiled function serves all its values.
        static_begin=static_begin if _jax_internals.is_in_program() else None,
    )


def _resolve_rest(op: str, input_, begin, size: tuple[int, ...]) -> tuple[int, ...]:
    """`size` with -1 replaced by the rest after `begin`, which must be concrete there."""
    if -1 not in size:
        return size
    shape = shape_of(input_, op, "input_")
    if isinstance(begin, (list, tuple)) and len(begin) == len(size):
        others = [isinstance(b, Tracer) and s != -1 for b, s in zip(begin, size, strict=True)]
        begin = [0 if other else b for b, other in zip(begin, others, strict=True)]
    begin = static_ints_or_none(begin, op, "begin", concrete_arrays=True)
    if begin is None:
        raise ValueError(
            f"{op}: size must be at least 0 where begin is traced; received size {size} "
            "(a size of -1 depends on begin, and shapes are static; a list may mix ints and traced "
            "numbers)"
        )
    if not len(shape) == len(begin) == len(size):
        return size  # the check of the ranks will refuse it
    # A begin beyond the end is left to the bounds check, which needs a legal size to look at.
    remaining = (max(dim - b, 0) for dim, b in zip(shape, begin, strict=True))
    return tuple(r if s == -1 else s for r, s in zip(remaining, size, strict=True))


@operation(data=("input_",), indices=("begin",), moves_elements=True)
def _slice(
    input_: jax.Array,
    begin: jax.Array,
    fill_value: jax.Array | None,
    *,
    op: str,
    mode: str,
    size: tuple[int, ...],
    static_begin: tuple[int, ...] | None,
):
    """The slice: by `lax.slice` for a static `begin` in bounds, else by `lax.dynamic_slice`.

    Modes in which the window may leave `input_` gather single positions.
    """
    shape = input_.shape
    if begin.shape != (input_.ndim,) or len(size) != input_.ndim:
        raise ValueError(
            f"{op}: begin and size must have one component per dimension of input_, "
            f"{input_.ndim}; received shapes {begin.shape} and ({len(size)},)"
        )
    if any(s < 0 for s in size):
        raise ValueError(f"{op}: size must have components of -1 at least; received {size}")
    limits = tuple(dim - s + 1 for dim, s in zip(shape, size, strict=True))
    spec = SliceBegin(op, limits=limits, shape=shape)
    if mode in ("fill", "clip", "wrap"):
        largest = jnp.iinfo(index_dtypes.widen(begin).dtype).max
        if _symbolic.longest(size) > largest:  # the dtype of `begin` must hold every position
            raise ValueError(
                f"{op}: size must be at most {largest} for begin of dtype {begin.dtype}; "
                f"received {size}"
            )
        return _positions(input_, begin, size, op=op, mode=mode, fill_value=fill_value)
    if any(limit < 1 for limit in limits):
        raise ValueError(
            f"{op}: size must be at most the shape of input_, {shape}; received {size}"
        )
    if static_begin is not None and policy.is_known_in_bounds(
        spec, saturate_ints(static_begin), mode
    ):
        stop = [b + s for b, s in zip(static_begin, size, strict=True)]
        return lax.slice(input_, static_begin, stop)
    begin = policy.resolve(spec, begin, mode).indices
    window = functools.partial(_window, size=size)
    if mode != "device":
        return window(input_, begin)
    elsewhere = functools.partial(window_or_zeros, size=size)
    # Between zeros on both sides an array is up to three times as long, and int32 may not count so
    # far.
    if index_dtypes.are_long([3 * dim for dim in shape]):
        elsewhere = functools.partial(_positions, size=size, op=op, mode="fill")
    return lax.platform_dependent(input_, begin, cpu=window, default=elsewhere)


def _window(input_, begin, *, size):
    starts = [begin[i] for i in range(input_.ndim)]
    # Without the option JAX asks of each start, in the program, whether the start counts from the
    # end (test_slice.py, test_a_window_counts_nothing_from_the_end).
    return lax.dynamic_slice(input_, starts, size, allow_negative_indices=False)


def _positions(input_, begin, size, *, op, mode, fill_value=None):
    """The elements at `begin[i] + [0, size[i])` along each axis, each under `mode`."""
    whole = IndexSpec(op, limits=input_.shape)
    begin = policy.resolve(whole, begin, "wrap" if mode == "wrap" else "promise_in_bounds").indices
    for axis, (dim, length) in enumerate(zip(input_.shape, size, strict=True)):
        positions = _run_of_positions(begin[axis], length, dim, op, mode)
        input_ = canonical.gather(
            input_,
            positions[:, None],
            Windows(axes=(axis,), batch_dims=0),
            ScalarIndex(op, limits=(dim,)),
            mode=mode,
            fill_value=fill_value,
        )
    return input_


def _run_of_positions(start, length: int, dim: int, op: str, mode: str) -> jax.Array:
    """`start + [0, length)`, also for positions outside of `[0, dim)`."""
    is_long = index_dtypes.are_long([dim + length])
    # The clip keeps the addition below from overflowing, and positions out of bounds stay out of
    # bounds (test_slice.py, test_windows_that_reach_outside).
    info = jnp.iinfo(start.dtype)
    first, last = _symbolic.numbers((-length, dim), start.dtype)
    start = jnp.clip(start, first, last)
    steps = jnp.arange(length, dtype=start.dtype)
    if not is_long or info.bits == 64:
        return start + steps
    index_dtypes.check_uint32_reaches(dim + length, op, "begin")
    before = start < 0 if info.min == 0 else start < -steps
    positions = start.astype(jnp.uint32) + steps.astype(jnp.uint32)
    return jnp.where(before, jnp.uint32(0), positions) if mode == "clip" else positions
