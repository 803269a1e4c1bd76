"""Matrices and arrays of numbers: examples of TensorFlow 0.12's documents."""

import numpy as np
import pytest

from jaxops.compat import v0

MATRIX = np.array([[0, 1, 2, 3], [-1, 0, 1, 2], [-2, -1, 0, 1], [-3, -2, -1, 0]])

EXAMPLES = {
    "band_part-upper": (lambda: v0.matrix_band_part(MATRIX, 1, -1), np.triu(MATRIX, -1)),
    "band_part-band": (
        lambda: v0.matrix_band_part(MATRIX, 2, 1), np.triu(np.tril(MATRIX, 1), -2),
    ),
    "diag": (lambda: v0.matrix_diag([[1, 2], [3, 4]]), [np.diag([1, 2]), np.diag([3, 4])]),
    "diag_part": (lambda: v0.matrix_diag_part([[[1, 0], [0, 2]]]), [[1, 2]]),
    "set_diag": (lambda: v0.matrix_set_diag([[7, 7, 7]] * 2, [1, 2]), [[1, 7, 7], [7, 2, 7]]),
    "transpose": (lambda: v0.matrix_transpose([[[1, 2], [3, 4]]]), [[[1, 3], [2, 4]]]),
    "fill": (lambda: v0.fill([2, 3], 9), [[9, 9, 9], [9, 9, 9]]),
    "range": (lambda: v0.range(3, 18, 3), [3, 6, 9, 12, 15]),
    "range-limit": (lambda: v0.range(5), [0, 1, 2, 3, 4]),
    "range-name": (lambda: v0.range(0, 2, 1, "steps"), [0, 1]),
    "meshgrid": (
        lambda: v0.meshgrid([1, 2, 3], [4, 5]), [[[1, 2, 3], [1, 2, 3]], [[4, 4, 4], [5, 5, 5]]],
    ),
    "meshgrid-ij": (
        lambda: v0.meshgrid([1, 2], [4], indexing="ij", name="grid"), [[[1], [2]], [[4], [4]]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", EXAMPLES)
def test_example(case):
    call, expected = EXAMPLES[case]
    np.testing.assert_array_equal(call(), expected)


def test_range_in_a_dtype():
    assert v0.range(0, 3, 1, np.float32).dtype == np.float32
    assert v0.range(3, dtype="float32").dtype == np.float32
