"""Indices of 8 and 16 bits, which cannot hold the bounds that they are held against."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from records import CASES, joined
from records.record import LENGTH, TABLE, TALL

import jaxops

DTYPES = [np.int8, np.uint8, np.int16, np.uint16]

OPS = joined("narrow")


def test_every_function_of_indices_is_here():
    indexed = {name for name, case in CASES.items() if case.indices}
    assert {name.split("-")[0] for name in indexed} <= {name.split("-")[0] for name in OPS}


@pytest.mark.parametrize("name", OPS)
def test_narrow_indices(name, x64):
    function, oracle = OPS[name]
    indices = [99, 5, 99, 0]
    expected = oracle(np.array(indices))
    arrays = [jnp.array(indices, dtype) for dtype in DTYPES]
    np.testing.assert_array_equal(function(arrays[0]), expected)
    for result in jax.jit(lambda arrays: [function(i) for i in arrays])(arrays):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize("name", ["gather", "gather-axis", "gather-batch_dims"])
@pytest.mark.parametrize(("mode", "of"), [("clip", lambda i: max(i, 0)), ("wrap", LENGTH.__add__)])
def test_negative_ones(name, mode, of, dtype):
    """Modulo 300, which int8 does not hold."""
    function, oracle = OPS[name]
    indices = np.array([-1, -128, -7, -100], dtype)
    expected = oracle(np.array([of(int(i)) for i in indices]))
    np.testing.assert_array_equal(function(jnp.asarray(indices), mode=mode), expected)


@pytest.mark.parametrize("index", [-1, -100])
def test_strided_slice_from_the_end(index):
    begin = jnp.array([index], jnp.int8)
    result = jaxops.strided_slice(TABLE, begin, [0], shrink_axis_mask=1)
    np.testing.assert_array_equal(result, TABLE[index])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_beyond_the_end(dtype):
    """255 into 200, which int8 would have as -1."""
    with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[0\] = 255 is not in \[0, 200\)"):
        jaxops.gather(TALL, jnp.array([255], dtype))
    clipped = jaxops.gather(TALL, jnp.array([255], dtype), mode="clip")
    np.testing.assert_array_equal(clipped[0], TALL[199])


@pytest.mark.parametrize("dtypes", [("int32", "int64"), ("uint8", "int64"), ("int64", "uint32")])
def test_single_indices_of_several_dtypes(dtypes):
    """Joined without JAX's promotion, which may be strict, as here."""

    @jax.jit
    def element(i, j):
        return jaxops.strided_slice(TABLE, [i, j], [0, 0], shrink_axis_mask=3)

    with jax.enable_x64(True):
        assert (
            element(*(jnp.array(n, dtype) for n, dtype in zip((7, 2), dtypes, strict=True)))
            == TABLE[7, 2]
        )
        assert element(jnp.array(7, dtypes[0]), 2) == TABLE[7, 2]
