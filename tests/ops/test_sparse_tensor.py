"""SparseTensor: what it holds passes through transformations."""

import jax
import jax.numpy as jnp
import numpy as np
from records.embeddings import PLACES

from jaxops import SparseTensor, nn

TABLE = np.arange(10, dtype=np.float32).reshape(5, 2) - 3


def test_a_sparse_tensor_passes_through_transformations():
    ids = SparseTensor(PLACES, jnp.array([1, 3, 0]), np.array([3, 4]))
    lookup = jax.jit(lambda i: nn.embedding_lookup_sparse(TABLE, i, None, "sum"))
    expected = np.stack([TABLE[1] + TABLE[3], [0, 0], TABLE[0]])
    np.testing.assert_array_equal(lookup(ids), expected)
    batch = jax.tree.map(lambda x: jnp.stack([x, x]), jax.tree.map(jnp.asarray, ids))
    for result in jax.vmap(lookup)(batch):
        np.testing.assert_array_equal(result, expected)
