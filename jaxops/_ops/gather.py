"""gather, gather_nd and batch_gather."""

from __future__ import annotations

from typing import Any

import jax

from jaxops._indexing import canonical, policy
from jaxops._indexing.dimension_numbers import Windows
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import ScalarIndex, VectorIndex, padding_of
from jaxops._run.arguments import ArrayLike, Int, row_numbers_hint
from jaxops._run.dispatch import operation
from jaxops._run.sharding import OutSharding
from jaxops._run.static_values import canonical_axis, check_bool, is_static_int, static_int


def gather(
    params: ArrayLike,
    indices: ArrayLike,
    validate_indices: bool | None = None,
    axis: Int | None = None,
    batch_dims: Int = 0,
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    fill_value: ArrayLike | None = None,
    deterministic: bool = False,
    out_sharding: OutSharding = None,
) -> jax.Array:
    """Gathers slices of `params` along `axis`.

    Follows `tf.gather`. Differs from it in: index dtypes (every integer type), and an `axis` before
    `batch_dims` is refused.

    Args:
        params: array of shape `P` and any dtype, or host strings. Traced.
        indices: integer array of shape `I`. Negative ones are out of bounds. Traced.
        validate_indices: static bool or None; of no effect, as in TensorFlow 2. See `mode`.
        axis: static int in `[-rank(params), rank(params))`, at least `batch_dims`. Default:
            `batch_dims`, which counts from the end of `params` if it is negative.
        batch_dims: static int in `[-rank(indices), rank(indices)]`: how many leading dimensions
            `params` and `indices` share.
        mode: static; what an index outside `[0, P[axis])` does. `"device"`: an error on the CPU,
            reads 0 elsewhere. `"error"`: an error everywhere. `"fill"`: reads `fill_value`.
            `"clip"`: reads the nearest element. `"wrap"`: counts modulo `P[axis]`.
            `"promise_in_bounds"`: the caller promises that there is none; what it reads otherwise
            is unspecified.
        padding_index: static int or None; an index of this number, in bounds or not, is padding: it
            is no error under any `mode`, reads `fill_value`, and has no gradient.
        fill_value: scalar that fits the dtype of `params`, for `mode="fill"` and `padding_index`;
            default 0 (for strings, the empty one). Traced.
        deterministic: static bool; whether the gradient sums over repeated indices in a fixed
            order, bit for bit repeatable on every platform.

    Returns:
        Array of shape `P[:axis] + I[batch_dims:] + P[axis+1:]` and dtype of `params`; for host
        strings a NumPy array.

    Raises:
        OutOfBoundsError: an index is out of bounds, in an eager call, where `mode` makes that an
            error. Compiled code raises JAX's exception with the same text.
        TypeError: wrong dtype or type of an argument.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: the cotangent scatter-added into zeros of shape `P`; an entry that reads a fill value
    sends nothing back. None for `indices`.

    Example:
        >>> import jaxops
        >>> jaxops.gather([10, 20, 30], [2, 0, 2])
        Array([30, 10, 30], dtype=int32)
        >>> jaxops.gather([[1, 2], [3, 4]], [1, 0], axis=1)
        Array([[2, 1],
               [4, 3]], dtype=int32)
        >>> jaxops.gather([10, 20, 30], [0, 7])
        Traceback (most recent call last):
        ...
        jaxops.OutOfBoundsError: indices[1] = 7 is not in [0, 3) [Op:gather] at ...
        >>> jaxops.gather([10, 20, 30], [0, 7], mode="fill", fill_value=-1)
        Array([10, -1], dtype=int32)
    """
    if validate_indices is not None:
        hint = "; axis is the argument after it" if is_static_int(validate_indices) else ""
        check_bool(validate_indices, "gather", "validate_indices", hint)
    return _gather.run(
        "gather",
        params=params,
        indices=indices,
        name=name,
        out_sharding=out_sharding,
        mode=mode,
        padding_index=padding_index,
        fill_value=fill_value,
        axis=axis if axis is None else static_int(axis, "gather", "axis"),
        batch_dims=static_int(batch_dims, "gather", "batch_dims"),
        deterministic=check_bool(deterministic, "gather", "deterministic"),
    )


def batch_gather(
    params: ArrayLike,
    indices: ArrayLike,
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    fill_value: ArrayLike | None = None,
    deterministic: bool = False,
    out_sharding: OutSharding = None,
) -> jax.Array:
    """Gathers along the last dimension of `indices`, all dimensions before it being batch.

    Follows `tf.compat.v1.batch_gather`: `gather` with `batch_dims=rank(indices) - 1`. Differs from
    it in: index dtypes (every integer type).

    Args:
        params: array of shape `P` and any dtype, or host strings. Traced.
        indices: integer array of shape `I`, of rank 1 at least, with `I[:-1]` the leading
            dimensions of `P`. Negative ones are out of bounds. Traced.
        mode: static; what an index out of bounds does, as in `gather`.
        padding_index: static int or None, as in `gather`.
        fill_value: scalar for `mode="fill"` and `padding_index`, as in `gather`. Traced.
        deterministic: static bool, as in `gather`.

    Returns:
        Array of shape `I + P[rank(indices):]` and dtype of `params`.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `gather`.

    Gradient: as `gather`.

    Example:
        >>> import jaxops
        >>> jaxops.batch_gather([[1, 2, 3], [4, 5, 6]], [[2], [0]])
        Array([[3],
               [4]], dtype=int32)
    """
    return _batch_gather.run(
        "batch_gather",
        params=params,
        indices=indices,
        name=name,
        out_sharding=out_sharding,
        mode=mode,
        padding_index=padding_index,
        fill_value=fill_value,
        deterministic=check_bool(deterministic, "batch_gather", "deterministic"),
    )


def gather_nd(
    params: ArrayLike,
    indices: ArrayLike,
    batch_dims: Int = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    fill_value: ArrayLike | None = None,
    deterministic: bool = False,
    out_sharding: OutSharding = None,
) -> jax.Array:
    """Gathers the slices of `params` that index vectors select.

    Follows `tf.gather_nd`. Differs from it in: index dtypes (every integer type), scalar `params`
    are allowed with empty index vectors, and `params` without elements with vectors in bounds.

    Args:
        params: array of shape `P` and any dtype, or host strings. Traced.
        indices: integer array of shape `I`; the vectors along its last dimension index the first
            `I[-1]` dimensions of `params` after the batch dimensions. Negative components are out
            of bounds; empty vectors (`I[-1] == 0`) select all of `params`. Traced.
        batch_dims: static int in `[0, rank(indices))`: how many leading dimensions `params` and
            `indices` share.
        bad_indices_policy: static; TensorFlow's word for a `mode`, which must not say another.
            `"DEFAULT"` is `"device"`, `"ERROR"` is `"error"`, `"IGNORE"` is `"fill"`.
        mode: static; what an index vector out of bounds does. `"device"`: an error on the CPU,
            reads 0 elsewhere. `"error"`: an error everywhere. `"fill"`: reads `fill_value`.
            `"clip"` and `"wrap"`: each component is clipped, or counted modulo its dimension.
            `"promise_in_bounds"`: the caller promises that there is none.
        padding_index: static int or None; an index vector is padding if one of its components is
            this number. If some axis has no element of this number, only components along such
            axes count. Padding is no error under any `mode`, reads `fill_value`, and has no
            gradient.
        fill_value: scalar for `mode="fill"` and `padding_index`, as in `gather`. Traced.
        deterministic: static bool, as in `gather`.

    Returns:
        Array of shape `I[:-1] + P[batch_dims + I[-1]:]` and dtype of `params`; for host strings a
        NumPy array.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `gather`.

    Gradient: `scatter_nd` of the cotangent; an entry that reads a fill value sends nothing back.
    None for `indices`.

    Example:
        >>> import jaxops
        >>> jaxops.gather_nd([[1, 2], [3, 4]], [[0, 0], [1, 1]])
        Array([1, 4], dtype=int32)
        >>> jaxops.gather_nd([["a", "b"], ["c", "d"]], [[1], [0]])
        array([['c', 'd'],
               ['a', 'b']], dtype='<U1')
    """
    return _gather_nd.run(
        "gather_nd",
        params=params,
        indices=indices,
        name=name,
        out_sharding=out_sharding,
        mode=policy.mode_of_policy("gather_nd", bad_indices_policy, mode),
        padding_index=padding_index,
        fill_value=fill_value,
        batch_dims=static_int(batch_dims, "gather_nd", "batch_dims"),
        deterministic=check_bool(deterministic, "gather_nd", "deterministic"),
    )


@operation(data=("params",), indices=("indices",), moves_elements=True)
def _gather(
    params: jax.Array,
    indices: jax.Array,
    fill_value: jax.Array | None,
    *,
    op: str,
    axis: int | None,
    batch_dims: int,
    padding_index: int | None,
    **options: Any,
):
    if not -indices.ndim <= batch_dims <= indices.ndim:
        raise ValueError(
            f"{op}: batch_dims must be in [{-indices.ndim}, {indices.ndim}], the rank of indices; "
            f"received {batch_dims}"
        )
    if params.ndim == 0:
        raise ValueError(f"{op}: params must have rank 1 at least; received a scalar")
    if axis is None:
        # `axis` takes `batch_dims` as given: a negative number counts from the end of params
        # (test_gather.py, test_as_tensorflow).
        axis = batch_dims
    batch_dims += indices.ndim if batch_dims < 0 else 0
    axis = canonical_axis(axis, params.ndim, op, of=f" for params of shape {params.shape}")
    if axis < batch_dims:
        raise ValueError(
            f"{op}: axis must be at least batch_dims, {batch_dims}; received axis {axis}"
        )
    _check_batch_shape(op, params, indices, batch_dims)
    limits = (params.shape[axis],)
    spec = ScalarIndex(op, limits, padding=padding_of(padding_index, limits))
    windows = Windows(axes=(axis,), batch_dims=batch_dims)
    return canonical.gather(
        params, indices[..., None], windows, spec, fill_value=fill_value, **options
    )


@operation(data=("params",), indices=("indices",), moves_elements=True)
def _batch_gather(
    params: jax.Array, indices: jax.Array, fill_value: jax.Array | None, *, op: str, **options: Any
):
    if indices.ndim == 0:
        raise ValueError(f"{op}: indices must have rank 1 at least; received a scalar")
    batch_dims = indices.ndim - 1
    return _gather(params, indices, fill_value, op=op, axis=None, batch_dims=batch_dims, **options)


@operation(data=("params",), indices=("indices",), moves_elements=True)
def _gather_nd(
    params: jax.Array,
    indices: jax.Array,
    fill_value: jax.Array | None,
    *,
    op: str,
    batch_dims: int,
    padding_index: int | None,
    **options: Any,
):
    if indices.ndim == 0:
        raise ValueError(f"{op}: indices must have rank 1 at least; received a scalar")
    if not 0 <= batch_dims < indices.ndim:
        raise ValueError(
            f"{op}: batch_dims must be in [0, {indices.ndim}), the rank of indices; "
            f"received {batch_dims}"
        )
    depth = indices.shape[-1]
    if batch_dims + depth > params.ndim:
        raise ValueError(
            f"{op}: indices.shape[-1] must be at most the rank of params"
            f"{' less batch_dims' if batch_dims else ''}, {params.ndim - batch_dims}; "
            f"received {depth} with params of shape {params.shape}{row_numbers_hint(indices.ndim)}"
        )
    _check_batch_shape(op, params, indices, batch_dims)
    axes = tuple(range(batch_dims, batch_dims + depth))
    limits = tuple(params.shape[axis] for axis in axes)
    spec = VectorIndex(
        op,
        limits=limits,
        padding=padding_of(padding_index, limits),
        noun="param shape",
        shape=params.shape,
        indices_ndim=indices.ndim,
        batch_dims=batch_dims,
    )
    windows = Windows(axes, batch_dims)
    return canonical.gather(params, indices, windows, spec, fill_value=fill_value, **options)


def _check_batch_shape(op, params, indices, batch_dims):
    if params.shape[:batch_dims] != indices.shape[:batch_dims]:
        raise ValueError(
            f"{op}: params and indices must agree in the first {batch_dims} dimensions "
            f"(batch_dims); received shapes {params.shape} and {indices.shape}"
        )
