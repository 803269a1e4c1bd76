"""Arrays that a program makes of whole tables, not yet computed: rows of them are read first.

A loss may compute with a table before it looks rows up, as in `jnp.tanh(table * scale)[indices]`.
Row `i` of the result depends on row `i` of the table alone, so the lookup can come first:
`jnp.tanh(table[indices] * scale)` has the same value and the same gradients, and makes nothing of
the table's size. Here an array remembers how it is computed:

    table                      Table(array)
    table * scale              Node(mul, [Table(array), Node(broadcast_in_dim, [scale])])
    jnp.tanh(table * scale)    Node(tanh, [Node(mul, ...)])

`look_up` reads it at the positions of a lookup. `read` reads one position of it: a coordinate for
some of its axes. It asks the operands for the positions that they are needed at (a `transpose` for
another axis, a `reshape` for other coordinates, `delayed_rules.py` says which), down to the tables,
whose rows are gathered, and applies the operations to these rows. A coordinate that reaches
a table must be one of its first axis; else all rows would be needed, and `NotRows` is raised.

On a mesh with explicit axes rows are read with types on the same mesh of `AxisType.Auto`, as no
type says how devices share one row.

Reading keeps the rank: an axis with a coordinate has size 1 in what is read, so that axes keep
their numbers and most equations their parameters. `look_up` maps `read` over all positions by
`jax.vmap`.

A position can be outside one of the operands: row 5 of `concatenate([a, b])` is in `a` or in `b`.
Then it is not valid there. Some row is read in its place, whose value is not used, and which gets
no gradient.

Delayed arrays are pytrees of the arrays they are made of, so that they go into and out of the
bodies of `jit`, `checkpoint` and `cond`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn, Literal

from jaxops import _jax_internals, _primitives
from jaxops._indexing import explicit_axes
from jaxops._sparse import jaxprs
from jaxops._sparse.lookups import Access, is_gather

# Scalar coordinates, by axis; inside the array. Those of NumPy are known while tracing.
Position = Mapping[int, Any]

# So many arrays at most are read for one position, as each read is traced. An array that is made of
# several rows of itself, again and again, would need thousands.
MAX_READ = 1000

_ZEROS = {np.dtype(dtype): np.zeros((), dtype)[()] for dtype in (np.int32, np.int64)}


class NotRows(Exception):
    """A delayed array cannot be read at some positions without all rows of a table."""


class Delayed:
    """An array that is not computed yet.

    `has_table`: whether it is made of a table. Without one it is made of numbers that repeat, as
    the `scale` above is for each row.
    """

    shape: tuple[int, ...]
    has_table = True
    is_part = False  # whether, of tables, it is made of some of their rows only

    def dense(self, memo: dict) -> jax.Array:
        """The array itself, computed by the equations of the program. `memo` has those computed."""
        raise NotImplementedError

    def read(self, at: Position, valid: Any, memo: dict) -> jax.Array:
        """The array at a position, with the size 1 along each axis of `at`."""
        raise NotImplementedError

    def can_read(self, axes: frozenset[int]) -> bool:
        """Whether coordinates for these axes are enough to read it, as far as is known."""
        return True


class Reading:
    """The reading of one result of an equation at a position, for the rule of its primitive."""

    def __init__(self, node: Node, at: Position, valid: Any, memo: dict):
        self.eqn, self.number, self.inputs = node.eqn, node.number, node.inputs
        self.at, self.valid = at, valid
        self.shape = node.shape
        self.dtype = jaxprs.type_of(node.eqn.outvars[node.number]).dtype
        self._memo = memo

    def param(self, *names: str) -> Any:
        return _jax_internals.param(self.eqn, *names)

    def shape_of(self, number: int) -> tuple[int, ...]:
        return jaxprs.type_of(self.eqn.invars[number]).shape

    def operand(self, number: int, at: Position, valid: Any = None) -> jax.Array:
        """An operand at a position; `valid` if that may be outside it, beside what `self` says."""
        valid = self.valid if valid is None else both(self.valid, valid)
        return read(self.inputs[number], at, valid, self._memo)

    def bind(self, *operands: jax.Array, **params) -> jax.Array:
        """The result of the same equation for parts of its operands, with some other parameters."""
        alike = _primitives.varying_alike(*operands)
        return _jax_internals.bind_again(self.eqn, alike, **params)[self.number]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of what is read."""
        return sizes_at(self.shape, self.at)


# By the name of a primitive, how a result is read; filled by `delayed_rules.py`.
RULES: dict[str, Callable[[Reading], jax.Array]] = {}


def rule_of(eqn: JaxprEqn) -> Callable[[Reading], jax.Array] | None:
    """How a result of an equation is read; None if it is read by no rule."""
    # A form of `lax.gather` has a name of its own.
    name = "gather" if is_gather(eqn) else eqn.primitive.name
    return RULES.get(name)


@jax.tree_util.register_pytree_node_class
class Table(Delayed):
    """A table itself."""

    def __init__(self, array: jax.Array):
        self.array = array
        self.shape = getattr(array, "shape", ())

    def tree_flatten(self):
        return (self.array,), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)

    def dense(self, memo):
        return self.array

    def can_read(self, axes):
        return 0 in axes

    def read(self, at, valid, memo):
        if 0 not in at:
            raise NotRows
        axes = sorted(at)
        starts = [at[axis] for axis in axes]
        if valid is not None:
            starts = _outside_unless(valid, starts, [self.shape[axis] for axis in axes])
        numbers = lax.GatherDimensionNumbers(
            offset_dims=tuple(range(len(self.shape))),
            collapsed_slice_dims=(),
            start_index_map=tuple(axes),
        )
        mode = lax.GatherScatterMode.PROMISE_IN_BOUNDS
        sizes = sizes_at(self.shape, at)
        array = explicit_axes.brought(self.array)
        return lax.gather(array, jnp.stack(starts), numbers, sizes, mode=mode)


def _outside_unless(valid: jax.Array, starts: list, dims: list[int]) -> list:
    """Coordinates that are outside the table if not valid: what is read there gets no gradient.

    A coordinate at the edge is moved across it, as what is read is then the same still, the one
    that `lax.gather` finds for an index out of bounds.
    """
    moved, is_moved = [], jnp.array(False)
    for start, dim in zip(starts, dims, strict=True):
        low, high = start == 0, start == dim - 1
        across = jnp.where(low, -1, jnp.where(high, dim, start)).astype(start.dtype)
        moved.append(jnp.where(valid, start, across))
        is_moved |= low | high
    moved[0] = jnp.where(valid | is_moved, moved[0], np.array(dims[0], moved[0].dtype))
    return moved


@jax.tree_util.register_pytree_node_class
class Node(Delayed):
    """Result `number` of an equation; `inputs` has arrays, delayed or not, for its operands."""

    def __init__(self, eqn: JaxprEqn, number: int, inputs: list):
        self.eqn, self.number, self.inputs = eqn, number, inputs
        self.shape = jaxprs.type_of(eqn.outvars[number]).shape
        tables = [x for x in inputs if has_table(x)]
        self.has_table = bool(tables)
        self.is_part = self.is_part or (self.has_table and all(map(is_part, tables)))
        self._can_read: dict[frozenset[int], bool] = {}

    def tree_flatten(self):
        # Literals stay: they have no type of their own as inputs of a body.
        is_literal = [isinstance(v, Literal) for v in self.eqn.invars]
        literals = [x if fixed else None for x, fixed in zip(self.inputs, is_literal, strict=True)]
        inputs = [None if fixed else x for x, fixed in zip(self.inputs, is_literal, strict=True)]
        return (inputs,), _Static(self.eqn, self.number, literals)

    @classmethod
    def tree_unflatten(cls, static, children):
        (inputs,) = children
        pairs = zip(inputs, static.literals, static.eqn.invars, strict=True)
        inputs = [fixed if isinstance(v, Literal) else x for x, fixed, v in pairs]
        return cls(static.eqn, static.number, inputs)

    def dense(self, memo):
        key = id(self.eqn), tuple(map(id, self.inputs))
        if key not in memo:
            inputs = [dense(x, memo) for x in self.inputs]
            memo[key] = jaxprs.bind(self.eqn, inputs), self.eqn, self.inputs
        return memo[key][0][self.number]

    def can_read(self, axes):
        if axes not in self._can_read:
            self._can_read[axes] = _rule_can_read(self, axes)
        return self._can_read[axes]

    def read(self, at, valid, memo):
        # Where there is one element its place is known: a part of a `stack` that is not read.
        for axis, dim in enumerate(self.shape):
            if dim == 1 and at:
                at = {**at, axis: _ZEROS[next(iter(at.values())).dtype]}
        rule = rule_of(self.eqn)
        assert rule is not None, "nodes are made of equations that have one"
        x = rule(Reading(self, at, valid, memo))
        for axis, coordinate in at.items():  # along which the rule computes more
            if x.shape[axis] > 1:
                x = lax.dynamic_slice_in_dim(x, coordinate, 1, axis)
        return x


class _Static:
    """What the pytree of a node has beside arrays, compared by the equation's identity."""

    def __init__(self, eqn: JaxprEqn, number: int, literals: list):
        self.eqn, self.number, self.literals = eqn, number, literals

    def __eq__(self, other):
        return isinstance(other, _Static) and self.eqn is other.eqn and self.number == other.number

    def __hash__(self):
        return hash((id(self.eqn), self.number))


@jax.tree_util.register_pytree_node_class
class Round(Delayed):
    """What a round of a loop gets of a delayed array: `whole[number]`. `loop` names the loop."""

    def __init__(self, whole: Delayed, number: jax.Array, loop: object):
        self.whole, self.number, self.loop = whole, number, loop
        self.shape = whole.shape[1:]
        self.has_table = whole.has_table

    def tree_flatten(self):
        return (self.whole, self.number), self.loop

    @classmethod
    def tree_unflatten(cls, loop, children):
        whole, number = children
        return cls(whole, number, loop)

    def dense(self, memo):
        # Each round would look all of its part up, and all rounds together all rows.
        raise UsedWhole(self.loop)

    def can_read(self, axes):
        return can_read(self.whole, frozenset({0, *(axis + 1 for axis in axes)}))

    def read(self, at, valid, memo):
        number = explicit_axes.brought(self.number)
        at = {0: number, **{axis + 1: coordinate for axis, coordinate in at.items()}}
        return jnp.squeeze(read(self.whole, at, valid, memo), 0)


class UsedWhole(Exception):
    """A round of the loop `args[0]` needs more than rows of what the loop goes through."""


@jax.tree_util.register_pytree_node_class
class Choice(Delayed):
    """One of several arrays, each delayed or not, by a scalar index."""

    def __init__(self, index: jax.Array, arrays: list):
        self.index, self.arrays = index, arrays
        self.shape = arrays[0].shape

    def tree_flatten(self):
        return (self.index, self.arrays), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)

    def dense(self, memo):
        return choose(self.index, [dense(x, memo) for x in self.arrays])

    def can_read(self, axes):
        return all(can_read(x, axes) for x in self.arrays)

    def read(self, at, valid, memo):
        index = explicit_axes.brought(self.index)
        chosen = [both(valid, index == n) for n in range(len(self.arrays))]
        pairs = zip(self.arrays, chosen, strict=True)
        return choose(index, [read(x, at, is_chosen, memo) for x, is_chosen in pairs])


def is_delayed(x: object) -> bool:
    return isinstance(x, Delayed)


def has_table(x: object) -> bool:
    return isinstance(x, Delayed) and x.has_table


def is_part(x: object) -> bool:
    return isinstance(x, Delayed) and x.is_part


def dense(x: Any, memo: dict) -> Any:
    """An array, delayed or not, itself."""
    return x.dense(memo) if isinstance(x, Delayed) else x


def read(x: Any, at: Position, valid: Any, memo: dict) -> jax.Array:
    """An array, delayed or not, at a position; `valid`: whether that is inside, None if it is."""
    if not is_delayed(x):
        x = explicit_axes.brought(x)
        for axis, coordinate in at.items():
            x = lax.dynamic_slice_in_dim(x, coordinate, 1, axis)
        return x
    if not at and not x.has_table:
        return explicit_axes.brought(x.dense(memo))
    key = id(x), tuple((axis, id(at[axis])) for axis in sorted(at)), id(valid)
    if len(memo) > MAX_READ:
        raise NotRows
    if key not in memo:
        memo[key] = x.read(at, valid, memo), x, at, valid  # kept, as their identities are the key
    return memo[key][0]


class _Asked(Delayed):
    """An operand that notes which axes a rule has coordinates for."""

    def __init__(self, node: Node, number: int, asked: list):
        self.aval = jaxprs.type_of(node.eqn.invars[number])
        self.shape = self.aval.shape
        self.operand, self.asked = node.inputs[number], asked

    def dense(self, memo):
        raise NotRows

    def can_read(self, axes):
        return can_read(self.operand, axes)

    def read(self, at, valid, memo):
        self.asked.append((self.operand, frozenset(at)))
        return zeros_at(self.aval, at)


def can_read(x: Any, axes: frozenset[int]) -> bool:
    """Whether an array, delayed or not, can be read at coordinates for these axes."""
    return not has_table(x) or x.can_read(axes)


def _rule_can_read(x: Node, axes: frozenset[int]) -> bool:
    asked: list[tuple[Any, frozenset[int]]] = []
    inputs = [_Asked(x, n, asked) if has_table(y) else y for n, y in enumerate(x.inputs)]
    node = Node(x.eqn, x.number, inputs)
    coordinates = dict.fromkeys(axes, jax.ShapeDtypeStruct((), np.int32))
    try:
        with explicit_axes.auto_around(jaxprs.mesh_of(x.eqn)):
            jax.eval_shape(lambda at: node.read(at, None, {}), coordinates)
    except _jax_internals.UnknownParameter:
        raise
    except Exception:  # NotRows; or JAX's, as a mesh with explicit axes has no type for a part
        return False
    return all(can_read(operand, of_operand) for operand, of_operand in asked)


def look_up(x: Delayed, access: Access, starts: list, fill: Any) -> jax.Array | None:
    """What `access` reads of `x` in windows that begin at `starts[axis]`; None if not rows.

    `fill` is the number in place of what is out of bounds where the mode fills.
    """
    shape, sizes, strides = access.shape, access.sizes, access.strides
    chosen = [a for a, dim in enumerate(shape) if sizes[a] < dim or strides[a] > 1 or dim == 1]
    if not can_read(x, frozenset(chosen)):
        return None
    dtype = _coordinate_dtype(shape)
    windows = [sizes[axis] for axis in chosen]
    all_positions = (*access.batch_shape, *windows)
    at, valid = {}, None
    for axis, dim in enumerate(shape):
        last = dim - (sizes[axis] - 1) * strides[axis] - 1
        start = jnp.asarray(starts[axis])
        inside = jnp.clip(start, 0, last)
        if access.mode != lax.GatherScatterMode.CLIP:
            valid = both(valid, start == inside)
        if axis in chosen:
            start = inside.astype(dtype).reshape(*inside.shape, *[1] * len(windows))
            dimension = len(access.batch_shape) + chosen.index(axis)
            offset = lax.broadcasted_iota(dtype, all_positions, dimension)
            at[axis] = (start + offset * np.array(strides[axis], dtype)).reshape(-1)
    if valid is not None:
        valid = valid.reshape(*access.batch_shape, *[1] * len(windows))
        valid = jnp.broadcast_to(valid, all_positions).reshape(-1)

    def row(at: Position, valid: Any) -> jax.Array:
        part = read(x, at, valid, {})
        if valid is None:
            return part
        # What is read outside has no gradient, nor has a scale of rows there.
        fills = access.mode == lax.GatherScatterMode.FILL_OR_DROP
        outside = jnp.full_like(part, fill) if fills else lax.stop_gradient(part)
        return lax.select_n(valid, outside, part)

    try:
        rows = jax.vmap(row)(at, valid)
    except _jax_internals.UnknownParameter:
        raise
    except Exception:  # as in `_rule_can_read`
        return None
    rest = [axis for axis in range(len(shape)) if axis not in chosen]
    rows = rows.reshape(*all_positions, *(shape[axis] for axis in rest))
    order = [*chosen, *rest]
    batch = range(len(access.batch_shape))
    return access.to_result(
        rows.transpose(*batch, *(len(batch) + order.index(axis) for axis in range(len(shape))))
    )


def _coordinate_dtype(shape: tuple[int, ...]) -> np.dtype:
    """By the number of elements, as `reshape` counts along several axes."""
    is_long = math.prod(shape) > np.iinfo(np.int32).max
    return np.dtype(np.int64 if is_long and jax.config.read("jax_enable_x64") else np.int32)


def is_known(coordinate: Any) -> bool:
    """Whether a coordinate is known while tracing."""
    return isinstance(coordinate, np.generic)


def clip(coordinate: Any, last: int) -> Any:
    """A coordinate moved into `[0, last]`."""
    clipped = (np if is_known(coordinate) else jnp).clip(coordinate, 0, last)
    return clipped.astype(coordinate.dtype)


def both(valid: Any, also: Any) -> Any:
    """Whether both; None is true."""
    return also if valid is None else valid & also


def choose(index: jax.Array, arrays: list[jax.Array]) -> jax.Array:
    """`arrays[index]`, of arrays that are equally shaped."""
    if len(arrays) == 1:
        return arrays[0]
    if len(arrays) == 2:
        index = index.astype(bool)
    return lax.select_n(index, *arrays)


def sizes_at(shape: tuple[int, ...], at: Container[int]) -> tuple[int, ...]:
    """The shape of an array at a position."""
    return tuple(1 if axis in at else dim for axis, dim in enumerate(shape))


def zeros_at(aval: Any, at: Container[int]) -> jax.Array:
    """Zeros of the type of a part of an array of type `aval`."""
    x = jnp.zeros(sizes_at(aval.shape, at), aval.dtype)
    return _jax_internals.varying_over(x, _jax_internals.varying_axes(aval))  # under `shard_map`
