"""masks: what is read out of bounds becomes the fill value; what is written there is left alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxops._indexing import masks

X = jnp.arange(1, 7, dtype=jnp.float32).reshape(3, 2)
VALID = jnp.array([True, False, True])[:, None]
FILL = jnp.float32(9)
READ = [[1, 2], [9, 9], [5, 6]]


def test_read_and_write():
    np.testing.assert_array_equal(masks.read(X, FILL, VALID), READ)
    np.testing.assert_array_equal(masks.write(X, VALID), X)


def test_each_is_the_transpose_of_the_other():
    """So the mask stands at the gather, whichever way the program is transposed."""
    zero = jnp.float32(0)
    (bar,) = jax.vjp(lambda x: masks.read(x, zero, VALID), X)[1](X)
    np.testing.assert_array_equal(bar, X)
    (bar,) = jax.vjp(lambda x: masks.write(x, VALID), X)[1](X)
    np.testing.assert_array_equal(bar, jnp.where(VALID, X, 0))
    _, tangent = jax.jvp(lambda x: masks.read(x, FILL, VALID), (X,), (X,))
    np.testing.assert_array_equal(tangent, jnp.where(VALID, X, 0))
    _, tangent = jax.jvp(lambda x: masks.write(x, VALID), (X,), (X,))
    np.testing.assert_array_equal(tangent, X)
    _, bar = jax.vjp(lambda fill: masks.read(X, fill, VALID), FILL)
    np.testing.assert_array_equal(bar(X)[0], 3 + 4)


@pytest.mark.parametrize("batched", range(1, 8))
def test_under_vmap(batched):
    """Each of the operands batched or not, along any dimension."""
    operands = [X, FILL, VALID]
    in_axes = [operand.ndim if batched >> n & 1 else None for n, operand in enumerate(operands)]
    given = [
        x if axis is None else jnp.stack([x, x, x], axis)
        for x, axis in zip(operands, in_axes, strict=True)
    ]
    result = jax.vmap(masks.read, in_axes)(*given)
    np.testing.assert_array_equal(result, [READ] * 3)
    if batched & 5:
        updates = jax.vmap(masks.write, in_axes[::2])(*given[::2])
        np.testing.assert_array_equal(updates, [X] * 3)


def test_programs_for_devices_mask_no_updates():
    """Of the gradient of a gather, and of a scatter: only HLO's scatter decides what counts."""
    import jaxops

    def gradient(rows, indices):
        return jax.vjp(lambda p: jaxops.gather(p, indices), jnp.zeros((9, 2), jnp.float32))[1](rows)

    def scatter(rows, indices):
        return jaxops.scatter_nd(indices[:, None], rows, [9, 2])

    for function in (gradient, scatter):
        indices = jax.ShapeDtypeStruct((3,), np.int32)
        traced = jax.jit(function).trace(X, indices)
        text = traced.lower(lowering_platforms=("tpu",)).as_text()
        assert "stablehlo.scatter" in text
        assert "stablehlo.select" not in text
