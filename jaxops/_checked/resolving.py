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

from jaxops._checked.index import Components, JaxIndex
from jaxops._checked.setting import AtCall
from jaxops._indexing import canonical, masks, policy
from jaxops._indexing.specs import padding_of
from jaxops._jax_internals import Primitive


def _resolve(call: AtCall, operand: Any, indices: Any, components: Components) -> policy.Resolved:
    """Indices `[..., K]`."""
    shape = np.shape(operand)
    spec = JaxIndex.into(shape, call.operation, components)
    if call.padding is not None:
        spec = dataclasses.replace(spec, padding=padding_of(call.padding, spec.limits))
    if call.mode in ("clip", "wrap") and 0 in spec.limits and np.size(indices):
        raise ValueError(
            f"{call.operation}: mode={call.mode!r} must have an index to choose; received shape "
            f"{shape} with indexed axes {components.axes}"
        )
    return policy.resolve(spec, jnp.asarray(indices), call.mode)


def _filled(
    call: AtCall, result: jax.Array, valid: jax.Array | None, window_dims: Sequence[int]
) -> jax.Array:
    """The result with the fill value where an index is not valid."""
    if valid is None:
        return result
    fill: Any = np.asarray(call.fill_value, result.dtype)
    return masks.read(result, fill, lax.expand_dims(valid, window_dims))


def _gather(
    call: AtCall, bind: Callable, operand, indices, *, dimension_numbers, slice_sizes, **params
):
    components = Components.of_gather(dimension_numbers, slice_sizes, call.wraps)
    indices, valid = _resolve(call, operand, indices, components)
    result = bind(
        canonical.pad_empty_axes(operand, components.axes, jnp.zeros((), operand.dtype)),
        indices,
        dimension_numbers=dimension_numbers,
        slice_sizes=slice_sizes,
        **{**params, "mode": lax.GatherScatterMode.PROMISE_IN_BOUNDS},
    )
    return _filled(call, result, valid, dimension_numbers.offset_dims)


def _scatter(
    call: AtCall, bind: Callable, operand, indices, updates, *, dimension_numbers, **params
):
    components = Components.of_scatter(operand, updates, dimension_numbers, call.wraps)
    indices, _ = _resolve(call, operand, indices, components)
    # An index that is not valid is still out of bounds.
    params["mode"] = lax.GatherScatterMode.FILL_OR_DROP
    padded = canonical.pad_empty_axes(operand, components.axes, jnp.zeros((), operand.dtype))
    result = bind(padded, indices, updates, dimension_numbers=dimension_numbers, **params)
    return canonical.without_padding(result, np.shape(operand))


def _dynamic_slice(call: AtCall, bind: Callable, operand, *starts, slice_sizes, **params):
    """An element, or a row: JAX reads whole axes from 0."""
    shape = np.shape(operand)
    axes = [axis for axis, size in enumerate(slice_sizes) if size == 1 or size != shape[axis]]
    if not axes:  # `jax.ds` of whole axes from a start that is known
        return bind(operand, *starts, slice_sizes=slice_sizes, **params)
    starts = list(starts)
    vector = jnp.stack([starts[axis] for axis in axes])
    components = Components.of_starts(axes, slice_sizes, call.wraps)
    vector, valid = _resolve(call, operand, vector, components)
    for number, axis in enumerate(axes):
        starts[axis] = lax.index_in_dim(vector, number, keepdims=False)
    result = bind(operand, *starts, slice_sizes=slice_sizes, **params)
    return _filled(call, result, valid, range(result.ndim))


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
