"""where beyond the harness: dtypes of what is selected, positions, strings."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops
from jaxops.compat import v0

INTS, FLOATS = np.array([1, 2], np.int8), np.array([1, 2], np.float16)
DTYPES = {
    "number-of-python": (FLOATS, 3, np.float16),
    "number-first": (3, FLOATS, np.float16),
    "bool-of-python": (True, INTS, np.int8),
    "numbers": (1.5, 2, np.float32),
    "numpy-beside-jax": (np.array([1, 2]), jnp.asarray(FLOATS), np.float16),
    "weak": (jnp.asarray(2.0), FLOATS, np.float16),
}


@pytest.mark.parametrize("case", DTYPES)
@pytest.mark.usefixtures("x32")
def test_dtype(case):
    x, y, dtype = DTYPES[case]

    def op(condition):
        return jaxops.where(condition, x, y)

    for function in (op, jax.jit(op)):
        result = function(np.array([True, False]))
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, np.where([True, False], x, y))


POSITIONS = {
    "vector": [False, True, True],
    "numbers": [[0, 2, 0], [0, 0, -1]],
    "floats": [np.nan, -0.0, 0.5],
    "complex": [0, 1j],
    "none": [[False, False]],
    "empty": np.zeros((0, 3)),
    "nothing-in-a-row": np.zeros((2, 0, 3), bool),
    "cube": np.arange(24).reshape(2, 3, 4) % 3,
}


@pytest.mark.parametrize("case", POSITIONS)
def test_positions(case, x64):
    condition = np.asarray(POSITIONS[case])
    expected = np.argwhere(condition)
    dtype = np.int64 if x64 else np.int32
    result, count = jaxops.where(condition, return_size=True)
    assert isinstance(result, jax.Array)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, expected)
    size = len(expected) + 2

    @jax.jit
    def padded(condition, fill_value):
        return jaxops.where(condition, size=size, fill_value=fill_value, return_size=True)

    held, total = padded(condition, np.array(-1, dtype))
    assert held.dtype == dtype
    np.testing.assert_array_equal(held[:-2], expected)
    assert (held[-2:] == -1).all()
    assert count == total == len(expected)


@pytest.mark.parametrize("shape", [(0, 2**31 - 1), (0, 2**31), (2**31, 0), (2, 0, 2**33)])
def test_positions_in_an_empty_array_of_long_dimensions(shape, x64):
    condition = np.zeros(shape, bool)
    if x64 or max(shape) < 2**31:
        assert jaxops.where(condition).shape == (0, len(shape))
    else:
        with pytest.raises(ValueError, match="must have dimensions that int32 counts"):
            jaxops.where(condition)


def test_positions_of_a_batch():
    conditions = jnp.array([[True, False, True], [False, False, True]])
    result = jax.vmap(lambda c: jaxops.where(c, size=2))(conditions)
    np.testing.assert_array_equal(result[..., 0], [[0, 2], [2, 0]])


def test_positions_known_while_tracing():
    def op(x):
        (place,) = jaxops.where([0, 3, 0], size=1, fill_value=7)[0]
        rows = jaxops.where([False, True])
        return jnp.arange(place), x.reshape(rows[0] + 1)

    assert [y.shape for y in jax.jit(op)(jnp.zeros(2))] == [(1,), (2,)]


def test_positions_of_a_differentiated_value():
    gradient = jax.grad(lambda x: (jaxops.gather_nd(x, jaxops.where(x)) ** 2).sum())
    np.testing.assert_array_equal(gradient(jnp.array([3.0, 0, 2])), [6, 0, 4])


def test_strings():
    result = jaxops.where([[True], [False]], ["a", "b"], "long")
    np.testing.assert_array_equal(result, [["a", "b"], ["long", "long"]], strict=True)
    result = v0.select([True, False], [["a"], ["b"]], [["c"], ["d"]])
    np.testing.assert_array_equal(result, [["a"], ["d"]])


def test_select_of_rows():
    x, y = np.arange(6).reshape(3, 2), -np.ones((3, 2), int)
    rows = np.array([True, False, True])
    for condition, expected in [
        (rows, np.where(rows[:, None], x, y)),
        (True, x),
        (x > 2, np.where(x > 2, x, y)),
    ]:
        np.testing.assert_array_equal(v0.select(condition, x, y), expected)


def test_an_empty_list_is_of_no_bools():
    nothing = np.zeros((0, 2), np.float32)
    assert v0.select([], nothing, nothing).shape == (0, 2)
    for where in (jaxops.where, jax.jit(lambda _, x, y: jaxops.where([], x, y))):
        result = where([], np.array([1.0], np.float32), np.array([2.0], np.float32))
        assert (result.shape, result.dtype) == ((0,), np.float32)
    assert jaxops.where([[], []], ["a"], ["b"]).shape == (2, 0)
    with pytest.raises(TypeError, match="condition must be an array of bools"):
        jaxops.where(np.zeros(0), [1.0], [2.0])
