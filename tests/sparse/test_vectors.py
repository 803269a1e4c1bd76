"""_sparse/optimizer/vectors: arrays of several types as one vector."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxops._sparse.optimizer.vectors import Vectors

ARRAYS = [
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.array(7, np.int32),
    np.array([1 + 2j, 3 - 1j], np.complex64),
    np.zeros((0, 2), np.float32),
    np.array([0.5, 2.0], jnp.bfloat16),
    jax.random.key(3),
    np.array([True, False]),
    np.array(9, np.float32),
]


def vectors_of_arrays():
    return Vectors([jax.ShapeDtypeStruct(x.shape, x.dtype) for x in ARRAYS])


def test_there_and_back():
    vectors = vectors_of_arrays()
    matrix = vectors.join([x[None] for x in ARRAYS], 2)
    assert matrix.shape == (2, len(vectors)) == (2, 6 + 1 + 4 + 2 + 2 + 1)
    back = vectors.split(matrix, [ARRAYS[5]])
    for n, (x, y) in enumerate(zip(ARRAYS, back, strict=True)):
        assert x.dtype == y.dtype
        if n in vectors.others:
            assert y is x
        else:
            np.testing.assert_array_equal(y, np.stack([x, x]))


def test_places_and_leaves():
    vectors = vectors_of_arrays()
    (vector,) = vectors.join([x[None] for x in ARRAYS], 1)
    np.testing.assert_array_equal(vector[vectors.places[0]], ARRAYS[0])
    np.testing.assert_array_equal(vector[vectors.of([7, 1, 5])], [9, 7])
    np.testing.assert_array_equal(vectors.leaf[vectors.places[2]], np.full((2, 2), 2))


def test_what_is_joined_becomes_what_the_types_say():
    vectors = Vectors([jax.ShapeDtypeStruct((2, 3), jnp.float32)])
    (vector,) = vectors.join([np.array([[1, 2, 3]])], 1)
    np.testing.assert_array_equal(vector, [1, 2, 3, 1, 2, 3])


def test_by_leaf():
    """An array without numbers has 0."""
    vectors = Vectors([jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((2,), (0,), (3,))])
    matrix = np.array([[1.0, 5, 2, 0, 9], [4, 3, 2, 1, 0]])
    np.testing.assert_array_equal(vectors.by_leaf(np.maximum, matrix), [[5, 0, 9], [4, 0, 2]])
