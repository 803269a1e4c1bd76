"""On a CPU lists of rows are put at their places in turn, so that the last row of a place stays."""

import re

import jax
import jax.numpy as jnp
import numpy as np

import jaxops
from jaxops._cpu import put_in_turn
from jaxops._indexing.row_placement import put_rows


def test_small_lists_share_a_scatter_and_large_ones_are_not_copied():
    """A place is given by many lists, of which the last one counts."""
    large, small = [put_in_turn._SMALL // 4, 1], [3, 1]
    shapes = [small, small, large, small, large, large, small, small]
    lists = [np.full(shape, n, np.float32) for n, shape in enumerate(shapes)]
    places = [np.arange(n, n + len(rows), dtype=np.int32) for n, rows in enumerate(lists)]
    size = max(len(rows) for rows in lists) + len(lists)
    expected = np.zeros((size, 1), np.float32)
    for at, rows in zip(places, lists, strict=True):
        for place, row in zip(at, rows, strict=True):
            expected[place] = row

    def put(places, lists):
        return put_rows(size, places, lists, jnp.float32(0))

    program = jax.jit(put).lower(places, lists)
    np.testing.assert_array_equal(program.compile()(places, lists), expected, strict=True)
    text = program.as_text()
    assert text.count('"stablehlo.scatter"(') == 6
    assert len(re.findall(r"stablehlo.concatenate.*tensor<6x1xf32>", text)) == 2


def test_the_fill_value_has_no_tangent_of_its_own():
    """Where nothing is put a constant stands, whatever its value."""

    def stitched(x):
        return jaxops.dynamic_stitch([[0, 2]], [x], size=4, fill_value=5.0)

    rows = np.array([0.5, -3], np.float32)
    result, tangent = jax.jvp(stitched, (rows,), (np.ones(2, np.float32),))
    np.testing.assert_array_equal(result, [rows[0], 5, rows[1], 5])
    np.testing.assert_array_equal(tangent, [1, 0, 1, 0])
