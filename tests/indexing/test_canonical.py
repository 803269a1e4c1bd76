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
