"""Steps of a probe, run: many random walks at once, each array with the steps as its first axis.

Each step of a walk takes random gradients for some rows of each table, and what it does to other
rows is taken back. A runner also repeats steps with other inputs, one kind at a time: other states,
other parameters, the negatives of the gradients. Results that stay as they are do not depend on
what was changed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxops._indexing import narrow_sums
from jaxops._jax_internals import JaxprEqn
from jaxops._sparse import jaxprs
from jaxops._sparse.optimizer.evaluation import AT_A_TIME, Evaluation, joined
from jaxops._sparse.optimizer.probe import SLOTS, Probe, Program


class Steps(NamedTuple):
    """Dense steps of a runner, along the first axis of each array."""

    inputs: list
    results: list  # the first inputs are gradients and old states of the same arrays
    rows: dict[int, np.ndarray]  # by table and slot: a row, -1 for the one of zeros
    seen: dict[int, np.ndarray]  # by table: whether each row is one of these
    walks: np.ndarray  # the number of the walk of each step; a walk's steps are in their order


def together(first: Steps, more: Steps) -> Steps:
    """All of these steps, one after the other."""
    more = more._replace(walks=more.walks + 1 + first.walks.max())
    return jax.tree.map(lambda *parts: joined(parts), first, more)


class Runner:
    """Runs the steps of a probe; `aside`."""

    def __init__(self, probe: Probe):
        self.probe = probe
        self.rng = np.random.default_rng(0)
        # Functions of lists of arrays to such lists.
        self.dense, self._init = _function(probe.dense), _function(probe.init)
        if not probe.rows_stay_apart:
            self._some = _function(probe.some)
        types = [t.dtype for t in (*probe.types, *probe.dense.results)]
        self.tolerance = 0.03 if any(map(narrow_sums.is_narrow, types)) else 1e-3

    def start(self) -> list:
        """Random parameters and other arguments, and the state with which the optimizer begins."""
        params = [self._random(n, 1) for n in self.probe.parameters]
        others = [self._argument(n, 1) for n in self.probe.others]
        return [*map(np.zeros_like, params), *self._init(params), *params, *others]

    def walk(self, inputs: list, count: int, scales: Sequence[float | None]) -> Steps:
        """Dense steps after which the rows without a gradient are put back; walks in turn.

        With a scale gradients are positive and of this magnitude. So parameters keep on going one
        way, as optimizers want it that estimate a distance.
        """
        probe = self.probe
        has_scale = np.array([scale is not None for scale in scales])
        scale = np.array([scale or 1.0 for scale in scales])

        def scaled(x: np.ndarray) -> np.ndarray:
            return np.where(_along(has_scale, x), _along(scale, x) * np.abs(x), x)

        made = []
        for number in range(count):
            rows, seen = self._choose(len(scales), number)
            inputs = [*inputs]
            for n in probe.gradients:
                some = self._random(n, len(scales), scaled)
                is_seen = self._is_seen(seen, probe.input_owners[n], some)
                inputs[n] = np.where(is_seen, some, np.zeros_like(some))
            for n in probe.others:
                inputs[n] = self._argument(n, len(scales))
            results = self.dense(inputs)
            made.append(Steps(inputs, results, rows, seen, np.arange(len(scales))))
            inputs = self._put_back(made[-1])
        steps = jax.tree.map(lambda *parts: joined(parts), *made)
        # Once more, by as many at a time as in the steps with other inputs: NumPy may add numbers
        # up in another order for other sizes, and some results must be the same to the last bit.
        return steps._replace(results=self.dense(steps.inputs))

    def _put_back(self, step: Steps) -> list:
        """The inputs after a step: of rows without a gradient, those before."""
        probe, inputs = self.probe, [*step.inputs]
        new = {k: step.results[k] for k in probe.states}
        for n, update in zip(probe.parameters, probe.updates, strict=True):
            new[n] = (inputs[n] + step.results[update]).astype(inputs[n].dtype)
        for n, x in new.items():
            is_seen = self._is_seen(step.seen, probe.input_owners[n], inputs[n])
            inputs[n] = x if is_seen is True else np.where(is_seen, x, inputs[n])
        return inputs

    # --- random numbers ---

    def _random(
        self, n: int, count: int, change: Callable[[np.ndarray], np.ndarray] = lambda x: x
    ) -> np.ndarray:
        """Numbers for a leaf of the inputs: normal ones, changed; both parts of complex ones."""
        t = self.probe.types[n]
        is_complex = jnp.issubdtype(t.dtype, jnp.complexfloating)
        parts = [change(self.rng.normal(size=(count, *t.shape))) for _ in range(1 + is_complex)]
        return (parts[0] + 1j * parts[1] if is_complex else parts[0]).astype(t.dtype)

    def _argument(self, n: int, count: int) -> Any:
        """Floats of about 1, whole numbers up to 1,000, bools of both kinds, random keys."""
        t = self.probe.types[n]
        if not is_of_numbers(t):
            keys = jnp.empty((count, *t.shape), t.dtype)
            data = self.rng.integers(0, 1 << 32, jax.random.key_data(keys).shape, np.uint32)
            return jax.random.wrap_key_data(jnp.asarray(data), impl=jax.random.key_impl(keys))
        if jnp.issubdtype(t.dtype, jnp.inexact):
            return self._random(n, count, lambda x: np.abs(x) + 0.5)
        values = [0, 1] if t.dtype == np.bool_ else [0, 1, 2, 3, 10, 1000]
        return self.rng.choice(values, (count, *t.shape)).astype(t.dtype)

    def _choose(self, count: int, number: int) -> tuple[dict, dict]:
        """By table a row for each slot, and whether each of all rows is among them.

        In every second step the last slot of a table is for zeros: a product over rows shows
        without them.
        """
        rows, seen = {}, {}
        for n, size in self.probe.counts.items():
            some = np.argsort(self.rng.random((count, size)))[:, : SLOTS - number % 2]
            rows[n] = np.full((count, SLOTS), -1)
            rows[n][:, : some.shape[1]] = some
            seen[n] = np.zeros((count, size), bool)
            np.put_along_axis(seen[n], some, True, axis=1)
        return rows, seen

    # --- rows ---

    def _is_seen(self, seen: dict[int, np.ndarray], owner: int | None, x: np.ndarray) -> Any:
        """Whether each number of a leaf is of a row with a gradient; True for a leaf of no rows."""
        if owner is None:
            return True
        depth = self.probe.depths[owner]
        return seen[owner].reshape(*x.shape[: 1 + depth], *[1] * (x.ndim - 1 - depth))

    def _by_row(self, x: np.ndarray, owner: int) -> np.ndarray:
        """A leaf with one axis for its rows and one for the numbers of each; the last row is 0."""
        width = math.prod(x.shape[1 + self.probe.depths[owner] :])
        rows = x.reshape(len(x), self.probe.counts[owner], width)
        return np.pad(rows, ((0, 0), (0, 1), (0, 0)))

    def inputs_of_some(self, steps: Steps) -> list:
        """The inputs of the steps of some rows."""

        def of_some(x: Any, owner: int | None) -> Any:
            if owner is None:
                return x
            rows = steps.rows[owner][:, :, None]
            shape = len(x), SLOTS, *x.shape[1 + self.probe.depths[owner] :]
            return np.take_along_axis(self._by_row(x, owner), rows, axis=1).reshape(shape)

        return list(map(of_some, steps.inputs, self.probe.input_owners))

    def with_some(self, steps: Steps) -> list:
        """The results of dense steps, with those of the steps of some rows in their places."""
        results = self._some(self.inputs_of_some(steps))
        for k, (x, owner) in enumerate(zip(steps.results, self.probe.result_owners, strict=True)):
            if owner is not None:
                by_row = self._by_row(x, owner)
                new = results[k].reshape(len(x), SLOTS, by_row.shape[2])
                np.put_along_axis(by_row, steps.rows[owner][:, :, None], new, axis=1)
                results[k] = by_row[:, :-1].reshape(x.shape)
        return results

    # --- steps with other inputs ---

    def moved(self, steps: Steps, leaves: Iterable[int], negative: bool = False) -> list:
        """The results of dense steps in which some leaves of the inputs hold other numbers."""
        new = {n: self._other(steps, n, negative) for n in leaves}
        return self.dense(_replaced(steps.inputs, new))

    def moved_alone(self, steps: Steps, states: Sequence[int]) -> list:
        """The results of dense steps, each new state for other old numbers of this state alone.

        The old numbers are made others twice, positive and negative ones: a new number is the first
        that differs from that of the step. The first states of all tables change at once, then the
        second ones.
        """
        results = [*steps.results]
        by_table = [
            [k for k in states if self.probe.result_owners[k] == n] for n in self.probe.depths
        ]
        for of_tables in itertools.zip_longest(*by_table):
            leaves = [k for k in of_tables if k is not None]
            for negative in (False, True):
                moved = self.moved(steps, leaves, negative)
                for k in leaves:
                    is_as_before = floats(results[k]) == floats(steps.results[k])
                    results[k] = np.where(is_as_before, moved[k], results[k])
        return results

    def with_other_rows(self, step: Steps, table: int) -> list:
        """The results where rows of one table without a gradient, and their states, are others."""
        new = {}
        for n in (*self.probe.states, *self.probe.parameters):
            if self.probe.input_owners[n] == table:
                x = step.inputs[n]
                new[n] = np.where(self._is_seen(step.seen, table, x), x, self._other(step, n))
        return self.dense(_replaced(step.inputs, new))

    def _other(self, steps: Steps, n: int, negative: bool = False) -> Any:
        """Other numbers, which the results tell from the ones there: states grow with gradients.

        A random key becomes that of the next step, or of another one.
        """
        x = steps.inputs[n]
        result = steps.results[n] if n < len(steps.results) else x[::-1]
        if not isinstance(x, np.ndarray):
            return result
        if x.dtype == np.bool_:
            return ~x
        if jnp.issubdtype(x.dtype, jnp.inexact):
            other = 1.5 * x + 0.37 * (1 + _largest(floats(result)))
            return (-other if negative else other).astype(x.dtype)
        return x + np.ones_like(x)

    def far(self, steps: Steps) -> Steps:
        """The steps with states and parameters of rows in other magnitudes, up to 10,000 times.

        `optax.clip_by_global_norm(100.0)` after Adam changes nothing of 7 rows, whose updates have
        a norm of about 8, and does of a million.
        """
        new = {}
        for leaves, most in ((self.probe.states, 5), (self.probe.parameters, 3)):
            for n in leaves:
                if self.probe.input_owners[n] is not None:
                    x = steps.inputs[n]
                    factor = 10.0 ** self.rng.integers(-most, most, len(x))
                    new[n] = (x * _along(factor, x)).astype(x.dtype)
        inputs = _replaced(steps.inputs, new)
        return steps._replace(inputs=inputs, results=self.dense(inputs))

    def with_other_constants(self, steps: Steps) -> list:
        """The results with another number for what is traced around the optimizer, as a rate."""
        if not any(isinstance(x, Tracer) for x in self.probe.dense.traced.consts):
            return steps.results
        return _function(self.probe.dense, fill=0.3)(steps.inputs)

    def times(self, steps: Steps, factor: int) -> Steps:
        """The steps with their gradients times a number."""
        new = {
            n: (factor * steps.inputs[n]).astype(steps.inputs[n].dtype)
            for n in self.probe.gradients
        }
        inputs = _replaced(steps.inputs, new)
        return steps._replace(inputs=inputs, results=self.dense(inputs))

    # --- comparisons with the results of steps ---

    def differ(self, steps: Steps, others: Sequence) -> np.ndarray:
        """Whether each leaf of the results differs by more than rounding, by step."""
        return self.anywhere(steps, others, self._are_apart)

    def _are_apart(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        is_close = np.abs(x - y) <= self.tolerance * (0.01 * _largest(x) + np.abs(x))
        is_close &= np.isfinite(x)  # to an infinite x all would be close, as inf <= inf
        # Numbers that overflow do so in another order, to infinity or, after that, to NaN.
        return ~(is_close | (x == y) | ~(np.isfinite(x) | np.isfinite(y)))

    def same(self, steps: Steps, others: Sequence) -> np.ndarray:
        """Whether all numbers of each leaf are the same to the last bit, by step."""
        # Infinities and NaN are the same whatever the numbers before them were.
        return ~self.anywhere(steps, others, lambda x, y: (x != y) | ~np.isfinite(x))

    def anywhere(
        self, steps: Steps, others: Sequence, function: Callable, *, absent: bool = False
    ) -> np.ndarray:
        """Whether `function` is true of a number in rows with a gradient, by step and leaf.

        Its arguments are the results of the steps and the `others`. With `absent`: in rows without
        a gradient.
        """
        found = np.zeros((len(next(iter(steps.rows.values()))), len(steps.results)), bool)
        for k, owner in enumerate(self.probe.result_owners):
            if not (absent and owner is None):
                x, y = floats(steps.results[k]), floats(others[k])
                is_there = function(x, y) & (self._is_seen(steps.seen, owner, x) ^ absent)
                found[:, k] = is_there.reshape(len(x), -1).any(axis=1)
        return found

    # --- within a step ---

    def first_that_differs(self, step: Steps, results: Sequence[int]) -> Sequence[JaxprEqn]:
        """The first equation that makes other numbers of some rows than of all.

        Of those on which some results depend. An array that has no axis for rows must be the same;
        of one that has one, the rows with a gradient.
        """
        programs = [
            jaxprs.with_results(p.traced, results) for p in (self.probe.dense, self.probe.some)
        ]
        inputs = step.inputs, self.inputs_of_some(step)
        of_all, of_some = (Evaluation(p).values(x) for p, x in zip(programs, inputs, strict=True))
        for eqn, other in zip(*(program.eqns for program in programs), strict=False):
            for v, w in zip(eqn.outvars, other.outvars, strict=False):
                x, y = of_all[v], of_some[w]
                if isinstance(x, np.ndarray) and not self._agree(floats(x), floats(y), step.rows):
                    return [eqn]
        return []

    def _agree(self, of_all: np.ndarray, of_some: np.ndarray, rows_of_slots: dict) -> bool:
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
                (slots,) = rows_of_slots[n]
                rows = slots[slots >= 0]
                x, y = (
                    a.reshape(*a.shape[:axis], -1, width, *a.shape[axis + 1 :])
                    for a in (of_all, of_some)
                )
                pairs.append((x.take(rows, axis), y.take(range(len(rows)), axis)))
        return not pairs or any(
            x.shape == y.shape and not self._are_apart(x, y).any() for x, y in pairs
        )


def _function(program: Program, fill: float = 0.1) -> Callable[[Sequence], list]:
    """The program of arrays with one axis more, the first, to such arrays of the results' types.

    `fill` is the number for what is traced around the program.
    """
    evaluate = Evaluation(program.traced, fill)

    def of_arrays(arrays: Sequence) -> list:
        parts = []
        for start in range(0, len(arrays[0]), AT_A_TIME):
            some = [x[start : start + AT_A_TIME] for x in arrays]
            results = zip(evaluate(some), program.results, strict=True)
            parts.append([_as_type(x, t, len(some[0])) for x, t in results])
        return [joined(xs) for xs in zip(*parts, strict=True)]

    return of_arrays


def _as_type(x: Any, t: Any, count: int) -> Any:
    """An array as `count` of a type, where one that is the same for all inputs is there once."""
    if not is_of_numbers(t):
        return x[np.arange(count) % len(x)]
    x = x.reshape(len(x), *[1] * (1 + len(t.shape) - x.ndim), *x.shape[1:])
    return np.broadcast_to(x.astype(t.dtype, copy=False), (count, *t.shape))


def is_of_numbers(t: Any) -> bool:
    """Whether arrays of a type hold numbers, and no random keys."""
    return isinstance(t.dtype, np.dtype)


def floats(x: Any) -> np.ndarray:
    """The numbers in 64 bits, which hold those of other dtypes; also those of random keys."""
    x = x if isinstance(x, np.ndarray) else np.asarray(jax.random.key_data(x))
    return x.astype(complex if np.iscomplexobj(x) else float)


def _along(of_steps: np.ndarray, x: np.ndarray) -> np.ndarray:
    """One number for each step, for all numbers of an array in the step."""
    return of_steps.reshape(-1, *[1] * (x.ndim - 1))


def _largest(x: np.ndarray) -> np.ndarray:
    """The largest finite magnitude, by step."""
    axes = tuple(range(1, x.ndim))
    return np.max(np.where(np.isfinite(x), np.abs(x), 0), axes, keepdims=True, initial=0)


def _replaced(inputs: list, new: dict[int, Any]) -> list:
    return [new.get(n, x) for n, x in enumerate(inputs)]
