"""What the harness does not see of `_ops/rolling.py`: kinds of shifts, strings."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops

LONG = np.arange(300, dtype=np.float32)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64])
def test_shifts_at_the_ends_of_their_dtype(dtype):
    for shift in (np.iinfo(dtype).min, np.iinfo(dtype).max):
        with jax.enable_x64(True):
            result = jaxops.roll(LONG, np.array(shift, dtype), 0)
        np.testing.assert_array_equal(result, np.roll(LONG, int(shift) % 300))


def test_traced_and_mapped_shifts():
    x, shifts = LONG[:6].reshape(2, 3), jnp.array([[1, -1], [0, 7]])
    expected = np.stack([np.roll(x, s, (0, 1)) for s in np.asarray(shifts)])
    mapped = jax.vmap(lambda s: jaxops.roll(x, s, [0, 1]))
    np.testing.assert_array_equal(jax.jit(mapped)(shifts), expected)


def test_what_is_flattened():
    x, y = jaxops.meshgrid([[1.0, 2], [3, 4]], 5)
    assert (x.tolist(), y.tolist()) == ([[1, 2, 3, 4]], [[5, 5, 5, 5]])
    assert jaxops.meshgrid() == []


def test_strings():
    assert jaxops.roll(["a", "b", "c"], 1, 0).tolist() == ["c", "a", "b"]
