"""Which results of a traced program are one of its inputs, scaled, or counted up by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
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


class _Sum(NamedTuple):
    """An input, or none, and a number that is added to it."""

    input: int | None
    number: int


class _IsBelow(NamedTuple):
    """Whether an input is below a number."""

    input: int
    number: int


def counted_up(program: ClosedJaxpr) -> list[int | None]:
    """For each result the input that it is 1 more than; None if it is not.

    A count may stay at the largest number of int32, or at a larger one, once it has come there.
    """
    inputs = [_Sum(n, 0) for n in range(len(program.in_avals))]
    results = _walk_sums(program, inputs)
    return [x.input if isinstance(x, _Sum) and x.number == 1 else None for x in results]


def _walk_sums(program: ClosedJaxpr, inputs: Sequence) -> list:
    return jaxprs.walk(program, inputs, _step_of_sums, literal=_whole_number)


def _whole_number(x: Any) -> _Sum | None:
    if not jaxprs.is_known(x) or np.shape(x) != ():
        return None
    return _Sum(None, int(x)) if jnp.issubdtype(jnp.result_type(x), jnp.integer) else None


def _step_of_sums(eqn: JaxprEqn, inputs: list) -> list:
    if eqn.primitive is jax_primitives.jit_p:
        return _walk_sums(_jax_internals.body(eqn), inputs)
    if eqn.primitive in jaxprs.IDENTITIES:
        return inputs
    if eqn.primitive is jax_primitives.convert_element_type_p:
        types = [jaxprs.type_of(v).dtype for v in (eqn.invars[0], eqn.outvars[0])]
        return inputs if types[0] == types[1] else [None]  # else only a weak type becomes another
    return [_sum_of(eqn.primitive.name, inputs)] * len(eqn.outvars)


def _sum_of(name: str, inputs: list) -> _Sum | _IsBelow | None:
    if name == "select_n" and len(inputs) == 3:
        condition, limit, count = inputs
        if not isinstance(condition, _IsBelow) or condition.number < np.iinfo(np.int32).max:
            return None
        stays = limit == _Sum(None, condition.number)
        return count if stays and count == _Sum(condition.input, 1) else None
    if len(inputs) != 2 or not all(isinstance(x, _Sum) for x in inputs):
        return None
    first, second = inputs
    if name == "add" and None in (first.input, second.input):
        source = first.input if second.input is None else second.input
        return _Sum(source, first.number + second.number)
    if name == "lt" and first.input is not None and first.number == 0 and second.input is None:
        return _IsBelow(first.input, second.number)
    return None
