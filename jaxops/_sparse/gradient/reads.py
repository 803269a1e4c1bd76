"""Reads of tables by a loss, and the taps by which the loss is differentiated.

`walk.py` evaluates the traced loss with a `Table` in place of each table. Where the loss reads
rows, the rows are `tapped`: the result is the rows as they are, but the derivative of the loss by
the `tap`, an array of zeros beside them, is the cotangent of these rows. For

    loss = lambda table: jnp.sum(table[jnp.array([2, 0])] ** 2)

and a table of shape [4, 3], the walk evaluates `jnp.sum(tapped(table[indices], tap) ** 2)` with a
`tap` of shape [2, 3]. Its cotangent is twice the rows, so the gradient of the table is
`IndexedSlices(values=2 * rows, indices=[2, 0], dense_shape=(4, 3))`. JAX differentiates by the tap
as by any other argument, through loops, branches and checkpoints. The table itself is a constant.

The loss must tell first how many taps there are, and their shapes. So it is walked twice:

1. Only traced, without taps. `Reads.found` is the list of lookups: here
   `[Lookup(positions=[2, 0], table=0, ...)]`. The lookups in the body of a `jit`, `checkpoint`,
   `scan` or `cond` are one item of the list, a list itself.
2. With a tap for each lookup, in lists that are nested likewise, and differentiated. `found` is
   then an auxiliary result, with the positions.

The body of a `scan` runs many times: `found` comes out of the loop stacked, and each round gets its
part of the taps. Where round `i` looks up `table[words[i]]`, with `words` of shape [3, 2], the
positions have the shape [3, 2] and the tap has the shape [3, 2, 3]. Of a `cond`, each branch gets
the taps of its own lookups, and returns positions past the end of the table for those of the other
branches, which read nothing.

A loss may also take all rows of a table, as `jnp.max(table)` does. With `tied=True` the table is
then an argument to differentiate by as well (`Table.whole`). Without, that is an error if the loss
depends on it differentiably. To find that out, each such use has a tap, a scalar that `_spread`
adds to the tangent of every element: if the derivative of the loss uses the tap, it uses the whole
table.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_derivatives import SymbolicZero

from jaxops import _jax_internals
from jaxops._devices.exchange import RowSharding
from jaxops._indexing import explicit_axes, programs
from jaxops._jax_internals import JaxprEqn
from jaxops._sparse import jaxprs
from jaxops._sparse.gradient.access import Access, starts_of
from jaxops._sparse.slices.indexed_slices import IndexedSlices


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=["positions"],
    meta_fields=["table", "table_shape", "depth", "masked", "sharding", "use"],
)
@dataclasses.dataclass(frozen=True)
class Lookup:
    """One lookup, or the lookups of all rounds of a loop, stacked: rows `positions[..., n]`.

    `table` is the number of the table. `masked`: cotangents other than 0 may arrive at positions
    outside the table, and are to be replaced by 0. `sharding`: how devices share the table, if the
    lookup is one of `sharded_gather`; `table_shape` is then that of the whole table.

    `use` is None for a lookup. For another use of all rows it is the `whole_uses.Use` that an error
    describes. Then `positions` is a scalar that is never read, and `depth` is the rank of the
    table, which makes the tap a scalar.
    """

    positions: Any
    table: int
    table_shape: tuple[int, ...]
    depth: int
    masked: bool
    sharding: RowSharding | None = None
    use: Any = None

    @property
    def rows(self) -> int:
        return math.prod(self.table_shape[: self.depth])

    def nowhere(self) -> Lookup:
        """A lookup of the same type that reads nothing."""
        aval = self.positions
        positions = self._shared(jnp.full(aval.shape, self.rows, aval.dtype))
        positions = _jax_internals.varying_over(positions, _jax_internals.varying_axes(aval))
        return dataclasses.replace(self, positions=positions)

    def brought(self) -> Lookup:
        """The lookup with positions of a type on the mesh around."""
        return dataclasses.replace(self, positions=self._shared(self.positions))

    def _shared(self, positions: jax.Array) -> jax.Array:
        """The positions: sharded for a `sharded_gather` on explicit axes, else replicated.

        Every device must know the others, as it updates its own copy or shard of the table.
        """
        names = self.sharding.axis_names if self.sharding else ()
        return explicit_axes.brought(
            positions, explicit_axes.positions_spec(positions.shape, names)
        )

    def tap(self, leaves: Sequence[jax.Array]) -> jax.Array:
        """Zeros of the type of the rows that are read; `leaves` are the parameters."""
        table = jax.typeof(leaves[self.table])
        shape = (*self.positions.shape, *self.table_shape[self.depth :])
        zeros = jnp.zeros(shape, table.dtype)
        if table.sharding.mesh.explicit_axes:
            of_positions = self.positions.sharding.spec
            spec = jax.sharding.PartitionSpec(*of_positions, *table.sharding.spec[self.depth :])
            zeros = explicit_axes.brought(zeros, spec)
        # Under `shard_map` positions vary as rows do; the table may be the same on all devices.
        return _jax_internals.varying_over(zeros, _jax_internals.varying_axes(self.positions))

    def slices(self, values: jax.Array, zero: jax.Array | None) -> IndexedSlices:
        """The gradient of the table, from the cotangents of the rows that are read.

        `zero` is a 0 to add to the positions, or None.
        """
        rank = self.positions.ndim
        positions = explicit_axes.joined(self.positions, rank)
        values = explicit_axes.joined(values, rank)
        if self.masked:
            counts = (positions < self.rows).reshape((-1,) + (1,) * (values.ndim - 1))
            values = jnp.where(counts, values, jnp.zeros((), values.dtype))
        if zero is not None:
            positions = positions + zero.astype(positions.dtype)
        return IndexedSlices(values, positions, self.table_shape)._shared_by(self.sharding)


def is_lookup(x: object) -> bool:
    return isinstance(x, Lookup)


def map_lookups(function: Callable[[Lookup], Any], found: Any) -> Any:
    """`found` with `function(lookup)` in place of each lookup."""
    return jax.tree.map(function, found, is_leaf=is_lookup)


class Reads:
    """The reads of tables by one program, in the order of its equations.

    The body of an equation has reads of its own, as has each of the rows that `vmap` reads.

    Args:
        is_tied: static; whether a table has an array to take all rows of, with a gradient.
        taps: the taps of the program, nested as `found` will be; None in the first walk.
    """

    def __init__(self, is_tied: bool, taps: Sequence | None = None):
        self.is_tied = is_tied
        self.found: list = []
        self.memo: dict = {}  # arrays that were computed whole, by identity
        self.parts: dict = {}  # and slices of several rows
        # A 0 that `vmap` batches as it batches taps, to add to numbers of rows: JAX cannot
        # differentiate a batched loop in which rows are not batched and their tap is.
        self.zero: Any = 0
        self._taps = None if taps is None else list(taps)
        self._mesh = jax.sharding.get_abstract_mesh()
        self._use: Any = None

    def next_taps(self) -> Any:
        """The taps of the next item of `found`, on the mesh around; None in the first walk."""
        if self._taps is None:
            return None
        return jax.tree.map(explicit_axes.brought, self._taps[len(self.found)])

    def add(self, found: Any, eqn: JaxprEqn | None = None) -> None:
        """Adds a lookup, or those of the body of `eqn`."""

        def placed(lookup: Lookup) -> Lookup:
            if eqn is not None and lookup.use is not None:
                lookup = dataclasses.replace(lookup, use=lookup.use.placed(eqn))
            return lookup.brought()

        with explicit_axes.around(self._mesh):
            self.found.append(map_lookups(placed, found))

    # --- rows ---

    def rows(self, eqn: JaxprEqn, access: Access, table: Any, operands: Sequence) -> jax.Array:
        """The rows of a `Table` that `eqn` reads; `operands` are those after the table."""
        rows = programs.bind(eqn, [table.array, *operands])[0]
        with explicit_axes.auto_around(programs.mesh_of(eqn)):
            if self._taps is None:  # only the type of the positions matters
                positions = jnp.zeros(access.num_positions, access.position_dtype)
                varying = map(_jax_internals.varying_axes, operands)
                positions = _jax_internals.varying_over(positions, frozenset().union(*varying))
            else:
                operands = list(map(explicit_axes.brought, operands))
                positions = access.positions(starts_of(eqn, operands))
        masked = access.mode != lax.GatherScatterMode.CLIP
        return self.tapped(table, access, rows, positions, masked, eqn)

    def tapped(
        self,
        table: Any,
        access: Access,
        rows: jax.Array,
        positions: jax.Array,
        masked: bool,
        eqn: JaxprEqn | None = None,
    ) -> jax.Array:
        """Rows of a `Table`, with the tap of this lookup, which is added to `found`."""
        tap = self.next_taps()
        # Under `shard_map` the rows may vary over devices where the positions do not. The tap then
        # varies too: else its cotangent is a `psum` at this place, which waits for ever if this is
        # a branch of a `cond` that some devices do not take.
        positions = _jax_internals.varying_over(positions, _jax_internals.varying_axes(rows))
        self.add(
            Lookup(positions, table.number, access.shape, access.depth, masked, access.sharding)
        )

        def shaped(tap: jax.Array, _: jax.Array) -> jax.Array:
            """A tap, `[n, *row]`, in the shape and type of the rows that the lookup reads."""
            if eqn is None:
                return access.to_result(tap)
            with explicit_axes.auto_around(programs.mesh_of(eqn)):
                result = access.to_result(explicit_axes.brought(tap))
            return explicit_axes.brought(result, jaxprs.spec_of(eqn))

        return rows if tap is None else _tapped(shaped, rows, tap)

    # --- all rows ---

    def whole(self, use: Any, x: Any) -> jax.Array:
        """All of a delayed array, for the `use` that is made of it."""
        if self.is_tied:
            return x.dense(self)
        # Each use has taps of its own, so arrays are computed again that other uses have computed.
        before = self.memo, self._use
        self.memo, self._use = {}, use
        try:
            return x.dense(self)
        finally:
            self.memo, self._use = before

    def all_rows(self, table: Any) -> jax.Array:
        """All rows of a `Table`, or its only one as a lookup; called by its `dense`."""
        if self.is_tied:
            return table.whole
        shape, rank = table.shape, len(table.shape)
        if shape[0] == 1:  # JAX makes no slice of `table[0]`, if there is no other row
            access = Access.of_window(shape, shape, lax.GatherScatterMode.CLIP)
            return self.tapped(table, access, table.whole, jnp.zeros(1, jnp.int32), masked=False)
        tap = self.next_taps()
        positions = jnp.zeros((), jnp.float32)
        self.add(Lookup(positions, table.number, shape, rank, masked=False, use=self._use))
        return table.whole if tap is None else _tapped(_spread, table.whole, tap)


# --- taps ---


def _spread(tap: jax.Array, x: jax.Array) -> jax.Array:
    """A tap, a scalar, for each element of a table."""
    return jnp.zeros_like(x) + tap.astype(x.dtype)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _tapped(shaped: Callable, rows: jax.Array, tap: jax.Array) -> jax.Array:
    return rows


@functools.partial(_tapped.defjvp, symbolic_zeros=True)
def _tapped_jvp(shaped: Callable, primals, tangents):
    (rows, _), (rows_dot, tap_dot) = primals, tangents
    dots = [] if isinstance(rows_dot, SymbolicZero) else [rows_dot]
    if not isinstance(tap_dot, SymbolicZero):
        shaped_dot = shaped(tap_dot, rows)
        varying = _jax_internals.varying_axes(rows)
        dots.append(_jax_internals.varying_over(shaped_dot, varying))
    return rows, sum(dots[1:], dots[0]) if dots else jnp.zeros_like(rows)
