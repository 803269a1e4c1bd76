"""What takes all rows of a table, and what to write instead: the words of a refusal."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import JaxprEqn

from jaxops._indexing import exchange
from jaxops._sparse import jaxprs, row_rules
from jaxops._sparse.delayed import Choice, Node, Round, Table, has_table, is_part
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
_SHARDED = (
    "sharded_gather looks up rows of a table itself: compute with the rows that it returns, or "
    "look rows up by gather"
)
_FUNCTION = "Call the function with rows that are looked up"


class Use(NamedTuple):
    """Of all rows of arrays that were not computed yet. Holds no arrays, as programs keep it."""

    eqn: JaxprEqn
    first: list[JaxprEqn]  # those that take a table itself
    is_of_table: bool  # whether `eqn` is one of them
    is_of_product: bool  # whether one of the equations before is a matrix product


_Uses = list[Use]
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
    tables = [x for x in inputs if has_table(x) and not is_part(x)]
    if uses is not None and tables:
        before = _before(eqn, tables)
        uses.append(
            Use(
                eqn,
                first=[e for e, x in before if isinstance(x, Table)],
                is_of_table=any(isinstance(x, Table) for x in tables),
                is_of_product=any(e.primitive.name == "dot_general" for e, _ in before),
            )
        )


def note_again(uses: _Uses) -> None:
    """Notes the uses by a program that was traced before."""
    so_far = _uses.get()
    if so_far is not None:
        so_far += uses


@jax.custom_jvp
def whole(x: jax.Array) -> jax.Array:
    """An array whose tangent is used whole.

    The derivative of a sort gathers from the tangent, and that of a running maximum slices it: as
    lookups of all rows they would pass, and make a gradient of the table's size.
    """
    return x


@whole.defjvp
def _whole_jvp(primals, tangents):
    (x,), (dot,) = primals, tangents
    return x, lax.neg(lax.neg(dot)) if jnp.issubdtype(x.dtype, jnp.inexact) else dot


def words(eqn: JaxprEqn, uses: _Uses) -> str:
    """The words on a use of a table's tangent by `eqn`, an equation of the derivative.

    `uses` are those of the loss. One of them, of which `eqn` is a part, needed all rows.
    """
    place = jaxprs.where(eqn)
    # Last, those that have no place, as they are in the body of a function of JAX.
    for use in sorted(uses, key=lambda use: not jaxprs.where(use.eqn)):
        places = [*map(jaxprs.where, use.first)]
        is_sharded = use.eqn.primitive is exchange.gather_p
        if is_sharded:  # the tangent of a cast passes, up to the lookup
            places.append(jaxprs.where(use.eqn))
        if not {place, ""} & {*places}:
            continue
        if use.is_of_table and jaxprs.where(use.eqn) in (place, ""):
            return f"received a use by {describe(use.eqn)}{place}. {_instead(use.eqn)}"
        end = f", and {describe(use.eqn)}{jaxprs.where(use.eqn)} takes all rows of the result"
        if is_sharded and use.first:
            eqn, place = use.first[-1], jaxprs.where(use.first[-1])
        instead = _TIED if use.is_of_product else _instead(use.eqn)
        return f"received a use by {describe(eqn)}{place}{end}. {instead}"
    return f"received a use by {describe(eqn)}{place}. {_instead(eqn)}"


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
    if use.primitive is exchange.gather_p:
        return f"{_SHARDED}. {_TIED}"
    if name == "while":
        return _WHILE
    if name == "scan":
        return f"{_LOOP}. {_TIED}"
    if name in row_rules.REDUCTIONS:
        return f"{_REDUCTION}. {_TIED}"
    if name.startswith("custom_"):
        return f"{_FUNCTION}. {_TIED}"
    return f"{_COLUMNS}. {_TIED}" if describe(use) != name else _TIED
