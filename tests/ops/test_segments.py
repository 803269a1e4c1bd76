"""The segment reductions: what the harness of all ops does not see."""

import inspect
import itertools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify
from records.unsorted_segments import KINDS

import jaxops
from jaxops import testing

X = jnp.array([1.0, 2.0, 3.0])


def test_negative_ids_are_dropped_in_every_mode_but_error():
    x = jnp.array([1.0, 2.0, 3.0])
    for mode in ("device", "fill", "clip", "wrap", "promise_in_bounds"):
        for ids in (np.array([1, -1, 0], np.int8), np.array([1, -9, 0], np.int32)):
            result = jaxops.unsorted_segment_sum(x, ids, 3, mode=mode)
            np.testing.assert_array_equal(result, [3, 1, 0])
    gradient = jax.grad(lambda x: (jaxops.unsorted_segment_prod(x, [0, -1, 0], 1) ** 2).sum())(x)
    np.testing.assert_array_equal(gradient, [18, 0, 6])


@pytest.mark.parametrize(
    ("function", "expected"),
    [(jaxops.unsorted_segment_sum, []), (jaxops.nn.segment_softmax, [0, 0, 0])],
)
def test_no_segments(function, expected):
    """Only modes that choose a segment need one."""
    np.testing.assert_array_equal(function(X, [0, 1, -1], 0, mode="fill"), expected)
    for mode in ("clip", "wrap"):
        assert function(X[:0], [], 0, mode=mode).shape == (0,)
        with pytest.raises(ValueError, match=f"mode='{mode}' must have a"):
            function(X, [0, 1, -1], 0, mode=mode)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_that_was_asked_for_is_that_of_negative_ids_too(kind):
    function = getattr(jaxops, f"unsorted_segment_{kind}")

    def call(ids, x=X):
        return function(x, ids, 3, mode="error")

    ids = jnp.array([0, -1, 2])
    text = rf"segment_ids\[1\] = -1 is out of range \[0, 3\) \[Op:unsorted_segment_{kind}\]"
    testing.assert_out_of_bounds(call, ids, match=text)
    with pytest.raises(jaxops.OutOfBoundsError, match=text):
        jax.grad(lambda x: call(ids, x).sum())(X)
    error, _ = jax.jit(checkify.checkify(call))(ids)
    assert re.match(text, error.get() or "")
    np.testing.assert_array_equal(call(abs(ids)), function(X, abs(ids), 3))
    testing.assert_out_of_bounds(lambda ids: call(ids, jnp.ones((3, 0))), ids, match=text)


@pytest.mark.parametrize("kind", ["min", "max"])
def test_gradients_are_shared_among_the_slices_alone(kind):
    """Not with what stands in a segment that has none, which may be equal to a slice."""
    info = jnp.finfo(jnp.float32)
    end = info.max if kind == "min" else info.min
    function = getattr(jaxops, f"unsorted_segment_{kind}")
    x = jnp.array([end, 1.0, 1.0])
    gradient = jax.grad(lambda x: function(x, [0, 1, 1], 3).sum())(x)
    np.testing.assert_array_equal(gradient, [1, 0.5, 0.5])
    assert function(x, [0, 1, 1], 3)[2] == end
    reduce = getattr(jaxops.RaggedTensor, f"reduce_{kind}")
    of_rows = jax.grad(lambda x: reduce(jaxops.RaggedTensor.from_row_lengths(x, [1, 2]), 1).sum())
    np.testing.assert_array_equal(of_rows(x), gradient)
    assert function(np.array([1], np.int8), [0], 2)[1] == (127 if kind == "min" else -128)


def test_means_of_many():
    """float16 holds neither the count of the slices nor, of 70,000, a number as large."""
    ids = np.zeros(70_000, np.int32)
    ones = jnp.ones(70_000, jnp.float16) / 256
    for kind, expected in (("mean", 1 / 256), ("sqrt_n", 70_000**0.5 / 256)):
        result = getattr(jaxops, f"unsorted_segment_{kind}")(ones, ids, 1)
        np.testing.assert_array_equal(result, [np.float16(expected)])


def test_means_of_integers():
    for x64, dtype in itertools.product((False, True), (np.int8, np.int32)):
        with jax.enable_x64(x64):
            mean = jaxops.unsorted_segment_mean(np.array([1, 2], dtype), [0, 0], 2)
            assert mean.dtype == (np.float64 if x64 and dtype == np.int32 else np.float32)
            np.testing.assert_array_equal(mean, [1.5, 0])


def test_ids_are_not_looked_at_where_data_have_no_elements():
    assert jaxops.unsorted_segment_sum(jnp.zeros((1, 0)), [9], 2).shape == (2, 0)
    with pytest.raises(jaxops.OutOfBoundsError):
        jaxops.unsorted_segment_mean(jnp.zeros((1, 0)), [9], 2)


def test_dropped_products_have_no_gradient():
    """Not even NaN, where a dropped slice is NaN or its quotient and a product is infinite."""
    for last, ids in itertools.product((0, jnp.nan), ([0, -1, -1, -1], [0, 1, -1, -1])):
        x = jnp.array([1e30, 1e30, 1e-30, last], jnp.float32)
        gradient = jax.grad(lambda x, ids=ids: jaxops.unsorted_segment_prod(x, ids, 2).sum())(x)
        np.testing.assert_array_equal(gradient, np.array(ids) >= 0)


@pytest.mark.parametrize("kind", KINDS)
def test_slices_of_no_segment_have_no_gradient(kind):
    """The gradient of the slices that have one is as without the others."""
    function = getattr(jaxops, f"unsorted_segment_{kind}")
    ids = np.array([-1, 0, 1, -7, 0])
    x = jnp.array([7.0, 2.0, 3.0, 2.0, 5.0])

    def gradient(x, ids, **options):
        weights = jnp.array([jnp.inf, 11.0])
        return jax.grad(lambda x: (function(x, ids, 2, **options) * weights).sum())(x)

    expected = np.zeros(5, np.float32)
    expected[ids >= 0] = gradient(x[ids >= 0], ids[ids >= 0])
    has_orders = "deterministic" in inspect.signature(function).parameters
    for mode in ("device", "fill", "clip", "wrap"):
        for order in [{}, {"deterministic": True}][: 1 + has_orders]:
            np.testing.assert_array_equal(gradient(x, ids, mode=mode, **order), expected)


def test_first_that_is_too_large():
    def program(ids):
        return jaxops.unsorted_segment_sum(jnp.ones(4), ids, 3)

    ids, text = np.array([1, -1, 7, 3]), "segment_ids[2] = 7 is out of range [0, 3)"
    testing.assert_out_of_bounds(program, ids, match=re.escape(text))
    error, _ = checkify.checkify(program)(ids)
    assert text in str(error.get())
    assert jaxops.unsorted_segment_sum(jnp.ones(1), [-1], 0).shape == (0,)


def test_sorted_ids_say_how_many_segments_there_are():
    x = jnp.arange(4.0)
    for ids, number in (([0, 0, 2, 2], 3), ([1, 1, 1, 1], 2), ([0, 0, 0, 9], 10)):
        for kind in ("sum", "mean", "prod", "min", "max"):
            assert getattr(jaxops, f"segment_{kind}")(x, ids).shape == (number,)
        assert jaxops.sparse_segment_sum(x, [0, 1, 2, 3], ids).shape == (number,)
    assert jaxops.segment_sum(np.zeros((0, 2)), []).shape == (0, 2)
    known = np.array([0, 0, 1, 1])
    np.testing.assert_array_equal(jax.jit(lambda x: jaxops.segment_sum(x, known))(x), [1, 5])


def test_infinities_are_extrema():
    rows = np.array([np.inf, -np.inf], np.float32)
    for kind in ("min", "max"):
        np.testing.assert_array_equal(getattr(jaxops, f"segment_{kind}")(rows, [0, 1]), rows)
    small = np.array([-1, 2, 1]).astype(jnp.float8_e4m3fn)  # which has no infinity
    np.testing.assert_array_equal(jaxops.segment_max(small, [0, 0, 2]).astype(int), [2, 0, 1])


def test_means_of_sorted_integers_are_rounded_towards_0():
    for dtype in (np.int8, np.int32):
        mean = jaxops.segment_mean(np.array([-1, -2, 1, 2], dtype), [0, 0, 2, 2])
        assert mean.dtype == dtype
        np.testing.assert_array_equal(mean, [-1, 0, 1])
    many = jaxops.segment_mean(np.ones(300, np.uint8), np.zeros(300, int))
    np.testing.assert_array_equal(many, [300 % 256 // 300])


def test_ids_of_narrow_types_that_decrease():
    """As numbers of 8 bits without a sign their steps would not be negative."""
    with pytest.raises(jaxops.OutOfBoundsError, match="is less than the one before, 200"):
        jaxops.segment_sum(np.ones(2), np.array([200, 100], np.uint8))


def test_unsorted_ids_are_combined_where_they_are_no_error():
    filled = jaxops.segment_sum([1.0, 2.0, 4.0, 8.0], [1, 0, 5, 1], num_segments=2, mode="fill")
    np.testing.assert_array_equal(filled, [2, 9])


@pytest.mark.parametrize("name", ["segment_mean", "segment_sum", "sparse_segment_mean"])
def test_one_id_too_large_for_memory_is_named(name):
    """XLA never finishes the flag of a program whose result cannot be allocated."""
    data, ids = jnp.ones((2, 100)), [0, 2_000_000_000]
    args = (data, [0, 1], ids) if name.startswith("sparse") else (data, ids)
    words = f"{name}: segment_ids must name segments that memory holds; received 2000000000; pass"
    with pytest.raises(MemoryError, match=words):
        getattr(jaxops, name)(*args)

    def bounded(data):
        return getattr(jaxops, name)(data, *args[1:], num_segments=2_000_000_001)

    words = f"{name}: RESOURCE_EXHAUSTED.* num_segments 2000000001"
    for call in (bounded, jax.grad(lambda x: bounded(x)[0, 0])):
        with pytest.raises(MemoryError, match=words):
            call(data)


@pytest.mark.parametrize("kind", [int, np.array, jnp.int32])
def test_too_many_segments_for_memory_are_named(kind):
    """Also where an index goes to the program as a number of Python."""
    words = r"RESOURCE_EXHAUSTED.* segment_ids of shape \(\), num_segments 1099511627776"
    with pytest.raises(MemoryError, match=words):
        jaxops.unsorted_segment_sum(jnp.ones(()), kind(1), 2**40)
