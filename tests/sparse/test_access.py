"""Lookups, however they are written, become rows of the table."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import share
from fast import fast_jit
from jax import lax
from sparse_checks import assert_sparse, square, table
from test_sparse_grad_family import LONG_LOOKUPS, LOOKUPS, MATRIX_LOOKUPS

import jaxops

INDICES = jnp.array([[3, 0, 3], [6, 3, 1]], jnp.int32)
SEVERAL_ROWS = {
    "block": lambda t, i: t[1:3, 1:],
    "slice": lambda t, i: jaxops.slice(t, [i[0, 0], 0], [2, 3]),
}
OTHERS = LOOKUPS | LONG_LOOKUPS | MATRIX_LOOKUPS


@pytest.mark.parametrize("lookup", [*SEVERAL_ROWS, *share(OTHERS, 2)])
def test_lookups(lookup):
    read = (SEVERAL_ROWS | OTHERS)[lookup]
    weight = jnp.float32(2)
    params = {"embed": table(7, 3), "w": weight}

    def loss(params, indices):
        rows = read(params["embed"], indices)
        return jnp.sum(params["w"] * rows * (rows - 1))

    grads = assert_sparse(loss, params, INDICES)
    assert isinstance(grads["embed"], jaxops.IndexedSlices)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
@pytest.mark.parametrize("name", ["gather", "take", "indexing-row", "dynamic_slice"])
def test_narrow_indices_of_a_long_table(name, dtype):
    """By NumPy, as the gradient that jax 0.10 has for `dynamic_slice` is wrong here."""
    reads = {
        **LOOKUPS,
        "dynamic_slice": lambda t, i: lax.dynamic_slice(t, (i[0, 0], i[0, 0]), (2, 2)),
    }
    indices = jnp.array([[100, 3], [127, 100]], dtype)

    def loss(t):
        return square(reads[name](t, indices))

    t = table(300, 2)
    _, slices = fast_jit(jaxops.sparse_value_and_grad(loss, tables=""))(t)
    rows = {"indexing-row": [100], "dynamic_slice": [100, 101]}.get(name, [100, 3, 127, 100])
    np.testing.assert_array_equal(slices.indices, rows)
    np.testing.assert_array_equal(slices.values, 2 * t[np.array(rows)] - 1)


NO_INDICES = jnp.zeros(0, jnp.int32)

LOOKUPS_OF_NOTHING = {
    "gather": lambda t: jaxops.gather(t, NO_INDICES),
    "gather_nd": lambda t: jaxops.gather_nd(t, NO_INDICES[:, None]),
    "batch_gather": lambda t: jaxops.batch_gather(t, jnp.zeros((t.shape[0], 0), jnp.int32)),
    "slice": lambda t: t[0:0],
    "take": lambda t: jnp.take(t, NO_INDICES, axis=0),
    "indexing": lambda t: t[NO_INDICES],
    "ignored": lambda t: jaxops.gather(t, jnp.array([0, 3]), mode="fill"),
    "vmap": lambda t: jax.vmap(lambda i: jaxops.gather(t, i))(NO_INDICES[None]),
}


OTHER_SHAPES = [pytest.param(s, marks=pytest.mark.slow) for s in ((0, 0), (4, 0), (2, 0, 3))]


@pytest.mark.parametrize("shape", [(0, 3), *OTHER_SHAPES], ids=str)
@pytest.mark.parametrize("lookup", LOOKUPS_OF_NOTHING)
def test_tables_without_elements(lookup, shape):
    """Lookups pad them, which is no use of a table: there is nothing to have a gradient."""

    def loss(params):
        return square(LOOKUPS_OF_NOTHING[lookup](params["embed"])) + square(params["other"])

    params = {"embed": jnp.zeros(shape), "other": jnp.ones(2)}
    for tied in (False, True):
        grads = assert_sparse(loss, params, tied=tied)
        assert grads["embed"].dense_shape == shape
        assert grads["embed"].indices.size == 0
