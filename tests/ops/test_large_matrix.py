"""More than 2^31 elements in all, where no axis is long. `make test-large` runs this."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import assert_fails
from records.record import MODES
from test_large import filled, value_at

import jaxops

pytestmark = pytest.mark.large

ROWS, COLUMNS = 2**16, 2**15 + 3
LAST = [ROWS - 1, COLUMNS - 1]
CORNERS = [[0, 0], [0, COLUMNS - 1], [ROWS - 1, 0], LAST, [ROWS - 2, 5]]


def value_of(*corners):
    return value_at([row * COLUMNS + column for row, column in corners])


@pytest.fixture(scope="module")
def matrix():
    return jnp.asarray(filled(ROWS * COLUMNS).reshape(ROWS, COLUMNS))


@pytest.mark.parametrize("dtype", [np.uint16, np.int32])
def test_gather_of_rows_and_columns(matrix, dtype, x64, run):
    rows = run(lambda x, i: jaxops.gather(x, i))(matrix, jnp.array([ROWS - 1, 0], dtype))
    np.testing.assert_array_equal(rows[0], value_of(*((ROWS - 1, c) for c in range(COLUMNS))))
    np.testing.assert_array_equal(rows[1], value_of(*((0, c) for c in range(COLUMNS))))
    last = jnp.array([COLUMNS - 1], dtype)
    column = run(lambda x, i: jaxops.gather(x, i, axis=1))(matrix, last)
    expected = value_of(*((r, COLUMNS - 1) for r in range(ROWS)))
    np.testing.assert_array_equal(column[:, 0], expected)
    by_batch = run(lambda x, i: jaxops.gather(x, i, batch_dims=1))
    lasts = jnp.full((ROWS, 1), COLUMNS - 1, dtype)
    np.testing.assert_array_equal(by_batch(matrix, lasts)[:, 0], expected)


@pytest.mark.parametrize("dtype", [np.uint16, np.int32])
@pytest.mark.parametrize("mode", MODES)
def test_gather_nd(matrix, mode, dtype, x64, run):
    gather = run(lambda x, i: jaxops.gather_nd(x, i, mode=mode))
    np.testing.assert_array_equal(gather(matrix, jnp.array(CORNERS, dtype)), value_of(*CORNERS))


def test_gather_nd_out_of_bounds(matrix, x64, run):
    """The element after the last, and one that is within the array if columns overflow."""
    gather = run(lambda x, i: jaxops.gather_nd(x, i))
    for bad in ([ROWS, 0], [0, COLUMNS], [ROWS - 1, COLUMNS], [-1, 0]):
        text = f"indices[1] = {bad} does not index into param shape [{ROWS},{COLUMNS}]"
        assert_fails(text, gather, matrix, jnp.array([LAST, bad]))


def test_slices(matrix, x64, run):
    sliced = run(lambda x, b: jaxops.slice(x, b, [1, 3]))(matrix, jnp.array([ROWS - 1, 2**15]))
    expected = value_of(*((ROWS - 1, c) for c in range(2**15, COLUMNS)))
    np.testing.assert_array_equal(sliced[0], expected)
    single = run(lambda x, b: jaxops.strided_slice(x, b, b, shrink_axis_mask=3))
    assert single(matrix, jnp.array([-1, -1], jnp.int8)) == value_of(LAST)[0]
    ranged = run(lambda x: jaxops.strided_slice(x, [-1, -3], [0, 0], end_mask=3))(matrix)
    np.testing.assert_array_equal(ranged[0], expected)


@pytest.mark.parametrize("dtype", [np.uint16, np.int32])
def test_scatters(matrix, dtype, x64):
    indices, updates = jnp.array(CORNERS, dtype), jnp.arange(1, 6, dtype=jnp.int8)

    @jax.jit
    def update(x):
        return jaxops.gather_nd(jaxops.tensor_scatter_nd_update(x, indices, updates), indices)

    @jax.jit
    def add():
        total = jaxops.scatter_nd(indices, updates, [ROWS, COLUMNS])
        return jaxops.gather_nd(total, indices), total.astype(jnp.int32).sum()

    np.testing.assert_array_equal(update(matrix), updates)
    at_corners, total = add()
    np.testing.assert_array_equal(at_corners, updates)
    assert total == 15  # and nowhere else


def test_concat(matrix, x64):
    joined = jaxops.concat([matrix, matrix[:1]], 0)
    at_end = jax.jit(lambda x: jax.lax.slice(x, (ROWS - 1, COLUMNS - 2), (ROWS + 1, COLUMNS)))
    expected = [value_of((r, COLUMNS - 2), (r, COLUMNS - 1)) for r in (ROWS - 1, 0)]
    np.testing.assert_array_equal(at_end(joined), expected)
