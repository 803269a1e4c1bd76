"""How a public op runs: one compiled call when eager, inline in a trace, positions for strings."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxops import _jax_internals
from jaxops._errors import OutOfBoundsError
from jaxops._indexing import check, policy
from jaxops._run import arguments, extents

NO_BOUNDS: Any = object()  # not None, which a caller may pass as mode and is told off for
_MANY = 256  # elements: more than any shape has


def run(
    op: str,
    impl: Callable,
    data: Mapping[str, object],
    indices: Mapping[str, object] | None = None,
    *,
    name: str | None,
    mode: str | None = NO_BOUNDS,
    fill_value: object = None,
    moves_elements: bool = False,
    pads: bool = False,
    like: str | None = None,
    one_by_one: bool = False,
    **static,
) -> Any:
    """Runs `impl(*data, *indices, fill_value, op=op, mode=mode, **static)`.

    Without a mode, for an op that has no bounds, `impl(*data, *indices, op=op, **static)`; `pads`
    brings `fill_value` back.

    Args:
        op: name of the public function, for messages and for the named scope.
        impl: pure function of arrays; its result is an array or a list or tuple of arrays. It
            validates shapes and static arguments, so that an eager call like one before validates
            nothing.
        data: arrays of values by argument name, as the caller passed them.
        indices: arrays of integers by argument name, likewise.
        name: the caller's name for the scope; None for the op's.
        mode: see `_indexing/policy.py`.
        fill_value: scalar of the data's dtype, or None.
        moves_elements: whether every element of the result is an element of `data` or the fill
            value; only such an op takes host strings.
        pads: whether the op fills places that no index fills, so that `fill_value` counts under
            every `mode`, and without one.
        like: the data argument whose dtype all data must have.
        one_by_one: whether an eager call runs the primitives of `impl` one by one, as a program of
            all its arrays takes too long to compile.
        **static: hashable arguments of `impl`.
    """
    indices = indices or {}
    if mode is not NO_BOUNDS:
        policy.check_mode(op, mode)
        static["mode"] = mode
    if fill_value is not None and mode != "fill" and not pads:
        raise ValueError(
            f'{op}: fill_value is used by mode="fill" only; '
            f"received fill_value={arguments.brief(fill_value)} with mode={mode!r}"
        )
    takes_fill = mode is not NO_BOUNDS or pads
    is_plain = name is None and fill_value is None and not one_by_one
    if is_plain and _are_eager_arrays(data, indices, like):
        fill = (None,) if takes_fill else ()
        return _run_compiled(
            op, impl, data, [*data.values()], indices, [*indices.values()], fill, static
        )
    call = functools.partial(
        _run_on_arrays,
        op,
        impl,
        data=data,
        indices=indices,
        name=name,
        takes_fill=takes_fill,
        one_by_one=one_by_one,
        static=static,
    )
    if any([arguments.is_host_string(x) for x in data.values()]):
        if not moves_elements:
            arg = next(arg for arg, x in data.items() if arguments.is_host_string(x))
            raise TypeError(f"{op}: {arg} must be an array of numbers or bools; received strings")
        return _run_on_strings(op, call, data, fill_value)

    def run_on_numbers(call):
        return _run_on_numbers(op, call, data, fill_value, like)

    if (
        moves_elements
        and not _jax_internals.is_eager()
        and _holds_shapes(op, data, indices, fill_value)
    ):
        # What is known at trace time and may be a shape stays known, so that
        # `reshape(x, concat([shape(x)[:1], [-1]], 0))` compiles.
        known = {**static, "mode": "error"} if static.get("mode") == "device" else static
        try:
            with jax.ensure_compile_time_eval():
                return run_on_numbers(functools.partial(call, static=known))
        except OutOfBoundsError:
            pass  # the program raises it, should it come here, and run on a CPU
    return run_on_numbers(call)


def _are_eager_arrays(data: Mapping[str, object], indices: Mapping[str, object], like) -> bool:
    """Whether there is nothing to convert, and what else is checked can be while tracing.

    After a compiled call Python's code and data are out of the caches, and each step that is left
    out counts three times.
    """
    for x in data.values():
        if not _jax_internals.is_concrete(x):
            return False
    for x in indices.values():
        if not _jax_internals.is_concrete(x) or arguments.is_wider_than_jax(x):
            return False
    if not _jax_internals.is_eager():
        return False
    return like is None or len({x.dtype for x in data.values()}) == 1  # type: ignore[attr-defined]


def _holds_shapes(
    op: str, data: Mapping[str, object], indices: Mapping[str, object], fill_value
) -> bool:
    """Whether all is known, and integers, and no more of them than a shape may have."""
    arg = " and ".join([*data, *indices])
    leaves = arguments.leaves([*data.values(), *indices.values(), fill_value], op, arg)
    if any(isinstance(leaf, Tracer) for leaf in leaves):
        return False
    if sum(np.size(leaf) for leaf in leaves) > _MANY:
        return False
    arrays = map(arguments.as_numpy_or_none, data.values())
    return all(array is not None and array.dtype.kind in "iu" for array in arrays)


def _run_on_numbers(op, call, data, fill_value, like) -> Any:
    operands = [arguments.to_operand(x, op, arg) for arg, x in data.items()]
    if like is not None:
        dtype = operands[list(data).index(like)].dtype
        for n, (arg, x) in enumerate(data.items()):
            if operands[n].dtype != dtype:
                operands[n] = arguments.to_dtype(x, operands[n], dtype, op, arg)
    if fill_value is not None:
        dtype = operands[0].dtype
        fill_value = arguments.to_scalar_like(fill_value, dtype, op, "fill_value")
    return call(operands, fill_value)


def _run_on_arrays(
    op, impl, operands, fill_value, *, data, indices, name, takes_fill, one_by_one, static
) -> Any:
    scope = scope_name(op, name)
    mode = static.get("mode")
    dims = [dim for x in operands for dim in x.shape] + [*static.get("shape", ())]
    arrays = [arguments.to_indices(x, op, arg, mode, dims) for arg, x in indices.items()]
    fill = (fill_value,) if takes_fill else ()
    if one_by_one or not _jax_internals.is_eager():
        with jax.named_scope(scope):
            return _call(impl, op, (*data, *indices), (*operands, *arrays, *fill), static)
    with contextlib.nullcontext() if name is None else jax.profiler.TraceAnnotation(scope):
        # The scope is for traces; here the caller's name goes to the profiler.
        return _run_compiled(op, impl, data, operands, indices, arrays, fill, static)


def _run_compiled(op, impl, data, operands, indices, arrays, fill, static) -> Any:
    """`operands` are the `data`, and `arrays` the `indices`, converted."""
    compiled = _compiled(impl, op, tuple(data), tuple(indices), tuple(static.items()))
    try:
        result, bad = compiled(*operands, *arrays, *fill)
    except jax.errors.JaxRuntimeError as error:
        if not str(error).startswith("RESOURCE_EXHAUSTED"):
            raise
        received = extents.describe([*data, *indices], [*operands, *arrays], static)
        raise MemoryError(f"{op}: {error}; received {received}") from error
    mode = static.get("mode")
    if bad is not None and _is_error(bad, mode):
        # Again, uncompiled: now the check looks at the indices itself and raises. At the indices
        # as the caller gave them, of which 64-bit ones may have been saturated to 32 bits.
        with jax.enable_x64(True):
            arrays = [arguments.to_indices(x, op, arg, mode) for arg, x in indices.items()]
            impl(*operands, *arrays, *fill, op=op, **static)
    return result


def _is_error(bad: jax.Array, mode: str | None) -> bool:
    # By way of NumPy, which takes a fifth of the time of `bool`.
    return check.raises(mode, check.platform_of(bad)) and bool(np.asarray(bad))


# One function for each set of static arguments: `jax.jit` would take half as long again to look
# them up in every call. As many as JAX keeps compiled.
@functools.lru_cache(maxsize=4096)
def _compiled(
    impl: Callable,
    op: str,
    data: tuple[str, ...],
    indices: tuple[str, ...],
    static: tuple[tuple[str, Any], ...],
) -> Callable:
    """`impl` as one compiled function, which also returns whether some index is out of bounds."""

    def flagged(*arrays):
        for arg, x in zip(data, arrays, strict=False):
            arguments.to_operand(x, op, arg)
        for arg, x in zip(indices, arrays[len(data) :], strict=False):
            arguments.check_integer(x.dtype, op, arg)
        with jax.named_scope(op), check.collect_flags() as flags:
            result = _call(impl, op, (*data, *indices), arrays, dict(static))
        return result, functools.reduce(jnp.logical_or, flags) if flags else None

    return jax.jit(flagged)


def _call(impl, op: str, args: tuple[str, ...], arrays, static: Mapping[str, Any]) -> Any:
    """`impl`, if XLA can count what it makes; `arrays` are those of `args` and the fill value."""
    names = (*args, "fill_value")[: len(arrays)]
    call = functools.partial(impl, op=op, **static)
    return call(*extents.check_sizes(op, call, dict(zip(names, arrays, strict=True)), static))


def scope_name(op: str, name: str | None) -> str:
    if name is None:
        return op
    if not isinstance(name, str):
        raise TypeError(f"{op}: name must be a str; received {arguments.brief(name)}")
    return name


def _run_on_strings(op: str, call: Callable, data: Mapping[str, object], fill_value: object):
    """Moves the positions of the strings instead of the strings, then picks by position."""
    if not _jax_internals.is_on_host():
        raise TypeError(
            f"{op}: {' and '.join(data)} hold strings, which exist on the host only; "
            "call it outside jit, vmap and grad"
        )
    arrays = [arguments.to_host_strings(x, op, arg) for arg, x in data.items()]
    pool = np.concatenate([array.reshape(-1) for array in arrays])
    starts = np.cumsum([0, *(array.size for array in arrays)])
    positions = [
        jnp.arange(start, start + array.size, dtype=jnp.int32).reshape(array.shape)
        for start, array in zip(starts[:-1], arrays, strict=True)
    ]
    picked = call(positions, jnp.int32(-1))
    if fill_value is None:
        fill_value = arguments.empty_string_like(pool)
    elif not arguments.is_host_string(fill_value):
        raise TypeError(
            f"{op}: fill_value must be a string; received {arguments.brief(fill_value)}"
        )
    pool = np.append(pool, np.asarray(fill_value, arguments.fill_dtype(pool)))
    # Position -1, the fill value, is the last one.
    return jax.tree.map(lambda positions: pool[np.asarray(positions)], picked)
