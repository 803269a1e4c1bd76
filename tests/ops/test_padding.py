"""What the harness does not see of `pad`: the constant, the spelling of modes, refusals."""
# Some calls are wrong on purpose.
# pyright: reportArgumentType=false

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops

T = [[1, 2, 3], [4, 5, 6]]
X = np.array(T, np.float32)


@pytest.mark.parametrize("mode", ["constant", "reflect", "symmetric"])
@pytest.mark.parametrize("spelling", [str.upper, str.lower, str.capitalize])
def test_spelling_of_modes(mode, spelling):
    pads = [[1, 1], [2, 2]]
    np.testing.assert_array_equal(jaxops.pad(T, pads, spelling(mode)), np.pad(T, pads, mode))


def test_scalars_and_empty_axes():
    none = np.zeros((0, 2), np.int32)
    for mode in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        assert jaxops.pad(5, none, mode) == 5
    np.testing.assert_array_equal(jaxops.pad(X[0, :0], [[1, 0]]), [0])
    np.testing.assert_array_equal(jaxops.pad(X[0, :1], [[1, 1]], "symmetric"), [1, 1, 1])
    assert jaxops.pad(X[:, :0], [[0, 0], [0, 0]], "symmetric").shape == (2, 0)


# tensor, constant_values, what stands in the padding
CONSTANTS = {
    "int": (np.array([1], np.float16), 7, 7),
    "float": (X[0], 7.5, 7.5),
    "numpy": (X[0], np.int32(7), 7),
    "jax": (X[0], jnp.float32(7), 7),
    "zero-of-uint8": (np.array([1], np.uint8), 0.0, 0),
    "negative-zero": (X[0], -0.0, 0.0),
    "bool": (np.array([True]), True, True),
    "false": (np.array([True]), 0, False),
    "bytes": (np.array([b"a"]), b"zz", b"zz"),
    "str": (["a"], "z", "z"),
    "empty-str": (["a"], 0, ""),
    "empty-bytes": (np.array([b"a"], object), 0, b""),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants(name):
    tensor, constant, expected = CONSTANTS[name]
    before, *middle, after = np.asarray(jaxops.pad(tensor, [[1, 1]], constant_values=constant))
    assert middle == list(tensor)
    assert before == after == expected
    assert type(expected) is not float or not np.signbit(before)


def test_a_traced_constant():
    def padded(x, constant):
        return jaxops.pad(x, [[1, 0], [1, 1]], constant_values=constant)

    result = jax.jit(padded)(X, 2.0)
    np.testing.assert_array_equal(result, np.pad(X, [[1, 0], [1, 1]], constant_values=2))
    x_bar, constant_bar = jax.grad(lambda x, c: padded(x, c).sum(), (0, 1))(X, 2.0)
    np.testing.assert_array_equal(x_bar, np.ones_like(X))
    assert constant_bar == 9
    mapped = jax.vmap(padded, (None, 0))(X, jnp.array([1, 2], jnp.float32))
    np.testing.assert_array_equal(mapped[1], result)
    # Where all but the constant is known at trace time.
    np.testing.assert_array_equal(
        jax.jit(lambda c: jaxops.pad([1], [[1, 1]], constant_values=c))(jnp.array(3)), [3, 1, 3]
    )


@pytest.mark.parametrize("platform", ["cpu", "tpu"])
def test_no_gather_and_the_order_of_dimensions(platform):
    program = jax.jit(lambda x: jaxops.pad(x, [[1, 1], [2, 2]], "REFLECT"))
    text = program.trace(X).lower(lowering_platforms=(platform,)).as_text()
    moves = set(re.findall(r"stablehlo\.(\w+)", text)) - {"case", "constant", "return"}
    assert moves == {"slice", "reverse", "concatenate"}
    order = "01" if platform == "tpu" else "10"  # of the dimensions
    assert re.findall(r"concatenate .*dim = (\d)", text) == [*order]


@pytest.mark.parametrize("constant", [1, -1.5, "a", None, [1, 2]])
def test_mirrors_look_at_no_constant(constant):
    """As in TensorFlow 2.21."""
    for mode, expected in [("REFLECT", [2, 1, 2, 3, 2]), ("symmetric", [1, 1, 2, 3, 3])]:
        result = jaxops.pad([1, 2, 3], [[1, 1]], mode, constant)
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("tensor", [np.zeros((2, 3), np.float32), np.full((2, 3), np.inf)])
def test_gradient_of_the_constant(tensor):
    """Also of a tensor that does not depend on it, and whose cotangents are infinite."""

    def loss(constant, tensor):
        padded = jaxops.pad(tensor, [[1, 0], [0, 2]], constant_values=constant)
        return jnp.sum(padded * jnp.where(jnp.isinf(padded), padded, 1))

    tensor = jnp.asarray(tensor, jnp.float32)
    assert jax.jit(jax.grad(loss))(2.0, tensor) == 9
