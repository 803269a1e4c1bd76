"""boolean_mask."""

from __future__ import annotations

from typing import Any, Literal, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops._indexing import result_size
from jaxops._indexing.policy import Mode
from jaxops._indexing.positions import is_true, take_or_fill, true_positions
from jaxops._run import arguments, on_host
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.dispatch import operation
from jaxops._run.static_values import check_bool, static_int

_NOUN = "true values of mask"


@overload
def boolean_mask(
    tensor: ArrayLike,
    mask: ArrayLike,
    axis: Int | None = None,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[False] = False,
    mode: Mode = "device",
) -> jax.Array: ...


@overload
def boolean_mask(
    tensor: ArrayLike,
    mask: ArrayLike,
    axis: Int | None = None,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[True],
    mode: Mode = "device",
) -> tuple[jax.Array, jax.Array]: ...


def boolean_mask(
    tensor: ArrayLike,
    mask: ArrayLike,
    axis: Int | None = None,
    name: str | None = None,
    *,
    size: Int | None = None,
    fill_value: ArrayLike | None = None,
    return_size: bool = False,
    mode: Mode = "device",
) -> jax.Array | tuple[jax.Array, jax.Array]:
    """Keeps the elements, or slices, of `tensor` where `mask` is true, in row-major order.

    Follows `tf.boolean_mask`. Differs from it in: a traced mask needs a static `size`; a negative
    `axis` works for a mask of any rank.

    Args:
        tensor: array of shape `D` and any dtype, or host strings. Traced.
        mask: bool array of rank `K`, 1 at least, and shape `D[axis:axis+K]`; numbers count as
            true where they are not 0. Traced only with `size`.
        axis: static int in `[-rank(tensor), rank(tensor) - K]`, where the mask starts; default 0.
        size: static int; the size of the masked dimension in the result, for code that is
            compiled or batched over `mask`. `mode` says what further elements do; places without
            an element get `fill_value`. Default: as many as `mask` has true values.
        fill_value: scalar that fits the dtype of `tensor`, for use with `size`; default 0 (for
            strings, the empty one). If the result holds positions or segment ids, 0 is one of them:
            pass a number that is none, such as -1. Traced.
        return_size: static bool; whether to return also the number of true values, which `size`
            does not limit.
        mode: static; what elements that `size` does not hold do. `"device"`: an error on the CPU,
            dropped from the end elsewhere. `"error"`: an error everywhere. `"fill"`: dropped.
            `"promise_in_bounds"`: the caller promises that there are none. With `return_size=True`
            they are dropped in every mode.

    Returns:
        Array of shape `D[:axis] + [size] + D[axis+K:]` and dtype of `tensor`; for host strings a
        NumPy array. With `return_size` a tuple of it and an int32 scalar.

    Raises:
        OutOfBoundsError: `size` holds too few elements, where `mode` makes that an error, in an
            eager call. Compiled code raises JAX's exception with the same text.
        TypeError: wrong dtype or type of an argument; `mask` is traced and `size` not given.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: the cotangent, placed into zeros of shape `D` where its elements come from; padding
    sends nothing back. None for `mask`. Differentiated eagerly without `size`, each new size
    compiles anew.

    Example:
        >>> import jax, jaxops
        >>> jaxops.boolean_mask([[1, 2], [3, 4], [5, 6]], [True, False, True])
        Array([[1, 2],
               [5, 6]], dtype=int32)
        >>> positives = jax.jit(lambda x: jaxops.boolean_mask(x, x > 0, size=3, return_size=True))
        >>> positives(jax.numpy.array([4, -1, 5]))
        (Array([4, 5, 0], dtype=int32), Array(2, dtype=int32))
    """
    op = "boolean_mask"
    on_host.check_fill_needs_size(op, size, fill_value)
    return_size = check_bool(return_size, op, "return_size")
    mode = result_size.mode_of_size(op, mode, size, return_size)
    axis = 0 if axis is None else static_int(axis, op, "axis")
    if size is None:
        with on_host.named_scope(op, name):
            return _exact(op, tensor, mask, axis, return_size)
    return _boolean_mask.run(
        op,
        tensor=tensor,
        mask=mask,
        name=name,
        mode=mode,
        fill_value=fill_value,
        axis=axis,
        size=on_host.check_size(size, op),
        return_size=return_size,
    )


def _exact(op, tensor, mask, axis, return_size) -> Any:
    """The result for a concrete mask."""
    known = on_host.values_of(mask, op, "mask", tensor)
    arguments.check_numeric_or_bool(known.dtype, op, "mask", mask)
    tensor = on_host.to_data(tensor, op, "tensor")
    axis = _check_shapes(op, tensor, known, axis)
    positions = np.flatnonzero(known)
    result = on_host.take(tensor, positions, axis, known.ndim)
    if not return_size:
        return result
    return result, on_host.from_host(np.array(positions.size, np.int32), tensor)


@operation(data=("tensor", "mask"), pads=True, of_own_dtype=("mask",), moves_elements=True)
def _boolean_mask(
    tensor: jax.Array,
    mask: jax.Array,
    fill_value: jax.Array | None,
    *,
    op: str,
    mode: str,
    axis: int,
    size: int,
    return_size: bool,
):
    axis = _check_shapes(op, tensor, mask, axis)
    on_host.check_countable(mask.size, op, "mask")
    rows = tensor.reshape(on_host.merge_axes(tensor.shape, axis, mask.ndim))
    positions, total = true_positions(is_true(mask).reshape(-1), size)
    total = result_size.hold(result_size.num_elements(op, size, _NOUN), total, mask.size, mode)
    valid = lax.iota(jnp.int32, size) < total
    result = take_or_fill(rows, positions, valid, fill_value, axis)
    return (result, total) if return_size else result


def _check_shapes(op, tensor, mask, axis: int) -> int:
    """The axis, not negative."""
    if tensor.ndim == 0:
        raise ValueError(f"{op}: tensor must have rank 1 at least; received a scalar")
    if not 1 <= mask.ndim <= tensor.ndim:
        raise ValueError(
            f"{op}: mask must have rank 1 at least and that of tensor, {tensor.ndim}, at most; "
            f"received {'a scalar' if mask.ndim == 0 else f'shape {mask.shape}'}"
        )
    if not -tensor.ndim <= axis <= tensor.ndim - mask.ndim:
        raise ValueError(
            f"{op}: axis must be in [{-tensor.ndim}, {tensor.ndim - mask.ndim}] for tensor of "
            f"shape {tensor.shape} and mask of shape {mask.shape}; received {axis}"
        )
    axis += tensor.ndim if axis < 0 else 0
    masked = tensor.shape[axis : axis + mask.ndim]
    if mask.shape != masked:
        raise ValueError(
            f"{op}: mask must have shape tensor.shape[{axis}:{axis + mask.ndim}] = {masked}; "
            f"received {mask.shape}"
        )
    return axis
