"""The functions of reductions and scatters, which are lowered without checks.

XLA allows no branch there: it ends the process (test_reducers.py). An index that the function of a
`lax.reduce` or an `x.at[i].apply` takes from JAX's own functions is not checked. Functions of
jaxops promise an error, so they are refused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from jaxops import _jax_internals
from jaxops._indexing import lanes
from jaxops._indexing.check_primitive import is_check, raises_on, site_of, spec_of
from jaxops._jax_internals import JaxprEqn


def lower(eqn: Any, rule: Callable, ctx, *operands, **params):
    """The lowering rule of a reduction; `rule` is JAX's own."""
    if lanes.calls_checks(eqn):
        change = functools.partial(_without_check, "cpu" in _jax_internals.platforms_of(ctx))
        drop = functools.partial(_jax_internals.map_equations, change=change)
        params = {k: _jax_internals.with_programs(x, drop) for k, x in params.items()}
    return rule(ctx, *operands, **params)


def _without_check(is_for_cpu: bool, eqn: JaxprEqn) -> JaxprEqn | None:
    if not is_check(eqn):
        return eqn
    spec = spec_of(eqn)
    if not spec.is_of_jax and raises_on("cpu" if is_for_cpu else None, eqn):
        raise NotImplementedError(
            f"{spec.operation}: an index is checked in the function of a reduction or a scatter, "
            "where XLA allows no branch that raises. Look the element up before the reduction, or "
            f"by jnp.take, whose index is not checked there [Op:{spec.operation}]{site_of(eqn)}"
        )
    return None
