"""The indices of `jaxops.at`, where JAX binds a primitive that indexes: the policy resolves them.

`x.at[...]` of JAX turns all of NumPy's syntax into a `gather`, a `scatter` or a `dynamic_slice`.
There the index vectors are known, and the axes that they index, so `policy.resolve` does with them
what it does with those of `jaxops.gather`:

    jaxops.at(x)[[1, 9]].get(mode="fill")     x of 4 elements
    gather x [[1], [9]]                       of JAX
    resolved: [[1], [9]], valid [True, False]
    gather x [[1], [9]], promised to be in bounds; then 0 where it is not valid
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops._checked.index import JaxIndex
from jaxops._checked.setting import AtCall
from jaxops._indexing import canonical, masks, policy
from jaxops._indexing.specs import padding_of
from jaxops._jax_internals import Primitive


def _resolve(
    call: AtCall, operand: Any, indices: Any, axes: Sequence[int], sizes: Sequence[int]
) -> policy.Resolved:
    """Indices `[..., K]` of windows of these sizes, along these axes."""
    shape = np.shape(operand)
    spec = JaxIndex.of_windows(call.operation, shape, axes, sizes, wraps=call.wraps)
    if call.padding is not None:
        spec = dataclasses.replace(spec, padding=padding_of(call.padding, spec.limits))
    if call.mode in ("clip", "wrap") and 0 in spec.limits and np.size(indices):
        raise ValueError(
            f"{call.operation}: mode={call.mode!r} must have an index to choose; received shape "
            f"{shape} with indexed axes {tuple(axes)}"
        )
    return policy.resolve(spec, jnp.asarray(indices), call.mode)


def scatter_windows(operand: Any, updates: Any, numbers: Any) -> tuple[Sequence[int], list[int]]:
    """The axes that the indices of a scatter count along, and the sizes of its windows there."""
    inserted = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    window = iter([np.shape(updates)[d] for d in numbers.update_window_dims])
    sizes = [1 if d in inserted else next(window) for d in range(np.ndim(operand))]
    axes = numbers.scatter_dims_to_operand_dims
    return axes, [sizes[axis] for axis in axes]


def _filled(call: AtCall, result: jax.Array, valid: jax.Array | None) -> jax.Array:
    """The result with the fill value where an index is not valid; `valid` has its rank."""
    if valid is None:
        return result
    return masks.read(result, jnp.asarray(call.fill_value, result.dtype), valid)


def _gather(
    call: AtCall, bind: Callable, operand, indices, *, dimension_numbers, slice_sizes, **params
):
    axes = dimension_numbers.start_index_map
    sizes = [slice_sizes[axis] for axis in axes]
    indices, valid = _resolve(call, operand, indices, axes, sizes)
    result = bind(
        canonical.pad_empty_axes(operand, axes, jnp.zeros((), operand.dtype)),
        indices,
        dimension_numbers=dimension_numbers,
        slice_sizes=slice_sizes,
        **{**params, "mode": lax.GatherScatterMode.PROMISE_IN_BOUNDS},
    )
    if valid is not None:
        valid = lax.expand_dims(valid, dimension_numbers.offset_dims)
    return _filled(call, result, valid)


def _scatter(
    call: AtCall, bind: Callable, operand, indices, updates, *, dimension_numbers, **params
):
    axes, sizes = scatter_windows(operand, updates, dimension_numbers)
    indices, _ = _resolve(call, operand, indices, axes, sizes)
    # An index that is not valid is still out of bounds.
    params["mode"] = lax.GatherScatterMode.FILL_OR_DROP
    padded = canonical.pad_empty_axes(operand, axes, jnp.zeros((), operand.dtype))
    result = bind(padded, indices, updates, dimension_numbers=dimension_numbers, **params)
    return canonical.without_padding(result, np.shape(operand))


def _dynamic_slice(call: AtCall, bind: Callable, operand, *starts, slice_sizes, **params):
    """An element, or a row: JAX reads whole axes from 0."""
    shape = np.shape(operand)
    axes = [axis for axis, size in enumerate(slice_sizes) if size == 1 or size != shape[axis]]
    starts = list(starts)
    vector = jnp.stack([starts[axis] for axis in axes])
    vector, valid = _resolve(call, operand, vector, axes, [slice_sizes[axis] for axis in axes])
    for number, axis in enumerate(axes):
        starts[axis] = lax.index_in_dim(vector, number, keepdims=False)
    result = bind(operand, *starts, slice_sizes=slice_sizes, **params)
    if valid is not None:
        valid = lax.expand_dims(valid, range(result.ndim))
    return _filled(call, result, valid)


_KINDS = ("", "_add", "_sub", "_mul", "_min", "_max")
SCATTERS: list[Primitive] = [getattr(lax, f"scatter{kind}_p") for kind in _KINDS]
_RULES: dict[Primitive, Callable] = {
    lax.gather_p: _gather,
    lax.dynamic_slice_p: _dynamic_slice,
    **dict.fromkeys(SCATTERS, _scatter),
}


def bind(call: AtCall, primitive: Primitive, bind: Callable, *operands, **params):
    """`bind(*operands, **params)`, with indices that are resolved if the primitive has any."""
    if primitive not in _RULES:
        return bind(*operands, **params)
    return _RULES[primitive](call, bind, *operands, **params)
