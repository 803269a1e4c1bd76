"""Row numbers as the leaf of a pytree: an array that refuses arithmetic.

`IndexedSlices` has two leaves, values and row numbers. An operation that JAX code maps over the
leaves of a gradient, such as a sum, a `psum` or a norm, is meant for the values: done to the row
numbers as well, it would go through and make numbers of other rows. So the row numbers have an
extended dtype, as JAX's typed random keys have: moving, choosing and joining elements works, all
arithmetic is a `TypeError`. JAX's error names the dtype, so the name of the dtype says what to
write instead.
"""

from __future__ import annotations

import functools
from typing import Any, NoReturn

import jax
import jax.extend as jax_extend
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _jax_internals
from jaxops._sparse.slices import not_arrays

INSTEAD = (
    "for whole IndexedSlices write a + b, 2 * a, jaxops.psum, jaxops.global_norm; "
    f"{not_arrays.INSTEAD}"
)


def _is_no_key(*_: Any, **__: Any) -> NoReturn:
    raise TypeError(f"row numbers are no random key; {INSTEAD}")


def _define(words: int, tag: str):
    """A dtype with elements of `words` uint32: one of keys, as JAX lets others define no other."""
    functions = dict.fromkeys(("seed", "split", "random_bits", "fold_in"), _is_no_key)
    return jax_extend.random.define_prng_impl(
        key_shape=(words,), name=f"jaxops_row_numbers_{32 * words}", tag=tag, **functions
    )


_SPECS = {
    np.dtype(np.int32): _define(1, f"row numbers: {INSTEAD}"),
    np.dtype(np.int64): _define(2, f"64-bit row numbers: {INSTEAD}"),
}


@functools.cache
def _integers() -> dict[Any, np.dtype]:
    """The integer type of the row numbers of each of the dtypes."""

    def dtype_of(spec, words):
        bits = jax.ShapeDtypeStruct((words,), jnp.uint32)
        return jax.eval_shape(lambda bits: jax.random.wrap_key_data(bits, impl=spec), bits).dtype

    return {dtype_of(spec, integer.itemsize // 4): integer for integer, spec in _SPECS.items()}


def is_leaf(x: Any) -> bool:
    dtype = getattr(x, "dtype", None)
    return not (dtype is None or isinstance(dtype, np.dtype)) and dtype in _integers()


_jax_internals.word_refusals_of_keys(is_leaf, f"row numbers: {INSTEAD}")


@functools.partial(jax.jit, inline=True)
def to_leaf(indices: jax.Array) -> jax.Array:
    """The leaf for an int32 or int64 array."""
    if indices.dtype == np.int32:
        indices = indices[..., None]
    bits = lax.bitcast_convert_type(indices, jnp.uint32)
    return jax.random.wrap_key_data(bits, impl=_SPECS[indices.dtype])


def type_of_indices(leaf: Any) -> Any:
    """The shape and integer type of the indices of a leaf; anything else as it is."""
    if not is_leaf(leaf):
        return leaf
    sharding = leaf.sharding if isinstance(leaf, jax.ShapeDtypeStruct) else None
    return jax.ShapeDtypeStruct(leaf.shape, _integers()[leaf.dtype], sharding=sharding)


def to_indices(leaf: Any) -> Any:
    """The int32 or int64 array of a leaf; its type for the type of a leaf."""
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return type_of_indices(leaf)
    return _to_indices(leaf)


@functools.partial(jax.jit, inline=True)
def _to_indices(leaf: jax.Array) -> jax.Array:
    bits = jax.random.key_data(leaf)
    if bits.shape[-1] == 1:
        return lax.bitcast_convert_type(bits[..., 0], jnp.int32)
    if jax.config.read("jax_enable_x64"):
        return lax.bitcast_convert_type(bits, jnp.int64)
    # The leaf was made while 64-bit types were on. Row numbers that do not fit int32 are out of
    # bounds of any table that there can be now.
    low, high = bits[..., 0], bits[..., 1]
    nowhere = jnp.iinfo(jnp.int32).max
    fits = (high == 0) & (low < nowhere)
    return jnp.where(fits, lax.bitcast_convert_type(low, jnp.int32), nowhere)
