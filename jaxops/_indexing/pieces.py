"""Splits into pieces and joins of arrays, few or many."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax
from jax.export import is_symbolic_dim

from jaxops import _forms
from jaxops._indexing import check

# XLA takes long to compile a program of more results or arguments, whatever the program computes
# (test_pieces_by_python.py, test_more_than_a_program_takes).
_TOO_MANY = 1024


def are_too_many(count: int) -> bool:
    """Whether pieces are too many for one program of an eager call."""
    return not is_symbolic_dim(count) and count > _TOO_MANY


def split_into(operand: jax.Array, sizes: Sequence[int], axis: int) -> list[jax.Array]:
    """`lax.split`, however many pieces there are."""
    static = {"sizes": tuple(sizes), "axis": axis, "results": check.is_eager_call()}
    return _forms.call(split_by_xla, operand, **static)


def split_by_xla(operand, *, sizes: tuple[int, ...], axis: int, results: bool) -> list[jax.Array]:
    """`results`: the program is that of an eager call, whose results the pieces are."""
    del results
    return list(lax.split(operand, sizes, axis))


def concatenate(arrays: Sequence[jax.Array], axis: int) -> jax.Array:
    """`lax.concatenate`, however many arrays there are.

    For 2-bit integers too, where XLA's CPU compiler ends the process.
    """
    dtype = arrays[0].dtype
    # Every function moves such integers in test_dtypes.py, test_moves.
    if dtype in (jnp.int2, jnp.uint2):
        wide = [array.astype(jnp.int8) for array in arrays]
        return lax.concatenate(wide, axis).astype(dtype)
    return _forms.call(join_by_xla, *arrays, axis=axis, arguments=check.is_eager_call())


def join_by_xla(*arrays, axis: int, arguments: bool) -> jax.Array:
    """`arguments`: the program is that of an eager call, whose arguments the arrays are."""
    del arguments
    return lax.concatenate(arrays, axis)
