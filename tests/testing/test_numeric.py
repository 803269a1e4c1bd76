"""Differences tell kinks, rounding and what they cannot tell."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from own_gradients import normal, with_vjp

import jaxops
from jaxops import testing
from jaxops.testing import _numeric

POINT = np.array([1.5, -2, 0.5, 3], np.float32)

KINKS = {
    "abs": (jnp.abs, np.array([1, 0, 2], np.float32), r"\[1\]"),
    "relu": (jax.nn.relu, np.float32(0), ""),
    "max": (jnp.max, np.array([1, 3, 3, 2], np.float32), r"\[[12]\]"),
    "clip": (lambda x: jnp.clip(x, 0, 1), np.array([0.5, 1], np.float32), r"\[1\]"),
    "in-the-middle": (lambda x: jnp.abs(x - 1).sum(), np.array([0.3, 1], np.float32), r"\[1\]"),
    "scatter-max": (
        lambda x: jaxops.tensor_scatter_nd_max(jnp.ones(2, x.dtype), [[0]], x),
        *(np.array([1], np.float32), r"\[0\]"),
    ),
}


@pytest.mark.parametrize("name", KINKS)
def test_kinks_are_told_apart(name):
    f, point, where = KINKS[name]
    for seed in range(5):
        with pytest.raises(AssertionError, match=rf"at args\[0\]{where}: f has a kink there"):
            testing.check_grads(f, point, seed=seed)
    testing.check_grads(f, point + normal(*point.shape, seed=3) / 8)


UNCLEAR = {
    "step": lambda x: jnp.where(x >= 1, x, 2 * x),
    "drowned": lambda x: 1e7 + x,
    "oscillates": lambda x: jnp.sin(1e6 * x),
    "in-steps": lambda x: jnp.tanh(1e6 * (x - 1)),
    "rounded": lambda x: x.astype(jnp.bfloat16).astype(jnp.float32).sum() + 1e5,
}


@pytest.mark.parametrize("name", UNCLEAR)
def test_what_cannot_be_checked_is_said_so(name):
    with pytest.raises(AssertionError, match="could not be checked"):
        testing.check_grads(UNCLEAR[name], np.float32(1))


def test_a_zero_gradient_is_unclear_where_differences_hardly_tell():
    """With the error of the differences a slope of 0 would not be excluded."""
    f = with_vjp(lambda x: jnp.sum(x**2) + 40, lambda x, c: 0 * x)
    with pytest.raises(AssertionError, match="could not be checked"):
        testing.check_grads(f, normal(9, dtype=jnp.bfloat16), modes="rev")


def test_a_kink_of_the_derivative_is_one_of_second_order():
    def f(x):
        return jax.nn.relu(x) ** 2

    testing.check_grads(f, np.float32(0))
    with pytest.raises(AssertionError, match="second derivative of f does not exist"):
        testing.check_grads(f, np.float32(0), order=2)


def test_numeric_dtype_sharpens_the_check():
    def f(x):
        return jnp.sum(x**2) + 300

    point = normal(9, seed=3).astype(jnp.bfloat16)
    with pytest.raises(AssertionError, match=r"could not be checked.*numeric_dtype=float32"):
        testing.check_grads(f, point, seed=3)
    testing.check_grads(f, point, seed=3, numeric_dtype=jnp.float32)
    wrong = with_vjp(f, lambda x, c: jax.grad(f)(x) * c * jnp.bfloat16(1.5))
    with pytest.raises(AssertionError, match="is wrong at"):
        testing.check_grads(wrong, point, seed=3, modes="rev", numeric_dtype=jnp.float32)


def test_the_dtype_of_fewest_digits_sets_the_tolerance():
    def f(x):
        return (x**2).astype(jnp.bfloat16)

    wrong = with_vjp(f, lambda x, c: 3 * x * c.astype(x.dtype))
    with pytest.raises(AssertionError, match=r"is wrong at .*\n(.*\n)*.*rtol=0\.088"):
        testing.check_grads(wrong, POINT, modes="rev")


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_steps_are_numbers_of_the_dtype(dtype):
    """So a function moves exactly along the tangent."""
    ladder = _numeric.ladder_for([jnp.dtype(dtype)])
    # The steps of the first ones stay below 2, some of the third one's do not; the last bits are 1.
    near = np.array([1, *(2 / (1 + n * ladder.first) for n in (2, 1.25)), -251, 2.0**-9])
    spacing = np.ldexp(float(jnp.finfo(dtype).eps), np.frexp(near)[1] - 1)
    x = ((near // spacing // 2 * 2 + 1) * spacing).astype(dtype)
    for seed in range(20):
        direction = _numeric.random_direction([x], ladder, [x.dtype], seed)
        (origin,), (tangent,) = ([_numeric.widen(y) for y in z] for z in direction)
        np.testing.assert_array_equal(origin[[0, 1, 4]], x[[0, 1, 4]].astype(float))
        for step in (*ladder.steps, *(-step for step in ladder.steps)):
            moved = origin + step * tangent
            np.testing.assert_array_equal(moved, moved.astype(dtype).astype(float))


def test_a_direction_within_some_coordinates():
    z = np.array([1 + 2j, 3 - 4j], np.complex64)
    direction = _numeric.Direction([z, POINT], [z, POINT])
    for coordinates in (slice(1, 6), np.array([1, 2, 3, 4, 5])):
        origin, tangents = _numeric.within(direction, coordinates)
        assert origin is direction.origin
        np.testing.assert_array_equal(tangents[0], [2j, 3 - 4j])
        np.testing.assert_array_equal(tangents[1], [1.5, -2, 0, 0])


def test_cotangents_make_results_of_all_sizes_weigh_alike():
    results = [np.full(8, size, np.float32) for size in (1 / 64, 1.0, 64.0)]
    for w, y in zip(_numeric.random_cotangents(results, seed=0), results, strict=True):
        assert ((abs(w * y) >= 0.5) & (abs(w * y) <= 1.5)).all()
