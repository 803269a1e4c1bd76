"""Loops and branches that check indices: the program raises after them.

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

The shards of a `shard_map` may take different branches, and different numbers of steps. If one of
them raised there, the others would wait for it in their next collective until XLA ends the process.
So there each loop, and each `cond` too, carries its checks, on every platform. All shards come to
the end of it. Then they agree whether one of them noted a check, and all raise its error.
"""

from __future__ import annotations

import contextlib
import functools
import math
import types
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _jax_internals
from jaxops._errors import OutOfBoundsError
from jaxops._indexing import branches, lanes, programs
from jaxops._indexing.bounds import any_out_of_bounds
from jaxops._indexing.check_primitive import is_check, raises_on, site_of, spec_of
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
    """The first check with an index out of bounds, and its inputs.

    Checks of indices of one shape and dtype share an array, as one check alone is noted: a loop
    that interprets 40 instructions has 120 checks, and with an array for each it took 100 times as
    long as without checks (test_loops.py, test_checks_share_what_a_loop_carries).
    """

    def __init__(
        self,
        checks: Sequence[tuple],
        axes: tuple[str, ...],
        varying: frozenset[str],
        state: Any = None,
    ):
        self.checks = checks  # spec, site and kind of inputs
        self.axes = axes  # of the `shard_map` around, if there is one
        self.varying = varying  # the same if types tell along which axes values vary
        # The number of the check, from 1, or 0 if none is noted; the inputs of each kind.
        self.state = state

    def within(self, state: Any) -> _Notes:
        """The notes in a program that is called, which begin with this state."""
        return _Notes(self.checks, self.axes, self.varying, state)

    def vary(self, values: Sequence) -> list:
        """Values of a type that varies along all axes, as what is noted does.

        A program that `vmap` made of a `cond` has types that JAX itself refuses when it evaluates
        the program again (branch_programs.py, in_lanes).
        """
        return [_jax_internals.varying_over(x, self.varying) for x in values]

    def bind(self, eqn: JaxprEqn, inputs: list) -> list:
        """The results of an equation without checks."""
        if not self.varying:
            return programs.bind(eqn, inputs)
        if eqn.primitive.name == "pvary":  # which JAX refuses for a value that varies already
            return inputs
        if eqn.primitive.name in _CALLS:
            return _call_rule(eqn, inputs, self)
        if any(_jax_internals.programs_in(eqn)):
            return self.vary(programs.bind(eqn, inputs))
        # Not by `programs.bind`, whose literals would vary along fewer axes than the other inputs.
        return self.vary(_jax_internals.bind_as_is(eqn, inputs))

    @property
    def found(self) -> jax.Array:
        return self.state[0] > 0

    def look(self, eqn: JaxprEqn, inputs: list) -> None:
        """Notes the inputs of a check."""
        is_first = any_out_of_bounds(inputs[0], spec_of(eqn), *inputs[1:]) & ~self.found
        first, noted = self.state
        number, kind = np.int32(self.checks.index(_check(eqn)) + 1), _kind(eqn)
        inputs = [
            lax.select(is_first, x, before) for x, before in zip(inputs, noted[kind], strict=True)
        ]
        self.state = lax.select(is_first, number, first), {**noted, kind: inputs}

    def raise_if_found(self, results: list) -> list:
        """`results` of the loop, by way of a branch that raises if an index was out of bounds."""
        first, noted = self.state
        # Without `self`: the program keeps this function, and the arrays that are traced would leak
        # (test_loops.py, test_no_tracer_leaks).
        error = functools.partial(_error, self.checks, [*noted])
        axes, found = self.axes, self.found
        if axes:
            found = lax.pmax(first, axes) > 0

        def report(operands, results):
            if axes:
                operands = [lax.all_gather(x, axes) for x in operands]
            (zero,) = raise_from_program(error, *operands)
            # If both branches returned the same, XLA would not let the results go through them.
            return [
                x if _is_key(x) else lax.select(zero == 0, x, jnp.zeros_like(x)) for x in results
            ]

        operands = [first, *jax.tree.leaves([*noted.values()])]
        return lax.cond(found, report, lambda _, results: results, operands, results)


def _error(
    checks: Sequence[tuple], kinds: Sequence[tuple], first: np.ndarray, *noted: np.ndarray
) -> OutOfBoundsError:
    """The error of the check with the number `first`; `noted` has the inputs of each kind.

    Of several shards, along a first axis, that of the first one that noted a check.
    """
    shard = np.flatnonzero(first)[0] if first.ndim else ()
    spec, site, kind = checks[int(first[shard]) - 1]
    arrays = iter(noted)
    inputs = {kind: [next(arrays)[shard] for _ in kind] for kind in kinds}[kind]
    error = spec.find_error(inputs[0], site, *inputs[1:])
    if error is None:
        raise branches.nothing_found(spec)
    return error


def _check(eqn: JaxprEqn) -> tuple:
    """The key of a check: equations with the same key find the same errors."""
    return spec_of(eqn), site_of(eqn), _kind(eqn)


def _kind(eqn: Any) -> tuple:
    """The shapes and dtypes of the inputs of a check: indices, and a mask of those that count."""
    return tuple((v.aval.shape, str(v.aval.dtype)) for v in eqn.invars)


def _is_key(x: jax.Array) -> bool:
    return jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def _checks_of(program: Any) -> list[JaxprEqn]:
    """The checks that `_evaluate` notes."""
    found = ([eqn] if is_check(eqn) else _checks_within(eqn) for eqn in program.eqns)
    return [eqn for eqns in found for eqn in eqns]


def _checks_within(eqn: Any) -> list[JaxprEqn]:
    return [check for program in _programs(eqn) for check in _checks_of(program)]


def _programs(eqn: Any) -> Sequence[ClosedJaxpr]:
    """The programs that an equation calls whose checks are noted."""
    name = eqn.primitive.name
    if name in _CALLS or name in ("scan", "remat2"):
        return [_jax_internals.body(eqn)]
    if name == "cond" and _jax_internals.platforms_of_branches(eqn) is None:
        return _jax_internals.branches(eqn)
    if name == "while":
        return _programs_of_while(eqn)
    if name == "custom_linear_solve":
        return [_jax_internals.param(eqn, "jaxprs").solve]
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
        inputs = notes.vary(inputs)
        if is_check(eqn):
            notes.look(eqn, inputs)
            return inputs[:1]
        if _checks_within(eqn) or _may_hang(eqn):
            return _RULES[eqn.primitive.name](eqn, inputs, notes)
        return notes.bind(eqn, inputs)

    literal = jnp.asarray if notes.varying else lambda x: x
    return programs.walk(program, inputs, step, literal)


def _call_rule(eqn: Any, inputs: list, notes: _Notes) -> list:
    (program,) = _programs(eqn)
    return _evaluate(program, inputs, notes)


def _scan_rule(eqn: Any, inputs: list, notes: _Notes) -> list:
    program = _jax_internals.body(eqn)
    num_consts, num_carry = _jax_internals.scan_counts(eqn)
    consts, carry = inputs[:num_consts], inputs[num_consts : num_consts + num_carry]

    def step(state, xs):
        carry, noted = state
        inner = notes.within(noted)
        results = notes.vary(_evaluate(program, [*consts, *carry, *xs], inner))
        return (results[:num_carry], inner.state), results[num_carry:]

    options = {name: _jax_internals.param(eqn, name) for name in ("length", "reverse", "unroll")}
    xs = inputs[num_consts + num_carry :]
    (last, notes.state), stacked = lax.scan(step, (carry, notes.state), xs, **options)
    return [*last, *stacked]


def _while_rule(eqn: Any, inputs: list, notes: _Notes) -> list:
    cond, body = _programs_of_while(eqn)
    num_cond, num_body = (_jax_internals.param(eqn, f"{n}_nconsts") for n in ("cond", "body"))
    of_cond, of_body = inputs[:num_cond], inputs[num_cond : num_cond + num_body]

    axes = _met_along([cond, body], notes.axes)

    def is_active(carry, notes):
        """Whether the loop goes on; of a batch of calls, each of them."""
        goes_on = _evaluate(cond, [*of_cond, *carry], notes)[0]
        found = notes.found
        if axes:  # where shards meet in the loop, they all go on or none
            found = lax.pmax(found.astype(np.int32), axes) > 0
        return goes_on if axes is None else goes_on & ~found

    def step(state):
        active, carry, noted = state
        inner = notes.within(noted)
        results = notes.vary(_evaluate(body, [*of_body, *carry], inner))
        if active.ndim:  # calls that have ended keep their results
            masks = (lax.broadcast_in_dim(active, x.shape, range(active.ndim)) for x in carry)
            results = [*map(lax.select, masks, results, carry)]
        return is_active(results, inner), results, inner.state

    carry = inputs[num_cond + num_body :]
    state = is_active(carry, notes), carry, notes.state
    _, last, notes.state = lax.while_loop(lambda state: jnp.any(state[0]), step, state)
    return last


def _cond_rule(eqn: Any, inputs: list, notes: _Notes) -> list:
    index, *operands = inputs

    def evaluate(branch, noted, *operands):
        inner = notes.within(noted)
        return notes.vary(_evaluate(branch, operands, inner)), inner.state

    branches = [functools.partial(evaluate, b) for b in _jax_internals.branches(eqn)]
    results, notes.state = lax.switch(index, branches, notes.state, *operands)
    return results


def _checkpoint_rule(eqn: Any, inputs: list, notes: _Notes) -> list:
    program = _jax_internals.body(eqn)
    leaves, tree = jax.tree.flatten(notes.state)

    def function(*operands):
        inner = notes.within(tree.unflatten(operands[: len(leaves)]))
        results = _evaluate(program, operands[len(leaves) :], inner)
        return [*results, *jax.tree.leaves(inner.state)]

    noting = jax.make_jaxpr(function)(*map(jax.typeof, leaves), *program.in_avals)
    jaxpr, constants = _jax_internals.open_program(noting)
    changed = {"jaxpr": jaxpr, "prevent_cse": _jax_internals.prevents_cse(eqn)}
    results = _jax_internals.bind_again(eqn, [*constants, *leaves, *inputs], **changed)
    notes.state = tree.unflatten(results[-len(leaves) :])
    return results[: -len(leaves)]


def _linear_solve_rule(eqn: Any, inputs: list, notes: _Notes) -> list:
    """The program that solves, which is the only one that JAX lowers."""
    counts = _jax_internals.param(eqn, "const_lengths")
    start = counts.matvec + counts.vecmat
    operands = [*inputs[start : start + counts.solve], *inputs[sum(counts) :]]
    (solve,) = _programs(eqn)
    return _evaluate(solve, operands, notes)


def _met_along(called: Sequence[ClosedJaxpr], all_axes: tuple[str, ...]) -> tuple[str, ...] | None:
    """The axes along which shards meet in a collective of these programs.

    None if groups of shards meet, which may take different numbers of steps.
    """
    eqns = [e for program in called for e in _jax_internals.equations_in(program)]
    if any(_jax_internals.params_of(e).get("axis_index_groups") for e in eqns):
        return None
    if any(e.primitive is lax.ppermute_p for e in eqns):
        return all_axes  # XLA lets all devices wait for one another
    axes = {axis for e in eqns for axis in _jax_internals.axes_of_collective(e)}
    return tuple(sorted(axes, key=str))  # in the same order in all processes


_CALLS = (
    "jit",
    "closed_call",
    "eval_jaxpr",
    "custom_jvp_call",
    "custom_vjp_call",
    "custom_vmap_call",
    "composite",
)
_RULES = {
    **dict.fromkeys(_CALLS, _call_rule),
    "scan": _scan_rule,
    "while": _while_rule,
    "cond": _cond_rule,
    "remat2": _checkpoint_rule,
    "custom_linear_solve": _linear_solve_rule,
}


def lower(eqn: Any, rule: Callable, ctx, *operands, **params):
    """The lowering rule of a loop or a `cond`; `rule` is JAX's own."""
    if eqn.primitive is lax.while_p and not _is_counted(eqn, operands):
        branches.wait_for_checks(ctx)
    mesh = next((mesh for mesh in _meshes(ctx) if mesh.manual_axes), None)
    axes = tuple(mesh.manual_axes) if mesh else ()
    checks: list[JaxprEqn] = []
    alone = contextlib.nullcontext()
    # A loop that jaxops does not know raises in the step. Most loops of a program have no check,
    # which is known of a program for good.
    with contextlib.suppress(_jax_internals.UnknownParameter):
        if lanes.calls_checks(eqn) and _is_decided(eqn):
            if mesh:
                alone = branches.alone()
                # JAX checks in a mesh without explicit axes, and hands on nothing from there.
                carries = not mesh.explicit_axes and not _jax_internals.is_for_elsewhere(ctx)
            else:
                carries = runs_here(ctx) and _is_small_loop(eqn)
            if carries:
                (platform,) = _jax_internals.platforms_of(ctx)
                eqn = _on_platform(platform, eqn)
                checks = [] if _hides_loop(eqn) else _checks_within(eqn)
    if not checks:
        with alone:
            return rule(ctx, *operands, **params)

    def loop(*operands):
        noted = {kind: [jnp.zeros(*of_input) for of_input in kind] for kind in map(_kind, checks)}
        zeros, tree = jax.tree.flatten((jnp.int32(0), noted))
        varying = _jax_internals.varying_axes(lax.axis_index(axes)) if axes else frozenset()
        notes = _Notes([*dict.fromkeys(map(_check, checks))], axes, varying)
        notes.state = tree.unflatten(notes.vary(zeros))
        results = _RULES[eqn.primitive.name](eqn, notes.vary(operands), notes)
        return notes.raise_if_found(results)

    avals = [v.aval for e in _jax_internals.equations_called_by(eqn) for v in e.outvars]
    with alone:
        return lower_fun(loop, within=avals)(ctx, *operands)


def _is_decided(eqn: Any) -> bool:
    """Whether an equation is a loop or a `cond`, and no choice by platform."""
    return eqn.primitive is not lax.cond_p or _jax_internals.platforms_of_branches(eqn) is None


def _on_platform(platform: str, eqn: Any) -> Any:
    """An equation without checks that raise nothing on a platform, and branches for others."""

    def change(eqn: JaxprEqn) -> JaxprEqn | None:
        if is_check(eqn):
            is_error = raises_on(platform, eqn) and spec_of(eqn).raises_at(site_of(eqn))
            return eqn if is_error else None
        if eqn.primitive is not lax.cond_p or _is_decided(eqn):
            return eqn
        return _jax_internals.cond_on_platform(eqn, platform)

    programs_of = functools.partial(_jax_internals.map_equations, change=change)
    params = {
        k: _jax_internals.with_programs(x, programs_of)
        for k, x in _jax_internals.params_of(eqn).items()
    }
    return types.SimpleNamespace(primitive=eqn.primitive, params=params)


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
    is_for_one = _jax_internals.is_for_one_device(ctx) and all(mesh.empty for mesh in _meshes(ctx))
    return is_for_one and is_for_cpus(ctx)


def _meshes(ctx) -> list[Any]:
    avals = [aval for aval in (*ctx.avals_in, *ctx.avals_out) if hasattr(aval, "sharding")]
    return [jax.sharding.get_abstract_mesh(), *(aval.sharding.mesh for aval in avals)]


def is_for_cpus(ctx) -> bool:
    """Whether a program that is being lowered is for CPUs of this process, or of several."""
    is_for_cpu = list(_jax_internals.platforms_of(ctx)) == ["cpu"]
    return is_for_cpu and not _jax_internals.is_for_elsewhere(ctx)


def _is_small_loop(eqn: Any) -> bool:
    """Whether a step of a loop computes few elements, and does no more, as `jax.debug.print`."""
    effects = [program.effects for program in _jax_internals.programs_in(eqn)]
    if eqn.primitive is lax.cond_p or any(effects):
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
