"""Facts that the traced update of some rows shows: whether an update is the gradient, scaled.

Runs of an optimizer (`probe.py`) do not show that: `optax.clip(1000.0)` leaves all gradients of a
run as they are. Where a program may be another one than it seems, the answer here is no.

    update                     `only_scaled`
    -0.1 * g                   yes: `lazy` adds each of the values, scaled, to the table
    -rate(count) * g           yes: the factor depends on no gradient
    -0.1 * (g + 0.5 * m)       no: with two values of one row m would be added twice
    clip(g, -1, 1)             no: the sum of two values may be clipped, where neither is
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxops import _jax_internals
from jaxops._indexing import programs
from jaxops._jax_internals import ClosedJaxpr, JaxprEqn
from jaxops._sparse import jaxprs, row_rules
from jaxops._sparse.jaxprs import jax_primitives


class Dependence(NamedTuple):
    """The dependence of a value on the inputs that are followed."""

    inputs: frozenset[int] = frozenset()
    is_multiple: bool = False  # of the only one of `inputs`; the factor depends on none


def only_scaled(program: ClosedJaxpr, count: int) -> list[bool]:
    """Whether all that depends on each gradient is its own update, which is a multiple of it.

    A multiple stays one when it is scaled, negated, or cast to a float of at least as many bits.
    The first `count` inputs are the gradients, and the first results their updates.
    """
    gradients = [Dependence(frozenset({n}), is_multiple=True) for n in range(count)]
    others = [Dependence()] * (len(program.in_avals) - count)
    results = _walk(program, gradients + others)
    return [
        results[n] == gradient and sum(n in result.inputs for result in results) == 1
        for n, gradient in enumerate(gradients)
    ]


def _walk(program: ClosedJaxpr, inputs: list[Dependence]) -> list[Dependence]:
    return programs.walk(program, inputs, _step, literal=lambda _: Dependence())


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


def rows_stay_apart(program: ClosedJaxpr, tables: Sequence[int | None]) -> bool:
    """Whether nothing is computed of several rows; each array with rows has them as first axis.

    So the results for some rows are right whatever the others are, and however many. `tables`: for
    each input the one whose rows it has, as no row of a table is for one of another.
    """
    are_apart = True

    def walk(program: ClosedJaxpr, inputs: list) -> list:
        nonlocal are_apart
        # An array of constants may have rows of its own.
        are_apart = are_apart and all(np.size(x) == 1 for x in program.consts)
        return programs.walk(program, inputs, step, literal=lambda _: set())

    def step(eqn: JaxprEqn, inputs: list) -> list:
        nonlocal are_apart
        if eqn.primitive.name in row_rules.CALLS:
            return walk(_jax_internals.body(eqn), inputs)
        of_tables = set().union(*inputs)
        are_apart = are_apart and len(of_tables) < 2 and _is_row_wise(eqn)
        return [of_tables] * len(eqn.outvars)

    walk(program, [set() if n is None else {n} for n in tables])
    return are_apart


def _is_row_wise(eqn: JaxprEqn) -> bool:
    name, param = eqn.primitive.name, _jax_internals.param
    if name in row_rules.ELEMENTWISE:
        return True
    shapes: Sequence = [jaxprs.type_of(v).shape for v in (*eqn.invars[:1], *eqn.outvars)]
    if name == "broadcast_in_dim" and shapes[0]:
        # Of an array without rows this would make the axis of rows another one.
        return param(eqn, "broadcast_dimensions")[0] == 0 and shapes[0][0] == shapes[1][0]
    if name in ("reduce_sum", "reduce_max", "reduce_min"):
        return 0 not in param(eqn, "axes")
    return name == "broadcast_in_dim" or (
        name in ("reshape", "squeeze") and shapes[0][:1] == shapes[1][:1] != ()
    )
