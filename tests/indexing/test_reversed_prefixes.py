"""The reversal of prefixes is its own transpose, and is the same on every shard."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from fast import fast_jit

import jaxops
from jaxops._indexing.reversed_prefixes import reverse_prefixes_p

Y = np.arange(8, dtype=np.float32).reshape(2, 4)


def test_batches_along_any_dimension():
    """Of the input, of the lengths, or of both."""
    inputs, lengths = np.stack([Y, Y + 9, Y[::-1]]), np.array([[2, 3], [4, 1], [0, 2]])

    reverse = functools.partial(reverse_prefixes_p.bind, seq_axis=1, batch_axes=(0,))
    in_axes = [*itertools.product([0, 1, 2, None], [0, 1, None])][:-1]

    def along(stacked, axis):
        return stacked[0] if axis is None else np.moveaxis(stacked, 0, axis)

    arrays = [(along(inputs, d), along(lengths, e)) for d, e in in_axes]

    @fast_jit
    def mapped(arrays):
        return [jax.vmap(reverse, axes)(*own) for axes, own in zip(in_axes, arrays, strict=True)]

    for (d, e), result in zip(in_axes, mapped(arrays), strict=True):
        for k in range(3):
            x, n = Y if d is None else inputs[k], lengths[0 if e is None else k]
            expected = [[*row[:stop][::-1], *row[stop:]] for row, stop in zip(x, n, strict=True)]
            np.testing.assert_array_equal(result[k], expected)


def test_its_gradient_is_itself():
    def total(x):
        return jaxops.reverse_sequence(x, jnp.array([2, 3]), 1).sum()

    primitives = str(jax.make_jaxpr(jax.grad(total))(Y))
    assert "scatter" not in primitives
    assert "reverse_sequence[" in primitives
