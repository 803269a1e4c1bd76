"""What the harness does not see of `_ops/edit_distance.py`: dtypes, ranks, what is missing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from records.edit_distance import distance, sparse

import jaxops
from jaxops._ops import edit_distance

CUBE = [[0, 0, 0], [0, 1, 0], [0, 1, 1]]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.float32, jnp.bfloat16, "S", "U"])
def test_sequences_of_every_dtype(dtype):
    random = np.random.default_rng(0)
    rows = [[random.integers(0, 3, n) for n in lengths] for lengths in ([5, 0, 4, 3], [3, 4, 4, 0])]
    x, y = map(sparse, rows)
    x.values, y.values = (np.array(s.values).astype(dtype) for s in (x, y))
    pairs = [*zip(*rows, strict=True)]
    if dtype is bool:
        pairs = [(a > 0, b > 0) for a, b in pairs]
    expected = np.array([distance([*a], [*b]) for a, b in pairs], np.float32)
    np.testing.assert_array_equal(jaxops.edit_distance(x, y, normalize=False), expected)
    with np.errstate(divide="ignore"):
        expected /= np.array([len(b) for b in rows[1]], np.float32)
    np.testing.assert_array_equal(jaxops.edit_distance(x, y), expected)


@pytest.mark.parametrize("words", [1, 7, 1 << 10])
@pytest.mark.parametrize("lengths", [[0], [0, 1, 2, 5, 6], [63, 64, 65], [0, 1, 9, 100, 130]])
def test_many_pairs_of_any_lengths(lengths, words, monkeypatch):
    """However many pairs are computed at a time."""
    monkeypatch.setattr(edit_distance, "_WORDS", words)
    random = np.random.default_rng(words)
    rows = [
        [random.integers(0, 3, n).tolist() for n in random.choice(lengths, 12)] for _ in range(2)
    ]
    expected = [distance(a, b) for a, b in zip(*rows, strict=True)]
    result = jaxops.edit_distance(*map(sparse, rows), normalize=False)
    np.testing.assert_array_equal(result, expected)


def test_shapes_of_both_and_any_order_of_sequences():
    x = jaxops.SparseTensor(CUBE[::-1], np.array([1, 2, 3]), (1, 2, 2))
    y = jaxops.SparseTensor([[1, 0, 7]], np.array([1]), (2, 1, 1))
    result = jaxops.edit_distance(x, y, normalize=False)
    np.testing.assert_array_equal(result, [[1, 2], [1, 0]])
    assert result.dtype == np.float32
    same = jaxops.SparseTensor(CUBE, np.array([3, 1, 2]), (1, 2, 2))
    np.testing.assert_array_equal(jaxops.edit_distance(x, same), [[0, 0]])
    assert jaxops.edit_distance(sparse([[]], (0, 2)), sparse([[]], (0, 3))).shape == (0,)


def test_nan_equals_nothing_and_text_equals_its_bytes():
    nan = sparse([[np.nan, 0.0]])
    assert jaxops.edit_distance(nan, sparse([[np.nan, -0.0]])).tolist() == [0.5]
    assert jaxops.edit_distance(sparse([["ä"]]), sparse([["ä".encode()]])).tolist() == [0]


def test_text_that_ends_with_a_null_character_is_another_text():
    """NumPy's own strings drop null characters at the end."""

    def word(text):
        return jaxops.SparseTensor([[0, 0]], np.array([text], object), (1, 1))

    for text in ("a\0", b"a\0"):
        assert jaxops.edit_distance(word(text), word("a"), normalize=False).tolist() == [1]
        assert jaxops.edit_distance(word(text), word(b"a\0")).tolist() == [0]


def test_constants_in_compiled_code():
    result = jax.jit(lambda: jaxops.edit_distance(sparse([[1, 2]]), sparse([[1]]), name="words"))()
    assert result.tolist() == [1]
