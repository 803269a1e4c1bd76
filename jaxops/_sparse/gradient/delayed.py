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
whose rows are gathered, and applies the operations to these rows. A position that reaches a table
must have a coordinate of its first axis; else all rows would be needed, and `can_read` is False.

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

import dataclasses
import math
from collections.abc import Callable, Container, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _jax_internals, _primitives
from jaxops._indexing import explicit_axes, programs
from jaxops._jax_internals import JaxprEqn, Literal
from jaxops._sparse import jaxprs
from jaxops._sparse.gradient.access import Access
from jaxops._sparse.gradient.reads import Reads

# Scalar coordinates, by axis; inside the array. Those of NumPy are known while tracing.
Position = Mapping[int, Any]

# So many arrays at most are read for one position, as each read is traced. An array that is made of
# several rows of itself, again and again, would need thousands.
MAX_READ = 1000

_ZEROS = {np.dtype(dtype): np.zeros((), dtype)[()] for dtype in (np.int32, np.int64)}


# How a result of an equation is read at a position; by primitive in `delayed_rules.py`.
Rule = Callable[["Reading"], jax.Array]


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

    def dense(self, reads: Reads) -> jax.Array:
        """The array itself, by the equations of the program; `reads.memo` has those computed."""
        raise NotImplementedError

    def read(self, at: Position, valid: Any, reads: Reads) -> jax.Array:
        """The array at a position, with the size 1 along each axis of `at`."""
        raise NotImplementedError

    def can_read(self, axes: frozenset[int]) -> bool:
        """Whether coordinates for these axes are enough to read it, as far as is known."""
        return True


class Reading:
    """The reading of one result of an equation at a position, for the rule of its primitive."""

    def __init__(self, node: Node, at: Position, valid: Any, reads: Reads):
        self.eqn, self.number, self.inputs = node.eqn, node.number, node.inputs
        self.at, self.valid = at, valid
        self.shape = node.shape
        self.dtype = jaxprs.type_of(node.eqn.outvars[node.number]).dtype
        self._reads = reads

    def param(self, *names: str) -> Any:
        return _jax_internals.param(self.eqn, *names)

    def shape_of(self, number: int) -> tuple[int, ...]:
        return jaxprs.type_of(self.eqn.invars[number]).shape

    def operand(self, number: int, at: Position, valid: Any = None) -> jax.Array:
        """An operand at a position; `valid` if that may be outside it, beside what `self` says."""
        valid = self.valid if valid is None else both(self.valid, valid)
        return read(self.inputs[number], at, valid, self._reads)

    def bind(self, *operands: jax.Array, **params) -> jax.Array:
        """The result of the same equation for parts of its operands, with some other parameters."""
        alike = _primitives.varying_alike(*operands)
        return _jax_internals.bind_again(self.eqn, alike, **params)[self.number]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of what is read."""
        return sizes_at(self.shape, self.at)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(eq=False)
class Table(Delayed):
    """A table itself, the parameter `number`.

    Rows are read of `array`, a constant for the derivative. `whole` stands for the table where all
    of its rows are used: with `tied` an array to differentiate by, else `array` again.
    """

    number: int = dataclasses.field(metadata={"static": True})
    array: jax.Array
    whole: jax.Array

    def __post_init__(self):
        self.shape = getattr(self.array, "shape", ())

    def map(self, function: Callable[[jax.Array], jax.Array]) -> Table:
        """The table as `function` returns it, which changes its type and no element."""
        array = function(self.array)
        return Table(
            self.number, array, array if self.whole is self.array else function(self.whole)
        )

    def dense(self, reads):
        return reads.all_rows(self)

    def can_read(self, axes):
        return 0 in axes

    def read(self, at, valid, reads):
        axes, rank = sorted(at), len(self.shape)
        numbers = lax.GatherDimensionNumbers(
            offset_dims=tuple(range(rank)), collapsed_slice_dims=(), start_index_map=tuple(axes)
        )
        mode = lax.GatherScatterMode.PROMISE_IN_BOUNDS
        sizes = sizes_at(self.shape, at)
        array = explicit_axes.brought(self.array)
        index = jnp.stack([at[axis] for axis in axes]) + reads.zero
        rows = lax.gather(array, index, numbers, sizes, mode=mode)
        access = Access.of_window(self.shape, sizes, mode)
        starts = [jnp.asarray(at[axis]) if axis in at else None for axis in range(rank)]
        positions = access.row_major(starts)
        if valid is not None:
            positions = jnp.where(valid, positions, math.prod(self.shape[: access.depth]))
        return reads.tapped(self, access, rows, positions.reshape(-1), valid is not None)


@jax.tree_util.register_pytree_node_class
class Node(Delayed):
    """Result `number` of an equation; `inputs` has arrays, delayed or not, for its operands.

    `rule` reads the result at a position.
    """

    def __init__(self, eqn: JaxprEqn, number: int, inputs: list, rule: Rule):
        self.eqn, self.number, self.inputs, self.rule = eqn, number, inputs, rule
        self.shape = jaxprs.type_of(eqn.outvars[number]).shape
        tables = [x for x in inputs if has_table(x)]
        self.has_table = bool(tables)
        self.is_part = self.is_part or (self.has_table and all(map(is_part, tables)))
        self._can_read: dict[frozenset[int], bool] = {}

    def tree_flatten(self):
        # Without literals, which have no type of their own as inputs of a body.
        pairs = zip(self.inputs, self.eqn.invars, strict=True)
        inputs = [None if isinstance(v, Literal) else x for x, v in pairs]
        return (inputs,), _Static(self.eqn, self.number, self.rule)

    @classmethod
    def tree_unflatten(cls, static, children):
        (inputs,) = children
        pairs = zip(inputs, static.eqn.invars, strict=True)
        inputs = [v.val if isinstance(v, Literal) else x for x, v in pairs]
        return cls(static.eqn, static.number, inputs, static.rule)

    def dense(self, reads):
        memo, key = reads.memo, (id(self.eqn), tuple(map(id, self.inputs)))
        if key not in memo:
            inputs = [dense(x, reads) for x in self.inputs]
            memo[key] = programs.bind(self.eqn, inputs), self.eqn, self.inputs
        return memo[key][0][self.number]

    def can_read(self, axes):
        if axes not in self._can_read:
            self._can_read[axes] = _rule_can_read(self, axes)
        return self._can_read[axes]

    def read(self, at, valid, reads):
        # An axis of size 1 can only have the coordinate 0. As a NumPy constant it lets the rule of
        # `stack` skip the operands that it does not choose.
        for axis, dim in enumerate(self.shape):
            if dim == 1 and at:
                at = {**at, axis: _ZEROS[next(iter(at.values())).dtype]}
        x = self.rule(Reading(self, at, valid, reads))
        for axis, coordinate in at.items():  # along which the rule computes more
            if x.shape[axis] > 1:
                x = lax.dynamic_slice_in_dim(x, coordinate, 1, axis)
        return x


class _Static:
    """The part of a node that is no array.

    Two are equal if their equations are: a loss that is called again outside of `jit` is traced
    again, and its equations are other objects with the same contents. The place in the caller's
    code counts too, as errors name it.
    """

    def __init__(self, eqn: JaxprEqn, number: int, rule: Rule):
        self.eqn, self.number, self.rule = eqn, number, rule

    def _contents(self) -> tuple:
        eqn = self.eqn
        operands = [(jaxprs.type_of(v), _bytes_of_literal(v)) for v in eqn.invars]
        results = [jaxprs.type_of(v) for v in eqn.outvars]
        params = _jax_internals.params_of(eqn)
        return eqn.primitive, operands, results, params, _jax_internals.frames_of(eqn)

    def __eq__(self, other):
        if not isinstance(other, _Static) or self.number != other.number:
            return False
        try:
            return self.eqn is other.eqn or bool(self._contents() == other._contents())
        except ValueError:  # a parameter is an array
            return False

    def __hash__(self):
        return hash((self.eqn.primitive, self.number))


def _bytes_of_literal(atom: Any) -> bytes | None:
    """The bytes of a number in a program, as 0.0 equals -0.0, and no NaN equals itself."""
    return np.asarray(atom.val).tobytes() if isinstance(atom, Literal) else None


@jax.tree_util.register_dataclass
@dataclasses.dataclass(eq=False)
class Round(Delayed):
    """The part of a delayed array in a round of a loop: `whole[number]`; `loop` names the loop."""

    whole: Delayed
    number: jax.Array
    loop: object = dataclasses.field(metadata={"static": True})

    def __post_init__(self):
        self.shape = self.whole.shape[1:]

    def dense(self, reads):
        # Each round would look all of its part up, and all rounds together all rows.
        raise UsedWhole(self.loop)

    def can_read(self, axes):
        return can_read(self.whole, frozenset({0, *(axis + 1 for axis in axes)}))

    def read(self, at, valid, reads):
        number = explicit_axes.brought(self.number)
        at = {0: number, **{axis + 1: coordinate for axis, coordinate in at.items()}}
        return jnp.squeeze(read(self.whole, at, valid, reads), 0)


class UsedWhole(Exception):
    """A round of the loop `args[0]` needs more than rows of what the loop goes through."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(eq=False)
class Choice(Delayed):
    """One of several arrays, each delayed or not, by a scalar index."""

    index: jax.Array
    arrays: list

    def __post_init__(self):
        self.shape = self.arrays[0].shape

    def dense(self, reads):
        return lax.select_n(self.index, *(dense(x, reads) for x in self.arrays))

    def can_read(self, axes):
        return all(can_read(x, axes) for x in self.arrays)

    def read(self, at, valid, reads):
        index = explicit_axes.brought(self.index)
        chosen = [both(valid, index == n) for n in range(len(self.arrays))]
        pairs = zip(self.arrays, chosen, strict=True)
        return lax.select_n(index, *(read(x, at, is_chosen, reads) for x, is_chosen in pairs))


def is_delayed(x: object) -> bool:
    return isinstance(x, Delayed)


def has_table(x: object) -> bool:
    return isinstance(x, Delayed) and x.has_table


def is_part(x: object) -> bool:
    return isinstance(x, Delayed) and x.is_part


def dense(x: Any, reads: Reads) -> Any:
    """An array, delayed or not, itself."""
    return x.dense(reads) if isinstance(x, Delayed) else x


def read(x: Any, at: Position, valid: Any, reads: Reads) -> jax.Array:
    """An array, delayed or not, at a position; `valid`: whether that is inside, None if it is."""
    if not is_delayed(x):
        x = explicit_axes.brought(x)
        for axis, coordinate in at.items():
            x = lax.dynamic_slice_in_dim(x, coordinate, 1, axis)
        return x
    if not at and not x.has_table:
        return explicit_axes.brought(x.dense(reads))
    memo = reads.memo
    key = id(x), tuple((axis, id(at[axis])) for axis in sorted(at)), id(valid)
    if len(memo) > MAX_READ:
        raise NotRows
    if key not in memo:
        memo[key] = x.read(at, valid, reads), x, at, valid  # kept, as their identities are the key
    return memo[key][0]


class _Asked(Delayed):
    """An operand that notes which axes a rule has coordinates for."""

    def __init__(self, node: Node, number: int, asked: list):
        self.aval = jaxprs.type_of(node.eqn.invars[number])
        self.shape = self.aval.shape
        self.operand, self.asked = node.inputs[number], asked

    def read(self, at, valid, reads):
        self.asked.append((self.operand, frozenset(at)))
        return zeros_at(self.aval, at)


def can_read(x: Any, axes: frozenset[int]) -> bool:
    """Whether an array, delayed or not, can be read at coordinates for these axes."""
    return not has_table(x) or x.can_read(axes)


def _rule_can_read(x: Node, axes: frozenset[int]) -> bool:
    asked: list[tuple[Any, frozenset[int]]] = []
    inputs = [_Asked(x, n, asked) if has_table(y) else y for n, y in enumerate(x.inputs)]
    node = Node(x.eqn, x.number, inputs, x.rule)
    coordinates = dict.fromkeys(axes, jax.ShapeDtypeStruct((), np.int32))
    try:
        with explicit_axes.auto_around(programs.mesh_of(x.eqn)):
            jax.eval_shape(lambda at: node.read(at, None, Reads(is_tied=False)), coordinates)
    except _jax_internals.UnknownParameter:
        raise
    except Exception:  # NotRows; or JAX's, as a mesh with explicit axes has no type for a part
        return False
    return all(can_read(operand, of_operand) for operand, of_operand in asked)


def look_up(x: Delayed, access: Access, starts: list, fill: Any, reads: Reads) -> jax.Array | None:
    """The value that `access` reads in windows that begin at `starts[axis]`; None if no rows.

    `fill` is the number in place of what is out of bounds where the mode fills.
    """
    shape, sizes, strides = access.shape, access.sizes, access.strides
    chosen = [a for a, dim in enumerate(shape) if sizes[a] < dim or strides[a] > 1 or dim == 1]
    if not can_read(x, frozenset(chosen)):
        return None
    dtype = _coordinate_dtype(shape)
    windows = [sizes[axis] for axis in chosen]
    all_positions = (*access.batch_shape, *windows)
    starts, valid = access.moved_inside(starts)
    at = {}
    for n, axis in enumerate(chosen):
        start = jnp.zeros(access.batch_shape, dtype) if starts[axis] is None else starts[axis]
        start = start.astype(dtype).reshape(*access.batch_shape, *[1] * len(windows))
        offset = lax.broadcasted_iota(dtype, all_positions, len(access.batch_shape) + n)
        at[axis] = (start + offset * np.array(strides[axis], dtype)).reshape(-1)
    if valid is not None:
        valid = valid.reshape(*access.batch_shape, *[1] * len(windows))
        valid = jnp.broadcast_to(valid, all_positions).reshape(-1)

    def row(at: Position, valid: Any, taps: Any) -> tuple[jax.Array, list]:
        own = Reads(reads.is_tied, taps)
        own.zero = 0 * next(iter(at.values()))
        part = read(x, at, valid, own)
        if valid is None:
            return part, own.found
        # What is read outside has no gradient, nor has a scale of rows there.
        fills = access.mode == lax.GatherScatterMode.FILL_OR_DROP
        with jax.debug_nans(False):  # `fill` may be NaN where no index is out of bounds
            outside = jnp.full_like(part, fill) if fills else lax.stop_gradient(part)
            return lax.select_n(valid, outside, part), own.found

    try:
        rows, found = jax.vmap(row)(at, valid, reads.next_taps())
    except (_jax_internals.UnknownParameter, FloatingPointError):  # the latter of `debug_nans`
        raise
    except Exception:  # as in `_rule_can_read`
        return None
    reads.add(found)
    rest = [dim for axis, dim in enumerate(shape) if axis not in chosen]
    rows = rows.reshape(*all_positions, *rest)
    first = len(access.batch_shape)
    places = [first + axis for axis in chosen]
    return access.to_result(jnp.moveaxis(rows, range(first, first + len(chosen)), places))


def _coordinate_dtype(shape: tuple[int, ...]) -> np.dtype:
    """The dtype of coordinates, wide enough for `reshape`, which counts along several axes."""
    is_long = math.prod(shape) > np.iinfo(np.int32).max
    return np.dtype(np.int64 if is_long and jax.config.read("jax_enable_x64") else np.int32)


def is_known(coordinate: Any) -> bool:
    """Whether both walks know a coordinate. The value of a `jax.Array` only an eager one knows."""
    return isinstance(coordinate, np.generic)


def clip(coordinate: Any, last: int) -> Any:
    """A coordinate moved into `[0, last]`."""
    clipped = (np if is_known(coordinate) else jnp).clip(coordinate, 0, last)
    return clipped.astype(coordinate.dtype)


def both(valid: Any, also: Any) -> Any:
    """Whether both; None is true."""
    return also if valid is None else valid & also


def sizes_at(shape: tuple[int, ...], at: Container[int]) -> tuple[int, ...]:
    """The shape of an array at a position."""
    return tuple(1 if axis in at else dim for axis, dim in enumerate(shape))


def zeros_at(aval: Any, at: Container[int]) -> jax.Array:
    """Zeros of the type of a part of an array of type `aval`."""
    x = jnp.zeros(sizes_at(aval.shape, at), aval.dtype)
    return _jax_internals.varying_over(x, _jax_internals.varying_axes(aval))  # under `shard_map`
