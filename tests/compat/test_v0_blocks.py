"""Patches and blocks: the examples of document 004, and the later functions."""

# pyright: reportCallIssue=false, reportArgumentType=false

import numpy as np

import jaxops
from jaxops.compat import v0

WINDOW, ONES = [1, 2, 2, 1], [1, 1, 1, 1]


def test_example_004_extract_image_patches_depth_order():
    images = np.arange(32, dtype=np.int32).reshape(1, 4, 4, 2)
    result = v0.extract_image_patches(images, "VALID", [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1])
    assert result.shape == (1, 2, 2, 2 * 2 * 2)
    np.testing.assert_array_equal(result[0, 0, 1], images[0, :2, 2:].reshape(-1))


def test_extract_image_patches_in_both_orders():
    images = np.arange(32, dtype=np.int32).reshape(1, 4, 4, 2)
    expected = jaxops.extract_image_patches(images, WINDOW, WINDOW, ONES, "SAME")
    for result in (
        v0.extract_image_patches(images, "SAME", WINDOW, WINDOW, ONES, "name"),
        v0.extract_image_patches(images, WINDOW, WINDOW, ONES, "SAME", "name"),
        v0.extract_image_patches(images, WINDOW, rates=ONES, strides=WINDOW, padding="SAME"),
    ):
        np.testing.assert_array_equal(result, expected)


def test_example_004_space_to_batch_and_back():
    x = np.arange(15, dtype=np.int32).reshape(1, 3, 5, 1)
    paddings = [[0, 1], [1, 0]]
    blocks = v0.space_to_batch(x, paddings, 2)
    assert blocks.shape == (4, 2, 3, 1)
    np.testing.assert_array_equal(v0.batch_to_space(blocks, paddings, 2), x)


def test_blocks_of_n_dimensions_and_back():
    x = np.arange(10, dtype=np.int32).reshape(1, 5, 2)
    paddings, crops = v0.required_space_to_batch_paddings([5], [3])
    np.testing.assert_array_equal(paddings, [[0, 1]])
    blocks = v0.space_to_batch_nd(x, [3], paddings)
    assert blocks.shape == (3, 2, 2)
    np.testing.assert_array_equal(v0.batch_to_space_nd(blocks, [3], crops), x)
