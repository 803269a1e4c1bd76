"""What README.md and docs/out_of_bounds.md say of TensorFlow's functions compiled by XLA."""

import numpy as np
import pytest
from peer import tf

TABLE, IDS = np.array([10, 20, 30, 40], np.int32), np.array([0, 7], np.int32)
ROWS = np.array([[7]], np.int32)
CALLS = {
    "gather": (lambda: tf.gather(TABLE, IDS), [10, 40]),
    "gather_nd": (lambda: tf.gather_nd(TABLE, IDS[:, None]), [10, 40]),
    "scatter_nd": (lambda: tf.scatter_nd(ROWS, [5], [4]), [0, 0, 0, 0]),
    "tensor_scatter_nd_update": (
        lambda: tf.tensor_scatter_nd_update(TABLE, ROWS, [5]),
        [10, 20, 30, 40],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_index_out_of_bounds_raises_but_compiled_by_xla_it_does_not(name):
    call, compiled = CALLS[name]
    with pytest.raises(tf.errors.InvalidArgumentError):
        call()
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(call)()
    np.testing.assert_array_equal(tf.function(call, jit_compile=True)(), compiled)
