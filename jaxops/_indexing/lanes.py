"""The lanes of `vmap`: a check counts for the calls of a batch that come to it, and for no other.

Where the predicate of a `cond` differs within a batch, `vmap` computes every branch for all calls,
and where that of a `while_loop` does, it goes on with the calls that have ended. An index that such
a call would never use may lie anywhere. So the batching rules of both primitives hand the checks in
a branch or in the body of a loop a mask, which is batched as the predicate is.

The mask is one more operand of the branch, and of each program in it that holds checks. Those
programs are traced once more for it, by JAX's own functions where these take a program's parts.
Without a batched predicate nothing is changed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from jaxops import _jax_internals
from jaxops._indexing import programs
from jaxops._indexing.check_primitive import is_check
from jaxops._jax_internals import ClosedJaxpr, Jaxpr, JaxprEqn

# Of whose functions no check is lowered (`reducers.py`).
REDUCTIONS = (lax.reduce_p, lax.reduce_window_p, lax.select_and_scatter_p, lax.scatter_p)


def register_rules() -> None:
    """Called by `policy.py` when it is imported, which all modules that bind checks import.

    Not with the first check: that may be in a backward rule, which JAX traces after `vmap` has
    batched the branch.
    """
    of_while = ("cond_jaxpr", "body_jaxpr", "cond_nconsts", "body_nconsts")
    _jax_internals.wrap_batching_rule(lax.cond_p, _batched_cond, "branches")
    _jax_internals.wrap_batching_rule(lax.while_p, _batched_while, *of_while)


@programs.kept
def has_checks(jaxpr: Jaxpr) -> bool:
    """Whether a program, or one that it calls, holds a check."""
    return any(is_check(eqn) or calls_checks(eqn) for eqn in jaxpr.eqns)


def calls_checks(eqn: JaxprEqn) -> bool:
    """Whether a program that an equation calls holds a check, or may hold one.

    JAX traces the rules of a custom derivative later, if at all. They may index where the function
    does not, but for those that JAX's own source defines, such as that of `jax.nn.relu`.
    """
    if eqn.primitive.name in ("custom_jvp_call", "custom_vjp_call"):
        program = _jax_internals.body(eqn)
        is_of_jax = _jax_internals.is_of_source(program, _jax_internals.JAX)
        return has_checks(program.jaxpr) or not is_of_jax
    return any(map(has_checks, _jax_internals.programs_in(eqn)))


def _batched_cond(rule: Callable, axis_data, args, dims, *, branches, **params):
    index, index_dim = args[0], dims[0]
    if index_dim is not None and any(has_checks(b.jaxpr) for b in branches):
        types: list[Any] = []
        jax.vmap(lambda index: types.append(jax.typeof(index)), index_dim)(index)
        branches = tuple(_with_mask(b, types[0], number) for number, b in enumerate(branches))
        args, dims = (index, *args), (index_dim, *dims)
    return rule(axis_data, args, dims, branches=branches, **params)


def _batched_while(rule: Callable, axis_data, args, dims, **params):
    """A mask for the checks in the body: the condition, computed there again, as by JAX's own rule.

    If the condition turns out not to be batched, the mask stays a scalar, which no check looks at.
    """
    cond, body = params["cond_jaxpr"], params["body_jaxpr"]
    num_cond, num_body = params["cond_nconsts"], params["body_nconsts"]
    # A condition that is batched already comes from a loop that has its masks.
    if has_checks(body.jaxpr) and cond.out_avals[0].shape == ():
        params["body_jaxpr"] = _with_condition(body, cond, num_cond)
        params["body_nconsts"] = num_cond + num_body
        args, dims = ((*x[:num_cond], *x) for x in (args, dims))
    return rule(axis_data, args, dims, **params)


@programs.kept
def _with_condition(body: ClosedJaxpr, cond: ClosedJaxpr, num_cond: int) -> ClosedJaxpr:
    """`body` with the constants of `cond` before its own; its checks count where `cond` holds."""
    # The condition is computed twice, and checked once.
    unchecked = _jax_internals.map_equations(cond, lambda eqn: None if is_check(eqn) else eqn)
    num_body = len(body.in_avals) - (len(cond.in_avals) - num_cond)

    def step(*operands):
        consts, carry = operands[:num_cond], operands[num_cond + num_body :]
        (active,) = _jax_internals.jaxpr_as_fun(unchecked)(*consts, *carry)
        return _evaluate(body, operands[num_cond:], active)

    return jax.make_jaxpr(step)(*cond.in_avals[:num_cond], *body.in_avals)


@programs.kept
def _with_mask(program: ClosedJaxpr, type_: Any, number: int | None = None) -> ClosedJaxpr:
    """`program` with a mask of this type before its operands, where its checks count.

    Or with the number of a branch, whose checks count where that is `number`.
    """

    def with_mask(first, *operands):
        mask = first if number is None else first == jnp.asarray(number, first.dtype)
        return _evaluate(program, operands, mask)

    return jax.make_jaxpr(with_mask)(type_, *program.in_avals)


def _evaluate(program: ClosedJaxpr, inputs: Sequence, active: jax.Array) -> list:
    """The results of a program whose checks count where `active`, a scalar of a lane, holds."""

    def step(eqn: JaxprEqn, inputs: list) -> list:
        if is_check(eqn):
            indices, *before = inputs
            both = active & before[0] if before else active
            return _jax_internals.bind_again(eqn, [indices, both])
        if eqn.primitive in REDUCTIONS or not calls_checks(eqn):
            return programs.bind(eqn, inputs)
        evaluate = _EVALUATED.get(eqn.primitive.name)
        if evaluate is None:
            called = _jax_internals.equations_called_by(eqn)
            if not any(map(is_check, called)):
                # Only the rule of a custom derivative may hold checks, and JAX has not traced that
                # rule. The equation stays as it is (test_lanes.py, test_rules_without_checks_stay).
                return programs.bind(eqn, inputs)
            raise NotImplementedError(
                f"jaxops: an index is checked inside {eqn.primitive.name}, in a branch of a cond "
                "or a step of a while_loop whose predicate jax.vmap batches; which calls of the "
                "batch come to it cannot be told there. Check no index in it (jaxops.unchecked, or "
                'mode="fill"), or use lax.map in place of jax.vmap'
            )
        return evaluate(eqn, inputs, active)

    return programs.walk(program, inputs, step)


# --- equations that call programs with checks ---


def _call(eqn: JaxprEqn, inputs: list, active: jax.Array) -> list:
    """The program of a `jit` in place of the call; the shardings that it states stay."""
    # The program alone would lose the shardings that the `jit` asked for (test_lanes.py,
    # test_sharding_of_a_jit_stays).
    inputs = _jax_internals.shared_as_said(eqn, "in", inputs)
    results = _evaluate(_jax_internals.body(eqn), inputs, active)
    return _jax_internals.shared_as_said(eqn, "out", results)


def _checkpoint(eqn: JaxprEqn, inputs: list, active: jax.Array) -> list:
    program = _with_mask(_jax_internals.body(eqn), jax.typeof(active))
    jaxpr, constants = _jax_internals.open_program(program)
    changed = {"jaxpr": jaxpr, "prevent_cse": _jax_internals.prevents_cse(eqn)}
    return _jax_internals.bind_again(eqn, [*constants, active, *inputs], **changed)


def _scan(eqn: JaxprEqn, inputs: list, active: jax.Array) -> list:
    num_consts, num_carry = _jax_internals.scan_counts(eqn)
    consts, carry = inputs[:num_consts], inputs[num_consts : num_consts + num_carry]

    def step(carry, xs):
        results = _evaluate(_jax_internals.body(eqn), [*consts, *carry, *xs], active)
        return results[:num_carry], results[num_carry:]

    options = {name: _jax_internals.param(eqn, name) for name in ("length", "reverse", "unroll")}
    last, stacked = lax.scan(step, carry, inputs[num_consts + num_carry :], **options)
    return [*last, *stacked]


def _while(eqn: JaxprEqn, inputs: list, active: jax.Array) -> list:
    num_cond = _jax_internals.param(eqn, "cond_nconsts")
    operands = [active, *inputs[:num_cond], active, *inputs[num_cond:]]
    changed = {
        name: _with_mask(_jax_internals.param(eqn, name), jax.typeof(active))
        for name in ("cond_jaxpr", "body_jaxpr")
    }
    num_body = _jax_internals.param(eqn, "body_nconsts")
    counts = {"cond_nconsts": num_cond + 1, "body_nconsts": num_body + 1}
    return _jax_internals.bind_again(eqn, operands, **changed, **counts)


def _cond(eqn: JaxprEqn, inputs: list, active: jax.Array) -> list:
    branches = tuple(
        _with_mask(branch, jax.typeof(active)) for branch in _jax_internals.branches(eqn)
    )
    index, *operands = inputs
    return _jax_internals.bind_again(eqn, [index, active, *operands], branches=branches)


def _linear_solve(eqn: JaxprEqn, inputs: list, active: jax.Array) -> list:
    """The mask is one more constant of each program of a `lax.custom_linear_solve`."""
    counts = _jax_internals.param(eqn, "const_lengths")
    solvers = _jax_internals.param(eqn, "jaxprs")
    given = [program is not None for program in solvers]
    operands, rest = [], inputs
    for count, is_given in zip(counts, given, strict=True):
        operands += [active] * is_given + rest[:count]
        rest = rest[count:]
    masked = (
        _with_mask(program, jax.typeof(active)) if is_given else None
        for program, is_given in zip(solvers, given, strict=True)
    )
    changed = {
        "jaxprs": type(solvers)(*masked),
        "const_lengths": type(counts)(*map(operator.add, counts, given)),
    }
    return _jax_internals.bind_again(eqn, [*operands, *rest], **changed)


def _custom_jvp(eqn: JaxprEqn, inputs: list, active: jax.Array) -> list:
    program, rule = _jax_internals.custom_jvp_parts(eqn)
    first = 1 + _jax_internals.param(eqn, "num_consts")

    @jax.custom_jvp
    def function(active, *inputs):
        return _evaluate(program, inputs, active)

    def jvp(primals, tangents):
        active, primals, tangents = primals[0], primals[first:], tangents[first:]
        is_zero = [isinstance(t, SymbolicZero) for t in tangents]
        moving = [t for t in tangents if not isinstance(t, SymbolicZero)]
        derivative, results_are_zero = rule(is_zero)
        out = _evaluate(derivative, [*primals, *moving], active)
        results, dots = out[: len(results_are_zero)], iter(out[len(results_are_zero) :])
        zeros = [SymbolicZero(jax.typeof(x).to_tangent_aval()) for x in results]
        pairs = zip(zeros, results_are_zero, strict=True)
        return results, [zero if is_zero else next(dots) for zero, is_zero in pairs]

    # A rule that takes no symbolic zeros gets arrays of zeros (test_lanes.py,
    # test_gradients_of_the_calls_that_come_to_a_check).
    function.defjvp(jvp, symbolic_zeros=_jax_internals.param(eqn, "symbolic_zeros"))
    return function(active, *inputs)


def _custom_vjp(eqn: JaxprEqn, inputs: list, active: jax.Array) -> list:
    program, forward, split, backward = _jax_internals.custom_vjp_parts(eqn)
    num_consts = _jax_internals.param(eqn, "num_consts")

    @jax.custom_vjp
    def function(active, *inputs):
        return _evaluate(program, inputs, active)

    def fwd(active, *inputs):
        values, is_perturbed = [x.value for x in inputs], [x.perturbed for x in inputs]
        derivative = forward(is_perturbed[num_consts:])
        results, residuals = split(values, _evaluate(derivative, values[num_consts:], active.value))
        return results, (active.value, residuals)

    def bwd(residuals, cotangents):
        active, residuals = residuals
        cotangents = list(map(_as_array, cotangents))
        has_cotangent: list[bool] = []

        def bars_of(residuals, cotangents):
            bars = backward(residuals, cotangents)
            has_cotangent[:] = [bar is not None for bar in bars]
            return [bar for bar in bars if bar is not None]

        derivative = jax.make_jaxpr(bars_of)(residuals, cotangents)
        bars = iter(_evaluate(derivative, [*residuals, *cotangents], active))
        return None, *(next(bars) if has else None for has in has_cotangent)

    function.defvjp(fwd, bwd, symbolic_zeros=True)
    return function(active, *inputs)


def _as_array(cotangent: Any) -> Any:
    if not isinstance(cotangent, SymbolicZero):
        return cotangent
    zero: Any = cotangent  # its attributes have no types
    return np.zeros(zero.shape, zero.dtype)


_EVALUATED: dict[str, Callable[[JaxprEqn, list, Any], list]] = {
    "jit": _call,
    "closed_call": _call,
    "eval_jaxpr": _call,  # the name of a closed call since jax 0.12
    "remat2": _checkpoint,
    "scan": _scan,
    "while": _while,
    "cond": _cond,
    "custom_linear_solve": _linear_solve,
    "custom_jvp_call": _custom_jvp,
    "custom_vjp_call": _custom_vjp,
}
