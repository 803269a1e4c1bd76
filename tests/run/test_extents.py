"""_run/extents: shapes that XLA cannot count. Only traced here, as others may end XLA."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops
from jaxops import testing
from jaxops._run import extents

(N,) = jax.export.symbolic_shape("n")
LARGE, COUNTED, WALKED = (
    "2**56 bytes",
    "2**63 bytes by the dimensions before a 0",
    "2**26 places before a 0",
)
LIMITS = [
    ((), np.float32, None),
    ((2**54 - 1,), np.float32, None),
    ((2**54,), np.float32, LARGE),
    ((2**53, 7), np.float32, LARGE),
    ((2**53, 7), np.int8, None),
    ((2**31, 2**32, 0), np.int8, COUNTED),
    ((2**31, 2**30, 0), np.float32, COUNTED),
    ((0, 2**31, 2**32), np.float32, None),
    ((0, 2**63 - 1), np.float32, None),
    ((0, 2**63), np.float32, COUNTED),
    ((2**26, 0), np.float32, WALKED),
    ((2**13, 2**13, 0), np.float32, WALKED),
    ((2**26 - 1, 0, 2**40), np.float32, None),
    # In 32 bits these are less than 0, 0 and 5.
    ((2**31, 0), np.float32, None),
    ((2**32, 0), np.float32, None),
    ((2**32 + 5, 0), np.float32, None),
    ((N, 3), np.float32, None),
    ((N, 2**54), np.float32, LARGE),
]


@pytest.mark.parametrize(("shape", "dtype", "passed"), LIMITS)
def test_limits(shape, dtype, passed):
    assert extents.limit(shape, dtype) == passed


def rest(x):
    return jaxops.boolean_mask(x, jnp.ones(1, bool), axis=1, size=0)


def many(f):
    return jax.vmap(f)


# Of arrays of a legal shape. Alone, and batched, where only the batch is too large.
REFUSED = {
    "transpose": (jaxops.transpose, (0, 2**28), (2**28, 0), WALKED),
    "boolean_mask": (rest, (2**27, 1), (2**27, 0), WALKED),
    "vmap": (many(jaxops.transpose), (2**32, 0, 2**31), (2**32, 2**31, 0), COUNTED),
    "vmap-twice": (
        *(many(many(jaxops.transpose)), (2**20, 2**12, 0, 2**31)),
        *((2**20, 2**12, 2**31, 0), COUNTED),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    function, shape, made, passed = REFUSED[name]
    with pytest.raises(ValueError) as info:
        jax.eval_shape(function, jax.ShapeDtypeStruct(shape, np.float32))
    assert f"must make arrays of less than {passed}; received" in str(info.value)
    assert str(info.value).endswith(f", which make one of shape {made}")


def test_of_many_dimensions():
    x = jax.ShapeDtypeStruct((1,) * 128, np.int32)
    for call in (lambda x: jaxops.gather(x, x), lambda x: jaxops.reshape(x, [1] * 254)):
        with pytest.raises(ValueError, match="must make arrays of less than 254 dimensions"):
            jax.eval_shape(call, x)


def test_what_was_received_is_a_list_of_words():
    def sums(data, ids):
        return jaxops.unsorted_segment_sum(data, ids, 2**30)

    many = jax.ShapeDtypeStruct((2, 2**30), np.float32), jax.ShapeDtypeStruct((2,), np.int32)
    with pytest.raises(ValueError) as info:
        jax.eval_shape(sums, *many)
    received = "data of shape (2, 1073741824), segment_ids of shape (2,), num_segments 1073741824"
    assert f"; received {received}" in str(info.value)


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_not_refused(batch):
    function = jaxops.transpose
    for _ in batch:
        function = jax.vmap(function)
    result = jax.eval_shape(function, jax.ShapeDtypeStruct((*batch, 0, 2**31), np.float32))
    assert result.shape == (*batch, 2**31, 0)


EMPTY = {
    "transpose": (jaxops.transpose, (0, 3), (3, 0)),
    "reverse": (lambda x: jaxops.reverse(x, [1]), (0, 3), (0, 3)),
    "concat": (lambda x: jaxops.concat([x, np.zeros((2, 3))], 0), (0, 3), (2, 3)),
    "split": (lambda x: jaxops.split(x, [0, 3], 1)[0], (2, 3), (2, 0)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_transposed_where_there_are_no_elements(name):
    function, shape, result = EMPTY[name]
    x, y = np.zeros(shape, np.float32), np.zeros(result, np.float32)
    (cotangent,) = jax.linear_transpose(function, x)(y)
    np.testing.assert_array_equal(cotangent, x)
    testing.check_adjoint(function, x)


I = np.zeros((0, 2), np.int32)  # noqa: E741
NO_INDICES = {
    "gather": lambda x: jaxops.gather(x, I),
    "gather_nd": lambda x: jaxops.gather_nd(x, I),
    "batch_gather": lambda x: jaxops.batch_gather(x, np.zeros((4, 0), np.int32)),
    "take_along_axis": lambda x: jaxops.take_along_axis(x, I, 0),
    "scatter_nd": lambda x: jaxops.scatter_nd(I[:, :1], x[:0], (4, 2)),
    "tensor_scatter_nd_add": lambda x: jaxops.tensor_scatter_nd_add(x, I, np.zeros(0, x.dtype)),
    "unsorted_segment_sum": lambda x: jaxops.unsorted_segment_sum(x[:0], I[:, 0], 3),
    "sparse_segment_sum": lambda x: jaxops.sparse_segment_sum(x, I[:, 0], I[:, 0], num_segments=3),
    "embedding_lookup": lambda x: jaxops.embedding_lookup(x, I),
    "embedding_lookup_sparse": lambda x: jaxops.embedding_lookup_sparse(
        x,
        jaxops.SparseTensor(I, I[:, 0], (3, 2)),
        jaxops.SparseTensor(I, np.zeros(0, x.dtype), (3, 2)),
        combiner="sum",
    ),
    **{
        f"weights of {op.__name__}": lambda x, op=op: op(
            np.ones((4, 2), np.float32),
            jaxops.SparseTensor(I, I[:, 0], (3, 2)),
            jaxops.SparseTensor(I, x[:0, 0], (3, 2)),
            combiner="sum",
        )
        for op in (jaxops.embedding_lookup_sparse, jaxops.safe_embedding_lookup_sparse)
    },
    "repeat": lambda x: jaxops.repeat(x[:0], I[:, 0], 0, size=2),
    "roll": lambda x: jaxops.roll(x[:0], I[:, 0], I[:, 0]),
    "reverse_sequence": lambda x: jaxops.reverse_sequence(x[:0], I[:, 0], 1),
}


@pytest.mark.parametrize("name", NO_INDICES)
def test_transposed_beside_indices(name):
    function, x = NO_INDICES[name], np.zeros((4, 2), np.float32)
    y = np.zeros(jax.eval_shape(function, x).shape, np.float32)
    for call in (function, jax.jit(function)):
        (cotangent,) = jax.linear_transpose(call, x)(y)
        np.testing.assert_array_equal(cotangent, x)
