"""Whether `lazy` may run an optimizer on some rows: judged by what it does in small runs.

An optimizer is refused for a table if one of the steps in which it is run (`run`) shows that

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

Negative gradients tell a state that collects gradients from an average of their squares.

What an optimizer does in step 1,000 is seen by setting its counts of steps: to two steps before the
numbers that its program and its state hold, each count by itself and together. Not found: what such
a number is computed from, as the 1,000 of `count == 10 * period`; a choice by a number that is no
count, as a loss that was small for long; gradients that are collected until their sum is beyond the
magnitudes in `_SCALES`.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxops import _jax_internals
from jaxops._jax_internals import ClosedJaxpr, Literal
from jaxops._sparse import jaxprs
from jaxops._sparse.optimizer import refusals, trees
from jaxops._sparse.optimizer.evaluation import CannotRun, aside, joined
from jaxops._sparse.optimizer.probe import GRADIENTS, NotAnyNumber, Probe, UpdateRaises
from jaxops._sparse.optimizer.runner import Runner, Steps, floats, is_of_numbers, together
from jaxops._sparse.optimizer.trees import LOOKS_AT_VALUES, Params, States, WrongStructure

_STEPS = 12
_SCALES = (None, 1e4, 1e-4)  # of gradients; None: of about 1 and either sign
_FORCED_STEPS = 8  # after counts were set
_MANY_SETTINGS = 64  # beyond so many all counts are set to one number, and some by themselves
_FEW = 16  # numbers in an array that may hold counts

# --- before the first step, when it is not known which parameters will be tables ---


def candidates(params: Params) -> list[int]:
    """The parameters that may well be tables, the longest first.

    If some parameters have several dimensions, one of one dimension counts only if it is as long as
    the longest.
    """
    lengths = {n: t.shape[0] for n, t in enumerate(params.types) if t.shape}
    rank = min(2, max((len(t.shape) for t in params.types), default=0))
    return [
        n
        for n, length in sorted(lengths.items(), key=lambda item: -item[1])
        if len(params.types[n].shape) >= rank or length == max(lengths.values())
    ]


def possible_tables(optimizer: Any, params: Params) -> tuple[frozenset[int], States]:
    """The parameters that are certain to be right as tables, and states. Raises if none can be."""
    tables = candidates(params)
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
        return True, judged(optimizer, params, depths, owners, {})[0]
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
            return False, judged(optimizer, params, depths, owners, extra)[0]
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
        found = states.problems or judged(optimizer, params, depths, states.owners, extra)[0]
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


def judged(
    optimizer: Any,
    params: Params,
    depths: Mapping[int, int],
    owners: Sequence[int | None],
    extra: Mapping[str, Any],
) -> tuple[dict[int, str], tuple[Runner, Steps] | None]:
    """The problems by table, and the steps that show all others to be right, if there are any.

    A problem is the message about an optimizer that cannot be run on some rows of the table. The
    arguments are those of `Probe`.
    """
    owners = [n if n in depths else None for n in owners]

    def each_alone(message: str | None = None) -> dict[int, str]:
        """The problems of each table alone: a table that is wrong may hide that others are right.

        `message` is for a table with which alone the optimizer raises.
        """
        found: dict[int, str] = {}
        for n, depth in depths.items():
            try:
                found |= judged(optimizer, params, {n: depth}, owners, extra)[0]
            except UpdateRaises:
                if message is None:
                    raise
                found[n] = message
        return found

    try:
        probe = Probe(optimizer, params, depths, owners, extra)
    except NotAnyNumber as error:
        alone = len(depths) == 1
        return dict.fromkeys(depths, str(error)) if alone else each_alone(str(error)), None
    if probe.difference is not None:
        if len(depths) > 1:
            return each_alone(), None
        what = "computes other things for other numbers of rows"
        of_rows = {n: refusals.of_rows(params.paths[n], what, probe.difference) for n in depths}
        return of_rows, None
    if probe.rows_stay_apart and not any(n is not None for n in owners):
        return {}, None
    judge = aside(lambda: _Judge(*run(probe), params))
    if judge.are_all:
        return judge.found, None if judge.found else (judge.runner, judge.steps)
    if not judge.found:  # what all rows share is another one, of which table it is not known
        return each_alone(), None
    # Without these tables the others may be right, or have problems of other kinds.
    rest = {n: depth for n, depth in depths.items() if n not in judge.found}
    found, steps = judged(optimizer, params, rest, owners, extra) if rest else ({}, None)
    found |= judge.found
    return {n: found[n] for n in depths if n in found}, steps


class _Judge:
    """Looks at the steps of a runner: by table why it is refused, and whether these are all."""

    def __init__(self, runner: Runner, steps: Steps, params: Params):
        self.runner, self.steps = runner, steps
        self.probe = runner.probe
        self.paths = params.paths
        self.found: dict[int, str] = {}
        mixing = self._first_mixing(steps)
        if mixing is None:
            self.found = self._of_phases(steps)
        if mixing is None and not self.found and not self.probe.rows_stay_apart:
            mixing = self._first_mixing(runner.far(steps))
        self.are_all = mixing is None
        if mixing is not None:
            self.found = self._mixing(*mixing)

    def _first_mixing(self, steps: Steps) -> tuple[Steps, list[int]] | None:
        """The first step whose rows, or their states, of some tables are not the dense step's.

        Of all tables, if what all rows share is another one.
        """
        if self.probe.rows_stay_apart:
            return None
        differ = self.runner.differ(steps, self.runner.with_some(steps))
        if not differ.any():
            return None
        number = int(np.argmax(differ.any(axis=1)))
        owners = {self.probe.result_owners[leaf] for leaf in np.flatnonzero(differ[number])}
        tables = [n for n in self.probe.depths if n in owners or None in owners]
        return jax.tree.map(lambda x: x[number : number + 1], steps), tables

    def _mixing(self, step: Steps, mixed: list[int]) -> dict[int, str]:
        """The message about rows that matter to others, by table; none if none is known."""
        of_table = [n for n, k in enumerate(self.probe.result_owners) if k in (mixed[0], None)]
        equations = self.runner.first_that_differs(step, of_table)
        what = "computes rows from other rows, or from how many there are"
        guilty = self._guilty(step) or (mixed if len(self.probe.depths) == 1 else [])
        return {n: refusals.of_rows(self.paths[n], what, equations) for n in guilty}

    def _guilty(self, step: Steps) -> list[int]:
        """The tables whose rows without a gradient matter to anything else."""

        def matters(table: int) -> bool:
            return bool(self.runner.differ(step, self.runner.with_other_rows(step, table)).any())

        return list(filter(matters, self.probe.depths))

    def _of_phases(self, steps: Steps) -> dict[int, str]:
        """The message about a state that collects, by table, found by what new states depend on."""
        runner, probe = self.runner, self.probe
        states = [k for k in probe.states if probe.result_owners[k] is not None]
        if not states:
            return {}
        variants = steps, runner.times(steps, -1), runner.times(steps, 0)
        # States also by themselves: `optax.apply_every` after `optax.adam` collects what other
        # states make of the gradients (test_judge.py, test_collecting_of_other_states).
        begun = [self._begun(variants, states, way) for way in (runner.moved, runner.moved_alone)]
        owners = [0 if n is None else n for n in probe.result_owners]
        negated = variants[1].results
        collects = runner.same(steps, negated)[:, owners] & runner.differ(steps, negated)
        waits = runner.same(steps, steps.inputs)  # read for states, which have equal places in both
        copies = runner.differ(steps, runner.moved(steps, probe.parameters))
        begins_and_carries = [_begins_again(x, steps.walks) & ~x.all(axis=0) for x in begun]
        collected = np.any(begins_and_carries, axis=0) & collects.any(axis=0)
        copied = waits.any(axis=0) & (np.any(begun, axis=0) & copies).any(axis=0)
        found = {}
        for k in states:
            n = probe.result_owners[k]
            if n is not None and n not in found and (collected[k] or copied[k]):
                state = probe.state_paths[k - len(self.paths)]
                dtype = probe.types[n].dtype
                if not jnp.issubdtype(dtype, jnp.inexact):  # where small gradients become 0
                    found[n] = refusals.of_integers(self.paths[n], state, dtype)
                    continue
                made = refusals.maker(probe.dense.traced, k)
                of_phases = refusals.of_collecting if collected[k] else refusals.of_copies
                found[n] = of_phases(self.paths[n], state, made)
        return found

    def _begun(self, variants: Sequence[Steps], states: list[int], moved: Callable) -> np.ndarray:
        """Whether each state begins anew, by step: `moved` makes it for other old states.

        `variants` are the steps, and those with other gradients.
        """
        runner, steps = self.runner, variants[0]
        others = moved(steps, states)
        is_begun = runner.same(steps, others)
        # If some numbers of a state begin anew and others do not, each may decide by itself, as in
        # `optax.rprop`. In small rows all of them may begin anew in one step by chance, though not
        # with any gradients, as a clipped sum does (test_judge.py, test_collecting_gradients and
        # test_numbers_that_begin_anew_by_themselves).
        are_some_begun = runner.anywhere(steps, others, lambda x, y: (x == y) & np.isfinite(x))
        is_by_number = np.any(are_some_begun & runner.differ(steps, others), axis=0)
        begins_with_others = [runner.same(x, moved(x, states)) for x in variants[1:]]
        return is_begun & (~is_by_number | np.all(begins_with_others, axis=0))


def _begins_again(is_begun: np.ndarray, walks: np.ndarray) -> np.ndarray:
    """Whether each state begins anew after steps in which it did not, or in all steps of a walk.

    A state may begin in the first steps only, as that of `optax.contrib.scale_by_adopt` does. All
    steps of a walk may be ready by a bool of the state, or by the magnitude of the gradients.
    """
    found = np.zeros(is_begun.shape[1:], bool)
    for walk in np.unique(walks):
        of_walk = is_begun[walks == walk]
        has_carried = np.logical_or.accumulate(~of_walk)
        found |= (of_walk & has_carried).any(axis=0) | of_walk.all(axis=0)
    return found


# --- the steps ---


def run(probe: Probe) -> tuple[Runner, Steps]:
    """Steps from the beginning, with gradients of several magnitudes, and with counts set."""
    runner = Runner(probe)
    start = runner.start()
    between_0_and_1 = [*start]
    for n in probe.parameters:
        between_0_and_1[n] = (0.1 + 0.8 * np.abs(np.sin(start[n]))).astype(start[n].dtype)
    starts = [joined(xs) for xs in zip(*[start] * len(_SCALES), between_0_and_1, strict=True)]
    steps = runner.walk(starts, _STEPS, [*_SCALES, 0.01])
    settings = [*_settings(runner, start, steps)]
    if not settings:
        return runner, steps
    forced = [x[np.zeros(len(settings), int)] for x in start]
    for number, setting in enumerate(settings):
        for n, value in setting.items():
            forced[n][number] = value
    more = runner.walk(forced, _FORCED_STEPS, [None] * len(settings))
    return runner, together(steps, more)


def _settings(runner: Runner, start: list, steps: Steps) -> Iterator[dict[int, float]]:
    """Numbers for the counts in the state, and for its bools, by leaf."""
    types, owners = runner.probe.types, runner.probe.input_owners
    shared = [n for n in runner.probe.states if owners[n] is None and is_of_numbers(types[n])]
    shared = [n for n in shared if start[n].size]
    for n in shared:
        if types[n].dtype == np.bool_:
            yield from ({n: 0.0}, {n: 1.0})
    more = {n: floats(steps.results[n]) - floats(steps.inputs[n]) for n in shared}
    counts = [
        n
        for n in shared
        if jnp.issubdtype(types[n].dtype, jnp.integer) or np.all(np.abs(more[n]) == 1)
    ]

    def before(n: int, number: float) -> float | None:
        """Two steps before the number; None where a few steps from the start come to it."""
        sign = -1 if np.all(more[n] == -1) else 1
        is_far = sign * (number - start[n].max()) > _STEPS // 2
        return number - 2 * sign if is_far else None

    small = [start[n] for n in shared if start[n].size <= _FEW]
    held = _numbers_held(runner.probe.dense.traced, small)
    values = [[*dict.fromkeys([None, *(before(n, x) for x in held)])] for n in counts]
    if math.prod(map(len, values)) <= _MANY_SETTINGS:
        settings = itertools.product(*values)
    else:
        # Steps of a program with 52 tables take 100 kB each, and are all kept: hence a limit.
        settings = [
            [before(n, x) if only in (None, n) else None for n in counts]
            for only in (None, *counts)
            for x in held
        ][: 2 * _MANY_SETTINGS]
    for setting in settings:
        known = {n: x for n, x in zip(counts, setting, strict=True) if x is not None}
        if known:
            yield known


def _numbers_held(program: ClosedJaxpr, arrays: Sequence[Any]) -> list[float]:
    """The whole numbers in a program and in arrays."""
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
    return sorted(x for x in found if abs(x) < 2**30 and x == int(x))
