"""_cpu/row_copies: rows that are gathered by a primitive of their own."""

import fast
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import primitives
from records import gather as oracle

import jaxops

ROWS = 10
INDICES = np.array([[3, 0, 3], [9, 1, 0]], np.int32)


def table(width):
    rng = np.random.default_rng(width)
    return jnp.asarray(rng.integers(0, 100, (ROWS, width)), np.float32)


# shape, axis, batch_dims, dtype, whether by the primitive
CASES = {
    "short": ((ROWS, 59), 0, 0, np.float32, False),
    "shortest": ((ROWS, 60), 0, 0, np.float32, True),
    "64": ((ROWS, 64), 0, 0, np.float32, True),
    "longest": ((ROWS, 75), 0, 0, np.float32, True),
    "long": ((ROWS, 76), 0, 0, np.float32, False),
    "long-bfloat16": ((ROWS, 300), 0, 0, jnp.bfloat16, True),
    "short-bfloat16": ((ROWS, 8), 0, 0, jnp.bfloat16, False),
    "int8": ((ROWS, 64), 0, 0, np.int8, True),
    "uint16": ((ROWS, 64), 0, 0, np.uint16, True),
    "bool": ((ROWS, 64), 0, 0, np.bool_, True),
    "int4": ((ROWS, 64), 0, 0, jnp.int4, False),
    "float8": ((ROWS, 64), 0, 0, jnp.float8_e4m3fn, False),
    "complex": ((ROWS, 64), 0, 0, np.complex64, False),
    "middle-axis": ((3, ROWS, 64), 1, 0, np.float32, True),
    "last-axis": ((3, 64), 1, 0, np.float32, False),
    "windows-of-rows": ((ROWS, 2, 64), 0, 0, np.float32, True),
    "batch": ((2, ROWS, 64), 1, 1, np.float32, True),
}


@pytest.mark.parametrize("name", CASES)
def test_rows_are_numpys(name):
    shape, axis, batch_dims, dtype, is_own = CASES[name]
    rng = np.random.default_rng(0)
    largest = {np.bool_: 2, jnp.int4: 8}.get(dtype, 100)
    params = jnp.asarray(rng.integers(0, largest, shape)).astype(dtype)

    def gather(params, indices):
        return jaxops.gather(params, indices, axis=axis, batch_dims=batch_dims)

    expected = oracle.gather(params, INDICES, axis, batch_dims)
    for call in (gather, jax.jit(gather)):
        np.testing.assert_array_equal(call(params, INDICES), expected)
    assert ("gather_rows" in primitives(gather, params, INDICES)) == is_own


@pytest.mark.parametrize("dtype", [np.float32, np.float16, jnp.bfloat16])
def test_bits_are_kept(dtype):
    """Of NaNs with a payload, quiet and signaling, of negative zeros, of subnormal numbers."""
    bits = np.dtype(f"uint{8 * np.dtype(dtype).itemsize}")
    pattern = np.random.default_rng(0).integers(0, np.iinfo(bits).max, (ROWS, 64)).astype(bits)
    special = [np.nan, -np.nan, -0.0, np.inf, jnp.finfo(dtype).smallest_subnormal]
    pattern[0, : len(special)] = np.array(special, dtype).view(bits)
    params = as_floats(pattern, dtype)
    gathered = jax.jit(jaxops.gather)(params, INDICES)
    np.testing.assert_array_equal(np.asarray(gathered).view(bits), pattern[INDICES])


def test_index_vectors_of_no_component():
    indices = np.zeros((2, 0), np.int32)
    expected = np.stack([table(64)] * 2)
    np.testing.assert_array_equal(jaxops.gather_nd(table(64), indices), expected)
    np.testing.assert_array_equal(jax.jit(jaxops.gather_nd)(table(64), indices), expected)


def as_floats(pattern, dtype):
    return jax.lax.bitcast_convert_type(jnp.asarray(pattern), dtype)


def test_only_programs_for_the_cpu_are_changed():
    gather = jax.jit(lambda p, i: jaxops.gather(p, i, mode="promise_in_bounds"))
    traced = gather.trace(table(64), INDICES)
    assert "stablehlo.or" in traced.lower(lowering_platforms=("cpu",)).as_text()
    assert "stablehlo.or" not in traced.lower(lowering_platforms=("cuda",)).as_text()
    compiled = gather.lower(table(64), INDICES).compile(fast.known(True)).as_text()
    assert compiled is not None
    assert " or(" in compiled, "XLA must not find out that the bits are OR-ed with 0"


def test_without_jit():
    def gather(params, indices):
        return jaxops.gather(params, indices)

    with jax.disable_jit():
        rows = jax.vmap(gather, (None, 0))(table(64), INDICES)
    np.testing.assert_array_equal(rows, np.asarray(table(64))[INDICES])
