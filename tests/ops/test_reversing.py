"""`_ops/reversing.py` with empty lengths and under transformations; the harness has the rest."""

import jax
import jax.numpy as jnp
import numpy as np
from checks import assert_fails

import jaxops

Y = np.arange(8, dtype=np.float32).reshape(2, 4)


def test_reverse_of_scalars():
    # As TensorFlow 2.21, which does not look at the axis then.
    assert jaxops.reverse(1.0, []) == jaxops.reverse(1.0, [0]) == 1


def test_lengths_of_nothing_are_checked():
    # As TensorFlow 2.21.
    empty = np.zeros((2, 3, 0), np.float32)
    for call in (jaxops.reverse_sequence, jax.jit(jaxops.reverse_sequence, static_argnums=(2,))):
        assert_fails("seq_lens", call, empty, jnp.array([0, 9]), 1)


def test_lowered_for_cuda_there_is_no_callback_and_lengths_are_clipped():
    traced = jax.jit(lambda i: jaxops.reverse_sequence(Y, i, 1)).trace(jnp.array([0, 4]))
    cuda = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert "callback" not in cuda
    assert "stablehlo.clamp" in cuda or "stablehlo.minimum" in cuda
    assert "callback" in traced.lower(lowering_platforms=("cpu",)).as_text()


def test_every_argument_maps_twice():
    """Both axes of the batch before or after the sequence, mapped twice."""
    twice = jax.vmap(jax.vmap(lambda x, i: jaxops.reverse_sequence(x, i, 0, 1), (2, 0), 2), 0)
    cube = np.arange(2 * 4 * 3 * 2, dtype=np.float32).reshape(2, 4, 3, 2)
    lengths = np.array([[[1, 2, 3], [4, 0, 2]], [[4, 4, 1], [3, 2, 1]]], np.int32)
    result = twice(cube, lengths)
    for a in range(2):
        for b in range(2):
            expected = jaxops.reverse_sequence(cube[a, :, :, b], lengths[a, b], 0, 1)
            np.testing.assert_array_equal(result[a, :, :, b], expected)
