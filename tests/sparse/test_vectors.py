"""_sparse/optimizer/vectors: arrays of several types as one vector, in a program and outside."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxops._sparse.optimizer.vectors import Vectors

pytestmark = pytest.mark.usefixtures("standard_promotion")
ARRAYS = [
    jnp.arange(6.0).reshape(2, 3),
    jnp.int32(7),
    jnp.array([1 + 2j, 3 - 1j], jnp.complex64),
    jnp.zeros((0, 2)),
    jnp.array([0.5, 2.0], jnp.bfloat16),
    jax.random.key(3),
    jnp.array([True, False]),
    jnp.float32(9.0),
]


def test_there_and_back():
    vectors = Vectors([jax.ShapeDtypeStruct(x.shape, x.dtype) for x in ARRAYS])
    parts, others = vectors.packed(ARRAYS)
    vector = vectors.join(parts)
    assert len(vector) == len(vectors) == 6 + 1 + 4 + 2 + 2 + 1
    back = vectors.unpacked(vectors.split(vector), others)
    for x, y in zip(ARRAYS, back, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        assert bool(jnp.all(x == y))


def test_places_and_leaves():
    vectors = Vectors([jax.ShapeDtypeStruct(x.shape, x.dtype) for x in ARRAYS])
    vector = vectors.join(vectors.packed(ARRAYS)[0])
    np.testing.assert_array_equal(vector[vectors.places[0]], ARRAYS[0])
    np.testing.assert_array_equal(vector[vectors.of([7, 1, 5])], [9, 7])
    np.testing.assert_array_equal(vectors.leaf[vectors.places[2]], np.full((2, 2), 2))


def test_what_is_packed_becomes_what_the_types_say():
    vectors = Vectors([jax.ShapeDtypeStruct((2, 3), jnp.float32)])
    (part,), _ = vectors.packed([jnp.array([1, 2, 3])])
    np.testing.assert_array_equal(part, np.array([1, 2, 3, 1, 2, 3], np.float32))
