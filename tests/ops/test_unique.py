"""unique and unique_with_counts beyond the harness: special values, dtypes, strings."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import assert_all_equal
from records.unique import unique_with_counts

import jaxops

NAN = float("nan")


FLOATS = [np.float32, np.float16, jnp.bfloat16, jnp.float8_e4m3fn, jnp.float8_e5m2]


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: np.dtype(dtype).name)
def test_special_values(dtype):
    """As TensorFlow has them for float32 and float64."""
    x = jnp.array([NAN, 1, NAN, 0.0, -0.0, 0.0, -NAN, -1]).astype(dtype)
    y, idx, count = jaxops.unique_with_counts(x)
    np.testing.assert_array_equal(y.astype(np.float32), [NAN, 1, NAN, 0, NAN, -1])
    np.testing.assert_array_equal(idx, [0, 1, 2, 3, 3, 3, 4, 5])
    np.testing.assert_array_equal(count, [1, 1, 1, 3, 1, 1])


def test_first_occurrence_keeps_the_sign_of_zero():
    assert np.signbit(jaxops.unique(np.array([-0.0, 0.0], np.float32)).y).tolist() == [True]


def test_subnormals_and_infinities():
    x = np.array([1e-45, 0, 3e-45, np.inf, 1e-45, -np.inf, np.inf], np.float32)
    np.testing.assert_array_equal(jaxops.unique(x).idx, [0, 1, 2, 3, 0, 4, 3])


INTEGERS = [bool, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, jnp.int4, jnp.uint4]


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda dtype: np.dtype(dtype).name)
def test_integer_dtypes(dtype):
    x = jnp.array([3, 0, 3, -1, 0, -1]).astype(dtype)
    y, idx = jaxops.unique(x)
    assert y.dtype == dtype
    np.testing.assert_array_equal(idx, [0, 1, 0, 0, 1, 0] if dtype is bool else [0, 1, 0, 2, 1, 2])
    np.testing.assert_array_equal(y, x[jnp.array([0, 1, 3])][: y.size])


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64])
def test_64_bits(dtype):
    rng = np.random.default_rng(0)
    x = (rng.integers(0, 9, 300) * 2**40 + rng.integers(0, 3, 300)).astype(dtype)
    with jax.enable_x64(True):
        result = jaxops.unique_with_counts(x, np.int64)
        y, idx, count = unique_with_counts(x)
        assert_all_equal(result, (y, idx.astype(np.int64), count.astype(np.int64)))


@pytest.mark.parametrize("n", [1, 2, 3, 700])
@pytest.mark.parametrize("distinct", [1, 50, 10**6])
def test_random(n, distinct):
    x = np.random.default_rng(n).integers(-distinct, distinct, n).astype(np.int32)
    assert_all_equal(jaxops.unique_with_counts(x), unique_with_counts(x))


def test_small_eager_calls_run_no_compiled_code():
    x = jnp.array([5, 3, 5, 1])
    jaxops.unique_with_counts(x)
    with jax.log_compiles(), jax.no_tracing():
        for values in ([1, 1, 1, 1], [1, 2, 1, 2], [4, 3, 2, 1]):  # each size of `y` a new one
            x = jax.device_put(np.array(values, np.int32))
            assert_all_equal(jaxops.unique_with_counts(x), unique_with_counts(np.asarray(x)))


@pytest.mark.parametrize("kind", [np.str_, np.bytes_, object, np.dtypes.StringDType()], ids=str)
def test_strings(kind):
    x = np.array(["b", "a", "b", "c"]).astype(kind)
    y, idx, count = jaxops.unique_with_counts(x)
    assert y.tolist() == x[[0, 1, 3]].tolist()
    assert_all_equal((idx, count), np.split(np.array([0, 1, 0, 2, 2, 1, 1], np.int32), [4]))
    fill_value = b"--" if kind is np.bytes_ else "--"
    (y, _, count), size = jaxops.unique_with_counts(
        x, size=4, fill_value=fill_value, return_size=True
    )
    assert y.tolist() == [*x[[0, 1, 3]].tolist(), fill_value]
    assert count.tolist() == [2, 1, 1, 0]
    assert int(size) == 3
    assert jaxops.unique(x, size=1, mode="fill").y.tolist() == x[:1].tolist()


def test_text_equals_its_bytes():
    """The value is the first one; a lone surrogate, which is no UTF-8, equals itself."""
    x = np.array(["ä", b"a", "ä".encode(), "a", "\ud800", "\ud800"], object)
    y, idx = jaxops.unique(x)
    assert (y.tolist(), idx.tolist()) == (["ä", b"a", "\ud800"], [0, 1, 0, 1, 2, 2])


@pytest.mark.parametrize("size", [0, 2, 3, 6])
def test_size_under_jit(size):
    x = jnp.array([5.0, 3, 5, 1])
    padded = jax.jit(
        lambda x: jaxops.unique_with_counts(x, size=size, fill_value=9, return_size=True)
    )
    result, total = padded(x)
    assert_all_equal(result, unique_with_counts(np.asarray(x), size, 9))
    assert int(total) == 3


def test_empty():
    y, idx, count = jaxops.unique_with_counts(np.zeros(0, np.float32))
    assert y.shape == idx.shape == count.shape == (0,)
    assert jaxops.unique(np.zeros(0, np.float32), size=2, fill_value=1).y.tolist() == [1, 1]


def test_gradient_goes_to_the_first_occurrence():
    x = jnp.array([5.0, 3, 5, 1])
    for size, expected in ((None, [10, 6, 0, 2]), (2, [10, 6, 0, 0]), (5, [10, 6, 0, 2])):
        options = {"size": size, "mode": "fill"} if size else {}
        gradient = jax.grad(lambda x, o=options: (jaxops.unique(x, **o).y ** 2).sum())(x)
        np.testing.assert_array_equal(gradient, expected)


def test_what_is_known_while_tracing_needs_no_size():
    doubled = jax.jit(lambda x: x + jaxops.unique([2.0, 3.0, 2.0]).y)(jnp.zeros(2))
    np.testing.assert_array_equal(doubled, [2, 3])


def test_slices_of_special_values():
    rows = np.array([[0.0, 1.0], [NAN, 1.0], [-0.0, 1.0], [NAN, 1.0]], np.float32)
    y, idx, count = jaxops.unique_with_counts(rows, axis=0)
    np.testing.assert_array_equal(idx, [0, 1, 0, 2])
    np.testing.assert_array_equal(count, [2, 1, 1])
    np.testing.assert_array_equal(y, rows[[0, 1, 3]])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_many_slices(axis):
    x = np.random.default_rng(0).integers(0, 2, (50, 7, 6))[:, :, :1] * np.ones(2, int)
    result = jaxops.unique_with_counts(x, axis=axis)
    slices = np.moveaxis(x, axis, 0)
    seen = [tuple(part.reshape(-1).tolist()) for part in slices]
    distinct = list(dict.fromkeys(seen))
    np.testing.assert_array_equal(result.idx, [distinct.index(part) for part in seen])
    np.testing.assert_array_equal(result.count, [seen.count(part) for part in distinct])
    np.testing.assert_array_equal(np.take(np.asarray(result.y), result.idx, axis), x)
    padded, total = jax.jit(
        lambda x: jaxops.unique(x, size=len(seen), axis=axis, return_size=True)
    )(x)
    assert total == len(distinct)
    np.testing.assert_array_equal(padded.idx, result.idx)


def test_slices_without_elements_are_equal():
    assert jaxops.unique(np.zeros((3, 0)), axis=0).y.shape == (1, 0)
    y, idx = jaxops.unique(np.zeros((0, 3)), axis=1)
    assert y.shape == (0, 1)
    np.testing.assert_array_equal(idx, [0, 0, 0])
    assert not jaxops.unique(np.zeros((2000, 0)), axis=0).idx.any()
    assert jaxops.unique(np.zeros((3, 0), str), axis=0).y.shape == (1, 0)
    assert jaxops.unique(np.zeros((0, 3)), axis=0).y.shape == (0, 3)


def test_rows_of_strings():
    rows = [["b", "a"], ["a", "b"], ["b", "a"]]
    y, idx = jaxops.unique(rows, axis=0, size=3, fill_value="-")
    np.testing.assert_array_equal(y, [["b", "a"], ["a", "b"], ["-", "-"]])
    np.testing.assert_array_equal(idx, [0, 1, 0])
    assert jaxops.unique(rows, axis=1).y.shape == (3, 2)
    y, idx = jaxops.unique([["b", "a", "b"], ["b", "c", "b"]], axis=1)
    np.testing.assert_array_equal(y, [["b", "a"], ["b", "c"]])
    np.testing.assert_array_equal(idx, [0, 1, 0])
