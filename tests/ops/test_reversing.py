"""What the harness does not see of `_ops/reversing.py`: bad lengths, transforms, refusals."""
# Some calls are wrong on purpose.
# pyright: reportArgumentType=false

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import assert_fails
from jax.experimental import checkify

import jaxops

Y = np.arange(8, dtype=np.float32).reshape(2, 4)


def test_reverse_of_scalars():
    # As TensorFlow 2.21, which does not look at the axis then.
    assert jaxops.reverse(1.0, []) == jaxops.reverse(1.0, [0]) == 1


# lengths for Y with seq_axis=1, text, position, index
OUT_OF_BOUNDS = {
    "too-long": ([4, 5], "seq_lens(1) > input.dims(1): 5 is not in [0, 5)", (1,), 5),
    "negative": ([-1, 7], "seq_lens(0) < 0: -1 is not in [0, 5)", (0,), -1),
}


def reversed_rows(lengths, mode="device"):
    return jaxops.reverse_sequence(Y, lengths, 1, mode=mode)


@pytest.mark.parametrize("name", OUT_OF_BOUNDS)
def test_lengths_out_of_bounds(name):
    lengths, text, position, index = OUT_OF_BOUNDS[name]
    for mode in ("device", "error"):
        with pytest.raises(jaxops.OutOfBoundsError) as info:
            reversed_rows(lengths, mode)
        assert str(info.value).startswith(f"{text} [Op:reverse_sequence] at ")
        assert (info.value.position, info.value.index, info.value.bound) == (position, index, 5)
        compiled = jax.jit(lambda i, mode=mode: reversed_rows(i, mode))
        assert_fails(text, compiled, jnp.array(lengths))
        np.testing.assert_array_equal(compiled(jnp.array([0, 4])), [Y[0], Y[1, ::-1]])
    error, _ = jax.jit(checkify.checkify(reversed_rows))(jnp.array(lengths))
    assert error.get().startswith(text)
    with pytest.raises(jaxops.OutOfBoundsError, match=r"seq_lens\(1,"):
        jax.vmap(reversed_rows)(jnp.array([[0, 0], lengths]))


def test_lengths_of_nothing_are_checked():
    # As TensorFlow 2.21.
    empty = np.zeros((2, 3, 0), np.float32)
    for call in (jaxops.reverse_sequence, jax.jit(jaxops.reverse_sequence, static_argnums=(2,))):
        assert_fails("seq_lens", call, empty, jnp.array([0, 9]), 1)


def test_lowered_for_cuda_there_is_no_callback_and_lengths_are_clipped():
    traced = jax.jit(reversed_rows).trace(jnp.array([0, 4]))
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
