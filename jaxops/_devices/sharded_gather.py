"""sharded_gather: lookups of a table whose rows the devices of a mesh share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.sharding import NamedSharding

from jaxops._devices import exchange
from jaxops._devices.exchange import RowSharding
from jaxops._indexing import explicit_axes, policy
from jaxops._indexing.index_dtypes import position_dtype
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import ScalarIndex, padding_of
from jaxops._run import arguments
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.dispatch import operation
from jaxops._run.static_values import static_int

_OP = "sharded_gather"


def sharded_gather(
    params: ArrayLike,
    indices: ArrayLike,
    axis_name: str | Sequence[str] | None = None,
    *,
    mesh: jax.sharding.Mesh | jax.sharding.AbstractMesh | None = None,
    capacity: Int | None = None,
    mode: Mode = "device",
    padding_index: Int | None = None,
    name: str | None = None,
) -> jax.Array:
    """Gathers rows of `params`, whose rows the devices of a mesh share, by asking their owners.

    The values are those of `gather(params, indices)`, for which XLA's partitioner would send all
    indices, or all rows that are looked up, to all devices. Here each device sends its indices to
    the owners of the rows, which send the rows back, by two `all_to_all`s whose size does not grow
    with the number of devices. Repeated indices are asked for once. The gradient goes the same way
    back. That of `sparse_value_and_grad` stays where the rows were looked up, until `lazy` or
    `IndexedSlices.add_to` sends it to the owners.

    A program for all devices calls it with the whole table, under `jit` or eagerly. Under
    `jax.shard_map` a program for one device calls it with the shard of that device and indices of
    its own, which are numbers of rows of the whole table.

    Args:
        params: array of shape `P` and any dtype but strings, with rows shared evenly along the axes
            of the mesh: `[P[0] / devices, ...]` under `shard_map`. Traced.
        indices: integer array of shape `I`; numbers of rows of the whole table. Negative ones are
            out of bounds. Best shared along the same axes by their first dimension. Traced.
        axis_name: static; the axis of the mesh along which the rows are shared, or a sequence of
            axes, the major one first. Default: as the type of `params` says, on a mesh of explicit
            axes, or its sharding, in an eager call.
        mesh: static; the mesh of a program for all devices. Default: that of `jax.set_mesh`, or of
            `params`, where its type or sharding says it.
        capacity: static int; how many rows a device asks of one other device in a round. If a
            device needs more, all devices make another round. With the default, indices drawn at
            random need another round in one step of 10,000.
        mode: static; what an index outside the rows does, as in `gather`: `"device"`, `"error"`,
            `"fill"` (reads 0), `"clip"`, `"wrap"`, `"promise_in_bounds"`.
        padding_index: static int or None; an index of this number reads 0, has no gradient, and is
            no error under any `mode`.

    Returns:
        Array of shape `I + P[1:]` and dtype of `params`, shared as the indices.

    Raises:
        OutOfBoundsError: an index is out of bounds, as in `gather`; on all devices.
        TypeError: wrong dtype or type of an argument.
        ValueError: wrong rank, shape or value of an argument; no axis or no mesh is known;
            `params` on no mesh, where the mesh has explicit axes.

    Gradient: the cotangent, sent to the owners and added to zeros of the shape of `params`; an
    index that reads 0 sends nothing. None for `indices`.

    Example:
        >>> import jax, jaxops
        >>> mesh = jax.make_mesh((jax.device_count(),), ("d",))
        >>> rows = jax.NamedSharding(mesh, jax.P("d"))
        >>> table = jax.device_put(jax.numpy.arange(16.0).reshape(8, 2), rows)
        >>> jaxops.sharded_gather(table, [3, 0, 3])
        Array([[6., 7.],
               [0., 1.],
               [6., 7.]], dtype=float32)

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.all_to_all.html, by which TorchRec
    and HugeCTR look up tables that are shared by rows.
    """
    return _sharded_gather.run(
        _OP,
        params=params,
        indices=indices,
        name=name,
        mode=mode,
        padding_index=padding_index,
        sharding=_row_sharding(params, axis_name, mesh, capacity),
    )


def _row_sharding(params: Any, axis_name: Any, mesh: Any, capacity: Any) -> RowSharding:
    if capacity is not None:
        capacity = static_int(capacity, _OP, "capacity")
        if capacity < 1:
            raise ValueError(f"{_OP}: capacity must be positive; received {capacity}")
    known_names, known_mesh = _sharding_of(params)
    names = _names(axis_name) or known_names
    if not names:
        raise ValueError(
            f"{_OP}: axis_name must say which axis of a mesh shares the rows of params, unless the "
            f"type or sharding of params does; received None with {arguments.brief(params)}"
        )
    around = jax.sharding.get_abstract_mesh()
    mesh = mesh if mesh is not None else known_mesh if known_mesh is not None else around
    if not isinstance(mesh, (jax.sharding.Mesh, jax.sharding.AbstractMesh)):
        raise TypeError(f"{_OP}: mesh must be a Mesh; received {arguments.brief(mesh)}")
    if set(names) <= set(around.manual_axes):
        return RowSharding(names, None, capacity)
    if missing := [name for name in names if name not in mesh.axis_names]:
        raise ValueError(
            f"{_OP}: axis_name must name axes of the mesh, which are {mesh.axis_names}, or of a "
            f"shard_map around; received {missing[0]!r}; mesh= or jax.set_mesh says the mesh"
        )
    on_no_mesh = not isinstance(params, jax.Array) or jax.typeof(params).sharding.mesh.empty
    if mesh.explicit_axes and around.empty and on_no_mesh:
        raise ValueError(
            f"{_OP}: params must be on the mesh, which has explicit axes; received "
            f"{arguments.brief(params)}; call it where jax.set_mesh says the mesh"
        )
    return RowSharding(names, mesh, capacity)


def _names(axis_name: Any) -> tuple[str, ...] | None:
    if axis_name is None:
        return None
    names = (axis_name,) if isinstance(axis_name, str) else axis_name
    if not isinstance(names, (list, tuple)) or not all(isinstance(n, str) for n in names):
        raise TypeError(
            f"{_OP}: axis_name must be a str or a sequence of them; "
            f"received {arguments.brief(axis_name)}"
        )
    if not names or len(set(names)) < len(names):
        raise ValueError(
            f"{_OP}: axis_name must name different axes, one at least; "
            f"received {arguments.brief(axis_name)}"
        )
    return tuple(names)


def _sharding_of(params: Any) -> tuple[tuple[str, ...], Any]:
    """The axes that share the rows, and the mesh, as far as the array tells them."""
    if not isinstance(params, jax.Array):
        return (), None
    sharding = jax.typeof(params).sharding
    if not sharding.mesh.explicit_axes and not isinstance(params, Tracer):
        sharding = params.sharding
    if not isinstance(sharding, NamedSharding) or not sharding.spec:
        return (), None
    axes = sharding.spec[0]
    names = axes if isinstance(axes, tuple) else (axes,) if axes else ()
    return names, sharding.mesh if names else None


@operation(data=("params",), indices=("indices",))
def _sharded_gather(
    params: jax.Array,
    indices: jax.Array,
    *,
    op: str,
    mode: str,
    padding_index: int | None,
    sharding: RowSharding,
):
    if params.ndim == 0:
        raise ValueError(f"{op}: params must have rank 1 at least; received a scalar")
    num_shards = sharding.num_shards
    if sharding.mesh is not None and params.shape[0] % num_shards:
        raise ValueError(
            f"{op}: the rows of params must be a multiple of the {num_shards} devices that share "
            f"them; received shape {params.shape}"
        )
    num_rows = sharding.num_rows(params)
    dtype = position_dtype((num_rows,), op, "params")
    spec = ScalarIndex(op, (num_rows,), padding=padding_of(padding_index, (num_rows,)))

    def rows(params, indices):
        resolved = policy.resolve(spec, indices[..., None], mode)
        numbers = resolved.indices[..., 0].astype(dtype)
        if resolved.valid is not None:
            numbers = jnp.where(resolved.valid, numbers, jnp.asarray(num_rows, dtype))
        result = exchange.gather(params, numbers.reshape(-1), exchange.here(sharding) or sharding)
        return result.reshape(*indices.shape, *params.shape[1:])

    return explicit_axes.gather_rows(rows, params, indices)
