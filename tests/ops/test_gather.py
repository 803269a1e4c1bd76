"""`gather` of all ranks, axes and batch dimensions, negative ones too."""

import itertools

import numpy as np
import pytest
from records.gather import gather

import jaxops

INDICES = np.array([1, 0, 0, 1, 1, 1, 0, 1], np.int32)


def is_taken(params, indices, axis, batch_dims):
    """Whether `tf.gather` takes the call.

    TensorFlow 2.21 was asked for all calls below, and agreed in all but those with an axis of 0
    and batch dimensions: there it leaves `batch_dims` out of account, and here they are refused.
    """
    axis = batch_dims if axis is None else axis  # a negative one counts from the end of params
    axis += params.ndim if axis < 0 else 0
    batch_dims += indices.ndim if batch_dims < 0 else 0
    return 0 <= batch_dims <= min(indices.ndim, axis) and axis < params.ndim


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("indices_rank", [0, 1, 2, 3])
def test_as_tensorflow(rank, indices_rank):
    params = np.arange(2**rank, dtype=np.float32).reshape((2,) * rank)
    indices = INDICES[: 2**indices_rank].reshape((2,) * indices_rank)
    axes = (None, *range(-rank - 1, rank + 1))
    refused = 0
    for axis, batch_dims in itertools.product(axes, range(-indices_rank - 1, indices_rank + 2)):
        if is_taken(params, indices, axis, batch_dims):
            result = jaxops.gather(params, indices, None, axis, batch_dims)
            np.testing.assert_array_equal(result, gather(params, indices, axis, batch_dims))
        else:
            refused += 1
            with pytest.raises(ValueError, match=r"^gather: (axis|batch_dims) must be"):
                jaxops.gather(params, indices, None, axis, batch_dims)
    assert refused


@pytest.mark.parametrize("validate_indices", [None, True, False, np.True_])
def test_validate_indices_has_no_effect(validate_indices):
    x = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(jaxops.gather(x, [2], validate_indices, 1), x[:, [2]])
    with pytest.raises(jaxops.OutOfBoundsError):
        jaxops.gather(x, [3], validate_indices, 1)
