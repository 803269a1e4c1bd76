"""What the harness does not see of `_ops/rolling.py`: kinds of shifts, strings."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops
from jaxops._ops import rolling

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


@pytest.mark.parametrize("shift", [[1, -2, 7], [0, 3, 0], [-4, 0, 5], [2**31 - 1, -(2**31), 1]])
def test_a_program_knows_shifts_that_are_not_traced(shift):
    """It has no dynamic slices, nor has its gradient."""
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    axis = [0, -1, 0]

    def roll(x):
        return jaxops.roll(x, shift, axis)

    expected = np.roll(x, shift, axis)
    np.testing.assert_array_equal(jax.jit(roll)(x), expected, strict=True)
    np.testing.assert_array_equal(roll(x), expected, strict=True)

    def pull_back(x):
        return jax.vjp(roll, x)[1](x)[0]

    back = np.roll(x, [-by for by in shift], axis)
    np.testing.assert_array_equal(jax.jit(pull_back)(x), back, strict=True)
    np.testing.assert_array_equal(pull_back(x), back, strict=True)
    for function in (roll, pull_back):
        assert "dynamic" not in str(jax.make_jaxpr(function)(x))


def test_under_an_eager_derivative_one_program_serves_all_shifts(monkeypatch):
    monkeypatch.setattr(rolling, "_roll_by_known", None)  # whose slices compile for each shift
    for shift in (1, -1):
        result, pull_back = jax.vjp(lambda x, by=shift: jaxops.roll(x, by, 0), LONG)
        np.testing.assert_array_equal(result, np.roll(LONG, shift))
        np.testing.assert_array_equal(pull_back(LONG)[0], np.roll(LONG, -shift))


def test_what_is_flattened():
    x, y = jaxops.meshgrid([[1.0, 2], [3, 4]], 5)
    assert (x.tolist(), y.tolist()) == ([[1, 2, 3, 4]], [[5, 5, 5, 5]])
    assert jaxops.meshgrid() == []


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32])
def test_one_roll_for_all_shifts_of_a_dimension(dtype):
    """Their sum is beyond the dtype; dimensions of 1 are not rolled."""
    info = np.iinfo(dtype)
    shifts = np.random.default_rng(0).integers(info.min, info.max, 60, dtype, endpoint=True)
    shifts[:3] = info.max, info.min, info.max
    x, axes = LONG.reshape(1, 3, 100), [2, 1, 0] * 20
    expected = x
    for shift, axis in zip(shifts.tolist(), axes, strict=True):
        expected = np.roll(expected, shift % x.shape[axis], axis)
    np.testing.assert_array_equal(jaxops.roll(x, shifts, axes), expected)
    np.testing.assert_array_equal(jax.jit(lambda x: jaxops.roll(x, shifts, axes))(x), expected)
    program = str(jax.make_jaxpr(lambda x, by: jaxops.roll(x, by, axes))(x, shifts))
    assert program.count("dynamic_slice") == 2
