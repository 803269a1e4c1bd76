"""lazy: optimizers that update only the rows of a table that have a gradient."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxops import _jax_internals
from jaxops._frames import without_frames
from jaxops._indexing import explicit_axes
from jaxops._jax_internals import jaxpr_as_fun
from jaxops._run import arguments
from jaxops._run.static_values import check_bool
from jaxops._sparse.optimizer import absences, judge, missed_steps, scaled, trees
from jaxops._sparse.optimizer.trees import OP
from jaxops._sparse.slices.indexed_slices import IndexedSlices, TiedGradient, is_sparse
from jaxops._sparse.slices.owner_rows import (
    Rows,
    gather_rows,
    in_rounds,
    put_rows,
    sum_all_at_first,
)


@without_frames
def _no_attribute(optimizer: Any, name: str) -> NoReturn:
    kind = type(optimizer).__name__
    if name != "update":
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")
    raise AttributeError(
        f"{OP}: a lazy optimizer has no update, as its updates would be of the table's size; "
        "write params, state = optimizer.apply(grads, state, params)"
    )


class LazyOptimizer(NamedTuple):
    """The two functions that `lazy` returns; they are described there."""

    init: Callable[..., Any]
    apply: Callable[..., tuple[Any, Any]]

    if not TYPE_CHECKING:  # for which any name would then do
        __getattr__ = _no_attribute

    def __repr__(self) -> str:
        return "LazyOptimizer(init(params), apply(grads, state, params))"


class CatchingUpOptimizer(NamedTuple):
    """The three functions that `lazy` returns with `catch_up`; they are described there."""

    init: Callable[..., Any]
    apply: Callable[..., tuple[Any, Any]]
    catch_up: Callable[..., tuple[Any, Any]]

    if not TYPE_CHECKING:  # for which any name would then do
        __getattr__ = _no_attribute

    def __repr__(self) -> str:
        return (
            "CatchingUpOptimizer(init(params), apply(grads, state, params), "
            "catch_up(params, state, rows))"
        )


@overload
def lazy(optimizer: Any, *, catch_up: Literal[False] = False) -> LazyOptimizer: ...


@overload
def lazy(optimizer: Any, *, catch_up: Literal[True]) -> CatchingUpOptimizer: ...


def lazy(optimizer: Any, *, catch_up: bool = False) -> LazyOptimizer | CatchingUpOptimizer:
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

    With `catch_up=True` the result is that of the dense optimizer for these too. The state keeps
    one int32 for each row, how many steps the row has behind it; steps that it missed are made up
    for before the row is used, with the step counts that they had, by the optimizer itself and a
    gradient of 0. `apply` does so. The loss must read rows that have caught up, so a step begins
    with `catch_up`:

        params, state = optimizer.catch_up(params, state, {"embed": words})
        value, grads = value_and_grad(params, words)
        params, state = optimizer.apply(grads, state, params)

    A row that was absent for 100 steps costs the arithmetic of 100 steps of this row.

    Args:
        optimizer: an object with `init(params)` and `update(grads, state, params)`, which returns
            updates to add and a new state, as optax's gradient transformations do. Each row of
            a table must be updated by itself. The state for a table is arrays with a row for each
            of its rows, of any shape, each of which depends on that row alone, and anything that
            does not depend on the number of rows, such as counts. A reduction over gradients to
            which rows of 0 add nothing, as in clipping by the global norm, gets each row once.
        catch_up: static bool; whether rows catch up with the steps in which they had no gradient.
            What the optimizer does in such a step must follow from the row, its state and step
            counts.

    Returns:
        A named tuple of two functions. `init(params) -> state` gives the optimizer's own state.
        `apply(grads, state, params, **extra) -> (params, state)` makes one step; `grads` has the
        structure of `params`, with `IndexedSlices` for some of the leaves. Other leaves, and
        `TiedGradient`, are updated densely. `extra` goes to `optimizer.update`.

        With `catch_up` there is a third one, `catch_up(params, state, rows=None, **extra) ->
        (params, state)`, which brings rows up to date: those in `rows`, integer arrays by key path
        of the table, or all rows of all tables, as for evaluation. Rows count from 0; others are
        ignored.
        The optimizer's own state is then `state.optimizer`.

    Raises:
        TypeError: `optimizer` lacks one of the methods; `catch_up` is not a static bool.
        ValueError: gradients that do not have the structure or shapes of the parameters; an
            optimizer that does not update each row by itself or collects gradients over several
            steps. `init` runs it on small tables to find that out, and raises if no parameter could
            be a table, `apply` if one of the tables cannot. The message names the transformation
            and a remedy. With `catch_up`, an optimizer whose missed steps depend on more, such as a
            norm of gradients that it keeps; gradients of parts of rows; an argument of `apply` that
            is neither array nor float.

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
                f"{OP}: optimizer must have methods init and update, as optax's have; "
                f"received {arguments.brief(optimizer)}"
            )
    catches_up = check_bool(catch_up, OP, "catch_up")
    checked = _Checked(optimizer)

    @without_frames
    def init(params: Any) -> Any:
        kinds, _ = trees.flatten(params)
        # With jax 0.12 `zeros_like` copies its operand's sharding only inside of a mesh context.
        with explicit_axes.on_mesh_of(jax.tree.leaves(params)):
            state = optimizer.init(params)
        if not catches_up:
            checked.before_steps(kinds)
            return state
        return absences.begin(checked.waiting_before_steps(kinds), kinds, state)

    @without_frames
    def apply(grads: Any, state: Any, params: Any, **extra: Any) -> tuple[Any, Any]:
        return _shared_as((params, state), applied, grads, state, params, extra)

    def applied(grads: Any, state: Any, params: Any, extra: dict) -> tuple[Any, Any]:
        kinds, leaves = trees.flatten(params)
        gradients = _flatten_grads(grads, state, kinds, leaves)
        slices = {n: g for n, g in enumerate(gradients) if isinstance(g, IndexedSlices)}
        others = [n for n in range(len(leaves)) if n not in slices]
        inner = absences.check_state(state, kinds).optimizer if catches_up else state
        of_state = checked.owners(kinds, {n: g.depth for n, g in slices.items()}, inner, extra)
        owners = [*(n if n in slices else None for n in range(len(leaves))), *of_state]
        call = trees.Call(optimizer, kinds, jax.tree.structure(inner), extra)
        inputs = [*leaves, *jax.tree.leaves(inner)]
        absent = None
        if catches_up:
            absent = checked.absences(call, state, inputs, slices)
            inputs = absent.whole_caught_up(inputs, others)

        update, added, are_apart = _traced(call.update, gradients, slices, owners, inputs)
        shared = {
            n: sharding
            for n, g in slices.items()
            if n not in added and (sharding := g.sharding) is not None
        }

        def step(inputs: Sequence, slices: Mapping[int, Any]) -> list:
            """New parameters and state, from the gradients of rows."""
            summed = [n for n in slices if n not in added]
            sums = sum_all_at_first([slices[n] for n in summed])
            slices = {**slices, **dict(zip(summed, sums, strict=True))}
            # What is made of any row where an index counts for nothing is not written.
            rows = _gather(inputs, owners, slices, any_beyond=are_apart)
            if absent is not None:
                rows = absent.rows_caught_up(rows, slices)
            of_rows = [slices[n].values if n in slices else g for n, g in enumerate(gradients)]
            results = (call.update if shared else update)(of_rows, rows)
            return _put(call, inputs, rows, results, owners, slices, added)

        if shared:
            is_own = [n is not None for n in owners]
            new = in_rounds(step, inputs, slices, shared, is_own, at_once=not are_apart)
        else:
            new = step(inputs, slices)
        params, new_state = call.unflatten(new)
        if absent is not None:
            new_state = absent.after(new_state, slices, others, state.steps + 1)
        return params, new_state

    @without_frames
    def rows_up_to_date(
        params: Any, state: Any, rows: Any = None, **extra: Any
    ) -> tuple[Any, absences.LazyState]:
        return _shared_as((params, state), brought_up_to_date, params, state, rows, extra)

    def brought_up_to_date(
        params: Any, state: Any, rows: Any, extra: dict
    ) -> tuple[Any, absences.LazyState]:
        kinds, leaves = trees.flatten(params)
        inner = absences.check_state(state, kinds).optimizer
        call = trees.Call(optimizer, kinds, jax.tree.structure(inner), extra)
        inputs = [*leaves, *jax.tree.leaves(inner)]
        slices = {} if rows is None else absences.slices_of_rows(rows, kinds)
        whole = range(len(leaves)) if rows is None else ()
        absent = checked.absences(call, state, inputs, slices)
        slices = {n: g for n, g in slices.items() if n in absent.paths}
        inputs = absent.whole_caught_up(inputs, whole)
        owners = [n if n in slices else None for n in absent.step.owners]
        new_rows = absent.rows_caught_up(_gather(inputs, owners, slices), slices)
        new = [
            new if n is None else put_rows(x, new, slices[n])
            for x, new, n in zip(inputs, new_rows, owners, strict=True)
        ]
        params, new_inner = call.unflatten(new)
        return params, absent.after(new_inner, slices, whole, state.steps)

    if catches_up:
        return CatchingUpOptimizer(init, apply, rows_up_to_date)
    return LazyOptimizer(init, apply)


def _shared_as(arrays: Any, function: Callable, *args: Any) -> Any:
    """`function(*args)`, on a mesh with explicit axes with results that are shared as `arrays`."""
    mesh = explicit_axes.mesh_of(*jax.tree.leaves(arrays))
    return explicit_axes.shared(function, mesh, explicit_axes.specs_of(arrays), *args)


def _traced(
    update: Callable,
    gradients: Sequence,
    slices: Mapping[int, IndexedSlices],
    owners: Sequence[int | None],
    inputs: Sequence,
) -> tuple[Callable, set[int], bool]:
    """`update`, the tables to whose rows it only adds their gradient, scaled, and its rows.

    Values of these gradients are added to the table one by one: to find the rows that come more
    than once, and to sum them first, was a third of such a step. In a table of 16 bits small
    updates that are added one by one would be rounded away. The third result is whether nothing is
    computed of several rows.
    """
    num = len(gradients)
    candidates = [n for n in slices if n not in owners[num:] and inputs[n].dtype.itemsize >= 4]
    # An eager step is that of the optimizer itself, to the last bit.
    is_traced = any(isinstance(x, Tracer) for x in [*inputs, *(g.values for g in slices.values())])
    is_shared = any(g.sharding is not None for g in slices.values())
    if not candidates and not (slices and (is_traced or is_shared)):
        return update, set(), False

    def update_rows(*arrays: Any) -> list:
        return update(arrays[:num], arrays[num:])

    def like(x: Any, owner: int | None = None) -> Any:
        """The type of an array, or of those rows of a table or its state that have a gradient."""
        shape, dtype, arrays = np.shape(x), jnp.result_type(x), [x]
        if owner is not None:
            arrays.append(slices[owner].values)
            shape = (arrays[1].shape[0], *shape[slices[owner].depth :])
        arrays = [array for array in arrays if isinstance(array, jax.Array)]
        varying = frozenset().union(*map(_jax_internals.varying_axes, arrays))
        if varying:  # which belongs to the type, under `shard_map`
            return _jax_internals.varying_over(jnp.zeros(shape, dtype), varying)
        return jax.ShapeDtypeStruct(shape, dtype)

    # Gradients of whole arrays are inputs too: as constants they might have rows of their own.
    values = [slices[n].values if n in slices else g for n, g in enumerate(gradients)]
    try:
        program = jax.make_jaxpr(update_rows)(*map(like, values), *map(like, inputs, owners))
    except trees.LOOKS_AT_VALUES:  # as it may in an eager call
        return update, set(), False

    def evaluate(gradients: Sequence, rows: Sequence) -> list:
        return jaxpr_as_fun(program)(*gradients, *rows)

    are_scaled = scaled.only_scaled(program, num)
    same_dtype = (n for n in candidates if program.out_avals[n].dtype == inputs[n].dtype)
    added = {n for n in same_dtype if are_scaled[n]}
    tables = [n if n in slices else None for n in range(num)]
    return evaluate, added, scaled.rows_stay_apart(program, [*tables, *owners])


def _gather(
    inputs: Sequence,
    owners: Sequence[int | None],
    slices: Mapping[int, Rows],
    *,
    any_beyond: bool = False,
) -> list:
    """The rows in `slices` of tables and of their states; other inputs as they are.

    `any_beyond`: where an index counts for nothing any row will do, as no sum over rows sees it.
    """
    pairs = zip(inputs, owners, strict=True)
    return [x if n is None else gather_rows(x, slices[n], any_beyond=any_beyond) for x, n in pairs]


def _put(
    call: trees.Call,
    inputs: Sequence,
    rows: Sequence,
    results: Sequence,
    owners: Sequence[int | None],
    slices: Mapping[int, Any],
    added: set[int],
) -> list:
    """All parameters and state, with what `update` returned for some of their rows."""

    def put(n: int) -> Any:
        x, result, owner = inputs[n], results[n], owners[n]
        if owner in added:  # of such a table no state has rows
            return slices[owner]._with_values(result).add_to(x)
        if n < len(call.kinds.types):  # an update
            result = (rows[n] + result).astype(rows[n].dtype)
        return result if owner is None else put_rows(x, result, slices[owner])

    return [put(n) for n in range(len(inputs))]


def _flatten_grads(grads: Any, state: Any, params: trees.Params, leaves: Sequence) -> list:
    """Gradients in the order of the parameters; dense ones as arrays."""
    flat, received = jax.tree.flatten(grads, is_leaf=is_sparse)
    if received != params.structure:
        if received == jax.tree.structure(state):
            raise ValueError(
                f"{OP}: apply must get its arguments in the order grads, state, params; received "
                "params in the place of state"
            )
        raise ValueError(
            f"{OP}: grads must have the structure of params, {params.structure}; received "
            f"{received}"
        )
    for n, (path, gradient, leaf) in enumerate(zip(params.paths, flat, leaves, strict=True)):
        if isinstance(gradient, TiedGradient):
            gradient = flat[n] = gradient.to_dense()
        elif not isinstance(gradient, IndexedSlices):
            gradient = flat[n] = arguments.to_operand(gradient, OP, f"gradient {path!r}")
        shape = gradient.shape_here if isinstance(gradient, IndexedSlices) else gradient.shape
        if shape != leaf.shape:
            raise ValueError(
                f"{OP}: gradient {path!r} must have the parameter's shape {leaf.shape}; "
                f"received {shape}"
            )
    return flat


class _Checked:
    """Keeps what was found out about an optimizer, so that eager steps find it out once."""

    def __init__(self, optimizer: Any):
        self.optimizer = optimizer
        self.found: dict[Any, trees.States] = {}  # by `_key`
        self.plans: dict[Any, missed_steps.Plan] = {}  # by `_key`
        # By `_key`: the parameters that are right as tables, and the states if all are.
        self.good: dict[Any, tuple[frozenset[int], trees.States]] = {}

    def before_steps(self, kinds: trees.Params) -> None:
        key = _key(kinds, {}, {})
        _kept(self.good, key, lambda: judge.possible_tables(self.optimizer, kinds))

    def owners(self, kinds, depths: dict[int, int], state: Any, extra: dict) -> list[int | None]:
        """The table whose rows each leaf of the state holds, or None."""
        if not depths:
            return [None] * len(jax.tree.leaves(state))
        states = self._states(kinds, depths, extra)
        received = [np.shape(leaf) for leaf in jax.tree.leaves(state)]
        if received != states.shapes:
            raise ValueError(
                f"{OP}: state must come from init for these params, with leaves of shapes "
                f"{states.shapes}; received {received}"
            )
        return [n if n in depths else None for n in states.owners]

    def _states(self, kinds, depths: dict[int, int], extra: dict) -> trees.States:
        """The owners of the state's leaves, once the optimizer is known to be right for tables."""
        known = self.good.get(_key(kinds, {}, extra))
        if known is not None and known[0].issuperset(depths) and set(depths.values()) == {1}:
            return known[1]

        def states() -> trees.States:
            found = trees.states(self.optimizer, kinds, depths)
            judge.check(self.optimizer, kinds, depths, found, extra)
            return found

        return _kept(self.found, _key(kinds, depths, extra), states)

    def plan(self, kinds: trees.Params, extra: Mapping[str, Any]) -> missed_steps.Plan:
        key = _key(kinds, {}, extra)
        return _kept(self.plans, key, lambda: missed_steps.plan(self.optimizer, kinds, extra))

    def waiting_before_steps(self, kinds: trees.Params) -> list[int]:
        """The parameters whose rows may have to catch up with steps."""
        try:
            plan = self.plan(kinds, {})
        except Exception as error:
            self.before_steps(kinds)  # refuses what is wrong without catch_up too
            # It may want arguments, or an axis of `shard_map`, that exist in the steps only.
            if not (judge.takes_extra(self.optimizer) or isinstance(error, NameError)):
                raise
            return [n for n, t in enumerate(kinds.types) if t.shape]
        if plan.problems and all(n in plan.problems for n in judge.candidates(kinds)):
            raise ValueError(plan.problems[judge.candidates(kinds)[0]])
        _kept(self.good, _key(kinds, {}, {}), lambda: (frozenset(plan.tables), plan.states))
        return [n for n, missed in plan.tables.items() if not missed.does_nothing]

    def absences(
        self, call: trees.Call, state: absences.LazyState, inputs: Sequence, slices: Mapping
    ) -> absences.Absences:
        absences.check_extra(call.extra)
        plan = self.plan(call.kinds, call.extra)
        return absences.Absences(plan, call.kinds, state, call.update, inputs, slices)


_keeping = threading.Lock()


def _kept(found: dict, key: Any, make: Callable) -> Any:
    """`found[key]`, or else `make()`, which is then kept if there is a key.

    Old ones are dropped: a step may bring new functions as arguments each time.
    """
    item = found.get(key)
    if item is None:
        item = make()
        if key is not None:
            with _keeping:  # another thread may drop the same one
                while len(found) >= 16:
                    del found[next(iter(found))]
                found[key] = item
    return item


def _key(kinds: trees.Params, depths: dict[int, int], extra: Mapping[str, Any]) -> Any:
    """All that the check depends on, as a key; None if a part of it cannot be compared."""
    leaves, structure = jax.tree.flatten(extra)
    arrays = [(np.shape(x), jnp.result_type(x)) if trees.is_value(x) else x for x in leaves]
    types = tuple((t.shape, t.dtype) for t in kinds.types)
    key = (kinds.structure, types, tuple(depths.items()), structure, *arrays)
    try:
        hash(key)
    except TypeError:
        return None
    return key
