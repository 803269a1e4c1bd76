"""Steps in which rows of a table had no gradient: what the optimizer does in them, made up for.

The small runs of `judge.py` show what an optimizer does to such a row (`plan`). A row
without a gradient must depend on nothing but itself, its state, and numbers whose values in a
missed step are known: those that stay as they are, and those that count steps. All else is
changed, to see whether the row changes. With a gradient `g`, the state `m` of a row, a step
count `t` and a state `a` of all rows that gives:

    update                          without a gradient
    -0.1 * g                        0: there is nothing to make up for
    m = 0.9 * m + g, -0.1 * m       depends on m; where m is 0, as before the first gradient, 0
    -rate(t) * m                    depends on m and t, which was t - 3 three steps ago
    m = 0.9 * m + g / norm(g)       depends on m: 0 / norm(g) is 0
    -m / a, a = 0.5 * a + norm(g)   refused: depends on a, which is not known any more

The steps are then made up for by making them (`catch_up`), each with the step count that it had.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from jaxops import _symbolic
from jaxops._jax_internals import ClosedJaxpr, jaxpr_as_fun
from jaxops._sparse import jaxprs
from jaxops._sparse.optimizer import judge, refusals, trees
from jaxops._sparse.optimizer.evaluation import CannotRun, aside
from jaxops._sparse.optimizer.probe import Probe, UpdateRaises
from jaxops._sparse.optimizer.runner import Runner, Steps, floats

# Rows that were absent for about as long are made up for together, so many elements at a time.
_BLOCK = 1 << 15

_GRADIENTS = "the gradients of other rows"
_PARAMETERS = "another parameter"
_TRACED = "numbers that are traced around it, as a learning rate may be"
_ARGUMENTS = "other arguments of update"


class Missed(NamedTuple):
    """The effect of an optimizer on rows of a table that have no gradient."""

    does_nothing: bool
    rests: bool  # it does nothing to a row whose state is 0


class Plan(NamedTuple):
    """The effect on rows without a gradient, for each parameter that may be a table."""

    tables: dict[int, Missed]
    problems: dict[int, str]  # why missed steps of other parameters cannot be made up for
    states: trees.States  # with owners among `tables`
    counts: frozenset[int]  # the leaves of the state that count steps


def plan(optimizer: Any, params: trees.Params, extra: Mapping[str, Any]) -> Plan:
    """Finds out what the optimizer does to rows without a gradient, by running it."""
    try:
        return _plan(optimizer, params, extra)
    except UpdateRaises as raised:
        error = raised.__cause__ or raised
        raise error from None
    except CannotRun as error:
        raise ValueError(
            f"{trees.OP}: with catch_up, the optimizer must run by itself; received one that uses "
            "an axis or a mesh around it, or a callback within a call"
        ) from error


def _plan(optimizer: Any, params: trees.Params, extra: Mapping[str, Any]) -> Plan:
    depths = {n: 1 for n, t in enumerate(params.types) if t.shape}
    states = trees.states(optimizer, params, depths)
    found = dict(states.problems)
    rest = {n: 1 for n in depths if n not in found}
    steps = None
    if rest:
        problems, steps = judge.judged(optimizer, params, rest, states.owners, extra)
        found |= problems
    rest = {n: 1 for n in rest if n not in found}
    owners = [n if n in rest else None for n in states.owners]
    states = states._replace(owners=owners)
    if not rest:
        return Plan({}, found, states, frozenset())
    probe = steps[0].probe if steps else Probe(optimizer, params, rest, owners, extra)
    seen = aside(lambda: _Seen(*(steps or judge.run(probe))))
    tables = {}
    for n in rest:
        what = seen.unknown(n)
        if what is None:
            tables[n] = Missed(n in seen.do_nothing, n in seen.rest)
        else:
            found[n] = refusals.of_missed_steps(params.paths[n], what)
    return Plan(tables, found, states, frozenset(k - probe.states.start for k in seen.counts))


class _Seen:
    """The effect of a step on rows without a gradient, as small runs show it.

    Such a row is the same to the last bit whatever changes that it does not depend on.
    """

    def __init__(self, runner: Runner, steps: Steps):
        self.runner = runner
        self.probe = probe = runner.probe
        self.do_nothing, self.rest = set(probe.depths), set(probe.depths)
        shared = [k for k in probe.states if probe.input_owners[k] is None]
        self.constants = set(shared)  # leaves of the state that stay as they are
        types = probe.types
        self.counts = {
            k for k in shared if not types[k].shape and jnp.issubdtype(types[k].dtype, jnp.integer)
        }
        # By what changed (a leaf of the state, or words): the tables whose rows followed.
        self.followed: dict[Any, set[int]] = {}
        self._look_at_rows(steps)
        self._follow(_TRACED, steps, runner.with_other_constants(steps))
        unknown = set(shared) - self.counts - self.constants
        params = [
            m for m, n in zip(probe.parameters, probe.updates, strict=True) if n not in probe.depths
        ]
        changes = {**{k: [k] for k in unknown}, _PARAMETERS: params, _ARGUMENTS: probe.others}
        for what, leaves in changes.items():
            self._follow(what, steps, runner.moved(steps, leaves))

    def _look_at_shared(self, inputs: Sequence, results: Sequence) -> None:
        """Whether the states of all rows stay as they are, or are 1 more."""
        more = {k: floats(results[k]) - floats(inputs[k]) for k in self.constants | self.counts}
        self.constants = {k for k in self.constants if np.all(more[k] == 0)}
        self.counts = {k for k in self.counts if np.all(more[k] == 1)}

    def _look_at_rows(self, steps: Steps) -> None:
        runner, probe = self.runner, self.probe
        own = [k for k in probe.states if probe.input_owners[k] is not None]
        self._look_at_shared(steps.inputs, steps.results)
        for factor in (-3.0, 1e4, np.nan):
            inputs = [*steps.inputs]
            for n in probe.gradients:
                inputs[n] = np.where(inputs[n] == 0, 0, factor * inputs[n]).astype(inputs[n].dtype)
            results = runner.dense(inputs)
            self._look_at_shared(inputs, results)
            self._follow(_GRADIENTS, steps, results)
        zeros = [np.zeros_like(x) if k in own else x for k, x in enumerate(steps.inputs)]
        # Numbers that stay as they are may be others after `init`, as a weight decay.
        is_float = [jnp.issubdtype(t.dtype, jnp.floating) for t in probe.types]
        constants = [k for k in self.constants if is_float[k]]
        for inputs, found in (steps.inputs, self.do_nothing), (zeros, self.rest):
            for more in (0.0, 0.1) if constants else (0.0,):
                inputs = [
                    (x + more).astype(x.dtype) if k in constants else x
                    for k, x in enumerate(inputs)
                ]
                found -= self._changed(steps, inputs)

    def _absent(self, steps: Steps, others: Sequence, is_other: Callable) -> set[int]:
        """The tables of which `is_other` is true of a number in a row without a gradient."""
        found = self.runner.anywhere(steps, others, is_other, absent=True).any(axis=0)
        owners = {self.probe.result_owners[k] for k in np.flatnonzero(found)}
        return {n for n in owners if n is not None}

    def _changed(self, steps: Steps, inputs: list) -> set[int]:
        """The tables of which such a row, or its state, is another one after a step."""
        before = [np.zeros_like(x) if k in self.probe.updates else x for k, x in enumerate(inputs)]
        steps = steps._replace(results=self.runner.dense(inputs))
        return self._absent(steps, before, np.not_equal)

    def _follow(self, what: Any, steps: Steps, results: Sequence) -> None:
        """Notes the tables whose rows follow a change; a NaN, 0 times a norm, shows nothing."""

        def is_other(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            return (x != y) & ~np.isnan(x) & ~np.isnan(y)

        self.followed.setdefault(what, set()).update(self._absent(steps, results, is_other))

    def unknown(self, table: int) -> str | None:
        """The value, not known after the step, on which rows without a gradient depend; or None."""
        for what, tables in self.followed.items():
            if table in tables:
                if isinstance(what, str):
                    return f"depends on {what}"
                path = self.probe.state_paths[what - self.probe.states.start]
                return f"depends on its state {path}, which is no count of steps"
        return None


# --- making up for them ---


class EmptyStep(NamedTuple):
    """A step in which no row has a gradient: a program from parameters and state to the same.

    One more row stands behind the rows of each table, with a gradient of 1: a step that rows missed
    was one in which others had a gradient, so a norm over all of them is not 0.
    """

    program: ClosedJaxpr
    plan: Plan
    owners: list[int | None]  # for each input the table whose rows it holds


def step_without_gradients(
    update: Callable, plan: Plan, inputs: Sequence, sizes: Mapping[int, int]
) -> EmptyStep:
    """The step for so many rows of each table.

    Args:
        update: from gradients, and parameters and state, as lists, to updates and state.
        plan: of the optimizer.
        inputs: parameters and state, of which the types matter.
        sizes: by table, how many rows `catch_up` shall do at a time.
    """
    num_params = len(inputs) - len(plan.states.owners)
    owners = [n if n in plan.tables else None for n in range(num_params)] + plan.states.owners

    def type_of(x: Any, owner: int | None) -> jax.ShapeDtypeStruct:
        shape = jnp.shape(x) if owner is None else (sizes[owner] + 1, *jnp.shape(x)[1:])
        return jax.ShapeDtypeStruct(shape, jnp.result_type(x))

    def step(*arrays: jax.Array) -> list[jax.Array]:
        params = arrays[:num_params]
        gradients = [
            jnp.ones_like(x) if owner is None else jnp.zeros_like(x).at[-1].set(1)
            for x, owner in zip(params, owners, strict=False)
        ]
        results = update(gradients, arrays)
        new = [old + update for old, update in zip(params, results, strict=False)]
        new += results[num_params:]
        return [x.astype(i.dtype) for x, i in zip(new, arrays, strict=True)]

    types = map(type_of, inputs, owners)
    return EmptyStep(jax.make_jaxpr(step)(*types), plan, owners)


def rows_at_a_time(row: tuple[int, ...], num_rows: int) -> int:
    """The number of rows of this shape, of `num_rows`, that `catch_up` shall do at a time.

    All of them where that number is symbolic, as in an export.
    """
    if not _symbolic.are_known([num_rows]):
        return num_rows
    return max(min(num_rows, _BLOCK // max(math.prod(row), 1)), 1)


def catch_up(
    step: EmptyStep,
    table: int,
    inputs: Sequence[Any],
    done: jax.Array,
    steps: jax.Array,
) -> list[Any]:
    """`inputs` with the rows of one table, and of its state, as they are after all `steps`.

    Rows that were absent for equally long are done together: as many steps as were missed in all.

    Args:
        step: a step without gradients, for as many rows at a time as it was traced for.
        table: the number of the table.
        inputs: parameters and state; of this table some rows, the same ones of its state.
        done: int32 vector, how many steps each row has behind it.
        steps: int32, how many there were, after which all that rows share is as in `inputs`.
    """
    places = [place for place, owner in enumerate(step.owners) if owner == table]
    rows = [inputs[place] for place in places]
    if step.plan.tables[table].does_nothing or done.size == 0:
        return list(inputs)
    if step.plan.tables[table].rests:
        rests = [jnp.all(x == 0, axis=range(1, x.ndim)) for x in rows[1:]]
        done = jnp.where(functools.reduce(jnp.logical_and, rests, True), steps, done)
    is_behind = jnp.any(done < steps)
    # In an eager call, where `cond` would be compiled again each time: 0.1 s.
    if not isinstance(is_behind, Tracer) and not is_behind:
        return list(inputs)
    size = jaxprs.type_of(step.program.jaxpr.invars[table]).shape[0] - 1
    missed_step = _missed_step(step, places, inputs)

    def do_all(rows, done):
        return _in_blocks(functools.partial(_do, missed_step, steps), rows, done, size)

    rows = lax.cond(is_behind, do_all, lambda rows, _: rows, rows, done)
    return [dict(zip(places, rows, strict=True)).get(n, x) for n, x in enumerate(inputs)]


def _missed_step(step: EmptyStep, places: Sequence[int], inputs: Sequence) -> Callable:
    """The step so many steps ago, from arrays for the inputs at `places` to the same."""
    num_params = len(step.owners) - len(step.plan.states.owners)
    program = jaxprs.with_results(step.program, places)

    def missed_step(ago: jax.Array, rows: Sequence[jax.Array]) -> list[jax.Array]:
        given = dict(zip(places, rows, strict=True))
        arrays = []
        for n, (owner, aval) in enumerate(zip(step.owners, step.program.in_avals, strict=True)):
            if n in given:
                arrays.append(given[n])
            elif owner is not None:
                arrays.append(jnp.zeros(aval.shape, aval.dtype))  # rows of another table: unused
            elif n - num_params in step.plan.counts:
                arrays.append(inputs[n] - ago.astype(aval.dtype))
            else:
                arrays.append(inputs[n])
        return jaxpr_as_fun(program)(*arrays)

    return missed_step


def _do(
    missed_step: Callable, steps: jax.Array, rows: list[jax.Array], done: jax.Array
) -> list[jax.Array]:
    """All steps that one of the rows has missed, each for those rows that missed it."""

    def is_left(loop):
        return loop[0] < steps

    def do(loop):
        number, rows = loop
        new = missed_step(steps - number, rows)
        is_missed = done <= number

        def choose(new, old):
            return jnp.where(is_missed.reshape(-1, *[1] * (old.ndim - 1)), new, old)

        return number + 1, list(map(choose, new, rows))

    return lax.while_loop(is_left, do, (jnp.min(done), rows))[1]


def _in_blocks(do: Callable, rows: list[jax.Array], done: jax.Array, size: int) -> list[jax.Array]:
    """`do(rows, done)` for `size` rows at a time, and one more that has missed no step."""
    count = done.size
    num_blocks = -(-count // size)  # 1 where both are one symbolic number
    order = jnp.argsort(done) if num_blocks > 1 else lax.iota(jnp.int32, count)

    def of_blocks(x, fill):
        others = [(0, 0)] * (x.ndim - 1)
        x = jnp.pad(x[order], [(0, num_blocks * size - count), *others], constant_values=fill)
        x = x.reshape(num_blocks, size, *x.shape[1:])
        return jnp.pad(x, [(0, 0), (0, 1), *others], constant_values=fill)

    blocks = [of_blocks(x, 0) for x in rows], of_blocks(done, jnp.iinfo(done.dtype).max)
    results = lax.map(lambda block: do(*block), blocks)
    places = jnp.zeros_like(order).at[order].set(lax.iota(order.dtype, count))
    return [x[:, :-1].reshape(-1, *x.shape[2:])[places] for x in results]
