"""lazy: optimizers that update only the rows of a table that have a gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from jaxops._indexing.dimension_numbers import scatter_windows
from jaxops._indexing.positions import read_rows
from jaxops._run import arguments
from jaxops._sparse import dependences, row_wise
from jaxops._sparse.indexed_slices import IndexedSlices, TiedGradient, places, sum_at_first

_OP = "lazy"
_DROP = lax.GatherScatterMode.FILL_OR_DROP


class LazyOptimizer(NamedTuple):
    """The two functions that `lazy` returns; they are described there."""

    init: Callable[..., Any]
    apply: Callable[..., Any]


def lazy(optimizer: Any) -> LazyOptimizer:
    """Runs an optimizer on those rows of the tables that have a gradient.

    For gradients with `IndexedSlices`, such as `sparse_value_and_grad` makes. The rows of the table
    and of the optimizer's state are gathered at the distinct indices, updated, and put back: time
    and memory do not depend on the size of the table. Where the caller donates them, under
    `jax.jit(..., donate_argnums=...)`, tables and state are updated in place. Where a table's
    update is its gradient, scaled, as by SGD without momentum, each value is added by itself.

    A lazy optimizer does nothing to rows without a gradient. Plain SGD and Adagrad do nothing to
    them anyway, so the result is that of the dense optimizer. With momentum, RMSProp and Adam a
    dense optimizer goes on moving such rows and lets their averages decay; in a lazy one these
    averages wait for the next gradient of their row. Weight decay reaches rows with a gradient
    only. Step counts are shared by all rows, so Adam corrects the bias of a row by all steps taken,
    not by the steps in which the row had a gradient. TensorFlow Addons' LazyAdam does the same.

    Args:
        optimizer: an object with `init(params)` and `update(grads, state, params)`, which returns
            updates to add and a new state, as optax's gradient transformations do. Each row of
            a table must be updated by itself. The state for a table is arrays of the table's
            shape, each row of which depends on that row alone, and anything that does not depend
            on the number of rows, such as counts. A reduction over gradients to which rows of 0 add
            nothing, as in clipping by the global norm, gets each row once.

    Returns:
        A named tuple of two functions. `init(params) -> state` gives the optimizer's own state.
        `apply(grads, state, params, **extra) -> (params, state)` makes one step; `grads` has the
        structure of `params`, with `IndexedSlices` for some of the leaves. Other leaves, and
        `TiedGradient`, are updated densely. `extra` goes to `optimizer.update`.

    Raises:
        TypeError: `optimizer` lacks one of the methods.
        ValueError: gradients that do not have the structure or shapes of the parameters; an
            optimizer that does not update each row by itself or collects gradients over several
            steps, which is found in its traced program. `init` raises if no parameter could be a
            table, `apply` if one of the tables cannot. The message names the transformation and a
            remedy.

    Gradient: as the optimizer's.

    Example:
        >>> import jax.numpy as jnp, jaxops, optax
        >>> optimizer = jaxops.lazy(optax.sgd(0.5))
        >>> params = {"embed": jnp.zeros((4, 2))}
        >>> state = optimizer.init(params)
        >>> grads = {"embed": jaxops.IndexedSlices([[1.0, 2.0], [1.0, 0.0]], [3, 3], (4, 2))}
        >>> params, state = optimizer.apply(grads, state, params)
        >>> params["embed"][3]
        Array([-1., -1.], dtype=float32)

    Source: https://www.tensorflow.org/addons/api_docs/python/tfa/optimizers/LazyAdam
    """
    for method in ("init", "update"):
        if not callable(getattr(optimizer, method, None)):
            raise TypeError(
                f"{_OP}: optimizer must have methods init and update, as optax's have; "
                f"received {arguments.brief(optimizer)}"
            )

    checked = _Checked(optimizer)

    def init(params: Any) -> Any:
        state = optimizer.init(params)
        checked.before_steps(params)
        return state

    def apply(grads: Any, state: Any, params: Any, **extra: Any) -> tuple[Any, Any]:
        kinds, leaves = row_wise.flatten(params)
        structure = kinds.structure
        gradients = _flatten_grads(grads, kinds.paths, leaves, structure)
        tables = [n for n, g in enumerate(gradients) if isinstance(g, IndexedSlices)]
        owners = checked.owners(kinds, {n: _depth(gradients[n]) for n in tables}, state, extra)
        state_leaves, state_structure = jax.tree.flatten(state)

        numbers = [n if n in tables else None for n in range(len(leaves))]

        def update(*arrays: Any) -> list:
            """Updates and new state, from gradients of rows, the state's leaves and old rows."""
            rows, rest = arrays[: len(tables)], arrays[len(tables) :]
            all_gradients = list(gradients)
            for n, values in zip(tables, rows, strict=True):
                all_gradients[n] = values
            updates, new_state = optimizer.update(
                structure.unflatten(all_gradients),
                state_structure.unflatten(rest[: len(state_leaves)]),
                structure.unflatten(rest[len(state_leaves) :]),
                **extra,
            )
            return [
                *row_wise.leaves_like(updates, structure, "updates"),
                *row_wise.leaves_like(new_state, state_structure, "state"),
            ]

        # In a table of 16 bits small updates that are added one by one would be rounded away.
        candidates = [n for n in tables if n not in owners and leaves[n].dtype.itemsize >= 4]
        scaled: set[int] = set()
        if candidates:
            inputs = zip(
                [*(gradients[n].values for n in tables), *state_leaves, *leaves],
                [*tables, *owners, *numbers],
                strict=True,
            )
            program = _trace(update, [_type_of_rows(x, n, gradients) for x, n in inputs])
            if program is not None:
                scaled = _only_scaled(program, tables, candidates, leaves)
                update = jaxpr_as_fun(program)  # traced already
        rows_of = {n: gradients[n] if n in scaled else sum_at_first(gradients[n]) for n in tables}

        def gather_rows(x, owner: int | None):
            return x if owner is None else _gather_rows(x, rows_of[owner])

        def put_rows(x, new, owner: int | None):
            return new if owner is None else _put_rows(x, new, rows_of[owner])

        def add_update(x, old, update, number: int | None):
            if number in scaled:
                return IndexedSlices(update, rows_of[number].indices, x.shape).add_to(x)
            return put_rows(x, (old + update).astype(old.dtype), number)

        old = list(map(gather_rows, leaves, numbers))
        state_rows = map(gather_rows, state_leaves, owners)
        results = update(*(rows_of[n].values for n in tables), *state_rows, *old)
        updates, new_state = results[: len(leaves)], results[len(leaves) :]
        return (
            structure.unflatten(map(add_update, leaves, old, updates, numbers)),
            state_structure.unflatten(map(put_rows, state_leaves, new_state, owners)),
        )

    return LazyOptimizer(init, apply)


def _is_gradient(x: object) -> bool:
    return isinstance(x, (IndexedSlices, TiedGradient))


def _flatten_grads(grads: Any, paths, leaves, structure) -> list:
    """Gradients in the order of the parameters; dense ones as arrays."""
    flat, received = jax.tree.flatten(grads, is_leaf=_is_gradient)
    if received != structure:
        raise ValueError(
            f"{_OP}: grads must have the structure of params, {structure}; received {received}"
        )
    for n, (path, gradient, leaf) in enumerate(zip(paths, flat, leaves, strict=True)):
        if isinstance(gradient, TiedGradient):
            gradient = flat[n] = gradient.to_dense()
        elif not isinstance(gradient, IndexedSlices):
            gradient = flat[n] = arguments.to_operand(gradient, _OP, f"gradient {path!r}")
        if gradient.shape != leaf.shape:
            raise ValueError(
                f"{_OP}: gradient {path!r} must have the parameter's shape {leaf.shape}; "
                f"received {gradient.shape}"
            )
    return flat


def _depth(slices: IndexedSlices) -> int:
    """Along how many axes of the table the indices count."""
    return len(slices.dense_shape) - slices.values.ndim + 1


class _Checked:
    """Keeps what was found out about an optimizer, so that eager steps find it out once."""

    def __init__(self, optimizer: Any):
        self.optimizer = optimizer
        self.found: dict[Any, row_wise.States] = {}  # by `_key`
        self.good: dict[Any, frozenset[int]] = {}  # by `_key`: the parameters that may be tables

    def before_steps(self, params: Any) -> None:
        kinds, _ = row_wise.flatten(params)
        key = _key(kinds, {}, {})
        if key not in self.good:
            _keep(self.good, key, row_wise.possible_tables(self.optimizer, kinds))

    def owners(self, kinds, depths: dict[int, int], state: Any, extra: dict) -> list[int | None]:
        """For each leaf of the state the table whose rows it holds, or None."""
        if not depths:
            return [None] * len(jax.tree.leaves(state))
        key = _key(kinds, depths, extra)
        states = self.found.get(key) or row_wise.states(self.optimizer, kinds, list(depths))
        received = [np.shape(leaf) for leaf in jax.tree.leaves(state)]
        if received != states.shapes:
            raise ValueError(
                f"{_OP}: state must come from init for these params, with leaves of shapes "
                f"{states.shapes}; received {received}"
            )
        if key not in self.found:
            good = self.good.get(_key(kinds, {}, extra), frozenset())
            if not (good.issuperset(depths) and set(depths.values()) == {1}):
                row_wise.check(self.optimizer, kinds, depths, states, extra)
            _keep(self.found, key, states)
        return states.owners


def _keep(found: dict, key: Any, item: Any) -> None:
    """Stores `item`, and drops old ones: a step may bring new functions as arguments each time."""
    if key is not None:
        while len(found) >= 16:
            del found[next(iter(found))]
        found[key] = item


def _key(kinds: row_wise.Params, depths: dict[int, int], extra: dict) -> Any:
    """All that the check depends on, as a key; None if a part of it cannot be compared."""
    leaves, structure = jax.tree.flatten(extra)
    arrays = [(np.shape(x), jnp.result_type(x)) if row_wise.is_value(x) else x for x in leaves]
    types = tuple((t.shape, t.dtype) for t in kinds.types)
    key = (kinds.structure, types, tuple(depths.items()), structure, *arrays)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _type_of_rows(x: Any, owner: int | None, gradients) -> jax.ShapeDtypeStruct:
    """The type of those rows of a table or its state that have a gradient; else of `x` itself."""
    shape = np.shape(x) if owner is None else gradients[owner].values.shape
    return jax.ShapeDtypeStruct(shape, jnp.result_type(x))


def _trace(update: Callable, types: Sequence) -> ClosedJaxpr | None:
    """The program of `update`; None if it looks at values, as it may in an eager call."""
    try:
        return jax.make_jaxpr(update)(*types)
    except row_wise.LOOKS_AT_VALUES:
        return None


def _only_scaled(program: ClosedJaxpr, tables, candidates, leaves) -> set[int]:
    """The tables whose update is their gradient, scaled, as by SGD without momentum.

    Values of these gradients can be added to the table one by one. To find the rows that come more
    than once, and to sum them first, was a third of such a step.
    """
    results = dependences.dependences(program, num_followed=len(tables))

    def is_only_scaled(n: int) -> bool:
        number = tables.index(n)
        return (
            results[n] == dependences.Dependence(frozenset({number}), is_multiple=True)
            and sum(number in result.inputs for result in results) == 1
            and program.out_avals[n].dtype == leaves[n].dtype
        )

    return set(filter(is_only_scaled, candidates))


def _gather_rows(x: jax.Array, slices: IndexedSlices) -> jax.Array:
    """The rows of a table or its state at the indices; 0 where an index counts for nothing."""
    shape = (slices.num_rows, *slices.values.shape[1:])
    return read_rows(jnp.asarray(x).reshape(shape), slices.indices)


def _put_rows(x: jax.Array, new: jax.Array, slices: IndexedSlices) -> jax.Array:
    x = jnp.asarray(x)
    vectors, windows = places(slices)
    return scatter_windows("update", x, vectors, new.astype(x.dtype), windows, _DROP)
