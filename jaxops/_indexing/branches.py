"""The branch of a program for one CPU that raises: the checks of a block of the program share it.

XLA compiles each reduction and each branch to code of its own. With a branch for each check a
program of 20 gathers took 2.7 times as long to compile as without checks, and takes 1.9 times now
(`benchmarks/suite.py --groups compile --rows "20 gathers"`). A check joins the branch of the checks
before it:

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
from jaxops._indexing import raising
from jaxops._indexing.bounds import out_of_bounds_bit, out_of_bounds_bits
from jaxops._indexing.sources import sources_of
from jaxops._indexing.specs import IndexSpec

# A check of more indices is the last of its branch: the arrays that a branch takes stay in memory
# until the program comes to the branch.
_MOST_INDICES = 1 << 16
_INT32 = ShapedArray((), np.dtype(np.int32))


class _Branch:
    """The branch of a block of the program, and the operations that say whether it is taken."""

    def __init__(self, bit: Any):
        self.case: Any = ir.Operation.create("stablehlo.case", operands=[bit], regions=2)
        for region in self.case.regions:
            with ir.InsertionPoint(region.blocks.append()):
                # The branch of good indices ends here; of the other one, the checks come before.
                self.end = ir.Operation.create("stablehlo.return")
        with ir.InsertionPoint(self.end):
            self.found: Any = mlir.ir_constant(np.int32(0))  # the result of the last check
        self.specs: list[IndexSpec] = []  # of the checks
        self.reductions: dict[int, Any] = {_size(bit.owner.operands[0]): bit.owner}
        # The reductions, the operations that join their results, and the branch, in this order.
        self.parts = [bit.owner, self.case]

    def join(self, bits: ir.Value) -> None:
        """Makes the program take the branch for these bits, of which a reduction has as many."""
        reduction = self.reductions[_size(bits)]
        operation = _or(reduction.operands[0], bits)
        reduction.operands[0] = operation.result
        # The operations from the reduction on have to come after the bits.
        for part in self.parts:
            part.move_after(operation)
            operation = part

    def reduce(self, bit: Any) -> None:
        """Makes the program take the branch for this bit, the result of a new reduction."""
        operation = _or(self.case.operands[0], bit)
        self.case.operands[0] = operation.result
        self.case.move_after(operation)
        self.reductions[_size(bit.owner.operands[0])] = bit.owner
        self.parts[-1:] = [bit.owner, operation, self.case]


def raise_if_any(
    ctx: mlir.LoweringRuleContext, *values: ir.Value, spec: IndexSpec, site: CallSite
) -> None:
    """Makes the program that is being lowered raise if an index is out of bounds.

    `values` are the indices, and a mask of those that count, if there is one.
    """
    sources, types, compute = sources_of(ctx, values)
    indices: Any = ctx.avals_in[0]
    size = math.prod(indices.shape[:-1])
    branches = _jax_internals.memory_of_lowering(ctx)
    here: Any = ir.InsertionPoint.current
    branch = branches.pop((_Branch, here.block), None)
    if branch is not None and size in branch.reductions:
        shape = branch.reductions[size].operands[0].type.shape
        (bits,) = mlir.lower_fun(functools.partial(_bits, spec, shape))(ctx, *values)
        branch.join(bits)
    else:
        bit, other = mlir.lower_fun(functools.partial(_reduced, spec))(ctx, *values)
        if branch is None:
            branch = _Branch(bit)
        else:
            branch.reduce(bit)
        sources, types = [*sources, other], [*types, ShapedArray((), indices.dtype)]
    if size <= _MOST_INDICES or spec.comes_first:
        branches[_Branch, here.block] = branch
    branch.specs.append(spec)
    look = functools.partial(_look, branch.specs, len(branch.specs), site, compute)
    ctx = ctx.replace(avals_in=(*types, _INT32), avals_out=(_INT32,))
    with ir.InsertionPoint(branch.end):
        (branch.found,) = raising.lower(
            ctx, *sources, branch.found, error=look, on_each_device=False
        )


def _look(
    specs: Sequence[IndexSpec], number: int, site: CallSite, compute: Callable, *arrays: np.ndarray
) -> OutOfBoundsError | int:
    """The error of the check with this number, from 1.

    If the check has no error, 1 or 0: whether it or a check before it has an index out of bounds.
    `arrays` are the sources of the indices, which come first, and the result of the last check.
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


def _bits(spec: IndexSpec, shape: Sequence[int], indices: jax.Array, *active: jax.Array) -> list:
    return [lax.reshape(out_of_bounds_bits(indices, spec, *active), tuple(shape))]


def _reduced(spec: IndexSpec, indices: jax.Array, *active: jax.Array) -> list:
    """The bit, and a number that the program has to use as well."""
    return [*out_of_bounds_bit(indices, spec, *active)]


def _or(some: ir.Value, others: ir.Value) -> Any:
    """An operation, whose result is the OR of both."""
    return ir.Operation.create("stablehlo.or", results=[some.type], operands=[some, others])


def _size(bits: ir.Value) -> int:
    return math.prod(ir.RankedTensorType(bits.type).shape)
