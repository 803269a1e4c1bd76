"""pad: constants or mirrored elements around an array."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops._indexing.pieces import concatenate
from jaxops._run import arguments
from jaxops._run.arguments import ArrayLike
from jaxops._run.dispatch import operation
from jaxops._run.sharding import OutSharding
from jaxops._run.static_values import check_choice, static_matrix

_MODES = ("CONSTANT", "REFLECT", "SYMMETRIC")


def pad(
    tensor: ArrayLike,
    paddings: ArrayLike,
    mode: str = "CONSTANT",
    constant_values: ArrayLike = 0,
    name: str | None = None,
    *,
    out_sharding: OutSharding = None,
) -> jax.Array:
    """Puts elements before and after those of `tensor`, along each dimension.

    Follows `tf.pad`. Differs from it in: any rank; `constant_values` is refused where the dtype of
    `tensor` cannot hold it, and has a gradient.

    Args:
        tensor: array of shape `D` and any dtype, or host strings. Traced.
        paddings: static ints of at least 0 and shape `[rank(tensor), 2]`: how many before and how
            many after.
        mode: static, in upper or lower case. `"CONSTANT"`: they are `constant_values`.
            `"REFLECT"`: mirror images without the border element, of at most `D[i] - 1`
            elements. `"SYMMETRIC"`: mirror images with the border element, of at most `D[i]`.
        constant_values: scalar that fits the dtype of `tensor`; 0 is zero, false or the empty
            string. As in TensorFlow, -0.0 keeps its sign in an array of JAX only, and the other
            modes look at no value. Traced.

    Returns:
        Array of shape `[paddings[i, 0] + D[i] + paddings[i, 1]]` and dtype of `tensor`; for host
        strings a NumPy array.

    Raises:
        TypeError: wrong dtype or type of an argument; traced `paddings`.
        ValueError: wrong shape or value of an argument.

    Gradient: for `tensor` the cotangent of its elements plus those of their images; for
    `constant_values` the sum over the elements that it fills.

    Example:
        >>> import jaxops
        >>> jaxops.pad([1, 2, 3], [[1, 2]])
        Array([0, 1, 2, 3, 0, 0], dtype=int32)
        >>> jaxops.pad([1, 2, 3], [[2, 2]], "REFLECT")
        Array([3, 2, 1, 2, 3, 2, 1], dtype=int32)
        >>> jaxops.pad([1, 2, 3], [[2, 2]], "SYMMETRIC")
        Array([2, 1, 1, 2, 3, 3, 2], dtype=int32)
    """
    op = "pad"
    if not isinstance(mode, str) or mode.upper() not in _MODES:
        check_choice(mode, _MODES, op, "mode")  # refuses it
    mode = mode.upper()
    return _pad.run(
        op,
        tensor=tensor,
        **(_constant(tensor, constant_values, op) if mode == "CONSTANT" else {}),
        name=name,
        out_sharding=out_sharding,
        paddings=static_matrix(paddings, op, "paddings", "[rank, 2]"),
        filling=mode,
    )


def _constant(tensor: ArrayLike, constant_values: ArrayLike, op: str) -> dict[str, Any]:
    """The constant, where it is not the 0 of an array of numbers."""
    # As in TensorFlow, a zero of Python or NumPy, also -0.0, is the zero of any dtype.
    on_host = np.isscalar(constant_values) or type(constant_values) is np.ndarray
    if on_host and np.shape(constant_values) == () and constant_values == 0:
        return {}
    if arguments.is_host_string(constant_values) != arguments.is_host_string(tensor):
        raise TypeError(
            f"{op}: constant_values must be a string where tensor holds strings, and only "
            f"there; received {arguments.brief(constant_values)}"
        )
    return {"constant_values": constant_values}


@operation(data=("tensor", "constant_values"), moves_elements=True, like="tensor")
def _pad(
    tensor: jax.Array,
    constant_values: jax.Array | None = None,
    *,
    op: str,
    paddings: tuple[tuple[int, ...], ...],
    filling: str,
):
    if len(paddings) != tensor.ndim or any(len(pair) != 2 for pair in paddings):
        raise ValueError(
            f"{op}: paddings must have shape [{tensor.ndim}, 2] for tensor of shape "
            f"{tensor.shape}; received {paddings}"
        )
    if any(min(pair) < 0 for pair in paddings):
        raise ValueError(f"{op}: paddings must be at least 0; received {paddings}")
    if filling != "CONSTANT":
        return _mirror(tensor, op, paddings, filling)
    widths = [(before, after, 0) for before, after in paddings]
    padded = lax.pad(tensor, jnp.zeros((), tensor.dtype), widths)
    if constant_values is None:
        return padded
    arguments.check_scalar(constant_values, op, "constant_values")
    # No `lax.pad` with the constant: JAX 0.10 fails to differentiate by it alone (test_padding.py,
    # test_gradient_of_the_constant).
    is_given = lax.pad(lax.full_like(tensor, True, bool), False, widths)
    return lax.select(is_given, padded, lax.full_like(padded, constant_values))


def _mirror(tensor, op, paddings, filling):
    """Joins each dimension with reversed slices of itself."""
    border = int(filling == "REFLECT")  # how many elements at each end have no image
    for pair, dim in zip(paddings, tensor.shape, strict=True):
        if max(pair) > dim - border:
            limit = "less than the dimension" if border else "at most the dimension"
            raise ValueError(
                f"{op}: paddings must be {limit} in mode {filling}; received {paddings} with "
                f"tensor of shape {tensor.shape}"
            )
    axes = [axis for axis, pair in enumerate(paddings) if any(pair)]
    forwards, backwards = (
        functools.partial(_mirror_in_turn, axes=order, paddings=paddings, border=border)
        for order in (axes, axes[::-1])
    )
    # The last dimension first, while there is least to copy piecemeal. A TPU copies tiles: there
    # the last dimension goes last, which moves half of the bytes (test_padding.py,
    # test_no_gather_and_the_order_of_dimensions).
    return lax.platform_dependent(tensor, tpu=forwards, default=backwards)


def _mirror_in_turn(tensor, *, axes, paddings, border: int):
    for axis in axes:
        (before, after), stop = paddings[axis], tensor.shape[axis] - border
        first = lax.slice_in_dim(tensor, border, border + before, axis=axis)
        last = lax.slice_in_dim(tensor, stop - after, stop, axis=axis)
        tensor = concatenate([lax.rev(first, (axis,)), tensor, lax.rev(last, (axis,))], axis)
    return tensor
