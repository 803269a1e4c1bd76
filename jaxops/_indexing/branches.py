"""The branch of a program that raises: the checks of a block of the program share it.

XLA compiles each reduction and each branch to code of its own. With a branch for each check a
program of 20 gathers took 2.7 times as long to compile as without checks, and takes 2.1 times now
(`benchmarks/suite.py --groups compile --rows "20 gathers"`). A check joins the branch of the checks
before it:

    check of i:                            case (any(bad_i)) {raise_i}
    then of j, as many indices as i:       case (any(bad_i | bad_j)) {raise_i; raise_j}
    then of k, another number of indices:  case (any(bad_i | bad_j) | any(bad_k)) {...; raise_k}

The branch taken by good indices is empty. The other branch hands the sources of all indices to the
host, where the indices are computed again and searched, as code that searches them takes longer to
compile than the gather.

JAX lowers one equation of a program after the other. The rule of a check finds the branch that the
program has already, moves the operations that compute its indices before the branch, and adds the
check to the branch. Indices that were read with the indices of this branch begin another branch.

Several devices share `any(bad_i | bad_j)`. In the branch each device hands the sources of all
devices to the host. 20 gathers on 4 devices took 4 to 5 times as long to compile as without checks,
and 10 to 18 times as long to run, when each check had a branch and the program searched; they take
1.2 to 1.8 times as long to compile, and as long to run.

A loop might never end with what was read out of bounds. In a program with such a loop all reads and
writes need a result of the branch, which is 0: `i` becomes `i + 0`.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

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
from jaxops._indexing.bounds import out_of_bounds_bit, out_of_bounds_bits, zero_of_reduction
from jaxops._indexing.sources import constant, sources_of
from jaxops._indexing.specs import IndexSpec
from jaxops._primitives import lower_fun

# A check of more indices is the last of its branch: the arrays that a branch takes stay in memory
# until the program comes to the branch.
_MOST_INDICES = 1 << 16
# Of more constant indices than these, such as a broadcast number, NumPy would make large arrays,
# one for each operation that computes them.
_MOST_CONSTANTS = 1 << 22
# A check whose indices take more operations begins another branch. The steps of an unrolled loop
# may take thousands, and each check would go through all of them.
_MOST_OPERATIONS = 256
# The call is made anew for each check, with the operands of all checks.
_MOST_CHECKS = 256
_INT32 = ShapedArray((), np.dtype(np.int32))


_is_alone = contextvars.ContextVar("is_alone", default=False)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """A context for lowering the body of a loop or `cond` that not all shards of a `shard_map` run.

    A shard that has a bad index there raises without waiting for the others.
    """
    token = _is_alone.set(True)
    try:
        yield
    finally:
        _is_alone.reset(token)


class SharedAxes(NamedTuple):
    """The axes of `shard_map`.

    If one shard alone raised, the others would wait for it in their next collective until XLA
    kills the process. So all shards learn that one of them has a bad index, and all raise. That
    takes a collective, which every shard must reach (`loops.py`).
    """

    all: tuple[str, ...]
    differing: tuple[str, ...]  # those of `all` along which the outcome can differ


class _Check(NamedTuple):
    """A check of a branch, and from which operands of the call the host computes its indices."""

    spec: IndexSpec
    site: CallSite
    compute: Callable[..., list[np.ndarray]]
    sources: slice
    of_shards: bool  # whether the sources are those of all shards, along a first axis


class _Branch:
    """The branch of a block of the program, and the operations that say whether it is taken."""

    def __init__(
        self,
        ctx: mlir.LoweringRuleContext,
        bit: Any,
        axes: tuple[str, ...],
        before: _Branch | None,
        shared: SharedAxes | None,
    ):
        number = _agreed(ctx, bit, axes) if axes else bit
        # An operand of the call, so that the branch `before` raises first (test_branches.py,
        # test_errors_in_order).
        self.last = before.case.result if before else _constant(0)
        types = [ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))]
        self.case: Any = ir.Operation.create("stablehlo.case", types, [number], regions=2)
        # Good indices end here. Of others the branch returns 0 too, which XLA does not know.
        for region in self.case.regions:
            with ir.InsertionPoint(region.blocks.append()):
                self.end: Any = ir.Operation.create("stablehlo.return", operands=[self.last])
        with ir.InsertionPoint(self.end):
            self.met = _after_meeting(ctx, self.last, shared)
        _compute_before(self.end, [self.met])
        self.call: Any = None
        self.checks: list[_Check] = []
        self.axes = {*axes}  # of `shard_map`, along which devices agree
        # The operation that takes the bits of the device.
        self.joint: Any = _computing(number) if axes else self.case
        self.is_open = True  # to further checks
        # The indices of the checks. No operations: MLIR hashes one with its operands, which change.
        self.checked: set[ir.Value] = set()
        self.reductions: dict[Any, Any] = {}  # by the shapes of their bits

    def add_check(
        self,
        ctx: mlir.LoweringRuleContext,
        spec: IndexSpec,
        site: CallSite,
        compute: Callable,
        sources: Sequence[Any],
        types: Sequence[Any],
        axes: tuple[str, ...],
    ) -> None:
        """Makes the call of Python take the sources of one more check.

        There is one call: when it begins, the devices have sent all sources. With a call for each
        check a device that raised would not send those of the next one, and the others would wait.
        """
        end = self.call or self.end
        with ir.InsertionPoint(end):
            if axes and sources:
                gather = lambda *xs: [lax.all_gather(x, axes) for x in xs]  # noqa: E731
                sources = _lowered(ctx, gather, sources, types)
                _compute_before(end, sources)
            start = len(self.call.operands) if self.call else 1
            part = slice(start, start + len(sources))
            self.checks.append(_Check(spec, site, compute, part, bool(axes)))
            if self.call:
                self.call = _with_operands(self.call, sources)
                return
            dtypes = [type_.dtype for type_ in types]
            types = [ShapedArray(x.type.shape, t) for x, t in zip(sources, dtypes, strict=True)]
            ctx = ctx.replace(avals_in=(_INT32, *types), avals_out=(_INT32,))
            look = functools.partial(_look, self.checks)
            result: Any = raising.lower(ctx, self.met, *sources, error=look)[0]
        self.call = result.owner.operation
        self.end.operands[0] = result

    def reduction_and_joint(self, shape: Any, axes: tuple[str, ...]) -> tuple[Any, Any]:
        """The reduction that takes bits of this shape, and the operation that takes their bit.

        Each is None if it takes none that devices have to agree on along these axes.
        """
        if self.axes.issuperset(axes):
            return self.reductions.get(shape), self.joint
        return None, self.case if self.axes.issubset(axes) else None

    def take_after(self, values: Sequence[ir.Value], part: Any) -> bool:
        """Moves the operations that compute `values` before a part of the branch, if they can be.

        They cannot if they need the branch, and are not moved if they are too many.
        """
        operations = _operations_from(part, values, _MOST_OPERATIONS)
        if operations is None:
            return False
        if not self.checked.isdisjoint(x for operation in operations for x in operation.results):
            return False
        _move_before(part, operations)
        return True

    def add_bit(self, ctx: mlir.LoweringRuleContext, bit: ir.Value, axes: tuple[str, ...]) -> None:
        """Makes the program take the branch also if `bit` is 1, on any device along `axes`."""
        if self.axes.issuperset(axes):
            self.add(bit, self.joint)
        else:
            number = _agreed(ctx, bit, axes)
            self.add(number, self.case)
            # Along these axes no device knows the bits that other reductions had before.
            self.joint, self.axes, self.reductions = _computing(number), {*axes}, {}

    def add(self, bits: ir.Value, part: Any) -> None:
        """Makes the program take the branch for these bits too; `part` has as many."""
        _compute_before(part, [bits])
        with ir.InsertionPoint(part):
            part.operands[0] = _operation("or", part.operands[0], bits).result


def raise_if_any(
    ctx: mlir.LoweringRuleContext,
    *values: ir.Value,
    spec: IndexSpec,
    site: CallSite,
    shared: SharedAxes | None,
) -> ir.Value:
    """Makes the program that is being lowered raise if an index is out of bounds.

    `values` are the indices, and a mask of those that count, if there is one. `shared` is None
    outside of `shard_map`. The result is the indices to read and write with.
    """
    sources, types, compute = sources_of(ctx, values)
    indices: Any = ctx.avals_in[0]
    size = math.prod(indices.shape[:-1])
    # Such as those of `x[jnp.arange(3)]`, or of a NumPy array.
    if size <= _MOST_CONSTANTS:
        constants = [constant(source) for source in sources]
        are_known = all(array is not None for array in constants)
        if are_known and not spec.outside(*compute(*constants)).any():
            return values[0]
    is_for_one = _jax_internals.is_for_one_device(ctx)
    # For bits of another shape devices would send one another their parts.
    shape = (size,) if is_for_one else indices.shape[:-1]
    if shared and (_is_alone.get() or _jax_internals.lowering_rule(lax.cond_p) is None):
        shared = SharedAxes((), ())
    shared = None if is_for_one else shared
    axes = shared.differing if shared else ()
    memory = _memory(ctx)
    here: Any = ir.InsertionPoint.current
    block = here.block
    before: Any = memory.get((_Branch, block))
    branch = before
    reduction, joint = None, None
    if before and before.is_open:
        reduction, joint = before.reduction_and_joint(shape, axes)
    if reduction is not None and branch.take_after([*values, *sources], reduction):
        shape_of_bits = reduction.operands[0].type.shape
        (bits,) = _lowered(ctx, functools.partial(_bits, spec, shape_of_bits), values)
        branch.add(bits, reduction)
    else:
        to_one = functools.partial(_reduced if is_for_one else _reduced_on_each, spec)
        if size == 1:  # XLA would write the index for a reduction, by one kernel more
            to_one = functools.partial(_bits, spec, ())
        bit, *used = _lowered(ctx, to_one, values)
        if used:
            sources, types = [*sources, *used], [*types, ShapedArray((), indices.dtype)]
        if joint is not None and branch.take_after([bit, *sources], joint):
            branch.add_bit(ctx, bit, axes)
        else:
            branch = _Branch(ctx, bit, axes, before, shared)
        if size != 1:
            branch.reductions[shape] = _computing(bit)
    memory[_Branch, block] = branch
    branch.add_check(ctx, spec, site, compute, sources, types, axes)
    branch.is_open = (
        (size <= _MOST_INDICES or spec.comes_first)
        and len(branch.checks) < _MOST_CHECKS
        and branch.call.name == "stablehlo.custom_call"  # to which operands can be added
    )
    if spec.comes_first:
        return values[0]
    # A reshape to the same shape, which XLA drops. If the program has to wait, `_wait` changes its
    # operand. A barrier here would make XLA write the indices to memory (test_branches.py,
    # test_an_index_has_one_kernel_more).
    checked: Any = ir.Operation.create("stablehlo.reshape", [values[0].type], [values[0]])
    branch.checked.add(checked.result)
    if wait_for_checks in memory or _is_copied(checked):
        _wait(checked, branch.case.result)
    else:
        memory.setdefault(_wait, []).append((checked, branch.case.result))
    return checked.result


def _agreed(ctx: mlir.LoweringRuleContext, bit: ir.Value, axes: tuple[str, ...]) -> Any:
    """Whether a device along these axes has the bit."""
    return _lowered(ctx, lambda bit: [lax.pmax(bit, axes)], [bit], [_INT32])[0]


def _after_meeting(
    ctx: mlir.LoweringRuleContext, number: ir.Value, shared: SharedAxes | None
) -> ir.Value:
    """`number`, which a device has once all devices have come to the branch.

    XLA begins collectives in the same order on all devices, and a branch that has one is one of
    them. It ran a branch that had none before a collective on one device, which raised, and after
    the collective on another, which waited for the first (test_devices.py,
    test_tables_that_devices_share).
    """
    if shared is not None:
        return _agreed(ctx, number, shared.all) if shared.all else number
    num_devices = _jax_internals.num_devices(ctx)
    if num_devices is None or num_devices == 1:
        return number
    # The collectives of `lax` are for `shard_map`.
    groups: Any = np.arange(num_devices)[None]
    attributes = {
        "replica_groups": ir.DenseIntElementsAttr.get(groups),
        "channel_handle": ir.Attribute.parse("#stablehlo.channel_handle<handle = 1, type = 1>"),
        "use_global_device_ids": ir.UnitAttr.get(),
    }
    met: Any = ir.Operation.create(
        "stablehlo.all_reduce", [number.type], [number], attributes, regions=1
    )
    block = met.regions[0].blocks.append(number.type, number.type)
    with ir.InsertionPoint(block):
        largest = _operation("maximum", *block.arguments)
        ir.Operation.create("stablehlo.return", operands=[largest.result])
    return met.result


def _lowered(
    ctx: mlir.LoweringRuleContext,
    function: Callable,
    operands: Sequence[ir.Value],
    types: Sequence[Any] | None = None,
) -> Sequence[Any]:
    """The results of a function of arrays; `types` of the operands, if not those of the rule."""
    # A copy, as a context serves one function.
    ctx = ctx.replace(avals_in=ctx.avals_in if types is None else types)
    return lower_fun(function)(ctx, *operands)


def _computing(value: ir.Value) -> Any:
    """The operation that computes a value; of a `shard_map` along some axes JAX constrains each."""
    owner: Any = value.owner
    while owner.name in ("sdy.sharding_constraint", "stablehlo.custom_call"):
        owner = owner.operands[0].owner
    return owner.operation


def _move_before(part: Any, operations: Sequence[Any]) -> None:
    for operation in operations:
        operation.move_before(part)


def _compute_before(part: Any, values: Sequence[ir.Value]) -> None:
    """Moves the operations that compute `values` before `part`, if they come after it.

    However many they are (test_branches.py, test_indices_of_many_components). jax 0.10.0 adds
    collectives at the end of the block.
    """
    _move_before(part, _operations_from(part, values, math.inf) or ())


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


def _look(checks: Sequence[_Check], *arrays: np.ndarray) -> OutOfBoundsError | int:
    """The first error of the checks, or 0 if the indices that are out of bounds are no errors."""
    is_found = False
    for check in checks:
        sources = [*map(np.asarray, arrays[check.sources])]
        for of_shard in zip(*sources, strict=True) if check.of_shards and sources else [sources]:
            indices, *active = check.compute(*of_shard)
            if check.spec.outside(indices, *active).any():
                error = check.spec.find_error(indices, check.site, *active)
                if error is not None:
                    return error
                is_found = True
    if not is_found:
        # Silence would let the program use an index that it found out of bounds (test_branches.py,
        # test_other_indices_than_those_of_the_program_are_a_defect).
        raise nothing_found(checks[-1].spec)
    return 0


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


def _reduced_on_each(spec: IndexSpec, indices: jax.Array, *active: jax.Array) -> list:
    """The bit of several devices, or of the shard of a device."""
    bits = out_of_bounds_bits(indices, spec, *active)
    return [lax.reduce(bits, zero_of_reduction(bits.dtype), lax.max, range(bits.ndim))]


# --- loops that might never end with what was read out of bounds ---


def wait_for_checks(ctx: mlir.LoweringRuleContext) -> None:
    """Makes all reads and writes of the program wait for the checks of their indices.

    Called for each loop that might not end with a value that was read out of bounds. In another
    program XLA may run the check last, as the error comes before the results in any case; a program
    of 20 gathers compiles 15 % faster so. Code after a branch or loop that has checks need not
    wait, as these checks have run before it.
    """
    memory = _memory(ctx)
    memory[wait_for_checks] = True
    for checked, zero in memory.pop(_wait, ()):
        _wait(checked, zero)


def _memory(ctx: mlir.LoweringRuleContext) -> dict[Any, Any]:
    memory = _jax_internals.memory_of_lowering(ctx)
    return {wait_for_checks: True} if memory is None else memory  # it may have a loop


def _is_copied(operation: Any) -> bool:
    """Whether JAX will copy the operation into the program: a later loop would change no copy.

    JAX lowers these primitives as functions, which have their names, and copies the functions.
    """
    function = operation.block.owner.operation
    if function.name != "func.func":
        return False
    name = str(function.attributes["sym_name"]).strip('"')
    return name in ("remat2", "closed_call", "eval_jaxpr") or name.startswith("custom_")


def _wait(checked: Any, zero: ir.Value) -> None:
    """Makes the indices that `checked` hands on a sum with `zero`, which is computed first."""
    type_ = checked.result.type
    scalar = ir.RankedTensorType.get([], type_.element_type)
    with ir.InsertionPoint(checked):
        if zero.type != scalar:
            zero = ir.Operation.create("stablehlo.convert", [scalar], [zero]).result
        along: dict[str, Any] = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
        zeros = ir.Operation.create("stablehlo.broadcast_in_dim", [type_], [zero], along).result
        # Without the barrier XLA takes the sum for the thing to compute in one loop, and writes the
        # indices to memory for it and for the check, by one kernel more (test_branches.py,
        # test_indices_that_wait_are_not_written).
        barrier: Any = ir.Operation.create(
            "stablehlo.optimization_barrier", [type_], [checked.operands[0]]
        )
        checked.operands[0] = _operation("add", barrier.result, zeros).result


# --- operations ---


def _operation(name: str, first: ir.Value, second: Any) -> Any:
    return ir.Operation.create(f"stablehlo.{name}", [first.type], [first, second])


def _with_operands(call: Any, values: Sequence[ir.Value]) -> Any:
    """A call of Python with more operands, in the place of `call`."""
    attributes = {name: call.attributes[name] for name in _names(call.attributes)}
    orders: Any = [np.arange(len(x.type.shape) - 1, -1, -1) for x in values]  # of axes in memory
    layouts = [ir.DenseIntElementsAttr.get(order, type=ir.IndexType.get()) for order in orders]
    attributes["operand_layouts"] = ir.ArrayAttr.get([*attributes["operand_layouts"], *layouts])
    types = [result.type for result in call.results]
    with ir.InsertionPoint(call):
        new: Any = ir.Operation.create(call.name, types, [*call.operands, *values], attributes)
    call.result.replace_all_uses_with(new.result)
    call.erase()
    return new


def _names(attributes: Any) -> list[str]:
    return [a if isinstance(a, str) else a.name for a in attributes]


def _constant(number: int) -> Any:
    return mlir.ir_constant(np.int32(number))
