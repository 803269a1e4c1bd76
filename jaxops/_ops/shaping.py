"""shape, shape_n, size and rank, known at trace time; and the functions that change a shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.export import is_symbolic_dim
from jax.typing import DTypeLike

from jaxops._ops.casting import to_dtype_or_none
from jaxops._run import arguments
from jaxops._run.arguments import ArrayLike, Int, Ints
from jaxops._run.dispatch import operation, scope_name
from jaxops._run.sharding import OutSharding
from jaxops._run.static_values import (
    canonical_axis,
    check_bool,
    is_scalar,
    static_dim,
    static_dims,
    static_int,
    static_int_of_one,
    static_ints,
)


def shape(input: ArrayLike, out_type: DTypeLike = jnp.int32, name: str | None = None) -> np.ndarray:
    """The shape of `input`, as a vector.

    Follows `tf.shape`. Differs from it in: the result is a NumPy array, known at trace time, so
    that inside `jit` it serves as an argument that has to be static.

    Args:
        input: array of shape `D` and any dtype, or host strings. Its values are not looked at.
        out_type: static; int32 or int64. The result has it even if JAX has 64-bit types off.
        name: static; must be a str or None. It has no effect, as no operation is made.

    Returns:
        NumPy array of shape `[rank(input)]` and dtype `out_type`. Traced where a dimension is
        symbolic, as while a program is exported; there `x.shape` serves as a static argument.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: `input` is ragged, or a dimension does not fit `out_type`.

    Gradient: none.

    Example:
        >>> import jaxops
        >>> jaxops.shape([[[1, 1, 1], [2, 2, 2]], [[3, 3, 3], [4, 4, 4]]])
        array([2, 2, 3], dtype=int32)
    """
    op = "shape"
    scope_name(op, name)  # refuses a wrong name
    return _as_out_type(shape_of(input, op, "input"), out_type, op)


def shape_n(
    input: Sequence[ArrayLike], out_type: DTypeLike = jnp.int32, name: str | None = None
) -> list[np.ndarray]:
    """The shapes of several arrays.

    Follows `tf.shape_n`. Differs from it in: as `shape`; the arrays may differ in dtype.

    Args:
        input: list or tuple of at least one array, each as in `shape`.
        out_type: static; int32 or int64.
        name: static; must be a str or None, as in `shape`.

    Returns:
        List of NumPy arrays, the `shape` of each.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: `input` is empty, or as `shape`.

    Gradient: none.

    Example:
        >>> import jaxops
        >>> jaxops.shape_n([[[1, 2, 3], [4, 5, 6]], [7.0]])
        [array([2, 3], dtype=int32), array([1], dtype=int32)]
    """
    op = "shape_n"
    scope_name(op, name)  # refuses a wrong name
    arguments.check_list(input, op, "input")
    if not input:
        raise ValueError(f"{op}: input must hold at least one array; received an empty list")
    return [_as_out_type(shape_of(x, op, f"input[{n}]"), out_type, op) for n, x in enumerate(input)]


def size(
    input: ArrayLike, out_type: DTypeLike = jnp.int32, name: str | None = None
) -> np.signedinteger[Any]:
    """The number of elements of `input`.

    Follows `tf.size`. Differs from it in: the result is a NumPy scalar, known at trace time.

    Args:
        input: array of any shape and dtype, or host strings. Its values are not looked at.
        out_type: static; int32 or int64. The result has it even if JAX has 64-bit types off.
        name: static; must be a str or None, as in `shape`.

    Returns:
        NumPy scalar of dtype `out_type`; traced where a dimension is symbolic.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: `input` is ragged, or its size does not fit `out_type`.

    Gradient: none.

    Example:
        >>> import jaxops
        >>> jaxops.size([[[1, 1, 1], [2, 2, 2]], [[3, 3, 3], [4, 4, 4]]])
        np.int32(12)
    """
    op = "size"
    scope_name(op, name)  # refuses a wrong name
    elements = math.prod(shape_of(input, op, "input"))
    return _as_out_type(elements, out_type, op)[()]


def rank(input: ArrayLike, name: str | None = None) -> np.int32:
    """The number of dimensions of `input`.

    Follows `tf.rank`. Differs from it in: the result is a NumPy scalar, known at trace time.

    Args:
        input: array of any shape and dtype, or host strings. Its values are not looked at.
        name: static; must be a str or None, as in `shape`.

    Returns:
        NumPy scalar of dtype int32.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: `input` is ragged.

    Gradient: none.

    Example:
        >>> import jaxops
        >>> jaxops.rank([[[1, 1, 1], [2, 2, 2]], [[3, 3, 3], [4, 4, 4]]])
        np.int32(3)
    """
    op = "rank"
    scope_name(op, name)  # refuses a wrong name
    return np.int32(len(shape_of(input, op, "input")))


def shape_of(x: object, op: str, arg: str) -> tuple[int, ...]:
    if isinstance(x, (jax.Array, np.ndarray, np.generic)):
        return x.shape
    array = arguments.to_numpy(x, op, arg)
    if array.dtype == object:
        check = arguments.to_host_strings if arguments.is_host_string(x) else arguments.to_operand
        check(x, op, arg)
    return array.shape


def _as_out_type(values, out_type: DTypeLike, op: str) -> Any:
    dtype = to_dtype_or_none(out_type)
    if dtype not in (np.int32, np.int64):
        raise TypeError(
            f"{op}: out_type must be int32 or int64; received {arguments.brief(out_type)}"
        )
    if any(map(is_symbolic_dim, np.array(values, object).reshape(-1))):
        # The size is known when the exported program runs.
        if dtype != jax.dtypes.canonicalize_dtype(dtype):
            raise ValueError(
                f"{op}: out_type must be int32 for symbolic dimensions; received int64; "
                f"{arguments.X64_HINT}"
            )
        return jnp.array(values).astype(dtype)
    exact = np.array(values, np.int64)
    if exact.size and exact.max() > np.iinfo(dtype).max:
        raise ValueError(f"{op}: out_type must be int64 to hold {exact.max()}; received {dtype}")
    return exact.astype(dtype)


def reshape(
    tensor: ArrayLike,
    shape: ArrayLike,
    name: str | None = None,
    *,
    out_sharding: OutSharding = None,
) -> jax.Array:
    """Gives the elements of `tensor` another shape.

    Follows `tf.reshape`. Differs from it in: nothing.

    Args:
        tensor: array of shape `D` and any dtype, or host strings. Traced.
        shape: static ints; at most one is -1: it follows from the number of elements. An int is a
            vector of one, `[]` makes a scalar.

    Returns:
        Array of shape `shape` (with -1 resolved) and dtype of `tensor`; for host strings a NumPy
        array. Inside a trace a NumPy array too, where `tensor` is made of host ints.

    Raises:
        TypeError: wrong type of an argument; a traced `shape`.
        ValueError: `shape` does not have the number of elements of `tensor`, or has a component
            below -1, or -1 twice.

    Gradient: the cotangent, reshaped to `D`.

    Example:
        >>> import jaxops
        >>> jaxops.reshape([1, 2, 3, 4, 5, 6], [2, -1])
        Array([[1, 2, 3],
               [4, 5, 6]], dtype=int32)
        >>> jaxops.reshape([7], [])
        Array(7, dtype=int32)
    """
    op = "reshape"
    return _reshape.run(
        op,
        tensor=tensor,
        name=name,
        out_sharding=out_sharding,
        shape=(static_dim(shape, op, "shape"),)
        if is_scalar(shape)
        else static_dims(shape, op, "shape"),
    )


@operation(data=("tensor",), moves_elements=True)
def _reshape(tensor: jax.Array, *, op: str, shape: tuple[int, ...]):
    if any(dim < -1 for dim in shape) or shape.count(-1) > 1:
        raise ValueError(
            f"{op}: shape must have components of at least 0, but for one -1; received {shape}"
        )
    resolved = shape
    if -1 in shape:
        # A 0 in `shape` stands for a 0 of the tensor: -1 is the quotient of the other dimensions
        # (test_shaping.py, test_reshape_infers).
        dims = [dim for dim in tensor.shape if dim or 0 not in shape]
        rest = math.prod(dims) // math.prod(dim for dim in shape if dim > 0)
        resolved = tuple(rest if dim == -1 else dim for dim in shape)
    if math.prod(resolved) != tensor.size:
        raise ValueError(
            f"{op}: shape must have the {tensor.size} elements of tensor, whose shape is "
            f"{tensor.shape}; received {shape}"
        )
    return lax.reshape(tensor, resolved)


def squeeze(input: ArrayLike, axis: Int | Ints | None = None, name: str | None = None) -> jax.Array:
    """Removes dimensions of size 1.

    Follows `tf.squeeze`. Differs from it in: `axis` may be an array.

    Args:
        input: array of any shape and dtype, or host strings. Traced.
        axis: static ints in `[-rank(input), rank(input))`, or one int: which dimensions, all of
            size 1; naming one twice is allowed. None and `[]` mean every dimension of size 1.

    Returns:
        Array without those dimensions and dtype of `input`; for host strings a NumPy array.

    Raises:
        TypeError: wrong type of an argument; a traced `axis`.
        ValueError: `axis` is outside the range, or names a dimension that is not 1.

    Gradient: the cotangent, reshaped to the shape of `input`.

    Example:
        >>> import jaxops
        >>> import numpy as np
        >>> t = np.zeros([1, 2, 1, 3, 1, 1])
        >>> jaxops.squeeze(t).shape, jaxops.squeeze(t, [2, 4]).shape
        ((2, 3), (1, 2, 3, 1))
    """
    op = "squeeze"
    if axis is None:
        axes = ()
    elif is_scalar(axis):
        axes = (static_int(axis, op, "axis"),)
    else:
        axes = static_ints(axis, op, "axis")
    return _squeeze.run(op, input=input, name=name, axes=axes)


@operation(data=("input",), moves_elements=True)
def _squeeze(input: jax.Array, *, op: str, axes: Sequence[int]):
    if not axes:
        axes = [d for d, dim in enumerate(input.shape) if dim == 1]
    axes = sorted({canonical_axis(axis, input.ndim, op) for axis in axes})
    for axis in axes:
        if input.shape[axis] != 1:
            raise ValueError(
                f"{op}: axis must name dimensions of size 1; received {axis} with input of shape "
                f"{input.shape}"
            )
    return lax.squeeze(input, axes)


def expand_dims(input: ArrayLike, axis: Int | Ints, name: str | None = None) -> jax.Array:
    """Inserts a dimension of size 1.

    Follows `tf.expand_dims`. Differs from it in: `axis` is no bool.

    Args:
        input: array of any shape and dtype, or host strings. Traced.
        axis: static int in `[-1 - rank(input), rank(input)]`, or an array or list of one: where
            the new dimension stands in the result.

    Returns:
        Array of the shape of `input` with a 1 inserted; for host strings a NumPy array.

    Raises:
        TypeError: wrong type of an argument; a traced `axis`.
        ValueError: `axis` is outside the range.

    Gradient: the cotangent, reshaped to the shape of `input`.

    Example:
        >>> import jaxops
        >>> jaxops.expand_dims([1, 2], 0)
        Array([[1, 2]], dtype=int32)
        >>> jaxops.expand_dims([1, 2], -1)
        Array([[1],
               [2]], dtype=int32)
    """
    op = "expand_dims"
    axis = static_int_of_one(axis, op, "axis")
    return _expand_dims.run(op, input=input, name=name, axis=axis)


@operation(data=("input",), moves_elements=True)
def _expand_dims(input: jax.Array, *, op: str, axis: int):
    return lax.expand_dims(input, (canonical_axis(axis, input.ndim + 1, op),))


def transpose(
    a: ArrayLike,
    perm: Ints | None = None,
    conjugate: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Permutes the dimensions of `a`.

    Follows `tf.transpose`. Differs from it in: nothing.

    Args:
        a: array of shape `D` and any dtype, or host strings. Traced.
        perm: static ints in `[-rank(a), rank(a))`, each dimension once: dimension `i` of the result
            is dimension `perm[i]` of `a`. Default: the dimensions in reverse order.
        conjugate: static bool; whether to conjugate too, where `a` is complex.

    Returns:
        Array of shape `[D[p] for p in perm]` and dtype of `a`; for host strings a NumPy array.

    Raises:
        TypeError: wrong type of an argument; a traced `perm`.
        ValueError: `perm` is no permutation of the dimensions.

    Gradient: the cotangent with the inverse permutation, conjugated again.

    Example:
        >>> import jaxops
        >>> jaxops.transpose([[1, 2, 3], [4, 5, 6]])
        Array([[1, 4],
               [2, 5],
               [3, 6]], dtype=int32)
        >>> jaxops.transpose([[1 + 2j, 3 - 4j]], conjugate=True)
        Array([[1.-2.j],
               [3.+4.j]], dtype=complex64)
    """
    op = "transpose"
    return _transpose.run(
        op,
        a=a,
        name=name,
        perm=None if perm is None else static_ints(perm, op, "perm"),
        conjugate=check_bool(conjugate, op, "conjugate"),
    )


@operation(data=("a",), moves_elements=True)
def _transpose(a: jax.Array, *, op: str, perm: Sequence[int] | None, conjugate: bool):
    perm = range(a.ndim)[::-1] if perm is None else perm
    axes = [canonical_axis(p, a.ndim, op, "perm") for p in perm]
    if sorted(axes) != list(range(a.ndim)):
        raise ValueError(
            f"{op}: perm must hold each of the {a.ndim} dimensions of a once; received {perm}"
        )
    if conjugate and jnp.issubdtype(a.dtype, jnp.complexfloating):
        a = lax.conj(a)
    return lax.transpose(a, axes)
