"""The primitive of a check; `check.py` says what it is in each context."""

from __future__ import annotations

from typing import Any

from jaxops import _jax_internals
from jaxops._call_sites import CallSite
from jaxops._indexing.specs import IndexSpec
from jaxops._primitives import new_primitive

# A second operand, which few checks have, is a mask: it tells which indices count, along leading
# axes, those of `vmap`. `lanes.py` adds it where `vmap` computes branches that not all calls take.
check_p = new_primitive("out_of_bounds_check")


def raises(mode: str | None, platform: str | None) -> bool:
    """Whether an index out of bounds is an error on `platform`, which is None while not known."""
    return mode == "error" or (mode == "device" and platform == "cpu")


def is_check(eqn: Any) -> bool:
    return eqn.primitive is check_p


def spec_of(eqn: Any) -> IndexSpec:
    return _jax_internals.param(eqn, "spec")


def site_of(eqn: Any) -> CallSite:
    return _jax_internals.param(eqn, "site")


def raises_on(platform: str | None, eqn: Any) -> bool:
    """Whether the check of an equation raises on a platform."""
    return raises(_jax_internals.param(eqn, "mode"), platform)
