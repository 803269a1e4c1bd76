"""IndexedSlices and TiedGradient."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sparse_checks import SLICES, dense_oracle, slices

from jaxops import IndexedSlices, TiedGradient


@pytest.fixture(params=SLICES)
def case(request):
    return SLICES[request.param]


def test_to_dense(case):
    expected = dense_oracle(case)
    for dense in (case.to_dense(), jax.jit(IndexedSlices.to_dense)(case)):
        np.testing.assert_array_equal(dense, expected, strict=True)


def test_add_to(case):
    expected = dense_oracle(case) + np.ones_like(dense_oracle(case))
    for of in (jnp, np):
        total = case.add_to(of.ones(case.dense_shape, case.dtype))
        assert isinstance(total, jax.Array)
        np.testing.assert_array_equal(total, expected, strict=True)


def test_addition_concatenates():
    one, two = slices(), slices((1, 1))
    total = one + two
    assert total.indices.tolist() == [2, 0, 2, 5, 1, 1]
    np.testing.assert_array_equal(total.to_dense(), dense_oracle(one) + dense_oracle(two))
    difference = one - two
    np.testing.assert_array_equal(difference.to_dense(), dense_oracle(one) - dense_oracle(two))


@pytest.mark.slow
def test_sum_of_rows_and_parts_of_rows():
    rows, parts = slices((3, 0, 9)), slices((1, 7, 8, -1), depth=2)
    for total in (rows + parts, parts + rows):
        assert total.depth == 2
        expected = dense_oracle(rows) + dense_oracle(parts)
        np.testing.assert_array_equal(total.to_dense(), expected, strict=True)


def test_gradient_passes_to_the_values():
    weights = jnp.arange(8.0).reshape(4, 2)

    def weighted(values):
        rows = IndexedSlices(values, [2, 0, 2, 5], (4, 2))
        return jnp.sum(weights * (2 * rows).sum_duplicates(size=3).to_dense())

    gradient = jax.grad(weighted)(jnp.ones((4, 2)))
    expected = 2 * np.concatenate([np.asarray(weights)[[2, 0, 2]], np.zeros((1, 2))])
    np.testing.assert_array_equal(gradient, expected)


def test_under_vmap():
    indices = jnp.array([[0, 3, 3], [1, 1, 7]])
    values = jnp.arange(12.0).reshape(2, 3, 2)
    batched = jax.vmap(lambda v, i: IndexedSlices(v, i, (4, 2)))(values, indices)
    expected = [
        dense_oracle(IndexedSlices(v, i, (4, 2))) for v, i in zip(values, indices, strict=True)
    ]
    np.testing.assert_array_equal(jax.vmap(IndexedSlices.to_dense)(batched), expected)
    summed = jax.vmap(lambda s: s.sum_duplicates(size=2).to_dense())(batched)
    np.testing.assert_array_equal(summed, expected)


def test_is_a_pytree():
    original = slices()
    leaves, structure = jax.tree.flatten(original)
    assert [leaf.shape for leaf in leaves] == [(4, 2), (4,)]
    assert structure.unflatten(leaves).dense_shape == (4, 2)
    paths = [
        jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(original)
    ]
    assert paths == [".values", ".indices"]


def test_repr():
    assert (
        repr(slices()) == "IndexedSlices(values=float32[4,2], indices=int32[4], dense_shape=(4, 2))"
    )
    assert repr(jax.tree.map(lambda _: None, slices())) == (
        "IndexedSlices(values=None, indices=None, dense_shape=(4, 2))"
    )


@pytest.mark.parametrize("result", [jnp.isfinite, lambda x: jnp.zeros(x.shape, int)])
def test_mapped_over_with_the_indices(result):
    """What is no arithmetic may be done to all leaves; the result is no gradient then."""
    mapped = jax.tree.map(result, slices())
    with pytest.raises(TypeError, match="indices must be its own; received"):
        mapped.to_dense()


@pytest.mark.usefixtures("x32")
def test_tied_gradient():
    tied = TiedGradient(jnp.ones((4, 2)), slices())
    dense = 1 + dense_oracle(slices())
    for received, factor in ((tied, 1), (-tied, -1), (tied - 3 * tied, -2), (tied / 2, 0.5)):
        np.testing.assert_array_equal(received.to_dense(), factor * dense)


@pytest.mark.parametrize(
    ("gradient", "words"),
    [
        (SLICES["rank-1"], "only IndexedSlices can be added to it"),
        (TiedGradient(jnp.ones((4, 2)), slices()), "only another can be added to it"),
    ],
)
def test_python_adds_gradients_from_0_on(gradient, words):
    assert sum([gradient]) is gradient
    for other in (5, 0.0, jnp.zeros(())):
        with pytest.raises(TypeError, match=words):
            _ = other + gradient
