"""take_along_axis."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxops._indexing import canonical
from jaxops._indexing.dimension_numbers import Windows
from jaxops._indexing.index_dtypes import widen_to_count
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import ScalarIndex, padding_of
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.dispatch import operation
from jaxops._run.sharding import OutSharding
from jaxops._run.static_values import canonical_axis, check_bool, static_int


def take_along_axis(
    arr: ArrayLike,
    indices: ArrayLike,
    axis: Int | None = -1,
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    fill_value: ArrayLike | None = None,
    deterministic: bool = False,
    out_sharding: OutSharding = None,
) -> jax.Array:
    """Takes one element of `arr` for each index, from the line along `axis` that the index is in.

    `result[i, j, k] = arr[i, indices[i, j, k], k]` for `axis=1`; in the other dimensions one of
    both may have size 1, and is broadcast. Indices of `jax.numpy.argsort` or `argmax` are of this
    form. Follows `jax.numpy.take_along_axis`. Differs from it in: a negative index is out of
    bounds, and an index out of bounds is an error on the CPU.

    Args:
        arr: array of shape `P` and any dtype, or host strings. Traced.
        indices: integer array of shape `I`, of the rank of `arr`; where `axis` is None, of rank 1.
            Negative ones are out of bounds. Traced.
        axis: static int in `[-rank(arr), rank(arr))`, or None: along all elements of `arr`, in
            row-major order.
        mode: static; what an index outside `[0, P[axis])` does, as in `gather`.
        padding_index: static int or None, as in `gather`.
        fill_value: scalar for `mode="fill"` and `padding_index`, as in `gather`. Traced.
        deterministic: static bool, as in `gather`.

    Returns:
        Array of shape `I`, with the sizes of `P` where `I` is 1 in a dimension other than `axis`,
        and of the dtype of `arr`; for host strings a NumPy array.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `gather`.

    Gradient: the cotangent scatter-added into zeros of shape `P`; an entry that reads a fill value
    sends nothing back. None for `indices`.

    Example:
        >>> import jaxops
        >>> jaxops.take_along_axis([[30, 10, 20], [5, 6, 4]], [[1, 2, 0], [2, 0, 1]])
        Array([[10, 20, 30],
               [ 4,  5,  6]], dtype=int32)
        >>> jaxops.take_along_axis([[30, 10, 20], [5, 6, 4]], [[1, 0, 0]], axis=0)
        Array([[ 5, 10, 20]], dtype=int32)
        >>> jaxops.take_along_axis([[30, 10, 20], [5, 6, 4]], [[1], [-1]])
        Traceback (most recent call last):
        ...
        jaxops.OutOfBoundsError: indices[1,0] = -1 is not in [0, 3) [Op:take_along_axis] at ...

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.numpy.take_along_axis.html
    """
    return _take_along_axis.run(
        "take_along_axis",
        arr=arr,
        indices=indices,
        name=name,
        out_sharding=out_sharding,
        mode=mode,
        padding_index=padding_index,
        fill_value=fill_value,
        axis=axis if axis is None else static_int(axis, "take_along_axis", "axis"),
        deterministic=check_bool(deterministic, "take_along_axis", "deterministic"),
    )


@operation(data=("arr",), indices=("indices",), moves_elements=True)
def _take_along_axis(
    arr: jax.Array,
    indices: jax.Array,
    fill_value: jax.Array | None,
    *,
    op: str,
    axis: int | None,
    padding_index: int | None,
    **options: Any,
):
    if axis is None:
        if indices.ndim != 1:
            raise ValueError(
                f"{op}: indices must have rank 1 where axis is None; received shape {indices.shape}"
            )
        arr, axis = arr.reshape(-1), 0
    if arr.ndim == 0:
        raise ValueError(f"{op}: arr must have rank 1 at least; received a scalar")
    if indices.ndim != arr.ndim:
        raise ValueError(
            f"{op}: indices must have the rank of arr, {arr.ndim}; "
            f"received indices of shape {indices.shape} with arr of shape {arr.shape}"
        )
    axis = canonical_axis(axis, arr.ndim, op, of=f" for arr of shape {arr.shape}")
    limits = (arr.shape[axis],)
    spec = ScalarIndex(op, limits, padding=padding_of(padding_index, limits))
    # A dimension beside `axis` is a window where `indices` has one index for all of it. Where `arr`
    # has one element for all indices, it is a dimension of the indices alone. Else both run along
    # it: as a batch dimension if no other dimension stands before it, and else by an index vector
    # that holds its own position there, as a transposed `arr` would be a copy in the gradient.
    beside = [d for d in range(arr.ndim) if d != axis]
    kept = [d for d in beside if indices.shape[d] == 1]
    single = [d for d in beside if d not in kept and arr.shape[d] == 1]
    along = [d for d in beside if d not in kept and d not in single]
    if any(arr.shape[d] != indices.shape[d] for d in along):
        raise ValueError(
            f"{op}: arr and indices must have the same sizes, or one of them size 1, in the "
            f"dimensions other than axis, {axis}; received shapes {arr.shape} and {indices.shape}"
        )
    batch_dims = next(d for d in range(arr.ndim) if d not in along)
    of_arr = [d for d in range(arr.ndim) if d not in single]
    of_indices = [d for d in range(arr.ndim) if d not in kept]
    indexed = [d for d in of_arr if d == axis or d in along[batch_dims:]]
    sizes = [arr.shape[d] for d in indexed]

    def as_vectors(indices):
        indices = widen_to_count(lax.squeeze(indices, kept), sizes, op)
        of_dim = functools.partial(
            lax.broadcasted_iota,
            indices.dtype,
            indices.shape,
            # `concatenate` refuses components that devices share otherwise (test_explicit_axes.py,
            # test_what_is_gathered_is_shared_as_the_indices_and_the_windows).
            out_sharding=jax.typeof(indices).sharding,
        )
        components = [indices if d == axis else of_dim(of_indices.index(d)) for d in indexed]
        return jnp.concatenate(components, axis=-1)

    windows = Windows(tuple(map(of_arr.index, indexed)), batch_dims)
    result = canonical.gather(
        lax.squeeze(arr, single),
        indices[..., None],
        windows,
        spec,
        fill_value=fill_value,
        as_vectors=as_vectors,
        **options,
    )
    before = of_arr[batch_dims : windows.first]
    after = [d for d in kept if d not in before]
    order = [*range(batch_dims), *before, *of_indices[batch_dims:], *after]
    return result.transpose(*map(order.index, range(arr.ndim)))
