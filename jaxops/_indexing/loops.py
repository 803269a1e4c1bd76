"""Loops that check indices, as a CPU runs them: the program raises after the loop.

XLA compiles a loop of a few scalar operations to one loop of the machine, but not if a step may
call Python: with a branch for each check an edit distance took 106 times as long as without checks.
So a loop that is lowered for a CPU carries the number of the first check that found an index out of
bounds, from 1, and the indices of that check:

    step: indices -> x[indices]
    becomes: (first, noted), indices -> (select(is_first, number, first),
                                         select(is_first, indices, noted)), x[indices],
             where is_first = any(indices are out of bounds) & (first == 0)

A `while_loop` ends where `first` is set, as it might never end with values read out of bounds.
After the outermost loop one branch raises, and the results of the loop go through that branch, so
all that is computed from them comes after it.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _jax_internals
from jaxops._errors import OutOfBoundsError
from jaxops._indexing import branches, check, lanes, programs
from jaxops._indexing.bounds import any_out_of_bounds
from jaxops._indexing.raising import raise_from_program
from jaxops._jax_internals import ClosedJaxpr, JaxprEqn, Literal
from jaxops._primitives import lower_fun

# A loop whose step computes more elements raises in the step: there the branch takes less than the
# rest, and a `scan`, which goes on to its end, could take long. 2,000 steps that scale 6,000
# elements, and read 16 of them, each by the one before, take 2.1 ms without checks, 2.5 with an
# error after the loop, and 4.8 with one in the step. But one check of 4,000 indices takes a third
# longer if the loop notes them.
_MOST_ELEMENTS = 8192


class _Notes:
    """The first check with an index out of bounds, and its indices.

    Checks of indices of one shape and dtype share an array, as one check alone is noted: a loop
    that interprets 40 instructions has 120 checks, and with an array for each it took 100 times as
    long as without checks (test_loops.py, test_checks_share_what_a_loop_carries).
    """

    def __init__(self, checks: Sequence[tuple], state: tuple[jax.Array, dict[tuple, jax.Array]]):
        self.checks = checks  # spec, site and kind of indices
        # The number of the check, from 1, or 0 if none is noted; the indices of each kind.
        self.state = state

    @property
    def found(self) -> jax.Array:
        return self.state[0] > 0

    def look(self, eqn: JaxprEqn, indices: jax.Array, *active: jax.Array) -> None:
        """Notes the indices of a check."""
        bad = any_out_of_bounds(indices, _spec(eqn), *active)
        for mask in active:  # the index 0 is in bounds
            mask = lax.broadcast_in_dim(mask, indices.shape, range(mask.ndim))
            indices = lax.select(mask, indices, jnp.zeros_like(indices))
        is_first = bad & ~self.found
        first, noted = self.state
        number, kind = np.int32(self.checks.index(_check(eqn)) + 1), _kind(eqn)
        indices = lax.select(is_first, indices, noted[kind])
        self.state = lax.select(is_first, number, first), {**noted, kind: indices}

    def raise_if_found(self, results: list) -> list:
        """`results` of the loop, by way of a branch that raises if an index was out of bounds."""
        first, noted = self.state
        # Without `self`: the program keeps this function, and the arrays that are traced would leak
        # (test_loops.py, test_no_tracer_leaks).
        error = functools.partial(_error, self.checks, [*noted])

        def report(operands, results):
            (zero,) = raise_from_program(error, *operands)
            # If both branches returned the same, XLA would not let the results go through them.
            return [
                x if _is_key(x) else lax.select(zero == 0, x, jnp.zeros_like(x)) for x in results
            ]

        operands = [first, *noted.values()]
        return lax.cond(self.found, report, lambda _, results: results, operands, results)


def _error(
    checks: Sequence[tuple], kinds: Sequence[tuple], first: np.ndarray, *noted: np.ndarray
) -> OutOfBoundsError:
    """The error of the check with the number `first`; `noted` has the indices of each kind."""
    spec, site, kind = checks[int(first) - 1]
    error = spec.find_error(noted[kinds.index(kind)], site)
    if error is None:
        raise branches.nothing_found(spec)
    return error


def _check(eqn: JaxprEqn) -> tuple:
    """The key of a check: equations with the same key find the same errors."""
    return _spec(eqn), _site(eqn), _kind(eqn)


def _kind(eqn: Any) -> tuple:
    """The shape and dtype of the indices of a check."""
    aval = eqn.invars[0].aval
    return aval.shape, str(aval.dtype)


def _is_key(x: jax.Array) -> bool:
    return jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def _spec(eqn: JaxprEqn) -> Any:
    return _jax_internals.param(eqn, "spec")


def _site(eqn: JaxprEqn) -> Any:
    return _jax_internals.param(eqn, "site")


def _is_noted(eqn: JaxprEqn) -> bool:
    """Whether an equation is a check whose indices a loop can carry; 0 must be in bounds."""
    if eqn.primitive is not check.check_p:
        return False
    return 0 not in _spec(eqn).limits and _spec(eqn).raises_at(_site(eqn))


def _checks_of(program: Any) -> list[JaxprEqn]:
    """The checks that `_evaluate` notes."""
    found = ([eqn] if _is_noted(eqn) else _checks_within(eqn) for eqn in program.eqns)
    return [eqn for eqns in found for eqn in eqns]


def _checks_within(eqn: Any) -> list[JaxprEqn]:
    return [check for program in _programs(eqn) for check in _checks_of(program)]


def _programs(eqn: Any) -> Sequence[ClosedJaxpr]:
    """The programs that an equation calls whose checks are noted."""
    name = eqn.primitive.name
    if name in _CALLS or name == "scan":
        return [_jax_internals.body(eqn)]
    if name == "cond" and _jax_internals.platforms_of_branches(eqn) is None:
        return _jax_internals.branches(eqn)
    if name == "while":
        cond, body = _programs_of_while(eqn)
        # Of a batch there is a predicate for each call, and some calls may have ended.
        return [cond, body] if cond.out_avals[0].shape == () else []
    return []


def _programs_of_while(eqn: Any) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """The condition and the body."""
    cond, body = (_jax_internals.param(eqn, name) for name in ("cond_jaxpr", "body_jaxpr"))
    return cond, body


def _may_hang(eqn: Any) -> bool:
    """Whether there is a `while_loop`, which may not end with values read out of bounds."""
    called = _programs(eqn)
    if eqn.primitive is lax.while_p:
        return bool(called)
    return any(_may_hang(inner) for program in called for inner in program.eqns)


def _hides_loop(eqn: Any) -> bool:
    """Whether a `while_loop` stays as it is, which may not end with values read out of bounds."""
    if called := _programs(eqn):
        return any(_hides_loop(inner) for program in called for inner in program.eqns)
    eqns = (eqn, *_jax_internals.equations_called_by(eqn))
    return any(e.primitive is lax.while_p for e in eqns)


def _evaluate(program: Any, inputs: Sequence, notes: _Notes) -> list:
    def step(eqn: JaxprEqn, inputs: list) -> list:
        if _is_noted(eqn):
            notes.look(eqn, *inputs)
            return inputs[:1]
        if _checks_within(eqn) or _may_hang(eqn):
            return _RULES[eqn.primitive.name](eqn, inputs, notes)
        return programs.bind(eqn, inputs)

    return programs.walk(program, inputs, step)


def _call_rule(eqn: Any, inputs: list, notes: _Notes) -> list:
    return _evaluate(_jax_internals.body(eqn), inputs, notes)


def _scan_rule(eqn: Any, inputs: list, notes: _Notes) -> list:
    program = _jax_internals.body(eqn)
    num_consts, num_carry = _jax_internals.scan_counts(eqn)
    consts, carry = inputs[:num_consts], inputs[num_consts : num_consts + num_carry]

    def step(state, xs):
        carry, noted = state
        inner = _Notes(notes.checks, noted)
        results = _evaluate(program, [*consts, *carry, *xs], inner)
        return (results[:num_carry], inner.state), results[num_carry:]

    options = {name: _jax_internals.param(eqn, name) for name in ("length", "reverse", "unroll")}
    xs = inputs[num_consts + num_carry :]
    (last, notes.state), stacked = lax.scan(step, (carry, notes.state), xs, **options)
    return [*last, *stacked]


def _while_rule(eqn: Any, inputs: list, notes: _Notes) -> list:
    cond, body = _programs_of_while(eqn)
    num_cond, num_body = (_jax_internals.param(eqn, f"{n}_nconsts") for n in ("cond", "body"))
    of_cond, of_body = inputs[:num_cond], inputs[num_cond : num_cond + num_body]

    def is_active(carry, notes):
        return _evaluate(cond, [*of_cond, *carry], notes)[0] & ~notes.found

    def step(state):
        _, carry, noted = state
        inner = _Notes(notes.checks, noted)
        carry = _evaluate(body, [*of_body, *carry], inner)
        return is_active(carry, inner), carry, inner.state

    carry = inputs[num_cond + num_body :]
    state = is_active(carry, notes), carry, notes.state
    _, last, notes.state = lax.while_loop(lambda state: state[0], step, state)
    return last


def _cond_rule(eqn: Any, inputs: list, notes: _Notes) -> list:
    index, *operands = inputs

    def evaluate(branch, noted, *operands):
        inner = _Notes(notes.checks, noted)
        return _evaluate(branch, operands, inner), inner.state

    branches = [functools.partial(evaluate, b) for b in _jax_internals.branches(eqn)]
    results, notes.state = lax.switch(index, branches, notes.state, *operands)
    return results


_CALLS = ("jit", "closed_call", "eval_jaxpr", "custom_jvp_call", "custom_vjp_call")
_RULES = {
    **dict.fromkeys(_CALLS, _call_rule),
    "scan": _scan_rule,
    "while": _while_rule,
    "cond": _cond_rule,
}


def lower(eqn: Any, rule: Callable, ctx, *operands, **params):
    """The lowering rule of a loop; `rule` is JAX's own."""
    if eqn.primitive is lax.while_p and not _is_counted(eqn, operands):
        branches.wait_for_checks(ctx)
    checks: list[JaxprEqn] = []
    # A loop that jaxops does not know raises in the step.
    with contextlib.suppress(_jax_internals.UnknownParameter):
        # Most loops of a program have no check, which is known of a program for good.
        if lanes.calls_checks(eqn) and runs_here(ctx) and _is_small(eqn):
            checks = [] if _hides_loop(eqn) else _checks_within(eqn)
    if not checks:
        return rule(ctx, *operands, **params)

    def loop(*operands):
        indices: dict[tuple, Any] = {_kind(eqn): eqn.invars[0].aval for eqn in checks}
        noted = {kind: jnp.zeros(aval.shape, aval.dtype) for kind, aval in indices.items()}
        notes = _Notes([*dict.fromkeys(map(_check, checks))], (jnp.int32(0), noted))
        return notes.raise_if_found(_RULES[eqn.primitive.name](eqn, list(operands), notes))

    avals = [v.aval for e in _jax_internals.equations_called_by(eqn) for v in e.outvars]
    return lower_fun(loop, within=avals)(ctx, *operands)


def _is_counted(eqn: Any, operands: Sequence[Any]) -> bool:
    """Whether a `while_loop` takes a number of steps that is known, as the one of a `scan` does.

    It counts from a constant to another one. `operands` are those of the program that is lowered.
    """
    with contextlib.suppress(_jax_internals.UnknownParameter):
        cond, body = (program.jaxpr for program in _programs_of_while(eqn))
        num_cond, num_body = (_jax_internals.param(eqn, f"{n}_nconsts") for n in ("cond", "body"))
        if [test.primitive for test in cond.eqns] != [lax.lt_p]:
            return False
        number, limit = cond.eqns[0].invars
        carry = cond.invars[num_cond:]
        if number not in carry or not isinstance(limit, Literal):
            return False
        k = carry.index(number)
        adds = [
            add.invars[1].val
            for add in body.eqns
            if add.primitive is lax.add_p
            and add.outvars[0] is body.outvars[k]
            and add.invars[0] is body.invars[num_body + k]
            and isinstance(add.invars[1], Literal)
        ]
        is_integer = jnp.issubdtype(number.aval.dtype, np.integer)
        start = getattr(operands[num_cond + num_body + k], "owner", None)
        is_constant = getattr(start, "name", "") == "stablehlo.constant"
        return is_integer and is_constant and any(step > 0 for step in adds)
    return False


def runs_here(ctx) -> bool:
    """Whether a program that is being lowered is for the one CPU of this process, and no mesh."""
    # Devices that share a loop could come to different numbers of steps. On a mesh of one device
    # the types of a step may have another mesh than the program has when it is lowered
    # (test_devices.py, test_sparse_gradients_on_explicit_axes).
    types = [aval for aval in (*ctx.avals_in, *ctx.avals_out) if hasattr(aval, "sharding")]
    meshes = [jax.sharding.get_abstract_mesh(), *(aval.sharding.mesh for aval in types)]
    is_for_one = _jax_internals.is_for_one_device(ctx) and all(mesh.empty for mesh in meshes)
    return is_for_one and is_for_cpus(ctx)


def is_for_cpus(ctx) -> bool:
    """Whether a program that is being lowered is for CPUs of this process, or of several."""
    is_for_cpu = list(_jax_internals.platforms_of(ctx)) == ["cpu"]
    return is_for_cpu and not _jax_internals.is_for_elsewhere(ctx)


def _is_small(eqn: Any) -> bool:
    """Whether a step computes few elements, and does no more, as `jax.debug.print` does."""
    if any(program.effects for program in _jax_internals.programs_in(eqn)):
        return False
    return sum(map(_num_elements, _jax_internals.equations_called_by(eqn))) <= _MOST_ELEMENTS


def _num_elements(eqn: Any) -> int:
    """The elements that an equation computes, apart from those of programs that it calls."""
    if eqn.primitive.name in ("reshape", "squeeze", "expand_dims"):
        return 0
    if any(_jax_internals.programs_in(eqn)):
        return 0
    is_in_place = eqn.primitive.name in ("scatter", "dynamic_update_slice", "atomic_sums")
    written = eqn.invars[1:] if is_in_place else eqn.outvars
    return sum(math.prod(v.aval.shape) for v in written)
