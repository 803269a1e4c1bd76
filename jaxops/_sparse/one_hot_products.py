"""Products with one-hot matrices: `jax.nn.one_hot(indices, V) @ table` is `table[indices]`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from jaxops import _jax_internals
from jaxops._sparse import jaxprs
from jaxops._sparse.delayed import Delayed, Node, has_table, look_up, read
from jaxops._sparse.lookups import Access


def rows(eqn: JaxprEqn, inputs: Sequence) -> jax.Array | None:
    """The result of a `dot_general` of a one-hot matrix and a table; None if it is none."""
    contracting, batch = _jax_internals.param(eqn, "dimension_numbers")
    if any(map(len, batch)) or len(contracting[0]) != 1:
        return None
    axes = [int(axis) for (axis,) in contracting]
    for number in (0, 1):
        one_hot, table = inputs[number], inputs[1 - number]
        if has_table(table) and not has_table(one_hot):
            indices = _indices(one_hot, axes[number])
            if indices is not None:
                x = _look_up(table, axes[1 - number], indices, is_first=number == 0)
                dtype = jaxprs.type_of(eqn.outvars[0]).dtype
                return None if x is None else x.astype(dtype)
    return None


def _look_up(table: Delayed, axis: int, indices: jax.Array, is_first: bool) -> jax.Array | None:
    """Rows along `axis`, 0 where the index is outside, along the dimensions of a product."""
    rank = len(table.shape)
    begin = indices.ndim if is_first else 0
    access = Access(
        shape=table.shape,
        sizes=tuple(1 if a == axis else dim for a, dim in enumerate(table.shape)),
        strides=(1,) * rank,
        batch_shape=indices.shape,
        collapsed=(axis,),
        offset_dims=tuple(range(begin, begin + rank - 1)),
        mode=lax.GatherScatterMode.FILL_OR_DROP,
    )
    starts = [jnp.zeros_like(indices)] * rank
    starts[axis] = indices
    return look_up(table, access, starts, 0)


def _indices(x: Any, axis: int) -> jax.Array | None:
    """Of a matrix that is one-hot along `axis` the places of its ones."""
    if isinstance(x, Node) and x.eqn.primitive.name == "transpose":
        axes = [int(a) for a in _jax_internals.param(x.eqn, "permutation")]
        indices = _indices(x.inputs[0], axes.pop(axis))
        return None if indices is None else indices.transpose(np.argsort(np.argsort(axes)))
    equal = _comparison(x)
    if equal is None:
        return None
    for iota, other in itertools.permutations(equal.inputs):
        if _is_iota(iota, axis, x.shape[axis]) and _is_constant(other, axis):
            at = {axis: jnp.zeros((), jnp.int32)}
            indices = jnp.squeeze(read(other, at, None, {}), axis)
            shape = [dim for a, dim in enumerate(x.shape) if a != axis]
            return jnp.broadcast_to(indices, shape)
    return None


def _comparison(x: Any) -> Node | None:
    """The `eq` of which a delayed matrix of ones and zeros is made."""
    while isinstance(x, Node):
        name = x.eqn.primitive.name
        if name == "eq":
            return x
        if name == "convert_element_type" or (
            name == "select_n" and len(x.inputs) == 3 and _are(x.inputs[1:], [0, 1])
        ):
            x = x.inputs[0]
        else:
            return None
    return None


def _are(values: Sequence, numbers: Sequence[int]) -> bool:
    """Whether the arrays hold these numbers only, as far as the host knows."""
    for x, number in zip(values, numbers, strict=True):
        while isinstance(x, Node) and x.eqn.primitive.name in ("broadcast_in_dim", "copy"):
            x = x.inputs[0]
        if isinstance(x, Delayed) or not jaxprs.is_known(x) or np.ndim(x) or x != number:
            return False
    return True


def _is_iota(x: Any, axis: int, size: int) -> bool:
    """Whether the elements are 0, 1, ... along `axis`, and the same along all others."""
    if not isinstance(x, Node) or x.shape[axis] != size:
        return False
    if x.eqn.primitive.name == "iota":
        return _jax_internals.param(x.eqn, "dimension") == axis
    if x.eqn.primitive.name == "broadcast_in_dim":
        axes = [int(a) for a in _jax_internals.param(x.eqn, "broadcast_dimensions")]
        return axis in axes and _is_iota(x.inputs[0], axes.index(axis), size)
    return False


def _is_constant(x: Any, axis: int) -> bool:
    """Whether the elements along `axis` are equal."""
    if isinstance(x, Node) and x.eqn.primitive.name == "broadcast_in_dim":
        axes = [int(a) for a in _jax_internals.param(x.eqn, "broadcast_dimensions")]
        return axis not in axes or np.shape(x.inputs[0])[axes.index(axis)] == 1
    return np.shape(x)[axis : axis + 1] == (1,)
