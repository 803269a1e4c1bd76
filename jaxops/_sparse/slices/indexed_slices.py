"""IndexedSlices: a sparse gradient, as some rows and their places in the dense one.

Of a dense_shape (4, 2):

    indices    values    the dense array
    2          1 2       0   3 4
    0          3 4       1   0 0
    2          5 6       2   6 8     both values of row 2
    4          7 8       3   0 0     there is no row 4, so 7 8 count for nothing

A lookup `table[i, j]` reads parts of rows. The indices then count along two axes, row by row, which
is a `depth` of 2: of the same array index 5 is the element [2, 1], and a value is one number.

Only `to_dense` takes time or memory that grows with the table. Gradients are added by joining their
rows; `sum_duplicates`, norms and optimizers sum the rows that repeat (`repeated_rows.py`).

The indices have two forms, each of which is made of the other on demand: the integers that code
here computes with, and the leaf that JAX and users see in the pytree, which takes part in no
arithmetic (`row_numbers.py`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.export import is_symbolic_dim, register_pytree_node_serialization
from jax.sharding import PartitionSpec as P

from jaxops import _jax_internals
from jaxops._devices import exchange
from jaxops._devices.exchange import RowSharding
from jaxops._frames import without_frames
from jaxops._indexing import canonical, explicit_axes, index_dtypes, narrow_sums, result_size
from jaxops._indexing.dimension_numbers import Windows, index_vectors, scatter_windows
from jaxops._indexing.policy import Mode
from jaxops._indexing.positions import read_rows
from jaxops._indexing.specs import IndexSpec
from jaxops._run import arguments, on_host
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.static_values import check_addressable, static_ints
from jaxops._sparse.slices import repeated_rows, row_numbers
from jaxops._sparse.slices.not_arrays import INSTEAD, NotAnArray

_DROP = lax.GatherScatterMode.FILL_OR_DROP


class _UNKNOWN:
    """In place of that form of the indices that was not made yet; a class, as `pickle` keeps it."""


@without_frames
@jax.tree_util.register_pytree_with_keys_class
class IndexedSlices(NotAnArray):
    """Some rows of an array that is 0 elsewhere: the gradient of table lookups.

    Stands for zeros of shape `dense_shape` with every `values[i]` added at row `indices[i]`. A row
    may come several times. An index outside of the rows counts for nothing. Values of one row are
    added in their dtype; floats of less than 32 bits in float32, and their sum is rounded once.

    Follows `tf.IndexedSlices`. Differs from it in: `dense_shape` is static and always there; rows
    may be counted along several leading axes, in row-major order.

    A pytree, so it passes through `jit`, `vmap` and `scan`. Of its two leaves the one with the
    indices takes part in no arithmetic. Computing with all leaves of a gradient is a TypeError:

    - for `jax.tree.map(jnp.add, a, b)` and for `jax.tree.map(lambda g: 0.5 * g, grads)` map with
      `is_leaf=lambda x: isinstance(x, jaxops.IndexedSlices)`, and `operator.add` for `jnp.add`;
    - for `lax.psum` and `lax.pmean` there are `jaxops.psum` and `jaxops.pmean`;
    - for `optax.global_norm` and clipping by it, `jaxops.global_norm` and `clip_by_global_norm`;
    - for an accumulator that a `scan` carries, stack the gradients and `jaxops.sum_stacked` them,
      or carry `(total + slices).sum_duplicates(size)`.

    Args:
        values: array of shape `[n, *dense_shape[k:]]`, of a numeric dtype. Traced.
        indices: integer array of shape `[n]`: positions along the first `k` axes, row-major where
            `k` is not 1. They become int32, or int64 where they are that or wider. Traced.
        dense_shape: static ints, the shape of the dense array.

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

    __slots__ = ("_indices", "_leaf", "_sharding", "dense_shape", "values")

    values: jax.Array  # anything while JAX maps over the leaves
    dense_shape: tuple[int, ...]
    _indices: Any  # integers, and the same as a leaf
    _leaf: Any
    _sharding: RowSharding | None  # how devices share the table, if rows were looked up by that

    def __init__(self, values: ArrayLike, indices: ArrayLike, dense_shape: Sequence[int]):
        op = "IndexedSlices"
        values = arguments.to_operand(values, op, "values")
        _check_can_be_added(values)
        indices = index_dtypes.to_signed(arguments.to_indices(indices, op, "indices", None))
        shape = static_ints(dense_shape, op, "dense_shape")
        if any(dim < 0 for dim in shape):
            raise ValueError(f"{op}: dense_shape must not be negative; received {shape}")
        check_addressable(shape, values.dtype, shape, op, "dense_shape")
        if indices.ndim != 1:
            raise ValueError(f"{op}: indices must have rank 1; received shape {indices.shape}")
        depth = len(shape) - values.ndim + 1
        if depth < 1 or values.shape != (*indices.shape, *shape[depth:]):
            raise ValueError(
                f"{op}: values must have one row for each of {indices.size} indices, of a shape "
                f"that dense_shape {shape} ends in; received shape {values.shape}"
            )
        check_addressable(values.shape, values.dtype, values.shape, op, "values")
        self._set(values, indices, _UNKNOWN, shape, None)

    def _set(self, values: Any, indices: Any, leaf: Any, dense_shape: Any, sharding: Any) -> None:
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "_indices", indices)
        object.__setattr__(self, "_leaf", leaf)
        object.__setattr__(self, "dense_shape", dense_shape)
        object.__setattr__(self, "_sharding", sharding)

    @classmethod
    def _of(
        cls, values: Any, indices: Any, leaf: Any, dense_shape: Any, sharding: Any
    ) -> IndexedSlices:
        self = object.__new__(cls)  # unchecked
        self._set(values, indices, leaf, dense_shape, sharding)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"IndexedSlices: {name} cannot be set; make a new object instead")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"IndexedSlices: {name} cannot be deleted")

    @property
    def indices(self) -> jax.Array:
        """The indices as an int32 or int64 array; while JAX maps over the leaves, anything."""
        if self._indices is not _UNKNOWN:
            return self._indices
        if not row_numbers.is_leaf(self._leaf):
            return self._leaf
        return self._keep("_indices", row_numbers.to_indices(self._leaf))

    def _keep(self, name: str, array: Any) -> Any:
        if not isinstance(array, Tracer):  # its trace may end before the life of this object
            object.__setattr__(self, name, array)
        return array

    def tree_flatten_with_keys(self):
        leaf = self._leaf
        if leaf is _UNKNOWN:
            leaf = self._keep("_leaf", row_numbers.to_leaf(self._indices))
        key = jax.tree_util.GetAttrKey
        static = (self.dense_shape, self._sharding)
        return ((key("values"), self.values), (key("indices"), leaf)), static

    @classmethod
    def tree_unflatten(cls, static, children) -> IndexedSlices:
        values, leaf = children  # unchecked: leaves need not be arrays
        return cls._of(values, _UNKNOWN, leaf, *static)

    def __reduce__(self):
        # For `copy` and `pickle`, which would set the attributes otherwise. The integers can be
        # stored, their leaf cannot; nor can the devices of a mesh, without which the gradient is
        # the same.
        sharding = self._sharding if self._sharding and self._sharding.mesh is None else None
        if self._is_mapped or not isinstance(self.indices, jax.Array):
            forms = _UNKNOWN, self._leaf
        else:
            forms = self.indices, _UNKNOWN
        return IndexedSlices._of, (self.values, *forms, self.dense_shape, sharding)

    def __repr__(self) -> str:
        known = self._indices is not _UNKNOWN
        indices = self._indices if known else row_numbers.type_of_indices(self._leaf)
        return (
            f"IndexedSlices(values={_describe(self.values)}, indices={_describe(indices)}, "
            f"dense_shape={self.dense_shape})"
        )

    @property
    def _is_mapped(self) -> bool:
        """Whether JAX or a user mapped over the leaves, and left something else for the indices."""
        return self._indices is _UNKNOWN and not row_numbers.is_leaf(self._leaf)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the dense array."""
        return self.dense_shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the values."""
        return self.values.dtype

    @property
    def depth(self) -> int:
        """Along how many leading axes the indices count: 1, or more for parts of rows."""
        if self._is_mapped:
            raise TypeError(
                "IndexedSlices: indices must be its own; received "
                f"{_describe(self._leaf)}, which a function that was mapped over the leaves "
                f"returned; {row_numbers.INSTEAD}"
            )
        if jnp.ndim(self._leaf if self._indices is _UNKNOWN else self._indices) != 1:
            raise ValueError(
                f"IndexedSlices: expected indices of rank 1; received {self}, which looks batched: "
                "call this under jax.vmap"
            )
        return len(self.dense_shape) - self._numbers.ndim + 1

    @property
    def _numbers(self) -> jax.Array:
        """The values; refused if they are bools."""
        _check_can_be_added(self.values)
        return self.values

    @property
    def num_rows(self) -> int:
        """The number of rows of the dense array."""
        return math.prod(self.dense_shape[: self.depth])

    @property
    def sharding(self) -> RowSharding | None:
        """The table's sharding, where rows were looked up by `sharded_gather`; else None.

        Under `shard_map` it describes the program of one device, else that of all devices.
        """
        return exchange.here(self._sharding)

    @property
    def shape_here(self) -> tuple[int, ...]:
        """The shape of the table in the program around: under `shard_map` that of a shard."""
        if (sharding := self.sharding) is None or sharding.mesh is not None:
            return self.dense_shape
        return (self.dense_shape[0] // sharding.num_shards, *self.dense_shape[1:])

    def to_dense(self) -> jax.Array:
        """The dense array: shape `dense_shape`, dtype of `values`."""
        names = self._sharding.axis_names if self._sharding else ()
        spec = explicit_axes.rows_spec(self.values, self.dense_shape[: self.depth], names)
        return self._shared(lambda s: s._add_to_whole(jnp.zeros(s.dense_shape, s.dtype)), spec)

    def add_to(self, dense: jax.Array) -> jax.Array:
        """`dense`, of shape `dense_shape`, with the values added at their rows.

        Of a table that devices share, and that was looked up by `sharded_gather`: sent to the
        owners of the rows. Under `shard_map` `dense` is then a shard, to which all devices add.
        """
        if not isinstance(dense, (jax.Array, np.ndarray)):
            raise TypeError(f"IndexedSlices: dense must be an array; received {_describe(dense)}")
        if dense.shape != (shape := self.shape_here):
            raise ValueError(
                f"IndexedSlices: dense must have shape {shape}; received {dense.shape}"
            )
        if dense.dtype != self.dtype:
            raise TypeError(
                f"IndexedSlices: dense must have dtype {self.dtype}; received {dense.dtype}"
            )
        spec = explicit_axes.specs_of(dense)
        return self._shared(IndexedSlices._added_to, spec, jnp.asarray(dense))

    def _added_to(self, dense: jax.Array) -> jax.Array:
        if self.sharding is None:
            return self._add_to_whole(dense)
        numbers = repeated_rows.counted(self.indices, self.num_rows)
        return exchange.scatter_add(dense, self.values, numbers, self.sharding)

    def _add_to_whole(self, dense: jax.Array) -> jax.Array:
        if self.values.size == 0:
            return dense
        if narrow_sums.is_narrow(self.dtype):
            numbers = repeated_rows.counted(self.indices, self.num_rows)
            return narrow_sums.add_rows(dense, self.values, numbers, self.depth)
        vectors, windows = places(self)
        spec = IndexSpec("IndexedSlices", limits=self.dense_shape[: self.depth])
        return canonical.scatter("add", dense, vectors, self.values, windows, spec, mode="fill")

    def sum_duplicates(self, size: Int | None = None, *, mode: Mode = "device") -> IndexedSlices:
        """The gradient with every row once, in the order of first occurrence.

        `size`, a static int, is the number of rows in the result; it must be given if the indices
        are traced. In a program that is exported it may be their number, if that is symbolic.
        Places without a row have the index `num_rows` and values of 0. More than `size` distinct
        rows are an error on the CPU; elsewhere, and with `mode="fill"`, the rows beyond are lost.
        `mode` is as in `unique`.
        """
        op = "IndexedSlices.sum_duplicates"
        mode = result_size.mode_of_size(op, mode, size)
        if size is None and isinstance(self.indices, Tracer):
            raise TypeError(
                f"{op}: size must be given where indices are traced, as the shape of the result "
                "depends on them; received size=None. The number of indices, "
                f"{self.indices.size}, is always enough"
            )
        dim: Any = size  # that of an array, in a program that is exported, may be symbolic
        if dim is not None and not is_symbolic_dim(dim):
            dim = on_host.check_size(dim, op)
        specs = explicit_axes.rows_spec(self.values, [1]), P()
        function = functools.partial(IndexedSlices._distinct, size=dim, mode=mode)
        return self._with_parts(*self._shared(function, specs))

    def _distinct(self, *, size: Any, mode: str) -> tuple[jax.Array, jax.Array]:
        indices, num_rows = self.indices, self.num_rows
        slots, distinct = repeated_rows.compact_slots(indices, num_rows)
        if size is None:
            size = int(distinct)
        elif size != indices.size:  # which is always enough, and may be symbolic
            spec = result_size.num_elements("sum_duplicates", size, "distinct rows", 'mode="fill"')
            slots += result_size.hold(spec, distinct, indices.size, mode) - distinct
        values = repeated_rows.sum_in_slots(self.values, slots, size)
        indices = repeated_rows.indices_of_slots(indices, num_rows, slots, size)
        return values, indices

    def __add__(self, other: object) -> IndexedSlices:
        if not isinstance(other, IndexedSlices):
            raise TypeError(
                "IndexedSlices: only IndexedSlices can be added to it; received "
                f"{_describe(other)}; for an array write slices.add_to(array), and for a step of "
                "an optimizer jaxops.lazy(optimizer)"
            )
        return concatenate([self, other])

    def __neg__(self) -> IndexedSlices:
        return self._with_values(-self._numbers)

    def __mul__(self, scalar: Any) -> IndexedSlices:
        return self._with_values(self._numbers * _check_scalar(scalar))

    def __truediv__(self, scalar: Any) -> IndexedSlices:
        return self._with_values(self._numbers / _check_scalar(scalar))

    # On a mesh of explicit axes JAX wants to know how each result is shared, and cannot tell for
    # the searches and scatters here. So a method there is `_shared` of a function that is left to
    # the partitioner, and says how the devices share what it returns.
    def _shared(self, function: Callable, specs: Any, *arrays: jax.Array) -> Any:
        """`function(self, *arrays)`, on explicit axes with results that are shared by `specs`."""
        mesh = explicit_axes.mesh_of(self.values, *arrays)
        return explicit_axes.shared(function, mesh, specs, self, *arrays)

    def _with_values(self, values: jax.Array) -> IndexedSlices:
        return self._of(values, self._indices, self._leaf, self.dense_shape, self._sharding)

    def _shared_by(self, sharding: RowSharding | None) -> IndexedSlices:
        return self._of(self.values, self._indices, self._leaf, self.dense_shape, sharding)

    def _with_parts(self, values: jax.Array, indices: jax.Array) -> IndexedSlices:
        return self._of(values, indices, _UNKNOWN, self.dense_shape, self._sharding)


def _refuse_to_store(_: Any) -> NoReturn:
    raise TypeError(
        "IndexedSlices: jax.export cannot store a program that takes or returns them; let it take "
        "and return values and indices, and make IndexedSlices of these"
    )


register_pytree_node_serialization(
    IndexedSlices,
    serialized_name="jaxops.IndexedSlices",
    serialize_auxdata=_refuse_to_store,
    deserialize_auxdata=_refuse_to_store,
)


def sum_all_at_first(slices: Sequence[IndexedSlices]) -> list[IndexedSlices]:
    """`sum_duplicates(size=n)` of each, but with the rows left where they first occur.

    That is faster, and several tables together take fewer programs.
    """
    if not slices:
        return []
    sums = repeated_rows.sum_at_first(
        tuple(s.values for s in slices),
        tuple(s.indices for s in slices),
        tuple(s.num_rows for s in slices),
    )
    return [s._with_parts(*each) for each, s in zip(sums, slices, strict=True)]


def _split_rows(slices: IndexedSlices, depth: int) -> IndexedSlices:
    """The gradient with indices that count along the first `depth` axes, more than before."""
    shape = slices.dense_shape
    dtype = index_dtypes.position_dtype(shape[:depth], "IndexedSlices")
    count = math.prod(shape[slices.depth : depth])
    rows = repeated_rows.counted(slices.indices, slices.num_rows).astype(dtype)[:, None]
    indices = rows * count + lax.iota(dtype, count)[None]
    indices = jnp.where(rows < slices.num_rows, indices, math.prod(shape[:depth]))
    return IndexedSlices(slices.values.reshape(-1, *shape[depth:]), indices.reshape(-1), shape)


def places(slices: IndexedSlices) -> tuple[jax.Array, Windows]:
    """Index vectors of the rows in the dense array, and the windows that they select.

    Parts of rows get vectors too, as a reshape would keep the array from being updated in place.
    """
    windows = Windows(axes=tuple(range(slices.depth)), batch_dims=0)
    if slices.depth == 1:
        return slices.indices[:, None], windows
    dims = slices.dense_shape[: slices.depth]
    numbers = repeated_rows.counted(slices.indices, slices.num_rows)
    numbers = numbers.astype(index_dtypes.position_dtype(dims, "IndexedSlices"))
    return index_vectors(numbers, dims), windows


def gather_rows(x: jax.Array, slices: IndexedSlices, *, any_beyond: bool = False) -> jax.Array:
    """The rows of a table or its state at the indices; 0 where an index counts for nothing.

    Rows of a state may have another shape than the table's. `any_beyond`: any row will do there.
    """
    if (sharding := slices.sharding) is not None:
        numbers = repeated_rows.counted(slices.indices, slices.num_rows)
        return exchange.gather(jnp.asarray(x), numbers, sharding)
    shape = (slices.num_rows, *np.shape(x)[slices.depth :])
    rows = read_rows(jnp.asarray(x).reshape(shape), slices.indices, any_beyond=any_beyond)
    # In place of no rows JAX makes zeros, which count as the same on all devices.
    return _jax_internals.varying_over(rows, _jax_internals.varying_axes(slices.indices))


def put_rows(x: jax.Array, new: jax.Array, slices: IndexedSlices) -> jax.Array:
    """`x` with the rows at the indices replaced."""
    x = jnp.asarray(x)
    vectors, windows = places(slices)
    return scatter_windows("update", x, vectors, new.astype(x.dtype), windows, _DROP)


def concatenate(slices: Sequence[IndexedSlices]) -> IndexedSlices:
    """The sum of several IndexedSlices of one dense shape, as one with the rows of all."""
    sharding = _common_sharding([s.sharding for s in slices])
    if sharding is not None and sharding.mesh is None:
        slices = [s if s.sharding else _of_whole_table(s, sharding) for s in slices]
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
    widest = max((s.indices.dtype for s in slices), key=lambda dtype: dtype.itemsize)
    sharding = sharding if depth == 1 else None
    values = _concatenated([s.values for s in slices], sharding)
    indices = _concatenated([s.indices.astype(widest) for s in slices], sharding)
    return IndexedSlices._of(values, indices, _UNKNOWN, slices[0].dense_shape, sharding)


def _concatenated(rows: list[jax.Array], sharding: RowSharding | None) -> jax.Array:
    names = sharding.axis_names if sharding else ()
    spec = explicit_axes.rows_spec(rows[0], [sum(x.shape[0] for x in rows)], names)
    return explicit_axes.shared(jnp.concatenate, explicit_axes.mesh_of(*rows), spec, rows)


def _common_sharding(shardings: Sequence[RowSharding | None]) -> RowSharding | None:
    """The sharding of a sum: its buckets have room for the rows of all addends."""
    known = [sharding for sharding in shardings if sharding is not None]
    if len({(sharding.axis_names, sharding.mesh) for sharding in known}) != 1:
        return None
    capacities = [sharding.capacity or 0 for sharding in known]
    return known[0]._replace(capacity=sum(capacities) if all(capacities) else None)


def _of_whole_table(slices: IndexedSlices, sharding: RowSharding) -> IndexedSlices:
    """Under `shard_map`: rows that a device looked up in its shard, numbered as in the table."""
    num_rows = slices.num_rows
    shape = (sharding.num_shards * slices.dense_shape[0], *slices.dense_shape[1:])
    if slices.depth > 1 or math.prod(shape[:1]) > jnp.iinfo(slices.indices.dtype).max:
        return slices  # the caller, `concatenate`, refuses the sum, as the dense shapes differ
    first = lax.axis_index(sharding.axis_names) * num_rows
    indices = repeated_rows.counted(slices.indices, num_rows)
    indices = jnp.where(indices < num_rows, indices + first.astype(indices.dtype), shape[0])
    return IndexedSlices._of(slices.values, indices, _UNKNOWN, shape, sharding)


class _Parts(NamedTuple):
    dense: jax.Array
    slices: IndexedSlices


@without_frames
class TiedGradient(NotAnArray, _Parts):
    """The gradient of a table that is used in another way beside lookups: a sum of two parts.

    Args:
        dense: array of the table's shape, from the other uses.
        slices: `IndexedSlices`, from the lookups.

    Returns:
        A named tuple of the parts. Sums and differences of two `TiedGradient`, and products and
        quotients with scalars, are `TiedGradient` again.

    Raises:
        TypeError: `to_dense`, where the dtypes of the parts differ; sums with anything else.
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

    Source: TensorFlow adds up both parts where a variable is looked up and used densely.
    """

    __slots__ = ()
    if not TYPE_CHECKING:  # `NotAnArray` has one that refuses; type checkers see the tuple's only
        __getitem__ = tuple.__getitem__

    def __add__(self, other: object) -> TiedGradient:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not isinstance(other, TiedGradient):
            raise TypeError(
                f"TiedGradient: only another can be added to it; received {_describe(other)}; "
                "for an array write tied.to_dense() + array, and for a step of an optimizer "
                "jaxops.lazy(optimizer)"
            )
        return TiedGradient(self.dense + other.dense, self.slices + other.slices)

    def __neg__(self) -> TiedGradient:
        return TiedGradient(-self.dense, -self.slices)

    def __mul__(self, scalar: Any) -> TiedGradient:  # pyright: ignore[reportIncompatibleMethodOverride]
        return TiedGradient(self.dense * _check_scalar(scalar), self.slices * scalar)

    def __truediv__(self, scalar: Any) -> TiedGradient:
        return TiedGradient(self.dense / _check_scalar(scalar), self.slices / scalar)

    def to_dense(self) -> jax.Array:
        """The sum: the gradient that `jax.grad` has."""
        if not isinstance(self.slices, IndexedSlices):
            raise TypeError(
                f"TiedGradient: slices must be IndexedSlices; received {_describe(self.slices)}"
            )
        return self.slices.add_to(self.dense)


def is_sparse(x: object) -> bool:
    return isinstance(x, (IndexedSlices, TiedGradient))


def _check_scalar(x: Any) -> Any:
    if not isinstance(x, (int, float, complex, np.generic, np.ndarray, jax.Array)):
        raise TypeError(f"IndexedSlices: it can be scaled by a scalar; received {_describe(x)}")
    if jnp.ndim(x) != 0:
        raise ValueError(
            f"IndexedSlices: it can be scaled by a scalar; received {_describe(x)}; to scale rows, "
            f"make a new one of its values; {INSTEAD}"
        )
    return x


def _check_can_be_added(values: Any) -> None:
    if values.dtype == bool:
        raise TypeError(
            "IndexedSlices: values must be numbers, as values of one row are added; received "
            f"{_describe(values)}; to count the true ones of a row write values.astype(int)"
        )


def _describe(x: object) -> str:
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return f"{x.dtype}[{','.join(map(str, x.shape))}]"  # type: ignore[attr-defined]
    return arguments.brief(x)
