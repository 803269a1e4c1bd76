"""The derivative of a function that looks tables up, with the rows in place of the tables.

`jax.linearize` gives the derivative of a loss as a linear program: its inputs are the tangents of
the parameters, its constants all other numbers, the indices included. For

    loss = lambda table: jnp.sum(table[jnp.array([2, 0])] ** 2)

and a table of shape [4, 3] the program is, without the parameters that do not matter here,

    { lambda a:i32[2,1] b:f32[2,3]; c:f32[4,3]. let
        d:f32[2,3] = gather[slice_sizes=(1, 3) mode=PROMISE_IN_BOUNDS] c a
        e:f32[2,3] = mul d b
        f:f32[] = reduce_sum[axes=(0, 1)] e
      in (f,) }

`a` is the indices, [[2], [0]], `b` twice the rows, and `c` the tangent of the table. Transposed,
the gather would make a cotangent of the table's size. So the lookups are taken out first:

1. `find_lookups` walks the program with `Table(0)` in place of `c`, and evaluates the positions
   that the gather reads: [Lookup(positions=[2, 0], table=0, table_shape=(4, 3), depth=1, ...)].
2. `evaluate` walks it again, with tangents of rows: an array `r` of shape [2, 3] for this lookup.
   It puts `r` in place of the gather's result, which leaves

       { lambda b:f32[2,3]; r:f32[2,3]. let
           e:f32[2,3] = mul r b
           f:f32[] = reduce_sum[axes=(0, 1)] e
         in (f,) }

3. The caller transposes what `evaluate` computes, by `jax.linear_transpose`: the cotangent of `r`
   is `b`, hence the gradient IndexedSlices(values=b, indices=[2, 0], dense_shape=(4, 3)).

Both walks take the equations in the same order, so the n-th lookup gets the n-th rows. An equation
that has a table among its inputs is one of these:

- a copy or a cast, be it to varying over devices: the result is the `Table` still, which remembers
  the dtypes and the devices;
- a lookup, as above;
- a `jit`, `checkpoint`, `scan` or `cond`: the walk goes on in its body, and the lookups found there
  are one item of the list, a list itself (`_RULES`);
- any other, such as a product with the whole table: `refuse` is called, which raises, or with
  `tied=True` notes that the table needs a dense tangent too, which `evaluate` finds in `tables`.

Under `jit` or `checkpoint` the example gives [[Lookup(positions=[2, 0], ...)]].

The body of a `scan` runs many times. A table may be one of its constants, or a carry that it passes
on unchanged. `_find_in_scan` makes a `lax.scan` of its own, in which each round walks the body and
returns the positions that this round reads; `_evaluate_scan` makes another one, in which each round
gets its rows. If round `i` looks up `table[words[i]]`, with `words` of shape [3, 2], the positions
have the shape [3, 2], and the rows [3, 2, 3].

Which branch of a `cond` is taken is known only when the program runs. `_find_in_cond` makes a
`lax.switch` each of whose cases returns the lookups of all branches: those of its own branch, and
the others with positions past the end of the table, which read nothing. If branch 0 reads row 1 and
branch 1 rows 2 and 0, and branch 1 is taken, the lookups are
[[[Lookup(positions=[4], ...)], [Lookup(positions=[2, 0], ...)]]]. `_evaluate_cond` makes a switch
whose cases get the rows of all branches and use those of their own.

While lookups are searched, no tangent has a value: `_TANGENT` stands for each. Values that do not
depend on tangents are known (`_Result`), and evaluated only if a position depends on them. A loop
may carry both kinds; `_scan_known` tells them apart.
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
from jaxops._indexing import explicit_axes
from jaxops._sparse import jaxprs
from jaxops._sparse.lookups import Access, Lookup, access_of, is_lookup, starts_of


@dataclasses.dataclass(frozen=True)
class Table:
    """Stands for the tangent of a table, cast to one of `dtypes` after the other.

    `spread_over`: the axes of devices along which JAX took it for varying though it was the same on
    all, as an operand beside it varies. The gradient is then the sum over these devices.
    """

    number: int
    dtypes: tuple = ()
    spread_over: frozenset[str] = frozenset()

    def cast(self, x: jax.Array) -> jax.Array:
        for dtype in self.dtypes:
            x = x.astype(dtype)
        return _jax_internals.varying_over(x, self.spread_over)


class _Tangent:
    """Stands for any other tangent while lookups are searched: it has no value then."""


_TANGENT = _Tangent()

Refuse = Callable[[JaxprEqn, Table], None]


def find_lookups(program: ClosedJaxpr, tables: Sequence[int | None], refuse: Refuse) -> list:
    """The lookups of a linear program. Those of a body are a list, one item of the list around it.

    `tables[i]` numbers the table that input `i` is the tangent of. Calls `refuse` for every other
    use of a table.

    Example:
        >>> table, words = jax.numpy.ones((4, 3)), jax.numpy.array([2, 0])
        >>> _, linear = jax.linearize(lambda table: (table[words] ** 2).sum(), table)
        >>> program = jax.make_jaxpr(linear)(table)
        >>> (lookup,) = find_lookups(program, [0], refuse=print)
        >>> lookup.positions
        Array([2, 0], dtype=int32)
        >>> evaluate(program, [Table(0)], [jax.numpy.ones((2, 3))], tables={})
        [Array(12., dtype=float32)]
    """
    inputs = [_TANGENT if number is None else Table(number) for number in tables]
    found, _ = _find(program, inputs, refuse)
    return found


def evaluate(program: ClosedJaxpr, inputs: Sequence, rows: list, tables: dict[int, jax.Array]):
    """The results of a linear program for tangents of rows, nested as the lookups are.

    `inputs` holds a `Table` for each tangent of a table. `tables` holds, by number, the tangents of
    the tables that are used in other ways than by lookup.
    """
    return [_dense(x, tables) for x in _evaluate(program, inputs, rows, tables)]


# --- searching ---


class _Known:
    """An equation whose inputs are known. It is evaluated when a position needs its results."""

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
    """One result of an equation between known values."""

    source: _Known
    number: int


def _value(x):
    """The value of a known input; evaluates the equations that it comes from."""
    return x.source.evaluate()[x.number] if isinstance(x, _Result) else x


def _is_known(x) -> bool:
    return not isinstance(x, (_Tangent, Table))


def _find(program: ClosedJaxpr, inputs: Sequence, refuse: Refuse) -> tuple[list, list]:
    """The lookups, and the results of the program: known, a `Table`, or `_TANGENT`.

    Each of `inputs` is one of these too.
    """
    found = []
    mesh = jax.sharding.get_abstract_mesh()

    def step(eqn: JaxprEqn, inputs: list) -> list:
        nothing = [_TANGENT] * len(eqn.outvars)
        table = _first_table(inputs)
        if all(map(_is_known, inputs)):
            known = _Known(eqn, inputs)
            return [_Result(known, n) for n in range(len(eqn.outvars))]
        rule = _RULES.get(eqn.primitive)
        if rule is not None:
            # An equation in a function of JAX is at the place that the function is called at.
            refuse_inside = lambda inner, x: refuse(_jax_internals.placed(inner, eqn), x)  # noqa: E731
            found_inside, results = rule.find(eqn, inputs, refuse_inside)
            if table is not None:
                found.append(_brought(found_inside, mesh))
            return results
        if table is None:
            return nothing
        if (passed := _passed_on(eqn, table)) is not None:
            return [passed]
        if (access := _access(eqn, inputs)) is not None:
            found.append(_brought(_lookup(eqn, access, inputs), mesh))
        else:
            for x in inputs:
                if isinstance(x, Table):
                    refuse(eqn, x)
        return nothing

    return found, jaxprs.walk(program, inputs, step)


def _lookup(eqn: JaxprEqn, access: Access, inputs: list) -> Lookup:
    """The lookup that `eqn` is; its positions are evaluated here."""
    table, *indices = inputs
    if not all(map(_is_known, indices)):
        raise _unknown(eqn, "the indices of a lookup")
    with explicit_axes.auto_around(jaxprs.mesh_of(eqn)):
        values = [explicit_axes.brought(_value(x)) for x in indices]
        positions = access.positions(starts_of(eqn, values))
    return Lookup(
        positions=positions,
        table=table.number,
        table_shape=access.shape,
        depth=access.depth,
        masked=access.mode != lax.GatherScatterMode.CLIP,
        sharding=access.sharding,
        spread_over=table.spread_over,
    )


def _brought(found: Any, mesh: Any) -> Any:
    """Lookups, with positions of types on a mesh."""
    with explicit_axes.around(mesh):
        return jax.tree.map(Lookup.brought, found, is_leaf=is_lookup)


def _unknown(eqn: JaxprEqn, noun: str) -> NotImplementedError:
    return NotImplementedError(
        f"sparse_value_and_grad: {noun} must not come out of a while_loop that also computes what "
        f"is differentiated; received such{jaxprs.where(eqn)}"
    )


def _find_inside(eqn: JaxprEqn, inputs: list, refuse: Refuse) -> tuple[list, list]:
    return _find(_jax_internals.body(eqn), inputs, refuse)


def _find_in_scan(eqn: JaxprEqn, inputs: list, refuse: Refuse) -> tuple[list, list]:
    """By a loop whose rounds walk the body, so that positions come out stacked."""
    body = _jax_internals.body(eqn)
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
        length=_jax_internals.param(eqn, "length"),
        reverse=_jax_internals.param(eqn, "reverse"),
    )
    results = iter([*carry, *ys])
    outs = [next(results) if known else _TANGENT for known in known_out]
    return found, _with_passed(passed, outs)


def _find_in_cond(eqn: JaxprEqn, inputs: list, refuse: Refuse) -> tuple[list, list]:
    """By a switch whose cases walk the branches."""
    index, *operands = inputs
    branches = _jax_internals.branches(eqn)
    known_out = _cond_known(eqn, list(map(_is_known, inputs)))
    passed = _passed_by_cond(eqn, inputs)
    if _first_table(inputs) is None and not any(known_out):
        return [], [_TANGENT] * len(eqn.outvars)
    if not _is_known(index):
        raise _unknown(eqn, "the predicate or index of a cond that uses a table")
    values = [_value(x) for x in operands if _is_known(x)]

    def find(branch: ClosedJaxpr, values):
        values = iter(values)
        args = [next(values) if _is_known(x) else x for x in operands]
        found, results = _find(branch, args, refuse)
        _refuse_results(eqn, results, passed, refuse)
        return found, [_value(x) for x, known in zip(results, known_out, strict=True) if known]

    # Every case returns the lookups of all branches, as `lax.switch` wants one type of result. The
    # lookups of the other branches read nothing.
    types = [jax.eval_shape(lambda *v, b=b: find(b, v)[0], *values) for b in branches]
    absent = [[look.nowhere() for look in _flat(found)] for found in types]
    structures = [jax.tree.structure(found, is_leaf=is_lookup) for found in types]

    def take(number: int, *values):
        found = [s.unflatten(a) for s, a in zip(structures, absent, strict=True)]
        found[number], results = find(branches[number], values)
        return found, results

    cases = [lambda *values, n=n: take(n, *values) for n in range(len(branches))]
    found, results = jaxprs.switch(eqn, lambda: _value(index), cases, *values)
    results = iter(results)
    outs = [next(results) if known else _TANGENT for known in known_out]
    return found, _with_passed(passed, outs)


def _refuse_results(eqn: JaxprEqn, results: list, passed: list, refuse: Refuse) -> None:
    """Refuses tables that a body returns, unless the equation is known to pass them on."""
    for x, on in zip(results, passed, strict=True):
        if isinstance(x, Table) and on is None:
            refuse(eqn, x)


def _known_results(program: ClosedJaxpr, known: Sequence[bool]) -> list[bool]:
    """Which results depend on known inputs alone."""

    def step(eqn: JaxprEqn, known: list[bool]) -> list[bool]:
        if all(known):
            return [True] * len(eqn.outvars)
        rule = _RULES.get(eqn.primitive)
        return rule.known(eqn, known) if rule else [False] * len(eqn.outvars)

    return jaxprs.walk(program, known, step, literal=lambda _: True)


def _inside_known(eqn: JaxprEqn, known: list[bool]) -> list[bool]:
    return _known_results(_jax_internals.body(eqn), known)


def _scan_known(eqn: JaxprEqn, known: list[bool]) -> list[bool]:
    """Which results of a loop are known.

    A carry is known if it is so at the start and each round makes it from known inputs. Repeated
    until nothing changes, as a carry that is found unknown may make others unknown.
    """
    num_consts, num_carry = _jax_internals.scan_counts(eqn)
    known = list(known)
    while True:
        results = _known_results(_jax_internals.body(eqn), known)
        carry = slice(num_consts, num_consts + num_carry)
        still = [a and b for a, b in zip(known[carry], results[:num_carry], strict=True)]
        results[:num_carry] = still
        if still == known[carry]:
            return results
        known[carry] = still


def _cond_known(eqn: JaxprEqn, known: list[bool]) -> list[bool]:
    """The results that every branch makes from known inputs; none if the index is not known."""
    if not known[0]:
        return [False] * len(eqn.outvars)
    branches = [_known_results(branch, known[1:]) for branch in _jax_internals.branches(eqn)]
    return [all(results) for results in zip(*branches, strict=True)]


# --- evaluating ---


def _evaluate(program: ClosedJaxpr, inputs: Sequence, rows: list, tables: dict) -> list:
    """Results of a program; each of `inputs` and results is an array or a `Table`."""
    next_rows: Iterator = iter(rows)

    def step(eqn: JaxprEqn, inputs: list) -> list:
        table = _first_table(inputs)
        if table is None:
            return jaxprs.bind(eqn, inputs)
        rule = _RULES.get(eqn.primitive)
        if rule is not None:
            rows = jax.tree.map(explicit_axes.brought, next(next_rows))
            return rule.evaluate(eqn, inputs, rows, tables)
        if (passed := _passed_on(eqn, table)) is not None:
            return [passed]
        if (access := _access(eqn, inputs)) is not None:
            return [_rows_of(eqn, access, table.cast(next(next_rows)))]
        return jaxprs.bind(eqn, [_dense(x, tables) for x in inputs])

    return jaxprs.walk(program, inputs, step)


def _rows_of(eqn: JaxprEqn, access: Access, rows: jax.Array) -> jax.Array:
    with explicit_axes.auto_around(jaxprs.mesh_of(eqn)):
        result = access.to_result(explicit_axes.brought(rows))
    return explicit_axes.brought(result, jaxprs.spec_of(eqn))


def _evaluate_inside(eqn: JaxprEqn, inputs: list, rows: list, tables: dict) -> list:
    return _evaluate(_jax_internals.body(eqn), inputs, rows, tables)


def _evaluate_checkpoint(eqn: JaxprEqn, inputs: list, rows: list, tables: dict) -> list:
    """Within a `jax.checkpoint` with the same policy, so that memory is saved still."""
    passed: list = []

    def body(values, rows):
        results = _evaluate(_jax_internals.body(eqn), _with_tables(inputs, values), rows, tables)
        passed[:] = [x if isinstance(x, Table) else None for x in results]
        return _without_tables(results)

    checkpointed = jax.checkpoint(
        body,
        prevent_cse=_jax_internals.param(eqn, "prevent_cse"),
        policy=_jax_internals.param(eqn, "policy"),
    )
    results = iter(checkpointed(_without_tables(inputs), rows))
    return [next(results) if table is None else table for table in passed]


def _evaluate_scan(eqn: JaxprEqn, inputs: list, rows: list, tables: dict) -> list:
    """By a loop whose rounds get their rows; a table is not carried, but put back around it."""
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
        results = _evaluate(_jax_internals.body(eqn), args, rows, tables)
        results = _without_passed(passed, results, tables)
        split = len(_without_tables(init))
        return results[:split], results[split:]

    carry, ys = lax.scan(
        step,
        _without_tables(init),
        (xs, rows),
        length=_jax_internals.param(eqn, "length"),
        reverse=_jax_internals.param(eqn, "reverse"),
        unroll=_jax_internals.param(eqn, "unroll"),
    )
    return _with_passed(passed, [*_with_tables(init, carry), *ys])


def _evaluate_cond(eqn: JaxprEqn, inputs: list, rows: list, tables: dict) -> list:
    """By a switch whose cases take the rows of their branch."""
    index, *operands = inputs
    passed = _passed_by_cond(eqn, inputs)

    def take(number: int, values, rows):
        branch = _jax_internals.branches(eqn)[number]
        results = _evaluate(branch, _with_tables(operands, values), rows[number], tables)
        return _without_passed(passed, results, tables)

    cases = [lambda *args, n=n: take(n, *args) for n in range(len(_jax_internals.branches(eqn)))]
    results = iter(jaxprs.switch(eqn, lambda: index, cases, _without_tables(operands), rows))
    return [next(results) if table is None else table for table in passed]


def _without_tables(values: Iterable) -> list:
    return [x for x in values if not isinstance(x, Table)]


def _with_tables(like: Iterable, values: Iterable) -> list:
    """Undoes `_without_tables(like)`: `values`, with the tables of `like` in their places."""
    values = iter(values)
    return [x if isinstance(x, Table) else next(values) for x in like]


def _with_passed(passed: list, results: list) -> list:
    """`results`, with the tables that are passed on put in their places."""
    return [x if table is None else table for x, table in zip(results, passed, strict=True)]


def _without_passed(passed: list, results: list, tables: dict) -> list:
    """`results` without the tables that are passed on; other tables become dense tangents."""
    return [_dense(x, tables) for x, on in zip(results, passed, strict=True) if on is None]


def _dense(x, tables: dict[int, jax.Array]):
    """The dense tangent for a table, an array as it is."""
    return x.cast(tables[x.number]) if isinstance(x, Table) else x


# --- both ---


@dataclasses.dataclass(frozen=True)
class _Rule:
    """How to go into the body of an equation: while searching, evaluating, and for `known`."""

    find: Callable  # equation, inputs, refuse -> lookups, results
    evaluate: Callable  # equation, inputs, rows, tables -> results
    known: Callable  # equation, which inputs are known -> which results are known


_RULES = {
    jax_primitives.jit_p: _Rule(_find_inside, _evaluate_inside, _inside_known),
    jax_primitives.closed_call_p: _Rule(_find_inside, _evaluate_inside, _inside_known),
    jax_primitives.remat_p: _Rule(_find_inside, _evaluate_checkpoint, _inside_known),
    jax_primitives.scan_p: _Rule(_find_in_scan, _evaluate_scan, _scan_known),
    jax_primitives.cond_p: _Rule(_find_in_cond, _evaluate_cond, _cond_known),
}


def _passed_by_scan(eqn: JaxprEqn, inputs: list) -> list[Table | None]:
    """For each result of a loop the table that it is, carried without a change; else None."""
    return _tables_of(jaxprs.unchanged_by_scan(eqn, inputs))


def _passed_by_cond(eqn: JaxprEqn, inputs: list) -> list[Table | None]:
    """For each result of a `cond` the table that all its branches return; else None."""
    return _tables_of(jaxprs.unchanged_by_cond(eqn, inputs))


def _tables_of(values: Iterable) -> list[Table | None]:
    return [x if isinstance(x, Table) else None for x in values]


def _lost_by_scan(eqn: JaxprEqn, inputs: list) -> list[int]:
    """Which inputs are tables that a loop carries with a change, or goes through row by row."""
    num_consts, num_carry = _jax_internals.scan_counts(eqn)
    passed = _passed_by_scan(eqn, inputs)[:num_carry]
    tables = [n for n in range(num_consts, len(inputs)) if isinstance(inputs[n], Table)]
    return [n for n in tables if n >= num_consts + num_carry or passed[n - num_consts] is None]


def _first_table(values: Iterable) -> Table | None:
    return next((x for x in values if isinstance(x, Table)), None)


def _passed_on(eqn: JaxprEqn, table: Table) -> Table | None:
    """The table that `eqn` returns, if it only copies or casts it."""
    if eqn.primitive in jaxprs.IDENTITIES or eqn.primitive.name in jaxprs.RESHARDS:
        return table
    if eqn.primitive is jax_primitives.convert_element_type_p:
        dtype = jaxprs.type_of(eqn.outvars[0]).dtype
        return dataclasses.replace(table, dtypes=(*table.dtypes, dtype))
    if eqn.primitive.name == "pvary":
        axes = table.spread_over.union(_jax_internals.param(eqn, "axes"))
        return dataclasses.replace(table, spread_over=axes)
    return None


def _access(eqn: JaxprEqn, inputs: list) -> Access | None:
    """How `eqn` looks its first input up; None if that is no table, or this no lookup."""
    return access_of(eqn) if isinstance(inputs[0], Table) else None


def _flat(found) -> list[Lookup]:
    return jax.tree.leaves(found, is_leaf=is_lookup)
