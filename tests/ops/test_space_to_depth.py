"""space_to_depth and depth_to_space beyond the harness."""

import numpy as np
import pytest
from records.loops import floats
from records.space_to_depth import space_to_depth

import jaxops


@pytest.mark.parametrize("shape", [(1, 3, 6, 2), (0, 3, 3, 1), (1, 0, 3, 2), (1, 3, 3, 0)], ids=str)
def test_depth_against_loops(shape):
    x = floats(*shape)
    expected = space_to_depth(x, 3)
    np.testing.assert_array_equal(jaxops.space_to_depth(x, 3), expected, strict=True)
    np.testing.assert_array_equal(jaxops.depth_to_space(expected, 3), x, strict=True)


def test_vectors_of_channels_are_groups_of_four():
    """As in TensorFlow's GPU kernel, which moves four int8 as if they were one int32 of NCHW."""
    x = np.random.default_rng(0).integers(-128, 128, (2, 3, 4, 2, 4)).astype(np.int8)
    grouped = x.view(np.int32)[..., 0]
    expected = np.asarray(jaxops.space_to_depth(grouped, 2, "NCHW"))[..., None].view(np.int8)
    result = jaxops.space_to_depth(x, 2, data_format="NCHW_VECT_C")
    assert result.shape == (2, 12, 2, 1, 4)
    np.testing.assert_array_equal(result, expected, strict=True)
    np.testing.assert_array_equal(jaxops.depth_to_space(result, 2, "NCHW_VECT_C"), x, strict=True)
