"""Rows of several lists go to their places, where the last one stays and gets the gradient."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxops._indexing.row_placement import find_and_gather, put_rows

SIZE = 5
PLACES = [np.array(at, np.int32) for at in ([3, 0, 3, SIZE], [], [1, 3], [1, 2])]  # SIZE is none
LISTS = [np.tile(np.array([n, 10 * n], np.float32), (len(at), 1)) for n, at in enumerate(PLACES, 1)]


def test_rows_are_found_for_places():
    """By the reference, and by the form for a CPU. The last place stays free."""
    place = jax.jit(find_and_gather, static_argnames="size")
    by_reference = place(*LISTS, jnp.float32(-1), *PLACES, size=SIZE)
    by_form = jax.jit(put_rows, static_argnums=0)(SIZE, PLACES, LISTS, jnp.float32(-1))
    expected = np.array([[1, 10], [4, 40], [4, 40], [3, 30], [-1, -1]], np.float32)
    for result in (by_reference, by_form):
        np.testing.assert_array_equal(result, expected, strict=True)
    nothing = [np.zeros((0, 2), np.float32)]
    empty = place(*nothing, jnp.float32(-1), np.zeros(0, np.int32), size=SIZE)
    np.testing.assert_array_equal(empty, np.full((SIZE, 2), -1))


def test_gradients_go_to_the_rows_that_stay():
    weights = np.arange(1.0, 2 * SIZE + 1, dtype=np.float32).reshape(SIZE, 2)

    def total(lists, fill):
        return (put_rows(SIZE, PLACES, lists, fill) * weights).sum()

    lists_bar, fill_bar = jax.jit(jax.grad(total, (0, 1)))(LISTS, jnp.float32(-1))
    nothing = [0, 0]
    expected = [[nothing, weights[0], nothing, nothing], [], [nothing, weights[3]], weights[1:3]]
    for bar, rows in zip(lists_bar, expected, strict=True):
        np.testing.assert_array_equal(bar, np.reshape(rows, (-1, 2)))
    assert fill_bar == weights[4].sum()
