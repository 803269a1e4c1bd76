"""What in bounds means, for every dtype and limit."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fast import optimized_jit

import jaxops
from jaxops._indexing import bounds
from jaxops._indexing.specs import ScalarIndex, SegmentIdsOrNone

LIMITS = [0, 1, 5, 2**31 - 1, 2**31, 2**31 + 5, 2**32 - 1, 2**40, 2**63 - 1]

EDGES = {n + d for n in (0, *LIMITS) for d in (-1, 0, 1)} | {-(2**31), -(2**63), 2**64 - 1}


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("limit", LIMITS)
def test_every_index_is_on_its_side_of_the_limit(limit, dtype):
    info = np.iinfo(dtype)
    with jax.enable_x64(True):
        spec = ScalarIndex("gather", limits=(limit,))
        ignoring = SegmentIdsOrNone("unsorted_segment_sum", limits=(limit,))  # negative indices
        for index in sorted(n for n in EDGES if info.min <= n <= info.max):
            inside = 0 <= index < limit
            indices = jnp.array([[index], [index]], dtype)
            np.testing.assert_array_equal(bounds.in_bounds(indices, spec), inside)
            assert bool(bounds.any_out_of_bounds(indices, spec)) != inside, index
            assert bool(bounds.any_out_of_bounds(indices, ignoring)) != (index < limit), index


def test_check_is_one_loop_on_a_cpu():
    """XLA makes a tree of loops, by a window, of a reduction with one operand."""

    def program(indices):
        return jaxops.gather(jnp.zeros((1000, 8)), indices)

    compiled = optimized_jit(program).lower(jnp.zeros(65_536, jnp.int32)).compile().as_text()
    assert compiled is not None
    assert len(re.findall(r" reduce\(", compiled)) == 1
    assert "reduce-window" not in compiled
