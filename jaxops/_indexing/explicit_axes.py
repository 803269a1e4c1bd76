"""Gathers and scatters of arrays whose types say how devices share them.

On a mesh of `AxisType.Explicit` the primitives of `lax` tell the sharding of a result from those of
the operands, and refuse where they do not: a gather by sharded indices, a scatter of sharded
updates. Here the sharding of the result is said, and the rest left to XLA's partitioner.

The dimensions of a result that come from indices are shared as the indices, those of windows as the
operand. Of params [V@d, 4@m] and indices [n@d] that is [n@d, 4@m]. An axis of the mesh that shares
an indexed dimension alone shares nothing of the result.

The rest is left to the partitioner by a context in which the axes of the mesh are `AxisType.Auto`.
JAX wants all arrays of an operation to have types on the mesh around, so arrays change the types on
their way in and out: in a program that was traced these are `reshard` equations, and the equations
between them have a mesh of their own. Code that goes through such a program has to evaluate each
equation under the mesh of its types (`around`), and to bring other arrays there (`brought`).
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxops import _jax_internals
from jaxops._indexing.dimension_numbers import Windows


def gather(function: Callable, operand: jax.Array, indices: jax.Array, windows: Windows, *rest):
    """`function(operand, indices, *rest)`, a gather."""
    of_operand, of_indices = _axes(operand), _axes(indices)
    b, first = windows.batch_dims, windows.first
    indexed = [of_operand[axis] for axis in windows.axes]
    if of_operand[:b] == of_indices[:b] and not any([*indexed, *of_indices[b:]]):
        return function(operand, indices, *rest)  # `lax` tells
    batch = [x or y for x, y in zip(of_operand[:b], of_indices[:b], strict=True)]
    kept = [axis for d, axis in enumerate(of_operand) if d not in windows.axes]
    axes = [*batch, *kept[b:first], *of_indices[b:-1], *kept[first:]]
    return _shared(function, mesh_of(operand, indices), axes)(operand, indices, *rest)


def gather_rows(function: Callable, params: jax.Array, indices: jax.Array):
    """`function(params, indices)`, which gathers along the first axis."""
    mesh = mesh_of(params, indices)
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
    mesh = mesh_of(operand, indices, updates)
    if mesh is None:
        return function(operand, indices, valid, updates)
    of_operand, of_updates = _axes(operand), _axes(updates)
    window_dims = windows.window_dims(operand.ndim, indices.ndim)
    kept = [d for d in range(windows.batch_dims, operand.ndim) if d not in windows.axes]
    if is_initial:
        for d, of_window in zip(kept, window_dims, strict=True):
            of_operand[d] = of_updates[of_window]
    return _shared(function, mesh, of_operand)(operand, indices, valid, updates)


def mesh_of(*arrays: Any) -> Any:
    """The mesh of the first array that has explicit axes; None if none has."""
    meshes = (jax.typeof(x).sharding.mesh for x in arrays if isinstance(x, jax.Array))
    return next((mesh for mesh in meshes if mesh.explicit_axes), None)


def _axes(x: jax.Array) -> list:
    """The axes of the mesh that share each dimension."""
    return list(jax.typeof(x).sharding.spec)


def _shared(function: Callable, mesh: Any, axes: list) -> Callable:
    return on_automatic_axes(function, mesh, NamedSharding(mesh, P(*axes)))


def on_automatic_axes(function: Callable, mesh: Any, out_sharding: Any) -> Callable:
    """`function`, traced with the explicit axes of the mesh as automatic ones.

    Its results have the type of `out_sharding`. Axes of a `shard_map` stay manual: JAX refuses to
    make them automatic (test_varying.py, test_function_beside_explicit_axes).
    """
    return jax.sharding.auto_axes(function, axes=mesh.explicit_axes, out_sharding=out_sharding)


# --- several operations ---


def shared(function: Callable, mesh: Any, specs: Any, *args: Any) -> Any:
    """`function(*args)`, whose results the devices share by `specs`, a pytree of PartitionSpecs.

    `args` are pytrees. The partitioner decides how devices share all else that the function
    computes. With None as the mesh there are no explicit axes.
    """
    if mesh is None:
        return function(*args)
    leaves, structure = jax.tree.flatten(args)
    arrays = {n: x for n, x in enumerate(leaves) if isinstance(x, jax.Array)}

    def of_arrays(arrays: dict) -> Any:
        return function(*structure.unflatten([arrays.get(n, x) for n, x in enumerate(leaves)]))

    shardings = jax.tree.map(functools.partial(NamedSharding, mesh), specs)
    with on_mesh_of([*arrays.values()]):
        return on_automatic_axes(of_arrays, mesh, shardings)(arrays)


def specs_of(tree: Any) -> Any:
    """The specification of each array of a pytree on devices; one on no mesh is replicated."""

    def spec_of(x: Any) -> P:
        return P() if mesh_of(x) is None else P(*_axes(x))

    return jax.tree.map(spec_of, tree)


def rows_spec(x: jax.Array, dims: Sequence[int], names: Sequence[str] = ()) -> P:
    """The specification of an array `[*dims, *row]`, shared as `x`, of shape `[n, *row]`, is.

    The axes `names` share the first of `dims`, as far as they are explicit and fit its size.
    """
    mesh = mesh_of(x)
    if mesh is None:
        return P()
    names = tuple(name for name in names if name in mesh.explicit_axes)
    fits = names and dims[0] % math.prod(mesh.shape[name] for name in names) == 0
    return P(names if fits else None, *[None] * (len(dims) - 1), *_axes(x)[1:])


def joined(rows: jax.Array, rank: int) -> jax.Array:
    """Rows `[..., n, *row]` as `[m, *row]`: the first `rank` dimensions as one, shared as `n`."""

    def join(rows: jax.Array) -> jax.Array:
        return rows.reshape(-1, *rows.shape[rank:])

    mesh = mesh_of(rows)
    return join(rows) if mesh is None else _shared(join, mesh, _axes(rows)[rank - 1 :])(rows)


# --- equation by equation ---


def around(mesh: Any) -> contextlib.AbstractContextManager:
    """A context for operations on arrays of types on a mesh, where explicit axes are at play."""
    here = jax.sharding.get_abstract_mesh()
    if mesh is None or mesh.empty or here.empty or mesh == here:
        return contextlib.nullcontext()
    if not (mesh.explicit_axes or here.explicit_axes):
        return contextlib.nullcontext()
    return jax.sharding.use_abstract_mesh(mesh)


def auto_around(mesh: Any) -> contextlib.AbstractContextManager:
    """The mesh with its explicit axes left to the partitioner."""
    if mesh is None or not mesh.explicit_axes:
        return around(mesh)
    auto = dict.fromkeys(mesh.explicit_axes, AxisType.Auto)
    return around(mesh.update_axis_types(auto))


def brought(x: Any, spec: P | None = None) -> Any:
    """An array as one of a type on the mesh around, shared by `spec` if that is given."""
    here = jax.sharding.get_abstract_mesh()
    sharding = jax.typeof(x).sharding
    if here.empty or sharding.mesh.empty or (sharding.mesh == here and spec is None):
        return x
    if not (sharding.mesh.explicit_axes or here.explicit_axes):
        return x
    return jax.reshard(x, NamedSharding(here, spec or P()))


def on_mesh_of(arrays: Sequence[Any]) -> contextlib.AbstractContextManager:
    """A context with the explicit mesh of the arrays, if the caller of an op has set no mesh."""
    mesh = mesh_of(*arrays)
    if mesh is None or not jax.sharding.get_abstract_mesh().empty:
        return contextlib.nullcontext()
    if _jax_internals.is_eager():  # JAX then wants the devices
        return jax.set_mesh(next(x.sharding.mesh for x in arrays if mesh_of(x) is not None))
    return jax.sharding.use_abstract_mesh(mesh)


def positions_spec(shape: tuple[int, ...], names: Sequence[str]) -> P:
    """The specification of an array `[..., n]` whose last dimension these axes of the mesh share.

    They do as far as they are explicit. `n` is a multiple of the devices.
    """
    mesh = jax.sharding.get_abstract_mesh()
    names = tuple(name for name in names if name in mesh.explicit_axes)
    return P(*[None] * (len(shape) - 1), names) if names else P()
