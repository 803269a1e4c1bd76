"""What IndexedSlices of each dtype of JAX add up to."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fast import fast_jit
from sparse_checks import OF_INEXACT_SLICES, OF_SLICES, to_dense

import jaxops
from jaxops import IndexedSlices, TiedGradient

# All but int2 and uint2, whose concatenation ends the process in XLA, and float8_e8m0fnu, which has
# no 0.
INTEGERS = ["int4", "int8", "int16", "int32", "int64"]
INTEGERS += [f"u{name}" for name in INTEGERS]
INEXACT = ["bfloat16", "float16", "float32", "float64", "complex64", "complex128", "float4_e2m1fn"]
INEXACT += sorted(n for n in dir(jnp) if n.startswith("float8_") and n != "float8_e8m0fnu")
ALL_FUNCTIONS = OF_SLICES | OF_INEXACT_SLICES


def dense_results(functions):
    """All of them as one program, by name."""
    return fast_jit(lambda s: {name: to_dense(call(s)) for name, (call, _) in functions.items()})


@pytest.mark.parametrize("dtype", INTEGERS + INEXACT)
def test_each_dtype(dtype):
    functions = ALL_FUNCTIONS if dtype in INEXACT else OF_SLICES
    with jax.enable_x64(True):
        slices = IndexedSlices(jnp.ones((4, 2), dtype), [1, 3, 9, 1], (4, 2))
        for name, dense in dense_results(functions)(slices).items():
            assert dense.dtype == dtype, name
            expected = functions[name][1] * np.array([0, 2, 0, 1])[:, None] * np.ones(2)
            np.testing.assert_array_equal(np.asarray(dense).astype(complex), expected, name)


# Rows that repeat 4,000 times, of a value so small that its multiples fit all of these dtypes.
NARROW = ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"]
COUNT, VALUE = 4_000, 1 / 32


def repeated(dtype, rows=3):
    return IndexedSlices(jnp.full((COUNT, 2), VALUE, dtype), jnp.ones(COUNT, int), (rows, 2))


@pytest.mark.slow
@pytest.mark.parametrize("rows", [3, 10_000])  # fewer than are added, and more
@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_floats_are_added_in_float32_and_rounded_once(dtype, rows):
    for name, dense in dense_results(ALL_FUNCTIONS)(repeated(dtype, rows)).items():
        expected = jnp.zeros((rows, 2)).at[1].set(ALL_FUNCTIONS[name][1] * COUNT * VALUE)
        np.testing.assert_array_equal(dense, expected.astype(dtype), name, strict=True)


@pytest.mark.parametrize("dtype", NARROW)
def test_norms_of_narrow_floats(dtype):
    expected = np.float32(COUNT * VALUE) * np.sqrt(np.float32(2))
    for grads in (repeated(dtype), TiedGradient(jnp.zeros((3, 2), dtype), repeated(dtype))):
        np.testing.assert_allclose(jaxops.global_norm(grads), expected, rtol=1e-6)


CALLS_OF_BOOLS = {
    "make": lambda s: IndexedSlices(s.values, s.indices, s.dense_shape),
    **{name: call for name, (call, _) in ALL_FUNCTIONS.items()},
    "global_norm": jaxops.global_norm,
}


@pytest.mark.parametrize("name", CALLS_OF_BOOLS)
def test_bools_are_refused(name):
    """Also in an object that JAX puts together from leaves, which it does not look at."""
    slices = IndexedSlices(jnp.ones((4, 2)), [1, 3, 9, 1], (4, 2))
    mapped = jax.tree.map(lambda x: x > 0 if isinstance(x.dtype, np.dtype) else x, slices)
    words = r"values must be numbers, .* received bool\[4,2\]|must have a (numeric|float)"
    with pytest.raises(TypeError, match=words):
        to_dense(CALLS_OF_BOOLS[name](mapped))
