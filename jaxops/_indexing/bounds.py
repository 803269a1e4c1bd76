"""The meaning of "out of bounds", in compiled code.

`IndexSpec.inside` is the definition, 0 <= index < limit, in NumPy and for single numbers. The
functions here compute the same of traced indices, in forms that XLA makes fast.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

from jaxops import _symbolic
from jaxops._indexing.index_dtypes import over_components
from jaxops._indexing.specs import IndexSpec


def limits_of(spec: IndexSpec, largest: int, dtype) -> list[Any]:
    """The limits, none above `largest`."""
    # Only known limits are cut: a program computes symbolic ones in JAX's default integer dtype.
    beyond = _symbolic.exceed(spec.limits, largest)
    limits = [largest if b else limit for b, limit in zip(beyond, spec.limits, strict=True)]
    return _symbolic.numbers(limits, dtype)


def _unsigned_limits(indices: jax.Array, spec: IndexSpec) -> tuple[np.dtype, list[Any]]:
    """The dtype in which negative indices are larger than every limit, and the limits in it."""
    info = jnp.iinfo(indices.dtype)
    dtype = np.dtype(f"uint{info.bits}")
    return dtype, limits_of(spec, info.max + 1 if info.min < 0 else info.max, dtype)


def in_bounds(indices: jax.Array, spec: IndexSpec) -> jax.Array:
    """Mask `[...]` of the index vectors in `indices[..., K]` that are in bounds."""
    dtype, limits = _unsigned_limits(indices, spec)
    inside = lax.bitcast_convert_type(indices, dtype) < over_components(limits, indices)
    info = jnp.iinfo(indices.dtype)
    if info.min == 0:
        # An axis of more than info.max elements has its limit cut to info.max, but the index
        # info.max is in bounds of it: the uint32 index 2**32 - 1 read 0 in mode "fill"
        # (test_bounds.py, test_every_index_is_on_its_side_of_the_limit).
        inside |= over_components(_symbolic.exceed(spec.limits, info.max), indices)
    return jnp.all(inside, axis=-1)


def ignored(indices: jax.Array, spec: IndexSpec) -> jax.Array | None:
    """Mask of the index vectors that are padding, or negative where `spec` ignores these.

    None if there can be none.
    """
    is_padding = padding(indices, spec)
    if not spec.ignores_negative or jnp.issubdtype(indices.dtype, jnp.unsignedinteger):
        return is_padding
    negative = jnp.any(indices < 0, axis=-1)
    return negative if is_padding is None else negative | is_padding


def padding(indices: jax.Array, spec: IndexSpec) -> jax.Array | None:
    """Mask of the index vectors that are padding; None if there can be none."""
    info = jnp.iinfo(indices.dtype)
    masks = [
        _component(indices, k) == np.array(number, indices.dtype)
        for k, number in enumerate(spec.padding)
        if number is not None and info.min <= number <= info.max
    ]
    return functools.reduce(lax.bitwise_or, masks) if masks else None


def any_out_of_bounds(
    indices: jax.Array, spec: IndexSpec, active: jax.Array | None = None
) -> jax.Array:
    """Whether some index is out of bounds, told by one bit; of those that are `active`.

    With a limit of at most 2^31 (2^63 for 64-bit indices), an index below 0 sets the sign bit of
    `index`, an index of `limit` or more sets the sign bit of `limit - 1 - index`, and an index in
    bounds sets neither. So the sign bit of the OR of both numbers over all indices is the answer.

    By one reduction of two operands. On a CPU XLA makes that one loop; a reduction of one operand
    it splits into a tree of three loops, which took four times as long for a million indices, and
    twice as long to compile.
    """
    words = None if active is not None and active.ndim else _words(indices, spec)
    if words is None:
        return jnp.any(out_of_bounds_bits(indices, spec, active))
    seen = lax.bitwise_or(*_or_of_each(words))
    return seen >= np.array(_sign(seen.dtype), seen.dtype)


def out_of_bounds_bit(
    indices: jax.Array, spec: IndexSpec, active: jax.Array | None = None
) -> tuple[jax.Array, jax.Array]:
    """`any_out_of_bounds` as an int32, 0 or 1; and a number that the program has to use as well.

    The bit is the number of the branch that the program takes. A boolean would be compared first,
    by one kernel more, which would compile for a third of the time of the check. If the program did
    not use the second number, XLA would make the reduction one of one operand.
    """
    # XLA rewrites a reduction with one operand as a tree of windowed loops; this one has two
    # operands (test_bounds.py, test_check_is_one_loop_on_a_cpu).
    return _or_of_each((out_of_bounds_bits(indices, spec, active), _component(indices, 0)))


def out_of_bounds_bits(
    indices: jax.Array, spec: IndexSpec, active: jax.Array | None = None
) -> jax.Array:
    """For each index vector 1 if it is out of bounds, and `active`, and 0 if not.

    `active` has the leading axes of the indices. A scalar, which no `vmap` has batched, says
    nothing: where it is False the program does not come here.
    """
    words = _words(indices, spec)
    if words is None:
        bad, is_ignored = lax.bitwise_not(in_bounds(indices, spec)), ignored(indices, spec)
        bad = bad if is_ignored is None else bad & ~is_ignored
    else:
        bad = lax.bitwise_or(*words)
        bad = lax.shift_right_logical(bad, np.array(jnp.iinfo(bad.dtype).bits - 1, bad.dtype))
    bad = lax.convert_element_type(bad, np.int32)
    if active is not None and active.ndim:
        mask = lax.broadcast_in_dim(active, bad.shape, range(active.ndim))
        bad = lax.bitwise_and(bad, lax.convert_element_type(mask, np.int32))
    return bad


def _component(indices: jax.Array, k: int) -> jax.Array:
    return lax.index_in_dim(indices, k, axis=-1, keepdims=False)


def _or_of_each(operands: tuple[jax.Array, jax.Array]) -> Any:
    """The OR of all numbers of each operand, by one reduction."""
    zeros = tuple(zero_of_reduction(x.dtype) for x in operands)
    return lax.reduce(operands, zeros, _or_pairs, range(operands[0].ndim))


def zero_of_reduction(dtype) -> jax.Array:
    """0, of which XLA does not know that it is a constant while it computes constants.

    XLA computes a reduction of known constants when it compiles the program: 33 s for the check of
    a million indices (test_bounds.py, test_a_check_of_constants_is_not_folded).
    """
    return lax.optimization_barrier(np.zeros((), dtype))


def _or_pairs(some, others) -> tuple[jax.Array, jax.Array]:
    return lax.bitwise_or(some[0], others[0]), lax.bitwise_or(some[1], others[1])


def _sign(dtype) -> int:
    return 1 << (jnp.iinfo(dtype).bits - 1)


def _words(indices: jax.Array, spec: IndexSpec) -> tuple[jax.Array, jax.Array] | None:
    """Two unsigned numbers `[...]`, of which one has the sign bit where an index is out of bounds.

    None for unsigned indices into more elements than these have without it. The components are
    taken apart first: then XLA reads the arrays that JAX puts side by side for `x[i, j]`, and does
    not write them so for the check.
    """
    dtype, limits = _unsigned_limits(indices, spec)
    if indices.dtype == dtype and any(_symbolic.exceed(spec.limits, _sign(dtype))):
        return None
    pairs = []
    for k, limit in zip(range(indices.shape[-1]), limits, strict=True):
        value = lax.bitcast_convert_type(_component(indices, k), dtype)
        left = lax.sub(limit - np.array(1, dtype), value)
        pairs.append((value, left))
    words = functools.reduce(_or_pairs, pairs)
    is_ignored = ignored(indices, spec)
    if is_ignored is None:
        return words
    value, left = (lax.select(is_ignored, lax.full_like(word, 0), word) for word in words)
    return value, left


def first_out_of_bounds(
    indices: jax.Array, spec: IndexSpec, active: jax.Array | None = None
) -> tuple[jax.Array, jax.Array]:
    """Multi-dimensional position and value of the first bad index vector."""
    # Or XLA would search constant indices when it compiles the program; see `zero_of_reduction`.
    indices = lax.optimization_barrier(indices)
    sharding = jax.typeof(indices).sharding
    # The slice below refuses types with sharded dimensions: under `checkify` a gather did not
    # compile on a mesh of explicit axes (device_programs.py, check_checkify_on_explicit_axes).
    if sharding.mesh.explicit_axes:
        indices = jax.sharding.reshard(indices, sharding.update(spec=P(*[None] * indices.ndim)))
    shape = indices.shape[:-1]
    flat = jnp.argmax(out_of_bounds_bits(indices, spec, active).reshape(-1))
    index = lax.dynamic_index_in_dim(indices.reshape(-1, indices.shape[-1]), flat, keepdims=False)
    # `jnp.stack` of none is refused, and an array would be a constant (check.py,
    # `_functional_error`).
    position = jnp.stack(jnp.unravel_index(flat, shape)) if shape else jnp.zeros(0, flat.dtype)
    return position, index
