"""Traced programs: to evaluate them, to keep results for each, to wrap rules that lower them."""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from jax.interpreters import mlir

from jaxops import _jax_internals
from jaxops._indexing import explicit_axes
from jaxops._jax_internals import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Primitive, jaxpr_as_fun


def walk(program: ClosedJaxpr, inputs: Sequence, step: Callable, literal=lambda x: x) -> list:
    """The results of a program whose equations `step(eqn, inputs)` evaluates.

    Each of them under the mesh of its types.
    """
    jaxpr: Jaxpr = program.jaxpr
    values = dict(zip(jaxpr.constvars, map(literal, program.consts), strict=True))
    values.update(zip(jaxpr.invars, inputs, strict=True))

    def read(atom):
        return literal(atom.val) if isinstance(atom, Literal) else values[atom]

    for eqn in jaxpr.eqns:
        with explicit_axes.around(mesh_of(eqn)):
            results = step(eqn, list(map(read, eqn.invars)))
        values.update(zip(eqn.outvars, results, strict=True))
    return list(map(read, jaxpr.outvars))


def mesh_of(eqn: JaxprEqn) -> Any:
    """The mesh of the types of an equation's results; None if they have none."""
    shardings = (getattr(v.aval, "sharding", None) for v in eqn.outvars)
    return next((sharding.mesh for sharding in shardings if sharding is not None), None)


def bind(eqn: JaxprEqn, inputs: list) -> list:
    """Evaluates one equation, by way of a program that has no other."""
    invars = [v for v in eqn.invars if not isinstance(v, Literal)]
    inputs = [x for x, v in zip(inputs, eqn.invars, strict=True) if not isinstance(v, Literal)]
    distinct = dict(zip(invars, inputs, strict=True))
    program = _jax_internals.program_of(eqn.primitive.name, [eqn], list(distinct), eqn.outvars)
    return jaxpr_as_fun(program)(*distinct.values())


def kept(make: Callable) -> Callable:
    """`make(program, *others)`, whose results are kept as long as the program is.

    JAX knows programs by their identity, and compiles new ones anew: each call of a `vmap` of a
    `while_loop`, without `jit`, took 100 times as long as without checks (test_lanes.py,
    test_eager_calls_compile_once).
    """
    by_program: weakref.WeakKeyDictionary[Any, dict[tuple, Any]] = weakref.WeakKeyDictionary()

    @functools.wraps(make)
    def of_program(program, *others):
        results = by_program.setdefault(program, {})
        if others not in results:
            made = make(program, *others)
            results.setdefault(others, made)  # another thread may have made the same one
        return results[others]

    return of_program


def wrap_lowering(primitive: Primitive, lower: Callable, *, cacheable: bool = True) -> None:
    """Makes `lower(eqn, rule, ctx, *operands, **params)` lower a primitive, from now on.

    `rule` is JAX's own, which stays if it is not known. `eqn` has the primitive and `params`.
    """
    rule = _jax_internals.lowering_rule(primitive)
    if rule is None:
        return

    def of_equation(ctx, *operands, **params):
        eqn = types.SimpleNamespace(primitive=primitive, params=params)
        return lower(eqn, rule, ctx, *operands, **params)

    mlir.register_lowering(primitive, of_equation, cacheable=cacheable)
