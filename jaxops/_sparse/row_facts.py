"""Whether the rows of a table stay by themselves in a traced program.

The program is followed from equation to equation, with a `Value` for each array: along which of its
axes the rows of a table stand, on which inputs it depends, and which number it is in the rows that
have no gradient. Two traces of it, with different numbers of rows, are followed together: sizes,
numbers and parameters of equations that differ between them depend on the number of rows. Examples
are in the docstring of the module `_row_wise`, which judges optimizers by the results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal

from jaxops import _jax_internals
from jaxops._sparse import jaxprs, row_rules


class Problem(NamedTuple):
    """Why the rows of a table do not stay by themselves."""

    what: str
    equations: tuple[JaxprEqn, ...]  # the last is the cause, after the calls around it


class Value(NamedTuple):
    """What is known of an array. `inputs` holds numbers of inputs, and paths of gates."""

    rows: tuple[int, int] | None = None  # the table whose rows it holds, and along which axis
    inputs: frozenset = frozenset()  # inputs and gates on which it depends
    signed: frozenset = frozenset()  # the inputs on whose signs it depends, not on magnitudes alone
    constant: Any = None  # the number that all its elements are, if known
    absent: Any = None  # the number that elements of rows without a gradient are, if known
    same_as: int | None = None  # the input that it is
    is_count: bool = False  # whether it depends on the number of rows
    mixed: Mapping[int, Problem] = {}  # the tables whose rows met in it, and how


def constant(x: Any) -> Value:
    """A number, known to be so in all rows."""
    return Value(constant=x, absent=x)


class Gate(NamedTuple):
    """A choice that depends on no gradient and no parameter, such as one by a step count."""

    path: tuple  # numbers of equations: of a call, of the equation in its body, and so on
    num_choices: int
    equations: tuple[JaxprEqn, ...]


class Rows:
    """Follows a pair of programs, with some of the gates forced.

    Args:
        table_of_input: the table that an input is a gradient, a parameter or a state of.
        sizes: the numbers of rows in the two programs, and the table that has these numbers.
        gate_inputs: the inputs on which gates may depend.
        forced: paths of gates, and which way they go.
        only_whole: whether a reduction over some of the axes counts as mixing rows.
        of_data: which way choices go that depend on gradients or parameters; None: either.
        unseen: the inputs that are gradients, if what is followed is a row without one. Then all of
            its rows are the number that they are without a gradient, and a reduction over rows
            depends on the gradients of the others.
    """

    def __init__(
        self,
        table_of_input: Mapping[int, int],
        sizes: Mapping[tuple[int, int], int],
        gate_inputs: frozenset,
        forced: Mapping[tuple, int],
        only_whole: bool = False,
        of_data: int | None = None,
        unseen: frozenset = frozenset(),
    ):
        self.table_of_input = table_of_input
        self.sizes = sizes
        self.gate_inputs = gate_inputs
        self.forced = forced
        self.only_whole = only_whole
        self.of_data = of_data
        self.unseen = unseen
        self.data_decide = False
        self.sums_rows = False  # whether some number is a sum over rows
        self.gates: list[Gate] = []
        self.is_in_loop = False

    def run(
        self,
        programs: Sequence[ClosedJaxpr],
        inputs: Sequence[Value],
        path: tuple = (),
        calls: tuple[JaxprEqn, ...] = (),
    ) -> list[Value]:
        """The results of a pair of programs; `calls` are the equations around it."""
        first, second = (program.jaxpr for program in programs)
        values: dict = dict(zip(first.invars, inputs, strict=True))
        for var, *consts in zip(first.constvars, *(p.consts for p in programs), strict=True):
            values[var] = _of_constants(*consts)

        def read(atom, other):
            if not isinstance(atom, Literal):
                return values[atom]
            return _of_constants(atom.val, getattr(other, "val", _NO_NUMBER))

        for number, eqns in enumerate(_pairs(first.eqns, second.eqns, calls)):
            operands = [read(*atoms) for atoms in zip(eqns[0].invars, eqns[1].invars, strict=True)]
            here = (*path, number)
            results = self._step(eqns, operands, here, (*calls, eqns[0]))
            for n, (var, result) in enumerate(zip(eqns[0].outvars, results, strict=True)):
                aval = jaxprs.type_of(var)
                is_call = eqns[0].primitive.name in row_rules.CALLS
                if aval.shape == () and aval.dtype == np.bool_ and not is_call:
                    result = self._gate(result, (*here, n), 2, (*calls, eqns[0]))
                values[var] = result
        return [read(*atoms) for atoms in zip(first.outvars, second.outvars, strict=True)]

    def _gate(self, value: Value, path: tuple, num_choices: int, equations: tuple) -> Value:
        """The value of a choice, depending on itself if it is a gate; a number if it is forced."""
        if path in self.forced:
            return constant(
                np.asarray(self.forced[path], np.bool_ if num_choices == 2 else int)[()]
            )
        is_gate = bool(value.inputs) and all(
            isinstance(token, tuple) or token in self.gate_inputs for token in value.inputs
        )
        if value.constant is not None or self.is_in_loop:
            return value
        if not is_gate:
            self.data_decide |= bool(value.inputs)
            return value if self.of_data is None else constant(np.bool_(self.of_data))
        self.gates.append(Gate(path, num_choices, equations))
        return value._replace(inputs=value.inputs | {path})

    def gate_of_input(self, value: Value, number: int) -> Value:
        """The value of an input that is a bool, which may be a gate."""
        return self._gate(value, ("input", number), 2, ())

    # --- one equation ---

    def _step(self, eqns, operands: list[Value], path, equations) -> list[Value]:
        """The values of the results of one equation, which `eqns` holds from either program."""
        eqn = eqns[0]
        name = eqn.primitive.name
        if name == "cond":
            return self._cond(eqns, operands, path, equations)
        if name == "scan":
            return self._scan(eqns, operands, path, equations)
        if name == "while":
            return self._while(eqns, operands, path, equations)
        if name in row_rules.CALLS:
            return self.run([_jax_internals.body(e) for e in eqns], operands, path, equations)
        if name in row_rules.EACH_BY_ITSELF:
            return operands
        if name in row_rules.ELEMENTWISE:
            return [self._elementwise(eqns, operands, equations)]
        tables = {v.rows[0] for v in operands if v.rows}
        result = _union(operands)
        if len(tables) > 1:
            return self._mixed(eqn, result, tables, f"mixes rows ({name})", equations)
        if name == "dot_general":
            return [self._dot_general(eqn, operands, result, equations)]
        if name in row_rules.REDUCTIONS:
            return self._reduction(eqn, operands, result, equations)
        if not tables:
            return self._without_rows(eqns, operands, result, equations)
        return self._moved(eqns, operands, result, equations)

    def _mixed(self, eqn, result: Value, tables, what: str, equations) -> list[Value]:
        """Results in which rows of `tables` have met; `what` says how, for the message."""
        problem = Problem(what, equations)
        mixed = {**dict.fromkeys(tables, problem), **result.mixed}
        result = result._replace(rows=None, constant=None, absent=None, same_as=None, mixed=mixed)
        return [result] * len(eqn.outvars)

    def _tables_of(self, values: Sequence[Value]) -> set[int]:
        inputs = frozenset().union(*(v.inputs for v in values))
        return {self.table_of_input[n] for n in inputs if n in self.table_of_input}

    def _elementwise(self, eqns, operands: list[Value], equations) -> Value:
        """The result of an equation that computes each element from those at its place."""
        eqn = eqns[0]
        result = _union(operands)
        tables = {v.rows for v in operands if v.rows}
        if len(tables) > 1:
            what = "combines rows that do not stand at the same place"
            return self._mixed(eqn, result, {t for t, _ in tables}, what, equations)[0]
        known = row_rules.known_result(eqn, operands)
        if isinstance(known, int):
            # The result is this operand; the others are numbers, and at most spread it over rows.
            chosen = operands[known]
            if chosen.rows or not tables:
                return chosen
            return chosen._replace(rows=next(iter(tables)))
        folded = row_rules.fold(eqn, [v.constant for v in operands]) if known is None else known[0]
        if folded is not None:
            return Value(
                rows=next(iter(tables), None), constant=folded, absent=folded, mixed=result.mixed
            )
        if result.is_count or not row_rules.same_params(*eqns):
            touched = self._tables_of(operands)
            result = result._replace(is_count=not touched)
            if touched:
                what = "depends on the number of rows"
                result = self._mixed(eqn, result, touched, what, equations)[0]
        rows = next(iter(tables), None)
        absent = row_rules.fold_absent(eqn, [v.absent for v in operands])
        if self.unseen and rows and absent is not None and not result.mixed:
            return constant(absent)._replace(rows=rows)
        signed = frozenset() if row_rules.loses_sign(eqn) else result.signed
        return result._replace(rows=rows, signed=signed, absent=absent)

    def _without_rows(self, eqns, operands: list[Value], result: Value, equations) -> list[Value]:
        """Operands that hold no rows. Spread along the axis of the rows, they make equal rows."""
        eqn = eqns[0]
        results = []
        for outvars in zip(eqn.outvars, eqns[1].outvars, strict=True):
            first, second = (jaxprs.type_of(v).shape for v in outvars)
            axes = [n for n, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
            if not axes:
                keeps = eqn.primitive.name in row_rules.MOVES
                filled = result._replace(constant=operands[0].constant) if keeps else result
                results.append(filled._replace(absent=filled.constant))
                continue
            tables = [self.sizes.get((first[n], second[n])) for n in axes]
            if None in tables:
                # An axis that holds several tables, or parts of rows.
                tables = sorted(set(self.sizes.values()))
            alike = row_rules.rows_are_alike(eqn, axes)
            if len(axes) == 1 and len(tables) == 1 and alike:
                value = operands[0].constant if operands else None
                rows = (tables[0], axes[0])
                results.append(result._replace(rows=rows, constant=value, absent=value))
            elif result.mixed:
                results.append(result)
            else:
                what = f"gives rows values by their position ({eqn.primitive.name})"
                results += self._mixed(eqn, result, tables, what, equations)[:1]
        return results

    def _moved(self, eqns, operands: list[Value], result: Value, equations) -> list[Value]:
        """An operation that keeps rows apart if it works along other axes than theirs."""
        eqn = eqns[0]
        name = eqn.primitive.name
        (rows,) = {v.rows for v in operands if v.rows} if _agree(operands) else (None,)
        axis = None if rows is None else row_rules.moved_axis(eqns, operands, rows[1])
        if rows is None or axis is None:
            tables = {v.rows[0] for v in operands if v.rows}
            return self._mixed(eqn, result, tables, f"mixes rows ({name})", equations)
        absent = [row_rules.absent_after(name, v.absent) for v in operands if v.rows]
        is_known = len(absent) == len(operands) == 1 or name in row_rules.MOVES
        filled = operands[0].constant if name in row_rules.MOVES else None
        result = result._replace(
            rows=(rows[0], axis), constant=filled, absent=absent[0] if is_known else None
        )
        return [result] * len(eqn.outvars)

    def _reduction(self, eqn, operands: list[Value], result: Value, equations) -> list[Value]:
        """Over other axes than the rows, or over rows if the ones without gradient add nothing."""
        name = eqn.primitive.name
        (operand,) = operands
        axes = _jax_internals.param(eqn, "axes")
        rank = len(jaxprs.type_of(eqn.invars[0]).shape)
        if operand.rows is None:
            return [result._replace(absent=None)]
        table, axis = operand.rows
        if self.only_whole and len(axes) < rank:
            return self._mixed(eqn, result, {table}, f"mixes parts of rows ({name})", equations)
        if axis not in axes:
            axis -= sum(n < axis for n in axes)
            absent = row_rules.absent_after(name, operand.absent)
            return [result._replace(rows=(table, axis), absent=absent)]
        if not row_rules.is_identity(name, operand.absent):
            what = f"reduces over the rows without a gradient too ({name})"
            return self._mixed(eqn, result, {table}, what, equations)
        self.sums_rows = True
        return [result._replace(inputs=result.inputs | self.unseen)]

    def _dot_general(self, eqn, operands: list[Value], result: Value, equations) -> Value:
        """Rows must stand along a batch or free axis, or be summed, 0 where without gradient."""
        (contracting, batch) = _jax_internals.param(eqn, "dimension_numbers")
        places = []
        for n, operand in enumerate(operands):
            if operand.rows is None:
                continue
            axis = operand.rows[1]
            if axis in contracting[n]:
                places.append(("sum", tuple(contracting[n]).index(axis)))
            elif axis in batch[n]:
                places.append(("row", tuple(batch[n]).index(axis)))
            else:
                others = [*contracting[n], *batch[n]]
                position = len(batch[n]) + axis - sum(other < axis for other in others)
                if n == 1:
                    rank = len(jaxprs.type_of(eqn.invars[0]).shape)
                    position += rank - len(batch[0]) - len(contracting[0])
                places.append((f"row of {n}", position))
        if not places:
            return result._replace(constant=None, absent=None)
        (table,) = {v.rows[0] for v in operands if v.rows}
        is_sum = places[0][0] == "sum"
        together = len(places) == 2 and places[0] == places[1]
        alone = len(places) == 1 and not is_sum and places[0][0] != "row"
        is_zero = any(v.absent is not None and v.absent == 0 for v in operands)
        if (is_sum and together and is_zero and not self.only_whole) or (
            not is_sum and (together or alone) and not self.only_whole
        ):
            rows = None if is_sum else (table, places[0][1])
            if is_sum:
                self.sums_rows = True
                result = result._replace(inputs=result.inputs | self.unseen)
            absent = 0.0 if is_zero and rows else None
            return result._replace(rows=rows, absent=absent)
        what = f"mixes rows ({eqn.primitive.name})"
        return self._mixed(eqn, result, {table}, what, equations)[0]

    # --- control flow ---

    def _cond(self, eqns, operands: list[Value], path, equations) -> list[Value]:
        """The values of all branches that may be taken, joined."""
        index, *rest = operands
        branches = list(zip(*map(_jax_internals.branches, eqns), strict=True))
        index = self._gate(index, (*path, "index"), len(branches), equations)
        taken = range(len(branches)) if index.constant is None else [int(index.constant)]
        calls = equations[:-1]
        results = [self.run(branches[n], rest, (*path, n), calls) for n in taken]
        return [self._join(values, index, equations) for values in zip(*results, strict=True)]

    def _join(self, values: Sequence[Value], index: Value, equations) -> Value:
        """A value that is right whichever of `values` the result is, as `index` chooses."""
        if len(values) == 1:
            return values[0]
        result = _union(values)
        places = {v.rows for v in values}
        constants, absents = ([getattr(v, n) for v in values] for n in ("constant", "absent"))
        if len(places) > 1:
            tables = {rows[0] for rows in places if rows}
            eqn = equations[-1]
            what = "keeps rows at different places"
            return self._mixed(eqn, _union([result, index]), tables, what, equations)[0]
        result = result._replace(rows=next(iter(places)), absent=_common(absents))
        if (same := _common(constants)) is not None:
            return result._replace(constant=same, inputs=frozenset(), signed=frozenset())
        sames = {v.same_as for v in values}
        decided = _union([result, index])
        return result._replace(
            inputs=decided.inputs,
            signed=decided.signed,
            mixed=decided.mixed,
            is_count=decided.is_count,
            same_as=next(iter(sames)) if len(sames) == 1 else None,
        )

    def _loop(self, body: Callable, carry: list[Value], equations) -> tuple[list, list]:
        """What is known of carried values after any number of rounds, and of the other results."""
        was_in_loop, self.is_in_loop = self.is_in_loop, True
        try:
            while True:
                results = body(carry)
                new, others = results[: len(carry)], results[len(carry) :]
                pairs = zip(carry, new, strict=True)
                joined = [self._join(pair, Value(), equations) for pair in pairs]
                if list(map(_key, joined)) == list(map(_key, carry)):
                    return joined, others
                carry = joined
        finally:
            self.is_in_loop = was_in_loop

    def _scan(self, eqns, operands: list[Value], path, equations) -> list[Value]:
        """Rows stay by themselves in a loop that does not go over them."""
        eqn = eqns[0]
        num_consts, num_carry = _jax_internals.scan_counts(eqn)
        consts, carry = operands[:num_consts], operands[num_consts : num_consts + num_carry]
        xs = operands[num_consts + num_carry :]
        for x in xs:
            if x.rows and x.rows[1] == 0:
                result, tables = _union(operands), {v.rows[0] for v in operands if v.rows}
                return self._mixed(eqn, result, tables, "loops over the rows (scan)", equations)
        xs = [x._replace(rows=x.rows and (x.rows[0], x.rows[1] - 1), same_as=None) for x in xs]
        bodies, calls = [_jax_internals.body(e) for e in eqns], equations[:-1]

        def run(carry):
            return self.run(bodies, [*consts, *carry, *xs], path, calls)

        carry, ys = self._loop(run, carry, equations)
        ys = [y._replace(rows=y.rows and (y.rows[0], y.rows[1] + 1)) for y in ys]
        return [*carry, *ys]

    def _while(self, eqns, operands: list[Value], path, equations) -> list[Value]:
        """As `_scan`; whether the loop goes on decides its results too."""
        param = _jax_internals.param
        counts = param(eqns[0], "cond_nconsts"), param(eqns[0], "body_nconsts")
        cond_consts, body_consts = operands[: counts[0]], operands[counts[0] : sum(counts)]
        calls = equations[:-1]
        conds, bodies = ([param(e, n) for e in eqns] for n in ("cond_jaxpr", "body_jaxpr"))

        def run(carry):
            (goes_on,) = self.run(conds, [*cond_consts, *carry], path, calls)
            results = self.run(bodies, [*body_consts, *carry], path, calls)
            return [_decided_by(goes_on, x) for x in results]

        return self._loop(run, operands[sum(counts) :], equations)[0]


class DifferentPrograms(Exception):
    """The two programs are not the same, so the number of rows decides what is computed."""

    def __init__(self, equations: tuple[JaxprEqn, ...]):
        super().__init__()
        self.equations = equations


def _pairs(first: Sequence[JaxprEqn], second: Sequence[JaxprEqn], calls):
    """Equations of both programs, side by side; raises where they differ."""
    for number, eqn in enumerate(first):
        other = second[number] if number < len(second) else None
        if (
            other is None
            or other.primitive is not eqn.primitive
            or (len(other.invars) != len(eqn.invars))
        ):
            raise DifferentPrograms((*calls, eqn))
        yield eqn, other
    if len(second) > len(first):
        raise DifferentPrograms((*calls, second[len(first)]))


_NO_NUMBER = object()


def _of_constants(first: Any, second: Any) -> Value:
    """The value of a constant of both programs; it depends on the number of rows if they differ."""
    if first is not second:
        if not (jaxprs.is_known(first) and jaxprs.is_known(second)):
            return Value(is_count=second is _NO_NUMBER or np.shape(first) != np.shape(second))
        first, second = np.asarray(first), np.asarray(second)
        if not (first.shape == second.shape and np.array_equal(first, second, equal_nan=True)):
            return Value(is_count=True)
    is_number = jaxprs.is_known(first) and np.shape(first) == ()
    return constant(np.asarray(first)[()]) if is_number else Value()


def _union(values: Sequence[Value]) -> Value:
    """A value that depends on everything on which one of the values depends."""
    mixed: dict = {}
    for v in values:
        mixed = {**v.mixed, **mixed} if v.mixed else mixed
    return Value(
        inputs=frozenset().union(*(v.inputs for v in values)),
        signed=frozenset().union(*(v.signed for v in values)),
        is_count=any(v.is_count for v in values),
        mixed=mixed,
    )


def _decided_by(decision: Value, value: Value) -> Value:
    """`value`, which also depends on the decision to compute it."""
    both = _union([value, decision])
    return value._replace(inputs=both.inputs, signed=both.signed, mixed=both.mixed)


def _agree(operands: Sequence[Value]) -> bool:
    """Whether all operands that have rows have them along the same axis, of one table."""
    return len({v.rows for v in operands if v.rows}) == 1


def _common(items: Sequence) -> Any:
    """The value of all items if they are equal; else None."""
    first = items[0]
    if any(x is None for x in items) or any(x != first for x in items):
        return None
    return first


def _key(value: Value) -> tuple:
    """The part of a value that may change between rounds of a loop; problems once found stay."""
    return (*value._replace(mixed={}), frozenset(value.mixed))
