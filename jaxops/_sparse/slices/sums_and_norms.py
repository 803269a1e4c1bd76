"""Sums and norms of a whole gradient, some of whose leaves are sparse.

A sum of sparse gradients is one that has the rows of all: nothing is added before someone needs the
sum of a row. For the gradient of a table [V, 2] and of a weight [3] on each of 2 devices:

    on a device       after psum          after pmean    sum_stacked, of 4 steps by `scan`
    values [n, 2]     values [2n, 2]      the same / 2   values [4, n, 2] -> [4n, 2]
    weight [3]        the sum [3]         the mean [3]   [4, 3] -> the sum [3]

A norm needs the sums of the rows, as (a + b)^2 is not a^2 + b^2; so it sums rows that repeat first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.sharding import PartitionSpec as P

from jaxops import _jax_internals
from jaxops._indexing import explicit_axes
from jaxops._indexing.narrow_sums import widened
from jaxops._primitives import varying_alike
from jaxops._run import arguments
from jaxops._run.arguments import ArrayLike
from jaxops._run.static_values import check_addressable
from jaxops._sparse.slices.indexed_slices import IndexedSlices, TiedGradient, is_sparse
from jaxops._sparse.slices.owner_rows import at_owners, sum_all_at_first

_Tree = TypeVar("_Tree")  # a gradient of any structure: sums have the same


def psum(grads: _Tree, axis_name: str | Sequence[str]) -> _Tree:
    """The sum of a gradient over devices: `jax.lax.psum`, with `IndexedSlices` among the leaves.

    For use under `jax.shard_map`, `pmap`, or `vmap` with an `axis_name`. Each device gets the rows
    of all devices, so data of the size of all lookups is sent. If many rows come twice, call
    `sum_duplicates(size)` before, to send less. Rows of a table that was looked up by
    `sharded_gather` stay where they are, along the axes that share the table: the sum is made when
    `lazy` or `IndexedSlices.add_to` sends the rows to their owners.

    Args:
        grads: pytree of numeric arrays, `IndexedSlices` and `TiedGradient`. Traced.
        axis_name: static; the name of a mapped axis, or a sequence of them.

    Returns:
        The same pytree. Arrays are summed. `IndexedSlices` of `n` rows on each of `d` devices have
        `d * n` rows. The result is the same on all devices, which `shard_map` knows under
        `check_vma=True`.

    Raises:
        TypeError: wrong dtype or type of an argument.
        NameError: an axis that is not mapped.

    Gradient: as that of `jax.lax.psum`, and `jax.lax.all_gather` for rows.

    Example:
        >>> import jax, jax.numpy as jnp, jaxops
        >>> def step(words):
        ...     slices = jaxops.IndexedSlices(jnp.ones((2, 1)), words, (5, 1))
        ...     return jaxops.psum(slices, "devices").to_dense()
        >>> words = jnp.array([[0, 3], [3, 4]])
        >>> jax.vmap(step, axis_name="devices", out_axes=None)(words)[:, 0]
        Array([1., 0., 0., 2., 1.], dtype=float32)

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.psum.html
    """
    axes = _axes(axis_name, "psum")
    _check(grads, "psum", jnp.number)
    return _map(lambda x: lax.psum(x, axes), lambda slices: _gather_rows(slices, axes), grads)


def pmean(grads: _Tree, axis_name: str | Sequence[str]) -> _Tree:
    """The mean of a gradient over devices: `psum` divided by their number.

    Args:
        grads: pytree of arrays, `IndexedSlices` and `TiedGradient`, of float or complex dtypes.
            Traced.
        axis_name: static; the name of a mapped axis, or a sequence of them.

    Returns:
        The same pytree, as `jaxops.psum` returns, divided by the number of devices.

    Raises:
        TypeError: wrong dtype or type of an argument.
        NameError: an axis that is not mapped.

    Gradient: as that of `jaxops.psum`.

    Example:
        >>> import jax, jax.numpy as jnp, jaxops
        >>> def step(words):
        ...     slices = jaxops.IndexedSlices(jnp.ones((2, 1)), words, (5, 1))
        ...     return jaxops.pmean(slices, "devices").to_dense()
        >>> words = jnp.array([[0, 3], [3, 4]])
        >>> jax.vmap(step, axis_name="devices", out_axes=None)(words)[:, 0]
        Array([0.5, 0. , 0. , 1. , 0.5], dtype=float32)

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.pmean.html
    """
    axes = _axes(axis_name, "pmean")
    _check(grads, "pmean", jnp.inexact)
    devices = lax.psum(1, axes)
    return _map(
        lambda x: lax.pmean(x, axes), lambda slices: _gather_rows(slices, axes) / devices, grads
    )


def sum_stacked(grads: _Tree) -> _Tree:
    """The sum of gradients that are stacked along a leading axis, as by `lax.scan` and `vmap`.

    Accumulates gradients over microbatches: the body of a `lax.scan` returns its gradient as the
    second result, and `sum_stacked` makes one gradient of the stacked ones.

    Args:
        grads: pytree of numeric arrays, `IndexedSlices` and `TiedGradient`, each with one leading
            axis more than the gradient. Traced.

    Returns:
        The same pytree without that axis. Arrays are summed along it. Stacked `IndexedSlices` of
        `k` times `n` rows become one with `k * n` rows.

    Raises:
        TypeError: wrong dtype or type of an argument.
        ValueError: a leaf that has no leading axis.

    Gradient: passes to every leaf.

    Example:
        >>> import jax, jax.numpy as jnp, jaxops
        >>> loss = lambda table, words: table[words].sum()
        >>> gradient = jaxops.sparse_value_and_grad(loss, tables="")
        >>> def body(total, words):
        ...     value, slices = gradient(jnp.ones((5, 1)), words)
        ...     return total + value, slices
        >>> total, stacked = jax.lax.scan(body, 0.0, jnp.array([[0, 3], [3, 4]]))
        >>> jaxops.sum_stacked(stacked)
        IndexedSlices(values=float32[4,1], indices=int32[4], dense_shape=(5, 1))
        >>> jaxops.sum_stacked(stacked).to_dense()[:, 0]
        Array([1., 0., 0., 2., 1.], dtype=float32)

    Source: https://www.tensorflow.org/api_docs/python/tf/add_n, which adds up `tf.IndexedSlices`.
    """
    op = "sum_stacked"
    _check(grads, op, jnp.number)

    def total(x: jax.Array) -> jax.Array:
        _check_stacked(np.ndim(x), 1, x, op)
        check_addressable(x.shape[1:], x.dtype, x.shape, op, "grads")
        return _sum_of_rows(x)

    def rows_of_all(slices: IndexedSlices) -> IndexedSlices:
        rank = slices.indices.ndim
        _check_stacked(rank, 2, slices, op)

        def merged(x: jax.Array) -> jax.Array:
            stacked, *batch, rows = x.shape[:rank]
            return jnp.moveaxis(x, 0, rank - 2).reshape(*batch, stacked * rows, *x.shape[rank:])

        parts = slices.values, slices.indices
        specs = tuple(P(*spec[1:]) for spec in explicit_axes.specs_of(parts))
        mesh = explicit_axes.mesh_of(slices.values)
        return slices._with_parts(
            *explicit_axes.shared(lambda *parts: tuple(map(merged, parts)), mesh, specs, *parts)
        )

    return _map(total, rows_of_all, grads)


# On a CPU XLA adds rows of so many elements and more fifty times as slowly as one after the other.
_LONG_ROW = 2**15


@jax.jit
def _sum_of_rows(x: jax.Array) -> jax.Array:
    """The sum along the first axis, in the dtype of x."""

    def add(x: jax.Array) -> jax.Array:
        # By itself JAX adds floats of 16 bits in float32, but not those of 8.
        wide = widened(x)
        return jnp.sum(wide, axis=0, dtype=wide.dtype).astype(x.dtype)

    if (
        not all(isinstance(dim, int) for dim in x.shape)  # one may be symbolic
        or math.prod(x.shape[1:]) < _LONG_ROW
        or not jnp.issubdtype(x.dtype, jnp.inexact)
        or explicit_axes.mesh_of(x) is not None
    ):
        return add(x)
    return lax.platform_dependent(x, cpu=_add_in_turn, default=add)


def _add_in_turn(x: jax.Array) -> jax.Array:
    wide = widened(x[:1]).dtype
    none, x = varying_alike(jnp.zeros(x.shape[1:], wide), x)
    return lax.scan(lambda total, row: (total + row.astype(wide), None), none, x)[0].astype(x.dtype)


def global_norm(grads: Any) -> jax.Array:
    """The Euclidean norm of a whole gradient.

    Follows `tf.linalg.global_norm`. Differs from it in: values of the same row are summed first,
    so that the norm is that of the dense gradient; squares are summed in float32 at least.

    Args:
        grads: pytree of arrays, `IndexedSlices` and `TiedGradient`, of float or complex dtypes.
            Traced.

    Returns:
        A scalar: the square root of the sum of all squares. Its dtype is float32, or float64 where
        a leaf has 64 bits an element.

    Raises:
        TypeError: wrong dtype or type of an argument.
        ValueError: stacked `IndexedSlices`.

    Gradient: passes to every leaf; 0 if the norm is 0.

    Example:
        >>> import jax.numpy as jnp, jaxops
        >>> slices = jaxops.IndexedSlices([[1.0], [2.0]], [3, 3], (5, 1))
        >>> jaxops.global_norm({"embed": slices, "w": jnp.array([4.0])})
        Array(5., dtype=float32)

    Source: https://www.tensorflow.org/api_docs/python/tf/linalg/global_norm
    """
    return _norm(grads, "global_norm")


def clip_by_global_norm(grads: _Tree, clip_norm: ArrayLike) -> tuple[_Tree, jax.Array]:
    """Scales a gradient down to a norm, if its own is larger.

    Follows `tf.clip_by_global_norm`. Differs from it in: the norm is `jaxops.global_norm`, and a
    gradient of a smaller norm stays as it is, bit by bit.

    Args:
        grads: pytree of arrays, `IndexedSlices` and `TiedGradient`, of float or complex dtypes.
            Traced.
        clip_norm: positive number. Traced.

    Returns:
        A pair: the same pytree, multiplied by `clip_norm / norm` if the norm is larger, and the
        norm before. Dtypes stay. All elements are NaN if the norm is not finite.

    Raises:
        TypeError: wrong dtype or type of an argument.
        ValueError: `clip_norm` is not a positive scalar; stacked `IndexedSlices`.

    Gradient: passes to every leaf and to `clip_norm`.

    Example:
        >>> import jax.numpy as jnp, jaxops
        >>> slices = jaxops.IndexedSlices([[1.0], [2.0]], [3, 3], (5, 1))
        >>> grads = {"embed": slices, "w": jnp.array([4.0])}
        >>> clipped, norm = jaxops.clip_by_global_norm(grads, 2.5)
        >>> norm, clipped["w"]
        (Array(5., dtype=float32), Array([2.], dtype=float32))
        >>> clipped["embed"].values[:, 0]
        Array([0.5, 1. ], dtype=float32)

    Source: https://www.tensorflow.org/api_docs/python/tf/clip_by_global_norm
    """
    op = "clip_by_global_norm"
    norm = _norm(grads, op)
    limit = _limit(clip_norm, op).astype(norm.dtype)
    return _clipped(_as_arrays(grads), norm, limit), norm


@jax.jit
def _clipped(grads: Any, norm: jax.Array, limit: jax.Array) -> Any:
    scale = jnp.where(norm > limit, limit / jnp.maximum(norm, limit), jnp.ones_like(norm))
    scale = jnp.where(jnp.isfinite(norm), scale, jnp.nan)

    def scaled(x: jax.Array) -> jax.Array:
        wide = widened(x)
        return (wide * scale.astype(wide.dtype)).astype(x.dtype)

    return _map_values(scaled, grads)


def _map(dense: Callable, sparse: Callable, grads: Any) -> Any:
    """Applies `dense` to arrays, `sparse` to `IndexedSlices`, and both to a `TiedGradient`."""

    def array(x):  # whose byte order JAX may not have
        return jnp.asarray(arguments.as_numpy_or_none(x) if isinstance(x, np.ndarray) else x)

    def apply(gradient):
        if isinstance(gradient, TiedGradient):
            return TiedGradient(dense(array(gradient.dense)), sparse(gradient.slices))
        if isinstance(gradient, IndexedSlices):
            return sparse(gradient)
        return dense(array(gradient))

    return jax.tree.map(apply, grads, is_leaf=is_sparse)


def _map_values(function: Callable, grads: Any) -> Any:
    """Applies `function` to arrays, and to the values of sparse gradients."""
    return _map(function, lambda slices: slices._with_values(function(slices.values)), grads)


def _as_arrays(grads: Any) -> Any:
    """`grads` with arrays of JAX in place of those of other libraries."""
    return _map(lambda x: x, lambda slices: slices, grads)


def _check(grads: Any, op: str, kind: Any) -> None:
    """Refuses leaves that are neither sparse nor arrays of a dtype of that kind."""
    arguments.check_nesting(grads, op, "grads")
    for path, gradient in jax.tree_util.tree_leaves_with_path(grads, is_leaf=is_sparse):
        where = f"gradient {jax.tree_util.keystr(path, simple=True, separator='/')!r}"
        parts = gradient if isinstance(gradient, TiedGradient) else (gradient,)
        if isinstance(gradient, TiedGradient) and not isinstance(gradient.slices, IndexedSlices):
            raise TypeError(
                f"{op}: {where} must have IndexedSlices as slices; received "
                f"{arguments.brief(gradient.slices)}"
            )
        for part in parts:
            values = part.values if isinstance(part, IndexedSlices) else part
            array = arguments.to_operand(values, op, where)
            dtype = array.dtype
            if not jnp.issubdtype(dtype, kind):
                expected = "numeric" if kind is jnp.number else "float or complex"
                raise TypeError(f"{op}: {where} must have a {expected} dtype; received {dtype}")
            # Squares of narrow floats are summed in float32.
            widest = max(dtype, np.dtype(np.float32), key=lambda dtype: dtype.itemsize)
            check_addressable(array.shape, widest, array.shape, op, where)


def _check_stacked(rank: int, least: int, x: Any, op: str) -> None:
    if rank < least:
        raise ValueError(f"{op}: grads must be stacked along a leading axis; received {x}")


def _axes(axis_name: Any, op: str) -> tuple:
    axes = tuple(axis_name) if isinstance(axis_name, (list, tuple)) else (axis_name,)
    for axis in axes:
        if axis is None or isinstance(axis, (int, float)) or not isinstance(axis, Hashable):
            raise TypeError(
                f"{op}: axis_name must be the name of a mapped axis or a sequence of them; "
                f"received {arguments.brief(axis_name)}"
            )
    return axes


def _gather_rows(slices: IndexedSlices, axes: tuple) -> IndexedSlices:
    """The rows of all devices along the axes, but for those that share the table."""
    slices.num_rows  # noqa: B018 - checks that the slices are not stacked
    axes = tuple(axis for axis in axes if axis not in _names_of_shards(slices))

    def gather(x: jax.Array) -> jax.Array:
        if not slices.values.shape[0]:  # JAX does not compile a gather of no rows
            return lax.psum(x, axes)
        for axis in axes:
            # Under `shard_map` with `check_vma=True` a type tells whether its array is the same on
            # all devices.
            has_types = _jax_internals.varying_axes(lax.axis_index(axis))
            to = "invarying" if has_types else "varying"
            x = lax.all_gather(x, axis, tiled=True, to=to)
        return x

    return slices._with_parts(gather(slices.values), gather(slices.indices))


def _norm(grads: Any, op: str) -> jax.Array:
    """The root of the sum of all squares, with a derivative of 0 at 0."""
    _check(grads, op, jnp.inexact)
    leaves = jax.tree.leaves(_as_arrays(grads), is_leaf=is_sparse)
    slices = [g.slices if isinstance(g, TiedGradient) else g for g in leaves]
    arrays = [g.values if isinstance(g, IndexedSlices) else g for g in slices]
    return explicit_axes.shared(_norm_of_checked, explicit_axes.mesh_of(*arrays), P(), leaves)


@jax.jit
def _norm_of_checked(leaves: list) -> jax.Array:
    arrays = [_distinct_elements(_map_values(widened, leaf)) for leaf in leaves]
    is_wide = any(x.real.dtype.itemsize == 8 for x in arrays)
    dtype = jnp.dtype(jnp.float64 if is_wide else jnp.float32)
    squares = jnp.zeros((), dtype)
    for leaf, x in zip(leaves, arrays, strict=True):
        for part in (x.real, x.imag) if jnp.iscomplexobj(x) else (x,):
            of_part = jnp.sum(jnp.square(part.astype(dtype)))
            names = _names_of_shards(leaf)
            squares = squares + (lax.psum(of_part, names) if names else of_part)
    # The derivative of the root at 0 is infinite.
    is_zero = squares == 0
    return jnp.where(
        is_zero, squares, jnp.sqrt(jnp.where(is_zero, jnp.ones_like(squares), squares))
    )


def _names_of_shards(gradient: Any) -> tuple[str, ...]:
    """Under `shard_map`: the axes along which devices share the table of a gradient.

    Each device then has those rows of the gradient that it looked up, of the whole table.
    """
    sharding = gradient.sharding if isinstance(gradient, IndexedSlices) else None
    return () if sharding is None or sharding.mesh is not None else sharding.axis_names


def _distinct_elements(gradient: Any) -> jax.Array:
    """An array of all elements of the dense gradient, but for some that are 0."""
    if isinstance(gradient, IndexedSlices):
        rows = at_owners(gradient) if _names_of_shards(gradient) else gradient
        return sum_all_at_first([rows])[0].values
    return jnp.asarray(gradient.to_dense() if isinstance(gradient, TiedGradient) else gradient)


def _limit(clip_norm: Any, op: str) -> jax.Array:
    limit = arguments.to_real(clip_norm, op, "clip_norm")
    if limit.ndim or not (isinstance(limit, Tracer) or limit > 0):
        raise ValueError(
            f"{op}: clip_norm must be a positive scalar; received {arguments.brief(clip_norm)}"
        )
    return limit
