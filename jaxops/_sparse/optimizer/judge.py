"""Whether `lazy` may run an optimizer on some rows: judged by what it does in small runs.

An optimizer is refused for a table if one of the steps in which it is run (`steps`) shows that

- the step of some rows is not the dense step in these rows, and in what all rows share
  (`probe.py`);
- it collects gradients over several steps: in some steps its state begins anew, and in others the
  state takes the gradient while the update does not. With `ready` in every fourth step:

      s = where(ready, 0, s + g)     with ready: the same for another old s
      update = where(ready, s + g, 0)     without: the same for -g, while the new s is another one

  A row without a gradient in the step that is ready would be put back to the gradients that it has
  collected, and never be updated by them;
- it keeps parameters for later steps: the state stays as it is in some steps, and in others begins
  anew with the parameters.

A sign changes as magnitudes do not: an average of squares of gradients collects none.

What an optimizer does in step 1,000 is seen by setting its counts of steps: to the numbers that its
program and its state hold, less 2, each count by itself and together. Not found: what such a number
is computed from, as the 1,000 of `count == 10 * period`; a choice by a number that is no count, as
a loss that was small for long; gradients that are collected until their sum is beyond the
magnitudes in `_SCALES`.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from jaxops import _jax_internals
from jaxops._sparse import jaxprs
from jaxops._sparse.optimizer import refusals, trees
from jaxops._sparse.optimizer.probe import GRADIENTS, NotAnyNumber, Probe, UpdateRaises
from jaxops._sparse.optimizer.runner import CannotRun, Runner, Step, aside
from jaxops._sparse.optimizer.trees import LOOKS_AT_VALUES, Params, States, WrongStructure

_STEPS = 12
_SCALES = (None, 1e4, 1e-4)  # of gradients; None: of about 1 and either sign
_FORCED_STEPS = 8  # after counts were set
_MANY_SETTINGS = 64  # beyond so many each count is set by itself alone, and all to one number
_FEW = 16  # numbers in an array that may hold counts

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
    found = trees.states(optimizer, params, dict.fromkeys(tables, 1))
    if not tables:
        return frozenset(), found
    rest = [n for n in tables if n not in found.problems]
    is_known, found_before = _problems_before_steps(optimizer, params, rest, found.owners)
    refused = {**found.problems, **found_before}
    if all(n in refused for n in tables):
        raise ValueError(refused[tables[0]])
    return frozenset(tables).difference(refused) if is_known else frozenset(), found


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
    except CannotRun:
        return False, {}
    except WrongStructure as error:
        return True, dict.fromkeys(tables, str(error))
    except UpdateRaises as raised:
        error = raised.__cause__
        if isinstance(error, LOOKS_AT_VALUES):
            return False, {}
        # A NameError may be about an axis that exists in the steps only, under `shard_map`.
        if not (takes_extra(optimizer) or isinstance(error, NameError)):
            message = (
                f"{trees.OP}: the optimizer must take gradients of the structure of the "
                f"parameters; received one whose update raises {type(error).__name__}: {error}"
            )
            return True, dict.fromkeys(tables, message)
    for extra in _usual_extra():
        with contextlib.suppress(UpdateRaises, WrongStructure, CannotRun):  # it wants others
            return False, problems(optimizer, params, depths, owners, extra)
    return False, {}


def takes_extra(optimizer: Any) -> bool:
    """Whether `update` may take more arguments than gradients, state and parameters."""
    parameters = list(inspect.signature(optimizer.update).parameters.values())
    return len(parameters) > 3 or any(p.kind is p.VAR_KEYWORD for p in parameters)


def _usual_extra() -> list[dict[str, Any]]:
    """Extra arguments of optax's transformations: the loss, and functions that compute it."""

    def loss(params, *_, **__):
        return jnp.tanh(sum(jnp.sum(x) for x in jax.tree.leaves(params)))

    def grad(params, *_, **__):
        return jax.grad(loss)(params)

    value = {"value": jnp.zeros(())}
    search = {**value, "grad": GRADIENTS, "value_fn": loss}
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
    except CannotRun:
        return
    except UpdateRaises as raised:
        error = raised.__cause__
        assert error is not None
        if isinstance(error, LOOKS_AT_VALUES):
            return
        if not extra or not isinstance(error, (TypeError, ValueError)):
            raise error from None
        raise ValueError(
            f"{trees.OP}: the optimizer must take tables of any number of rows with the other "
            f"arguments it is given, {sorted(extra)}; received one whose update raises "
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
    """By table, the message about an optimizer that cannot be run on some of its rows.

    The arguments are those of `Probe`.
    """
    owners = [n if n in depths else None for n in owners]
    try:
        probe = Probe(optimizer, params, depths, owners, extra)
    except NotAnyNumber as error:
        if len(depths) > 1:
            return _each_alone(optimizer, params, depths, owners, extra, str(error))
        return dict.fromkeys(depths, str(error))
    if probe.difference is not None:
        if len(depths) > 1:
            return _each_alone(optimizer, params, depths, owners, extra)
        what = "computes other things for other numbers of rows"
        return {n: refusals.of_rows(params.paths[n], what, probe.difference) for n in depths}
    if probe.rows_stay_apart and not any(n is not None for n in owners):
        return {}
    found, is_last = aside(lambda pool: _Judge(Runner(probe, pool), params).found())
    if not is_last:
        # Without these tables the others may be right, or have problems of other kinds.
        if not found:  # what all rows share is another one, of which table it is not known
            return _each_alone(optimizer, params, depths, owners, extra)
        rest = {n: depth for n, depth in depths.items() if n not in found}
        found |= problems(optimizer, params, rest, owners, extra) if rest else {}
    return {n: found[n] for n in depths if n in found}


def _each_alone(
    optimizer: Any,
    params: Params,
    depths: Mapping[int, int],
    owners: Sequence[int | None],
    extra: Mapping[str, Any],
    together: str | None = None,
) -> dict[int, str]:
    """The same, of each table alone: one that is wrong may hide that others are right.

    `together` is the message for a table with which alone the optimizer raises.
    """
    found: dict[int, str] = {}
    for n, depth in depths.items():
        try:
            found |= problems(optimizer, params, {n: depth}, owners, extra)
        except UpdateRaises:
            if together is None:
                raise
            found[n] = together
    return found


class _Judge:
    """Watches the steps of a runner, and keeps for each leaf of the results the phases seen."""

    def __init__(self, runner: Runner, params: Params):
        self.runner = runner
        self.probe = runner.probe
        self.paths = params.paths
        nothing = np.zeros(len(runner.results.types), bool)
        self.begins, self.carries, self.collects = nothing.copy(), nothing.copy(), nothing.copy()
        self.waits, self.copies = nothing.copy(), nothing.copy()

    def found(self) -> tuple[dict[int, str], bool]:
        """By table why it is refused, and whether these are all."""
        mixed_far: tuple[Step, list[int]] | None = None
        for step in steps(self.runner):
            if mixed := self._mixed_in(step):
                return self._mixing(step, mixed), False
            self._look_at_phases(step)
            if mixed_far is None and not self.probe.rows_stay_apart:
                far = self.runner.far(step)
                mixed_far = (far, mixed) if (mixed := self._mixed_in(far)) else None
        found = {}
        collected = self.begins & self.carries & self.collects
        for k, n in enumerate(self.probe.result_owners):
            if n is None or n in found or k < len(self.paths):
                continue
            if collected[k] or (self.waits[k] and self.copies[k]):
                state = self.probe.state_paths[k - len(self.paths)]
                made = refusals.maker(self.probe.dense.traced, k)
                of_phases = refusals.of_collecting if collected[k] else refusals.of_copies
                found[n] = of_phases(self.paths[n], state, made)
        if mixed_far is not None and not found:
            return self._mixing(*mixed_far), False
        return found, True

    def _mixing(self, step: Step, mixed: list[int]) -> dict[int, str]:
        """By table, the message about its rows, which matter to others; none if none is known."""
        equations = refusals.where_rows_meet(self.runner, step, mixed[0])
        what = "computes rows from other rows, or from how many there are"
        guilty = self._guilty(step) or (mixed if len(self.probe.depths) == 1 else [])
        return {n: refusals.of_rows(self.paths[n], what, equations) for n in guilty}

    def _mixed_in(self, step: Step) -> list[int]:
        """The tables for whose rows, or states, the step of some rows is not the dense step.

        All of them, if what all rows share is another one.
        """
        of_some = self.runner.with_some(step)
        leaves = np.flatnonzero(self.runner.differ(step.results, of_some, step.is_seen))
        owners = {self.probe.result_owners[leaf] for leaf in leaves}
        return [n for n in self.probe.depths if n in owners or None in owners]

    def _guilty(self, step: Step) -> list[int]:
        """The tables whose rows without a gradient matter to anything else."""

        def matters(table: int) -> bool:
            results = self.runner.with_other_rows(step, table)
            return bool(self.runner.differ(step.results, results, step.is_seen).any())

        return list(filter(matters, self.probe.depths))

    def _look_at_phases(self, step: Step) -> None:
        """Notes on what inputs the new states and the updates of this step depend."""
        runner, probe = self.runner, self.probe
        states = [k for k in probe.states if probe.result_owners[k] is not None]
        if not states:
            return
        new, seen = step.results, step.is_seen
        old = np.zeros_like(new)
        old[runner.results.of(states)] = step.inputs[runner.inputs.of(states)]
        negated = runner.negated(step)
        of_states = runner.moved(step, states)
        of_params = runner.moved(step, probe.parameters)
        is_begun = runner.same(new, of_states, seen)
        is_update_free = runner.same(new, negated, seen)
        owners = [0 if n is None else n for n in probe.result_owners]
        self.begins |= is_begun
        self.carries |= ~is_begun
        self.collects |= is_update_free[owners] & runner.differ(new, negated, seen)
        self.waits |= runner.same(new, old, seen)
        self.copies |= is_begun & runner.differ(new, of_params, seen)


# --- the steps ---


def steps(runner: Runner) -> Iterator[Step]:
    """Steps from the beginning, with gradients of several magnitudes, and with counts set."""
    inputs, others = runner.start()
    for scale in _SCALES:
        yield from runner.walk(inputs, others, _STEPS, scale)
    between_0_and_1 = inputs.copy()
    where = runner.inputs.of(runner.probe.parameters)
    between_0_and_1[where] = 0.1 + 0.8 * np.abs(np.sin(inputs[where]))
    yield from runner.walk(between_0_and_1, others, 2, 0.01)
    for setting in _settings(runner, inputs, others):
        forced = inputs.copy()
        for n, value in setting.items():
            forced[runner.inputs.places[n]] = value
        yield from runner.walk(forced, others, _FORCED_STEPS)


def _settings(runner: Runner, inputs: np.ndarray, others: Sequence) -> Iterator[dict[int, float]]:
    """Numbers for the counts in the state, and for its bools, by leaf."""
    types, places = runner.inputs.types, runner.inputs.places
    shared = [n for n in runner.probe.states if runner.probe.input_owners[n] is None]
    small = [n for n in shared if n in places and 0 < places[n].size <= _FEW]
    for n in small:
        if types[n].dtype == np.bool_:
            yield from ({n: 0.0}, {n: 1.0})
    steps = [*runner.walk(inputs, others, 2)]
    counts = [
        n
        for n in small
        if jnp.issubdtype(types[n].dtype, jnp.integer)
        or all(
            np.all(s.results[runner.results.places[n]] == s.inputs[places[n]] + 1) for s in steps
        )
    ]
    numbers = _numbers_held(runner.probe.dense.traced, [inputs[places[n]] for n in small])
    values = [None, *(x - 2 for x in numbers)]
    if len(values) ** len(counts) <= _MANY_SETTINGS:
        settings = itertools.product(values, repeat=len(counts))
    else:
        settings = [
            [x if only in (None, n) else None for n in counts]
            for x in values
            for only in (None, *counts)
        ]
    for setting in settings:
        if any(x is not None for x in setting):
            yield {n: x for n, x in zip(counts, setting, strict=True) if x is not None}


def _numbers_held(program: ClosedJaxpr, arrays: Sequence[Any]) -> list[float]:
    """The whole numbers in a program and in arrays that a few steps from 0 do not come to."""
    literals = [
        atom.val
        for eqn in _jax_internals.equations_in(program)
        for atom in eqn.invars
        if isinstance(atom, Literal)
    ]
    found = set()
    for x in [*literals, *program.consts, *arrays]:
        if jaxprs.is_known(x) and np.size(x) <= _FEW:
            numbers = np.asarray(x).reshape(-1)
            if numbers.dtype != np.bool_ and not np.iscomplexobj(numbers):
                found.update(float(number) for number in numbers)
    return sorted(x for x in found if _STEPS // 2 < x < 2**30 and x == int(x))
