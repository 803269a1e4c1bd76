"""The run of a public op: a compiled call when eager, inline in a trace, positions of strings."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxops import _call_sites, _jax_internals, _symbolic
from jaxops._errors import OutOfBoundsError, naming_memory_errors
from jaxops._indexing import check, policy
from jaxops._indexing.check_primitive import raises
from jaxops._run import arguments, extents, keys, sharding, strings
from jaxops._run.known import at_once, known
from jaxops._run.static_values import static_padding_index

NO_BOUNDS: Any = object()  # not None, which a caller may pass as mode and is told off for
NO_FILL: Any = object()
P = ParamSpec("P")
R = TypeVar("R")
_MANY = 256  # elements: more than any shape has


class Operation(Generic[P, R]):
    """An implementation of public ops: a pure function of arrays, by keyword.

    Its result is an array or a list or tuple of arrays. It validates shapes and static arguments,
    so that an eager call like one before validates nothing. Public functions call `run`, other
    implementations call the object, which is the function itself.

    Args:
        implementation: the function.
        data: names of its arguments that are arrays of values; `"values[]"` is a list of them.
        indices: names of its arguments that are arrays of integers, likewise.
        of_own_dtype: the data that need not have the dtype of the others or of the result.
        from_integers: the data that may be arrays of integers where the others are wider, as floats
            are, and become arrays of their dtype.
        pads: whether the function fills places that no index fills, so that `fill_value` counts
            under every `mode`, and without one.
        moves_elements: whether every element of the result is an element of the data or the fill
            value, or a 0 where no element is. Only such an op takes keys of `jax.random`, and host
            strings but for "no strings".
        like: the data argument whose dtype all data must have, but for those of an own dtype.
    """

    def __init__(
        self,
        implementation: Callable[P, R],
        *,
        data: Sequence[str] = (),
        indices: Sequence[str] = (),
        of_own_dtype: Sequence[str] = (),
        from_integers: Sequence[str] = (),
        pads: bool = False,
        moves_elements: bool | Literal["no strings"] = False,
        like: str | None = None,
    ) -> None:
        self.implementation = implementation
        self.data = [arg for arg in data if not arg.endswith("[]")]
        self.indices = [arg for arg in indices if not arg.endswith("[]")]
        lists = [(arg, False) for arg in data] + [(arg, True) for arg in indices]
        self.lists = [(arg[:-2], are_indices) for arg, are_indices in lists if arg.endswith("[]")]
        self.of_own_dtype, self.from_integers, self.pads = of_own_dtype, from_integers, pads
        self.moves_elements, self.like = moves_elements, like
        functools.update_wrapper(self, implementation)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.implementation(*args, **kwargs)

    # CPython compares each keyword of a call with the names of all parameters that are not
    # positional only: with 8 names an eager `gather` takes 0.4 us less than with 14.
    def run(
        self,
        op: str,
        /,
        *,
        name: str | None,
        mode: str | None = NO_BOUNDS,
        fill_value: object = NO_FILL,
        moves_elements: bool | None = None,
        like: str | None = None,
        indexed: Sequence[int] = (),
        one_by_one: bool = False,
        out_sharding: Any = None,
        **given,
    ) -> Any:
        """Calls the implementation for a public function, with arrays of JAX.

        The implementation gets `op` and all that is `given`, and a mode and a fill value only if
        the public function passes one here.

        Args:
            op: name of the public function, for messages and for the named scope.
            name: the caller's name for the scope; None for the op's.
            mode: see `_indexing/policy.py`.
            fill_value: scalar of the data's dtype, or None.
            moves_elements: of an op that moves elements in some calls only, whether this call does;
                None for what `operation` was told.
            like: the name of the data whose dtype the others get, where the name depends on the
                call; None for what `operation` was told.
            indexed: sizes that the indices count along, beside those of the data.
            one_by_one: whether an eager call runs the primitives of the implementation one by one,
                as a program of all its arrays takes too long to compile.
            out_sharding: how devices share the result, as the caller said it; None if not.
            **given: the data and the indices as the caller passed them, of which some may be left
                out; the others are hashable, and static.
        """
        data, indices = {}, {}
        for arg in self.data:
            if arg in given:
                data[arg] = given.pop(arg)
        for arg in self.indices:
            if arg in given:
                indices[arg] = given.pop(arg)
        for arg, are_indices in self.lists:
            if arg in given:
                arrays = indices if are_indices else data
                for n, element in enumerate(given.pop(arg)):
                    arrays[f"{arg}[{n}]"] = element
        like = like or self.like
        if mode is not NO_BOUNDS:
            policy.check_mode(op, mode)
        if out_sharding is not None:
            sharding.check_out_sharding(out_sharding, op)
        padding_index = given.get("padding_index")
        if padding_index is not None:
            given["padding_index"] = static_padding_index(padding_index, op)
        takes_fill = fill_value is not NO_FILL
        if not takes_fill:
            fill_value = None
        elif fill_value is not None and mode != "fill" and not self.pads and padding_index is None:
            or_padding = " and padding_index" if "padding_index" in given else ""
            raise ValueError(
                f'{op}: fill_value is used by mode="fill"{or_padding} only; '
                f"received fill_value={arguments.brief(fill_value)} with mode={mode!r}"
            )
        # A plain tuple: to make a `_Call` takes as long as a twentieth of an eager call.
        fields = (
            op,
            self.implementation,
            (*data,),
            (*indices,),
            mode,
            takes_fill,
            (*given.items(),),
            out_sharding,
        )
        is_plain = name is None and fill_value is None and not one_by_one
        if is_plain:
            taken = _for_a_call(data, indices, like, self.of_own_dtype)
            if taken is not None:
                return _run_compiled(fields, *taken, None, indices)
        on_arrays = functools.partial(
            _run_on_arrays, indices=indices, name=name, indexed=indexed, one_by_one=one_by_one
        )
        alike = {arg: x for arg, x in data.items() if arg not in self.of_own_dtype}
        with (
            naming_memory_errors(op),
            _call_sites.named(name),
            arguments.keeping_64_bits(op, alike),
        ):
            call = _Call(*fields)
            return _run(call, self, on_arrays, data, indices, fill_value, moves_elements, like)


def operation(**options: Any) -> Callable[[Callable[P, R]], Operation[P, R]]:
    """Makes a function an `Operation`, whose arguments are the `options`."""
    return lambda implementation: Operation(implementation, **options)


class _Call(NamedTuple):
    """The static part of a call of an op."""

    op: str
    implementation: Callable
    data: tuple[str, ...]  # names of arguments
    indices: tuple[str, ...]
    mode: str | None
    takes_fill: bool
    static: tuple[tuple[str, Any], ...]
    out_sharding: Any

    def __call__(self, *arrays: Any) -> Any:
        """The implementation by keyword, if XLA can count all arrays that it makes.

        `arrays` are the data, the indices, and the fill value if the op takes one.
        """
        names = (*self.data, *self.indices, "fill_value")[: len(arrays)]
        by_name = dict(zip(names, arrays, strict=True))
        return extents.call_counted(self.op, self._shared, by_name, dict(self.static))

    def _shared(self, *arrays: Any) -> Any:
        """The result, shared among devices as the caller says, or as follows from `arrays`."""

        def function(*arrays):
            return self.implementation(op=self.op, **self._options(arrays))

        return sharding.call(self.op, function, self.out_sharding, *arrays)

    def _options(self, arrays: Sequence[Any]) -> dict[str, Any]:
        """The keyword arguments of the implementation. The elements of a list are one argument."""
        options = dict(self.static)
        if self.mode is not NO_BOUNDS:
            options["mode"] = self.mode
        names = (*self.data, *self.indices, "fill_value")
        for name, array in zip(names, arrays, strict=False):
            argument, bracket, _ = name.partition("[")
            if bracket:
                options.setdefault(argument, []).append(array)
            else:
                options[argument] = array
        return options


def _run(
    call: _Call,
    operation: Operation,
    on_arrays: Callable,
    data: Mapping[str, object],
    indices: Mapping[str, object],
    fill_value: object,
    moves_elements: bool | None,
    like: str | None,
) -> Any:
    """`run` of arguments of any kind; `on_arrays(call, operands, fill_value)` takes arrays."""
    op, of_own_dtype = call.op, operation.of_own_dtype
    moves = operation.moves_elements if moves_elements is None else moves_elements
    on_positions = functools.partial(on_arrays, call)
    if moves and any(map(arguments.are_keys, data.values())):
        return keys.by_position(op, on_positions, data, fill_value, of_own_dtype)
    for arg, x in data.items():
        if arguments.is_host_string(x):
            if moves is not True or arg in of_own_dtype:
                arguments.to_operand(x, op, arg)  # refuses strings
            return strings.by_position(op, on_positions, data, fill_value, of_own_dtype)

    def on_numbers(call):
        return on_arrays(call, *_to_operands(op, operation, data, fill_value, like))

    if not _jax_internals.is_eager():
        args = [*data.values(), *indices.values(), fill_value]
        result = _shape_arithmetic(call, on_numbers, args)
        if result is not None:
            return result
    return on_numbers(call)


def _for_a_call(
    data: Mapping[str, Any], indices: Mapping[str, Any], like, of_own_dtype
) -> tuple[list, list] | None:
    """The arguments of an eager call, if they need no conversion; None if some may.

    The rest is checked while tracing. A compiled call evicts Python's code and data from the
    processor's caches, so here each step of Python takes three times as long as in a loop of its
    own.
    """
    if not _jax_internals.is_eager():
        return None
    operands, arrays = [], []
    for x in data.values():
        x = arguments.as_a_call_takes(x)
        if x is None:
            return None
        operands.append(x)
    for x in indices.values():
        x = arguments.indices_as_a_call_takes(x)
        if x is None:
            return None
        arrays.append(x)
    if like is not None:
        dtype = data[like].dtype
        for arg, x in data.items():
            if x.dtype != dtype and arg not in of_own_dtype:
                return None
    return operands, arrays


def _shape_arithmetic(call: _Call, on_numbers: Callable, args: list[object]) -> Any:
    """Inside a trace, the result of known integers, where the result too may be a shape; or None.

    So `jnp.ones(stack([3, shape(x)[0]]))` compiles: see `_run/known.py`.
    """
    arg = " and ".join([*call.data, *call.indices])
    leaves = arguments.leaves(args, call.op, arg)
    if any(isinstance(leaf, Tracer) for leaf in leaves):
        return None
    arrays = [*map(arguments.as_numpy_or_none, args[: len(call.data)])]
    if not all(
        array is not None and (array.dtype.kind in "iub" or not array.size) for array in arrays
    ):
        return None
    if sum(map(np.size, leaves)) > _MANY or not _may_be_shapes(lambda: on_numbers(call)):
        return None
    try:
        with at_once():
            result = on_numbers(call._replace(mode="error") if call.mode == "device" else call)
    except OutOfBoundsError:
        return None  # the program raises it, should it come here, and run on a CPU
    # If one argument is an array of JAX, the result stays one. Otherwise it becomes a known array
    # of the host (test_dispatch.py, test_what_is_not_known_or_no_shape_is_traced).
    if any(isinstance(leaf, jax.Array) for leaf in leaves):
        return result
    return jax.tree.map(known, result)


def _may_be_shapes(f: Callable) -> bool:
    """Whether the results are integers, and no more of them than a shape may have."""
    results = jax.tree.leaves(jax.eval_shape(f))
    are_integers = all(jnp.issubdtype(x.dtype, jnp.integer) for x in results)
    # Of empty arrays NumPy cannot hold all that JAX can (test_dispatch.py,
    # test_empty_arrays_that_numpy_cannot_hold).
    dims = [dim for x in results for dim in x.shape]
    are_short = _symbolic.are_known(dims) and max(dims, default=0) <= _MANY
    return are_integers and are_short and sum(x.size for x in results) <= _MANY


def _to_operands(
    op: str,
    operation: Operation,
    data: Mapping[str, object],
    fill_value: object,
    like: str | None,
):
    """The data as arrays, of one dtype if `like` names one of them; and the fill value."""
    operands = [arguments.to_operand(x, op, arg) for arg, x in data.items()]
    if like is not None:
        dtype = operands[list(data).index(like)].dtype
        for n, (arg, x) in enumerate(data.items()):
            if operands[n].dtype != dtype and arg not in operation.of_own_dtype:
                from_integers = arg in operation.from_integers
                operands[n] = arguments.to_dtype(x, operands[n], dtype, op, arg, from_integers)
    if fill_value is not None:
        dtype = operands[0].dtype
        fill_value = arguments.to_scalar_like(fill_value, dtype, op, "fill_value")
    return operands, fill_value


def _run_on_arrays(
    call: _Call, operands: list[jax.Array], fill_value: Any, *, indices, name, indexed, one_by_one
) -> Any:
    """`operands` are the data, converted."""
    scope = scope_name(call.op, name)
    dims = [*(dim for x in operands for dim in x.shape), *indexed]
    padding_index = dict(call.static).get("padding_index")
    arrays = [
        arguments.to_indices(x, call.op, arg, call.mode, dims, padding_index)
        for arg, x in indices.items()
    ]
    if one_by_one or _jax_internals.is_in_program():
        fill = (fill_value,) if call.takes_fill else ()
        with jax.named_scope(scope):
            return call(*operands, *arrays, *fill)
    with contextlib.nullcontext() if name is None else jax.profiler.TraceAnnotation(scope):
        # The scope is for traces; here the caller's name goes to the profiler.
        return _run_compiled(call, operands, arrays, fill_value, indices)


def _run_compiled(
    fields: tuple,
    operands: Iterable,
    arrays: Iterable,
    fill_value: Any,
    indices: Mapping[str, object],
) -> Any:
    """`fields` are those of a `_Call`; `arrays` are the `indices`, converted."""
    call, compiled = _compiled(*fields)
    fill = (fill_value,) if call.takes_fill else ()
    try:
        result, bad = compiled(*operands, *arrays, *fill)
        if bad is not None:
            # XLA's CPU client never finishes the flag of a program whose result could not get its
            # memory: a wait for the flag alone would never end (test_segments.py,
            # test_one_id_too_large_for_memory_is_named).
            largest = _largest(result)
            if type(largest) is type(bad):
                largest.block_until_ready()
            else:  # traced by `vmap`, `jvp` or `grad`, as the flag never is
                jax.block_until_ready(_jax_internals.array_in(largest))
    except jax.errors.JaxRuntimeError as error:
        if not str(error).startswith("RESOURCE_EXHAUSTED"):
            raise
        names = [*call.data, *call.indices]
        received = extents.describe(names, [*operands, *arrays], dict(call.static))
        raise MemoryError(f"{call.op}: {error}; received {received}") from error
    if bad is not None and _is_error(bad, call.mode):
        # Again, uncompiled: now the check looks at the indices itself and raises. At the indices as
        # the caller gave them, of which 64-bit ones may have been saturated to 32 bits
        # (test_arguments.py, test_indices_made_while_x64_was_on). Transfers and traces that the
        # caller forbids are not this run's (test_dispatch.py,
        # test_a_transfer_guard_takes_no_error_away).
        with jax.enable_x64(True), jax.transfer_guard("allow"), jax.no_tracing(False):
            arrays = [
                arguments.to_indices(x, call.op, arg, call.mode) for arg, x in indices.items()
            ]
            call(*operands, *arrays, *fill)
    return result


def _largest(result: Any) -> jax.Array:
    if isinstance(result, jax.Array):
        return result
    return max(jax.tree.leaves(result), key=lambda x: x.nbytes)


def _is_error(bad: jax.Array, mode: str | None) -> bool:
    # By way of NumPy, which takes a fifth of the time of `bool`.
    return raises(mode, check.platform_of(bad)) and bool(np.asarray(bad))


# One function for each set of static arguments: `jax.jit` would take half as long again to look
# them up in every call. As many as JAX keeps compiled (test_dispatch.py,
# test_a_second_eager_call_compiles_nothing).
@functools.lru_cache(maxsize=4096)
def _compiled(*fields) -> tuple[_Call, Callable]:
    """A call as one compiled function, which also returns whether some index is out of bounds."""
    call = _Call(*fields)

    def flagged(*arrays):
        # While `jax_disable_jit` is on, JAX passes ints of Python and arrays of NumPy as they are
        # (test_dispatch.py, test_numbers_of_the_host_are_as_an_array).
        arrays = jax.tree.map(jnp.asarray, arrays)
        # An eager call with nothing but arrays looks at no dtype before this trace.
        for arg, x in zip(call.data, arrays, strict=False):
            arguments.to_operand(x, call.op, arg)
        for arg, x in zip(call.indices, arrays[len(call.data) :], strict=False):
            arguments.check_integer(x.dtype, call.op, arg)
        with jax.named_scope(call.op), check.collect_flags() as flags:
            result = call(*arrays)
        return result, check.any_of(flags) if flags else None

    # JAX names both where it refuses a call, for arrays on different devices, and logs one.
    flagged.__name__ = flagged.__qualname__ = call.op
    names = [re.sub(r"\W", "_", name).rstrip("_") for name in (*call.data, *call.indices)]
    names += ["fill_value"] * call.takes_fill
    flagged.__signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
    )
    return call, jax.jit(flagged)


def given_name(name: Any, default: str) -> Any:
    """`name`, or None for the default of TensorFlow, which says nothing."""
    return None if isinstance(name, str) and name == default else name


def scope_name(op: str, name: str | None) -> str:
    if name is None:
        return op
    if not isinstance(name, str):
        raise TypeError(f"{op}: name must be a str; received {arguments.brief(name)}")
    return name
