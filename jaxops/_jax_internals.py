"""Everything that jaxops needs from JAX beyond its documented interface, in one place."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
from jax._src import checkify as _checkify
from jax._src import source_info_util as _source_info_util
from jax._src.array import ArrayImpl as _ArrayImpl
from jax._src.lib import xla_client as _xla_client  # type: ignore[attr-defined]
from jax.core import ShapedArray
from jax.experimental import checkify
from jax.extend import core as jex_core
from jax.interpreters import partial_eval

# The trace state of plain eager execution. `ensure_compile_time_eval` makes it right even when
# this module is first imported inside a function that is being traced.
with jax.ensure_compile_time_eval():
    _EAGER_STATE = jex_core.get_opaque_trace_state()


def is_concrete(x: object) -> bool:
    """Whether `x` is an array on devices, and no tracer.

    By its type, as `isinstance(x, jax.Array)` takes longer and is true of tracers too.
    """
    return type(x) is _ArrayImpl


def is_eager() -> bool:
    """Whether operations called now run at once: no jit, grad, vmap or shard_map is active."""
    return jex_core.get_opaque_trace_state() == _EAGER_STATE


_aval = functools.lru_cache(maxsize=4096)(ShapedArray)
_sharding = functools.cache(jax.sharding.SingleDeviceSharding)


def _put(x: np.ndarray, sharding: Any, device: Any, committed: bool) -> jax.Array:
    """The last step of `jax.device_put`; its steps before take longer than a small eager call.

    `x` has a dtype that JAX arrays may have. A dtype of 64 bits stays while 64-bit types are off.
    """
    aval = _aval(x.shape, x.dtype)
    return _xla_client.batched_device_put(aval, sharding, [x], [device], committed, enable_x64=True)


def put_like(x: np.ndarray, like: jax.Array) -> jax.Array:
    """`x` on the one device of `like`, committed if `like` is."""
    (device,) = like.devices()
    return _put(x, _sharding(device), device, like.committed)


def put_on_default_device(x: np.ndarray) -> jax.Array:
    """`jnp.asarray(x)`, called eagerly."""
    device: Any = jax.config.jax_default_device  # type: ignore[attr-defined]
    if device is None:
        device = jax.local_devices()[0]
    elif isinstance(device, str):
        device = jax.local_devices(backend=device)[0]
    return _put(x, _sharding(device), device, committed=False)


def register_checkify_rule(primitive, out_of_bounds: Callable) -> None:
    """Makes `checkify.checkify` turn `primitive` into a functional error.

    `out_of_bounds(*operands, **params)` returns `(ok, format string, values)` for `checkify.check`.
    JAX has no public way to give a primitive a checkify rule, hence `jax._src.checkify`. Its rules
    changed their leading arguments between jax 0.10 and 0.12. Here they are only handed on, to the
    rule of `checkify.check`'s own primitive, so any will do.
    """

    def rule(*context_and_operands, **params):
        operand = context_and_operands[-1]
        # The check is made whichever errors the caller asked for: without it `lax` would clamp the
        # index.
        context = [
            c | checkify.user_checks if isinstance(c, frozenset) else c
            for c in context_and_operands[:-1]
        ]

        def check(operand):
            ok, fmt, values = out_of_bounds(operand, **params)
            checkify.check(ok, fmt, *values)

        closed = jax.make_jaxpr(check)(operand)
        (check_eqn,) = (e for e in closed.jaxpr.eqns if e.primitive is _checkify.check_p)
        inputs_of_check = closed.jaxpr.replace(
            eqns=[e for e in closed.jaxpr.eqns if e is not check_eqn],
            outvars=list(check_eqn.invars),
            effects=frozenset(),
            debug_info=closed.jaxpr.debug_info._replace(result_paths=None),
        )
        evaluate = jex_core.jaxpr_as_fun(jex_core.ClosedJaxpr(inputs_of_check, closed.consts))
        error, _ = _checkify.error_checks[_checkify.check_p](
            *context, *evaluate(operand), **check_eqn.params
        )
        return error, operand

    _checkify.error_checks[primitive] = rule


_DECIDED_BY = {"cond": "pred", "_cond": "pred", "switch": "index", "_switch_internal": "index"}


def decisions_of_enclosing_control_flow() -> Iterator[Any]:
    """The values that decide how often the code being traced runs, innermost function first.

    Yields the type (`jax.typeof`) of the predicate of each enclosing `cond`, the index of a
    `switch`, the predicate of a `while_loop`; None if it could not be found out. JAX keeps no
    public record of them, so the Python stack is read: the control-flow function calls the tracing
    of its body. Only used while tracing inside `shard_map`.
    """
    frame = sys._getframe(1)
    while_predicate = None
    while frame is not None:
        module, function = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        if module == "jax._src.lax.control_flow.conditionals" and function in _DECIDED_BY:
            decision = frame.f_locals.get(_DECIDED_BY[function])
            yield None if decision is None else jax.typeof(decision)
        elif module == "jax._src.lax.control_flow.loops" and function == "while_loop":
            yield while_predicate
        # A local function of `while_loop` traces the condition and then the body.
        cond_jaxpr = frame.f_locals.get("cond_jaxpr") if function == "_create_jaxpr" else None
        while_predicate = None if cond_jaxpr is None else cond_jaxpr.out_avals[0]
        frame = frame.f_back


def drop_unused(program: jex_core.ClosedJaxpr) -> jex_core.ClosedJaxpr:
    """`program` without the equations that its results do not depend on; all inputs stay.

    Done by `jax.interpreters`, which is not as settled as `jax.extend`.
    """
    keep = [True] * len(program.jaxpr.outvars)
    jaxpr, _ = partial_eval.dce_jaxpr(program.jaxpr, keep, instantiate=True)
    return jex_core.ClosedJaxpr(jaxpr, program.consts)


def is_for_one_device(ctx) -> bool:
    """Whether a program that is being lowered will run on one device.

    The context of a lowering rule is public; its number of devices has no public name.
    """
    return getattr(ctx.module_context.axis_context, "num_devices", None) == 1


def is_for_export(ctx) -> bool:
    """Whether a program that is being lowered will be stored, and run in another process.

    The context has no public name for this either.
    """
    return getattr(ctx.module_context.lowering_parameters, "for_export", False)


def is_for_elsewhere(ctx) -> bool:
    """Whether a program that is being lowered may run in another process or on another platform.

    The context has no public name for this either.
    """
    return is_for_export(ctx) or len(ctx.module_context.platforms) > 1


def scan_counts(eqn: jex_core.JaxprEqn) -> tuple[int, int]:
    """How many of the inputs of a `scan` are constants, and how many are carried.

    The parameters of the primitive are JAX's own affair; they changed in jax 0.12.
    """
    if "ft_in" in eqn.params:
        consts, carry, _ = eqn.params["ft_in"].unpack()
        return len(consts), len(carry)
    return eqn.params["num_consts"], eqn.params["num_carry"]


def where(eqn: jex_core.JaxprEqn) -> str:
    """` at FILE:LINE (FUNCTION)` of the user's code that made `eqn`, or nothing if not known.

    The innermost frame that is neither JAX's nor of this package. JAX's own errors name it; there
    is no public way to it.
    """
    frames = list(_source_info_util.user_frames(eqn.source_info.traceback))
    outside = [frame for frame in frames if not _is_ours(frame)]
    for frame in outside or frames:
        return f" at {frame.file_name}:{frame.start_line} ({frame.function_name})"
    return ""


def frames_of(eqn: jex_core.JaxprEqn) -> list[tuple[str, int, str]]:
    """File, line and function of the calls that made `eqn`, the innermost first.

    Without frames of JAX and of this package, and by no public way either.
    """
    return [
        (frame.file_name, frame.start_line, frame.function_name)
        for frame in _source_info_util.user_frames(eqn.source_info.traceback)
        if not _is_ours(frame)
    ]


def _is_ours(frame) -> bool:
    return frame.file_name.startswith(os.path.join(os.path.dirname(__file__), ""))


def word_refusals_of_keys(is_ours: Callable[[Any], bool], words: str) -> None:
    """For keys that `is_ours`, methods that typed random keys lack raise a TypeError with `words`.

    Outside of `jit`, `x.sum()`, `x.real` and their like raise JAX's NotImplementedError for all
    keys, without the name of the dtype, and `optax.global_norm` begins with `x.real`. A class of
    jaxops could not be a leaf, as JAX accepts only its own classes. So the methods of JAX's class
    are wrapped; other keys behave as before.
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
            setattr(keys, name, _worded(getattr(keys, name), name, is_ours, words))


def _worded(inherited: Any, name: str, is_ours: Callable[[Any], bool], words: str) -> Any:
    is_property = isinstance(inherited, property)

    def method(self, *args, **kwargs):
        if is_ours(self):
            raise TypeError(f"there is no {name} of {words}")
        return (inherited.fget if is_property else inherited)(self, *args, **kwargs)

    return property(method) if is_property else method
