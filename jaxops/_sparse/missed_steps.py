"""Steps in which rows of a table had no gradient: what the optimizer does in them, made up for.

What it does is found in its traced program (`plan`), followed as by `row_wise`, with gradients that
are 0. A row must then depend on nothing but itself, its state, and numbers whose values in a missed
step are known: those that stay as they are, and those that count steps. With a gradient `g`, the
state `m` of a row, a step count `t` and a state `a` of all rows that gives:

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
from jax import lax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from jaxops import _jax_internals
from jaxops._sparse import dependences, jaxprs, row_errors, row_wise

# Rows that were absent for about as long are made up for together, so many elements at a time.
_BLOCK = 1 << 15


class Missed(NamedTuple):
    """What an optimizer does to rows of a table that have no gradient."""

    does_nothing: bool
    rests: bool  # it does nothing to a row whose state is 0


class Plan(NamedTuple):
    """What an optimizer does to rows without a gradient, of each parameter that may be a table."""

    tables: dict[int, Missed]
    problems: dict[int, str]  # why missed steps of other parameters cannot be made up for
    owners: list[int | None]  # for each leaf of the state, the one of `tables` whose rows it holds
    counts: frozenset[int]  # the leaves of the state that count steps


def plan(optimizer: Any, params: row_wise.Params, extra: Mapping[str, Any]) -> Plan:
    """Finds out what the optimizer does to rows without a gradient, in its traced program."""
    leaves = [n for n, t in enumerate(params.types) if t.shape]
    states = row_wise.states(optimizer, params, leaves)
    problems = dict(states.problems)

    def rest() -> list[int]:
        return [n for n in leaves if n not in problems]

    def owners() -> list[int | None]:
        return [None if n in problems else n for n in states.owners]

    if rest():
        problems |= row_wise.problems(optimizer, params, dict.fromkeys(rest(), 1), owners(), extra)
    if not rest():
        return Plan({}, problems, owners(), frozenset())
    judge = row_wise.Judge(optimizer, params, dict.fromkeys(rest(), 0), owners(), extra)
    counts = _counts(judge)
    gradients = frozenset(rest())
    states_of_rows = {judge.num_leaves + p for p, n in enumerate(owners()) if n is not None}
    results, _ = judge.follow({}, zeros=gradients)
    at_rest, _ = judge.follow({}, zeros=gradients | states_of_rows)
    tables = {}
    for n in gradients:
        what = _unknown(judge, n, results, counts)
        if what is not None:
            problems[n] = row_errors.missed_message(params.paths[n], what)
        else:
            own = [n, *(judge.num_leaves + p for p, owner in enumerate(judge.owners) if owner == n)]
            stays = [results[i].same_as == i for i in own[1:]]
            is_zero = [_is_zero(at_rest[i]) for i in own]
            tables[n] = Missed(_is_zero(results[n]) and all(stays), all(is_zero))
    return Plan(tables, problems, owners(), counts)


def unknown_plan(params: row_wise.Params) -> Plan:
    """That of an optimizer that wants arguments which only steps have: any leaf may be a table."""
    leaves = [n for n, t in enumerate(params.types) if t.shape]
    return Plan(dict.fromkeys(leaves, Missed(False, False)), {}, [], frozenset())


def _is_zero(value: Any) -> bool:
    return value.constant is not None and bool(value.constant == 0)


def _counts(judge: row_wise.Judge) -> frozenset[int]:
    """The leaves of the state that are 1 more after each step."""
    numbers = dependences.counted_up(judge.programs[0])
    places = range(judge.num_leaves, judge.num_leaves + len(judge.owners))
    return frozenset(p - judge.num_leaves for p in places if numbers[p] == p)


def _unknown(judge: row_wise.Judge, table: int, results: Sequence, counts) -> str | None:
    """On what rows without a gradient depend that is not known after the step; None if nothing."""
    first = judge.num_leaves
    own = [table, *(first + p for p, owner in enumerate(judge.owners) if owner == table)]
    for number in sorted(
        n for n in frozenset().union(*(results[i].inputs for i in own)) if isinstance(n, int)
    ):
        place = number - first
        if number < first:
            return "depends on the gradients of other rows"
        if place < len(judge.owners):
            path = judge.state_paths[place]
            if judge.owners[place] == table or place in counts or results[number].same_as == number:
                continue
            return f"depends on its state {path}, which is no count of steps"
        if number not in judge.parameters:
            return "depends on other arguments of update"
        if number != judge.parameters[table]:
            return "depends on another parameter"
    return None


# --- making up for them ---


class Step(NamedTuple):
    """A step in which no row has a gradient: a program from parameters and state to the same.

    One more row stands behind the rows of each table, with a gradient of 1: a step that rows missed
    was one in which others had a gradient, so a norm over all of them is not 0.
    """

    program: ClosedJaxpr
    plan: Plan
    owners: list[int | None]  # for each input the table whose rows it holds


def step_without_gradients(
    update: Callable, plan: Plan, leaves: Sequence, state_leaves: Sequence, sizes: Mapping[int, int]
) -> Step:
    """The step for so many rows of each table.

    Args:
        update: from gradients, and parameters and state, as lists, to updates and state.
        plan: of the optimizer.
        leaves: the parameters, of which the types matter.
        state_leaves: the leaves of the state, likewise.
        sizes: by table, how many rows `catch_up` shall do at a time.
    """
    owners = [n if n in plan.tables else None for n in range(len(leaves))] + plan.owners

    def type_of(x: Any, owner: int | None) -> jax.ShapeDtypeStruct:
        shape = jnp.shape(x) if owner is None else (sizes[owner] + 1, *jnp.shape(x)[1:])
        return jax.ShapeDtypeStruct(shape, jnp.result_type(x))

    def step(*arrays: jax.Array) -> list[jax.Array]:
        params = arrays[: len(leaves)]
        gradients = [
            jnp.ones_like(x) if owner is None else jnp.zeros_like(x).at[-1].set(1)
            for x, owner in zip(params, owners, strict=False)
        ]
        results = update(gradients, arrays)
        updates, new_states = results[: len(leaves)], results[len(leaves) :]
        new = [old + update for old, update in zip(params, updates, strict=True)]
        return [x.astype(i.dtype) for x, i in zip([*new, *new_states], arrays, strict=True)]

    types = map(type_of, [*leaves, *state_leaves], owners)
    return Step(jax.make_jaxpr(step)(*types), plan, owners)


def rows_at_a_time(row: tuple[int, ...], num_rows: int) -> int:
    """How many of `num_rows` rows of this shape `catch_up` shall do at a time."""
    return max(min(num_rows, _BLOCK // max(math.prod(row), 1)), 1)


def catch_up(
    step: Step,
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
    size = jaxprs.type_of(step.program.jaxpr.invars[table]).shape[0] - 1
    missed_step = _missed_step(step, places, inputs)

    def do_all(rows, done):
        return _in_blocks(functools.partial(_do, missed_step, steps), rows, done, size)

    rows = lax.cond(jnp.any(done < steps), do_all, lambda rows, _: rows, rows, done)
    return [dict(zip(places, rows, strict=True)).get(n, x) for n, x in enumerate(inputs)]


def _missed_step(step: Step, places: Sequence[int], inputs: Sequence) -> Callable:
    """The step so many steps ago, from arrays for the inputs at `places` to the same."""
    num_params = len(step.owners) - len(step.plan.owners)
    program = _jax_internals.drop_unused(jaxprs.with_results(step.program, places))

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
    num_blocks = -(-count // size)
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
