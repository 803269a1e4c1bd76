"""What the harness does not see of `_ops/embeddings.py`."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fast import fast_jit
from records.embeddings import PLACES, WEIGHTS, embedding_lookup_sparse, row_of

import jaxops
from jaxops import SparseTensor, nn, testing

TABLE = np.arange(10, dtype=np.float32).reshape(5, 2) - 3
COMBINERS = ("sum", "mean", "sqrtn")


def sparse(ids, weights=None, places: Any = PLACES, shape=(3, 4)):
    return SparseTensor(places, ids if weights is None else weights, shape)


@pytest.mark.parametrize("combiner", COMBINERS)
def test_combiners(combiner):
    ids = np.array([1, 3, 0], np.int32)
    result = nn.embedding_lookup_sparse(TABLE, sparse(ids), sparse(ids, WEIGHTS), combiner)
    expected = embedding_lookup_sparse(TABLE, WEIGHTS, ids, PLACES, (3, 4), combiner)
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    ones = np.ones(3, np.float32)
    expected = embedding_lookup_sparse(TABLE, ones, ids, PLACES, (3, 4), combiner)
    result = nn.embedding_lookup_sparse(TABLE, sparse(ids), None, combiner)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


@pytest.mark.parametrize("lookup", ["plain", "sparse", "safe"])
def test_rows_are_scaled_to_the_norm(lookup):
    ids = np.array([1, 3, 0], np.int32)
    expected = np.stack([row_of(TABLE, i, "fill", 2.5) for i in ids])
    if lookup == "plain":
        result = nn.embedding_lookup(TABLE, ids, 2.5)
    else:
        names = {"sparse": "embedding_lookup_sparse", "safe": "safe_embedding_lookup_sparse"}
        places = np.stack([np.arange(3), np.zeros(3, int)], 1)
        sp_ids = sparse(ids, places=places)
        result = getattr(nn, names[lookup])(TABLE, sp_ids, None, max_norm=2.5)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_no_gradient_is_lost_where_a_row_is_0():
    gradient = jax.grad(lambda t: nn.embedding_lookup(t, [0], 1.0).sum())(np.zeros((2, 2)))
    np.testing.assert_array_equal(gradient, [[1, 1], [0, 0]])
    ids = sparse([1, 3, 0])

    def total(weights, combiner):
        return nn.embedding_lookup_sparse(TABLE, ids, sparse(0, weights), combiner).sum()

    for combiner in COMBINERS:
        gradient = fast_jit(jax.grad(functools.partial(total, combiner=combiner)))
        assert np.isfinite(gradient(np.zeros(3, np.float32))).all()


def test_tables_that_are_parts_of_one():
    ids = [[4, 0], [2, 3]]
    parts = [jnp.asarray(TABLE[:3]), jnp.asarray(TABLE[3:])]
    np.testing.assert_array_equal(nn.embedding_lookup(parts, ids), TABLE[np.array(ids)])
    gradient = jax.grad(lambda p: nn.embedding_lookup(p, ids).sum())(parts)
    np.testing.assert_array_equal(np.concatenate(gradient)[:, 0], [1, 0, 1, 1, 1])


def test_ids_that_a_safe_lookup_leaves_out():
    table = np.where(np.arange(5)[:, None] == 0, np.inf, TABLE)
    ids, weights = sparse([1, -1, 2]), sparse(0, np.array([1, 1, -1], np.float32))
    lookup = nn.safe_embedding_lookup_sparse
    np.testing.assert_array_equal(lookup(table, ids, weights), [TABLE[1], [0, 0], [0, 0]])
    expected = [TABLE[1], [0, 0], -TABLE[2]]
    np.testing.assert_array_equal(lookup(table, ids, weights, "sum"), expected)
    expected = [TABLE[1], TABLE[4], TABLE[4]]
    np.testing.assert_array_equal(lookup(table, ids, weights, default_id=4), expected)


def test_an_error_that_was_asked_for_is_that_of_ids_that_are_left_out_too():
    lookup = functools.partial(nn.safe_embedding_lookup_sparse, TABLE, mode="error")
    good = sparse([1, 2, 0])
    np.testing.assert_array_equal(lookup(good), nn.safe_embedding_lookup_sparse(TABLE, good))
    none = sparse(0, np.array([1, 0, 1], np.float32))  # a weight of 0 leaves the second id out
    for wrong, weights in ((-1, None), (5, None), (5, none)):

        def looked_up(ids, weights=weights):
            return lookup(sparse(ids), weights)

        testing.assert_out_of_bounds(
            looked_up, jnp.array([1, wrong, 2]), match=f"= {wrong} is not in"
        )


def test_ids_of_more_dimensions():
    places = np.array([[0, 1, 0], [1, 0, 2], [1, 0, 3]])
    result = nn.safe_embedding_lookup_sparse(TABLE, sparse([1, 2, 4], None, places, (2, 2, 4)))
    expected = np.zeros((2, 2, 2), np.float32)
    expected[0, 1], expected[1, 0] = TABLE[1], (TABLE[2] + TABLE[4]) / 2
    np.testing.assert_array_equal(result, expected)


def test_ids_of_a_row_lie_in_all_other_dimensions():
    places = [[0, 1, 3], [0, 0, 0], [1, 1, 2]]
    result = nn.embedding_lookup_sparse(TABLE, sparse([1, 2, 4], None, places, (2, 2, 4)), None)
    np.testing.assert_array_equal(result, [(TABLE[1] + TABLE[2]) / 2, TABLE[4]])


def test_ids_of_one_dimension_are_all_combined():
    ids = sparse([1, -1, 2], None, np.array([[0], [1], [2]]), (3,))
    table = np.where(np.arange(5)[:, None] == 0, np.inf, TABLE)
    result = nn.safe_embedding_lookup_sparse(table, ids)
    np.testing.assert_array_equal(result, (TABLE[1] + TABLE[2]) / 2)


@pytest.mark.parametrize("ids", [[1, 2, 3], [1, 2, -1]])
def test_a_safe_lookup_checks_places_of_ids_that_it_leaves_out(ids):
    with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[2\] = \[2\] does not index into"):
        nn.safe_embedding_lookup_sparse(TABLE, sparse(ids, shape=(2, 4)))


def test_a_place_out_of_bounds():
    ids = sparse([1, 2, 3], shape=(2, 4))
    with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[2\] = \[2\] does not index into"):
        nn.embedding_lookup_sparse(TABLE, ids, None)
    result = nn.embedding_lookup_sparse(TABLE, ids, None, mode="fill")
    np.testing.assert_array_equal(result, [(TABLE[1] + TABLE[2]) / 2, [0, 0]])


def test_halves_with_weights_are_summed_as_floats():
    table = jnp.array([[2048.0], [1.0]], jnp.float16)
    places = np.array([[0, 0], [0, 1], [0, 2]])
    ids = sparse([0, 1, 1], None, places, (1, 3))
    weights = sparse(0, np.ones(3, np.float32), places, (1, 3))
    result = nn.embedding_lookup_sparse(table, ids, weights, "sum")
    assert result.dtype == np.float16
    assert result.item() == 2050


@pytest.mark.parametrize("lookup", ["plain", "sparse", "safe", "segments"])
def test_the_gradient_of_a_lookup_is_sparse(lookup):
    ids = jnp.array([1, 3, 1], jnp.int32)

    def loss(params):
        if lookup == "plain":
            rows = nn.embedding_lookup(params["t"], ids, 2.5)
        elif lookup == "sparse":
            rows = nn.embedding_lookup_sparse(params["t"], sparse(ids), sparse(0, WEIGHTS))
        elif lookup == "safe":
            rows = nn.safe_embedding_lookup_sparse(params["t"], sparse(ids), default_id=2)
        else:
            rows = jaxops.sparse_segment_mean(params["t"], ids, [0, 0, 1])
        return (rows**2).sum()

    @jax.jit
    def both(params):
        value, slices = jaxops.sparse_value_and_grad(loss, tables="t")(params)
        assert isinstance(slices["t"], jaxops.IndexedSlices)
        dense_value, dense = jax.value_and_grad(loss)(params)
        return (value, slices["t"].to_dense()), (dense_value, dense["t"])

    for ours, theirs in zip(*both({"t": jnp.asarray(TABLE)}), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_a_negative_norm_is_0():
    table = np.array([[3.0, 4.0], [1.0, 0.0]], np.float32)
    np.testing.assert_array_equal(jaxops.embedding_lookup(table, [0, 1], max_norm=-1), table * 0)


def test_gradient_of_a_row_whose_norm_is_the_largest():
    """That of a scaled row, as TensorFlow has it: such rows are in a projected table."""
    table = jnp.array([[3.0, 4.0], [1.0, 0.0]])
    cotangent = jnp.array([[1.0, 0.0], [1.0, 2.0]])
    gradient = jax.grad(
        lambda t: (jaxops.embedding_lookup(t, [0, 1], max_norm=5.0) * cotangent).sum()
    )(table)
    np.testing.assert_allclose(gradient, [[0.64, -0.48], [1, 2]], rtol=1e-6)


@pytest.mark.parametrize("default_id", [7, -1, 2**31, 2**40, -(2**70)])
def test_a_default_id_out_of_bounds(default_id):
    """An error where a place has no ids, as in TensorFlow, which names the argument."""
    table = jnp.array([[3.0, 4.0], [1.0, 0.0]])

    def lookup(ids):
        sparse = SparseTensor([[0, 0], [1, 0]], ids, (2, 1))
        return nn.safe_embedding_lookup_sparse(table, sparse, default_id=default_id)

    for function in (lookup, jax.jit(lookup)):
        np.testing.assert_array_equal(function(jnp.array([0, 1])), table)
    words = r"default_id = -?\d+ is not in \[0, 2\)"
    error = testing.assert_out_of_bounds(lookup, jnp.array([0, -1]), match=words)
    assert (error.index, error.bound) == (max(default_id, -(2**63)), 2)
