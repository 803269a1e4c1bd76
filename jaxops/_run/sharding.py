"""The way in which devices of a mesh with explicit axes share the result of an op.

On such a mesh the types of arrays tell how they are shared, and every primitive of `lax` must find
the type of its result from those of its operands. A result of ours is shared

1. as the caller says by `out_sharding=`;
2. else as the op's primitives find;
3. where one of them does not: as the arguments, in each dimension that is a sharded dimension of an
   argument whatever the size of that is. For `depth_to_space` of images [n@d, 4, 4, 8] the shape of
   the result is [n, 8, 8, 2] for every `n`, so it is shared as [n@d, 8, 8, 2].

What the primitives do is then left to XLA's partitioner (`jax.sharding.auto_axes`). Where the third
way loses an axis of the mesh, or has it twice, the caller has to say what becomes of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax import export
from jax.sharding import NamedSharding, PartitionSpec

from jaxops._indexing import check
from jaxops._indexing.explicit_axes import mesh_of, on_automatic_axes
from jaxops._run.arguments import brief

OutSharding: TypeAlias = jax.sharding.PartitionSpec | jax.sharding.NamedSharding | None


def check_out_sharding(out_sharding: Any, op: str) -> None:
    if not isinstance(out_sharding, (NamedSharding, PartitionSpec)):
        raise TypeError(
            f"{op}: out_sharding must be a PartitionSpec or a NamedSharding; "
            f"received {brief(out_sharding)}"
        )


def call(op: str, function: Callable, out_sharding: OutSharding, *arrays: Any) -> Any:
    """`function(*arrays)`, shared as stands above. Some of the `arrays` may be None."""
    flags, mesh = check.collected_flags(), mesh_of(*arrays)
    before = [*(flags or [])]
    if out_sharding is None:
        try:
            return function(*arrays)
        except Exception as error:
            # Without such a mesh an error is not about sharding, whatever its words
            # (test_sharding.py, test_errors_elsewhere_are_those_of_jax).
            if mesh is None or not _is_of_sharding(error):
                raise
            found = _shared_as_arguments(function, arrays)
            if found is None:
                raise ValueError(
                    f"{op}: how the devices share the result must follow from the types of the "
                    "arguments, or be said: by out_sharding=, where the function has it, or by "
                    f"jax.sharding.auto_axes({op}, out_sharding=...); received {_types(arrays)}"
                ) from error
    elif mesh is None:
        raise ValueError(
            f"{op}: out_sharding must come with an array on a mesh of explicit axes; "
            f"received {out_sharding} with {_types(arrays)}"
        )
    elif isinstance(out_sharding, PartitionSpec):
        found = NamedSharding(mesh, out_sharding)
    else:
        found = out_sharding
    if flags is None:
        return on_automatic_axes(function, mesh, found)(*arrays)

    def flagged(*arrays):
        with check.collect_flags() as own:
            result = function(*arrays)
        return result, [functools.reduce(jnp.logical_or, own)] if own else []

    # Flags of automatic axes cannot be joined with others, so one leaves them as a result does. The
    # call that failed has left its own (test_sharding.py, test_an_eager_call_has_one_flag).
    shardings = (found, NamedSharding(mesh, PartitionSpec()))
    result, joined = on_automatic_axes(flagged, mesh, shardings)(*arrays)
    flags[:] = [*before, *joined]
    return result


def _is_of_sharding(error: Exception) -> bool:
    """JAX has no public name for its `ShardingTypeError`, and raises others too."""
    return "sharding" in f"{type(error).__name__} {error}".lower()


def _types(arrays: Sequence[Any]) -> str:
    return ", ".join(str(jax.typeof(x)) for x in arrays if x is not None)


def _shared_as_arguments(function: Callable, arrays: Sequence[Any]) -> Any:
    """The shardings of the results by the third way.

    None if a result has some axis of the mesh not at all, or twice.
    """
    scope = export.SymbolicScope()
    axes: dict[str, Any] = {}  # by symbol

    def size_or_symbol(size: int, axis: Any) -> Any:
        if axis is None:
            return size
        # Dimensions of one size that the same devices share are one, such as batch dimensions.
        symbol = f"n{size}_" + "_".join(axis if isinstance(axis, tuple) else (axis,))
        axes[symbol] = axis
        return export.symbolic_shape(symbol, scope=scope)[0]

    def of_any_size(x: Any) -> Any:
        spec = jax.typeof(x).sharding.spec
        return jax.ShapeDtypeStruct(tuple(map(size_or_symbol, x.shape, spec)), x.dtype)

    types = [None if x is None else of_any_size(x) for x in arrays]
    try:
        with check.collect_flags():
            results = jax.eval_shape(function, *types)
    except Exception:  # of any kind, as `function` is not made for all sizes
        return None
    specs = [[axes.get(str(size)) for size in x.shape] for x in jax.tree.leaves(results)]
    if any(spec.count(axis) != 1 for spec in specs for axis in axes.values()):
        return None
    mesh = mesh_of(*arrays)
    shardings = [NamedSharding(mesh, PartitionSpec(*spec)) for spec in specs]
    return jax.tree.structure(results).unflatten(shardings)
