"""The branch of a program for one CPU that raises: the checks of a block of the program share it.

XLA compiles each reduction and each branch to code of its own. With a branch for each check a
program of 100 lookups took 2.9 times as long to compile as without checks. So a check joins the
branch of the checks before it:

    check of i:                            case (any(bad_i)) {raise_i}
    then of j, as many indices as i:       case (any(bad_i | bad_j)) {raise_i; raise_j}
    then of k, another number of indices:  case (any(bad_i | bad_j) | any(bad_k)) {...; raise_k}

The branch taken by good indices is empty. In the other branch one check after the other hands the
sources of its indices to the host, where the indices are computed again and searched, as code that
searches them takes longer to compile than the gather.

JAX lowers one equation of a program after the other. The rule of a check finds the branch that the
program has already, moves the branch to the end of the program, and adds the check to the branch.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.core import ShapedArray
from jax.interpreters import mlir
from jax.interpreters.mlir import ir

from jaxops import _jax_internals
from jaxops._call_sites import CallSite
from jaxops._errors import OutOfBoundsError
from jaxops._indexing.bounds import out_of_bounds_bit, out_of_bounds_bits
from jaxops._indexing.raising import raise_from_program
from jaxops._indexing.sources import sources_of
from jaxops._indexing.specs import IndexSpec

# A check of more indices is the last of its branch: the arrays that a branch takes stay in memory
# until the program comes to the branch.
_MOST_INDICES = 1 << 16
_INT32 = ShapedArray((), np.dtype(np.int32))


class _Branch:
    """The branch of a block of the program; it begins without checks."""

    def __init__(self, ctx: mlir.LoweringRuleContext):
        no_bit: Any = np.int32(0)
        (result,) = _emit(ctx, lambda: _jax_internals.call_if(no_bit, _zero, _zero), [])
        self.case: Any = result.owner
        (*_, self.end) = self.case.regions[1].blocks[0].operations
        self.found: ir.Value = self.end.operands[0]  # the result of the last check
        self.specs: list[IndexSpec] = []  # of the checks
        self.reductions: dict[int, Any] = {}  # by the number of their bits
        # The reductions, the operations that join their results, and the branch, in this order.
        self.parts = [self.case]

    def join(self, ctx: mlir.LoweringRuleContext, values: Sequence[ir.Value], spec: IndexSpec):
        """Adds the bits of a check to those of another check of as many bits."""
        reduction = self.reductions[_size(ctx)]
        bits = reduction.operands[0]
        types = [ShapedArray(tuple(bits.type.shape), np.dtype(np.int32)), *ctx.avals_in]
        (joined,) = _emit(ctx, functools.partial(_join, spec), types, bits, *values)
        reduction.operands[0] = joined
        # The operations from the reduction on have to come after the bits.
        operation = joined.owner
        for part in self.parts:
            part.move_after(operation)
            operation = part

    def reduce(self, ctx: mlir.LoweringRuleContext, values: Sequence[ir.Value], spec: IndexSpec):
        """Adds a reduction of the bits of a check.

        Returns a second result of the reduction, and its type; the program has to use the result.
        """
        reduce = functools.partial(_reduce, spec)
        types = [_INT32, *ctx.avals_in]
        bit, other, joined = _emit(ctx, reduce, types, self.case.operands[0], *values)
        self.case.operands[0] = joined
        self.case.move_after(joined.owner)
        self.reductions[_size(ctx)] = bit.owner
        self.parts[-1:] = [bit.owner, joined.owner, self.case]
        return other, ShapedArray((), _indices(ctx).dtype)

    def report(self, ctx: mlir.LoweringRuleContext, sources, types, look: Callable) -> None:
        """Adds the call of a check to those that the branch makes, in the order of the checks."""
        report = functools.partial(raise_from_program, look, on_each_device=False)
        # At the end: what jax 0.10.0 has in its cache it never puts before another operation.
        with ir.InsertionPoint(self.end.operation.block):
            (self.found,) = _emit(ctx, report, [*types, _INT32], *sources, self.found)
        self.end.move_after(self.found.owner)


def raise_if_any(
    ctx: mlir.LoweringRuleContext, *values: ir.Value, spec: IndexSpec, site: CallSite
) -> None:
    """Makes the program that is being lowered raise if an index is out of bounds.

    `values` are the indices, and a mask of those that count, if there is one.
    """
    sources, types, compute = sources_of(ctx, values)
    branches = _jax_internals.memory_of_lowering(ctx)
    here: Any = ir.InsertionPoint.current
    key = (_Branch, here.block)
    branch = branches.pop(key, None) or _Branch(ctx)
    if _size(ctx) <= _MOST_INDICES or spec.comes_first:
        branches[key] = branch
    if _size(ctx) in branch.reductions:
        branch.join(ctx, values, spec)
    else:
        other, its_type = branch.reduce(ctx, values, spec)
        sources, types = [*sources, other], [*types, its_type]
    branch.specs.append(spec)
    look = functools.partial(_look, branch.specs, len(branch.specs), site, compute)
    branch.report(ctx, sources, types, look)


def _look(
    specs: Sequence[IndexSpec], number: int, site: CallSite, compute: Callable, *arrays: np.ndarray
) -> OutOfBoundsError | int:
    """The error of the check with this number, from 1.

    Without an error, whether this check or one before it has an index out of bounds, 1 or 0.
    """
    spec, found = specs[number - 1], arrays[-1]
    indices, *active = compute(*map(np.asarray, arrays))
    if spec.outside(indices, *active).any():
        return spec.find_error(indices, site, *active) or 1
    if number == len(specs) and not found:
        # Silence would let the program use an index that it found out of bounds (test_branches.py,
        # test_other_indices_than_those_of_the_program_are_a_defect).
        raise nothing_found(spec)
    return int(found)


def nothing_found(spec: IndexSpec) -> AssertionError:
    return AssertionError(
        f"{spec.operation}: NumPy finds no index out of bounds where the program has one. "
        "Please report this as a defect of jaxops"
    )


def _zero() -> list:
    return [np.int32(0)]


def _join(spec: IndexSpec, bits: jax.Array, indices: jax.Array, *active: jax.Array) -> list:
    added = out_of_bounds_bits(indices, spec, *active)
    return [lax.bitwise_or(bits, lax.reshape(added, bits.shape))]


def _reduce(spec: IndexSpec, bit: jax.Array, indices: jax.Array, *active: jax.Array) -> list:
    added, used = out_of_bounds_bit(indices, spec, *active)
    return [added, used, lax.bitwise_or(bit, added)]


def _emit(
    ctx: mlir.LoweringRuleContext, function: Callable, types: Sequence, *values: ir.Value
) -> Sequence[Any]:
    """The results of a function of `values`, added to the program."""
    return mlir.lower_fun(function)(ctx.replace(avals_in=tuple(types)), *values)


def _indices(ctx: mlir.LoweringRuleContext) -> Any:
    """The type of the indices."""
    return ctx.avals_in[0]


def _size(ctx: mlir.LoweringRuleContext) -> int:
    """The number of index vectors."""
    return math.prod(_indices(ctx).shape[:-1])
