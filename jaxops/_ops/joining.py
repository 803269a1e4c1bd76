"""split, concat, stack, unstack and tile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops._indexing.pieces import are_too_many, concatenate, split_into
from jaxops._ops import copies
from jaxops._run.arguments import (
    ArrayLike,
    Int,
    brief,
    check_numeric_or_bool,
    is_empty_list,
    kind,
    to_numpy,
)
from jaxops._run.dispatch import operation
from jaxops._run.sharding import OutSharding
from jaxops._run.static_values import (
    STATIC_HINT,
    canonical_axis,
    is_scalar,
    refuse_traced,
    static_dims,
    static_int,
    static_int_of_one,
)

_SPLIT_HINT = (
    f"jaxops.dynamic_partition takes a traced number of the piece of each row; {STATIC_HINT}"
)


def split(
    value: ArrayLike,
    num_or_size_splits: ArrayLike,
    axis: Int = 0,
    num: Int | None = None,
    name: str | None = None,
) -> list[jax.Array]:
    """Splits `value` along `axis` into pieces.

    Follows `tf.split`. Differs from it in: `num` that contradicts a number of pieces is refused
    rather than ignored; the number of pieces may be a 0-D array; -1 may be the only size.

    Args:
        value: array of shape `D` and any dtype, or host strings. Traced.
        num_or_size_splits: static int, a number of equal pieces that divides `D[axis]`; or static
            ints, the sizes of the pieces, whose sum is `D[axis]`. At most one size is -1: all that
            the others leave.
        axis: static int in `[-rank(value), rank(value))`, with a list of sizes also an array or
            list of one.
        num: static int or None; if given, the number of pieces.

    Returns:
        List of arrays of the dtype of `value`, each of shape `D` but for dimension `axis`; for
        host strings of NumPy arrays.

    Raises:
        TypeError: wrong type of an argument; traced `num_or_size_splits` or `axis`.
        ValueError: `value` cannot be split like that, or not into `num` pieces.

    Gradient: the cotangents of the pieces, joined.

    Example:
        >>> import jaxops
        >>> jaxops.split([1, 2, 3, 4], 2)
        [Array([1, 2], dtype=int32), Array([3, 4], dtype=int32)]
        >>> jaxops.split([1, 2, 3, 4], [1, -1])
        [Array([1], dtype=int32), Array([2, 3, 4], dtype=int32)]
    """
    op, arg = "split", "num_or_size_splits"
    pieces = num_or_size_splits
    if is_scalar(pieces):
        sizes = None
        count = static_int(pieces, op, arg)
    else:
        refuse_traced(pieces, op, arg, _SPLIT_HINT)
        sizes = static_dims(pieces, op, arg)
        count = len(sizes)
    if count < 1:
        raise ValueError(f"{op}: {arg} must make at least one piece; received {brief(pieces)}")
    if count >= 2**31:
        raise ValueError(f"{op}: {arg} must make less than 2**31 pieces; received {count}")
    if num is not None and static_int(num, op, "num") != count:
        raise ValueError(f"{op}: num must be the number of pieces, {count}; received {num}")
    return _split.run(
        op,
        value=value,
        name=name,
        one_by_one=are_too_many(count),
        count=count,
        sizes=sizes,
        axis=(static_int if sizes is None else static_int_of_one)(axis, op, "axis"),
    )


@operation(data=("value",), moves_elements=True)
def _split(value: jax.Array, *, op: str, count: int, sizes: tuple[int, ...] | None, axis: int):
    axis = canonical_axis(axis, value.ndim, op)
    dim = value.shape[axis]
    if sizes is None:
        if dim % count:
            raise ValueError(
                f"{op}: num_or_size_splits must divide dimension {axis} of value, {dim}; "
                f"received {count}"
            )
        sizes = (dim // count,) * count
    rest = dim - sum(size for size in sizes if size != -1)
    resolved = [rest if size == -1 else size for size in sizes]
    if sizes.count(-1) > 1 or any(size < 0 for size in resolved) or sum(resolved) != dim:
        raise ValueError(
            f"{op}: num_or_size_splits must have sizes of at least 0, but for one -1, and make up "
            f"dimension {axis} of value, {dim}; received {sizes}"
        )
    return split_into(value, resolved, axis)


def concat(
    values: Sequence[ArrayLike] | ArrayLike,
    axis: Int | Sequence[int],
    name: str | None = None,
    *,
    out_sharding: OutSharding = None,
) -> jax.Array:
    """Joins arrays along a dimension that they have.

    Follows `tf.concat`. Differs from it in: host values are refused where the common dtype cannot
    hold them.

    Args:
        values: list of arrays of any dtype, equal but for dimension `axis` of their shapes, or of
            host strings. Values from the host take the dtype of the JAX arrays; where there are
            none, that of a NumPy array before that of Python values, and of floats before that of
            ints; empty lists have none. Anything but a list counts as a list of one. Traced.
        axis: static int in `[-rank, rank)`, or an array or list of one. With a list of one
            value `axis` is not checked, and the value may be a scalar.

    Returns:
        Array of the shape of each value, but for dimension `axis`, which is the sum of theirs; for
        host strings a NumPy array. Inside a trace a NumPy array too, where all values are host
        ints.

    Raises:
        TypeError: wrong dtype or type of an argument; a traced `axis`.
        ValueError: no values, scalars, or shapes that do not fit together.

    Gradient: the cotangent, split.

    Example:
        >>> import jaxops
        >>> jaxops.concat([[[1, 2, 3], [4, 5, 6]], [[7, 8, 9]]], 0)
        Array([[1, 2, 3],
               [4, 5, 6],
               [7, 8, 9]], dtype=int32)
    """
    op = "concat"
    axis = static_int_of_one(axis, op, "axis")
    items = list(values) if isinstance(values, (list, tuple)) else [values]
    return _concat.run(op, **_several(op, items), name=name, out_sharding=out_sharding, axis=axis)


def _several(op: str, values: list[Any]) -> dict[str, Any]:
    """The arguments of `run` for data that must agree in dtype."""
    if not values:
        raise ValueError(f"{op}: values must hold at least one array; received an empty list")
    one_by_one = are_too_many(len(values))
    return {"values": values, "like": _decides_dtype(op, values), "one_by_one": one_by_one}


def _decides_dtype(op: str, values: list[Any]) -> str:
    """The name of the argument whose dtype the others take."""
    best, best_rank = "", (-1, -1)
    for n, value in enumerate(values):
        arg = f"values[{n}]"
        if isinstance(value, jax.Array):
            return arg
        array = to_numpy(value, op, arg)
        if isinstance(array, jax.Array):
            return arg
        if array.dtype.kind in "USTO":
            return arg  # strings, or an argument that `run` refuses
        check_numeric_or_bool(array.dtype, op, arg, value)
        kind_or_none = -1 if is_empty_list(value) else kind(array.dtype)
        rank = (kind_or_none, isinstance(value, (np.ndarray, np.generic)))
        if rank > best_rank:
            best, best_rank = arg, rank
    return best


@operation(data=("values[]",), moves_elements=True)
def _concat(values: list[jax.Array], *, op: str, axis: int):
    first = values[0]
    # TensorFlow does not look at the axis of one value (test_joining.py,
    # test_one_value_is_not_looked_at).
    if len(values) == 1:
        return first
    if first.ndim == 0:
        raise ValueError(f"{op}: values must have rank 1 at least; received scalars (stack them)")
    axis = canonical_axis(axis, first.ndim, op)
    for n, value in enumerate(values):
        if not _equal_but_for(axis, value.shape, first.shape):
            raise ValueError(
                f"{op}: values[{n}] must have the shape of values[0], {first.shape}, but for "
                f"dimension {axis}; received shape {value.shape}"
            )
    return concatenate(values, axis)


def _equal_but_for(axis: int, a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return (len(a), a[:axis], a[axis + 1 :]) == (len(b), b[:axis], b[axis + 1 :])


def stack(
    values: Sequence[ArrayLike] | ArrayLike,
    axis: Int = 0,
    name: str | None = None,
    *,
    out_sharding: OutSharding = None,
) -> jax.Array:
    """Joins arrays along a new dimension.

    Follows `tf.stack`. Differs from it in: an empty list and a scalar are refused; a NumPy array
    is a sequence of its rows whatever `axis`; host values are refused where the common dtype
    cannot hold them.

    Args:
        values: list of arrays of one shape and any dtype, or of host strings; dtypes as in
            `concat`. An array counts as the list of its rows. Traced.
        axis: static int in `[-1 - rank, rank]` for values of that rank: where the new dimension
            stands in the result.

    Returns:
        Array of the shape of each value with `len(values)` inserted; for host strings a NumPy
        array. Inside a trace a NumPy array too, where all values are host ints.

    Raises:
        TypeError: wrong dtype or type of an argument; a traced `axis`.
        ValueError: no values, different shapes, or `axis` outside the range.

    Gradient: the cotangent, unstacked.

    Example:
        >>> import jaxops
        >>> jaxops.stack([[1, 4], [2, 5], [3, 6]])
        Array([[1, 4],
               [2, 5],
               [3, 6]], dtype=int32)
        >>> jaxops.stack([[1, 4], [2, 5], [3, 6]], axis=1)
        Array([[1, 2, 3],
               [4, 5, 6]], dtype=int32)
    """
    return _run_stack("stack", values, static_int(axis, "stack", "axis"), name, out_sharding)


def parallel_stack(
    values: Sequence[ArrayLike] | ArrayLike, name: str | None = "parallel_stack"
) -> jax.Array:
    """`stack(values)`. XLA copies all values at once, as TensorFlow does by this function only.

    Follows `tf.parallel_stack`. Differs from it in: as `stack`; it may be called eagerly, and has a
    gradient.

    Args:
        values: list of arrays, as in `stack`. Traced.

    Returns:
        Array of the shape of each value with `len(values)` before it, as `stack` returns it.

    Raises:
        TypeError: wrong dtype or type of an argument.
        ValueError: no values, or different shapes.

    Gradient: the cotangent, unstacked.

    Example:
        >>> import jaxops
        >>> jaxops.parallel_stack([[1, 4], [2, 5], [3, 6]])
        Array([[1, 4],
               [2, 5],
               [3, 6]], dtype=int32)
    """
    return _run_stack("parallel_stack", values, 0, name)


def _run_stack(op, values, axis, name, out_sharding=None):
    options = {"name": name, "out_sharding": out_sharding, "axis": axis}
    if isinstance(values, (list, tuple)):
        return _stack.run(op, **_several(op, list(values)), **options)
    return _stack_rows.run(op, values=values, **options)


@operation(data=("values[]",), moves_elements=True)
def _stack(values: list[jax.Array], *, op: str, axis: int):
    first = values[0]
    axis = canonical_axis(axis, first.ndim + 1, op)
    for n, value in enumerate(values):
        if value.shape != first.shape:
            raise ValueError(
                f"{op}: values[{n}] must have the shape of values[0], {first.shape}; "
                f"received shape {value.shape}"
            )
    return concatenate([lax.expand_dims(value, (axis,)) for value in values], axis)


@operation(data=("values",), moves_elements=True)
def _stack_rows(values: jax.Array, *, op: str, axis: int):
    if values.ndim == 0:
        raise ValueError(f"{op}: values must be a list or an array with rows; received a scalar")
    axis = canonical_axis(axis, values.ndim, op)
    return jnp.moveaxis(values, 0, axis)


def unstack(
    value: ArrayLike, num: Int | None = None, axis: Int = 0, name: str | None = None
) -> list[jax.Array]:
    """Takes `value` apart along `axis`, which its pieces do not have.

    Follows `tf.unstack`. Differs from it in: `num=0` is checked like others.

    Args:
        value: array of shape `D`, of rank 1 at least and any dtype, or host strings. Traced.
        num: static int or None; if given, must be `D[axis]`.
        axis: static int in `[-rank(value), rank(value))`.

    Returns:
        List of `D[axis]` arrays of shape `D[:axis] + D[axis+1:]` and dtype of `value`; for host
        strings of NumPy arrays.

    Raises:
        TypeError: wrong type of an argument; a traced `num` or `axis`.
        ValueError: `num` is not `D[axis]`, or `axis` outside the range.

    Gradient: the cotangents, stacked.

    Example:
        >>> import jaxops
        >>> jaxops.unstack([[1, 2], [3, 4]])
        [Array([1, 2], dtype=int32), Array([3, 4], dtype=int32)]
    """
    op = "unstack"
    axis = static_int(axis, op, "axis")
    shape = value.shape if isinstance(value, (jax.Array, np.ndarray)) else ()
    dim = shape[axis] if -len(shape) <= axis < len(shape) else 0
    return _unstack.run(
        op,
        value=value,
        name=name,
        one_by_one=are_too_many(dim),
        num=None if num is None else static_int(num, op, "num"),
        axis=axis,
    )


@operation(data=("value",), moves_elements=True)
def _unstack(value: jax.Array, *, op: str, num: int | None, axis: int):
    if value.ndim == 0:
        raise ValueError(f"{op}: value must have rank 1 at least; received a scalar")
    axis = canonical_axis(axis, value.ndim, op)
    dim = value.shape[axis]
    if num is not None and num != dim:
        raise ValueError(f"{op}: num must be dimension {axis} of value, {dim}; received {num}")
    return [lax.squeeze(piece, (axis,)) for piece in split_into(value, [1] * dim, axis)]


def tile(
    input: ArrayLike,
    multiples: ArrayLike,
    name: str | None = None,
    *,
    out_sharding: OutSharding = None,
) -> jax.Array:
    """Repeats `input` along each dimension.

    Follows `tf.tile`. Differs from it in: nothing.

    Args:
        input: array of shape `D` and any dtype, or host strings. Traced.
        multiples: static ints of at least 0, one per dimension.

    Returns:
        Array of shape `[D[i] * multiples[i]]` and dtype of `input`; for host strings a NumPy array.

    Raises:
        TypeError: wrong type of an argument; traced `multiples`.
        ValueError: `multiples` has a negative component, or not one per dimension.

    Gradient: the sum of the cotangent over the copies.

    Example:
        >>> import jaxops
        >>> jaxops.tile([[1, 2], [3, 4]], [1, 2])
        Array([[1, 2, 1, 2],
               [3, 4, 3, 4]], dtype=int32)
    """
    op = "tile"
    multiples = static_dims(multiples, op, "multiples")
    return _tile.run(op, input=input, name=name, out_sharding=out_sharding, multiples=multiples)


@operation(data=("input",), moves_elements=True)
def _tile(input: jax.Array, *, op: str, multiples: tuple[int, ...]):
    if len(multiples) != input.ndim or any(multiple < 0 for multiple in multiples):
        raise ValueError(
            f"{op}: multiples must have one component of at least 0 per dimension of input, "
            f"{input.ndim}; received {multiples}"
        )
    # Before each dimension that is repeated goes one for the copies; a reshape merges the two.
    shape, dims = [], []
    for dim, multiple in zip(input.shape, multiples, strict=True):
        if multiple != 1:
            shape.append(multiple)
        dims.append(len(shape))
        shape.append(dim)
    sizes = [math.prod(pair) for pair in zip(input.shape, multiples, strict=True)]
    return lax.reshape(copies.broadcast_in_dim(input, shape, dims), sizes)
