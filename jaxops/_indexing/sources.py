"""The values that a program computes indices from, and the indices computed again in NumPy.

A branch of a program takes operands, and XLA writes each of them to memory before the program comes
to the branch. The indices that JAX hands to the gather of `x[i, j]` are `i` and `j` side by side,
counted from the start where they are negative. A loop that wrote them for the branch alone took
longer than the gather, and a fifth of the time to compile it. So the branch that raises takes `i`
and `j`, and NumPy computes the indices from these if the program raises.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax.core import ShapedArray
from jax.interpreters import mlir
from jax.interpreters.mlir import ir

from jaxops import _jax_internals


def _quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The quotient as XLA has it: rounded towards 0, and with all bits 1 if `y` is 0."""
    divisor = y | (y == 0)
    return np.where(y == 0, ~(x ^ x), (x - np.fmod(x, divisor)) // divisor)


def _remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The remainder as XLA has it: with the sign of `x`, and `x` itself if `y` is 0."""
    return np.where(y == 0, x, np.fmod(x, y | (y == 0)))


def _shift_right(kind: str) -> Callable[..., np.ndarray]:
    """A shift to the right that takes the operands for signed ("i") or unsigned ("u") integers."""

    def shift(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        of_kind = (z.view(f"{kind}{z.itemsize}") for z in (x, y))
        return np.right_shift(*of_kind).view(x.dtype)

    return shift


# Operations that XLA computes within the loop that takes their result; that of another, such as a
# gather, is in memory. Of `(i + 1) % n`, where `i` is a mesh, XLA computes n numbers, and it would
# write n * n of them for the branch.
_ELEMENTWISE: dict[str, Callable] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": _quotient,
    "remainder": _remainder,
    "negate": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "shift_left": np.left_shift,
    "shift_right_arithmetic": _shift_right("i"),
    "shift_right_logical": _shift_right("u"),
    "select": np.where,
    "clamp": lambda least, x, most: np.minimum(np.maximum(x, least), most),
}
_DTYPES = ["bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64))]
# At most so many operations are looked at: an unrolled loop may have thousands (test_sources.py,
# test_values_in_memory_are_sources). The indices of a stencil in three dimensions have about 100.
# With 256 a program that reads 100 times at `i = (5 * i + k) % n` took twice as long to lower.
_MOST = 128
_LARGEST_CONSTANT = 1024  # elements; a larger one would be held twice


class _Computed(NamedTuple):
    """A value that `function` computes from operands, each a `_Computed` or in memory."""

    function: Callable[..., np.ndarray]
    operands: tuple[Any, ...]


def sources_of(
    ctx: mlir.LoweringRuleContext, values: Sequence[ir.Value]
) -> tuple[list[ir.Value], list[ShapedArray], Callable[..., list[np.ndarray]]]:
    """The sources of `values`, of integers, their types, and the values as a function of them."""
    program = _Program(ctx)
    nodes = [program.node(value, {}) for value in values]
    numbers: dict[ir.Value, int] = {}
    # No value of the program may outlive it.
    numbered = [_numbered(node, numbers, {}) for node in nodes]
    sources = list(numbers)
    # The branch may force XLA to write a source that it would else fuse, such as the result of a
    # gather, which XLA fuses with the loop that reads it (test_sources.py,
    # test_no_more_is_written_than_the_indices). Several devices send one another their parts of
    # each source, of an argument too (device_programs.py, check_that_a_column_is_sent_alone).
    is_for_one = _jax_internals.is_for_one_device(ctx)
    written = [s for s in sources if not (is_for_one and isinstance(s.owner, ir.Block))]
    if sum(map(_size, written)) > sum(map(_size, values)):
        sources, numbered = list(values), list(range(len(values)))

    def compute(*arrays: np.ndarray) -> list[np.ndarray]:
        results: dict[int, np.ndarray] = {}
        # Integers wrap around as in the program (test_sources.py,
        # test_scalars_wrap_around_without_a_warning).
        with np.errstate(over="ignore"):
            return [_evaluate(node, arrays, results) for node in numbered]

    return sources, [program.aval(source) for source in sources], compute


def constant(source: ir.Value) -> np.ndarray | None:
    """The elements of a source that is a constant; None if it is none."""
    operation: Any = source.owner
    if isinstance(operation, ir.Block) or operation.name != "stablehlo.constant":
        return None
    return np.array(operation.attributes["value"])


class _Program:
    """The program that is being lowered."""

    def __init__(self, ctx: mlir.LoweringRuleContext):
        self.dtypes = {mlir.dtype_to_ir_type(dtype): dtype for dtype in map(np.dtype, _DTYPES)}
        module = _jax_internals.module_of(ctx)
        self.functions = ir.SymbolTable(module.operation) if module else {}
        self.count = 0  # of operations that were looked at

    def aval(self, value: ir.Value) -> ShapedArray:
        return ShapedArray(tuple(value.type.shape), self.dtypes[value.type.element_type])

    def node(self, value: ir.Value, known: dict[ir.Value, Any], is_called: bool = False) -> Any:
        """The `_Computed` of a value, or the value if it is in memory.

        None where it is in memory within a function that the program calls. `known` has the nodes
        that are known; those of a function that is called begin with its arguments.
        """
        if value not in known:
            known[value] = None if is_called else value
            if not isinstance(value.owner, ir.Block) and self.count < _MOST:
                self.count += 1
                known[value] = self._of_operation(value, known, is_called) or known[value]
        return known[value]

    def _of_operation(self, value: ir.Value, known: dict[ir.Value, Any], is_called: bool) -> Any:
        operation: Any = value.owner
        callee, function = self._callee(operation), self._in_numpy(operation)
        if callee is None and function is None:
            return None
        operands = tuple(self.node(operand, known, is_called) for operand in operation.operands)
        if any(operand is None for operand in operands):
            return None
        if function is not None:
            return _Computed(function, operands)
        assert callee is not None
        *_, end = callee.operations
        result = end.operands[ir.OpResult(value).result_number]
        return self.node(result, dict(zip(callee.arguments, operands, strict=True)), True)

    def _callee(self, operation: Any) -> ir.Block | None:
        """The body of the function that is called, such as JAX's `_where`."""
        if operation.name != "func.call":
            return None
        name = operation.attributes["callee"].value
        return self.functions[name].regions[0].blocks[0] if name in self.functions else None

    def _in_numpy(self, operation: Any) -> Callable[..., Any] | None:
        """The operation as a function of arrays, if it is one of those that are computed again."""
        name = operation.name.removeprefix("stablehlo.")
        types = [value.type for value in (*operation.operands, *operation.results)]
        if not all(
            isinstance(t, ir.RankedTensorType)
            and t.has_static_shape
            and t.element_type in self.dtypes
            for t in types
        ):
            return None
        attributes = operation.attributes
        shape, dtype = tuple(types[-1].shape), self.dtypes[types[-1].element_type]
        match name:
            case "constant" if math.prod(shape) <= _LARGEST_CONSTANT:
                value = constant(operation.result)
                return lambda: value
            case "iota":
                axis = attributes["iota_dimension"].value
                return lambda: _along(np.arange(shape[axis], dtype=dtype), [axis], shape)
            case "compare":  # <comparison_direction LT>
                return getattr(operator, str(attributes["comparison_direction"])[-3:-1].lower())
            case "convert":
                return lambda x: x.astype(dtype)
            case "reshape":
                return lambda x: x.reshape(shape)
            case "broadcast_in_dim":
                axes = list(attributes["broadcast_dimensions"])
                return lambda x: _along(x, axes, shape)
            case "transpose":
                permutation = list(attributes["permutation"])
                return lambda x: x.transpose(permutation)
            case "slice" if _is_kept(operation.operands[0]):
                bounds = (attributes[k] for k in ("start_indices", "limit_indices", "strides"))
                part = tuple(map(slice, *bounds))
                return lambda x: x[part]
            case "reverse":
                axes = tuple(attributes["dimensions"])
                return lambda x: np.flip(x, axes)
            case "concatenate":
                axis = attributes["dimension"].value
                return lambda *xs: np.concatenate(xs, axis)
        return _ELEMENTWISE.get(name)


def _is_kept(value: ir.Value) -> bool:
    """Whether a value is an argument that the program keeps as it is.

    XLA would copy another value for the branch, such as a donated argument or one that a loop
    carries, if the program writes to the value later (test_branches.py,
    test_a_column_of_an_argument_is_not_copied).
    """
    function: Any = value.owner.owner if isinstance(value.owner, ir.Block) else None
    if function is None or str(function.attributes.get("sym_name", "")) != '"main"':
        return False
    of_arguments = function.attributes.get("arg_attrs")
    if of_arguments is None:
        return False
    attributes = of_arguments[ir.BlockArgument(value).arg_number]
    return not {"tf.aliasing_output", "jax.buffer_donor"} & {a.name for a in attributes}


def _along(x: np.ndarray, axes: Sequence[int], shape: tuple[int, ...]) -> np.ndarray:
    """`x`, whose axes are the `axes` of the result, broadcast along the others."""
    others = [axis for axis in range(len(shape)) if axis not in axes]
    return np.broadcast_to(np.expand_dims(x, others), shape)


def _numbered(node: Any, numbers: dict[ir.Value, int], known: dict[int, Any]) -> Any:
    """The node with the number of each source for the source; new sources get the next numbers.

    A node is looked at once, however many nodes have it as an operand: in `i + i`, 40 times over,
    there are 2^40 ways to the source.
    """
    if not isinstance(node, _Computed):
        return numbers.setdefault(node, len(numbers))
    if id(node) not in known:
        operands = tuple(_numbered(operand, numbers, known) for operand in node.operands)
        known[id(node)] = node._replace(operands=operands)
    return known[id(node)]


def _evaluate(node: Any, arrays: Sequence[np.ndarray], results: dict[int, np.ndarray]) -> Any:
    if not isinstance(node, _Computed):
        return arrays[node]
    if id(node) not in results:
        operands = [_evaluate(operand, arrays, results) for operand in node.operands]
        results[id(node)] = node.function(*operands)
    return results[id(node)]


def _size(value: ir.Value) -> int:
    return math.prod(value.type.shape)
