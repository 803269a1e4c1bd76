"""Steps of a probe, run: many random walks at once, each array with the steps as its first axis.

Each step of a walk takes random gradients for some rows of each table, and what it does to other
rows is taken back. A runner also repeats steps with other inputs, one kind at a time: other states,
other parameters, the negatives of the gradients. What the results then still are does not depend on
what was changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import JaxprEqn

from jaxops import _jax_internals
from jaxops._indexing import narrow_sums
from jaxops._sparse import jaxprs
from jaxops._sparse.optimizer.evaluation import AT_A_TIME, Evaluation, joined
from jaxops._sparse.optimizer.probe import SLOTS, Probe, Program


class Steps(NamedTuple):
    """Dense steps of a runner, along the first axis of each array."""

    inputs: np.ndarray
    others: list  # inputs that are no numbers, as random keys
    results: np.ndarray
    next_others: list
    rows: np.ndarray  # by slot: the row of the table, -1 for the one of zeros
    is_seen: np.ndarray  # for each number of `results`: whether it is of no row, or one of `rows`

    def only(self, number: int) -> Steps:
        """One of them."""
        return jax.tree.map(lambda x: x[number : number + 1], self)

    def and_then(self, more: Steps) -> Steps:
        """These, and more."""
        return jax.tree.map(lambda *parts: joined(parts), self, more)


class Runner:
    """Runs the steps of a probe; `aside`."""

    def __init__(self, probe: Probe):
        self.probe = probe
        self.rng = np.random.default_rng(0)
        # Functions of vectors, and of inputs that are no numbers, to the same of results.
        self.dense, self._init = _function(probe.dense), _function(probe.init)
        self._some = None if probe.rows_stay_apart else _function(probe.some)
        self.inputs, self.results = probe.dense.inputs, probe.dense.results
        self.is_float, self.is_bool = (
            np.array([jnp.issubdtype(t.dtype, kind) for t in self.inputs.types])[self.inputs.leaf]
            for kind in (jnp.inexact, np.bool_)
        )
        types = [t.dtype for v in (self.inputs, self.results) for t in v.types]
        self.tolerance = 0.03 if any(map(narrow_sums.is_narrow, types)) else 1e-3

    def start(self) -> tuple[np.ndarray, list]:
        """Random parameters and other arguments, and the state with which the optimizer begins."""
        probe = self.probe
        inputs = self.rng.normal(size=(1, len(self.inputs)))
        others = self.inputs.of(probe.others)
        inputs[:, others] = np.abs(inputs[:, others]) + 0.5
        params = np.zeros((1, len(probe.init.inputs)))
        in_init = probe.init.inputs.of(probe.updates)
        params[:, in_init] = inputs[:, self.inputs.of(probe.parameters)]
        states, rest = self._init(params, [])
        places = probe.init.results.of(range(len(probe.states)))
        inputs[:, self.inputs.of(probe.states)] = states[:, places]
        return inputs, rest

    def walk(
        self, inputs: np.ndarray, others: list, count: int, scales: Sequence[float | None]
    ) -> Steps:
        """Dense steps after which the rows without a gradient are put back; walks in turn.

        With a scale gradients are positive and of this magnitude. So parameters keep on going one
        way, as optimizers want it that estimate a distance.
        """
        probe = self.probe
        gradients, arguments = self.inputs.of(probe.gradients), self.inputs.of(probe.others)
        old = self.inputs.of([*probe.parameters, *probe.states])
        new = self.results.of([*probe.updates, *probe.states])
        params = self.inputs.of(probe.parameters)
        has_scale = np.array([[scale is not None] for scale in scales])
        scale = np.array([[scale or 1.0] for scale in scales])
        others = [x[np.zeros(len(inputs), int)] for x in others]
        made = []
        for number in range(count):
            rows, seen = self._choose(len(inputs), number)
            inputs = inputs.copy()
            some = self.rng.normal(size=(len(inputs), len(gradients)))
            some = np.where(has_scale, scale * np.abs(some), some)
            inputs[:, gradients] = some * seen[:, probe.input_rows[gradients]]
            inputs[:, arguments] = self._arguments(len(inputs), arguments)
            results, next_others = self.dense(inputs, others)
            is_seen = seen[:, probe.result_rows]
            made.append(Steps(inputs, others, results, next_others, rows, is_seen))
            after = np.zeros_like(inputs)
            after[:, old] = results[:, new]
            after[:, params] += inputs[:, params]
            is_old = np.zeros(inputs.shape, bool)
            is_old[:, old] = seen[:, probe.input_rows[old]]
            inputs, others = np.where(is_old, after, inputs), next_others
        steps = jax.tree.map(lambda *parts: joined(parts), *made)
        # Once more, by as many at a time as in the steps with other inputs: NumPy may add numbers
        # up in another order for other sizes, and some results must be the same to the last bit.
        return steps._replace(results=self.dense(steps.inputs, steps.others)[0])

    def _arguments(self, count: int, where: np.ndarray) -> np.ndarray:
        """Floats of about 1, whole numbers up to 1,000, bools of both kinds."""
        shape = count, len(where)
        floats = np.abs(self.rng.normal(size=shape)) + 0.5
        whole = self.rng.choice([0, 1, 2, 3, 10, 1000], shape)
        bools = self.rng.integers(0, 2, shape)
        is_float, is_bool = self.is_float[where], self.is_bool[where]
        return np.where(is_float, floats, np.where(is_bool, bools, whole))

    def _choose(self, count: int, number: int) -> tuple[np.ndarray, np.ndarray]:
        """A row of the table for each slot, and whether each row of all tables is among them.

        The last of these is for what is of no row, and is there. In every second step the last slot
        of a table is for zeros: a product over rows shows without them.
        """
        probe = self.probe
        rows = np.full((count, len(probe.counts) * SLOTS), -1)
        seen = np.zeros((count, sum(probe.counts.values()) + 1), bool)
        seen[:, -1] = True
        for place, (n, size) in enumerate(probe.counts.items()):
            some = np.argsort(self.rng.random((count, size)))[:, : SLOTS - number % 2]
            np.put_along_axis(seen, probe.starts[n] + some, True, axis=1)
            rows[:, place * SLOTS : place * SLOTS + some.shape[1]] = some
        return rows, seen

    def inputs_of_some(self, steps: Steps) -> np.ndarray:
        places = self.probe.sources(self.inputs, self.probe.input_owners, steps.rows)
        return np.take_along_axis(np.pad(steps.inputs, ((0, 0), (0, 1))), places, axis=1)

    def with_some(self, steps: Steps) -> np.ndarray:
        """The results of dense steps, with those of the steps of some rows in their places."""
        if self._some is None:
            return steps.results
        results = np.pad(steps.results, ((0, 0), (0, 1)))
        given, _ = self._some(self.inputs_of_some(steps), steps.others)
        places = self.probe.sources(self.results, self.probe.result_owners, steps.rows)
        np.put_along_axis(results, places, given, axis=1)
        return results[:, :-1]

    def moved(self, steps: Steps, leaves: Sequence[int], others: Any = None) -> np.ndarray:
        """The results of dense steps in which some leaves of the inputs hold other numbers."""
        inputs = self._with_others(steps, self.inputs.of(leaves))
        return self.dense(inputs, steps.others if others is None else others)[0]

    def with_other_rows(self, step: Steps, table: int) -> np.ndarray:
        """The results where rows of one table without a gradient, and their states, are others."""
        rows, start = self.probe.input_rows, self.probe.starts[table]
        is_other = (rows >= start) & (rows < start + self.probe.counts[table])
        is_other &= ~np.isin(rows - start, step.rows[0, self.probe.slots_of(table)])
        is_other[self.inputs.of(self.probe.gradients)] = False
        return self.dense(self._with_others(step, np.flatnonzero(is_other)), step.others)[0]

    def _with_others(self, steps: Steps, where: np.ndarray) -> np.ndarray:
        """Other numbers, which the results tell from the ones there: states grow with gradients."""
        inputs = steps.inputs.copy()
        x, is_float, is_bool = inputs[:, where], self.is_float[where], self.is_bool[where]
        largest = np.zeros((len(inputs), len(self.inputs.types)))
        count = len(self.results.types)  # the first leaves of the inputs are of the same arrays
        largest[:, :count] = self._largest(steps.results)
        more = 1 + largest[:, self.inputs.leaf[where]]
        new = np.where(is_float, 1.5 * x + 0.37 * more, np.where(is_bool, 1 - x, x + 1))
        inputs[:, where] = new
        return self._rounded(inputs)

    def _rounded(self, inputs: np.ndarray) -> np.ndarray:
        """The inputs as their dtypes hold them, so that results can be told from them."""
        return self.inputs.join(self.inputs.split(inputs, self.inputs.others), len(inputs))

    def _largest(self, results: np.ndarray) -> np.ndarray:
        """The largest finite magnitude, by step and leaf."""
        finite = np.where(np.isfinite(results), np.abs(results), 0)
        return self.results.by_leaf(np.maximum, finite)

    def far(self, steps: Steps) -> Steps:
        """The steps with states and parameters of rows in other magnitudes, up to 10,000 times.

        `optax.clip_by_global_norm(100.0)` after Adam changes nothing of 7 rows, whose updates have
        a norm of about 8, and does of a million.
        """
        inputs = steps.inputs.copy()
        for leaves, most in ((self.probe.states, 5), (self.probe.parameters, 3)):
            for n in leaves:
                if self.probe.input_owners[n] is not None and n in self.inputs.places:
                    factor = 10.0 ** self.rng.integers(-most, most, (len(inputs), 1))
                    inputs[:, self.inputs.of([n])] *= factor
        inputs = self._rounded(inputs)
        results, next_others = self.dense(inputs, steps.others)
        return steps._replace(inputs=inputs, results=results, next_others=next_others)

    def with_other_constants(self, steps: Steps) -> np.ndarray:
        """The results with another number for what is traced around the optimizer, as a rate."""
        if not any(isinstance(x, Tracer) for x in self.probe.dense.traced.consts):
            return steps.results
        return _function(self.probe.dense, fill=0.3)(steps.inputs, steps.others)[0]

    def negated(self, steps: Steps) -> np.ndarray:
        """The results of dense steps with the negatives of their gradients."""
        inputs = steps.inputs.copy()
        inputs[:, self.inputs.of(self.probe.gradients)] *= -1
        return self.dense(inputs, steps.others)[0]

    def differ(self, first: np.ndarray, second: np.ndarray, where: np.ndarray) -> np.ndarray:
        """Whether each leaf of results differs by more than rounding, by step."""
        scale = 0.01 * self._largest(first)[:, self.results.leaf] + np.abs(first)
        is_close = np.abs(first - second) <= self.tolerance * scale
        # Numbers that overflow do so in another order, to infinity or, after that, to NaN.
        is_close |= (first == second) | ~(np.isfinite(first) | np.isfinite(second))
        return self.results.by_leaf(np.logical_or, where & ~is_close)

    def same(self, first: np.ndarray, second: np.ndarray, where: np.ndarray) -> np.ndarray:
        """Whether all numbers of each leaf are the same to the last bit, by step."""
        is_same = (first == second) & np.isfinite(first)  # what is not finite shows nothing
        return ~self.results.by_leaf(np.logical_or, where & ~is_same)

    # --- within a step ---

    def first_that_differs(self, step: Steps, results: Sequence[int]) -> Sequence[JaxprEqn]:
        """The first equation that makes other numbers of some rows than of all.

        Of those on which some results depend. An array that has no axis for rows must be the same;
        of one that has one, the rows with a gradient.
        """
        probe = self.probe
        programs = [jaxprs.with_results(p.traced, results) for p in (probe.dense, probe.some)]
        programs = [_jax_internals.drop_unused(program) for program in programs]
        vectors = [
            (probe.dense.inputs, step.inputs),
            (probe.some.inputs, self.inputs_of_some(step)),
        ]
        of_all, of_some = (
            Evaluation(program).values(v.split(x, step.others))
            for program, (v, x) in zip(programs, vectors, strict=True)
        )
        for eqn, other in zip(*(program.eqns for program in programs), strict=False):
            for v, w in zip(eqn.outvars, other.outvars, strict=False):
                x, y = of_all[v], of_some[w]
                if isinstance(x, np.ndarray) and not self._agree(x[0], y[0], step.rows[0]):
                    return [eqn]
        return []

    def _agree(self, of_all: np.ndarray, of_some: np.ndarray, rows_of_slots: np.ndarray) -> bool:
        """Whether an array in the step of some rows is that of the dense step, in these rows.

        True where it cannot be told which axis is that of the rows.
        """
        pairs = [(of_all, of_some)]
        if of_all.shape != of_some.shape:
            if of_all.ndim != of_some.ndim:
                return True
            axis = next(d for d, n in enumerate(of_some.shape) if n != of_all.shape[d])
            pairs = []
            for n, count in self.probe.counts.items():
                # The axis may hold whole rows.
                width, rest = divmod(of_some.shape[axis], SLOTS)
                if rest or of_all.shape[axis] != count * width:
                    continue
                rows = rows_of_slots[self.probe.slots_of(n)]
                rows = rows[rows >= 0]
                x, y = (
                    a.reshape(*a.shape[:axis], -1, width, *a.shape[axis + 1 :])
                    for a in (of_all, of_some)
                )
                pairs.append((x.take(rows, axis), y.take(range(len(rows)), axis)))
        return not pairs or any(
            x.shape == y.shape
            and np.allclose(x, y, self.tolerance, self.tolerance * _magnitude(x), equal_nan=True)
            for x, y in pairs
        )


def _magnitude(x: np.ndarray) -> float:
    """A hundredth of the largest number."""
    return 0.01 * float(np.max(np.abs(x[np.isfinite(x)]), initial=0.0)) if x.dtype != bool else 0.0


def _function(program: Program, fill: float = 0.1) -> Callable:
    """The function of vectors, and of inputs that are no numbers, to the same of its results.

    `fill` is the number for what is traced around the program.
    """
    evaluate = Evaluation(program.traced, fill)

    def of_vectors(vectors: np.ndarray, others: Sequence) -> tuple[np.ndarray, list]:
        found, found_others = [], []
        for start in range(0, len(vectors), AT_A_TIME):
            some = slice(start, start + AT_A_TIME)
            part = vectors[some]
            arrays = evaluate(program.inputs.split(part, [x[some] for x in others]))
            found.append(program.results.join(arrays, len(part)))
            # One that is the same for all inputs is there once.
            places = np.arange(len(part))
            rest = [arrays[n] for n in program.results.others]
            found_others.append([x[places % len(x)] for x in rest])
        return np.concatenate(found), [joined(x) for x in zip(*found_others, strict=True)]

    return of_vectors
