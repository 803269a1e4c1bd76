"""IndexedSlices: a sparse gradient, as the rows that it has and where they stand."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from jaxops import _arguments, _bounds, _core, _dynamic_shape, _held
from jaxops._first_occurrences import first_occurrences
from jaxops._index_spec import ScalarIndex
from jaxops._windows import Windows

_ROWS = Windows(axes=(0,), batch_dims=0)


@jax.tree_util.register_pytree_with_keys_class
class IndexedSlices:
    """Some rows of an array that is 0 elsewhere: the gradient of table lookups.

    Stands for zeros of shape `dense_shape` with every `values[i]` added at row `indices[i]`. A row
    may come several times. An index outside of the rows counts for nothing.

    Follows `tf.IndexedSlices`. Differs from it in: `dense_shape` is static and always there; a row
    may be what stands at one position along several leading axes, counted in row-major order.

    A pytree with the leaves `values` and `indices`, so it passes through `jit`, `vmap` and `scan`.
    What maps over all leaves of a gradient, as `jax.tree.map(lambda g: 0.5 * g, grads)` does, would
    change the indices too: give it `is_leaf=lambda x: isinstance(x, jaxops.IndexedSlices)`.

    Args:
        values: array of shape `[n, *dense_shape[k:]]`, of any dtype. Traced.
        indices: integer array of shape `[n]`: positions along the first `k` axes, row-major where
            `k` is not 1. Traced.
        dense_shape: static ints, the shape of the array that is meant.

    Returns:
        An immutable object with the three as attributes. Sums of two, differences, and products and
        quotients with scalars are IndexedSlices again; a sum holds the rows of both.

    Raises:
        TypeError: wrong dtype or type of an argument.
        ValueError: shapes that do not fit each other.

    Gradient: passes from `to_dense`, `sum_duplicates` and arithmetic to `values`. None for
    `indices`.

    Example:
        >>> import jaxops
        >>> slices = jaxops.IndexedSlices([[1.0, 2.0], [3.0, 4.0]], [2, 0], (3, 2))
        >>> slices + 10 * slices
        IndexedSlices(values=float32[4,2], indices=int32[4], dense_shape=(3, 2))
        >>> (slices + 10 * slices).to_dense()
        Array([[33., 44.],
               [ 0.,  0.],
               [11., 22.]], dtype=float32)

    Source: https://www.tensorflow.org/api_docs/python/tf/IndexedSlices
    """

    __slots__ = ("dense_shape", "indices", "values")
    __array_ufunc__ = None  # NumPy scalars leave `scalar * slices` to `__rmul__`

    values: Any  # arrays; while JAX maps over the leaves, anything
    indices: Any
    dense_shape: tuple[int, ...]

    def __init__(self, values: Any, indices: Any, dense_shape: Any):
        op = "IndexedSlices"
        values = _arguments.to_operand(values, op, "values")
        indices = _arguments.to_indices(indices, op, "indices", None)
        shape = _arguments.static_ints(dense_shape, op, "dense_shape")
        if any(dim < 0 for dim in shape):
            raise ValueError(f"{op}: dense_shape must not be negative; received {shape}")
        _arguments.check_addressable(shape, values.dtype, shape, op, "dense_shape")
        if indices.ndim != 1:
            raise ValueError(f"{op}: indices must have rank 1; received shape {indices.shape}")
        depth = len(shape) - values.ndim + 1
        if depth < 1 or values.shape != (*indices.shape, *shape[depth:]):
            raise ValueError(
                f"{op}: values must have one row for each of {indices.size} indices, of a shape "
                f"that dense_shape {shape} ends in; received shape {values.shape}"
            )
        self._set(values, indices, shape)

    def _set(self, values: Any, indices: Any, dense_shape: Any) -> None:
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "indices", indices)
        object.__setattr__(self, "dense_shape", dense_shape)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"IndexedSlices: {name} cannot be set; make a new object instead")

    def tree_flatten_with_keys(self):
        key = jax.tree_util.GetAttrKey
        children = (key("values"), self.values), (key("indices"), self.indices)
        return children, self.dense_shape

    @classmethod
    def tree_unflatten(cls, dense_shape, children) -> IndexedSlices:
        self = object.__new__(cls)  # unchecked: leaves need not be arrays
        values, indices = children
        self._set(values, indices, dense_shape)
        return self

    def __reduce__(self):
        # As `copy` and `pickle` would set the attributes otherwise.
        return self.tree_unflatten, (self.dense_shape, (self.values, self.indices))

    def __repr__(self) -> str:
        return (
            f"IndexedSlices(values={_describe(self.values)}, indices={_describe(self.indices)}, "
            f"dense_shape={self.dense_shape})"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array that is meant."""
        return self.dense_shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the values."""
        return self.values.dtype

    @property
    def depth(self) -> int:
        """How many leading axes the indices count along: 1, but for lookups of parts of rows."""
        if jnp.ndim(self.indices) != 1:
            raise ValueError(
                f"IndexedSlices: expected indices of rank 1; received {self}, which looks batched: "
                "call this under jax.vmap"
            )
        _arguments.check_integer(self.indices.dtype, "IndexedSlices", "indices")
        return len(self.dense_shape) - self.values.ndim + 1

    @property
    def num_rows(self) -> int:
        """How many rows the dense array has."""
        return math.prod(self.dense_shape[: self.depth])

    def to_dense(self) -> jax.Array:
        """The array that is meant: shape `dense_shape`, dtype of `values`."""
        return self.add_to(jnp.zeros(self.dense_shape, self.dtype))

    def add_to(self, dense: jax.Array) -> jax.Array:
        """`dense`, of shape `dense_shape`, with the values added at their rows."""
        if not isinstance(dense, (jax.Array, np.ndarray)):
            raise TypeError(f"IndexedSlices: dense must be an array; received {_describe(dense)}")
        if dense.shape != self.dense_shape:
            raise ValueError(
                f"IndexedSlices: dense must have shape {self.dense_shape}; received {dense.shape}"
            )
        if dense.dtype != self.dtype:
            raise TypeError(
                f"IndexedSlices: dense must have dtype {self.dtype}; received {dense.dtype}"
            )
        if self.values.size == 0:
            return dense
        rows = dense.reshape(self.num_rows, *self.values.shape[1:])
        spec = ScalarIndex("IndexedSlices", limits=(self.num_rows,))
        indices = self.indices[:, None]
        rows = _core.scatter("add", rows, indices, self.values, _ROWS, spec, mode="fill")
        return rows.reshape(self.dense_shape)

    def sum_duplicates(self, size: int | None = None, *, mode: str = "device") -> IndexedSlices:
        """The same with every row once, in the order of first occurrence.

        `size`, a static int, is the number of rows in the result, which must be given where the
        indices are traced. Places without a row have the index `num_rows` and values of 0. More
        distinct rows than that are an error on the CPU; elsewhere, and with `mode="fill"`, those
        beyond are lost. `mode` is as in `unique`.
        """
        op = "IndexedSlices.sum_duplicates"
        mode = _held.mode_of_size(op, mode, size)
        if size is None and isinstance(self.indices, Tracer):
            raise TypeError(
                f"{op}: size must be given where indices are traced, as the shape of the result "
                "depends on them; received size=None. The number of indices, "
                f"{self.indices.size}, is always enough"
            )
        slots, distinct = _compact_slots(self.indices, self.num_rows)
        if size is None:
            size = int(distinct)
        else:
            size = _dynamic_shape.check_size(size, op)
            spec = _held.num_elements("sum_duplicates", size, "distinct rows", 'mode="fill"')
            slots += _held.hold(spec, distinct, self.indices.size, mode) - distinct
        indices = _indices_of_slots(self, slots, size)
        return IndexedSlices(_sum_in_slots(self, slots, size), indices, self.dense_shape)

    def _counted(self) -> jax.Array:
        """The indices, those that count for nothing made `num_rows`."""
        return _counted(self.indices, self.num_rows)

    def __add__(self, other: object) -> IndexedSlices:
        if not isinstance(other, IndexedSlices):
            raise TypeError(
                "IndexedSlices: only IndexedSlices can be added to it; received "
                f"{_describe(other)}; for an array use slices.add_to(array)"
            )
        return concatenate([self, other])

    __radd__ = __add__  # not called for two IndexedSlices: it words the refusal

    def __sub__(self, other: object) -> IndexedSlices:
        return self + -other if isinstance(other, IndexedSlices) else self + other

    def __neg__(self) -> IndexedSlices:
        return self._with_values(-self.values)

    def __mul__(self, scalar: Any) -> IndexedSlices:
        return self._with_values(self.values * _check_scalar(scalar))

    __rmul__ = __mul__

    def __truediv__(self, scalar: Any) -> IndexedSlices:
        return self._with_values(self.values / _check_scalar(scalar))

    def _with_values(self, values: jax.Array) -> IndexedSlices:
        return IndexedSlices.tree_unflatten(self.dense_shape, (values, self.indices))


def _split_rows(slices: IndexedSlices, depth: int) -> IndexedSlices:
    """The same with indices that count along the first `depth` axes, more than they do."""
    shape = slices.dense_shape
    dtype = position_dtype(shape[:depth], "IndexedSlices")
    count = math.prod(shape[slices.depth : depth])
    rows = slices._counted().astype(dtype)[:, None]
    indices = rows * count + lax.iota(dtype, count)[None]
    indices = jnp.where(rows < slices.num_rows, indices, math.prod(shape[:depth]))
    return IndexedSlices(slices.values.reshape(-1, *shape[depth:]), indices.reshape(-1), shape)


def concatenate(slices: Sequence[IndexedSlices]) -> IndexedSlices:
    """The sum of several IndexedSlices of one dense shape, as one with the rows of all."""
    shapes, dtypes = {s.dense_shape for s in slices}, {s.dtype for s in slices}
    if len(shapes) > 1:
        raise ValueError(
            f"IndexedSlices: a sum must be of one dense_shape; received {sorted(shapes)}"
        )
    if len(dtypes) > 1:
        raise TypeError(
            f"IndexedSlices: a sum must be of one dtype; received {sorted(map(str, dtypes))}"
        )
    depth = max(s.depth for s in slices)
    slices = [s if s.depth == depth else _split_rows(s, depth) for s in slices]
    indices = [_bounds.to_signed(s.indices) for s in slices]
    widest = max((i.dtype for i in indices), key=lambda dtype: dtype.itemsize)
    return IndexedSlices(
        jnp.concatenate([s.values for s in slices]),
        jnp.concatenate([i.astype(widest) for i in indices]),
        slices[0].dense_shape,
    )


class TiedGradient(NamedTuple):
    """The gradient of a table that is used in another way beside lookups: a sum of two parts.

    Args:
        dense: array of the table's shape, from the other uses.
        slices: `IndexedSlices`, from the lookups.

    Returns:
        A named tuple of the two.

    Raises:
        TypeError: `to_dense`, where the dtypes of the parts differ.
        ValueError: `to_dense`, where their shapes differ.

    Gradient: passes from `to_dense` to both parts.

    Example:
        >>> import jax, jax.numpy as jnp, jaxops
        >>> loss = lambda table: (jaxops.gather(table, [2]) @ table.T).sum()
        >>> _, grad = jaxops.sparse_value_and_grad(loss, tables="", tied=True)(jnp.ones((3, 2)))
        >>> grad.slices
        IndexedSlices(values=float32[1,2], indices=int32[1], dense_shape=(3, 2))
        >>> bool((grad.to_dense() == jax.grad(loss)(jnp.ones((3, 2)))).all())
        True

    Source: what TensorFlow's gradient adds up when a variable is looked up and used densely.
    """

    dense: Any
    slices: IndexedSlices

    def to_dense(self) -> jax.Array:
        """The sum: the gradient that `jax.grad` has."""
        if not isinstance(self.slices, IndexedSlices):
            raise TypeError(
                f"TiedGradient: slices must be IndexedSlices; received {_describe(self.slices)}"
            )
        return self.slices.add_to(self.dense)


def position_dtype(dims: tuple[int, ...], op: str):
    """Of positions among `prod(dims)` rows, that many being the position of none."""
    if math.prod(dims) <= jnp.iinfo(jnp.int32).max:
        return jnp.int32
    if not jax.config.read("jax_enable_x64"):
        raise ValueError(f"{op}: {math.prod(dims)} rows take 64-bit indices; {_arguments.X64_HINT}")
    return jnp.int64


def _counted(indices: jax.Array, num_rows: int) -> jax.Array:
    indices = _bounds.to_signed(indices)
    if position_dtype((num_rows,), "IndexedSlices") == jnp.int64:
        indices = indices.astype(jnp.int64)  # as `num_rows` itself must fit
    valid = (indices >= 0) & (indices < num_rows)
    return jnp.where(valid, indices, jnp.asarray(num_rows, indices.dtype))


@functools.partial(jax.jit, static_argnames="num_rows")
def _first_slots(indices: jax.Array, num_rows: int) -> jax.Array:
    """Where each index first occurs; the number of indices for those that count for nothing."""
    indices = _counted(indices, num_rows)
    first = first_occurrences(indices)
    return jnp.where(indices < num_rows, first, jnp.asarray(first.size, first.dtype))


@functools.partial(jax.jit, static_argnames="num_rows")
def _compact_slots(indices: jax.Array, num_rows: int) -> tuple[jax.Array, jax.Array]:
    """The number of each index among the distinct ones, by first occurrence; how many there are."""
    first = _first_slots(indices, num_rows)
    n = first.size
    is_first = first == lax.iota(first.dtype, n)
    ordinal = jnp.cumsum(is_first, dtype=first.dtype) - 1
    nowhere = jnp.iinfo(first.dtype).max  # beyond every size
    slots = ordinal.at[first].get(mode="fill", fill_value=nowhere)
    return slots, jnp.sum(is_first, dtype=first.dtype)


@functools.partial(jax.jit, static_argnames="size")
def _indices_of_slots(slices: IndexedSlices, slots: jax.Array, size: int) -> jax.Array:
    indices = slices._counted()
    nowhere = jnp.full(size, slices.num_rows, indices.dtype)
    return nowhere.at[slots].min(indices, mode="drop")  # all in a slot are the same


@functools.partial(jax.jit, static_argnames="size")
def _sum_in_slots(slices: IndexedSlices, slots: jax.Array, size: int) -> jax.Array:
    values = jnp.zeros((size, *slices.values.shape[1:]), slices.dtype)
    return values.at[slots].add(slices.values, mode="drop")


@jax.jit
def sum_at_first(slices: IndexedSlices) -> IndexedSlices:
    """`sum_duplicates(size=n)`, but with the rows left where they first occur, which is faster."""
    slots = _first_slots(slices.indices, slices.num_rows)
    positions = lax.iota(slots.dtype, slots.size)
    is_first = slots == positions
    indices = slices._counted()
    indices = jnp.where(is_first, indices, jnp.asarray(slices.num_rows, indices.dtype))
    if slots.size == 0:
        return IndexedSlices(slices.values, indices, slices.dense_shape)

    is_repeated = (slots < slots.size) & ~is_first
    room = -(-slots.size // 8)

    def add_repeated(values):
        # Most rows come once, and stay as they are. The others are few enough to be listed.
        order = jnp.where(is_repeated, jnp.cumsum(is_repeated, dtype=slots.dtype) - 1, slots.size)
        nowhere = jnp.full(room, slots.size, slots.dtype)
        repeated = nowhere.at[order].set(positions, mode="drop")
        first = is_first.reshape((-1,) + (1,) * (values.ndim - 1))
        sums = jnp.where(first, values, jnp.zeros((), values.dtype))
        targets = slots.at[repeated].get(mode="fill", fill_value=slots.size)
        return sums.at[targets].add(values.at[repeated].get(mode="clip"), mode="drop")

    def add_all(values):
        return jnp.zeros_like(values).at[slots].add(values, mode="drop")

    few = jnp.sum(is_repeated, dtype=slots.dtype) <= room
    values = lax.cond(few, add_repeated, add_all, slices.values)
    return IndexedSlices(values, indices, slices.dense_shape)


def _check_scalar(x: Any) -> Any:
    if not isinstance(x, (int, float, complex, np.generic, np.ndarray, jax.Array)):
        raise TypeError(f"IndexedSlices: it can be scaled by a scalar; received {_describe(x)}")
    if jnp.ndim(x) != 0:
        raise ValueError(
            f"IndexedSlices: it can be scaled by a scalar; received {_describe(x)}; to scale rows, "
            "make a new one of its values"
        )
    return x


def _describe(x: object) -> str:
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return f"{x.dtype}[{','.join(map(str, x.shape))}]"  # type: ignore[attr-defined]
    return repr(x)
