"""extract_image_patches beyond the harness. Expected values are TensorFlow 2.21's."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import primitives
from records.loops import floats
from records.patches import extract_patches

import jaxops


def patches(x, sizes, strides=(1, 1), rates=(1, 1), padding: Any = "SAME"):
    return jaxops.extract_image_patches(
        x, [1, *sizes, 1], [1, *strides, 1], [1, *rates, 1], padding
    )


@pytest.mark.parametrize("n", range(40))
def test_against_loops(n):
    """Windows smaller and larger than strides and images, with and without rates."""
    rng = np.random.default_rng(n)
    sizes, strides, rates = (rng.integers(1, high, 2).tolist() for high in (8, 5, 3))
    if n % 4 == 0:
        strides = [1, 1]
    if n % 3:
        rates = [1, 1]
    x = floats(n % 5 and 2, *rng.integers(12 if n % 2 else 0, 15, 2), int(rng.integers(1, 3)))
    padding = "VALID" if n % 2 else "SAME"
    expected = extract_patches(x, sizes, strides, rates, padding)
    result = patches(x, sizes, strides, rates, padding)
    np.testing.assert_array_equal(result, expected, strict=True)


@pytest.mark.parametrize(
    ("sizes", "strides", "rates"),
    [((3, 3), (1, 1), (1, 1)), ((3, 3), (2, 2), (1, 1)), ((2, 2), (1, 1), (2, 3))],
    ids=str,
)
def test_the_gradient_adds_pixels_in_one_loop(sizes, strides, rates):
    """On a CPU too, where patches are joined otherwise. It takes a third of the time."""

    def function(x):
        return patches(x, sizes, strides, rates)

    x = floats(2, 9, 9, 2)
    y, pull_back = jax.vjp(function, x)
    equations = primitives(pull_back, y)
    assert equations.count("pad") >= sizes[0] * sizes[1] > 1
    assert not {"cond", "reshape", "transpose"} & set(equations)
    np.testing.assert_array_equal(jax.jvp(function, [x], [x])[1], y)


def _count(name, *arguments):
    return primitives(lambda x: patches(x, *arguments), jnp.zeros((1, 32, 32, 3))).count(name)


def test_windows_side_by_side_are_one_transpose():
    """No piece per pixel of the window, which would take seconds to compile."""
    assert _count("slice", (16, 16), (16, 16), (1, 1), "VALID") <= 4
    assert _count("gather", (16, 16), (16, 16), (1, 1), "VALID") == 0
    assert _count("slice", (16, 16), (8, 8), (1, 1), "VALID") <= 6


@pytest.mark.parametrize("sizes", [(2, 2), (1, 4), (3, 1)], ids=str)
def test_few_pixels_are_joined_one_by_one(sizes):
    """On a CPU too; but not where windows do not overlap, which are a transpose."""
    for rates in ((1, 1), (2, 3)):
        assert _count("slice", sizes, (1, 1), rates) == sizes[0] * sizes[1]
        assert _count("cond", sizes, (1, 1), rates) == 0
    assert _count("cond", sizes, sizes) == 1


LARGE = {
    "rows": ((40, 2), (1, 1), (1, 1), "SAME"),
    "columns": ((1, 23), (1, 2), (1, 1), "VALID"),
    "both": ((30, 20), (2, 1), (1, 1), "SAME"),
    "rates": ((12, 2), (1, 3), (2, 5), "SAME"),
}


@pytest.mark.parametrize("arguments", LARGE.values(), ids=LARGE)
def test_large_windows(arguments):
    """By one gather, as XLA compiles pieces one by one: those of 400 rows for 20 s."""
    x = floats(2, 25, 24, 2)
    expected = extract_patches(x, *arguments)
    np.testing.assert_array_equal(jax.jit(lambda x: patches(x, *arguments))(x), expected)
    assert _count("slice", *arguments) <= 3


@pytest.mark.parametrize("size", [400, 10_000])
def test_a_program_does_not_grow_with_its_windows(size):
    image = jax.ShapeDtypeStruct((1, size + 100, 1, 1), jnp.float32)
    jaxpr = jax.make_jaxpr(lambda x: patches(x, (size, 1), padding="VALID"))(image).jaxpr
    assert len(jaxpr.eqns) < 40
