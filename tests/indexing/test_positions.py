"""The ranks and positions of true elements, on their own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxops._indexing.positions import true_positions, true_ranks

LENGTHS = [0, 1, 32, 33, 4097, 600_001]  # around words and levels of the sum


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_against_numpy(n, share):
    mask = np.random.default_rng(n).random(n) < share
    ranks, total = jax.jit(true_ranks)(mask)
    np.testing.assert_array_equal(ranks, np.cumsum(mask) - mask)
    assert ranks.dtype == total.dtype == jnp.int32
    assert int(total) == mask.sum()
    for size in (0, n // 2, n + 1):
        positions, total = jax.jit(true_positions, static_argnums=1)(mask, size)
        found = np.flatnonzero(mask)[:size]
        np.testing.assert_array_equal(positions, np.pad(found, (0, size - found.size)))
        assert int(total) == mask.sum()


def test_batches_of_batches():
    mask = np.random.default_rng(0).random((3, 5000, 2)) < 0.5
    ranks, total = jax.vmap(jax.vmap(true_ranks, in_axes=1))(jnp.asarray(mask))
    np.testing.assert_array_equal(ranks, (np.cumsum(mask, axis=1) - mask).swapaxes(1, 2))
    np.testing.assert_array_equal(total, mask.sum(1))
