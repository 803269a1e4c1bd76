"""Steps of a probe, run: compiled, in a thread of their own.

A trace, a mesh, a transfer guard or `jax.debug_nans` of the caller holds in the caller's thread
alone, so that none of them is in the way of the runs, nor the runs in theirs (`aside`).

A run is a random walk. Each step takes random gradients for 3 or 4 rows of each table, and what it
does to other rows is taken back. A runner also repeats a step with other inputs, one kind at a
time: other states, other parameters, the negatives of the gradients. What the results then still
are does not depend on what was changed.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from jaxops import _jax_internals
from jaxops._sparse.optimizer.probe import SLOTS, Probe, Program

# Without LLVM's optimizations, the emitters of fused loops, and a module for each thread.
_FAST: dict[str, Any] = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
}


class CannotRun(Exception):
    """A program cannot be run by itself, as with an axis of the `shard_map` around it.

    Or it has effects within a call, as by a callback in a `jit`: a small run must have none.
    """


def aside(function: Callable) -> Any:
    """`function(pool)` in a thread of its own, with a pool of two more, on the CPU.

    Contexts of JAX hold in one thread. Here only 64 bits are as they are for the caller.
    """
    has_64_bits = bool(jax.config.read("jax_enable_x64"))
    entered: list[Any] = []  # a context that is a generator ends when it is deleted

    def enter() -> None:
        contexts: list[Any] = [jax.enable_x64(has_64_bits), jax.transfer_guard("allow")]
        # Settings of the process, by `jax.config.update` or the environment, hold here too.
        contexts += [jax.debug_nans(False), jax.debug_infs(False), jax.disable_jit(False)]
        with contextlib.suppress(RuntimeError):  # where there is no such device
            contexts.append(jax.default_device(jax.local_devices(backend="cpu")[0]))
        for context in contexts:
            context.__enter__()  # for as long as the thread lives
        entered.extend(contexts)

    make_pool = functools.partial(concurrent.futures.ThreadPoolExecutor, initializer=enter)
    with make_pool(2) as pool, make_pool(1) as thread:
        return thread.submit(function, pool).result()


class Step(NamedTuple):
    """A dense step of a runner."""

    inputs: np.ndarray
    others: Sequence  # inputs that are no numbers, as random keys
    results: np.ndarray
    next_others: Sequence
    rows: np.ndarray  # by slot: the row of the table, -1 for the one of zeros
    is_seen: np.ndarray  # for each number of `results`: whether it is of no row, or one of `rows`


class Runner:
    """Runs the steps of a probe; in a thread `aside`, whose pool compiles them."""

    def __init__(self, probe: Probe, pool: concurrent.futures.Executor):
        self.probe = probe
        self.rng = np.random.default_rng(0)
        if probe.dense.traced.effects:
            raise CannotRun
        programs = [probe.dense, probe.init, *([] if probe.rows_stay_apart else [probe.some])]
        try:
            # Functions of a vector, and of inputs that are no numbers, to the same of results.
            self.dense, self._init, *self._some = pool.map(_compiled, programs)
        except Exception as error:
            raise CannotRun from error
        self.inputs, self.results = probe.dense.inputs, probe.dense.results
        dtypes = {n: t.dtype for n, t in enumerate(self.inputs.types)}
        self.is_float, self.is_bool = (
            np.array([jnp.issubdtype(dtypes[n], kind) for n in self.inputs.leaf], bool)
            for kind in (jnp.inexact, np.bool_)
        )
        types = [t.dtype for v in (self.inputs, self.results) for t in v.types]
        self._with_other_constants: Callable | None = None  # `dense`, compiled when it is wanted
        is_narrow = any(jnp.issubdtype(t, jnp.floating) and t.itemsize < 4 for t in types)
        self.tolerance = 0.03 if is_narrow else 1e-3

    def start(self) -> tuple[np.ndarray, Sequence]:
        """Random parameters and other arguments, and the state with which the optimizer begins."""
        probe = self.probe
        inputs = self.rng.normal(size=len(self.inputs))
        others = self.inputs.of(probe.others)
        inputs[others] = np.abs(inputs[others]) + 0.5
        params = np.zeros(len(probe.init.inputs))
        params[probe.init.inputs.of(probe.updates)] = inputs[self.inputs.of(probe.parameters)]
        states, rest = self._init(params, ())
        in_init = range(len(probe.states))
        inputs[self.inputs.of(probe.states)] = states[probe.init.results.of(in_init)]
        return inputs, rest

    def walk(
        self, inputs: np.ndarray, others: Sequence, count: int, scale: float | None = None
    ) -> Iterator[Step]:
        """Dense steps after which the rows without a gradient are put back.

        With a `scale` gradients are positive and of this magnitude. So parameters keep on going one
        way, as optimizers want it that estimate a distance.
        """
        probe = self.probe
        gradients, arguments = self.inputs.of(probe.gradients), self.inputs.of(probe.others)
        old = self.inputs.of([*probe.parameters, *probe.states])
        new = self.results.of([*probe.updates, *probe.states])
        params = self.inputs.of(probe.parameters)
        for number in range(count):
            rows, seen = self._choose(number)
            inputs = inputs.copy()
            some = self.rng.normal(size=len(gradients))
            inputs[gradients] = some if scale is None else scale * np.abs(some)
            inputs[gradients] *= seen[probe.input_rows[gradients]]
            inputs[arguments] = self._arguments(arguments)
            results, next_others = self.dense(inputs, others)
            is_seen = seen[probe.result_rows]
            yield Step(inputs, others, results, next_others, rows, is_seen)
            after = np.full(len(inputs), 0.0)
            after[old] = results[new]
            after[params] += inputs[params]
            is_old = np.zeros(len(inputs), bool)
            is_old[old] = seen[probe.input_rows[old]]
            inputs, others = np.where(is_old, after, inputs), next_others

    def _arguments(self, where: np.ndarray) -> np.ndarray:
        """Floats of about 1, whole numbers up to 1,000, bools of both kinds."""
        floats = np.abs(self.rng.normal(size=len(where))) + 0.5
        whole = self.rng.choice([0, 1, 2, 3, 10, 1000], len(where))
        bools = self.rng.integers(0, 2, len(where))
        is_float, is_bool = self.is_float[where], self.is_bool[where]
        return np.where(is_float, floats, np.where(is_bool, bools, whole))

    def _choose(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """For each slot a row of its table; for each row, counted over all tables, if it is there.

        The last of both is for what is of no row: slot -1 has row 0, and row -1 is there. In every
        second step the last slot of a table is for zeros: a product over rows shows without them.
        """
        rows = []
        seen = np.zeros(sum(self.probe.counts.values()) + 1, bool)
        seen[-1] = True
        for n, count in self.probe.counts.items():
            some = self.rng.permutation(count)[: SLOTS - number % 2]
            seen[self.probe.starts[n] + some] = True
            rows.append(np.pad(some, (0, SLOTS - len(some)), constant_values=-1))
        return np.concatenate([*rows, [0]]), seen

    def _inputs_of_some(self, step: Step) -> np.ndarray:
        return np.append(step.inputs, 0.0)[self.probe.input_cut.sources(step.rows)]

    def with_some(self, step: Step) -> np.ndarray:
        """The results of a dense step, with those of the step of some rows in their places."""
        if self.probe.rows_stay_apart:
            return step.results
        results = np.append(step.results, 0.0)
        given, _ = self._some[0](self._inputs_of_some(step), step.others)
        results[self.probe.result_cut.sources(step.rows)] = given
        return results[:-1]

    def moved(self, step: Step, leaves: Sequence[int], others: Sequence | None = None) -> Any:
        """The results of a dense step in which some leaves of the inputs hold other numbers."""
        inputs = self._with_others(step, self.inputs.of(leaves))
        return self.dense(inputs, step.others if others is None else others)[0]

    def with_other_rows(self, step: Step, table: int) -> np.ndarray:
        """The results where rows of one table without a gradient, and their states, are others."""
        rows, start = self.probe.input_rows, self.probe.starts[table]
        is_other = (rows >= start) & (rows < start + self.probe.counts[table])
        is_other &= ~np.isin(rows - start, step.rows[self.probe.slots_of(table)])
        is_other[self.inputs.of(self.probe.gradients)] = False
        return self.dense(self._with_others(step, np.flatnonzero(is_other)), step.others)[0]

    def _with_others(self, step: Step, where: np.ndarray) -> np.ndarray:
        """Other numbers, which the results tell from the ones there: states grow with gradients."""
        inputs = step.inputs.copy()
        x, is_float, is_bool = inputs[where], self.is_float[where], self.is_bool[where]
        more = 1 + self._largest(step.results)[self.inputs.leaf[where]]
        inputs[where] = np.where(is_float, 1.5 * x + 0.37 * more, np.where(is_bool, 1 - x, x + 1))
        return self.inputs.join(self.inputs.split(inputs))  # rounded, to be told from results

    def _largest(self, results: np.ndarray) -> np.ndarray:
        """By leaf; leaves of the inputs that are no leaves of the results have 0."""
        largest = np.zeros(len(self.inputs.types))
        np.maximum.at(largest, self.results.leaf, np.where(np.isfinite(results), abs(results), 0))
        return largest

    def far(self, step: Step) -> Step:
        """The step with states and parameters of rows in other magnitudes, up to 10,000 times.

        `optax.clip_by_global_norm(100.0)` after Adam changes nothing of 7 rows, whose updates have
        a norm of about 8, and does of a million.
        """
        inputs = step.inputs.copy()
        for leaves, most in ((self.probe.states, 5), (self.probe.parameters, 3)):
            for n in leaves:
                if self.probe.input_owners[n] is not None and n in self.inputs.places:
                    inputs[self.inputs.places[n]] *= 10.0 ** self.rng.integers(-most, most)
        inputs = self.inputs.join(self.inputs.split(inputs))
        results, next_others = self.dense(inputs, step.others)
        return step._replace(inputs=inputs, results=results, next_others=next_others)

    def with_other_constants(self, step: Step) -> np.ndarray:
        """The results with another number for what is traced around the optimizer, as a rate."""
        if not any(isinstance(x, Tracer) for x in self.probe.dense.traced.consts):
            return step.results
        if self._with_other_constants is None:
            self._with_other_constants = _compiled(self.probe.dense, fill=0.3)
        return self._with_other_constants(step.inputs, step.others)[0]

    def negated(self, step: Step) -> np.ndarray:
        """The results of a dense step with the negatives of its gradients."""
        inputs = step.inputs.copy()
        inputs[self.inputs.of(self.probe.gradients)] *= -1
        return self.dense(inputs, step.others)[0]

    def differ(self, first: np.ndarray, second: np.ndarray, where: np.ndarray) -> np.ndarray:
        """For each leaf of the results whether it differs, by more than by rounding."""
        leaf, count = self.results.leaf, len(self.results.types)
        with np.errstate(all="ignore"):
            scale = 0.01 * self._largest(first)[leaf] + np.abs(first)
            is_close = np.abs(first - second) <= self.tolerance * scale
        # Numbers that overflow do so in another order, to infinity or, after that, to NaN.
        is_close |= (first == second) | ~(np.isfinite(first) | np.isfinite(second))
        return np.bincount(leaf[where & ~is_close], minlength=count) > 0

    def same(self, first: np.ndarray, second: np.ndarray, where: np.ndarray) -> np.ndarray:
        """For each leaf whether all its numbers are the same, to the last bit."""
        is_same = (first == second) & np.isfinite(first)  # what is not finite shows nothing
        leaf = self.results.leaf[where & ~is_same]
        return np.bincount(leaf, minlength=len(self.results.types)) == 0

    # --- within a step ---

    def values(
        self, traced: ClosedJaxpr, variables: Sequence, step: Step, *, is_dense: bool
    ) -> list[np.ndarray]:
        """The arrays that these variables of the program of a step have."""
        inputs = self.inputs if is_dense else self.probe.some.inputs
        vector = step.inputs if is_dense else self._inputs_of_some(step)
        closed, jaxpr = _without_tracers(traced), traced.jaxpr
        constants = dict(zip(jaxpr.constvars, closed.consts, strict=True))
        program = _jax_internals.program_of(
            "values", jaxpr.eqns, jaxpr.invars, variables, constants
        )

        @jax.jit
        def of_parts(parts: list, others: Sequence) -> list:
            return jaxpr_as_fun(program)(*inputs.unpacked(parts, others))

        given = inputs.split(vector), [*step.others]
        return list(map(np.asarray, _compile(of_parts.lower(*given))(*given)))

    def agree(self, of_all: np.ndarray, of_some: np.ndarray, step: Step) -> bool:
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
                rows = step.rows[self.probe.slots_of(n)]
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


def _compiled(program: Program, fill: float = 0.1) -> Callable:
    """The function of a vector, and of inputs that are no numbers, to the same of its results.

    `fill` is the number for what is traced around the program.
    """
    evaluate = jaxpr_as_fun(_without_tracers(program.traced, fill))

    @jax.jit
    def of_parts(parts: list, others: Sequence) -> tuple[list, list]:
        return program.results.packed(evaluate(*program.inputs.unpacked(parts, others)))

    types = [program.inputs.types[n] for n in program.inputs.others]
    compiled = _compile(of_parts.lower(program.inputs.split(np.zeros(len(program.inputs))), types))

    def of_vector(vector: np.ndarray, others: Sequence) -> tuple[np.ndarray, Sequence]:
        parts, others = compiled(program.inputs.split(vector), [*others])
        return program.results.join(parts), others

    return of_vector


def _compile(lowered: Any) -> Callable:
    """In an eighth of the time, as what runs a hundred times on small arrays may be slow."""
    try:
        return lowered.compile(compiler_options=_FAST)
    except jax.errors.JaxRuntimeError:  # also of an XLA that does not know one of these options
        return lowered.compile()


def _without_tracers(program: ClosedJaxpr, fill: float = 0.1) -> ClosedJaxpr:
    """With numbers for what is traced around it, such as a learning rate; all on no device."""

    def known(x: Any) -> Any:
        if not isinstance(x, jax.Array) or not isinstance(x.dtype, np.dtype):
            return x
        can_be_read = _jax_internals.is_concrete(x) and x.is_fully_addressable
        return np.asarray(x) if can_be_read else np.full(x.shape, fill).astype(x.dtype)

    return ClosedJaxpr(program.jaxpr, list(map(known, program.consts)))
