"""What takes all rows of a table, and what to write instead: the words of a refusal."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator, Sequence
from typing import Any

from jax.extend.core import JaxprEqn

from jaxops._sparse import jaxprs, row_rules
from jaxops._sparse.delayed import Choice, Node, Round, Table, has_table
from jaxops._sparse.lookups import describe

_TIED = "With tied=True its gradient has a dense part beside the rows; or leave it out of tables"
# `tied=True` would not help: JAX has no reverse derivative of such a loop.
_WHILE = (
    "A while_loop has no gradient: write lax.scan, or lax.fori_loop with bounds that are static"
)
_LOOP = (
    "Let the loop go through indices, and look rows up in its body, table[index], with the table "
    "as it is"
)
_REDUCTION = "Reduce the rows that are looked up instead"
_COLUMNS = "Look rows up, and choose columns of these, table[rows][:, columns]"
_FUNCTION = "Call the function with rows that are looked up"

_Uses = list[tuple[JaxprEqn, list]]
_uses: contextvars.ContextVar[_Uses | None] = contextvars.ContextVar("uses", default=None)


@contextlib.contextmanager
def noted(uses: _Uses) -> Iterator[None]:
    """Within: `note` adds to `uses`."""
    token = _uses.set(uses)
    try:
        yield
    finally:
        _uses.reset(token)


def note(eqn: JaxprEqn, inputs: Sequence) -> None:
    """Notes that `eqn` takes all rows of those inputs that are delayed."""
    uses = _uses.get()
    if uses is not None and any(map(has_table, inputs)):
        uses.append((eqn, [x for x in inputs if has_table(x)]))


def words(eqn: JaxprEqn, uses: _Uses) -> str:
    """The words on a use of a table's tangent by `eqn`, an equation of the derivative.

    `uses` are those of the loss. One of them, of which `eqn` is a part, needed all rows.
    """
    place = jaxprs.where(eqn)
    for use, inputs in uses:
        before = _before(use, inputs)
        if any(jaxprs.where(first) == place for first, x in before if isinstance(x, Table)):
            is_same = jaxprs.where(use) == place and use.primitive is eqn.primitive
            end = "" if is_same else _end(use)
            is_product = any(e.primitive.name == "dot_general" for e, _ in before)
            return (
                f"received a use by {describe(eqn)}{place}{end}. "
                f"{_TIED if is_product else _instead(use)}"
            )
    return f"received a use by {describe(eqn)}{place}. {_instead(eqn)}"


def _end(use: JaxprEqn) -> str:
    return f", and {describe(use)}{jaxprs.where(use)} takes all rows of the result"


def _before(use: JaxprEqn, inputs: Sequence) -> list[tuple[JaxprEqn, Any]]:
    """The equations that end in `use`, each with a table or a delayed array that it takes."""
    pairs, waiting = [], [(use, x) for x in inputs]
    seen: set[tuple[int, int]] = set()
    while waiting:
        eqn, x = waiting.pop()
        if not has_table(x) or (id(eqn), id(x)) in seen:
            continue
        seen.add((id(eqn), id(x)))
        pairs.append((eqn, x))
        if isinstance(x, Node):
            waiting += [(x.eqn, operand) for operand in x.inputs]
        elif isinstance(x, Round):
            waiting.append((eqn, x.whole))
        elif isinstance(x, Choice):
            waiting += [(eqn, array) for array in x.arrays]
    return pairs


def _instead(use: JaxprEqn) -> str:
    name = use.primitive.name
    if name == "while":
        return _WHILE
    if name == "scan":
        return f"{_LOOP}. {_TIED}"
    if name in row_rules.REDUCTIONS:
        return f"{_REDUCTION}. {_TIED}"
    if name.startswith("custom_"):
        return f"{_FUNCTION}. {_TIED}"
    return f"{_COLUMNS}. {_TIED}" if describe(use) != name else _TIED
