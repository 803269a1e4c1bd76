"""What the harness does not see of `_ops/joining.py`: pieces, dtypes that meet, refusals."""
# Some calls are wrong on purpose.
# pyright: reportArgumentType=false

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops

X = np.arange(6, dtype=np.float32).reshape(2, 3)


# value's shape, num_or_size_splits, axis, num, shapes of the pieces
SPLITS = {
    "rest-alone": ((2, 3), [-1], 1, None, [(2, 3)]),
    "number": ((2, 6), 3, 1, None, [(2, 2)] * 3),
    "negative-axis": ((2, 6), 2, -1, 2, [(2, 3)] * 2),
    "sizes": ((2, 6), [1, 5], 1, 2, [(2, 1), (2, 5)]),
    "rest": ((2, 6), [1, -1, 2], 1, None, [(2, 1), (2, 3), (2, 2)]),
    "rest-of-nothing": ((2, 3), (3, -1), 1, None, [(2, 3), (2, 0)]),
    "array": ((2, 3), np.array([3], np.int8), 1, None, [(2, 3)]),
    "jax-array": ((2, 3), jnp.array([1, 2]), 1, None, [(2, 1), (2, 2)]),
    "number-array": ((2, 3), jnp.array(3), np.array(1), None, [(2, 1)] * 3),
    "empty": ((2, 0), 3, 1, None, [(2, 0)] * 3),
}


@pytest.mark.parametrize("name", SPLITS)
def test_split_shapes(name):
    shape, pieces, axis, num, expected = SPLITS[name]
    value = np.zeros(shape, np.float32)
    result = jaxops.split(value, pieces, axis, num)
    assert isinstance(result, list)
    assert [piece.shape for piece in result] == expected
    compiled = jax.jit(lambda x: jaxops.split(x, pieces, axis, num))(value)
    assert [piece.shape for piece in compiled] == expected


def test_unstack_shapes():
    assert [piece.shape for piece in jaxops.unstack(X, 3, axis=-1)] == [(2,)] * 3
    assert jaxops.unstack(X[:0], 0) == []
    assert [piece.shape for piece in jaxops.unstack(np.zeros((2, 0)))] == [(0,), (0,)]


@pytest.mark.parametrize("xp", [np, jnp], ids=["numpy", "jax"])
def test_an_array_of_values(xp):
    x = xp.asarray(X)
    # To concat it is one value, to stack the list of its rows.
    np.testing.assert_array_equal(jaxops.concat(x, 1), X)
    np.testing.assert_array_equal(jaxops.stack(x), X)
    np.testing.assert_array_equal(jaxops.stack(x, -1), X.T)


def test_one_value_is_not_looked_at():
    # As TensorFlow 2.21: neither its rank nor the axis.
    np.testing.assert_array_equal(jaxops.concat([X], 5), X)
    assert jaxops.concat([1.0], 0) == 1


def test_stack_of_scalars():
    np.testing.assert_array_equal(jaxops.stack([1, 2, 3]), [1, 2, 3])
    jacobian = jax.jacrev(lambda x, y: jaxops.stack([x, y, x]), (0, 1))(1.0, 2.0)
    np.testing.assert_array_equal(jacobian, [[1, 0, 1], [0, 1, 0]])
    assert jaxops.stack(["a", "bb"]).tolist() == ["a", "bb"]


# values, dtype of the result
MEETING = {
    "jax,python": ([jnp.array([1.5], jnp.float16), [2]], np.float16),
    "python,jax": ([[2], jnp.array([1.5], jnp.bfloat16)], jnp.bfloat16),
    "numpy,jax": ([np.array([2]), jnp.array([1], jnp.uint8)], np.uint8),
    "python,numpy": ([[2], np.array([1.5], np.float16)], np.float16),
    "python,numpy of one kind": ([[1.5], np.array([2.5], np.float16)], np.float16),
    "numpy,python": ([np.array([2], np.int8), [3]], np.int8),
    "float,numpy": ([[1.5], np.array([2], np.int8)], np.float32),  # a family of its own
    "python,python": ([[1], [1.5]], np.float32),
    "bool,int": ([[True], [2]], np.int32),
    # Scalars, which NumPy has beside Python's.
    "scalar-python,numpy": ([1.5, np.float16(2)], np.float16),
    "scalar-numpy,python": ([np.float16(2), 1.5], np.float16),
    "scalar-python,numpy-int": ([1, np.int8(2)], np.int8),
    "scalar-bool,numpy-int": ([True, np.uint8(2)], np.uint8),
    "scalar-python,jax": ([1.5, jnp.float16(2)], np.float16),
    "scalar-numpy,jax": ([np.float32(1.5), jnp.float16(2)], np.float16),
    "scalar-python,python": ([1, 1.5], np.float32),
}


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", MEETING)
@pytest.mark.usefixtures("x32")
def test_dtypes_that_meet(name, transform):
    values, dtype = MEETING[name]
    # In the trace the host values stay such, and JAX arrays become tracers.
    arrays = [v for v in values if isinstance(v, jax.Array)]

    def call(arrays):
        rest = iter(arrays)
        return jaxops.stack([next(rest) if isinstance(v, jax.Array) else v for v in values])

    result = transform(call)(arrays)
    assert result.dtype == dtype
    expected = [np.asarray(v, np.float32) for v in values]
    np.testing.assert_array_equal(np.asarray(result, np.float32), expected)
    if not name.startswith("scalar"):
        assert jaxops.concat(values, 0).dtype == dtype


def test_lists_that_hold_tracers():
    result = jax.jit(lambda x: jaxops.concat([[x, 1], jaxops.stack([[x], [2]])[:, 0]], 0))(
        jnp.int8(5)
    )
    assert result.dtype == np.int8
    np.testing.assert_array_equal(result, [5, 1, 5, 2])


def test_an_eager_call_is_one_program():
    values = [jnp.float32(n) for n in range(100)]
    jaxops.stack(values)
    with jax.log_compiles(), jax.no_tracing():
        np.testing.assert_array_equal(jaxops.stack(values), np.arange(100))
