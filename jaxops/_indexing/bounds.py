"""What "out of bounds" is, in compiled code.

`IndexSpec.inside` is the definition, 0 <= index < limit, in NumPy and for single numbers. The
functions here compute the same of traced indices, in forms that XLA makes fast.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

from jaxops import _symbolic
from jaxops._indexing.index_dtypes import over_components
from jaxops._indexing.specs import IndexSpec


def limits_of(indices: jax.Array, spec: IndexSpec, largest: int, dtype) -> np.ndarray | jax.Array:
    """The limits, none above `largest`, as numbers that broadcast over `indices[..., K]`."""
    # Only known limits are cut: a program computes symbolic ones in JAX's default integer dtype.
    beyond = _symbolic.exceed(spec.limits, largest)
    limits = [largest if b else limit for b, limit in zip(beyond, spec.limits, strict=True)]
    return over_components(_symbolic.as_vector(limits, dtype), indices)


def _as_unsigned(indices: jax.Array, spec: IndexSpec) -> tuple[jax.Array, np.ndarray | jax.Array]:
    """Indices and limits, bit-cast: negative indices become larger than every limit."""
    info = jnp.iinfo(indices.dtype)
    unsigned = np.dtype(f"uint{info.bits}")
    beyond = info.max + 1 if info.min < 0 else info.max
    limits = limits_of(indices, spec, beyond, unsigned)
    return lax.bitcast_convert_type(indices, unsigned), limits


def in_bounds(indices: jax.Array, spec: IndexSpec) -> jax.Array:
    """Mask `[...]` of the index vectors in `indices[..., K]` that are in bounds."""
    values, limits = _as_unsigned(indices, spec)
    inside = values < limits
    info = jnp.iinfo(indices.dtype)
    if info.min == 0:
        # No index is out of bounds of what is longer, and none can be its limit.
        inside |= over_components(_symbolic.exceed(spec.limits, info.max), indices)
    return jnp.all(inside, axis=-1)


def negative_if_ignored(indices: jax.Array, spec: IndexSpec) -> jax.Array | None:
    """Mask of the index vectors that are ignored as they are negative; None if `spec` has none."""
    if not spec.ignores_negative or jnp.issubdtype(indices.dtype, jnp.unsignedinteger):
        return None
    return jnp.any(indices < 0, axis=-1)


def any_out_of_bounds(indices: jax.Array, spec: IndexSpec) -> jax.Array:
    """Whether some index is out of bounds, told by one bit.

    With a limit of at most 2^31 (2^63 for 64-bit indices), an index below 0 sets the sign bit of
    `index`, an index of `limit` or more sets the sign bit of `limit - 1 - index`, and an index in
    bounds sets neither. So the sign bit of the OR of both numbers over all indices is the answer.

    By one reduction of two operands. On a CPU XLA makes that one loop; a reduction of one operand
    it splits into a tree of three loops, which took four times as long for a million indices, and
    twice as long to compile.
    """
    values, limits = _as_unsigned(indices, spec)
    sign = 1 << (jnp.iinfo(values.dtype).bits - 1)
    if isinstance(limits, np.ndarray) and limits.max() > sign:
        # Unsigned indices into more than 2^31 elements.
        return jnp.logical_not(jnp.all(in_bounds(indices, spec)))
    zero = np.zeros((), values.dtype)
    left = limits - np.array(1, limits.dtype) - values
    if negative_if_ignored(indices, spec) is not None:
        left, values = left & ~values, left & ~values  # no sign bit where the index has one
    seen = lax.reduce((values, left), (zero, zero), _or_each, range(values.ndim))
    return (seen[0] | seen[1]) >= np.array(sign, values.dtype)


def _or_each(seen, values):
    return seen[0] | values[0], seen[1] | values[1]


def first_out_of_bounds(indices: jax.Array, spec: IndexSpec) -> tuple[jax.Array, jax.Array]:
    """Multi-dimensional position and value of the first bad index vector."""
    sharding = jax.typeof(indices).sharding
    if sharding.mesh.explicit_axes:  # types that are sharded would refuse what follows
        indices = jax.sharding.reshard(indices, sharding.update(spec=P(*[None] * indices.ndim)))
    shape = indices.shape[:-1]
    inside, ignored = in_bounds(indices, spec), negative_if_ignored(indices, spec)
    inside = inside if ignored is None else inside | ignored
    flat = jnp.argmin(inside.reshape(-1))
    index = lax.dynamic_index_in_dim(indices.reshape(-1, indices.shape[-1]), flat, keepdims=False)
    position = jnp.array(jnp.unravel_index(flat, shape), dtype=flat.dtype).reshape(len(shape))
    return position, index
