"""The canonical gather and scatter: gradients of overwriting, arrays without elements."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops


@pytest.mark.parametrize("kind", ["min", "max"])
def test_extremum_shares_its_gradient_among_ties(kind):
    op = getattr(jaxops, f"tensor_scatter_nd_{kind}")
    sign = 1.0 if kind == "max" else -1.0

    def total(tensor, updates):
        return op(sign * tensor, [[1], [1], [0]], sign * updates).sum()

    tensor, updates = jnp.array([1.0, 2, 3]), jnp.array([2.0, 2, 3])
    tensor_bar, updates_bar = jax.grad(total, (0, 1))(tensor, updates)
    # As tf.GradientTape of TensorFlow 2.21 has it.
    np.testing.assert_allclose(sign * tensor_bar, [0, 1 / 3, 1], rtol=1e-6)
    np.testing.assert_allclose(sign * updates_bar, [1 / 3, 1 / 3, 1], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e5m2"])
def test_many_share_the_gradient_of_an_extremum(dtype):
    count = 4096
    ids = np.zeros(count, np.int32)

    def greatest(x):
        return jaxops.unsorted_segment_max(x, ids, 1)

    x = jnp.zeros(count, dtype)
    _, tangent = jax.jvp(greatest, (x,), (jnp.ones_like(x),))
    np.testing.assert_array_equal(np.float32(tangent), [1])
    (gradient,) = jax.vjp(greatest, x)[1](jnp.ones(1, dtype))
    np.testing.assert_array_equal(np.float32(gradient), np.full(count, 1 / count))


def test_an_infinite_cotangent_stays_with_the_extremum():
    x = jnp.array([1.0, 2.0, 3.0])
    _, pull = jax.vjp(lambda x: jaxops.unsorted_segment_max(x, [0, 0, 0], 1), x)
    (gradient,) = pull(jnp.array([jnp.inf]))
    # As tf.GradientTape of TensorFlow 2.21 has it.
    np.testing.assert_array_equal(gradient, [0, 0, np.inf])
