"""roll and meshgrid."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from jaxops import _jax_internals, _symbolic
from jaxops._indexing import policy
from jaxops._indexing.specs import ScalarIndex
from jaxops._ops import copies
from jaxops._run import arguments, on_host
from jaxops._run.arguments import ArrayLike, Int, Ints
from jaxops._run.dispatch import operation
from jaxops._run.static_values import (
    canonical_axis,
    check_choice,
    is_scalar,
    refuse_traced,
    static_int,
    static_ints,
)


def roll(
    input: ArrayLike, shift: ArrayLike, axis: Int | Ints, name: str | None = None
) -> jax.Array:
    """Rolls the elements of `input` along some dimensions; what leaves one end enters the other.

    `result[(i + shift) % D[axis]] == input[i]` along `axis`. Negative shifts roll the other way.

    Follows `tf.roll`. Differs from it in: `shift` has every integer dtype; `axis` is static.

    Args:
        input: array of shape `D`, rank 1 at least, and any dtype, or host strings. Traced.
        shift: integer scalar or vector, of the shape of `axis`; of any size. Traced.
        axis: static int, or a vector of static ints, in `[-rank(input), rank(input))`. The shifts
            of a dimension that is named several times add up.

    Returns:
        Array of the shape and dtype of `input`; for host strings a NumPy array.

    Raises:
        TypeError: wrong dtype or type of an argument; a traced `axis`.
        ValueError: wrong rank, shape or value of an argument; a 64-bit shift that does not fit 32
            bits while x64 is off.

    Gradient: the cotangent, rolled back. None for `shift`.

    Example:
        >>> import jaxops
        >>> jaxops.roll([0, 1, 2, 3, 4], shift=2, axis=0)
        Array([3, 4, 0, 1, 2], dtype=int32)
        >>> jaxops.roll([[0, 1, 2], [3, 4, 5]], shift=[1, -1], axis=[0, 1])
        Array([[4, 5, 3],
               [1, 2, 0]], dtype=int32)
    """
    op = "roll"
    refuse_traced(axis, op, "axis")
    is_one = is_scalar(axis)
    axes = (static_int(axis, op, "axis"),) if is_one else static_ints(axis, op, "axis")
    _refuse_saturated(shift, op)
    return _roll.run(
        op,
        input=input,
        shift=shift,
        name=name,
        axes=axes,
        is_one=is_one,
        known=_known(shift, op) if _jax_internals.is_in_program() else None,
    )


def _known(shift: Any, op: str) -> tuple[int, ...] | None:
    """The shifts, if they are not traced."""
    array = on_host.concrete_integers(shift, op, "shift")
    return None if array is None else tuple(array.reshape(-1).tolist())


def _refuse_saturated(shift: Any, op: str) -> None:
    """Refuses shifts that `run` would saturate, as it does indices."""
    for x in arguments.leaves(shift, op, "shift"):
        if type(x) is int:
            limits = np.iinfo(jax.dtypes.canonicalize_dtype(np.int64))
            if not limits.min <= x <= limits.max:
                raise ValueError(
                    f"{op}: shift must fit {limits.dtype}; received {x}; {arguments.X64_HINT}"
                )
        elif not isinstance(x, (Tracer, type)) and arguments.is_integer(getattr(x, "dtype", None)):
            # NumPy refuses an array without elements if another dimension is near 2**63.
            if 0 in np.shape(x):
                continue
            arguments.to_operand(np.asarray(x), op, "shift")


@operation(data=("input",), indices=("shift",), moves_elements=True)
def _roll(
    input: jax.Array,
    shift: jax.Array,
    *,
    op: str,
    axes: tuple[int, ...],
    is_one: bool,
    known: tuple[int, ...] | None,
):
    if input.ndim == 0:
        raise ValueError(f"{op}: input must have rank 1 at least; received a scalar")
    dims = [canonical_axis(axis, input.ndim, op) for axis in axes]
    expected = () if is_one else (len(axes),)
    if shift.shape != expected:
        raise ValueError(
            f"{op}: shift must have the shape of axis, {expected}; received shape {shift.shape}"
        )
    if 0 in input.shape:
        return input
    if not _symbolic.are_known(input.shape):
        known = None
    # One roll for all the shifts of a dimension, and none of a dimension of 1: 60 shifts of two
    # dimensions took 27 ms one by one, and take 1 ms (test_rolling.py,
    # test_one_roll_for_all_shifts_of_a_dimension).
    for dim in dict.fromkeys(dim for dim in dims if input.shape[dim] != 1):
        places = [n for n, other in enumerate(dims) if other == dim]
        if known is not None:
            input = _roll_by_known(input, sum(known[n] for n in places), dim)
        else:
            input = _roll_by_traced(input, shift.reshape(-1), places, dim, op)
    return input


def _roll_by_known(x: jax.Array, shift: int, axis: int) -> jax.Array:
    """The rolled array, by slices at known places, whose transpose XLA fuses."""
    start = -shift % x.shape[axis]
    # With a traced shift the gradient took 3.2 times as long as jnp's gradient (test_rolling.py,
    # test_a_program_knows_shifts_that_are_not_traced).
    ends = lax.slice_in_dim(x, start, None, axis=axis), lax.slice_in_dim(x, 0, start, axis=axis)
    return lax.concatenate(ends, axis)


def _roll_by_traced(
    x: jax.Array, shifts: jax.Array, places: list[int], axis: int, op: str
) -> jax.Array:
    """A slice of two copies of `x`: it starts the sum of some shifts before the second copy."""
    size = x.shape[axis]
    shifts = policy.resolve(ScalarIndex(op, (size,)), shifts[:, None], "wrap").indices[:, 0]
    (n,) = _symbolic.numbers([size], shifts.dtype)

    def go_back(start, shift):  # modulo `n`, and without a number that the dtype may not hold
        return jnp.where(start < shift, start + (n - shift), start - shift)

    start = functools.reduce(go_back, [shifts[place] for place in places], jnp.zeros_like(n))
    return lax.dynamic_slice_in_dim(lax.concatenate([x, x], axis), start, size, axis)


def meshgrid(*args: ArrayLike, indexing: str = "xy", name: str | None = None) -> list[jax.Array]:
    """Coordinates of the points of a grid, one array for each of its dimensions.

    Follows `tf.meshgrid`. Differs from it in: values from the host take the dtype of the first
    array where they fit it; strings too.

    Args:
        args: arrays of one dtype, or of host strings, each with the coordinates along one
            dimension; those of another rank than 1 are flattened. Traced.
        indexing: static; `"ij"`: `args[n]` varies along dimension `n` of the results. `"xy"`: the
            first two dimensions change places.

    Returns:
        List of as many arrays as `args`, with the size of each one as a dimension of all of them;
        for host strings NumPy arrays.

    Raises:
        TypeError: wrong dtype or type of an argument.
        ValueError: unknown `indexing`; a ragged list.

    Gradient: summed over the copies.

    Example:
        >>> import jaxops
        >>> x, y = jaxops.meshgrid([1, 2, 3], [4, 5])
        >>> x
        Array([[1, 2, 3],
               [1, 2, 3]], dtype=int32)
        >>> y
        Array([[4, 4, 4],
               [5, 5, 5]], dtype=int32)
    """
    op = "meshgrid"
    check_choice(indexing, ("xy", "ij"), op, "indexing")
    if not args:
        return []
    return _meshgrid.run(op, args=args, name=name, indexing=indexing)


@operation(data=("args[]",), moves_elements=True, like="args[0]")
def _meshgrid(args: list[jax.Array], *, op: str, indexing: str):
    del op
    axes = [*range(len(args))]
    if indexing == "xy":
        axes[:2] = axes[:2][::-1]
    shape = [args[axis].size for axis in axes]
    return [
        copies.broadcast_in_dim(x.reshape(-1), shape, (axis,))
        for x, axis in zip(args, axes, strict=True)
    ]
