"""`padding_index`: one number is no index of any function, and every other one is checked.

Values, transformations and gradients under every mode: the cases `-padded` of the harness.
"""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from records import CALLS, joined

import jaxops
from jaxops import testing
from jaxops._indexing.specs import padding_of

X = jnp.arange(12.0).reshape(4, 3)
PADDED = [name for name in CALLS if "padding_index" in CALLS[name]]
OUT_OF_BOUNDS = {
    what: entry for what, entry in joined("out_of_bounds").items() if what.split("-")[0] in PADDED
}


def test_every_function_that_gathers_scatters_or_reduces_segments_has_it():
    pattern = r"(batch_)?gather|(?!v0).*(scatter_nd|segment_|embedding_)"
    names = {name for name in CALLS if re.match(pattern, name)}
    assert {"gather", "tensor_scatter_nd_max", "segment_prod", "embedding_lookup"} <= names
    assert {*names, "one_hot", "take_along_axis"} == {*PADDED}


@pytest.mark.parametrize("name", OUT_OF_BOUNDS)
def test_a_number_out_of_bounds_is_none_where_it_is_the_padding(name):
    """With another padding it is an error, in the same words as without."""
    entry = OUT_OF_BOUNDS[name]
    good, bad = np.asarray(entry.good), np.asarray(entry.bad)
    number = int(max(bad[good != bad], key=abs))

    def call(i, padding=77):  # no index of the call
        return entry.call(i, mode="error", padding_index=padding)

    error = testing.assert_out_of_bounds(call, jnp.asarray(bad), match=re.escape(entry.text))
    assert (error.position, error.index, error.bound) == entry[4:]
    if not name.endswith("segment_ids"):  # which are sorted otherwise
        call(jnp.asarray(np.where(bad == number, bad, good)), number)


@pytest.mark.parametrize(
    ("number", "limits", "padding"),
    [
        (None, (3,), ()),
        (-1, (3, 5), (-1, -1)),
        (3, (3, 5), (3, None)),
        (3, (5, 3), (None, 3)),
        (3, (3, 3), (3, 3)),
        (2, (3, 5), (2, 2)),
        (9, (3, 5), (9, 9)),
        (0, (0, 5), (0, None)),
        (-1, (), ()),
    ],
)
def test_which_components_are_padding(number, limits, padding):
    assert padding_of(number, limits) == padding


def test_the_last_axis_of_a_vector_may_be_padded_with_its_size():
    vectors = [[3, 1], [1, 3], [0, 2]]
    np.testing.assert_array_equal(jaxops.gather_nd(X, vectors, padding_index=3), [10, 0, 2])
    with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[1\] = \[3, 4\]"):
        jaxops.gather_nd(X, [[1, 3], [3, 4]], padding_index=3)


@pytest.mark.parametrize(
    "dtype", [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32)]
)
def test_dtypes(dtype):
    most = int(jnp.iinfo(dtype).max)

    def read(i):
        return jaxops.gather(X[:, 0], i, padding_index=most, fill_value=7)

    for call in (read, jax.jit(read)):
        np.testing.assert_array_equal(call(jnp.array([most, 2], dtype)), [7, 6])
    testing.assert_out_of_bounds(read, jnp.array([2, most - 1], dtype))


def test_a_number_that_the_dtype_does_not_hold_is_no_index_of_it():
    indices = jnp.array([44, 2], jnp.int8)  # 300 % 256 == 44
    with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[0\] = 44"):
        jaxops.gather(X, indices, padding_index=300)


@pytest.mark.parametrize("indices", [[2**40, 1], np.array([2**40, 1]), [-(2**40), 1]])
@pytest.mark.parametrize("number", [2**31 - 1, -(2**31)])
def test_no_number_becomes_the_padding_because_it_is_cut(indices, number):
    with pytest.raises(jaxops.OutOfBoundsError, match=str(abs(int(indices[0])))):
        jaxops.gather(X, indices, padding_index=number)


@pytest.mark.parametrize("bad", [-5, 9])
def test_small_numbers_of_the_host_beside_padding_stay(bad):
    with pytest.raises(jaxops.OutOfBoundsError, match=rf"indices\[0\] = {bad} "):
        jaxops.gather(X, np.array([bad, -1]), padding_index=-1)


def test_a_padding_that_is_cut():
    indices = np.array([2**40, 1])
    if jax.config.read("jax_enable_x64"):
        np.testing.assert_array_equal(jaxops.gather(X[:, 0], indices, padding_index=2**40), [0, 3])
        return
    with pytest.raises(ValueError, match="padding_index must fit int32"):
        jaxops.gather(X, indices, padding_index=2**40)


@pytest.mark.parametrize("mode", ["device", "error", "fill", "promise_in_bounds"])
@pytest.mark.parametrize("number", [-1, 0, 5])
def test_nothing_to_index(mode, number):
    nothing, indices = X[:0], jnp.full(3, number)
    options = {"mode": mode, "padding_index": number}
    assert not jaxops.gather(nothing, indices, **options).any()
    assert jaxops.scatter_nd(indices[:, None], jnp.ones(3), [0], **options).shape == (0,)
    assert jaxops.segment_sum(X[:3], indices, num_segments=0, **options).shape == (0, 3)
    assert jaxops.unsorted_segment_sum(X[:3], indices, 0, **options).shape == (0, 3)
    assert jaxops.one_hot(indices, 0, **options).shape == (3, 0)
    for choosing in ("clip", "wrap"):
        with pytest.raises(ValueError, match="must have a segment to choose"):
            jaxops.segment_sum(X[:3], indices, num_segments=0, mode=choosing, padding_index=number)
    if mode == "error":
        with pytest.raises(jaxops.OutOfBoundsError):
            jaxops.segment_sum(X[:3], jnp.array([number, number, 1]), num_segments=0, **options)


@pytest.mark.parametrize(
    ("ids", "bad"),
    [
        ([-1, 0, -1, 1, -1], None),
        ([-1, 1, -1, 0, -1], "segment_ids[3] = 0 is less than the one before, 1"),
        ([-1, -1, 3, -1, 2], "segment_ids[2] = 3 is not in [0, 3)"),
        ([-2, -1, 0, 1, 2], "segment_ids[0] = -2 is not in [0, 3)"),
        ([-1, -1, -1, -1, -1], None),
    ],
)
def test_sorted_ids(ids, bad):
    def total(ids):
        return jaxops.segment_sum(jnp.ones(5), ids, num_segments=3, padding_index=-1)

    if bad is None:
        expected = [ids.count(n) for n in range(3)]
        np.testing.assert_array_equal(total(ids), expected)
        np.testing.assert_array_equal(jax.vmap(total)(jnp.array([ids, ids])), [expected] * 2)
        return
    testing.assert_out_of_bounds(total, jnp.array(ids), match=re.escape(bad))


def test_the_number_of_segments_does_not_count_padding():
    assert jaxops.segment_sum(jnp.ones(3), [0, 1, 9], padding_index=9).shape == (2,)


def test_strings_and_keys():
    words = jaxops.gather(["a", "b"], [1, -1], padding_index=-1)
    assert words.tolist() == ["b", ""]
    words = jaxops.gather(["a", "b"], [1, -1], padding_index=-1, fill_value="?")
    assert words.tolist() == ["b", "?"]
    words = jaxops.scatter_nd([[0], [-1]], ["a", "b"], [2], padding_index=-1)
    assert words.tolist() == ["a", ""]
    keys = jax.random.split(jax.random.key(0), 3)
    moved = jaxops.gather(keys, [2, 5], padding_index=5, fill_value=keys[0])
    assert (moved == keys[jnp.array([2, 0])]).all()


def test_a_batch_that_takes_different_branches():
    """The mask of a branch and the padding both count."""

    def row(flag, i):
        read = functools.partial(jaxops.gather, X, i, padding_index=-1)
        return jax.lax.cond(flag, read, lambda: jnp.ones(3))

    flags = jnp.array([True, False, True])
    rows = jax.vmap(row)(flags, jnp.array([-1, 9, 1]))
    np.testing.assert_array_equal(rows, np.stack([np.zeros(3), np.ones(3), X[1]]))
    testing.assert_out_of_bounds(jax.vmap(row), flags, jnp.array([-1, 9, 9]), match=r"\[2\] = 9")


def test_sparse_gradients():
    def loss(table, i):
        return (jaxops.embedding_lookup(table, i, padding_index=0) ** 2).sum()

    indices = jnp.array([0, 2, 0, 1, 2])
    value, slices = jaxops.sparse_value_and_grad(loss, tables="")(X, indices)
    expected, dense = jax.value_and_grad(loss)(X, indices)
    np.testing.assert_array_equal(value, expected)
    np.testing.assert_array_equal(slices.to_dense(), dense)
    assert not dense[0].any()
    assert dense[1].any()
