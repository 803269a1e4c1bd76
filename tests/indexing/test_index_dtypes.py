"""Index dtypes that cannot hold the bounds: 8 and 16 bits, and 32 bits on longer axes.

The axes are shapes only: `test_large.py` has arrays of such lengths.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from long_axes import DTYPES, LENGTHS, as_mode_has_it, indices_of, is_refused
from records import CASES, joined
from records.arguments import TALL

import jaxops
from jaxops._indexing import index_dtypes, policy
from jaxops._indexing.specs import ScalarIndex

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


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize("name", ["gather", "gather-axis", "gather-batch_dims"])
@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_negative_ones(name, mode, dtype):
    """Modulo 300, which int8 does not hold."""
    case = OPS[name]
    indices = np.broadcast_to(np.array([-1, -128, -7, -100], dtype), case.indices[0].shape)
    expected = case.oracle(*case.data, indices, mode=mode)
    np.testing.assert_array_equal(case.op(*case.data, indices, mode=mode), expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_beyond_the_end(dtype):
    """255 into 200, which int8 would have as -1."""
    with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[0\] = 255 is not in \[0, 200\)"):
        jaxops.gather(TALL, jnp.array([255], dtype))
    clipped = jaxops.gather(TALL, jnp.array([255], dtype), mode="clip")
    np.testing.assert_array_equal(clipped[0], TALL[199])


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


@pytest.mark.parametrize(("dtype", "x64"), DTYPES, indirect=["x64"])
@pytest.mark.parametrize("mode", ["fill", "clip", "wrap", "promise_in_bounds"])
def test_resolved_indices(mode, dtype, x64):
    for length in LENGTHS:
        check_resolved_indices(length, mode, dtype, x64)


def check_resolved_indices(length, mode, dtype, x64):
    indices = indices_of(dtype)
    spec = ScalarIndex("gather", limits=(length,))
    if mode == "wrap" and is_refused(dtype, length, x64):
        with pytest.raises(ValueError, match=f"positions among {length} take 64 bits"):
            policy.resolve(spec, jnp.array(indices, dtype)[:, None], mode)
        return
    resolved, valid = policy.resolve(spec, jnp.array(indices, dtype)[:, None], mode)
    assert resolved.dtype != np.uint64  # not what XLA should gather with
    resolved = np.asarray(resolved)[:, 0].tolist()
    valid = valid if valid is None else np.asarray(valid)
    for n, index in enumerate(indices):
        expected = as_mode_has_it(index, length, mode)
        if mode == "fill":
            assert valid is not None
            assert bool(valid[n]) == (expected is not None), (length, index)
        if expected is not None:
            assert resolved[n] == expected, (length, index)
