"""The places of values in sorted rows."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _forms, _symbolic
from jaxops._indexing import canonical
from jaxops._indexing.dimension_numbers import Windows
from jaxops._indexing.specs import ScalarIndex
from jaxops._primitives import varying_alike


def places_of(sequence: jax.Array, values: jax.Array, *, side: str) -> jax.Array:
    """`bisect`, by the form for the platform."""
    return _forms.call(bisect, sequence, values, side=side)


def bisect(sequence: jax.Array, values: jax.Array, *, side: str) -> jax.Array:
    """The place of each of `values[D + M]` in its row of `sequence[D + [n]]`; uint32 `[D + M]`.

    By the bisection of C++, so that unsorted rows lead to TensorFlow's places. `side` is static.
    """
    length = sequence.shape[-1]
    last_axis = sequence.ndim - 1
    windows = Windows(axes=(last_axis,), batch_dims=last_axis)
    spec = ScalarIndex("searchsorted", limits=(length,))
    count, last = _symbolic.numbers([length, length - 1], np.uint32)

    def halve(step, state):
        # After as many steps either `most` elements are left or one less: the last bit of the state
        # is set then. The others are the first element that is left. One array of both is read and
        # written in half the time of two.
        # `jax.disable_jit` makes `step` an int.
        most = count >> lax.convert_element_type(step, np.uint32)
        first, left = state >> 1, most - (state & 1)
        half = left >> 1
        middle = first + half
        # Of no elements left, where the middle may be the end.
        at = jnp.minimum(middle, last).astype(np.int32)[..., None]
        element = canonical.gather(sequence, at, windows, spec, mode="promise_in_bounds")
        is_before = element < values if side == "left" else ~(values < element)
        is_before &= left > 0
        first = jnp.where(is_before, middle + 1, first)
        left = jnp.where(is_before, left - half - 1, half)
        return (first << 1) | ((most >> 1) - left)

    steps = length.bit_length() if _symbolic.are_known([length]) else 31
    # Under `shard_map` the carry of a loop must vary along the same axes as the operands of the
    # loop (test_varying.py, test_function_and_derivatives).
    whole, *_ = varying_alike(jnp.zeros(values.shape, np.uint32), sequence, values)
    return lax.fori_loop(0, steps, halve, whole) >> 1
