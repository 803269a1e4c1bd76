"""Index arithmetic for axes longer than int32 counts, without the memory for such arrays.

`test_large.py` has the arrays.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops
from jaxops._indexing import bounds, index_dtypes, policy
from jaxops._indexing.specs import ScalarIndex, ShrunkAxes
from jaxops._ops import slice, strided_slice

LENGTHS = [5, 2**31 - 1, 2**31, 2**31 + 7, 2**32 - 1, 2**32, 2**33 + 1]
EDGES = {n + d for n in (0, *LENGTHS) for d in (-2, -1, 0, 1)}
EDGES |= {-(2**31), -(2**31) + 3, -(2**33), 2**62, -(2**62)}
DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES = [(dtype, x64) for dtype in DTYPES for x64 in (False, True) if x64 or "64" not in dtype]


def of(dtype):
    info = np.iinfo(dtype)
    return sorted(n for n in EDGES | {info.min, info.max} if info.min <= n <= info.max)


def as_mode_has_it(index, length, mode):
    """The position that counts, or None."""
    if mode == "clip":
        return min(max(index, 0), length - 1)
    if mode == "wrap":
        return index % length
    return index if 0 <= index < length else None


def is_refused(dtype, length, x64):
    """A negative index that wraps to a position which no 32-bit type has."""
    return not x64 and dtype != "uint32" and length >= 2**32


@pytest.mark.parametrize(("dtype", "x64"), DTYPES, indirect=["x64"])
@pytest.mark.parametrize("mode", ["fill", "clip", "wrap", "promise_in_bounds"])
@pytest.mark.parametrize("length", LENGTHS)
def test_resolved_indices(length, mode, dtype, x64):
    indices = of(dtype)
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
            assert bool(valid[n]) == (expected is not None), index
        if expected is not None:
            assert resolved[n] == expected, index


@pytest.mark.parametrize("mode", ["fill", "clip", "wrap", "device"])
@pytest.mark.parametrize("length", LENGTHS)
def test_single_indices_count_from_the_end(length, mode, x64):
    """The second axis is short; its index -9 counts too far."""
    spec = ShrunkAxes("strided_slice", limits=(length, 5), axes=(0, 1), places=(0, 1))
    vectors = [(i, j) for i in of(np.int32) for j in (-9, -2, 4, 5)]
    vectors = [v for v in vectors if -length <= v[0] < length]
    begin = jnp.array(vectors, jnp.int32)

    def positions():
        begins = jax.vmap(lambda b: strided_slice._from_the_end(b, spec, mode))(begin)
        if mode == "device":
            return begins, bounds.in_bounds(index_dtypes.widen(begins), spec)
        return policy.resolve(spec, begins, mode)

    if not x64 and length >= 2**32:
        with pytest.raises(ValueError, match=f"positions among {length} take 64 bits"):
            positions()
        return
    resolved, valid = positions()
    resolved, valid = np.asarray(resolved).tolist(), valid if valid is None else np.asarray(valid)
    for n, (i, j) in enumerate(vectors):
        first, second = i + length * (i < 0), j + 5 * (j < 0)
        expected = [as_mode_has_it(first, length, mode), as_mode_has_it(second, 5, mode)]
        if valid is not None:
            assert bool(valid[n]) == (None not in expected), (i, j)
        if None not in expected:
            assert resolved[n] == expected, (i, j)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
@pytest.mark.parametrize("mode", ["fill", "clip"])
@pytest.mark.parametrize("length", LENGTHS[:-3])
def test_windows_that_reach_outside(length, mode, dtype, x64):
    size = 4
    spec = ScalarIndex("slice", limits=(length,))

    @jax.vmap
    def positions(begin):
        run = slice._run_of_positions(begin, size, length, "slice", mode)
        return policy.resolve(spec, run[:, None], mode)

    begins = of(dtype)
    resolved, valid = positions(jnp.array(begins, dtype))
    resolved, valid = np.asarray(resolved), valid if valid is None else np.asarray(valid)
    for n, begin in enumerate(begins):
        for step in range(size):
            expected = as_mode_has_it(begin + step, length, mode)
            if valid is not None:
                assert bool(valid[n, step]) == (expected is not None), (begin, step)
            if expected is not None:
                assert int(resolved[n, step, 0]) == expected, (begin, step)


@pytest.mark.parametrize("index", [2**31 - 1, 2**31, 2**32 - 1, 2**62])
def test_the_true_size_of_a_stitch_saturates(index, x64):
    indices = jnp.array([1, min(index, np.iinfo(np.int64 if x64 else np.uint32).max)],
                        jnp.int64 if x64 else jnp.uint32)  # fmt: skip
    stitch = jax.jit(
        lambda i: jaxops.dynamic_stitch([i], [i], size=2, return_size=True, mode="fill")
    )
    assert stitch(indices)[1] == 2**31 - 1
