"""Uses of all rows of a table, and what to write instead: the words of a refusal."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp

from jaxops import _jax_internals
from jaxops._devices import exchange
from jaxops._jax_internals import JaxprEqn
from jaxops._sparse import jaxprs, row_rules
from jaxops._sparse.gradient.access import describe
from jaxops._sparse.gradient.delayed import Choice, Node, Round, Table, has_table

_TIED = "With tied=True its gradient has a dense part beside the rows; or leave it out of tables"
_WHILE = (
    "A while_loop has no gradient: write lax.scan, or lax.fori_loop with bounds that are static"
)
_SHARDED = (
    "sharded_gather looks up rows of a table itself: compute with the rows that it returns, or "
    "look rows up by gather"
)
_COLUMNS = "Look rows up, and choose columns of these, table[rows][:, columns]"
_STACKED = (
    "Of several tables that vmap stacks, map the gradient, "
    "jax.vmap(jaxops.sparse_value_and_grad(fun, ...))"
)
_FUNCTION = "Call the function with rows that are looked up"
_ROWS_FIRST = "Look rows up first, table[indices], and compute with these"
_CURES = {
    "scan": (
        "Let the loop go through indices, and look rows up in its body, table[index], with the "
        "table as it is"
    ),
    "dot_general": "Look rows up, table[indices], in place of a product with a one-hot matrix",
    "reshape": "Look rows up of the table in its own shape, and reshape these",
    **dict.fromkeys(row_rules.REDUCTIONS, "Reduce the rows that are looked up instead"),
    **dict.fromkeys(["custom_jvp_call", "custom_vjp_call"], _FUNCTION),
    **dict.fromkeys([f"scatter-{name}" for name in ("mul", "min", "max")], _ROWS_FIRST),
}


@dataclasses.dataclass(frozen=True, eq=False)
class Use:
    """A use of all rows of an array that was not computed yet.

    Holds no arrays, as programs keep it. It is a part of the pytree `Reads.found`, which JAX
    compares between the branches of a `cond`, each traced again: all are equal, so that only their
    places in the pytree count.
    """

    eqn: JaxprEqn  # takes all rows
    first: tuple[JaxprEqn, ...]  # before it take a table itself; the last of them ran first
    is_of_table: bool  # whether `eqn` takes a table itself
    is_of_product: bool  # whether one of the equations before is a matrix product

    def __eq__(self, other):
        return isinstance(other, Use)

    def __hash__(self):
        return 0

    @classmethod
    def of(cls, eqn: JaxprEqn, x: Any) -> Use:
        """The use of a delayed array by `eqn`."""
        before = _before(eqn, x)
        of_tables = (e for e, operand in before if isinstance(operand, Table) and _has_floats(e))
        return cls(
            eqn,
            tuple(e for e in of_tables if e is not eqn),
            is_of_table=isinstance(x, Table),
            is_of_product=any(e.primitive.name == "dot_general" for e, _ in before),
        )

    def placed(self, outer: JaxprEqn) -> Use:
        """The use in the body of `outer`, which has a place if JAX's own equations have none."""
        first = tuple(_jax_internals.placed(eqn, outer) for eqn in self.first)
        return dataclasses.replace(self, eqn=_jax_internals.placed(self.eqn, outer), first=first)

    def words(self) -> str:
        """The words of the error: the refused use, its place, and the cure."""
        eqn, place = self.eqn, jaxprs.where(self.eqn)
        if self.is_of_table or not self.first:
            # `tied=True` would not help: JAX has no reverse derivative of a while_loop.
            cures = [_WHILE] if eqn.primitive.name == "while" else [*_cures(eqn), _TIED]
            return f"received a use by {describe(eqn)}{place}. {'. '.join(cures)}"
        first = self.first[-1]
        cures = [] if self.is_of_product else _cures(eqn)
        if first.primitive.name == "reshape":
            cures = _cures(first)
        elif describe(first) != first.primitive.name:
            cures = [*cures, _STACKED]
        return (
            f"received a use by {describe(first)}{jaxprs.where(first)}, and {describe(eqn)}{place} "
            f"takes all rows of the result. {'. '.join([*cures, _TIED])}"
        )


def _has_floats(eqn: JaxprEqn) -> bool:
    """Whether an equation has a derivative, as a comparison has not."""
    return any(jnp.issubdtype(jaxprs.type_of(v).dtype, jnp.inexact) for v in eqn.outvars)


def _before(use: JaxprEqn, x: Any) -> list[tuple[JaxprEqn, Any]]:
    """The equations that end in `use`, each with a table or a delayed array that it takes."""
    pairs, waiting = [], [(use, x)]
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


def _cures(use: JaxprEqn) -> list[str]:
    if use.primitive is exchange.gather_p:
        return [_SHARDED]
    if describe(use) != use.primitive.name:
        return [_COLUMNS, _STACKED]
    cure = _CURES.get(use.primitive.name)
    return [cure] if cure else []
