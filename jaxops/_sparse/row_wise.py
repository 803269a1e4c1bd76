"""Whether an optimizer treats each row of a table by itself, and may be run on some of them.

Found out from its traced programs, not from its name:

1. State (`states`). `init` is evaluated for types, with the table and with a longer one. A leaf of
   the state that has the table's shape both times holds its rows. If a leaf grows in another way,
   such as one number for each row, the table is refused. The other leaves are shared by all rows.
2. Program (`_problems_along`). `update` is traced with 5 rows and with 4001, and both programs are
   followed side by side. A size or number that differs between them depends on the number of rows.
   Of each value is known along which axis rows stand, on which inputs it depends, and which number
   it is in the rows without a gradient (`absent`). With a gradient `g`, parameters `p` and a state
   `s` of shape [rows, 3] that gives:

       update                 equation              what is known of its result
       0.9 * s + g            mul 0.9 s             rows along axis 0
                              add _ g               rows along axis 0: works
       g / norm(g)            mul g g               rows along axis 0, absent: 0
                              reduce_sum _          one number; absent rows add 0 to it
                              div g (sqrt _)        rows along axis 0, absent: 0: works
       g / norm(p)            mul p p               rows along axis 0, absent: not known
                              reduce_sum _          refused: sums rows without a gradient too
       g / rows               div g 5.0             refused: it is 4001.0 in the other program

3. Choices (`Judge.phases`). A choice by a value that all rows share, such as a step count, is a
   gate. The programs are followed again with each gate forced each way. That shows an optimizer
   that collects gradients, `s = where(ready, 0, s + g)` with the update `where(ready, s + g, 0)`:
   with `ready` the new `s` does not depend on the old one; without it the update does not depend on
   `g`, but the new `s` does. It is refused: a row without a gradient in the step that is ready
   would not be updated, and lose the gradients that it has collected.

An optimizer that decides by values in Python cannot be traced, and is not refused.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr

from jaxops._run import arguments
from jaxops._sparse import row_errors, row_facts

_OP = "lazy"

# An optimizer that looks at values cannot be followed.
LOOKS_AT_VALUES = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)


class Params(NamedTuple):
    """Parameters without their values."""

    paths: list[str]
    types: Sequence[jax.ShapeDtypeStruct]
    structure: Any

    def resized(self, sizes: Mapping[int, tuple[int, int]]) -> Params:
        """With other sizes, which are given as leaf: (axis, size)."""
        types = list(self.types)
        for n, (axis, size) in sizes.items():
            shape = [*types[n].shape]
            shape[axis] = size
            types[n] = jax.ShapeDtypeStruct(tuple(shape), types[n].dtype)
        return self._replace(types=types)


def flatten(params: Any) -> tuple[Params, list[jax.Array]]:
    """The parameters without their values, and their leaves."""
    with_paths, structure = jax.tree_util.tree_flatten_with_path(params)
    paths = [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in with_paths]
    leaves = [
        arguments.to_operand(leaf, _OP, f"parameter {path!r}")
        for path, (_, leaf) in zip(paths, with_paths, strict=True)
    ]
    types = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves]
    return Params(paths, types, structure), leaves


class States(NamedTuple):
    """Shapes of the leaves of an optimizer's state, and the table whose rows each leaf holds."""

    shapes: list[tuple[int, ...]]
    owners: list[int | None]  # None: shared by all rows
    problems: dict[int, str]  # of tables with a state that is not rows of theirs


def states(optimizer: Any, params: Params, tables: Sequence[int]) -> States:
    """From how the shapes of the leaves change when the tables get more rows."""
    # Each table gets another number of rows more, by which it is recognized.
    more = {n: (0, params.types[n].shape[0] + 1 + place) for place, n in enumerate(tables)}
    larger = params.resized(more)
    try:
        shapes, new_shapes = (
            [leaf.shape for leaf in jax.tree.leaves(_state_types(optimizer, p))]
            for p in (params, larger)
        )
    except LOOKS_AT_VALUES as error:
        raise ValueError(
            f"{_OP}: the optimizer's init must work under jax.eval_shape, without values; received "
            f"one that raises {type(error).__name__}"
        ) from error
    found = States(shapes, [None] * len(shapes), {})
    for place, (shape, new_shape) in enumerate(zip(shapes, new_shapes, strict=True)):
        if shape == new_shape:
            continue
        pairs = {n: (params.types[n].shape, larger.types[n].shape) for n in tables}
        owners = [n for n, pair in pairs.items() if pair == (shape, new_shape)]
        if owners:
            found.owners[place] = owners[0]
            continue
        dims = set(zip(shape, new_shape, strict=False))
        rows = [n for n, (old, new) in pairs.items() if (old[0], new[0]) in dims]
        for n in rows or tables:
            found.problems[n] = (
                f"{_OP}: the optimizer must be element-wise, with states of the shape of table "
                f"{params.paths[n]!r}, {params.types[n].shape}; received one that keeps {shape} "
                "for it"
            )
    return found


def _state_types(optimizer: Any, params: Params) -> Any:
    return jax.eval_shape(optimizer.init, params.structure.unflatten(params.types))


# --- before the first step, when it is not known which parameters will be tables ---


def possible_tables(optimizer: Any, params: Params) -> tuple[frozenset[int], States]:
    """The parameters that are certain to be right as tables, and states. Raises if none can be.

    If some parameters have several dimensions, a parameter of one dimension counts as a table only
    if it is as long as the longest.
    """
    lengths = {n: t.shape[0] for n, t in enumerate(params.types) if t.shape}
    rank = min(2, max((len(t.shape) for t in params.types), default=0))
    tables = [
        n
        for n, length in sorted(lengths.items(), key=lambda item: -item[1])
        if len(params.types[n].shape) >= rank or length == max(lengths.values())
    ]
    found = states(optimizer, params, tables)
    if not tables:
        return frozenset(), found
    rest = [n for n in tables if n not in found.problems]
    owners = [n if n in rest else None for n in found.owners]
    is_known, found_before = _problems_before_steps(optimizer, params, rest, owners)
    refusals = {**found.problems, **found_before}
    if all(n in refusals for n in tables):
        raise ValueError(refusals[tables[0]])
    return frozenset(tables).difference(refusals) if is_known else frozenset(), found


def _problems_before_steps(
    optimizer: Any, params: Params, tables: Sequence[int], owners: Sequence[int | None]
) -> tuple[bool, dict[int, str]]:
    """Whether all problems are found, and the problems by table.

    Not all are if `update` needs arguments that only `apply` knows.
    """
    depths = dict.fromkeys(tables, 1)
    if not tables:
        return True, {}
    try:
        return True, problems(optimizer, params, depths, owners, {})
    except LOOKS_AT_VALUES:
        return False, {}
    except WrongStructure as error:
        return True, dict.fromkeys(tables, str(error))
    except Exception as error:
        # A NameError may be about an axis that exists in the steps only, under `shard_map`.
        if not (takes_extra(optimizer) or isinstance(error, NameError)):
            message = (
                f"{_OP}: the optimizer must take gradients of the structure of the parameters; "
                f"received one whose update raises {type(error).__name__}: {error}"
            )
            return True, dict.fromkeys(tables, message)
    for extra in _usual_extra():
        try:
            return False, problems(optimizer, params, depths, owners, extra)
        except Exception:
            pass  # it wants other arguments
    return False, {}


def takes_extra(optimizer: Any) -> bool:
    """Whether `update` may take more arguments than gradients, state and parameters."""
    parameters = list(inspect.signature(optimizer.update).parameters.values())
    return len(parameters) > 3 or any(p.kind is p.VAR_KEYWORD for p in parameters)


_GRADIENTS = object()  # the gradients that `update` gets, as an extra argument


def _usual_extra() -> list[dict[str, Any]]:
    """Extra arguments of optax's transformations: the loss, and functions that compute it."""

    def loss(params, *_, **__):
        return jnp.tanh(sum(jnp.sum(x) for x in jax.tree.leaves(params)))

    def grad(params, *_, **__):
        return jax.grad(loss)(params)

    value = {"value": jnp.zeros(())}
    search = {**value, "grad": _GRADIENTS, "value_fn": loss}
    return [value, search, {"obj_fn": loss}, {"grad_fn": grad}]


# --- for given tables ---


def check(
    optimizer: Any,
    params: Params,
    depths: Mapping[int, int],
    states: States,
    extra: Mapping[str, Any],
) -> None:
    """Refuses an optimizer that cannot be run on the rows of one of the tables."""
    try:
        found = states.problems or problems(optimizer, params, depths, states.owners, extra)
    except LOOKS_AT_VALUES:
        return
    except (TypeError, ValueError) as error:
        if not extra or isinstance(error, WrongStructure):
            raise
        raise ValueError(
            f"{_OP}: the optimizer must take tables of any number of rows with the other arguments "
            f"it is given, {sorted(extra)}; received one whose update raises "
            f"{type(error).__name__}: {error}"
        ) from error
    for message in found.values():
        raise ValueError(message)


def problems(
    optimizer: Any,
    params: Params,
    depths: Mapping[int, int],
    owners: Sequence[int | None],
    extra: Mapping[str, Any],
) -> dict[int, str]:
    """Why an optimizer cannot be run on the rows of some of the tables.

    Args:
        optimizer: as for `lazy`.
        params: the parameters.
        depths: by table, along how many axes rows are counted: more than one for elements.
        owners: for each leaf of the state, the table whose rows it holds.
        extra: other arguments of `optimizer.update`.
    """
    found: dict[int, str] = {}
    is_whole = max(depths.values()) == 1
    for place in range(max(depths.values())):
        axes = {n: min(place, depth - 1) for n, depth in depths.items()}
        along = _problems_along(optimizer, params, axes, owners, extra, is_whole)
        found = {**along, **found}
    return found


def is_value(x: Any) -> bool:
    """Whether an extra argument is a value, which may change from step to step."""
    return isinstance(x, (jax.Array, np.ndarray, np.generic, float))


# Numbers of rows to trace with. None of `_many` is a multiple of this one.
_FEW = 5


def _many() -> Iterator[int]:
    """A different number of rows for each table."""
    return (n for n in itertools.count(4001) if n % _FEW)


class _Traced(NamedTuple):
    program: ClosedJaxpr
    state_paths: list[str]


def _trace(optimizer: Any, params: Params, extra: Mapping[str, Any]) -> _Traced:
    """The program from gradients, state, parameters and extra arrays to updates and new state."""
    with_paths, state_structure = jax.tree_util.tree_flatten_with_path(
        _state_types(optimizer, params)
    )
    extra_leaves, extra_structure = jax.tree.flatten(dict(extra))
    is_array = list(map(is_value, extra_leaves))
    arrays = [x for x, is_one in zip(extra_leaves, is_array, strict=True) if is_one]
    inputs = [*params.types, *(leaf for _, leaf in with_paths), *params.types]
    sizes = np.cumsum([len(params.types), len(with_paths), len(params.types)])

    def update(*leaves):
        gradients, state, values, given = (
            leaves[start:stop] for start, stop in zip([0, *sizes], [*sizes, None], strict=True)
        )
        given = iter(given)
        gradients = params.structure.unflatten(gradients)
        merged = [
            gradients if x is _GRADIENTS else next(given) if is_one else x
            for x, is_one in zip(extra_leaves, is_array, strict=True)
        ]
        return optimizer.update(
            gradients,
            state_structure.unflatten(state),
            params.structure.unflatten(values),
            **extra_structure.unflatten(merged),
        )

    types = [jax.ShapeDtypeStruct(np.shape(x), jnp.result_type(x)) for x in arrays]
    # optax's transformations promote types; which types they get decides nothing here.
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        program, result = jax.make_jaxpr(update, return_shape=True)(*inputs, *types)
    updates, state = result
    leaves_like(updates, params.structure, "updates")
    leaves_like(state, state_structure, "state")
    return _Traced(program, [jax.tree_util.keystr(path) for path, _ in with_paths])


class WrongStructure(ValueError):
    """An optimizer returns another structure than it must."""


class NotAnyNumber(ValueError):
    """An optimizer does not take tables of some numbers of rows."""


def sums_rows(
    optimizer: Any,
    params: Params,
    tables: Sequence[int],
    owners: Sequence[int | None],
    extra: Mapping[str, Any],
) -> bool:
    """Whether some number is a sum over rows, such as a norm of the gradient.

    True also where `update` looks at values, and so cannot be followed.
    """
    try:
        judge = Judge(optimizer, params, dict.fromkeys(tables, 0), owners, extra)
        return judge.follow({})[1].sums_rows
    except (*LOOKS_AT_VALUES, NotAnyNumber, row_facts.DifferentPrograms):
        return True


def leaves_like(tree: Any, structure: Any, what: str) -> list:
    """The leaves of a result of the optimizer, which must have this structure."""
    leaves, received = jax.tree.flatten(tree)
    if received != structure:
        raise WrongStructure(
            f"{_OP}: the optimizer's {what} must have the structure {structure}; "
            f"received {received}"
        )
    return leaves


def _problems_along(
    optimizer: Any, params: Params, axes: Mapping[int, int], owners, extra, is_whole: bool
) -> dict[int, str]:
    """The problems by table, if rows are counted along one axis of each."""
    try:
        judge = Judge(optimizer, params, axes, owners, extra, only_whole=not is_whole)
        results, rows = judge.follow({})
    except NotAnyNumber as error:
        return dict.fromkeys(axes, str(error))
    except row_facts.DifferentPrograms as error:
        what = "computes other things for other numbers of rows"
        problem = row_facts.Problem(what, error.equations)
        return {n: row_errors.row_message(params.paths[n], problem) for n in axes}
    found = {}
    for n in axes:
        problem = judge.problem(n, results)
        if problem is not None:
            found[n] = row_errors.row_message(params.paths[n], problem)
    rest = [n for n in axes if n not in found]
    for n, (place, gate, keeps) in judge.phases(rest, results, rows).items():
        found[n] = row_errors.phase_message(params.paths[n], judge.state_paths[place], gate, keeps)
    return found


class Judge:
    """Follows the rows of tables through a pair of programs, traced with few and with many rows.

    Both have the same inputs: gradients, state, parameters, extra arrays; results: updates, state.
    Raises whatever `update` does with few rows, and `NotAnyNumber` if it raises with many.
    """

    def __init__(
        self,
        optimizer: Any,
        params: Params,
        axes: Mapping[int, int],
        owners: Sequence,
        extra: Mapping[str, Any],
        only_whole: bool = False,
    ):
        few = params.resized({n: (axis, _FEW) for n, axis in axes.items()})
        many = params.resized({n: (axes[n], size) for n, size in zip(axes, _many(), strict=False)})
        traced = _trace(optimizer, few, extra)
        try:
            self.programs = traced.program, _trace(optimizer, many, extra).program
        except Exception as error:
            raise NotAnyNumber(
                f"{_OP}: the optimizer must take tables of any number of rows; received one whose "
                f"update raises {type(error).__name__} for {[t.shape for t in many.types]}: {error}"
            ) from error
        self.state_paths = traced.state_paths
        self.axes = axes
        self.owners = owners
        self.sizes = {
            (few.types[n].shape[axis], many.types[n].shape[axis]): n for n, axis in axes.items()
        }
        self.only_whole = only_whole
        avals = self.programs[0].in_avals
        self.num_leaves = len(params.types)
        num_extra = len(avals) - 2 * self.num_leaves - len(owners)
        leaves = [n if n in axes else None for n in range(self.num_leaves)]
        self.tables = [*leaves, *owners, *leaves, *[None] * num_extra]
        self.gradients = range(self.num_leaves)
        self.parameters = range(self.num_leaves + len(owners), 2 * self.num_leaves + len(owners))
        self.gate_inputs = frozenset(
            n
            for n, table in enumerate(self.tables)
            if table is None and n not in self.gradients and n not in self.parameters
        )

    def follow(
        self,
        forced: Mapping[tuple, int],
        of_data: int | None = None,
        zeros: frozenset[int] = frozenset(),
    ):
        """The results of the programs, with some gates forced, and the walk that found them.

        With `zeros`, inputs that are 0, it is for a row without a gradient, where others have one.
        """
        rows = row_facts.Rows(
            {n: table for n, table in enumerate(self.tables) if table is not None},
            self.sizes,
            self.gate_inputs,
            forced,
            self.only_whole,
            of_data,
            frozenset(self.gradients) if zeros else frozenset(),
        )
        inputs = []
        for number, (table, aval) in enumerate(
            zip(self.tables, self.programs[0].in_avals, strict=True)
        ):
            value = row_facts.Value(
                inputs=frozenset([number]),
                signed=frozenset([number]),
                same_as=number,
                rows=None if table is None else (table, self.axes[table]),
                absent=0.0 if table is not None and number in self.gradients else None,
            )
            if number in zeros:
                value = row_facts.constant(0.0)._replace(rows=value.rows)
            if aval.shape == () and aval.dtype == np.bool_:
                value = rows.gate_of_input(value, number)
            inputs.append(value)
        return rows.run(self.programs, inputs), rows

    def problem(self, table: int, results: Sequence[row_facts.Value]) -> row_facts.Problem | None:
        """Why the rows of a table do not stay by themselves; None if they do."""
        owners = [*range(self.num_leaves), *self.owners]
        rows = table, self.axes[table]
        for owner, result in sorted(
            zip(owners, results, strict=True), key=lambda item: item[0] != table
        ):
            if table in result.mixed:
                return result.mixed[table]
            if owner == table and result.rows != rows and result.rows is not None:
                return row_facts.Problem("moves rows", ())
            if owner != table and result.rows is not None and result.rows[0] == table:
                return row_facts.Problem("keeps rows of the table for another parameter", ())
            if result.is_count:
                return row_facts.Problem("depends on the number of rows", ())
        return None

    def phases(self, tables: Sequence[int], results: Sequence[row_facts.Value], rows) -> dict:
        """States whose meaning changes from step to step.

        In some steps a gate makes such a state begin anew. In the steps between, the state collects
        gradients of which the updates are independent, or it keeps parameters of an earlier step.

        Returns by table: the leaf of the state, the gate, and whether the state keeps parameters.
        """
        places = [p for p, owner in enumerate(self.owners) if owner in tables]
        if not places:
            return {}
        seen = frozenset().union(
            *(results[n].inputs for n in tables),
            *(results[self.num_leaves + p].inputs for p in places),
        )
        ways = [
            (gate, self.follow({gate.path: way}, of_data)[0])
            for gate in rows.gates
            if gate.path in seen
            for way in range(gate.num_choices)
            for of_data in ([None, 0, 1] if rows.data_decide else [None])
        ]
        found = {}
        for place in places:
            table, number = self.owners[place], self.num_leaves + place
            if table in found:
                continue
            states = [(gate, outcome[number], outcome[table]) for gate, outcome in ways]
            begun = [
                (gate, state)
                for gate, state, _ in states
                if number not in state.inputs and number in results[number].inputs
            ]
            collects = [
                gate
                for gate, state, update in states
                if table not in update.inputs and table in state.signed
            ]
            waits = [gate for gate, state, _ in states if state.same_as == number]
            copies = [gate for gate, state in begun if self.parameters[table] in state.inputs]
            if begun and collects:
                found[table] = place, collects[0], False
            elif waits and copies:
                found[table] = place, copies[0], True
        return found
