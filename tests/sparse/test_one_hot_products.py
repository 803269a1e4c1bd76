"""Products of one-hot matrices with tables."""

import jax
import jax.numpy as jnp
import pytest
from checks import share
from sparse_patterns import INDICES, ROWS, assert_rows_first, params, polynomial

import jaxops

pytestmark = pytest.mark.usefixtures("x32")

BATCH = INDICES.reshape(2, 2)
PRODUCTS = {
    "jax": lambda t, p: jax.nn.one_hot(INDICES, ROWS) @ t,
    "jaxops": lambda t, p: jaxops.one_hot(INDICES, ROWS) @ t,
    "comparison": lambda t, p: (INDICES[:, None] == jnp.arange(ROWS)[None]).astype(t.dtype) @ t,
    "batch": lambda t, p: jax.nn.one_hot(BATCH, ROWS) @ (t * p["c"][None]),
    "einsum": lambda t, p: jnp.einsum("bnv,vd->bnd", jax.nn.one_hot(BATCH, ROWS), t),
    "einsum, transposed": lambda t, p: jnp.einsum("bnv,vd->dnb", jax.nn.one_hot(BATCH, ROWS), t),
    "transposed": lambda t, p: t.T @ jax.nn.one_hot(INDICES, ROWS).T,
    "batch, transposed": lambda t, p: jnp.tensordot(
        t.T, jax.nn.one_hot(BATCH, ROWS).transpose(1, 2, 0), axes=([1], [1])
    ),
    "axis": lambda t, p: jax.nn.one_hot(INDICES, ROWS, axis=0).T @ t,
    "vector": lambda t, p: jax.nn.one_hot(INDICES, ROWS) @ t[:, 1],
    "one": lambda t, p: jax.nn.one_hot(INDICES[0], ROWS) @ t,
    "outside": lambda t, p: jax.nn.one_hot(INDICES + 10, ROWS) @ t,
    "bfloat16": lambda t, p: (
        jax.nn.one_hot(INDICES, ROWS, dtype=jnp.bfloat16) @ t.astype(jnp.bfloat16)
    ).astype(t.dtype),
    "weighed afterwards": lambda t, p: p["c"][:, None] * (jax.nn.one_hot(INDICES[:3], ROWS) @ t),
}


@pytest.mark.parametrize("name", share(PRODUCTS, 2))
def test_rows_first(name):
    def loss(p):
        return polynomial(PRODUCTS[name](p["t"], p))

    grads = assert_rows_first(loss, params())
    assert grads["t"].values.shape[0] <= INDICES.size


OTHERS = {  # matrices that are not one-hot
    "other number": lambda t: jnp.where(INDICES[:, None] == jnp.arange(ROWS)[None], 2.0, 0.0) @ t,
    "not 0 elsewhere": lambda t: jaxops.one_hot(INDICES, ROWS, 1.0, 0.5) @ t,
    "along the other axis": lambda t: jax.nn.one_hot(INDICES[:3], ROWS, axis=1) @ t,
    "compared twice": lambda t: (
        jnp.arange(ROWS)[:, None] == jnp.arange(ROWS)[None] // 2
    ).astype(t.dtype) @ t,
    "comparison of a row": lambda t: (
        jnp.arange(ROWS)[None] == 2 * jnp.arange(ROWS)[None]
    ).astype(t.dtype) @ t,
}  # fmt: skip


@pytest.mark.parametrize("name", ["other number", "not 0 elsewhere", "comparison of a row"])
def test_other_matrices_take_the_whole_table(name):
    def loss(t):
        return polynomial(OTHERS[name](t))

    with pytest.raises(ValueError, match="must be used by lookups"):
        jaxops.sparse_value_and_grad(loss, tables="")(params()["t"])
