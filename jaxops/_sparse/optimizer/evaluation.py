"""Programs of small arrays evaluated by NumPy, which takes less time than to compile them.

All arrays have one axis more, the first: a program is evaluated for many inputs at once, or for one
that counts for all, as constants do. An equation whose primitive has no function here is compiled
by itself (`_by_jax`). JAX must not see the contexts of the caller then: see `aside`.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from jaxops import _jax_internals
from jaxops._indexing import programs
from jaxops._jax_internals import ClosedJaxpr, JaxprEqn, Literal
from jaxops._sparse import jaxprs, row_rules

AT_A_TIME = 64  # inputs at once

# Without LLVM's optimizations, the emitters of fused loops, and a module for each thread: an eighth
# of the time. Programs that run a hundred times on small arrays may be slow.
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
    """`function()` in a thread of its own, on the CPU.

    A trace, a mesh, a transfer guard or `jax.debug_nans` of the caller holds in the caller's thread
    alone. Here only 64 bits are as they are for the caller.
    """
    has_64_bits = bool(jax.config.read("jax_enable_x64"))

    def in_thread() -> Any:
        with contextlib.ExitStack() as stack:
            # `jax.config.update` and the environment set these for all threads of the process.
            for setting in (jax.debug_nans, jax.debug_infs, jax.disable_jit):
                stack.enter_context(setting(False))
            stack.enter_context(jax.enable_x64(has_64_bits))
            stack.enter_context(jax.transfer_guard("allow"))
            with contextlib.suppress(RuntimeError):  # where there is no such device
                cpu = jax.local_devices(backend="cpu")[0]
                stack.enter_context(jax.default_device(cpu))
            stack.enter_context(np.errstate(all="ignore"))
            return function()

    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(in_thread).result()


class Evaluation:
    """A program as a function of a list of arrays to a list of arrays.

    Args:
        program: the program.
        fill: the number for what is traced around it, such as a learning rate.
        functions: those of equations, by id, which programs share.
    """

    def __init__(self, program: ClosedJaxpr, fill: float = 0.1, functions: dict | None = None):
        functions = {} if functions is None else functions
        jaxpr = program.jaxpr
        if jaxpr.effects:
            raise CannotRun
        self.inputs, self.results = jaxpr.invars, [*map(_key, jaxpr.outvars)]
        constants = [_known(x, fill)[None] for x in program.consts]
        self.known: dict[Any, Any] = dict(zip(jaxpr.constvars, constants, strict=True))
        for atom in [*(atom for eqn in jaxpr.eqns for atom in eqn.invars), *jaxpr.outvars]:
            if isinstance(atom, Literal):
                self.known[_key(atom)] = np.asarray(atom.val, jaxprs.type_of(atom).dtype)[None]
        self.steps = []
        for eqn in jaxpr.eqns:
            if id(eqn) not in functions:  # with the equation, so that no other has its id
                functions[id(eqn)] = eqn, _function(eqn, functions)
            self.steps.append((functions[id(eqn)][1], [*map(_key, eqn.invars)], eqn.outvars))

    def values(self, arrays: Sequence) -> dict[Any, Any]:
        """The arrays that the program makes, by variable."""
        values = {**self.known, **dict(zip(self.inputs, arrays, strict=True))}
        for function, operands, results in self.steps:
            values.update(zip(results, function([values[x] for x in operands]), strict=True))
        return values

    def __call__(self, arrays: Sequence) -> list:
        values = self.values(arrays)
        return [values[x] for x in self.results]


def _key(atom: Any) -> Any:
    """A variable; the id of a literal, which has no hash."""
    return id(atom) if isinstance(atom, Literal) else atom


def _known(x: Any, fill: float) -> Any:
    if not isinstance(x, jax.Array) or not isinstance(x.dtype, np.dtype):
        return x if isinstance(x, jax.Array) else np.asarray(x)
    can_be_read = _jax_internals.is_concrete(x) and x.is_fully_addressable
    return np.asarray(x) if can_be_read else np.full(x.shape, fill).astype(x.dtype)


def _function(eqn: JaxprEqn, functions: dict) -> Callable[[list], Sequence]:
    name = eqn.primitive.name
    if name in row_rules.CALLS:
        return Evaluation(_jax_internals.body(eqn), functions=functions)
    if name in row_rules.EACH_BY_ITSELF:
        return lambda operands: operands
    if name == "cond" and not _jax_internals.platforms_of_branches(eqn):
        return _cond([Evaluation(b, functions=functions) for b in _jax_internals.branches(eqn)])
    dtypes = [jaxprs.type_of(v).dtype for v in (*eqn.invars, *eqn.outvars)]
    is_of_numpy = all(isinstance(t, np.dtype) and t.isbuiltin == 1 for t in dtypes)
    if name == "convert_element_type" and all(isinstance(t, np.dtype) for t in dtypes):
        return lambda operands: [operands[0].astype(dtypes[-1])]
    if name in _ELEMENTWISE and is_of_numpy:
        function, dtype = _ELEMENTWISE[name], dtypes[-1]
        return lambda operands: [function(*_aligned(operands)).astype(dtype, copy=False)]
    if name in _OTHERS and is_of_numpy:
        return _OTHERS[name](eqn)
    return _by_jax(eqn)


# --- by NumPy ---

# By name; behind a colon the name of NumPy's function, if it is another one.
_NAMES = """
    abs add add_any:add and:bitwise_and cbrt cos div:divide eq:equal exp ge:greater_equal gt:greater
    is_finite:isfinite le:less_equal log log1p lt:less max:maximum min:minimum mul:multiply
    ne:not_equal neg:negative not:invert or:bitwise_or pow:power rem:fmod sign sqrt square
    sub:subtract tanh
"""
_ELEMENTWISE: dict[str, Callable] = {
    name: getattr(np, of_numpy or name)
    for name, _, of_numpy in (word.partition(":") for word in _NAMES.split())
}
_ELEMENTWISE["clamp"] = lambda low, x, high: np.minimum(np.maximum(x, low), high)
_ELEMENTWISE["rsqrt"] = lambda x: 1 / np.sqrt(x)


def _aligned(operands: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The operands with equal ranks: one number for each input gets axes of size 1."""
    rank = max(x.ndim for x in operands)
    return [x if x.ndim == rank else x.reshape(len(x), *[1] * (rank - 1)) for x in operands]


def _broadcast_in_dim(eqn: JaxprEqn) -> Callable:
    shape = jaxprs.type_of(eqn.outvars[0]).shape
    sizes = [1] * len(shape)
    old = jaxprs.type_of(eqn.invars[0]).shape
    for d, size in zip(_jax_internals.param(eqn, "broadcast_dimensions"), old, strict=True):
        sizes[d] = size
    return lambda xs: [np.broadcast_to(xs[0].reshape(len(xs[0]), *sizes), (len(xs[0]), *shape))]


def _integer_pow(eqn: JaxprEqn) -> Callable:
    power = _jax_internals.param(eqn, "y")
    return lambda xs: [(1 / xs[0] ** -power if power < 0 else xs[0] ** power).astype(xs[0].dtype)]


def _reduction(function: Callable) -> Callable:
    def of_equation(eqn: JaxprEqn) -> Callable:
        axes = tuple(axis + 1 for axis in _jax_internals.param(eqn, "axes"))
        dtype = jaxprs.type_of(eqn.outvars[0]).dtype
        return lambda xs: [function(xs[0], axis=axes).astype(dtype, copy=False)]

    return of_equation


def _reshape(eqn: JaxprEqn) -> Callable:
    shape = jaxprs.type_of(eqn.outvars[0]).shape
    return lambda xs: [xs[0].reshape(len(xs[0]), *shape)]


def _select_n(eqn: JaxprEqn) -> Callable:
    if len(eqn.invars) > 3:
        return _by_jax(eqn)

    def selected(xs):
        which, first, second = _aligned(xs)
        return [np.where(which, second, first)]

    return selected


_OTHERS: dict[str, Callable[[JaxprEqn], Callable]] = {
    "broadcast_in_dim": _broadcast_in_dim,
    "integer_pow": _integer_pow,
    "reduce_and": _reduction(np.all),
    "reduce_or": _reduction(np.any),
    "reduce_sum": _reduction(np.sum),
    "reshape": _reshape,
    "select_n": _select_n,
    "squeeze": _reshape,
}


def _cond(branches: Sequence[Callable]) -> Callable:
    """Each branch for those inputs that choose it, as a loop in another one may not end."""

    def results(xs):
        index, *operands = xs
        count = max(map(len, xs))
        chosen = np.broadcast_to(np.clip(index.astype(int), 0, len(branches) - 1), count)
        order, found = [], []
        for number, branch in enumerate(branches):
            where = np.flatnonzero(chosen == number)
            if len(where):
                order.append(where)
                parts = branch([x if len(x) == 1 else x[where] for x in operands])
                found.append([x[np.arange(len(where)) % len(x)] for x in parts])
        back = np.argsort(np.concatenate(order))
        return [joined(parts)[back] for parts in zip(*found, strict=True)]

    return results


def joined(parts: Sequence[Any]) -> Any:
    """The parts as one array along the first axis; the parts may be arrays of random keys."""
    is_numpy = all(isinstance(x, np.ndarray) for x in parts)
    return np.concatenate(parts) if is_numpy else jax.numpy.concatenate(parts)


# --- by JAX ---


def _by_jax(eqn: JaxprEqn) -> Callable:
    """One input after another in a compiled loop, for which a primitive needs no batching rule."""
    numbers = np.arange(AT_A_TIME)  # of the inputs: an equation may have no operand

    @jax.jit
    def for_each(arrays: list) -> list:
        return lax.map(lambda xs: programs.bind(eqn, xs[1:]), [numbers, *arrays])

    compiled: list[Callable] = []

    def results(xs):
        count = max(map(len, xs), default=1)
        padded = [x[np.minimum(numbers, len(x) - 1)] for x in xs]
        try:
            if not compiled:
                compiled.append(_compile(for_each.lower(padded)))
            found = compiled[0](padded)
        except Exception as error:
            raise CannotRun from error
        return [
            np.asarray(x)[:count] if isinstance(x.dtype, np.dtype) else x[:count] for x in found
        ]

    return results


def _compile(lowered: Any) -> Callable:
    try:
        return lowered.compile(compiler_options=_FAST)
    except jax.errors.JaxRuntimeError as error:
        unknown = [name for name in _FAST if f"'{name}'" in str(error)]
        for name in unknown:  # the XLA of jax 0.12 has no other emitters
            _FAST.pop(name, None)
        return _compile(lowered) if unknown else lowered.compile()
