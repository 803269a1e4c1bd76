"""The branch of a program for one CPU that raises: the checks of a block of the program share it.

XLA compiles each reduction and each branch to code of its own. With a branch for each check a
program of 20 gathers took 2.7 times as long to compile as without checks, and takes 2.1 times now
(`benchmarks/suite.py --groups compile --rows "20 gathers"`). A check joins the branch of the checks
before it:

    check of i:                            case (any(bad_i)) {raise_i}
    then of j, as many indices as i:       case (any(bad_i | bad_j)) {raise_i; raise_j}
    then of k, another number of indices:  case (any(bad_i | bad_j) | any(bad_k)) {...; raise_k}

The branch taken by good indices is empty. In the other branch one check after the other hands the
sources of its indices to the host, where the indices are computed again and searched, as code that
searches them takes longer to compile than the gather.

JAX lowers one equation of a program after the other. The rule of a check finds the branch that the
program has already, moves the operations that compute its indices before the branch, and adds the
check to the branch. Indices that were read with the indices of this branch begin another branch.

A loop might never end with what was read out of bounds. In a program with such a loop all reads and
writes need a result of the branch, which is 0: `i` becomes `i + 0`.
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
# A check whose indices take more operations begins another branch. The steps of an unrolled loop
# may take thousands, and each check would go through all of them.
_MOST_OPERATIONS = 256
_INT32 = ShapedArray((), np.dtype(np.int32))


class _Branch:
    """The branch of a block of the program, and the operations that say whether it is taken."""

    def __init__(self, bit: Any, before: _Branch | None):
        types = [ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))]
        self.case: Any = ir.Operation.create("stablehlo.case", types, [bit], regions=2)
        # Both results are 0, which XLA does not know: calls of Python return 0 or 1. The operand
        # makes the branch `before` raise first (test_branches.py, test_errors_in_order).
        last = before.case.result if before else None
        for region in self.case.regions:
            with ir.InsertionPoint(region.blocks.append()):
                # Good indices end here; of others the checks come before this operation.
                self.end: Any = _operation("and", last or _constant(0), _constant(2))
                ir.Operation.create("stablehlo.return", operands=[self.end.result])
        self.is_open = True  # to further checks
        self.specs: list[IndexSpec] = []  # of the checks
        self.checked: set[Any] = set()  # the operations whose results are the indices of the checks
        self.reductions: dict[int, Any] = {_size(bit.owner.operands[0]): bit.owner.operation}

    def take_after(self, values: Sequence[ir.Value], part: Any) -> bool:
        """Moves the operations that compute `values` before a part of the branch, if they can be.

        They cannot if they need the branch, and are not moved if they are too many.
        """
        operations = _operations_from(part, values, _MOST_OPERATIONS)
        if operations is None or not self.checked.isdisjoint(operations):
            return False
        _move_before(part, operations)
        return True

    def add(self, bits: ir.Value, part: Any) -> None:
        """Makes the program take the branch for these bits too; `part` has as many."""
        # However many they are (test_branches.py, test_indices_of_many_components).
        _move_before(part, _operations_from(part, [bits], math.inf) or ())
        with ir.InsertionPoint(part):
            part.operands[0] = _operation("or", part.operands[0], bits).result


def raise_if_any(
    ctx: mlir.LoweringRuleContext, *values: ir.Value, spec: IndexSpec, site: CallSite
) -> ir.Value:
    """Makes the program that is being lowered raise if an index is out of bounds.

    `values` are the indices, and a mask of those that count, if there is one. The result is the
    indices to read and write with.
    """
    sources, types, compute = sources_of(ctx, values)
    indices: Any = ctx.avals_in[0]
    size = math.prod(indices.shape[:-1])
    memory = _memory(ctx)
    here: Any = ir.InsertionPoint.current
    block = here.block
    before = memory.get((_Branch, block))
    branch: Any = before if before and before.is_open else None
    reduction = branch and branch.reductions.get(size)
    if reduction is not None and branch.take_after([*values, *sources], reduction):
        shape = reduction.operands[0].type.shape
        (bits,) = mlir.lower_fun(functools.partial(_bits, spec, shape))(ctx, *values)
        branch.add(bits, reduction)
    else:
        bit, other = mlir.lower_fun(functools.partial(_reduced, spec))(ctx, *values)
        sources, types = [*sources, other], [*types, ShapedArray((), indices.dtype)]
        if branch is not None and branch.take_after([bit, *sources], branch.case):
            branch.add(bit, branch.case)
            branch.reductions[size] = bit.owner.operation
        else:
            branch = _Branch(bit, before)
    memory[_Branch, block] = branch
    branch.is_open = size <= _MOST_INDICES or spec.comes_first
    branch.specs.append(spec)
    look = functools.partial(_look, branch.specs, len(branch.specs), site, compute)
    ctx = ctx.replace(avals_in=(*types, _INT32), avals_out=(_INT32,))
    with ir.InsertionPoint(branch.end):
        (branch.end.operands[0],) = raising.lower(
            ctx, *sources, branch.end.operands[0], error=look, on_each_device=False
        )
    if spec.comes_first:
        return values[0]
    barrier = _barrier(values[0])
    branch.checked.add(barrier)
    return _to_use(memory, barrier, branch.case.result)


def _move_before(part: Any, operations: Sequence[Any]) -> None:
    for operation in operations:
        operation.move_before(part)


def _operations_from(start: Any, values: Sequence[ir.Value], most: float) -> list[Any] | None:
    """The operations from `start` on in its block that compute `values`, in their order.

    None if there are more than `most` of them.
    """
    found = set()
    waiting = [value.owner for value in values]
    while waiting:
        owner = waiting.pop()
        if isinstance(owner, ir.Block) or owner.operation.block != start.block:
            continue
        operation = owner.operation
        if operation in found or operation.is_before_in_block(start):
            continue
        found.add(operation)
        if len(found) > most:
            return None
        waiting += [operand.owner for operand in _used_by(operation)]
    is_before = lambda a, b: -1 if a.is_before_in_block(b) else 1  # noqa: E731
    return sorted(found, key=functools.cmp_to_key(is_before))


def _used_by(operation: Any) -> list[ir.Value]:
    """The values that an operation takes, those of its branches and loops as well."""
    values = [*operation.operands]

    def visit(inner):
        values.extend(inner.operands)
        return ir.WalkResult.ADVANCE

    if len(operation.regions):
        operation.walk(visit)
    return values


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


# --- loops that might never end with what was read out of bounds ---


def indices_to_use(ctx: mlir.LoweringRuleContext, indices: ir.Value, zero: ir.Value) -> ir.Value:
    """The indices to read and write with; `zero` is an int32 that the check computes."""
    return _to_use(_memory(ctx), _barrier(indices), zero)


def wait_for_checks(ctx: mlir.LoweringRuleContext) -> None:
    """Makes all reads and writes of the program wait for the checks of their indices.

    Called for each loop that might not end with a value that was read out of bounds. In another
    program XLA may run the check last, as the error comes before the results in any case; a program
    of 20 gathers compiles 15 % faster so. Code after a branch or loop that has checks need not
    wait, as these checks have run before it.
    """
    memory = _memory(ctx)
    memory[wait_for_checks] = True
    for barrier, zero in memory.pop(_to_use, ()):
        with ir.InsertionPoint(barrier):
            owner: Any = _wait(barrier, zero).owner
        after = owner.operation
        barrier.move_before(after)
        barrier.result.replace_all_uses_except(after.result, after)


def _memory(ctx: mlir.LoweringRuleContext) -> dict[Any, Any]:
    memory = _jax_internals.memory_of_lowering(ctx)
    return {wait_for_checks: True} if memory is None else memory  # it may have a loop


def _barrier(indices: ir.Value) -> Any:
    return ir.Operation.create("stablehlo.optimization_barrier", [indices.type], [indices])


def _to_use(memory: dict[Any, Any], barrier: Any, zero: ir.Value) -> ir.Value:
    if wait_for_checks in memory:
        return _wait(barrier, zero)
    memory.setdefault(_to_use, []).append((barrier, zero))
    return barrier.result


def _wait(barrier: Any, zero: ir.Value) -> ir.Value:
    """The indices as a sum with `zero`, which the program has to compute first."""
    type_ = barrier.result.type
    scalar = ir.RankedTensorType.get([], type_.element_type)
    if zero.type != scalar:
        zero = ir.Operation.create("stablehlo.convert", [scalar], [zero]).result
    along: dict[str, Any] = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
    zeros = ir.Operation.create("stablehlo.broadcast_in_dim", [type_], [zero], along).result
    # Without the barrier XLA takes the sum for the thing to compute in one loop, and writes the
    # indices to memory for it and for the check, by one kernel more (test_branches.py,
    # test_indices_that_wait_are_not_written).
    return _operation("add", barrier.result, zeros).result


# --- operations ---


def _operation(name: str, first: ir.Value, second: Any) -> Any:
    return ir.Operation.create(f"stablehlo.{name}", [first.type], [first, second])


def _constant(number: int) -> Any:
    return mlir.ir_constant(np.int32(number))


def _size(bits: ir.Value) -> int:
    return math.prod(ir.RankedTensorType(bits.type).shape)
