"""Index dtypes that cannot hold the bounds: 8 and 16 bits, and 32 bits on longer axes.

The axes are shapes only: `test_large.py` has arrays of such lengths.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from records import CASES, joined

from jaxops._indexing import index_dtypes

NARROW = [np.int8, np.uint8, np.int16, np.uint16]

OPS = joined("narrow")


def test_every_function_of_indices_is_here():
    indexed = {name for name, case in CASES.items() if case.indices and case.modes}
    assert {name.split("-")[0] for name in indexed} <= {name.split("-")[0] for name in OPS}


@pytest.mark.parametrize(
    "x64", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["x32", "x64"], indirect=True
)
@pytest.mark.parametrize("name", OPS)
def test_narrow_indices(name, x64):
    case = OPS[name]
    options = {"mode": case.modes[0]} if case.modes else {}

    @jax.jit
    def results(by_dtype):
        found = [case.op(*case.data, *indices, **options) for indices in by_dtype]
        if case.has_deterministic:
            found.append(case.op(*case.data, *by_dtype[0], deterministic=True, **options))
        return found

    expected = case.oracle(*case.args)
    for result in results([[i.astype(dtype) for i in case.indices] for dtype in NARROW]):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("x64", [False, True], indirect=True)
def test_dtypes_that_count(x64):
    """Of indices of a dtype along an axis of a length: uint32 only where int32 does not reach."""

    def dtype_for(dtype, length):
        counting = index_dtypes.widen_to_count(jnp.array([[1]], dtype), (length, 3), "gather")
        assert counting.item() == 1
        return counting.dtype

    assert dtype_for(np.int8, 300) == dtype_for(np.int32, 2**31 - 1) == np.int32
    assert dtype_for(np.uint32, 300) == np.uint32
    assert dtype_for(np.int8, 2**31) == (np.int64 if x64 else np.uint32)
    if x64:
        assert dtype_for(np.int32, 2**32) == np.int64
    else:
        with pytest.raises(ValueError, match="gather: positions among 4294967296 take 64 bits"):
            dtype_for(np.int32, 2**32)
