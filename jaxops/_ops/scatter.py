"""scatter_nd and the tensor_scatter_nd family."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from jaxops._errors import naming_memory_errors
from jaxops._indexing import canonical, policy
from jaxops._indexing.dimension_numbers import Windows
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import VectorIndex, padding_of
from jaxops._ops import sums
from jaxops._run import arguments, strings
from jaxops._run.arguments import ArrayLike, Int, Ints
from jaxops._run.dispatch import operation
from jaxops._run.sharding import OutSharding
from jaxops._run.static_values import check_bool, static_dims


def scatter_nd(
    indices: ArrayLike,
    updates: ArrayLike,
    shape: Ints,
    bad_indices_policy: str = "",
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    deterministic: bool = False,
    accumulate_dtype: DTypeLike | None = None,
    out_sharding: OutSharding = None,
) -> jax.Array:
    """Adds `updates` into zeros of `shape`, at the places that index vectors select.

    Follows `tf.scatter_nd`. Differs from it in: index dtypes (every integer type), updates
    broadcast, empty index vectors and a `shape` without elements are allowed.

    Args:
        indices: integer array of shape `I`; the vectors along its last dimension index the first
            `I[-1]` dimensions of the result. Negative components are out of bounds. Traced.
        updates: array that broadcasts to `I[:-1] + shape[I[-1]:]`, any numeric dtype or bool (for
            which adding is "or"), or host strings (for which it is joining). Traced.
        shape: static sequence of ints.
        bad_indices_policy: static; TensorFlow's word for a `mode`, which must not say another.
            `"DEFAULT"` is `"device"`, `"ERROR"` is `"error"`, `"IGNORE"` is `"fill"`.
        mode: static; what an index vector out of bounds does. `"device"`: an error on the CPU,
            its update is ignored elsewhere. `"error"`: an error everywhere. `"fill"`: its update
            is ignored. `"clip"` and `"wrap"`: each component is clipped, or counted modulo its
            dimension. `"promise_in_bounds"`: the caller promises that there is none.
        padding_index: static int or None; an index vector is padding if one of its components is
            this number. If some axis has no element of this number, only components along such
            axes count. Padding is no error under any `mode`, and its update is ignored.
        deterministic: static bool; whether updates of one element are added in a fixed order, bit
            for bit repeatable on every platform. On a GPU the order is otherwise arbitrary.
        accumulate_dtype: static dtype of floats or complex numbers, or None; the dtype in which
            updates are added, before the sum is rounded to that of `updates`. None: this one, as in
            TensorFlow, in which a sum of ones stops at 256 in bfloat16, at 2,048 in float16.
            `float32` makes it right to one rounding, and takes an array of float32 of its shape.

    Returns:
        Array of `shape` and dtype of `updates`; updates of the same element are summed. Strings
        are joined in their order into a NumPy array of strings that are empty at first.

    Raises:
        OutOfBoundsError: an index is out of bounds, in an eager call, where `mode` makes that an
            error. Compiled code raises JAX's exception with the same text.
        TypeError: wrong dtype or type of an argument.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: `gather_nd` of the cotangent at `indices`; 0 for an update that is ignored. None for
    `indices`.

    Example:
        >>> import jaxops
        >>> jaxops.scatter_nd([[4], [3], [1], [7]], [9, 10, 11, 12], [8])
        Array([ 0, 11,  0, 10,  9,  0,  0, 12], dtype=int32)
        >>> jaxops.scatter_nd([[1], [1]], [2.0, 3.0], [3])
        Array([0., 5., 0.], dtype=float32)
    """
    op = "scatter_nd"
    shape = static_dims(shape, op, "shape")
    options = {
        "name": name,
        "out_sharding": out_sharding,
        "mode": policy.mode_of_policy(op, bad_indices_policy, mode),
        "padding_index": padding_index,
        "indexed": shape,
        "shape": shape,
        "deterministic": check_bool(deterministic, op, "deterministic"),
        "accumulate_dtype": sums.accumulator(op, accumulate_dtype),
    }
    if not arguments.is_host_string(updates):
        return _scatter_nd.run(op, updates=updates, indices=indices, **options)
    updates = strings.on_host(op, updates, "updates")
    if accumulate_dtype is not None:
        raise TypeError(
            f"{op}: accumulate_dtype must be None where updates are strings; "
            f"received {arguments.brief(accumulate_dtype)}"
        )
    places = _places.run(op, indices=indices, updates_shape=updates.shape, **options)
    with naming_memory_errors(op):
        return strings.joined(np.broadcast_to(updates, places.shape), np.asarray(places), shape)


def tensor_scatter_nd_add(
    tensor: ArrayLike,
    indices: ArrayLike,
    updates: ArrayLike,
    bad_indices_policy: str = "",
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    deterministic: bool = False,
    accumulate_dtype: DTypeLike | None = None,
) -> jax.Array:
    """Adds `updates` to the slices of `tensor` that index vectors select.

    Follows `tf.tensor_scatter_nd_add`. Differs from it in: index dtypes (every integer type),
    updates broadcast and may be integers, and empty index vectors are allowed.

    Args:
        tensor: array of shape `P`, any numeric dtype. Traced.
        indices: integer array of shape `I`; the vectors along its last dimension index the first
            `I[-1]` dimensions of `tensor`. Negative components are out of bounds. Traced.
        updates: array that broadcasts to `I[:-1] + P[I[-1]:]`, of the dtype of `tensor` or of
            integers that become it. Traced.
        bad_indices_policy: static; a word for a `mode`, as in `scatter_nd`.
        mode: static; what an index vector out of bounds does, as in `scatter_nd`.
        padding_index: static int or None, as in `scatter_nd`.
        deterministic: static bool, as in `scatter_nd`.
        accumulate_dtype: static dtype or None, as in `scatter_nd`.

    Returns:
        Array of shape and dtype of `tensor`; updates of the same element are summed.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `scatter_nd`.

    Gradient: the cotangent for `tensor`; `gather_nd` of it at `indices` for `updates`, 0 for an
    update that is ignored. None for `indices`.

    Example:
        >>> import jaxops
        >>> jaxops.tensor_scatter_nd_add([1, 1, 1], [[0], [2], [2]], [5, 6, 7])
        Array([ 6,  1, 14], dtype=int32)
    """
    options = padding_index, bad_indices_policy, deterministic, accumulate_dtype
    return _tensor_scatter("add", tensor, indices, updates, name, mode, *options)


def tensor_scatter_nd_sub(
    tensor: ArrayLike,
    indices: ArrayLike,
    updates: ArrayLike,
    bad_indices_policy: str = "",
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    deterministic: bool = False,
    accumulate_dtype: DTypeLike | None = None,
) -> jax.Array:
    """Subtracts `updates` from the slices of `tensor` that index vectors select.

    Follows `tf.tensor_scatter_nd_sub`. Differs from it in: index dtypes (every integer type),
    updates broadcast and may be integers, and empty index vectors are allowed.

    Args:
        tensor: array of shape `P`, any numeric dtype. Traced.
        indices: integer array of shape `I`; the vectors along its last dimension index the first
            `I[-1]` dimensions of `tensor`. Negative components are out of bounds. Traced.
        updates: array that broadcasts to `I[:-1] + P[I[-1]:]`, of the dtype of `tensor` or of
            integers that become it. Traced.
        bad_indices_policy: static; a word for a `mode`, as in `scatter_nd`.
        mode: static; what an index vector out of bounds does, as in `scatter_nd`.
        padding_index: static int or None, as in `scatter_nd`.
        deterministic: static bool, as in `scatter_nd`.
        accumulate_dtype: static dtype or None, as in `scatter_nd`.

    Returns:
        Array of shape and dtype of `tensor`; all updates of one element are subtracted from it.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `scatter_nd`.

    Gradient: the cotangent for `tensor`; its `gather_nd` at `indices`, negated, for `updates`, 0
    for an update that is ignored. None for `indices`.

    Example:
        >>> import jaxops
        >>> jaxops.tensor_scatter_nd_sub([9, 9, 9], [[0], [2], [2]], [5, 1, 2])
        Array([4, 9, 6], dtype=int32)
    """
    options = padding_index, bad_indices_policy, deterministic, accumulate_dtype
    return _tensor_scatter("sub", tensor, indices, updates, name, mode, *options)


def tensor_scatter_nd_min(
    tensor: ArrayLike,
    indices: ArrayLike,
    updates: ArrayLike,
    bad_indices_policy: str = "",
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
) -> jax.Array:
    """Takes the minimum of `updates` and the slices of `tensor` that index vectors select.

    Follows `tf.tensor_scatter_nd_min`. Differs from it in: index dtypes (every integer type),
    updates broadcast and may be integers, and empty index vectors are allowed, NaN propagates
    (TensorFlow keeps it or not, depending on the order).

    Args:
        tensor: array of shape `P`, any real numeric dtype. Traced.
        indices: integer array of shape `I`; the vectors along its last dimension index the first
            `I[-1]` dimensions of `tensor`. Negative components are out of bounds. Traced.
        updates: array that broadcasts to `I[:-1] + P[I[-1]:]`, of the dtype of `tensor` or of
            integers that become it. Traced.
        bad_indices_policy: static; a word for a `mode`, as in `scatter_nd`.
        mode: static; what an index vector out of bounds does, as in `scatter_nd`.
        padding_index: static int or None, as in `scatter_nd`.

    Returns:
        Array of shape and dtype of `tensor`; an element becomes the least of itself and
        its updates.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `scatter_nd`.

    Gradient: shared in equal parts by all that attain the minimum of an element, NaN being equal to
    NaN. None for `indices`.

    Example:
        >>> import jaxops
        >>> jaxops.tensor_scatter_nd_min([4, 4, 4], [[0], [2], [2]], [5, 3, 1])
        Array([4, 4, 1], dtype=int32)
    """
    options = padding_index, bad_indices_policy
    return _tensor_scatter("min", tensor, indices, updates, name, mode, *options)


def tensor_scatter_nd_max(
    tensor: ArrayLike,
    indices: ArrayLike,
    updates: ArrayLike,
    bad_indices_policy: str = "",
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
) -> jax.Array:
    """Takes the maximum of `updates` and the slices of `tensor` that index vectors select.

    Follows `tf.tensor_scatter_nd_max`. Differs from it in: index dtypes (every integer type),
    updates broadcast and may be integers, and empty index vectors are allowed, NaN propagates
    (TensorFlow keeps it or not, depending on the order).

    Args:
        tensor: array of shape `P`, any real numeric dtype. Traced.
        indices: integer array of shape `I`; the vectors along its last dimension index the first
            `I[-1]` dimensions of `tensor`. Negative components are out of bounds. Traced.
        updates: array that broadcasts to `I[:-1] + P[I[-1]:]`, of the dtype of `tensor` or of
            integers that become it. Traced.
        bad_indices_policy: static; a word for a `mode`, as in `scatter_nd`.
        mode: static; what an index vector out of bounds does, as in `scatter_nd`.
        padding_index: static int or None, as in `scatter_nd`.

    Returns:
        Array of shape and dtype of `tensor`; an element becomes the greatest of itself and
        its updates.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `scatter_nd`.

    Gradient: shared in equal parts by all that attain the maximum of an element, NaN being equal to
    NaN. None for `indices`.

    Example:
        >>> import jaxops
        >>> jaxops.tensor_scatter_nd_max([4, 4, 4], [[0], [2], [2]], [5, 3, 9])
        Array([5, 4, 9], dtype=int32)
    """
    options = padding_index, bad_indices_policy
    return _tensor_scatter("max", tensor, indices, updates, name, mode, *options)


def tensor_scatter_nd_update(
    tensor: ArrayLike,
    indices: ArrayLike,
    updates: ArrayLike,
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
) -> jax.Array:
    """Overwrites the slices of `tensor` that index vectors select with `updates`.

    Follows `tf.tensor_scatter_nd_update`. Differs from it in: index dtypes (every integer type),
    updates broadcast and may be integers, and empty index vectors are allowed.

    Args:
        tensor: array of shape `P` and any dtype, or host strings. Traced.
        indices: integer array of shape `I`; the vectors along its last dimension index the first
            `I[-1]` dimensions of `tensor`. Negative components are out of bounds. Traced.
        updates: array that broadcasts to `I[:-1] + P[I[-1]:]`, of the dtype of `tensor` or of
            integers that become it. Traced.
        mode: static; what an index vector out of bounds does, as in `scatter_nd`.
        padding_index: static int or None, as in `scatter_nd`.

    Returns:
        Array of shape and dtype of `tensor`; for host strings a NumPy array. Of several updates of
        the same element one stays: on the CPU the last, elsewhere an unspecified one.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `scatter_nd`.

    Gradient: the cotangent where the result is from `tensor`, for `tensor`; the cotangent at
    `indices` for the updates that stayed. Elements overwritten and updates ignored get 0. None for
    `indices`.

    Example:
        >>> import jaxops
        >>> jaxops.tensor_scatter_nd_update([1, 1, 1], [[0], [2]], [5, 6])
        Array([5, 1, 6], dtype=int32)
    """
    return _tensor_scatter("update", tensor, indices, updates, name, mode, padding_index)


def _tensor_scatter(
    kind,
    tensor,
    indices,
    updates,
    name,
    mode,
    padding_index,
    bad_indices_policy="",
    deterministic=False,
    accumulate_dtype=None,
):
    op = f"tensor_scatter_nd_{kind}"
    return _tensor_scatter_nd.run(
        op,
        tensor=tensor,
        updates=updates,
        indices=indices,
        name=name,
        mode=policy.mode_of_policy(op, bad_indices_policy, mode),
        padding_index=padding_index,
        moves_elements=kind == "update",
        kind=kind,
        deterministic=check_bool(deterministic, op, "deterministic"),
        accumulate_dtype=sums.accumulator(op, accumulate_dtype),
    )


@operation(data=("updates",), indices=("indices",))
def _scatter_nd(
    updates: jax.Array,
    indices: jax.Array,
    *,
    op: str,
    shape: tuple[int, ...],
    padding_index: int | None,
    accumulate_dtype: np.dtype | None,
    **options: Any,
):
    _check_shape(op, shape)
    dtype = updates.dtype
    in_dtype = sums.dtype_of_sums(op, "updates", dtype, accumulate_dtype)
    windows, spec, of_updates = _windows(op, shape, indices, updates.shape, "shape", padding_index)
    updates = jnp.broadcast_to(updates, of_updates)
    # "or" is the addition of bools. In a sum of 8 bits, 256 trues would be 0 (test_scatter.py,
    # test_as_many_trues_as_a_type_counts_to_are_true).
    kind, in_dtype = ("max", np.uint8) if dtype == np.bool_ else ("add", in_dtype)
    updates = updates.astype(in_dtype)
    result = canonical.reduce(kind, 0, shape, indices, updates, windows, spec, **options)
    return result.astype(dtype)


@operation(indices=("indices",))
def _places(
    indices: jax.Array,
    *,
    op: str,
    shape: tuple[int, ...],
    updates_shape: tuple[int, ...],
    mode: str,
    padding_index: int | None,
    deterministic: bool,
    accumulate_dtype: np.dtype | None,
):
    """The place in the result of each component of the updates, from 1; 0 for one that is ignored.

    By gathering, at the indices, the elements that scattering would add to.
    """
    del deterministic, accumulate_dtype  # strings are joined in their order
    _check_shape(op, shape)
    if math.prod(shape) >= 2**31 - 1:  # places are numbered in 32 bits
        raise ValueError(f"{op}: shape must have fewer than 2**31 - 1 strings; received {shape}")
    places = 1 + jnp.arange(math.prod(shape), dtype=jnp.int32).reshape(shape)
    windows, spec, _ = _windows(op, shape, indices, updates_shape, "shape", padding_index)
    return canonical.gather(places, indices, windows, spec, mode=mode)


@operation(
    data=("tensor", "updates"), indices=("indices",), from_integers=("updates",), like="tensor"
)
def _tensor_scatter_nd(
    tensor: jax.Array,
    updates: jax.Array,
    indices: jax.Array,
    *,
    op: str,
    kind: str,
    padding_index: int | None,
    accumulate_dtype: np.dtype | None,
    **options: Any,
):
    dtype = tensor.dtype
    if kind != "update":
        sums.check_dtype(op, "tensor", kind, dtype)
    windows, spec, of_updates = _windows(
        op, tensor.shape, indices, updates.shape, "tensor", padding_index
    )
    updates = jnp.broadcast_to(updates, of_updates)
    in_dtype = sums.dtype_of_sums(op, "tensor", dtype, accumulate_dtype)
    tensor, updates = tensor.astype(in_dtype), updates.astype(in_dtype)
    result = canonical.scatter(kind, tensor, indices, updates, windows, spec, **options)
    return result.astype(dtype)


def _check_shape(op, shape):
    if any(size < 0 for size in shape):
        raise ValueError(f"{op}: shape must have no negative dimension; received {shape}")


def _windows(op, shape, indices, updates_shape, name, padding_index):
    """The windows of updates in an operand of `shape`, their bounds, and the shape of all updates.

    Messages call the operand `name`.
    """
    if indices.ndim == 0:
        raise ValueError(f"{op}: indices must have rank 1 at least; received a scalar")
    depth = indices.shape[-1]
    hint = ""
    if updates_shape == indices.shape + shape[1:]:
        hint = arguments.row_numbers_hint(indices.ndim)
    if depth > len(shape):
        raise ValueError(
            f"{op}: indices.shape[-1] must be at most the rank of {name}, "
            f"{len(shape)}; received {depth} with {name} {shape}{hint}"
        )
    expected = indices.shape[:-1] + shape[depth:]
    if not arguments.broadcasts(updates_shape, expected):
        raise ValueError(
            f"{op}: updates must broadcast to indices.shape[:-1] + "
            f"{name}{'' if name == 'shape' else '.shape'}[{depth}:] = {expected}; "
            f"received {updates_shape} with indices of shape {indices.shape}{hint}"
        )
    spec = VectorIndex(
        op,
        limits=shape[:depth],
        padding=padding_of(padding_index, shape[:depth]),
        noun="shape",
        shape=shape,
        indices_ndim=indices.ndim,
    )
    return Windows(axes=tuple(range(depth)), batch_dims=0), spec, expected
