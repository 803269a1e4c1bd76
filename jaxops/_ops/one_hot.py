"""one_hot."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import DTypeLike

from jaxops import _symbolic
from jaxops._indexing import masks, policy
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import ScalarIndex, padding_of
from jaxops._ops.casting import static_dtype
from jaxops._run import arguments
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.dispatch import operation
from jaxops._run.static_values import static_dim, static_int


def one_hot(
    indices: ArrayLike,
    depth: Int,
    on_value: ArrayLike | None = None,
    off_value: ArrayLike | None = None,
    axis: Int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    mode: Mode = "fill",
    padding_index: Int | None = None,
) -> jax.Array:
    """Puts `on_value` at each index and `off_value` everywhere else along a new axis.

    Follows `tf.one_hot`. Differs from it in: index dtypes (every integer type, and no bools);
    `on_value` and `off_value` have gradients.

    Args:
        indices: integer array of shape `I`. Traced.
        depth: static int, 0 at least; the size of the new axis.
        on_value: scalar, or host string; default 1. Traced.
        off_value: scalar of the same dtype, or host string; default 0. Traced.
        axis: static int in `[-1, rank(indices)]`, where the new axis stands; default -1, the last.
        dtype: static dtype of the result; default that of `on_value` or `off_value`, else float32.
            Where it is bool, or where strings are given, both values must be given; with strings
            it may be `"string"`, or TensorFlow's or NumPy's dtype of them.
        mode: static; what an index outside `[0, depth)` does. `"fill"`: its row holds `off_value`
            only, as in TensorFlow. `"error"`: an error everywhere. `"device"`: an error on the CPU,
            as `"fill"` elsewhere. `"clip"` and `"wrap"`: it counts as the nearest one, or modulo
            `depth`. `"promise_in_bounds"`: the caller promises that there is none.
        padding_index: static int or None; the row of an index of this number holds `off_value`
            only, under every `mode`.

    Returns:
        Array of shape `I[:axis] + [depth] + I[axis:]`; for host strings a NumPy array.

    Raises:
        OutOfBoundsError: an index is out of bounds, in an eager call, where `mode` makes that an
            error. Compiled code raises JAX's exception with the same text.
        TypeError: wrong dtype or type of an argument; `on_value`, `off_value` and `dtype` differ
            in dtype.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: for `on_value` the sum of the cotangent at the indices, for `off_value` that of all
    other places. None for `indices`.

    Example:
        >>> import jaxops
        >>> jaxops.one_hot([0, 2, -1, 1], 3, 5.0, 0.0)
        Array([[5., 0., 0.],
               [0., 0., 5.],
               [0., 0., 0.],
               [0., 5., 0.]], dtype=float32)
        >>> jaxops.one_hot([1], 3, on_value="x", off_value="-")
        array([['-', 'x', '-']], dtype='<U1')
        >>> jaxops.one_hot([0, -1], 3, mode="error")
        Traceback (most recent call last):
        ...
        jaxops.OutOfBoundsError: indices[1] = -1 is not in [0, 3) [Op:one_hot] at ...
    """
    op = "one_hot"
    size: Any = static_dim(depth, op, "depth")
    if size < 0:
        raise ValueError(f"{op}: depth must be at least 0; received {size}")
    values = {"on_value": on_value, "off_value": off_value}
    given: dict[str, Any] = {arg: x for arg, x in values.items() if x is not None}
    strings = any(map(arguments.is_host_string, given.values()))
    if strings or any(map(arguments.are_keys, given.values())):
        if len(given) < 2 or not (dtype is None or (strings and _is_dtype_of_strings(dtype))):
            raise TypeError(
                f"{op}: on_value and off_value must both be given, and no dtype of numbers, where "
                f"they are strings or keys; received {given} and dtype={arguments.brief(dtype)}"
            )
        dtype = None
    else:
        given, dtype = _to_one_dtype(op, given, dtype)
    return _one_hot.run(
        op,
        **given,
        indices=indices,
        name=name,
        mode=mode,
        padding_index=padding_index,
        indexed=(size,),
        depth=size,
        axis=-1 if axis is None else static_int(axis, op, "axis"),
        dtype=dtype,
    )


def _to_one_dtype(op: str, given: dict[str, Any], dtype) -> tuple[dict[str, jax.Array], np.dtype]:
    """`given` as arrays of the dtype of the result, and this dtype."""
    if dtype is None:
        given = {arg: arguments.as_tensorflow_takes(x) for arg, x in given.items()}
    arrays = {arg: arguments.to_operand(x, op, arg) for arg, x in given.items()}
    if dtype is not None:
        dtype = static_dtype(dtype, op, "dtype")
        arrays = {
            arg: arguments.to_dtype(given[arg], x, dtype, op, arg) for arg, x in arrays.items()
        }
    dtypes = {arg: x.dtype for arg, x in arrays.items()}
    if len(set(dtypes.values())) > 1:
        raise TypeError(
            f"{op}: on_value and off_value must have the same dtype; "
            f"received {dtypes['on_value']} and {dtypes['off_value']}; "
            f"{arguments.cast_hint('off_value', dtypes['off_value'], dtypes['on_value'])}"
        )
    if dtype is None:
        dtype = next(iter(dtypes.values()), np.dtype(np.float32))
    if dtype == np.bool_ and len(given) < 2:
        raise TypeError(
            f"{op}: on_value and off_value must both be given where the dtype is bool; "
            f"received {', '.join(given) or 'neither'}"
        )
    return arrays, dtype


def _is_dtype_of_strings(dtype: Any) -> bool:
    """Whether it is TensorFlow's, or its name, or one of NumPy's."""
    dtype = getattr(dtype, "as_numpy_dtype", dtype)
    if not isinstance(dtype, (str, type, np.dtype)) or dtype == "string":
        return isinstance(dtype, str)
    try:
        return np.dtype(dtype).kind in "OSTU"
    except (TypeError, ValueError, SyntaxError):  # as of "(,)f4"
        return False


@operation(data=("on_value", "off_value"), indices=("indices",), moves_elements=True)
def _one_hot(
    indices: jax.Array,
    on_value: jax.Array | None = None,
    off_value: jax.Array | None = None,
    *,
    op: str,
    mode: str,
    padding_index: int | None,
    depth: int,
    axis: int,
    dtype: np.dtype,
):
    for arg, value in (("on_value", on_value), ("off_value", off_value)):
        if value is not None:
            arguments.check_scalar(value, op, arg)
    if not -1 <= axis <= indices.ndim:
        raise ValueError(
            f"{op}: axis must be in [-1, {indices.ndim}], the rank of indices; received {axis}"
        )
    axis = indices.ndim if axis == -1 else axis
    on = jnp.ones((), dtype) if on_value is None else on_value
    off = jnp.zeros((), dtype) if off_value is None else off_value
    # An index out of bounds is at no place of its row, so "fill" needs no mask.
    mode = "promise_in_bounds" if mode == "fill" else mode
    spec = ScalarIndex(op, (depth,), padding=padding_of(padding_index, (depth,)))
    indices = policy.resolve(spec, indices[..., None], mode).indices[..., 0]
    shape = (*indices.shape[:axis], depth, *indices.shape[axis:])
    largest = jnp.iinfo(indices.dtype).max
    if _symbolic.longest([depth]) > largest + 1:  # the dtype of `indices` must hold every place
        raise ValueError(
            f"{op}: depth must be at most {largest + 1} for indices of dtype {indices.dtype}; "
            f"received {depth}"
        )
    places = lax.broadcasted_iota(indices.dtype, shape, axis)
    return masks.where(lax.expand_dims(indices, [axis]) == places, on, off)
