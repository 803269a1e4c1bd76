"""The messages about an optimizer that does not update each row by itself."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Sequence

from jaxops import _jax_internals
from jaxops._jax_internals import ClosedJaxpr, JaxprEqn
from jaxops._sparse.optimizer.trees import OP

_REMEDY = (
    "Keep it from the tables, as optax.multi_transform and optax.masked can, or give it dense "
    "gradients (IndexedSlices.to_dense)"
)


def of_rows(path: str, what: str, equations: Sequence[JaxprEqn]) -> str:
    operation = f" ({_jax_internals.name_of(equations[-1])})" if equations else ""
    return (
        f"{OP}: the optimizer must update each row of table {path!r} by itself; received one that "
        f"{what}{operation}{_where(equations)}. {_REMEDY}"
    )


def of_copies(path: str, state: str, equations: Sequence[JaxprEqn]) -> str:
    return (
        f"{OP}: the optimizer must update each row of table {path!r} in one step; received one "
        f"that keeps parameters of some steps for later ones, in its state {state}"
        f"{_where(equations)}: a row without a gradient in the later step would not go back to its "
        f"own. {_REMEDY}"
    )


def of_collecting(path: str, state: str, equations: Sequence[JaxprEqn]) -> str:
    return (
        f"{OP}: the optimizer must use the gradient of table {path!r} in the step that gets it; "
        f"received one that collects gradients over several steps, in its state {state}"
        f"{_where(equations)}: a row without a gradient in the last of them would lose its own. "
        "Add the gradients of several steps up, as IndexedSlices can be, and make one lazy step "
        "with the sum"
    )


def of_integers(path: str, state: str, dtype: object) -> str:
    return (
        f"{OP}: parameter {path!r} must have a dtype of floats for an optimizer that keeps its "
        f"gradients, in its state {state}; received {dtype}"
    )


def of_missed_steps(path: str, what: str) -> str:
    return (
        f"{OP}: with catch_up, what the optimizer does to a row of table {path!r} without a "
        f"gradient must follow from the row, its state and counts of steps; received one that "
        f"{what}. Leave catch_up out, or keep it from the tables, as optax.multi_transform can"
    )


# --- which equation it is ---


def maker(program: ClosedJaxpr, result: int) -> Sequence[JaxprEqn]:
    """The equation that makes a result; none if the result is an input."""
    var = program.jaxpr.outvars[result]
    return [eqn for eqn in program.eqns if var in eqn.outvars]


def _where(equations: Sequence[JaxprEqn]) -> str:
    """The transformation that made an equation, and its line.

    JAX keeps the traces of its own functions, such as `jnp.where`, with the frames of their first
    caller. So a call is looked at before the equations in it.
    """
    for eqn in equations:
        frames = [(*f, _outermost(*f[:2])) for f in _jax_internals.frames_of(eqn)]
        inside = [f for f in frames if f[3] and f[3] != f[2]]
        updates = [f for f in inside if "update" in f[2]] or inside
        for _, _, _, name in updates[:1]:
            file, line, _, _ = next(f for f in inside if f[3] == name)
            return f" in {name} ({_short(file)}:{line})"
    for eqn in equations:
        for file, line, function in _jax_internals.frames_of(eqn):
            return f" in {function} ({_short(file)}:{line})"
    return ""


def _outermost(file: str, line: int) -> str | None:
    """The function or class at the left margin that a line belongs to."""
    for number in range(line, 0, -1):
        match = re.match(r"(?:def|class) (\w+)", linecache.getline(file, number))
        if match:
            return match[1]
    return None


def _short(file: str) -> str:
    return os.sep.join(file.split(os.sep)[-3:])
