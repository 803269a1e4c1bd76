"""`_ops/permutations.py` with ties, other dtypes and many dimensions; the harness has the rest."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops


def test_of_equal_numbers_the_first_counts():
    x = np.array([1, 7, 1, 0, -1], np.int32)
    assert jaxops.invert_permutation(x, mode="fill").tolist() == [3, 0, 0, 0, 0]


@pytest.mark.parametrize("index", [1, -1])
def test_one_number_that_is_no_permutation(index):
    with pytest.raises(jaxops.OutOfBoundsError, match=rf"x\[0\] = {index} "):
        jaxops.invert_permutation([index])


def test_dtypes_of_positions(x64):
    for dtype in (np.int8, np.uint16, np.uint32, np.int64, np.uint64):
        expected = np.int64 if x64 and np.dtype(dtype).itemsize == 8 else np.int32
        assert jaxops.invert_permutation(np.array([1, 0], dtype)).dtype == expected
        assert jaxops.unravel_index(np.array([1, 0], dtype), [2, 3]).dtype == expected


def test_products_of_64_bits():
    with jax.enable_x64(True):
        result = jaxops.unravel_index(np.array([2**40 + 5]), [2**21, 2**20])
    assert result.tolist() == [[2**20], [5]]
    assert jaxops.unravel_index(np.array([2**40]), [2, 3], mode="clip").tolist() == [[1], [2]]


@pytest.mark.parametrize("rank", [16, 17, 64, 300])
def test_many_dimensions(rank):
    """As many divisions are traced for 17 dimensions as for 300."""
    dims = [1] * (rank - 12) + [2, 3, 1, 2, 2, 5, 1, 2, 3, 2, 1, 2]
    indices = np.random.default_rng(0).integers(0, np.prod(dims), 50, dtype=np.int32)
    expected = []
    for number in indices.tolist():
        expected.append([])
        for dim in reversed(dims):
            number, coordinate = divmod(number, dim)
            expected[-1].insert(0, coordinate)
    result = jaxops.unravel_index(indices, dims)
    np.testing.assert_array_equal(result, np.transpose(expected))
    np.testing.assert_array_equal(jaxops.unravel_index(indices[7], dims), expected[7])
    program = str(jax.make_jaxpr(lambda i: jaxops.unravel_index(i, dims))(indices))
    assert program.count(" div ") == (rank if rank == 16 else 1)


def test_no_dimensions():
    """An index into a scalar has no coordinates."""
    indices = jnp.array([0, 0, 0])
    result = jaxops.unravel_index(indices, [])
    assert (result.shape, result.dtype) == ((0, 3), indices.dtype)
