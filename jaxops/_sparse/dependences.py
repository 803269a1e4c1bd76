"""Which results of a traced program are one of its inputs, scaled."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, JaxprEqn
from jax.extend.core import primitives as jax_primitives

from jaxops import _jax_internals
from jaxops._sparse import jaxprs


class Dependence(NamedTuple):
    """How a value depends on the inputs that are followed."""

    inputs: frozenset[int] = frozenset()
    is_multiple: bool = False  # of the only one of `inputs`; the factor depends on none


def dependences(program: ClosedJaxpr, num_followed: int) -> list[Dependence]:
    """How each result depends on the first `num_followed` inputs.

    A multiple stays one when it is scaled, negated, or cast to a float of at least as many bits.
    """
    inputs = [Dependence(frozenset({n}), is_multiple=True) for n in range(num_followed)]
    others = [Dependence()] * (len(program.in_avals) - num_followed)
    return _walk(program, inputs + others)


def _walk(program: ClosedJaxpr, inputs: list[Dependence]) -> list[Dependence]:
    return jaxprs.walk(program, inputs, _step, literal=lambda _: Dependence())


def _step(eqn: JaxprEqn, inputs: list[Dependence]) -> list[Dependence]:
    if eqn.primitive is jax_primitives.jit_p:
        return _walk(_jax_internals.body(eqn), inputs)
    result = Dependence(
        frozenset().union(*(x.inputs for x in inputs)), _keeps_multiples(eqn, inputs)
    )
    return [result] * len(eqn.outvars)


def _keeps_multiples(eqn: JaxprEqn, inputs: list[Dependence]) -> bool:
    dependent = [n for n, x in enumerate(inputs) if x.inputs]
    if len(dependent) != 1 or not inputs[dependent[0]].is_multiple:
        return False
    if eqn.primitive is jax_primitives.convert_element_type_p:
        (operand,), (result,) = eqn.invars, eqn.outvars
        old, new = jaxprs.type_of(operand).dtype, jaxprs.type_of(result).dtype
        return bool(jnp.issubdtype(new, jnp.inexact)) and old.itemsize <= new.itemsize
    if eqn.primitive is jax_primitives.div_p:
        return dependent == [0]
    unary = {jax_primitives.neg_p, *jaxprs.IDENTITIES}
    return eqn.primitive is jax_primitives.mul_p or eqn.primitive in unary
