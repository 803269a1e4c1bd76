"""The derivative of a function that looks tables up, with the rows in place of the tables.

`jax.linearize` gives the derivative as a linear program, whose inputs are tangents and which knows
everything else, the indices included. A table of parameters comes into it as a tangent of the
table's size, of which lookups take rows. `find_lookups` finds the lookups and evaluates their
positions. `evaluate` runs the program on tangents of the rows instead, one array per lookup. It is
linear too; transposed, it gives the cotangents of rows, and nothing in it has the table's size.

Both walk the program equation by equation, in the same order, and into the bodies of `jit`,
`checkpoint`, `scan` and `cond`. What they pass along in place of a table's tangent is a `Table`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
from jax import lax
from jax.extend.core import ClosedJaxpr, JaxprEqn
from jax.extend.core import primitives as jax_primitives

from jaxops import _jax_internals
from jaxops._sparse import jaxprs
from jaxops._sparse.lookups import Access, Lookup, access_of, is_lookup, starts_of


@dataclasses.dataclass(frozen=True)
class Table:
    """Stands for the tangent of a table, cast from one dtype to the next."""

    number: int
    dtypes: tuple = ()

    def cast(self, x: jax.Array) -> jax.Array:
        for dtype in self.dtypes:
            x = x.astype(dtype)
        return x


class _Tangent:
    """Stands for any other tangent while lookups are searched: it has no value then."""


_TANGENT = _Tangent()

Refuse = Callable[[JaxprEqn, Table], None]


def find_lookups(program: ClosedJaxpr, tables: Sequence[int | None], refuse: Refuse) -> list:
    """The lookups of a linear program, nested as its loops and branches are.

    `tables[i]` numbers the table that input `i` is the tangent of. Calls `refuse` for every other
    use of a table.
    """
    inputs = [_TANGENT if number is None else Table(number) for number in tables]
    found, _ = _find(program, inputs, refuse)
    return found


def evaluate(program: ClosedJaxpr, inputs: Sequence, rows: list, tables: dict[int, jax.Array]):
    """The results of a linear program for tangents of rows, nested as the lookups are.

    `inputs` holds a `Table` for each tangent of a table; `tables` has those that are used in other
    ways than by lookup, under their numbers.
    """
    return [_dense(x, tables) for x in _evaluate(program, inputs, rows, tables)]


# --- searching ---


class _Known:
    """An equation between known values, evaluated when something needs it."""

    def __init__(self, eqn: JaxprEqn, inputs: list):
        self.eqn, self.inputs = eqn, inputs
        self.results: Any = None

    def evaluate(self) -> list:
        waiting: list[_Known] = [self]
        while waiting:  # not by recursion, as programs are long
            known = waiting[-1]
            before = [x.source for x in known.inputs if isinstance(x, _Result)]
            before = [source for source in before if source.results is None]
            waiting.extend(before)
            if not before:
                if known.results is None:
                    known.results = jaxprs.bind(known.eqn, [_value(x) for x in known.inputs])
                waiting.pop()
        return self.results


@dataclasses.dataclass(frozen=True, eq=False)
class _Result:
    source: _Known
    number: int


def _value(x):
    """The value of what is known."""
    return x.source.evaluate()[x.number] if isinstance(x, _Result) else x


def _is_known(x) -> bool:
    return not isinstance(x, (_Tangent, Table))


def _find(program: ClosedJaxpr, inputs: Sequence, refuse: Refuse) -> tuple[list, list]:
    """Lookups, and the results as far as they are known without tangents."""
    found = []

    def step(eqn: JaxprEqn, inputs: list) -> list:
        nothing = [_TANGENT] * len(eqn.outvars)
        table = _first_table(inputs)
        if all(map(_is_known, inputs)):
            known = _Known(eqn, inputs)
            return [_Result(known, n) for n in range(len(eqn.outvars))]
        rule = _RULES.get(eqn.primitive)
        if rule is not None:
            found_inside, results = rule.find(eqn, inputs, refuse)
            if table is not None:
                found.append(found_inside)
            return results
        if table is None:
            return nothing
        if (passed := _passed_on(eqn, table)) is not None:
            return [passed]
        if (access := _access(eqn, inputs)) is not None:
            found.append(_lookup(eqn, access, inputs))
        else:
            for x in inputs:
                if isinstance(x, Table):
                    refuse(eqn, x)
        return nothing

    return found, jaxprs.walk(program, inputs, step)


def _lookup(eqn: JaxprEqn, access: Access, inputs: list) -> Lookup:
    table, *indices = inputs
    if not all(map(_is_known, indices)):
        raise NotImplementedError(
            "sparse_value_and_grad: the indices of a lookup must not come out of a while_loop that "
            f"also computes what is differentiated; received such{_jax_internals.where(eqn)}"
        )
    return Lookup(
        positions=access.positions(starts_of(eqn, list(map(_value, indices)))),
        table=table.number,
        table_shape=access.shape,
        depth=access.depth,
        masked=access.mode != lax.GatherScatterMode.CLIP,
    )


def _find_inside(eqn: JaxprEqn, inputs: list, refuse: Refuse) -> tuple[list, list]:
    return _find(jaxprs.body(eqn), inputs, refuse)


def _find_in_scan(eqn: JaxprEqn, inputs: list, refuse: Refuse) -> tuple[list, list]:
    body = jaxprs.body(eqn)
    num_consts, num_carry = _jax_internals.scan_counts(eqn)
    nothing = [_TANGENT] * len(eqn.outvars)
    passed = _passed_by_scan(eqn, inputs)
    for n in _lost_by_scan(eqn, inputs):
        refuse(eqn, inputs[n])
        inputs = [*inputs[:n], _TANGENT, *inputs[n + 1 :]]
    known = [_is_known(x) for x in inputs]
    known_out = _scan_known(eqn, known)
    if _first_table(inputs) is None and not any(known_out):
        return [], nothing
    known[num_consts : num_consts + num_carry] = known_out[:num_carry]
    consts = [_value(x) for x in inputs[:num_consts]]
    carried = range(num_consts, num_consts + num_carry)

    def step(carry, xs):
        carry, xs = iter(carry), iter(xs)
        args = [*consts]
        for n in range(num_consts, len(inputs)):
            if known[n]:
                args.append(next(carry if n in carried else xs))
            else:
                args.append(inputs[n] if isinstance(inputs[n], Table) else _TANGENT)
        found, results = _find(body, args, refuse)
        _refuse_results(eqn, results, passed, refuse)
        results = [_value(x) for x, known in zip(results, known_out, strict=True) if known]
        split = sum(known_out[:num_carry])
        return results[:split], (found, results[split:])

    carry, (found, ys) = lax.scan(
        step,
        [_value(inputs[n]) for n in carried if known[n]],
        [_value(inputs[n]) for n in range(carried.stop, len(inputs)) if known[n]],
        length=eqn.params["length"],
        reverse=eqn.params["reverse"],
    )
    results = iter([*carry, *ys])
    outs = [next(results) if known else _TANGENT for known in known_out]
    return found, _with_passed(passed, outs)


def _find_in_cond(eqn: JaxprEqn, inputs: list, refuse: Refuse) -> tuple[list, list]:
    index, *operands = inputs
    branches = eqn.params["branches"]
    known_out = _cond_known(eqn, list(map(_is_known, inputs)))
    passed = _passed_by_cond(eqn, inputs)
    if _first_table(inputs) is None and not any(known_out):
        return [], [_TANGENT] * len(eqn.outvars)
    values = [_value(x) for x in operands if _is_known(x)]

    def find(branch: ClosedJaxpr, values):
        values = iter(values)
        args = [next(values) if _is_known(x) else x for x in operands]
        found, results = _find(branch, args, refuse)
        _refuse_results(eqn, results, passed, refuse)
        return found, [_value(x) for x, known in zip(results, known_out, strict=True) if known]

    # What is found in a branch counts where that branch is taken.
    types = [jax.eval_shape(lambda *v, b=b: find(b, v)[0], *values) for b in branches]
    absent = [[look.nowhere() for look in _flat(found)] for found in types]
    structures = [jax.tree.structure(found, is_leaf=is_lookup) for found in types]

    def take(number: int, *values):
        found = [s.unflatten(a) for s, a in zip(structures, absent, strict=True)]
        found[number], results = find(branches[number], values)
        return found, results

    cases = [lambda *values, n=n: take(n, *values) for n in range(len(branches))]
    found, results = _switch(eqn, index, cases, *values)
    results = iter(results)
    outs = [next(results) if known else _TANGENT for known in known_out]
    return found, _with_passed(passed, outs)


def _refuse_results(eqn: JaxprEqn, results: list, passed: list, refuse: Refuse) -> None:
    """Refuses tables that a loop or branch returns otherwise than it passes them on."""
    for x, on in zip(results, passed, strict=True):
        if isinstance(x, Table) and on is None:
            refuse(eqn, x)


def _known_results(program: ClosedJaxpr, known: Sequence[bool]) -> list[bool]:
    """Which results depend on nothing but inputs that are known."""

    def step(eqn: JaxprEqn, known: list[bool]) -> list[bool]:
        if all(known):
            return [True] * len(eqn.outvars)
        rule = _RULES.get(eqn.primitive)
        return rule.known(eqn, known) if rule else [False] * len(eqn.outvars)

    return jaxprs.walk(program, known, step, literal=lambda _: True)


def _inside_known(eqn: JaxprEqn, known: list[bool]) -> list[bool]:
    return _known_results(jaxprs.body(eqn), known)


def _scan_known(eqn: JaxprEqn, known: list[bool]) -> list[bool]:
    num_consts, num_carry = _jax_internals.scan_counts(eqn)
    known = list(known)
    while True:
        results = _known_results(jaxprs.body(eqn), known)
        carry = slice(num_consts, num_consts + num_carry)
        still = [a and b for a, b in zip(known[carry], results[:num_carry], strict=True)]
        results[:num_carry] = still
        if still == known[carry]:
            return results
        known[carry] = still


def _cond_known(eqn: JaxprEqn, known: list[bool]) -> list[bool]:
    branches = [_known_results(branch, known[1:]) for branch in eqn.params["branches"]]
    return [all(results) for results in zip(*branches, strict=True)]


# --- evaluating ---


def _evaluate(program: ClosedJaxpr, inputs: Sequence, rows: list, tables: dict) -> list:
    next_rows: Iterator = iter(rows)

    def step(eqn: JaxprEqn, inputs: list) -> list:
        table = _first_table(inputs)
        if table is None:
            return jaxprs.bind(eqn, inputs)
        rule = _RULES.get(eqn.primitive)
        if rule is not None:
            return rule.evaluate(eqn, inputs, next(next_rows), tables)
        if (passed := _passed_on(eqn, table)) is not None:
            return [passed]
        if (access := _access(eqn, inputs)) is not None:
            return [access.to_result(table.cast(next(next_rows)))]
        return jaxprs.bind(eqn, [_dense(x, tables) for x in inputs])

    return jaxprs.walk(program, inputs, step)


def _evaluate_inside(eqn: JaxprEqn, inputs: list, rows: list, tables: dict) -> list:
    return _evaluate(jaxprs.body(eqn), inputs, rows, tables)


def _evaluate_checkpoint(eqn: JaxprEqn, inputs: list, rows: list, tables: dict) -> list:
    passed: list = []

    def body(values, rows):
        results = _evaluate(jaxprs.body(eqn), _with_tables(inputs, values), rows, tables)
        passed[:] = [x if isinstance(x, Table) else None for x in results]
        return _without_tables(results)

    checkpointed = jax.checkpoint(
        body, prevent_cse=eqn.params["prevent_cse"], policy=eqn.params["policy"]
    )
    results = iter(checkpointed(_without_tables(inputs), rows))
    return [next(results) if table is None else table for table in passed]


def _evaluate_scan(eqn: JaxprEqn, inputs: list, rows: list, tables: dict) -> list:
    num_consts, num_carry = _jax_internals.scan_counts(eqn)
    passed = _passed_by_scan(eqn, inputs)
    lost = _lost_by_scan(eqn, inputs)
    inputs = [_dense(x, tables) if n in lost else x for n, x in enumerate(inputs)]
    consts = inputs[:num_consts]
    init = inputs[num_consts : num_consts + num_carry]
    xs = inputs[num_consts + num_carry :]

    def step(carry, xs_and_rows):
        xs, rows = xs_and_rows
        args = [*consts, *_with_tables(init, carry), *xs]
        results = _evaluate(jaxprs.body(eqn), args, rows, tables)
        results = _without_passed(passed, results, tables)
        split = len(_without_tables(init))
        return results[:split], results[split:]

    carry, ys = lax.scan(
        step,
        _without_tables(init),
        (xs, rows),
        length=eqn.params["length"],
        reverse=eqn.params["reverse"],
        unroll=eqn.params["unroll"],
    )
    return _with_passed(passed, [*_with_tables(init, carry), *ys])


def _evaluate_cond(eqn: JaxprEqn, inputs: list, rows: list, tables: dict) -> list:
    index, *operands = inputs
    passed = _passed_by_cond(eqn, inputs)

    def take(number: int, values, rows):
        branch = eqn.params["branches"][number]
        results = _evaluate(branch, _with_tables(operands, values), rows[number], tables)
        return _without_passed(passed, results, tables)

    cases = [lambda *args, n=n: take(n, *args) for n in range(len(eqn.params["branches"]))]
    results = iter(_switch(eqn, index, cases, _without_tables(operands), rows))
    return [next(results) if table is None else table for table in passed]


def _without_tables(values: Iterable) -> list:
    return [x for x in values if not isinstance(x, Table)]


def _with_tables(like: Iterable, values: Iterable) -> list:
    """`values`, with the tables of `like` put in their places again."""
    values = iter(values)
    return [x if isinstance(x, Table) else next(values) for x in like]


def _with_passed(passed: list, results: list) -> list:
    """`results`, with the tables that are passed on in their places."""
    return [x if table is None else table for x, table in zip(results, passed, strict=True)]


def _without_passed(passed: list, results: list, tables: dict) -> list:
    """`results` but those; all others dense."""
    return [_dense(x, tables) for x, on in zip(results, passed, strict=True) if on is None]


def _dense(x, tables: dict[int, jax.Array]):
    return x.cast(tables[x.number]) if isinstance(x, Table) else x


# --- both ---


@dataclasses.dataclass(frozen=True)
class _Rule:
    """How to go into the body of an equation."""

    find: Callable
    evaluate: Callable
    known: Callable


_RULES = {
    jax_primitives.jit_p: _Rule(_find_inside, _evaluate_inside, _inside_known),
    jax_primitives.closed_call_p: _Rule(_find_inside, _evaluate_inside, _inside_known),
    jax_primitives.remat_p: _Rule(_find_inside, _evaluate_checkpoint, _inside_known),
    jax_primitives.scan_p: _Rule(_find_in_scan, _evaluate_scan, _scan_known),
    jax_primitives.cond_p: _Rule(_find_in_cond, _evaluate_cond, _cond_known),
}


def _passed_by_scan(eqn: JaxprEqn, inputs: list) -> list[Table | None]:
    """The tables among the results of a loop: those that it carries without a change."""
    return _tables_of(jaxprs.unchanged_by_scan(eqn, inputs))


def _passed_by_cond(eqn: JaxprEqn, inputs: list) -> list[Table | None]:
    """The tables among the results of a branching: those that all branches return."""
    return _tables_of(jaxprs.unchanged_by_cond(eqn, inputs))


def _tables_of(values: Iterable) -> list[Table | None]:
    return [x if isinstance(x, Table) else None for x in values]


def _lost_by_scan(eqn: JaxprEqn, inputs: list) -> list[int]:
    """Which inputs are tables that a loop changes or goes through row by row."""
    num_consts, num_carry = _jax_internals.scan_counts(eqn)
    passed = _passed_by_scan(eqn, inputs)[:num_carry]
    tables = [n for n in range(num_consts, len(inputs)) if isinstance(inputs[n], Table)]
    return [n for n in tables if n >= num_consts + num_carry or passed[n - num_consts] is None]


def _switch(eqn: JaxprEqn, index, cases: Sequence[Callable], *operands):
    """What `eqn` is, a switch or a `lax.platform_dependent`, between other `cases`."""
    platforms = eqn.params.get("branches_platforms")
    if not platforms:
        return lax.switch(_value(index), cases, *operands)
    by_platform = {
        platform: case
        for names, case in zip(platforms, cases, strict=True)
        for platform in names or ["default"]
    }
    return lax.platform_dependent(*operands, **by_platform)


def _first_table(values: Iterable) -> Table | None:
    return next((x for x in values if isinstance(x, Table)), None)


def _passed_on(eqn: JaxprEqn, table: Table) -> Table | None:
    """What `eqn` makes of a table, where that is the table, or the table cast."""
    if eqn.primitive in jaxprs.IDENTITIES:
        return table
    if eqn.primitive is jax_primitives.convert_element_type_p:
        return dataclasses.replace(table, dtypes=(*table.dtypes, eqn.params["new_dtype"]))
    return None


def _access(eqn: JaxprEqn, inputs: list) -> Access | None:
    """How `eqn` looks up the table that it is given, if it does."""
    return access_of(eqn) if isinstance(inputs[0], Table) else None


def _flat(found) -> list[Lookup]:
    return jax.tree.leaves(found, is_leaf=is_lookup)
