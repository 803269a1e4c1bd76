"""Gathers and scatters of arrays whose types say how devices share them.

On a mesh of `AxisType.Explicit` the primitives of `lax` tell the sharding of a result from those of
the operands, and refuse where they do not: a gather by sharded indices, a scatter of sharded
updates. Here the sharding of the result is said, and the rest left to XLA's partitioner.

A result is shared as what its dimensions come from: those of indices as the indices, those of
windows as the operand. Of params [V@d, 4@m] and indices [n@d] that is [n@d, 4@m]. An axis of the
mesh that shares an indexed dimension alone shares nothing of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from jaxops._indexing.dimension_numbers import Windows


def gather(function: Callable, operand: jax.Array, indices: jax.Array, windows: Windows, *rest):
    """`function(operand, indices, *rest)`, a gather."""
    mesh = _explicit_mesh(operand, indices)
    if mesh is None:
        return function(operand, indices, *rest)
    of_operand, of_indices = _axes(operand), _axes(indices)
    b, first = windows.batch_dims, windows.first
    indexed = [of_operand[axis] for axis in windows.axes]
    if of_operand[:b] == of_indices[:b] and not any([*indexed, *of_indices[b:]]):
        return function(operand, indices, *rest)  # `lax` tells
    batch = [x or y for x, y in zip(of_operand[:b], of_indices[:b], strict=True)]
    kept = [axis for d, axis in enumerate(of_operand) if d not in windows.axes]
    axes = [*batch, *kept[b:first], *of_indices[b:-1], *kept[first:]]
    return _shared(function, mesh, axes)(operand, indices, *rest)


def gather_rows(function: Callable, params: jax.Array, indices: jax.Array):
    """`function(params, indices)`, which gathers along the first axis."""
    mesh = _explicit_mesh(params, indices)
    if mesh is None:
        return function(params, indices)
    return _shared(function, mesh, [*_axes(indices), *_axes(params)[1:]])(params, indices)


def scatter(
    function: Callable,
    operand: jax.Array,
    indices: jax.Array,
    valid: jax.Array | None,
    updates: jax.Array,
    windows: Windows,
    *,
    is_initial: bool,
) -> jax.Array:
    """`function(operand, indices, valid, updates)`, a scatter.

    The result is shared as the operand; if that `is_initial`, made for the scatter, as the windows
    of the updates.
    """
    mesh = _explicit_mesh(operand, indices, updates)
    if mesh is None:
        return function(operand, indices, valid, updates)
    of_operand, of_updates = _axes(operand), _axes(updates)
    window_dims = windows.window_dims(operand.ndim, indices.ndim)
    kept = [d for d in range(windows.batch_dims, operand.ndim) if d not in windows.axes]
    if is_initial:
        for d, of_window in zip(kept, window_dims, strict=True):
            of_operand[d] = of_updates[of_window]
    return _shared(function, mesh, of_operand)(operand, indices, valid, updates)


def _explicit_mesh(*arrays: jax.Array) -> Any:
    """The mesh of the first array that has explicit axes; None if none has."""
    meshes = (jax.typeof(x).sharding.mesh for x in arrays)
    return next((mesh for mesh in meshes if mesh.explicit_axes), None)


def _axes(x: jax.Array) -> list:
    """The axes of the mesh that share each dimension."""
    return list(jax.typeof(x).sharding.spec)


def _shared(function: Callable, mesh: Any, axes: list) -> Callable:
    return jax.sharding.auto_axes(function, out_sharding=NamedSharding(mesh, P(*axes)))
