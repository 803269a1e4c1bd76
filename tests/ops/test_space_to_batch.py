"""space_to_batch, batch_to_space, space_to_depth, depth_to_space beyond the harness."""

import numpy as np
import pytest
from checks import primitives
from records.loops import floats
from records.space_to_batch import batch_to_space, space_to_batch

import jaxops


@pytest.mark.parametrize("n", range(24))
def test_against_loops(n):
    """Zero to three block dimensions, up to two more, sizes from 0, paddings and crops."""
    rng = np.random.default_rng(n)
    block_shape = rng.integers(1, 4, n % 4).tolist()
    rest = rng.integers(0 if n == 8 else 1, 3, n % 3).tolist()
    shape = rng.integers(0, 3, n % 4).tolist()
    edges = []
    for dim, block in zip(shape, block_shape, strict=True):
        low = int(rng.integers(0, 3))
        edges.append([low, (-low - dim) % block])
    x = floats(2, *shape, *rest)
    np.testing.assert_array_equal(
        jaxops.space_to_batch(x, block_shape, edges),
        space_to_batch(x, block_shape, edges),
        strict=True,
    )
    x = floats(2 * int(np.prod(block_shape, initial=1)), *[d + 1 for d in shape], *rest)
    crops = [[min(low, 1), 0] for low, _ in edges]
    np.testing.assert_array_equal(
        jaxops.batch_to_space(x, block_shape, crops),
        batch_to_space(x, block_shape, crops),
        strict=True,
    )


def test_nothing_but_moves():
    x = floats(4, 4, 4, 4)
    moves = {"reshape", "transpose", "pad", "slice"}
    for op in (
        lambda x: jaxops.space_to_batch(x, [3, 2], [[1, 1], [0, 0]]),
        lambda x: jaxops.batch_to_space(x, [2, 2], [[1, 1], [0, 0]]),
        lambda x: jaxops.space_to_depth(x, 2),
        lambda x: jaxops.depth_to_space(x, 2),
    ):
        assert {*primitives(op, x)} <= moves
