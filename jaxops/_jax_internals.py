"""Everything that jaxops needs from JAX beyond its documented interface, in one place.

The next version of JAX may lack any of these names, so none of them is needed to import jaxops.
Each name stands as a string in a call of `_find`, `_read` or `param`, and the function that needs
the name says what happens without it: the same by a slower public way, or a refusal of the one
feature. `tests/project/test_jax_internals.py` takes the names away one by one.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import functools
import importlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import ShapedArray, Tracer

if TYPE_CHECKING:  # see `_of_extend`
    from jax.extend.core import (
        ClosedJaxpr,
        DebugInfo,
        Jaxpr,
        JaxprEqn,
        Literal,
        Primitive,
        jaxpr_as_fun,
    )


def _find(path: str) -> Any:
    """A name of one of JAX's modules, or of an object in one; None if there is no such name."""
    module, _, name = path.rpartition(".")
    try:
        holder = importlib.import_module(module)
    except ImportError:
        holder = _find(module)
    return getattr(holder, name, None)


def _read(x: Any, path: str) -> Any:
    """An attribute of an attribute of `x`, and so on; None if there is no such attribute."""
    for name in path.split("."):
        x = getattr(x, name, None)
    return x


def _of_extend(path: str) -> Any:
    """A public name of `jax.extend`, without an import of `jax.extend` where JAX is as it was.

    That imports pallas, which takes longer than to import jaxops, and which few programs need.
    """
    return _find(f"jax._src.{path}") or _find(f"jax.extend.{path}")


if not TYPE_CHECKING:
    DebugInfo = _of_extend("core.DebugInfo")
    Jaxpr = _of_extend("core.Jaxpr")
    # One class since jax 0.12.
    ClosedJaxpr = Jaxpr if hasattr(Jaxpr, "consts") else _of_extend("core.ClosedJaxpr")
    JaxprEqn = _of_extend("core.JaxprEqn")
    Literal = _of_extend("core.Literal")
    Primitive = _of_extend("core.Primitive")
    jaxpr_as_fun = _of_extend("core.jaxpr_as_fun")


# --- arrays, and whether they are traced ---

_is_class_of_arrays: dict[type, bool] = {}


def is_concrete(x: object) -> bool:
    """Whether `x` is an array of numbers on devices, and no tracer.

    Looked up by its type: `isinstance(x, jax.Array)` takes longer, is true of tracers and keys too.
    JAX's own name of the class is private.
    """
    known = _is_class_of_arrays.get(type(x))
    if known is None:
        known = isinstance(x, jax.Array) and not isinstance(x, Tracer) and hasattr(x, "devices")
        known = known and isinstance(getattr(x, "dtype", None), np.dtype)
        _is_class_of_arrays[type(x)] = known
    return known


_is_no_trace_active = _find("jax._src.core.trace_state_clean")


def is_eager() -> bool:
    """Whether operations called now run at once: no jit, grad, vmap or shard_map is active.

    False if that is not known: traced calls have the same results, and take longer.
    """
    return _is_no_trace_active is not None and _is_no_trace_active()


_core = _find("jax._src.core")
# Operations run at once under `vmap`, `jvp` and `grad`. A tracer of these has the array as one of
# the two attributes.
_AT_ONCE, _HELD = {"BatchTrace", "JVPTrace", "LinearizeTrace"}, ("primal", "val")


def is_in_program() -> bool:
    """Whether operations called now become a part of a program, or of a shard_map.

    False in eager calls, and where vmap, jvp and grad alone are active. True if that is not known:
    the results are the same, and take longer.
    """
    if is_eager():
        return False
    trace = _read(_core, "trace_ctx.trace")
    while type(trace).__name__ in _AT_ONCE:
        trace = _read(trace, "parent_trace")
    return type(trace).__name__ != "EvalTrace"


def array_in(x: Any) -> Any:
    """The array that a tracer holds where operations run at once; None if that is not known."""
    while isinstance(x, Tracer):
        held = [getattr(x, name, None) for name in _HELD]
        x = next((value for value in held if value is not None), None)
    return x


def allows_64_bits() -> bool:
    """Whether new arrays may have 64 bits while x64 is off; JAX has no public word for that."""
    mode = getattr(jax.config, "jax_explicit_x64_dtypes", None)
    return getattr(mode, "name", "") == "ALLOW"


def is_on_host() -> bool:
    """Whether calls without arrays, as of strings, run at once.

    As `is_eager`; if that is not known, also true under grad and vmap, which trace no such call.
    """
    return is_eager() if _is_no_trace_active else not isinstance(jnp.zeros(()), Tracer)


_batched_device_put = _find("jax._src.lib.xla_client.batched_device_put")
_aval = functools.lru_cache(maxsize=4096)(ShapedArray)
_sharding = functools.cache(jax.sharding.SingleDeviceSharding)


def _put(x: np.ndarray, device: Any, committed: bool) -> jax.Array:
    """The last step of `jax.device_put`; its steps before take longer than a small eager call.

    `x` has a dtype that JAX arrays may have. A dtype of 64 bits stays while 64-bit types are off.
    """
    try:
        aval = _aval(x.shape, x.dtype)
        return _batched_device_put(
            aval, _sharding(device), [x], [device], committed, enable_x64=True
        )
    except TypeError:  # the name is gone, or called in another way
        with jax.enable_x64(True), jax.default_device(device):
            return jax.device_put(x, device if committed else None)


def put_like(x: np.ndarray, like: jax.Array) -> jax.Array:
    """`x` on the one device of `like`, committed if `like` is."""
    (device,) = like.devices()
    return _put(x, device, like.committed)


def put_on_default_device(x: np.ndarray) -> jax.Array:
    """`jnp.asarray(x)`, called eagerly."""
    device = jax.config.jax_default_device  # type: ignore[attr-defined]
    if device is None:
        device = jax.local_devices()[0]
    elif isinstance(device, str):
        device = jax.local_devices(backend=device)[0]
    return _put(x, device, committed=False)


# --- types ---


def varying_axes(x: Any) -> frozenset[str]:
    """The `shard_map` axes along which an array or a type varies, as far as types tell.

    Without them gradients would be summed over the wrong shards, so that is refused.
    """
    aval = jax.typeof(x) if isinstance(x, (jax.Array, np.ndarray)) else x
    varying = _read(aval, "manual_axis_type.varying")
    if varying is not None:
        return frozenset(varying)
    if not jax.sharding.get_abstract_mesh().manual_axes:
        return frozenset()
    raise NotImplementedError(
        "jaxops: inside jax.shard_map the types of arrays must tell along which axes these vary; "
        f"the types of jax {jax.__version__} do not tell it in a way that jaxops knows"
    )


def varying_over(x: jax.Array, axes: Iterable[str]) -> jax.Array:
    """An array whose type says that it varies along these axes too, as `shard_map` wants it."""
    missing = frozenset(axes) - varying_axes(x) if axes else None
    return lax.pcast(x, tuple(missing), to="varying") if missing else x


# --- batching ---


def wrap_batching_rule(primitive, wrapper: Callable, *names: str) -> None:
    """Makes `wrapper(rule, axis_data, args, dims, **params)` the batching rule of a primitive.

    `rule` is JAX's own. Without the table of such rules, or a parameter of these names, it stays:
    then a check counts also for the calls of a batch that do not come to it.
    """
    rules = _find("jax.interpreters.batching.fancy_primitive_batchers") or {}
    rule = rules.get(primitive)
    if rule is None:
        return

    def wrapped(axis_data, args, dims, **params):
        if set(names) <= set(params):
            return wrapper(rule, axis_data, args, dims, **params)
        return rule(axis_data, args, dims, **params)

    rules[primitive] = wrapped


# --- checkify ---


def register_checkify_rule(primitive, out_of_bounds: Callable) -> None:
    """Makes `checkify.checkify` turn `primitive` into a functional error.

    `out_of_bounds(*operands, **params)` returns `(ok, format string, values)` for `checkify.check`.
    JAX has no public way to give a primitive a checkify rule. Its rules changed their leading
    arguments between jax 0.10 and 0.12. Here they are only handed on, to the rule of
    `checkify.check`'s own primitive, so any will do.

    Without the table no rule is registered. `checkify` then leaves the primitive as it is, which
    raises where it raises without `checkify`.
    """
    from jax.experimental import checkify

    rules = _find("jax._src.checkify.error_checks")
    if rules is None:
        return

    def rule(*context_and_operands, **params):
        # The errors that the caller asked for, a set, stand before the operands. The check is made
        # whichever these are: without it `lax` would clamp the index.
        split = [isinstance(c, frozenset) for c in context_and_operands].index(True) + 1
        *context, enabled = context_and_operands[:split]
        context, operands = [*context, enabled | checkify.user_checks], context_and_operands[split:]

        def check(*operands):
            ok, fmt, values = out_of_bounds(*operands, **params)
            checkify.check(ok, fmt, *values)

        closed = jax.make_jaxpr(check)(*operands)
        *before, check_eqn = closed.jaxpr.eqns
        if check_eqn.primitive not in rules:
            raise NotImplementedError(
                "jaxops: jax.experimental.checkify must have a rule for the primitive of "
                f"checkify.check, {check_eqn.primitive.name}; that of jax {jax.__version__} has "
                "none that jaxops can find. Call the function without checkify"
            )
        inputs = closed.jaxpr.invars
        constants = dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))
        operands_of_check = program_of("check", before, inputs, check_eqn.invars, constants)
        error, _ = rules[check_eqn.primitive](
            *context, *jaxpr_as_fun(operands_of_check)(*operands), **params_of(check_eqn)
        )
        return error, operands[0]

    rules[primitive] = rule


def register_jet_rule(primitive, rule: Callable) -> None:
    """Makes `jax.experimental.jet` compute the series of a primitive by `rule`.

    `rule(primals, series, **params)` returns the results and the series of each. JAX has no public
    way to give a primitive such a rule. Without the name `jet` raises a `KeyError` of its own.
    """
    rules = _find("jax.experimental.jet.jet_rules")
    if rules is not None:
        rules[primitive] = rule


# --- lowering: the context of a rule is public, but not these attributes ---


def is_for_one_device(ctx) -> bool:
    """Whether a program that is being lowered will run on one device.

    False if that is not known: code for several devices is right for one, and slower.
    """
    return num_devices(ctx) == 1


def num_devices(ctx) -> int | None:
    """The devices that a program that is being lowered will run on; None if that is not known."""
    return _read(ctx, "module_context.axis_context.num_devices")


def lowering_rule(primitive: Primitive) -> Callable | None:
    """JAX's rule that lowers a primitive on all platforms; None if it is not known.

    Without the rule a loop raises in the step that has an index out of bounds, and takes longer.
    """
    rules = _find("jax._src.interpreters.mlir._lowerings") or {}
    return getattr(rules.get(primitive), "rule", None)


def module_of(ctx) -> Any | None:
    """The module of MLIR that is being made; None if that is not known."""
    return _read(ctx, "module_context.module")


def memory_of_lowering(ctx) -> dict | None:
    """A dict that lives as long as the program is being lowered; None if it is not known.

    Without it each check has a branch of its own, and a program of many takes longer to compile.
    """
    memory = _read(ctx, "module_context.cached_primitive_lowerings")
    return memory if isinstance(memory, dict) else None


def platforms_of(ctx) -> Sequence[str]:
    """The platforms that a program is being lowered for; the default one if they are not known."""
    return _read(ctx, "module_context.platforms") or (jax.default_backend(),)


def is_for_elsewhere(ctx) -> bool:
    """Whether a program that is being lowered may run in another process or on another platform.

    If it is not known whether the program will be stored, False: JAX refuses to store what cannot
    be, in its own words.
    """
    for_export = _read(ctx, "module_context.lowering_parameters.for_export")
    return bool(for_export) or len(platforms_of(ctx)) > 1


def call_without_frames(ctx, emitted: Callable | None, callback: Callable) -> None:
    """Makes a program call `callback` itself, not the function that JAX put around it.

    `emitted` is that function, which `mlir.emit_python_callback` returned. XLA puts the frames of
    an error before its message, and so the frame of that function, the only one that there is if
    `callback` leaves none. Without the attribute it stays.
    """
    callbacks = _read(ctx, "module_context.host_callbacks")
    if isinstance(callbacks, list) and callbacks and callbacks[-1] is emitted:
        callbacks[-1] = callback


_runtime_tokens = _find("jax._src.dispatch.runtime_tokens")


class _Token:
    """A token of JAX, of which an error that is expected does not come up again."""

    def __init__(self, token: Any, is_expected: Callable[[Exception], bool]):
        self.token = token
        self.is_expected = is_expected

    def block_until_ready(self) -> None:
        try:
            self.token.block_until_ready()
        except Exception as error:
            if not self.is_expected(error):
                raise


@functools.cache
def let_tokens_fail(is_expected: Callable[[Exception], bool]) -> None:
    """Makes JAX forget, from now on, expected errors that the results of a program raised.

    JAX keeps a token of the last program with a callback on each device, and waits for it in
    `jax.effects_barrier` and when the process ends. If the program has failed, its results raise
    the error; the token would raise it again, each time, until another program takes its place.
    JAX has no public way to drop a token. Without the names it stays.
    """
    tokens = type(_runtime_tokens)
    set_token = _read(tokens, "set_output_runtime_token")
    if set_token is None:
        return

    def set_output_runtime_token(self, device, token):
        set_token(self, device, _Token(token, is_expected))

    tokens.set_output_runtime_token = set_output_runtime_token


@functools.cache
def watch_runtime_errors(note: Callable[[BaseException], None]) -> None:
    """Calls `note` from now on for each `jax.errors.JaxRuntimeError` that reaches Python.

    Nothing else tells whether the error of a program was raised in the caller's code.
    """
    init = jax.errors.JaxRuntimeError.__init__

    def __init__(self, *args):
        init(self, *args)
        note(self)

    with contextlib.suppress(TypeError):  # a class that is closed: `note` is not called
        jax.errors.JaxRuntimeError.__init__ = __init__


# The functions of which the last is told of the programs of a thread, or of a task of `asyncio`:
# tasks take turns in one thread, also within their blocks. A thread may run in a copy of the
# context of another one (`asyncio.to_thread`), and has no block then.
_notes: contextvars.ContextVar[tuple[Callable, ...]] = contextvars.ContextVar(
    "jaxops_notes", default=()
)


class _Watchers(threading.local):
    """How many functions are told of the programs of a thread, and JAX's hook before them."""

    count = 0
    hook_before: Any = None


_watchers = _Watchers()
_of_process: list[Callable[[Sequence], None]] = []
_post_hook = _find("jax._src.api._post_hook_state")
_has_hooks = all(
    hasattr(_post_hook, name)
    for name in ("get_global", "set_global", "get_local", "set_local", "swap_local")
)


def _tell(results: Sequence) -> None:
    notes = _notes.get()[-1:] if _watchers.count else ()
    for note in (*notes, *_of_process):
        note(results)


class _Hook:
    """Tells of a program that JAX called from C++, and calls the hook that was there before.

    Of a thread without one, that of the process: a script may switch `jax_debug_nans` on later.
    """

    before: Callable | None = None

    def __call__(self, fun, args, kwargs, results):
        _tell(jax.tree.leaves(results))
        before = _not_ours(self) or _not_ours(_post_hook.get_global())
        if before is not None:
            before(fun, args, kwargs, results)


def _not_ours(hook: Callable | None) -> Callable | None:
    """The hook that was there before those of jaxops."""
    while isinstance(hook, _Hook):
        hook = hook.before
    return hook


_execute = _find("jax._src.interpreters.pxla.ExecuteReplicated")


@functools.cache
def _tell_of_calls_from_python() -> None:
    """Tells from now on of a program that JAX calls from Python, as in a function's first call."""
    if _execute is None:
        return
    call = _execute.__call__

    def __call__(self, *args):
        results = call(self, *args)
        _tell(results)
        # `jnp.var` and others of JAX's functions switch `jax.debug_nans` off while JAX traces them,
        # and then no hook is left (test_dispatched.py, test_functions_that_take_the_hook_away).
        is_watched = _watchers.count or _of_process
        if is_watched and _has_hooks and _post_hook.get_local() is None:
            _post_hook.set_local(_Hook())
        return results

    _execute.__call__ = __call__


def watch_programs_of_process(note: Callable[[Sequence], None]) -> None:
    """Calls `note` for each program that is dispatched, as `watch_programs` does."""
    _of_process.append(note)
    _tell_of_calls_from_python()
    if _has_hooks:
        hook = _Hook()
        hook.before = _post_hook.get_global()
        _post_hook.set_global(hook)


def watch_programs(note: Callable[[Sequence], None]) -> None:
    """Calls `note` for each program that this thread dispatches, until `unwatch_programs`.

    `note` gets the results of the program: by the hook that `jax.debug_nans` uses if JAX calls the
    program from C++, and by a method of JAX if it calls the program from Python. JAX has no public
    way to wait for the programs that were dispatched. Of several watchers the last is called.
    Without the names `note` is not called, and an error comes up only where a result is read.
    """
    _notes.set((*_notes.get(), note))
    _watchers.count += 1
    _tell_of_calls_from_python()
    if _watchers.count == 1 and _has_hooks:
        hook = _Hook()
        _watchers.hook_before = before = _post_hook.swap_local(hook)
        if callable(before):  # JAX's mark of "none for this thread" is no function
            hook.before = before


def unwatch_programs(note: Callable[[Sequence], None]) -> None:
    """Ends what `watch_programs` began."""
    _notes.set(tuple(other for other in _notes.get() if other != note))
    _watchers.count -= 1
    if not _watchers.count and _has_hooks:
        _post_hook.swap_local(_watchers.hook_before)


# --- programs and their equations ---


def program_of(
    name: str,
    eqns: Sequence[JaxprEqn],
    inputs: Sequence,
    results: Sequence,
    constants: Mapping | None = None,
) -> ClosedJaxpr:
    """A program of these equations; `constants` has the values of variables that are no inputs.

    By the public class, in place of the methods that replace a part of a program.
    """
    constants = constants or {}
    effects = frozenset().union(*(eqn.effects for eqn in eqns))
    debug_info = DebugInfo("jaxops", name, None, None)
    jaxpr = Jaxpr([*constants], [*inputs], [*results], [*eqns], effects, debug_info)
    return ClosedJaxpr(jaxpr, [*constants.values()])


_dce_jaxpr = _find("jax.interpreters.partial_eval.dce_jaxpr")


def drop_unused(program: ClosedJaxpr) -> ClosedJaxpr:
    """`program` without the equations that its results do not depend on; all inputs stay.

    Without JAX's function the equations stay too: unused rows of a table then have a gradient, 0.
    """
    keep = [True] * len(program.jaxpr.outvars)
    try:
        jaxpr, _ = _dce_jaxpr(program.jaxpr, keep, instantiate=True)
    except (TypeError, ValueError):  # the name is gone, or called in another way
        return program
    return ClosedJaxpr(jaxpr, program.consts)


def params_of(eqn: JaxprEqn) -> dict[str, Any]:
    """The parameters of a primitive, whose names are JAX's own affair."""
    return eqn.params


class UnknownParameter(NotImplementedError):
    """A primitive lacks a parameter that jaxops knows it to have."""


def _unknown(eqn: JaxprEqn, names: Sequence[str]) -> NotImplementedError:
    return UnknownParameter(
        f"jaxops: {eqn.primitive.name} must have a parameter {' or '.join(map(repr, names))}; that "
        f"of jax {jax.__version__} has {', '.join(map(repr, sorted(params_of(eqn)))) or 'none'}. "
        "Use a version of jax that this version of jaxops knows: sparse_value_and_grad, lazy and "
        "checks in branches of which jax.vmap batches the predicate need the parameter"
    )


def param(eqn: JaxprEqn, *names: str) -> Any:
    """A parameter of a primitive, by the first of `names` that it has; refused without any."""
    params = params_of(eqn)
    for name in names:
        if name in params:
            return params[name]
    raise _unknown(eqn, names)


def name_of(eqn: JaxprEqn) -> str:
    """The primitive, or the function that a `jit` calls, for the words of errors."""
    return str(params_of(eqn).get("name", eqn.primitive.name))


def bind_as_is(eqn: JaxprEqn, operands: Sequence) -> list:
    """The results of the primitive of `eqn`, which calls no program, for other operands."""
    results = eqn.primitive.bind(*operands, **params_of(eqn))
    return results if eqn.primitive.multiple_results else [results]


def bind_again(eqn: JaxprEqn, operands: Sequence, **changed) -> list:
    """The results of the primitive of `eqn` for other operands, and with some other parameters."""
    # How devices share the results does not say how they share parts of them.
    params = {
        name: None if isinstance(value, jax.sharding.Sharding) else value
        for name, value in params_of(eqn).items()
    }
    results = eqn.primitive.bind(*operands, **{**params, **changed})
    return results if eqn.primitive.multiple_results else [results]


def body(eqn: JaxprEqn) -> ClosedJaxpr:
    """The program inside a `jit`, `checkpoint`, `scan` or the like."""
    return _closed(param(eqn, "call_jaxpr", "jaxpr", "call"), [])


def says_how_to_share(eqn: JaxprEqn) -> bool:
    """Whether a `jit` was given shardings, which hold for the inputs and results that it has."""
    shardings = [*params_of(eqn).get("in_shardings", ()), *params_of(eqn).get("out_shardings", ())]
    return any(type(x).__name__ != "UnspecifiedValue" for x in shardings)


def shared_as_said(eqn: JaxprEqn, side: str, arrays: Sequence) -> list:
    """The inputs (`side` "in") or results ("out") of a `jit`, shared as it says."""
    said = params_of(eqn).get(f"{side}_shardings") or [None] * len(arrays)
    return [
        lax.with_sharding_constraint(x, sharding)
        if isinstance(sharding, jax.sharding.Sharding)
        else x
        for x, sharding in zip(arrays, said, strict=True)
    ]


def open_program(program: ClosedJaxpr) -> tuple[Jaxpr, list]:
    """A program whose constants are its first inputs, and these constants."""
    jaxpr = program.jaxpr
    opened = program_of("open", jaxpr.eqns, [*jaxpr.constvars, *jaxpr.invars], jaxpr.outvars)
    return opened.jaxpr, list(program.consts)


def prevents_cse(eqn: JaxprEqn) -> bool:
    """Whether a `checkpoint` keeps XLA from sharing what it computes again from any operand."""
    return bool(np.any(param(eqn, "prevent_cse")))  # a bool, or one for each operand


def branches(eqn: JaxprEqn) -> Sequence[ClosedJaxpr]:
    """The programs of which a `cond` runs one."""
    return param(eqn, "branches")


def platforms_of_branches(eqn: JaxprEqn) -> Sequence[Sequence[str] | None] | None:
    """The platforms of each branch of a `lax.platform_dependent`; None for any other `cond`.

    The two are one primitive, and only the first has the parameter. A `cond` with a parameter that
    is not known may be either, and is refused.
    """
    params = params_of(eqn)
    if not params.keys() <= {"branches", "branches_platforms"}:
        raise _unknown(eqn, ["branches_platforms"])
    return params.get("branches_platforms")


def cond_on_platform(eqn: JaxprEqn, platform: str) -> JaxprEqn:
    """A `lax.platform_dependent` as a `cond` with one branch, that of a platform."""
    platforms = platforms_of_branches(eqn) or ()
    chosen = next(n for n, names in enumerate(platforms) if names is None or platform in names)
    params = {"branches": (branches(eqn)[chosen],), "branches_platforms": None}
    return eqn.replace(params={**params_of(eqn), **params})


def scan_counts(eqn: JaxprEqn) -> tuple[int, int]:
    """The numbers of inputs of a `scan` that are constants, and that are carried."""
    if "ft_in" not in params_of(eqn):  # before jax 0.12
        return param(eqn, "num_consts"), param(eqn, "num_carry")
    unpack = _read(param(eqn, "ft_in"), "unpack")
    if unpack is None:
        raise _unknown(eqn, ["num_consts"])
    consts, carry, _ = unpack()
    return len(consts), len(carry)


def custom_jvp_parts(eqn: JaxprEqn) -> tuple[ClosedJaxpr, Callable]:
    """The program of a `custom_jvp`, and its rule.

    `rule(is_zero)` is told for each input that is no constant whether its tangent is zero. It
    returns a program of these inputs and of the tangents that are not zero, and for each result
    whether its tangent is zero. The program returns the results, and the tangents that are not.
    """
    trace_rule = _read(param(eqn, "jvp_jaxpr_fun"), "call_wrapped")
    if trace_rule is None:
        raise _unknown(eqn, ["jvp_jaxpr_fun"])

    def rule(is_zero: Sequence[bool]) -> tuple[ClosedJaxpr, Sequence[bool]]:
        jaxpr, consts, results_are_zero = trace_rule(*is_zero)
        return _closed(jaxpr, consts), results_are_zero

    return body(eqn), rule


def custom_vjp_parts(eqn: JaxprEqn) -> tuple[ClosedJaxpr, Callable, Callable, Callable]:
    """The program of a `custom_vjp`, and its rules in three functions.

    `forward(is_perturbed)` returns a program of the inputs that are no constants.
    `split(inputs, outputs)` makes of its outputs the results and the residuals.
    `backward(residuals, cotangents)` returns a cotangent for each input, or None.
    """
    num_consts = param(eqn, "num_consts")
    trace_forward = _read(param(eqn, "fwd_jaxpr_thunk"), "call_wrapped")
    run_backward = _read(param(eqn, "bwd"), "call_wrapped")
    trees = param(eqn, "out_trees")
    if trace_forward is None or run_backward is None:
        raise _unknown(eqn, ["fwd_jaxpr_thunk"])

    def forward(is_perturbed: Sequence[bool]) -> ClosedJaxpr:
        return _closed(*trace_forward(*is_perturbed))

    def split(inputs: Sequence, outputs: Sequence) -> tuple[Sequence, list]:
        _, residuals, forwarded = trees()
        count = residuals.num_leaves - sum(n is not None for n in forwarded)
        computed = iter(outputs[:count])
        return outputs[count:], [next(computed) if n is None else inputs[n] for n in forwarded]

    def backward(residuals: Sequence, cotangents: Sequence) -> list:
        bars = run_backward(*residuals, *cotangents)
        if len(bars) == 2 and isinstance(bars[0], list):  # since jax 0.12, with logs
            bars, _ = bars
        bars = [bar if isinstance(bar, jax.Array) else None for bar in bars]
        return [None] * num_consts + bars

    return body(eqn), forward, split, backward


def _closed(jaxpr: Jaxpr, consts: Sequence) -> ClosedJaxpr:
    return jaxpr if isinstance(jaxpr, ClosedJaxpr) and not consts else ClosedJaxpr(jaxpr, consts)


def programs_in(eqn: JaxprEqn) -> Iterator[Jaxpr]:
    """The programs that an equation calls, whatever the names of its parameters."""
    for inner in jax.tree.leaves([*params_of(eqn).values()], is_leaf=_is_program):
        if _is_program(inner):
            yield inner.jaxpr if isinstance(inner, ClosedJaxpr) else inner


def axes_of_collective(eqn: JaxprEqn) -> list[str]:
    """The axes of `shard_map` along which shards meet in an equation, apart from its programs."""
    if eqn.primitive is lax.axis_index_p or any(programs_in(eqn)):
        return []
    effects = (e for e in eqn.effects if type(e).__name__ == "NamedAxisEffect")
    axes = (getattr(effect, "name", None) for effect in effects)
    return [axis for axis in axes if axis is not None]


def equations_in(program: Any) -> Iterator[JaxprEqn]:
    """The equations of a program, closed or not, and of those that it calls."""
    for eqn in program.eqns:
        yield eqn
        yield from equations_called_by(eqn)


def equations_called_by(eqn: JaxprEqn) -> Iterator[JaxprEqn]:
    """The equations of the programs that an equation calls."""
    for program in programs_in(eqn):
        yield from equations_in(program)


def is_of_source(program: Any, *paths: str) -> bool:
    """Whether a file with one of these parts in its path defines the function of a closed program.

    False if that is not known.
    """
    source = _read(program, "jaxpr.debug_info.func_src_info")
    return isinstance(source, str) and any(path in source for path in paths)


def _is_program(x: Any) -> bool:
    return isinstance(x, (ClosedJaxpr, Jaxpr))


def with_programs(param: Any, change: Callable[[Any], Any]) -> Any:
    """A parameter of a primitive, with `change(program)` for each program in it."""
    if not any(map(_is_program, jax.tree.leaves(param))):
        return param
    return jax.tree.map(lambda x: change(x) if _is_program(x) else x, param)


def map_equations(program: Any, change: Callable[[JaxprEqn], JaxprEqn | None]) -> Any:
    """A program, closed or not, with each equation changed, also in the programs that it calls.

    An equation that `change` makes None is dropped: its result is its first operand.
    """
    within = functools.partial(map_equations, change=change)
    if not isinstance(program, Jaxpr):
        return program.replace(jaxpr=within(program.jaxpr))
    eqns, dropped = [], {}

    def operands(atoms):
        return [x if isinstance(x, Literal) else dropped.get(x, x) for x in atoms]

    for eqn in program.eqns:
        params = {name: with_programs(x, within) for name, x in params_of(eqn).items()}
        changed = change(eqn.replace(params=params, invars=operands(eqn.invars)))
        if changed is None:
            dropped[eqn.outvars[0]] = operands(eqn.invars)[0]
        else:
            eqns.append(changed)
    return program.replace(eqns=eqns, outvars=operands(program.outvars))


# --- the primitives that are bound, and the frames of JAX that bind them: see `_checked` ---

# They call programs that JAX keeps: of functions that JAX jits, or that it traces for a branch, a
# loop or `jax.checkpoint`, once for all calls. One that is gone is None.
CALLING = [
    _find("jax._src.pjit.jit_p"),
    _find("jax._src.ad_checkpoint.remat_p"),
    *(lax.cond_p, lax.scan_p, lax.while_p),
]
# They read an array reference (`jax.new_ref`), replace its elements or add to them. JAX makes a
# gather or scatter of each only where it lowers the program.
OF_REFERENCES = [
    _find("jax._src.state.primitives.get_p"),
    _find("jax._src.state.primitives.swap_p"),
    _find("jax._src.state.primitives.addupdate_p"),
]
_CUSTOM_DERIVATIVES = [
    _find("jax.custom_derivatives.custom_jvp_call_p"),
    _find("jax.custom_derivatives.custom_vjp_call_p"),
]
_transformation = _find("jax._src.linear_util.transformation2")


def wrap_bind(primitive: Primitive, wrapper: Callable) -> None:
    """Makes JAX call `wrapper(bind, *operands, **params)` where it binds a primitive, from now on.

    Nothing is called for a primitive that is gone: `checked` looks whether its own are there.
    """
    if primitive is not None:
        primitive.bind = functools.partial(wrapper, primitive.bind)


def is_ds(index: Any) -> bool:
    """Whether an index is a slice of the class of `jax.ds`: with `start`, `size` and `stride`.

    JAX has no public name of the class.
    """
    return hasattr(index, "stride")


def map_indices_of_reference(tree: Any, leaves: Sequence, change: Callable) -> list:
    """The indices by which a primitive of `OF_REFERENCES` is bound, changed.

    `change(shape, indices)` returns one for each of `indices`, by which the program takes a part of
    the reference, or of a part, that has this shape. An index is a number, an array or a slice.
    """
    parts = [
        dataclasses.replace(part, indices=change(part.shape, part.indices))
        if hasattr(part, "indices")
        else part  # the same in another shape or dtype
        for part in jax.tree.unflatten(tree, leaves)
    ]
    return jax.tree.leaves(parts)


_call_eagerly = _find("jax._src.pjit._pjit_call_impl_python")


def wrap_eager_calls(in_place_of: Callable[[Any], tuple | None]) -> None:
    """Makes JAX ask `in_place_of(program)` where a program is called eagerly, from now on.

    The answer is a program for this call alone and a context, in which the program is called and
    has ended; or None. JAX calls a program from C++ if it was called before and `in_place_of` gave
    None. Without the name nothing is asked.
    """
    if _call_eagerly is None:
        return

    def call(*args, jaxpr, **params):
        found = in_place_of(jaxpr)
        if found is None:
            return _call_eagerly(*args, jaxpr=jaxpr, **params)
        program, context = found
        with context:
            results = jax.block_until_ready(CALLING[0].impl(*args, jaxpr=program, **params))
        return results, None, None, []  # without what JAX needs to call it from C++ the next time

    setattr(importlib.import_module(_call_eagerly.__module__), _call_eagerly.__name__, call)


def wrap_rules(context: Any) -> None:
    """Makes the rules of custom derivatives run in the context of their call, from now on.

    `context` is one of `jax.make_user_context`; the rules, which may run much later, run with the
    value that the context has when the function is called.
    """

    def run_within(rule, value, *args):
        # A context for each run: one that is entered twice at a time, by a rule that leads to
        # itself or by two threads, is left with the wrong value (test_checked.py,
        # test_a_rule_that_runs_within_itself).
        with context(value):
            return rule(*args)

    def bind_call(bind, *operands, **params):
        fun, *rules = params["subfuns"]
        rules = [_transformation(run_within)(rule, context.value) for rule in rules]
        return bind(*operands, **{**params, "subfuns": (fun, *rules)})

    for primitive in _CUSTOM_DERIVATIVES:
        wrap_bind(primitive, bind_call)


JAX = os.path.join(os.path.dirname(jax.__file__), "")
# Folders and modules whose functions compute something for a caller, by way of primitives.
_COMPUTING = tuple(
    os.path.join(JAX, *path.split("/"))
    for path in (
        *("_src/numpy", "_src/ops", "_src/nn", "_src/scipy", "_src/image", "_src/lax"),
        *("_src/third_party", "_src/random", "_src/prng.py", "experimental"),
        *("_src/state/primitives.py", "_src/state/types.py"),
    )
)
# Those among them that call the caller's functions, or stand before every method of a tracer.
_CALLING = ("control_flow", "vectorize.py")
_CALLING_FUNCTIONS = {"op", "meth", "fromfunction", "piecewise"}
_CALLING_FUNCTIONS |= {"apply_along_axis", "apply_over_axes"}
# They trace a function to a program that JAX keeps for later calls; but not where they trace the
# function of a `shard_map` for the call that is being made.
_TRACING, _TRACING_CALL = "trace_to_jaxpr", "_shard_map_staging"
# They evaluate a program that was traced before; the module does where it has array references.
_EVALUATING = ("eval_jaxpr", "lower_jaxpr_to_fun", "jaxpr_subcomp", "backward_pass")
_EVALUATING_MODULE = os.path.join(JAX, "_src", "state", "discharge.py")


@functools.lru_cache(maxsize=4096)
def kind_of_frame(file: str, function: str) -> str | None:
    """The kind of a function of JAX, by its frame: "compute", "evaluate", "trace", or None."""
    if not file.startswith(JAX):
        return None
    if function.startswith(_EVALUATING) or file == _EVALUATING_MODULE:
        return "evaluate"
    if function.startswith(_TRACING):
        return "trace"
    computes = file.startswith(_COMPUTING) and not any(part in file for part in _CALLING)
    return "compute" if computes and function not in _CALLING_FUNCTIONS else None


def is_traced_for_later(frame: FrameType) -> bool:
    """Whether a frame of kind "trace" makes a program that JAX keeps for later calls."""
    return frame.f_back is not None and frame.f_back.f_code.co_name != _TRACING_CALL


_PALLAS = os.path.join(JAX, "_src", "pallas", "")


def is_traced_for_kernel(frame: FrameType | None) -> bool:
    """Whether a call around a frame traces a kernel, or what belongs to it, for Pallas to compile.

    Such code cannot call Python; Pallas can interpret a kernel as well, by a local variable of its
    functions. Without the variable no kernel is seen.
    """
    while frame is not None:
        if frame.f_code.co_filename.startswith(_PALLAS) and "interpret" in frame.f_locals:
            return not frame.f_locals["interpret"]
        frame = frame.f_back
    return False


# --- words of errors ---


_HERE = os.path.join(os.path.dirname(__file__), "")
# JAX attributes an equation, and the code that XLA makes of it, to the line of the caller's code.
_of_extend("source_info_util.register_exclusion")(_HERE)

_hide_frames = _find("jax._src.traceback_util.register_exclusion")
if _hide_frames is not None:
    # Where JAX hides its frames it hides those of our rules too, which it calls while it transforms
    # or lowers a program. Without the name they show.
    _hide_frames(_HERE)

_user_context = _of_extend("source_info_util.user_context")
_name_stack = _of_extend("source_info_util.current_name_stack")


def at_place_of(eqn: JaxprEqn) -> contextlib.AbstractContextManager:
    """A context in which new equations are attributed to the caller's code that made `eqn`."""
    names = _name_stack() + eqn.source_info.name_stack
    return _user_context(eqn.source_info.traceback, name_stack=names)


_user_frames = _find("jax._src.source_info_util.user_frames")


def frames_of(eqn: JaxprEqn) -> list[tuple[str, int, str]]:
    """File, line and function of the calls that made `eqn`, the innermost first.

    Without frames of JAX and of this package; none if they are not known.
    """
    try:
        frames = _user_frames(eqn.source_info.traceback)
        return [(frame.file_name, frame.start_line, frame.function_name) for frame in frames]
    except (AttributeError, TypeError):  # only a part of an error's words, which come without it
        return []


def placed(eqn: JaxprEqn, outer: JaxprEqn) -> JaxprEqn:
    """`eqn`, attributed to the code that made `outer` if its own code is JAX's."""
    return eqn if frames_of(eqn) else eqn.replace(source_info=outer.source_info)


def word_refusals_of_keys(is_ours: Callable[[Any], bool], words: str) -> None:
    """Makes methods that random keys lack raise a TypeError with `words`, for keys that `is_ours`.

    Outside of `jit`, `x.sum()`, `x.real` and their like raise JAX's NotImplementedError for all
    keys, without the name of the dtype, and `optax.global_norm` begins with `x.real`. A class of
    jaxops could not be a leaf, as JAX accepts only its own classes. So the methods of JAX's class
    are wrapped; other keys behave as before. Where the class is not as it is known, JAX's own
    words stay.
    """
    for keys in jax.Array.__subclasses__():
        if keys.__name__ != "PRNGKeyArray":  # no class of this name: JAX's own words stay
            continue
        missing = [
            name
            for name in dir(keys)
            if not name.startswith("_")
            and getattr(getattr(keys, name), "__isabstractmethod__", False)
        ]
        for name in [*missing, "__array__"]:
            with contextlib.suppress(AttributeError, TypeError):  # no such method; a closed class
                setattr(keys, name, _worded(getattr(keys, name), name, is_ours, words))


def _worded(inherited: Any, name: str, is_ours: Callable[[Any], bool], words: str) -> Any:
    is_property = isinstance(inherited, property)

    def method(self, *args, **kwargs):
        if is_ours(self):
            raise TypeError(f"there is no {name} of {words}")
        return (inherited.fget if is_property else inherited)(self, *args, **kwargs)

    return property(method) if is_property else method
