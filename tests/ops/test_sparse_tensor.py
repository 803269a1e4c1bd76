"""SparseTensor: what it holds passes through transformations."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P
from records.embeddings import PLACES

from jaxops import IndexedSlices, RaggedTensor, SparseTensor, nn

TABLE = np.arange(10, dtype=np.float32).reshape(5, 2) - 3


def test_a_sparse_tensor_passes_through_transformations():
    ids = SparseTensor(PLACES, jnp.array([1, 3, 0]), np.array([3, 4]))
    lookup = jax.jit(lambda i: nn.embedding_lookup_sparse(TABLE, i, None, "sum"))
    expected = np.stack([TABLE[1] + TABLE[3], [0, 0], TABLE[0]])
    np.testing.assert_array_equal(lookup(ids), expected)
    batch = jax.tree.map(lambda x: jnp.stack([x, x]), jax.tree.map(jnp.asarray, ids))
    for result in jax.vmap(lookup)(batch):
        np.testing.assert_array_equal(result, expected)


VALUES = np.array([3, 1, 2])


@pytest.mark.parametrize(
    ("make", "given"),
    [
        (lambda i, x: SparseTensor(i, x, (9, 9)), (np.array(PLACES), VALUES)),
        (lambda i, x: SparseTensor(i, x, (9, 9)), (np.array(PLACES), np.array(["a", "b", "c"]))),
        (lambda i, x: SparseTensor(i, x, (9, 9)), (np.array(PLACES).tolist(), VALUES.tolist())),
        (lambda i, x: IndexedSlices(x, i, (9,)), (VALUES, VALUES)),
        (RaggedTensor.from_row_lengths, (np.arange(6.0), VALUES)),
        (RaggedTensor.from_row_splits, (np.arange(3.0), np.array([0, 1, 3]))),
        (RaggedTensor.from_value_rowids, (np.arange(3.0), np.array([0, 1, 1]))),
    ],
    ids=["sparse", "strings", "lists", "slices", "lengths", "splits", "rowids"],
)
def test_memory_stays_the_callers(make, given):
    """A caller who writes to an array does not change the object, whose arrays are read-only."""
    given = [x.copy() for x in given]
    leaves = jax.tree.leaves(make(*given))
    before = [np.array(x) for x in leaves if isinstance(x.dtype, np.dtype)]
    for x in given:
        x[:] = x[::-1]
    after = [np.asarray(x) for x in leaves if isinstance(x.dtype, np.dtype)]
    for x, y in zip(before, after, strict=True):
        np.testing.assert_array_equal(x, y)
        assert not y.flags.writeable


def test_components_may_stand_for_arrays():
    """Axes of vmap, and the types of arrays, which have other shapes or none."""
    ids = SparseTensor(PLACES, VALUES, (3, 4))
    types = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), ids)
    again = SparseTensor(types.indices, types.values, (3, 4))
    assert jax.tree.structure(again) == jax.tree.structure(ids)
    in_axes, no_axis = SparseTensor(0, 0, (3, 4)), P()
    assert jax.tree.leaves(SparseTensor(no_axis, no_axis, (3, 4))) == [no_axis, no_axis]  # type: ignore[arg-type]
    batch = jax.tree.map(lambda x: jnp.stack([x, x]), ids)
    lookup = jax.vmap(lambda ids: nn.embedding_lookup_sparse(TABLE, ids, None), (in_axes,))
    expected = nn.embedding_lookup_sparse(TABLE, ids, None)
    np.testing.assert_array_equal(lookup(batch), jnp.stack([expected, expected]))
