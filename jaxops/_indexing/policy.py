"""The out-of-bounds policy: the one place where indices meet their bounds.

`resolve` turns the indices a caller gave into indices that `lax.gather` and `lax.scatter` can use
as they are, plus a mask of the ones that count. The error of the default mode comes from a
primitive, `check_p`, an identity on the indices. A primitive rather than a `lax.cond` in the
traced program, because it decides per context what a check is:

* evaluated eagerly: the indices are looked at on the host and `OutOfBoundsError` is raised;
* lowered for the CPU: one reduction, and a host callback in the branch that raises;
* lowered for other platforms: nothing (`mode="error"`: the same as on the CPU);
* under `vmap`: itself, on the batched indices, so positions stay true and nothing is unrolled;
* under `checkify`: a functional error.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir
from jax.sharding import PartitionSpec as P

from jaxops import _jax_internals, _symbolic
from jaxops._errors import brief
from jaxops._indexing.specs import IndexSpec

MODES = ("device", "error", "fill", "clip", "wrap", "promise_in_bounds")
_INT32_MAX = 2**31 - 1
_SET_OF_MODES = frozenset(MODES)  # compares by hash first; arrays compare element by element


class Resolved(NamedTuple):
    """Indices ready for `lax`, and which of them are in bounds (None: all of them)."""

    indices: jax.Array
    valid: jax.Array | None


def check_mode(op: str, mode: object) -> None:
    try:
        known = mode in _SET_OF_MODES
    except TypeError:  # what has no hash is no mode
        known = False
    if not known:
        raise ValueError(f"{op}: mode must be one of {', '.join(MODES)}; received {brief(mode)}")


def resolve(spec: IndexSpec, indices: jax.Array, mode: str) -> Resolved:
    """Applies `mode` to index vectors `indices[..., K]` whose bounds are `spec.limits`.

    Entries that are not `valid` keep their value.
    """
    indices = widen(indices, spec.limits)
    valid = None
    if not spec.limits:  # empty index vectors are in bounds
        mode = "promise_in_bounds"
    if mode == "clip":
        last = _symbolic.as_vector([limit - 1 for limit in spec.limits], indices.dtype)
        last = _over_components(last, indices)
        indices = jnp.clip(indices, np.zeros(last.shape, last.dtype), last)
    elif mode == "wrap":
        indices = _wrap(indices, spec)
    elif mode == "fill":
        valid = _in_bounds(indices, spec)
    elif mode in ("device", "error"):
        indices = _check(spec, indices, mode)
        if mode == "device":
            # Taken from the indices, so that under `shard_map` it varies along the same axes.
            first = lax.index_in_dim(indices, 0, axis=-1, keepdims=False)
            valid = valid_p.bind(first, indices, spec=spec)
    return Resolved(_narrow(indices, spec.limits), valid)


def are_long(dims) -> bool:
    """Whether some of `dims` has elements that an int32 does not reach."""
    return _symbolic.longest(dims) > _INT32_MAX


def widen(indices: jax.Array, dims=()) -> jax.Array:
    """To 32 bits at least, because a bound such as 300 cannot be written in int8.

    To 64 bits where there are such, and some of `dims` takes them.
    """
    bits = jnp.iinfo(indices.dtype).bits
    if bits < 64 and are_long(dims) and jax.config.read("jax_enable_x64"):
        return indices.astype(jnp.int64)
    return indices.astype(jnp.int32) if bits < 32 else indices


def to_signed(indices: jax.Array, op: str = "", dims=()) -> jax.Array:
    """To a type that index arrays share, so that joining them changes no value.

    Large ones are saturated, so some of `dims` may take 64-bit types.
    """
    indices = widen(indices, dims)
    if are_long(dims) and indices.dtype == np.uint32:
        raise ValueError(
            f"{op}: uint32 indices must come as one array, not in a list, where a dimension is "
            f"longer than int32 counts, {_symbolic.longest(dims)}; "
            'or switch 64-bit types on with jax.config.update("jax_enable_x64", True)'
        )
    return _narrow(indices)


def _narrow(indices: jax.Array, dims=()) -> jax.Array:
    """To the signed type that `lax` gathers with; what would not fit stays out of bounds.

    Where it would not, because some of `dims` are that long, `lax` gathers with an unsigned one.
    """
    if not jnp.issubdtype(indices.dtype, jnp.unsignedinteger):
        return indices
    if are_long(dims) and not jax.config.read("jax_enable_x64"):
        return indices
    signed = jnp.int32
    if jax.config.read("jax_enable_x64"):
        signed = jnp.int64
    largest = np.array(min(jnp.iinfo(signed).max, jnp.iinfo(indices.dtype).max), indices.dtype)
    return jnp.minimum(indices, largest).astype(signed)


def _wrap(indices: jax.Array, spec: IndexSpec) -> jax.Array:
    info = jnp.iinfo(indices.dtype)
    wrapped = jnp.remainder(indices, _limits(indices, spec, info.max, indices.dtype))
    if not are_long(spec.limits) or indices.dtype.itemsize == 8:
        return wrapped
    is_long = _over_components(_symbolic.exceed(spec.limits, info.max), indices)
    # No index reaches the end of such an axis from the front.
    indices = jnp.where(is_long, indices, wrapped)
    return from_the_end(indices, spec.limits, spec.operation)


def from_the_end(indices: jax.Array, dims, op: str) -> jax.Array:
    """Index vectors whose negative components count from the end of their axis, as positions.

    Those that count too far stay negative. Where an axis is longer than int32 counts they become
    uint32, if JAX has no 64-bit types: out of bounds of the other axes all the same.
    """
    if jnp.issubdtype(indices.dtype, jnp.unsignedinteger):
        return indices
    indices = widen(indices, dims)
    from_end = indices < 0
    if are_long(dims) and indices.dtype == np.int32:
        check_uint32_reaches(_symbolic.longest(dims), op)
        indices = lax.bitcast_convert_type(indices, jnp.uint32)
    lengths = _over_components(_symbolic.as_vector(dims, indices.dtype), indices)
    return jnp.where(from_end, indices + lengths, indices)


def check_uint32_reaches(length: int, op: str, arg: str = "indices") -> None:
    if length >= 2**32:
        raise ValueError(
            f"{op}: positions among {length} take 64 bits in {arg}; "
            'jax.config.update("jax_enable_x64", True) switches them on'
        )


def _limits(indices: jax.Array, spec: IndexSpec, largest: int, dtype) -> np.ndarray | jax.Array:
    # JAX finds out symbolic ones as numbers of its default type of integers.
    beyond = _symbolic.exceed(spec.limits, largest)
    limits = [largest if b else limit for b, limit in zip(beyond, spec.limits, strict=True)]
    return _over_components(_symbolic.as_vector(limits, dtype), indices)


def _over_components(vector, indices: jax.Array):
    """One number for each component of `indices[..., K]`, whose rank must not be promoted."""
    return vector.reshape((1,) * (indices.ndim - 1) + vector.shape)


def _as_unsigned(indices: jax.Array, spec: IndexSpec) -> tuple[jax.Array, np.ndarray | jax.Array]:
    """Indices and limits, bit-cast: negative indices become larger than every limit."""
    info = jnp.iinfo(indices.dtype)
    unsigned = np.dtype(f"uint{info.bits}")
    beyond = info.max + 1 if info.min < 0 else info.max
    limits = _limits(indices, spec, beyond, unsigned)
    return lax.bitcast_convert_type(indices, unsigned), limits


def _in_bounds(indices: jax.Array, spec: IndexSpec) -> jax.Array:
    """Mask `[...]` of the index vectors in `indices[..., K]` that are in bounds."""
    values, limits = _as_unsigned(indices, spec)
    inside = values < limits
    info = jnp.iinfo(indices.dtype)
    if info.min == 0:
        # No index is out of bounds of what is longer, and none can be its limit.
        inside |= _over_components(_symbolic.exceed(spec.limits, info.max), indices)
    return jnp.all(inside, axis=-1)


def _any_out_of_bounds(indices: jax.Array, spec: IndexSpec) -> jax.Array:
    """Whether the sign bit of some `index` or `limit - 1 - index` is set.

    By one reduction of two operands. On a CPU XLA makes that one loop; a reduction of one operand
    it splits into a tree of three loops, which took four times as long for a million indices, and
    twice as long to compile.
    """
    values, limits = _as_unsigned(indices, spec)
    sign = 1 << (jnp.iinfo(values.dtype).bits - 1)
    if isinstance(limits, np.ndarray) and limits.max() > sign:
        # Unsigned indices into more than 2^31 elements.
        return jnp.logical_not(jnp.all(_in_bounds(indices, spec)))
    zero = np.zeros((), values.dtype)
    left = limits - np.array(1, limits.dtype) - values
    seen = lax.reduce((values, left), (zero, zero), _or_each, range(values.ndim))
    return (seen[0] | seen[1]) >= np.array(sign, values.dtype)


def _or_each(seen, values):
    return seen[0] | values[0], seen[1] | values[1]


# Eager calls run one compiled function that returns its flags instead of raising from inside.
_flags: contextvars.ContextVar[list | None] = contextvars.ContextVar("jaxops_flags", default=None)


@contextlib.contextmanager
def collect_flags():
    """Within: checks do not raise; each appends its scalar "some index is out of bounds"."""
    flags: list[jax.Array] = []
    token = _flags.set(flags)
    try:
        yield flags
    finally:
        _flags.reset(token)


def is_eager_call() -> bool:
    """Whether the program of an eager call is traced: all it computes is a result."""
    return _flags.get() is not None


def _check(spec: IndexSpec, indices: jax.Array, mode: str) -> jax.Array:
    if indices.size == 0:
        return indices
    flags = _flags.get()
    if flags is not None:
        flags.append(_any_out_of_bounds(indices, spec))
        return indices
    return check_p.bind(indices, spec=spec, mode=mode, axes=_axes_to_agree_on(indices))


def _axes_to_agree_on(indices: jax.Array) -> tuple[str, ...]:
    """The `shard_map` axes along which the outcome of a check can differ.

    If one shard alone raised, the others would wait for it in their next collective until XLA
    kills the process. So all shards learn that one of them has a bad index, and all raise. That
    takes a collective, which every shard must reach. In the body of a `cond` or `while_loop` that
    some shards may not come by, it leaves out the axes along which they decide differently.
    """
    manual = jax.sharding.get_abstract_mesh().manual_axes
    if not manual:
        return ()
    # With `check_vma=False` types do not tell along which axes values vary: assume all.
    tracked = bool(_varying(lax.axis_index(manual[0])))
    differing = set(_varying(indices)) if tracked else set(manual)
    for decision in _jax_internals.decisions_of_enclosing_control_flow():
        if decision is None or not tracked:
            return ()
        differing -= decision.manual_axis_type.varying
    return tuple(a for a in manual if a in differing)


def _varying(x: jax.Array) -> frozenset[str]:
    """The `shard_map` axes along which `x` varies, as far as its type tells."""
    return jax.typeof(x).manual_axis_type.varying


# The mask of what counts in mode "device": all of it on a CPU, where the rest has raised, and what
# is in bounds elsewhere. As `lax.platform_dependent` would have it, which takes longer to trace
# than the whole rest of a gather. Not by `with_cpu_form`: its two forms are the same for good
# indices only, and batched it has to stay what it is.
valid_p = Primitive("in_bounds_off_cpu")


@valid_p.def_impl
def _valid_eagerly(first, indices, *, spec):
    return _all_valid(first, indices) if platform(first) == "cpu" else _in_bounds(indices, spec)


def _all_valid(first, indices, *, spec=None):
    """A mask that XLA folds to a constant, and away with the selects that it steers."""
    del indices, spec
    return first == first


@valid_p.def_abstract_eval
def _valid_abstract_eval(first, indices, *, spec):
    del indices, spec
    return first.update(dtype=np.dtype(bool), weak_type=False)


def _valid_batching_rule(operands, dims, *, spec):
    # Both are batched, as one is made of the other.
    first, indices = (jnp.moveaxis(x, d, 0) for x, d in zip(operands, dims, strict=True))
    return valid_p.bind(first, indices, spec=spec), 0


batching.primitive_batchers[valid_p] = _valid_batching_rule


def _valid_off_cpu(first, indices, *, spec):
    del first
    return _in_bounds(indices, spec)


mlir.register_lowering(valid_p, mlir.lower_fun(_all_valid, multiple_results=False), platform="cpu")
mlir.register_lowering(valid_p, mlir.lower_fun(_valid_off_cpu, multiple_results=False))


check_p = Primitive("out_of_bounds_check")


@check_p.def_impl
def _check_eagerly(indices, *, spec, mode, axes):
    del axes
    indices = jnp.asarray(indices)  # constants of a jaxpr come as NumPy arrays
    if mode == "error" or platform(indices) == "cpu":
        error = spec.find_error(np.asarray(indices))
        if error is not None:
            raise error
    return indices


def platform(array: jax.Array) -> str:
    """The platform that holds a concrete `array`, for example `"cpu"`."""
    return next(iter(array.devices())).platform


@check_p.def_abstract_eval
def _check_abstract_eval(indices, *, spec, mode, axes):
    return indices


def _check_batching_rule(operands, dims, **params):
    (indices,), (dim,) = operands, dims
    indices = jnp.moveaxis(indices, dim, 0)
    if indices.size == 0:  # a batch of none: there is nothing to look at
        return indices, 0
    return check_p.bind(indices, **params), 0


batching.primitive_batchers[check_p] = _check_batching_rule


def _raise_if_any_on_one_device(indices, *, spec: IndexSpec, mode: str, axes: tuple[str, ...]):
    """The check as compiled: the branch taken by good indices is empty.

    The other hands all of the indices to the host, where they are searched, as code that searches
    them takes longer to compile than the gather.
    """
    del mode, axes

    def report():
        jax.debug.callback(functools.partial(_raise_first, spec), indices)

    lax.cond(_any_out_of_bounds(indices, spec), report, lambda: None)
    return indices


def _raise_first(spec: IndexSpec, indices):
    error = spec.find_error(np.asarray(indices))
    assert error is not None, "only called with indices of which one is out of bounds"
    raise error


def _raise_if_any_on_many_devices(indices, *, spec: IndexSpec, mode: str, axes: tuple[str, ...]):
    """The same where no device may have all of the indices: they are searched by the program."""
    del mode
    bad = _any_out_of_bounds(indices, spec)
    any_bad = lax.pmax(bad.astype(jnp.int32), axes) > 0 if axes else bad

    def report():
        position, index = _first_out_of_bounds(indices, spec)
        if axes:
            position, index = _from_one_shard(bad, (position, index), axes)
        # `partitioned`: every device raises, not only the one with the data. A device that went
        # on alone would wait for the others in its next collective.
        jax.debug.callback(functools.partial(_raise, spec), position, index, partitioned=True)

    lax.cond(any_bad, report, lambda: None)
    return indices


def _first_out_of_bounds(indices: jax.Array, spec: IndexSpec) -> tuple[jax.Array, jax.Array]:
    """Multi-dimensional position and value of the first bad index vector."""
    sharding = jax.typeof(indices).sharding
    if sharding.mesh.explicit_axes:  # types that are sharded would refuse what follows
        indices = jax.sharding.reshard(indices, sharding.update(spec=P(*[None] * indices.ndim)))
    shape = indices.shape[:-1]
    flat = jnp.argmin(_in_bounds(indices, spec).reshape(-1))
    index = lax.dynamic_index_in_dim(indices.reshape(-1, indices.shape[-1]), flat, keepdims=False)
    position = jnp.array(jnp.unravel_index(flat, shape), dtype=flat.dtype).reshape(len(shape))
    return position, index


def _from_one_shard(bad: jax.Array, values, axes: tuple[str, ...]):
    """`values` as they are on the first shard where `bad` holds, on all shards."""
    rank = lax.axis_index(axes)
    first = lax.pmin(jnp.where(bad, rank, jnp.iinfo(rank.dtype).max), axes)
    return jax.tree.map(
        lambda value: lax.psum(jnp.where(rank == first, value, jnp.zeros_like(value)), axes), values
    )


def _raise(spec: IndexSpec, position, index):
    raise spec.error(tuple(int(p) for p in position), tuple(int(i) for i in index))


def _lower(ctx, indices, **params):
    if _jax_internals.is_for_export(ctx):
        op, mode = params["spec"].operation, params["mode"]
        or_elsewhere = ", or for another platform than the CPU" if mode == "device" else ""
        raise ValueError(
            f"{op}: mode must be one that needs no Python when the program runs; "
            f"received {brief(mode)}, which raises from a host callback, and that jax.export "
            "cannot store. Use 'fill', 'clip', 'wrap' or 'promise_in_bounds', or export the "
            f"function under jax.experimental.checkify{or_elsewhere}"
        )
    check = _raise_if_any_on_many_devices
    if _jax_internals.is_for_one_device(ctx):
        check = _raise_if_any_on_one_device
    return mlir.lower_fun(check, multiple_results=False)(ctx, indices, **params)


def _lower_off_cpu(ctx, indices, **params):
    return _lower(ctx, indices, **params) if params["mode"] == "error" else [indices]


mlir.register_lowering(check_p, _lower, platform="cpu")
mlir.register_lowering(check_p, _lower_off_cpu)


class _ErrorFormat(str):
    """A format string whose `format` words the error of `spec`.

    `checkify` formats its messages once the values are known, with `str.format`, which cannot
    choose the words by the values as `IndexSpec.describe` does.
    """

    spec: IndexSpec

    @classmethod
    def of(cls, spec: IndexSpec) -> _ErrorFormat:
        self = cls(repr(spec))  # equal texts for equal specs: checkify compares them
        self.spec = spec
        return self

    def format(self, *args, **kwargs) -> str:
        position, index = args
        del kwargs
        return str(self.spec.error(tuple(map(int, position)), tuple(map(int, index))))


def _functional_error(indices, *, spec: IndexSpec, mode, axes):
    """What `checkify.check` is to be called with."""
    del mode, axes
    ok = jnp.logical_not(_any_out_of_bounds(indices, spec))
    return ok, _ErrorFormat.of(spec), _first_out_of_bounds(indices, spec)


_jax_internals.register_checkify_rule(check_p, _functional_error)
