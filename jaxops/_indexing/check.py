"""The check, which makes an index out of bounds an error: a primitive, an identity on the indices.

A primitive rather than a `lax.cond` in the traced program, because it decides per context what a
check is:

* evaluated eagerly: the indices are looked at on the host and `OutOfBoundsError` is raised;
* in the program of an eager call: a flag, which the call returns beside its results. If the flag
  is up, the call runs once more, evaluated eagerly (`collect_flags`);
* lowered for CPUs: one reduction, and a branch that raises, shared by the checks of a program
  (`branches.py`);
* lowered for other platforms: nothing (`mode="error"`: the same as on the CPU);
* under `vmap`: itself, on the batched indices, so positions stay true and nothing is unrolled;
* under `checkify`: a functional error.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.interpreters import batching, mlir

from jaxops import _call_sites, _frames, _jax_internals
from jaxops._call_sites import CallSite
from jaxops._errors import brief, remember
from jaxops._indexing import branches, inlined, lanes, loops, programs, reducers
from jaxops._indexing.bounds import any_out_of_bounds, first_out_of_bounds, in_bounds
from jaxops._indexing.check_primitive import check_p, raises
from jaxops._indexing.specs import IndexSpec
from jaxops._primitives import lower_fun, new_primitive

# Eager calls run one compiled function that returns its flags instead of raising from inside.
_flags: contextvars.ContextVar[list | None] = contextvars.ContextVar("jaxops_flags", default=None)


@contextlib.contextmanager
def collect_flags():
    """A context in which checks do not raise, but append a scalar "some index is out of bounds"."""
    flags: list[jax.Array] = []
    token = _flags.set(flags)
    try:
        yield flags
    finally:
        _flags.reset(token)


def any_of(flags: list[jax.Array]) -> jax.Array:
    """A scalar bool: whether one of the flags, scalar bools, is up in any call of a batch."""
    return any_p.bind(functools.reduce(jnp.logical_or, flags))


# A primitive, so that an eager `vmap` of a compiled call returns one flag, and no batch of flags.
any_p = new_primitive("any_of_batch")
any_p.def_impl(lambda flag: flag)
any_p.def_abstract_eval(lambda flag: flag)
mlir.register_lowering(any_p, lambda ctx, flag: [flag])


def _any_batching_rule(operands, dims):
    return any_p.bind(jnp.any(operands[0], axis=dims[0])), None


batching.primitive_batchers[any_p] = _any_batching_rule


def collected_flags() -> list[jax.Array] | None:
    """The flags that checks have appended so far; None where a check itself raises the error."""
    return _flags.get()


def is_eager_call() -> bool:
    """Whether an eager call is traced: then each value computed is a result of the call."""
    return collected_flags() is not None


def platform_of(array: jax.Array) -> str:
    """The platform that holds a concrete `array`, for example `"cpu"`."""
    return _platform_of(array.sharding)


@functools.lru_cache(maxsize=256)
def _platform_of(sharding: jax.sharding.Sharding) -> str:
    return next(iter(sharding.device_set)).platform


def error_if_any(
    spec: IndexSpec, indices: jax.Array, mode: str, site: CallSite | None = None
) -> jax.Array:
    """`indices`; to use them raises where one is out of bounds, if `mode` makes it an error.

    `site` is the call that the error names: the one that is being made, if none is given.
    """
    if indices.size == 0:
        return indices
    flags = collected_flags()
    if flags is not None:
        flags.append(any_out_of_bounds(indices, spec))
        return indices
    shared, site = _shared_axes(indices), site or _call_sites.current()
    return check_p.bind(indices, spec=spec, mode=mode, shared=shared, site=site)


def _shared_axes(indices: jax.Array) -> branches.SharedAxes | None:
    """The axes of the shards that come by the check of these indices; None outside of `shard_map`.

    There all devices come by each check, and see the same outcome.
    """
    manual = jax.sharding.get_abstract_mesh().manual_axes
    if not manual:
        return None
    # With `check_vma=False` types do not tell along which axes values vary: assume all.
    tracked = bool(_jax_internals.varying_axes(lax.axis_index(manual[0])))
    varying = _jax_internals.varying_axes(indices)
    differing = tuple(a for a in manual if a in varying) if tracked else manual
    return branches.SharedAxes(tuple(manual), differing)


def mask_off_cpu(spec: IndexSpec, indices: jax.Array) -> jax.Array:
    """The mask of the indices that count in mode "device", once `error_if_any` has seen them."""
    # Taken from the indices, so that under `shard_map` it varies along the same axes.
    first = lax.index_in_dim(indices, 0, axis=-1, keepdims=False)
    # XLA folds this to a constant, and away with the selects that it steers.
    return valid_p.bind(first == first, indices, spec=spec)


# All indices count on a CPU, where one out of bounds has raised; elsewhere those in bounds do. A
# primitive, as `lax.platform_dependent` takes longer to trace than the whole rest of a gather. No
# CPU form (`_forms.py`): its two ways are the same for good indices only, and batched it has to
# stay this primitive (test_check.py,
# test_only_indices_in_bounds_count_in_an_eager_gather_on_a_gpu).
valid_p = new_primitive("in_bounds_off_cpu")
valid_p.def_abstract_eval(lambda all_valid, *_, **__: all_valid)


@valid_p.def_impl
def _valid_eagerly(all_valid, indices, *, spec):
    # Not the platform of the indices: where a walk evaluates a program, its literals have none
    # (test_access.py, test_eager_gradients_of_indices_that_numpy_holds).
    return all_valid if raises("device", platform_of(all_valid)) else in_bounds(indices, spec)


def _valid_batching_rule(operands, dims, *, spec):
    # Both are batched, as one is made of the other.
    all_valid, indices = (jnp.moveaxis(x, d, 0) for x, d in zip(operands, dims, strict=True))
    return valid_p.bind(all_valid, indices, spec=spec), 0


batching.primitive_batchers[valid_p] = _valid_batching_rule


mlir.register_lowering(valid_p, lambda ctx, all_valid, *_, **__: [all_valid], platform="cpu")
mlir.register_lowering(valid_p, lower_fun(lambda _, indices, *, spec: [in_bounds(indices, spec)]))


@check_p.def_impl
def _check_eagerly(indices, *active, spec, mode, shared, site):
    del shared
    # JAX passes the constants of a jaxpr as NumPy arrays (test_check.py,
    # test_indices_that_are_constants).
    indices = jnp.asarray(indices)
    if raises(mode, platform_of(indices)):
        error = spec.find_error(np.asarray(indices), site, *map(np.asarray, active))
        if error is not None:
            remember(error)  # a callback of a program may make the call
            _frames.hide_from_ipython()
            raise error
    return indices


@check_p.def_abstract_eval
def _check_abstract_eval(indices, *active, spec, mode, shared, site):
    _prepare()
    return indices


def _check_batching_rule(operands, dims, **params):
    indices, *active = operands
    dim, *active_dims = dims
    if dim is None:  # an index that all lanes share counts if one of them takes it
        active = [jnp.any(mask, axis=d) for mask, d in zip(active, active_dims, strict=True)]
        return check_p.bind(indices, *active, **params), None
    # The position in the error begins with the place in the batch, whatever axis `vmap` maps
    # (test_check.py, test_lanes_along_any_axis).
    indices = jnp.moveaxis(indices, dim, 0)
    if indices.size == 0:  # a batch of none: there is nothing to look at
        return indices, 0
    for mask, d in zip(active, active_dims, strict=True):
        if d is not None:
            active = [jnp.moveaxis(mask, d, 0)]
        elif mask.ndim:
            active = [jnp.broadcast_to(mask, (len(indices), *mask.shape))]
    return check_p.bind(indices, *active, **params), 0


batching.primitive_batchers[check_p] = _check_batching_rule


def _lower(ctx, indices, *active, spec: IndexSpec, mode: str, shared, site: CallSite):
    platforms = _jax_internals.platforms_of(ctx)
    if mode == "device" and "cpu" not in platforms:
        return [indices]
    # JAX serialises no host callback of any kind (test_check.py, test_mode_error_is_not_exported).
    if _jax_internals.is_for_elsewhere(ctx):
        or_elsewhere = ", or for another platform than the CPU" if mode == "device" else ""
        raise ValueError(
            f"{spec.operation}: mode must be one that needs no Python when the program runs; "
            f"received {brief(mode)}, which raises from a host callback, and that jax.export "
            f"cannot store. {spec.to_export} under "
            f"jax.experimental.checkify{or_elsewhere} [Op:{spec.operation}]{site}"
        )
    return [branches.raise_if_any(ctx, indices, *active, spec=spec, site=site, shared=shared)]


# One rule for all platforms: JAX lowers no rules of several for a primitive without a cache. With
# the cache it lowers a program apart from the values that its operands come from, and no source is
# found (test_sources.py, test_numpy_computes_what_the_program_does).
mlir.register_lowering(check_p, _lower, cacheable=False)


class _ErrorFormat(str):
    """A format string whose `format` words the error of `spec` at `site`.

    `checkify` formats its messages once the values are known, with `str.format`, which cannot
    choose the words by the values as `IndexSpec.describe` does.
    """

    spec: IndexSpec
    site: CallSite

    @classmethod
    def of(cls, spec: IndexSpec, site: CallSite) -> _ErrorFormat:
        self = cls(repr((spec, site)))  # equal texts for equal checks: checkify compares them
        self.spec, self.site = spec, site
        return self

    def format(self, *args, **kwargs) -> str:
        position, index = args
        del kwargs
        error = self.spec.error(tuple(map(int, position)), tuple(map(int, index)), self.site)
        assert error is not None, "a program that is traced has sites that are known"
        remember(error)
        return str(error)


def _functional_error(indices, *active, spec: IndexSpec, mode, shared, site: CallSite):
    """The arguments for `checkify.check`."""
    del mode, shared
    # JAX's rule of `checkify` for `shard_map` loses the constants of a check, so this check has
    # none (test_check.py, test_checkify_of_shard_map).
    ok = jnp.logical_not(any_out_of_bounds(indices, spec, *active))
    return ok, _ErrorFormat.of(spec, site), first_out_of_bounds(indices, spec, *active)


@functools.cache
def _prepare() -> None:
    """Makes JAX lower the equations around a check in our ways; before there is a program with one.

    Not when jaxops is imported: programs without checks stay as JAX lowers them.
    """
    for primitive in (lax.scan_p, lax.cond_p):
        programs.wrap_lowering(primitive, loops.lower)
    # With the cache a `while_loop` would be lowered apart from the constant that its counter begins
    # with (test_branches.py, test_programs_without_such_loops_do_not_wait).
    programs.wrap_lowering(lax.while_p, loops.lower, cacheable=False)
    programs.wrap_lowering(_jax_internals.CALLING[0], inlined.lower, cacheable=False)
    for primitive in lanes.REDUCTIONS:
        programs.wrap_lowering(primitive, reducers.lower)
    _jax_internals.register_checkify_rule(check_p, _functional_error)
