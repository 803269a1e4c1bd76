"""The count of steps behind each row of a table, and making up for those that it missed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxops._indexing import index_dtypes
from jaxops._run import arguments
from jaxops._sparse.optimizer import missed_steps, trees
from jaxops._sparse.optimizer.trees import OP
from jaxops._sparse.slices.indexed_slices import IndexedSlices, gather_rows, put_rows
from jaxops._sparse.slices.repeated_rows import counted, first_places


class LazyState(NamedTuple):
    """The state of an optimizer, and of the rows that wait for steps in which they were absent."""

    optimizer: Any
    steps: jax.Array  # int32: how many were made
    done: dict[str, jax.Array]  # by key path of a table, int32: how many of these each row has had


def begin(tables: Iterable[int], params: trees.Params, state: Any) -> LazyState:
    """The state in which no step is behind the rows of these tables."""
    if twice := [path for path in params.paths if params.paths.count(path) > 1]:
        raise ValueError(
            f"{OP}: with catch_up, parameters must have key paths of their own; received two with "
            f"{twice[0]!r}"
        )
    done = {params.paths[n]: jnp.zeros(params.types[n].shape[0], jnp.int32) for n in tables}
    return LazyState(state, jnp.zeros((), jnp.int32), done)


def check_state(state: Any, params: trees.Params) -> LazyState:
    if not isinstance(state, LazyState):
        raise ValueError(
            f"{OP}: with catch_up, state must come from init; received "
            f"{arguments.brief(type(state))}"
        )
    rows = {path: t.shape[:1] for path, t in zip(params.paths, params.types, strict=True)}
    for path, done in state.done.items():
        if np.shape(done) != rows.get(path):
            raise ValueError(
                f"{OP}: state must come from init for these params; received one with "
                f"{np.shape(done)} rows of {path!r}"
            )
    return state


def check_extra(extra: Mapping[str, Any]) -> None:
    for name, x in extra.items():
        if not all(map(trees.is_value, jax.tree.leaves(x))):
            raise ValueError(
                f"{OP}: with catch_up, other arguments of apply must be arrays or floats, as "
                f"missed steps had values of their own; received {name}={arguments.brief(x)}"
            )


def _check_tables(
    plan: missed_steps.Plan,
    params: trees.Params,
    state: LazyState,
    slices: Mapping[int, IndexedSlices],
) -> None:
    for n, rows in slices.items():
        path = params.paths[n]
        if n in plan.problems:
            raise ValueError(plan.problems[n])
        if rows.depth > 1:
            raise ValueError(
                f"{OP}: with catch_up, the gradient of table {path!r} must be of whole rows; "
                f"received one whose indices count along {rows.depth} axes"
            )
        if rows.sharding is not None:
            raise ValueError(
                f"{OP}: with catch_up, table {path!r} must be looked up by gather; received a "
                "gradient of sharded_gather, whose rows are not where the table's are"
            )
        if path not in state.done and not plan.tables[n].does_nothing:
            raise ValueError(
                f"{OP}: state must come from init with catch_up for these params; received one "
                f"without rows of {path!r}"
            )


class Absences:
    """The rows of parameters that have missed steps, in one call of `apply` or `catch_up`.

    Args:
        plan: what the optimizer does to rows without a gradient.
        params: the parameters.
        state: of the lazy optimizer.
        update: of the optimizer, on lists of leaves.
        inputs: leaves of parameters and of the optimizer's state, of all rows.
        slices: by table, the rows that will be caught up.
            Of tables without slices all rows may be.
    """

    def __init__(
        self,
        plan: missed_steps.Plan,
        params: trees.Params,
        state: LazyState,
        update: Callable,
        inputs: Sequence[Any],
        slices: Mapping[int, IndexedSlices],
    ):
        self.state = state
        self.done_of_rows: dict[int, jax.Array] = {}
        self.paths = {n: path for n, path in enumerate(params.paths) if path in state.done}
        _check_tables(plan, params, state, slices)
        blocks = {
            n: missed_steps.rows_at_a_time(
                t.shape[1:], slices[n].indices.size if n in slices else t.shape[0]
            )
            for n, t in enumerate(params.types)
            if n in plan.tables
        }
        self.step = missed_steps.step_without_gradients(update, plan, inputs, blocks)

    def rows_caught_up(self, inputs: Sequence, slices: Mapping[int, IndexedSlices]) -> list:
        """`inputs` caught up, in which some tables are those rows that are in `slices`."""
        self.done_of_rows = {
            n: self._done_of_rows(path, slices[n]) for n, path in self.paths.items() if n in slices
        }
        return self._caught_up(inputs, self.done_of_rows)

    def whole_caught_up(self, inputs: Sequence, tables: Sequence[int]) -> list:
        """`inputs` with all rows of some tables caught up."""
        done = {n: self.state.done[path] for n, path in self.paths.items() if n in tables}
        return self._caught_up(inputs, done)

    def _caught_up(self, inputs: Sequence, done: Mapping[int, jax.Array]) -> list:
        """`inputs` with some tables caught up; `done`, by table: the steps behind each row."""
        for n, of_rows in done.items():
            inputs = missed_steps.catch_up(self.step, n, inputs, of_rows, self.state.steps)
        return list(inputs)

    def _done_of_rows(self, path: str, slices: IndexedSlices) -> jax.Array:
        """The steps behind each row of a table; all steps for an index that counts for nothing."""
        done = gather_rows(self.state.done[path], slices)
        is_row = counted(slices.indices, slices.num_rows) < slices.num_rows
        return jnp.where(is_row, done, self.state.steps)

    def after(
        self, optimizer: Any, slices: Mapping[int, IndexedSlices], whole: Sequence[int], steps: Any
    ) -> LazyState:
        """The state when these rows, and the `whole` tables, have so many steps behind them."""
        done = dict(self.state.done)
        for n, path in self.paths.items():
            if n in slices:
                # `maximum` changes no number. The new ones depend on the old ones by it, so XLA
                # reads before it writes, and updates in place instead of copying the vector.
                rows = jnp.maximum(steps, self.done_of_rows[n])
                done[path] = put_rows(done[path], rows, slices[n])
            elif n in whole:
                done[path] = jnp.broadcast_to(steps, done[path].shape)
        return LazyState(optimizer, steps, done)


def slices_of_rows(rows: Any, params: trees.Params) -> dict[int, IndexedSlices]:
    """The distinct rows of each table in `rows`, by key path, as slices without values."""
    if not isinstance(rows, Mapping):
        raise TypeError(
            f"{OP}: rows must be a mapping from key paths of tables to indices; received "
            f"{arguments.brief(rows)}"
        )
    found = {}
    for path, indices in rows.items():
        if path not in params.paths:
            raise ValueError(
                f"{OP}: rows must be of tables among {params.paths}; received {path!r}"
            )
        n = params.paths.index(path)
        shape, dtype = params.types[n].shape, params.types[n].dtype
        if not shape:
            raise ValueError(f"{OP}: rows must be of tables; received {path!r} of shape ()")
        indices = arguments.to_indices(indices, OP, f"rows[{path!r}]", None)
        indices = index_dtypes.to_signed(indices).reshape(-1)
        ((_, distinct),) = first_places((indices,), (shape[0],))
        found[n] = IndexedSlices(jnp.zeros((indices.size, *shape[1:]), dtype), distinct, shape)
    return found
