"""Facts about equations of traced programs, such as which results are operands as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.extend as jax_extend
import numpy as np
from jax import lax

from jaxops import _call_sites, _jax_internals
from jaxops._indexing import programs
from jaxops._jax_internals import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

# Modules import no part of `jax.extend`: while another thread imported the package, Python raised
# `_DeadlockError` (test_import.py, test_no_module_imports_a_part_of_jax_extend).
jax_primitives = jax_extend.core.primitives

# Primitives whose result is their operand.
IDENTITIES = {
    jax_primitives.copy_p,
    jax_primitives.name_p,
    jax_primitives.sharding_constraint_p,
}

_CALLS = {jax_primitives.jit_p, jax_primitives.closed_call_p, jax_primitives.remat_p}


def type_of(atom) -> Any:
    """Shape and dtype of an input or output of an equation."""
    return atom.aval


def spec_of(eqn: JaxprEqn) -> Any:
    """The specification of an equation's only result on devices."""
    return type_of(eqn.outvars[0]).sharding.spec


def is_known(x: Any) -> bool:
    """Whether the value of a constant can be looked at while tracing."""
    of_host = (bool, int, float, complex, np.generic, np.ndarray)
    return isinstance(x, of_host) or _jax_internals.is_concrete(x)


def with_results(program: ClosedJaxpr, numbers: Sequence[int]) -> ClosedJaxpr:
    """`program` with those of its results that have these numbers, and what they depend on."""
    jaxpr: Jaxpr = program.jaxpr
    constants = dict(zip(jaxpr.constvars, program.consts, strict=True))
    results = [jaxpr.outvars[n] for n in numbers]
    part = _jax_internals.program_of("part", jaxpr.eqns, jaxpr.invars, results, constants)
    return _jax_internals.drop_unused(part)


def used_inputs(program: ClosedJaxpr) -> list[bool]:
    """Whether each input is used: by an equation, or as a result."""
    jaxpr: Jaxpr = program.jaxpr
    atoms = [*jaxpr.outvars, *(atom for eqn in jaxpr.eqns for atom in eqn.invars)]
    used = {atom for atom in atoms if not isinstance(atom, Literal)}
    return [var in used for var in jaxpr.invars]


def computed_from(program: ClosedJaxpr, is_source: Sequence[bool]) -> list[bool]:
    """Whether each result is computed from one of these inputs, as far as can be seen.

    A result that is an input as it is counts as not computed.
    """

    def step(eqn: JaxprEqn, are_reached: list[bool]) -> list[bool]:
        return [any(are_reached)] * len(eqn.outvars)

    reached = programs.walk(program, is_source, step, literal=lambda _: False)
    inputs = unchanged(program, range(len(is_source)))
    return [is_reached and n is None for is_reached, n in zip(reached, inputs, strict=True)]


def types_of(function: Callable, values: list) -> Any:
    """The types of the results of a function, a pytree, with the devices that they vary over."""
    program, results = jax.make_jaxpr(function, return_shape=True)(*values)
    return jax.tree.structure(results).unflatten(program.out_avals)


def switch(eqn: JaxprEqn, index: jax.Array, cases: Sequence[Callable], *operands):
    """A switch between `cases` by `index`; a `lax.platform_dependent` where `eqn` is one."""
    platforms = _jax_internals.platforms_of_branches(eqn)
    if not platforms:
        return lax.switch(index, cases, *operands)
    by_platform = {
        platform: case
        for names, case in zip(platforms, cases, strict=True)
        for platform in names or ["default"]
    }
    return lax.platform_dependent(*operands, **by_platform)


def unchanged(program: ClosedJaxpr, inputs: Sequence) -> list:
    """The input that each result is; None for a result that is computed.

    JAX finds out the same for most programs, but not for a `checkpoint` or `jit` in a loop's body.
    """

    def step(eqn: JaxprEqn, inputs: list) -> list:
        if eqn.primitive in IDENTITIES:
            return inputs
        if eqn.primitive is jax_primitives.scan_p:
            return unchanged_by_scan(eqn, inputs)
        if eqn.primitive is jax_primitives.cond_p:
            return unchanged_by_cond(eqn, inputs)
        if eqn.primitive in _CALLS:
            return unchanged(_jax_internals.body(eqn), inputs)
        return [None] * len(eqn.outvars)

    return programs.walk(program, inputs, step, literal=lambda _: None)


def unchanged_by_scan(eqn: JaxprEqn, inputs: list) -> list:
    """The carry that each result is, if each round passes the carry on in its place."""
    num_consts, num_carry = _jax_internals.scan_counts(eqn)
    results: list = [None] * len(eqn.outvars)
    numbers = unchanged(_jax_internals.body(eqn), range(len(inputs)))
    for n in range(num_carry):
        if numbers[n] == num_consts + n:
            results[n] = inputs[num_consts + n]
    return results


def unchanged_by_cond(eqn: JaxprEqn, inputs: list) -> list:
    """The operand that each result is, if every branch returns the same operand."""
    branches = [unchanged(b, range(1, len(inputs))) for b in _jax_internals.branches(eqn)]
    same = [
        numbers[0] if len(set(numbers)) == 1 else None for numbers in zip(*branches, strict=True)
    ]
    return [None if number is None else inputs[number] for number in same]


def where(eqn: JaxprEqn) -> str:
    """` at FILE:LINE (FUNCTION)` of the caller's code that made `eqn`, or nothing if not known."""
    for file, line, function in _jax_internals.frames_of(eqn):
        return f" at {_call_sites.place(file, line, function)}"
    return ""
