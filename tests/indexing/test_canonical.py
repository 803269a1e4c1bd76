"""The canonical gather and scatter: gradients of overwriting, arrays without elements."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops


def test_overwritten_elements_get_no_gradient():
    def total(tensor, updates):
        return (jaxops.tensor_scatter_nd_update(tensor, [[0], [2]], updates) ** 2).sum()

    tensor_bar, updates_bar = jax.grad(total, (0, 1))(jnp.array([1.0, 2, 3]), jnp.array([4.0, 5]))
    np.testing.assert_array_equal(tensor_bar, [0, 4, 0])
    np.testing.assert_array_equal(updates_bar, [8, 10])


def test_nothing_is_read_or_written_at_an_index_in_bounds():
    """TensorFlow refuses index vectors wherever the indexed array has no elements."""
    nothing, row = np.zeros((2, 0), np.float32), np.zeros((1, 0), np.float32)
    assert jaxops.gather_nd(nothing, [[1]]).shape == (1, 0)
    assert jaxops.scatter_nd([[1]], row, [2, 0]).shape == (2, 0)
    assert jaxops.tensor_scatter_nd_update(nothing, [[1]], row).shape == (2, 0)
    for call in (
        lambda: jaxops.gather_nd(nothing, [[2]]),
        lambda: jaxops.scatter_nd([[2]], row, [2, 0]),
        lambda: jaxops.tensor_scatter_nd_update(nothing, [[2]], row),
    ):
        with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[0\] = \[2\] does not index"):
            call()


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
