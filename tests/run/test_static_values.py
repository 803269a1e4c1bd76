"""Static arguments: bools of NumPy, shapes of TensorFlow."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops
from jaxops._run.static_values import check_bool


def test_bools_of_numpy_are_bools():
    for x in (True, np.True_, np.bool_(False)):
        assert check_bool(x, "gather", "deterministic") is bool(x)
    for x in (1, np.int8(1), np.array(True), jnp.array(True), None):
        with pytest.raises(TypeError, match="gather: deterministic must be a static bool"):
            check_bool(x, "gather", "deterministic")


class TensorShape:
    """Stands for `tf.TensorShape`, which is neither an array nor a list nor a tuple."""

    def as_list(self):
        return [2, 3]

    def __getitem__(self, index):
        return self.as_list()[index]

    def __len__(self):
        return 2


def test_shapes_of_tensorflow():
    shape: Any = TensorShape()
    assert jaxops.reshape(np.arange(6), shape).shape == (2, 3)
    assert jaxops.tile([[1]], shape).shape == (2, 3)
    assert jaxops.slice(np.ones((4, 4)), [0, 0], shape).shape == (2, 3)
    assert jax.jit(lambda x: jaxops.broadcast_to(x, shape))(1).shape == (2, 3)
