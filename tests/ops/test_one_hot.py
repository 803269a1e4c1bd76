"""one_hot beyond the harness: dtypes, strings."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops

EYE = np.eye(3, dtype=np.float32)
CASES = {
    "defaults": (([0, 1, 2], 3), EYE),
    "first-axis": (([0, 2], 3, None, None, 0), EYE[[0, 2]].T),
    "middle-axis": (([[0, 2]], 3, None, None, 1), EYE[[0, 2]].T[None]),
    "scalar": ((1, 3), EYE[1]),
    "too-large": (([3, 2**31 - 1], 3), np.zeros((2, 3), np.float32)),
    "64-bit-index": ((np.array([0, 2**32 + 1]), 3), np.stack([EYE[0], 0 * EYE[0]])),
    "int-values": (([0, 2], 3, 1), np.eye(3, dtype=np.int32)[[0, 2]]),
    "off-alone": (([0], 3, None, 7), np.array([[1, 7, 7]], np.int32)),
    "bools": (([0], 3, False, True), np.array([[False, True, True]])),
    "float-of-int": (([1], 3, 2, None, None, np.float16), np.array([[0, 2, 0]], np.float16)),
    "int-of-bool": (([1], 3, True, None, None, np.int32), np.array([[0, 1, 0]], np.int32)),
    "no-depth": (([1], 0), np.zeros((1, 0), np.float32)),
    "strings": (([0, -1], 2, "on", "-"), np.array([["on", "-"], ["-", "-"]])),
    "bytes": (([0], 2, b"on", b"-"), np.array([[b"on", b"-"]])),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_values_and_dtypes(case):
    args, expected = CASES[case]
    np.testing.assert_array_equal(np.asarray(jaxops.one_hot(*args)), expected, strict=True)


DTYPES = [np.int8, np.uint32, np.float16, np.complex64, jnp.bfloat16, jnp.int4, jnp.float8_e5m2]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_dtype_argument(dtype):
    result = jaxops.one_hot([1], 3, dtype=dtype)
    assert result.dtype == dtype
    np.testing.assert_array_equal(np.asarray(result).astype(complex), [[0, 1, 0]])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, jnp.int4, jnp.uint4, np.uint32])
def test_depth_beyond_the_index_dtype(dtype):
    result = jaxops.one_hot(jnp.array([3]).astype(dtype), 300)
    np.testing.assert_array_equal(np.flatnonzero(result), [3])


def test_negative_index_of_any_width_is_out_of_range():
    for dtype in (jnp.int4, np.int8, np.int16, np.int32):
        assert not jaxops.one_hot(jnp.array([-1]).astype(dtype), 300).any()


MODES = {"fill": [0, 2], "clip": [0, 2, 0, 2], "wrap": [0, 2, 2, 1]}


@pytest.mark.parametrize("mode", MODES)
def test_modes(mode):
    indices = np.array([0, 2, -1, 7])
    rows = np.zeros((4, 3), np.float32)
    rows[range(len(MODES[mode])), MODES[mode]] = 1
    one_hot = functools.partial(jaxops.one_hot, depth=3, mode=mode)
    for dtype in (np.int8, np.int32, np.int64):
        for function in (one_hot, jax.jit(one_hot), jax.vmap(one_hot)):
            np.testing.assert_array_equal(function(indices.astype(dtype)), rows)
    texts = jaxops.one_hot(indices, 3, "on", "-", mode=mode)
    np.testing.assert_array_equal(texts, np.where(rows == 1, "on", "-"))
    assert one_hot(indices, depth=0).shape == (4, 0)


@pytest.mark.parametrize("mode", ["device", "error"])
def test_errors(mode):
    def one_hot(indices, on=1.0):
        return jaxops.one_hot(indices, 3, on, 0.0, mode=mode)

    text = r"indices\[1\] = -1 is not in \[0, 3\) \[Op:one_hot\] at test_one_hot.py:"
    bad = jnp.array([2, -1, 7])
    gradient = jax.jit(jax.grad(lambda on: one_hot(bad, on).sum()))
    with pytest.raises(jaxops.OutOfBoundsError, match=text), jaxops.typed_errors():
        jax.block_until_ready(gradient(jnp.float32(1)))
    with pytest.raises(jaxops.OutOfBoundsError, match=text):
        jaxops.one_hot(bad, 3, "on", "-", mode=mode)


def test_64_bit_dtype_needs_x64(x64):
    if x64:
        assert jaxops.one_hot([0], 2, dtype=np.float64).dtype == np.float64
    else:
        with pytest.raises(ValueError, match="enable_x64"):
            jaxops.one_hot([0], 2, dtype=np.float64)


@pytest.mark.parametrize(
    ("on_value", "off_value", "dtype"),
    [(None, None, "float32"), (2.5, None, "float32"), (None, -1, "int32"), (2**40, None, "int64")],
)
def test_python_numbers_have_32_bits_where_they_fit(on_value, off_value, dtype):
    with jax.enable_x64(True):
        assert jaxops.one_hot([1], 2, on_value, off_value).dtype == dtype


class TensorFlowsString:
    """`tf.string`, by what it is read by."""

    as_numpy_dtype = object


STRINGS = ["string", object, np.dtype("U"), "S3", TensorFlowsString()]


@pytest.mark.parametrize("dtype", STRINGS, ids=range(len(STRINGS)))
def test_dtypes_of_strings(dtype):
    result = jaxops.one_hot([1, 7], 2, "on", "-", dtype=dtype)
    np.testing.assert_array_equal(result, [["-", "on"], ["-", "-"]])
    with pytest.raises(TypeError, match=r"^one_hot: \w+ must"):
        jaxops.one_hot([1, 7], 2, 1, 0, dtype=dtype)
