"""Reductions of segments: examples of TensorFlow 0.12's documents."""

import numpy as np
import pytest

from jaxops.compat import v0

C = np.array([[1, 2, 3, 4], [-1, -2, -3, -4], [5, 6, 7, 8]])

EXAMPLES = {
    "sum": (lambda: v0.segment_sum(C, [0, 0, 1]), [[0, 0, 0, 0], [5, 6, 7, 8]]),
    "mean": (lambda: v0.segment_mean(C * 1.0, [0, 0, 1]), [[0, 0, 0, 0], [5, 6, 7, 8]]),
    "prod": (lambda: v0.segment_prod(C, [0, 0, 1]), [[-1, -4, -9, -16], [5, 6, 7, 8]]),
    "min": (lambda: v0.segment_min(C, [0, 0, 1]), [[-1, -2, -3, -4], [5, 6, 7, 8]]),
    "max": (lambda: v0.segment_max(C, [0, 0, 1]), [[1, 2, 3, 4], [5, 6, 7, 8]]),
    "unsorted": (
        lambda: v0.unsorted_segment_sum(C, [1, 0, 1], 3),
        [[-1, -2, -3, -4], [6, 8, 10, 12], [0, 0, 0, 0]],
    ),
    "sparse": (lambda: v0.sparse_segment_sum(C, [0, 1], [0, 0]), [[0, 0, 0, 0]]),
    "sparse-two": (
        lambda: v0.sparse_segment_sum(C, [0, 1], [0, 1]), [[1, 2, 3, 4], [-1, -2, -3, -4]],
    ),
    "sparse-mean": (lambda: v0.sparse_segment_mean(C * 1.0, [0, 2], [0, 0]), [[3, 4, 5, 6]]),
    "sparse-sqrt_n": (
        lambda: v0.sparse_segment_sqrt_n(C * 1.0, [0, 0, 0, 0], [0, 0, 0, 0]), [[2, 4, 6, 8]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", EXAMPLES)
def test_example(case):
    call, expected = EXAMPLES[case]
    np.testing.assert_array_equal(call(), expected)
