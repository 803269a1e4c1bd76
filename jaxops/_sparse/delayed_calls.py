"""Functions with derivatives of their own, of whole tables, as functions of rows.

`jax.nn.relu(table)[indices]` is to be relu of rows, with the derivative that relu has. The function
and its derivative are programs for the whole table, so both are evaluated with delayed arrays: rows
of the operands are given at the position, and rows of the results are read there. If either needs
other rows, the function is computed whole.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr

from jaxops import _jax_internals
from jaxops._sparse import jaxprs
from jaxops._sparse.delayed import (
    RULES,
    Delayed,
    NotRows,
    Position,
    Reading,
    can_read,
    dense,
    has_table,
    read,
    zeros_at,
)

Evaluate = Callable[[ClosedJaxpr, Sequence], list]


class _Sought(Delayed):
    """An operand that notes at which positions it is read."""

    def __init__(self, aval: Any, operand: Any):
        self.aval, self.shape, self.operand = aval, aval.shape, operand
        self.positions: list[tuple[Position, Any]] = []

    def dense(self, memo):
        raise NotRows

    def can_read(self, axes):
        return can_read(self.operand, axes)

    def read(self, at, valid, memo):
        self.positions.append((at, valid))
        return zeros_at(self.aval, at)


class _Given(Delayed):
    """An operand of which one part was read, at the position `at`."""

    def __init__(self, part: jax.Array, at: Position, shape: tuple[int, ...]):
        self.part, self.at, self.shape = part, at, shape

    def dense(self, memo):
        raise NotRows

    def can_read(self, axes):
        return axes >= {*self.at}

    def read(self, at, valid, memo):
        if any(at.get(axis) is not c for axis, c in self.at.items()):
            raise NotRows
        further = {axis: c for axis, c in at.items() if axis not in self.at}
        return read(self.part, further, None, memo)


class _Function:
    """The result of a call as a function of parts of its operands, and of the position `r.at`."""

    def __init__(self, r: Reading, evaluate: Evaluate):
        self.r, self.evaluate = r, evaluate
        self.at = {axis: c for axis, c in r.at.items() if r.shape[axis] > 1}
        self.types = [jaxprs.type_of(v) for v in r.eqn.invars]
        self.floats = [
            n for n, aval in enumerate(self.types) if jnp.issubdtype(aval.dtype, jnp.inexact)
        ]
        # By operand that is delayed: for each axis with a coordinate the axis of the result.
        self.axes = self._find_axes()

    def _find_axes(self) -> dict[int, dict[int, int]]:
        r = self.r
        sought = {
            n: _Sought(aval, r.inputs[n])
            for n, aval in enumerate(self.types)
            if has_table(r.inputs[n])
        }
        program = _jax_internals.body(r.eqn)

        def run():
            inputs = [sought.get(n, x) for n, x in enumerate(r.inputs)]
            return read(self.evaluate(program, inputs)[r.number], r.at, r.valid, {})

        jax.eval_shape(run)
        axis_of = {id(c): axis for axis, c in self.at.items()}
        axes = {}
        for n, operand in sought.items():
            found = []
            for at, valid in operand.positions:
                if valid is not r.valid:
                    raise NotRows
                # Along other axes the operand is given whole.
                own = {axis: axis_of.get(id(c)) for axis, c in at.items()}
                found.append({axis: d for axis, d in own.items() if d is not None})
            if any(other != found[0] for other in found):
                raise NotRows
            axes[n] = found[0] if found else {}
        return axes

    def operands(self) -> list[jax.Array]:
        r = self.r
        return [
            r.operand(n, {axis: self.at[d] for axis, d in self.axes.get(n, {}).items()})
            for n in range(len(r.inputs))
        ]

    def whole(self, *operands):
        """The result of the call for whole operands, only to be traced."""
        return jaxprs.bind(self.r.eqn, list(operands))[self.r.number]

    def of_floats(self, operands: Sequence) -> Callable:
        def function(*floats):
            by_number = dict(zip(self.floats, floats, strict=True))
            return self.whole(*(by_number.get(n, x) for n, x in enumerate(operands)))

        return function

    def given(self, n: int, part: jax.Array, at: Position) -> Any:
        """Operand `n`, or a tangent of it."""
        if n not in self.axes:
            return part
        own = {axis: at[d] for axis, d in self.axes[n].items()}
        return _Given(part, own, self.types[n].shape)

    def value(self, at: Position, operands: Sequence) -> jax.Array:
        given = [self.given(n, part, at) for n, part in enumerate(operands)]
        results = self.evaluate(_jax_internals.body(self.r.eqn), given)
        return read(results[self.r.number], at, None, {})


def register(evaluate: Evaluate) -> None:
    """Adds the rules; `evaluate` evaluates a program of delayed arrays."""
    RULES["custom_jvp_call"] = lambda r: _custom_jvp(_Function(r, evaluate))
    RULES["custom_vjp_call"] = lambda r: _custom_vjp(_Function(r, evaluate))


_is_trying: contextvars.ContextVar[bool] = contextvars.ContextVar("is_trying", default=False)


def _try(derivative: Callable, *args) -> None:
    """Raises NotRows if a derivative needs more than the rows that are given.

    A derivative may call the function itself, whose derivative is not tried again.
    """
    if _is_trying.get():
        return
    token = _is_trying.set(True)
    try:
        jax.eval_shape(derivative, *args)
    finally:
        _is_trying.reset(token)


def _custom_jvp(f: _Function) -> jax.Array:
    def derivative(operands, dots):
        return jax.jvp(f.of_floats(operands), [operands[n] for n in f.floats], dots)

    program = jax.make_jaxpr(derivative)(f.types, [f.types[n] for n in f.floats])

    def of_tangents(at, operands, dots):
        given = [f.given(n, part, at) for n, part in enumerate(operands)]
        given += [f.given(n, dot, at) for n, dot in zip(f.floats, dots, strict=True)]
        value, dot = f.evaluate(program, given)
        memo: dict = {}
        return read(value, at, None, memo), read(dot, at, None, memo)

    @jax.custom_jvp
    def of_parts(at, operands):
        return f.value(at, operands)

    @of_parts.defjvp
    def _(primals, tangents):
        (at, operands), (_, dots) = primals, tangents
        return of_tangents(at, operands, [dots[n] for n in f.floats])

    operands = f.operands()
    _try(of_tangents, f.at, operands, [operands[n] for n in f.floats])
    return of_parts(f.at, operands)


def _custom_vjp(f: _Function) -> jax.Array:
    def derivative(operands, bar):
        return jax.vjp(f.of_floats(operands), *(operands[n] for n in f.floats))[1](bar)

    result_type = jaxprs.type_of(f.r.eqn.outvars[f.r.number])
    program = jax.make_jaxpr(derivative)(f.types, result_type)
    _check_linear(derivative, f.types, result_type)

    def of_cotangent(at, operands, bar):
        given = [f.given(n, part, at) for n, part in enumerate(operands)]
        given.append(_Given(bar, {d: at[d] for d in at}, f.r.shape))
        memo: dict = {}
        bars = []
        for n, x in zip(f.floats, f.evaluate(program, given), strict=True):
            own = {axis: at[d] for axis, d in f.axes.get(n, {}).items()}
            bars.append(read(x, own, None, memo) if own else dense(x, memo))
        return bars

    @jax.custom_vjp
    def of_parts(at, operands):
        return f.value(at, operands)

    def forward(at, operands):
        return of_parts(at, operands), (at, operands)

    def backward(residuals, bar):
        at, operands = residuals
        by_number = dict(zip(f.floats, of_cotangent(at, operands, bar), strict=True))
        return None, [by_number.get(n) for n in range(len(f.types))]

    of_parts.defvjp(forward, backward)
    operands = f.operands()
    value = jax.eval_shape(f.value, f.at, operands)
    _try(of_cotangent, f.at, operands, value)
    return of_parts(f.at, operands)


def _check_linear(derivative: Callable, types: Sequence, result_type: Any) -> None:
    """A row that is looked up twice has two cotangents. Their sum decides unless this is linear."""

    def transposed(operands, bars):
        return jax.linear_transpose(lambda bar: derivative(operands, bar), result_type)(bars)

    bars = jax.eval_shape(derivative, types, result_type)
    try:
        jax.eval_shape(transposed, types, bars)
    except Exception as error:  # JAX has several for what is not linear
        raise NotRows from error
