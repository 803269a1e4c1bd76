"""Softmax, logsumexp and moments of segments: what the harness does not see.

The harness has exact values; here they are those of a dense function of each segment's rows.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fast import fast_jit

import jaxops
from jaxops import testing

IDS = np.array([2, 0, 2, -1, 2, 0, 4])  # of 5 segments, of which 1 and 3 are empty
ROWS = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
WEIGHTS = np.random.default_rng(1).normal(size=(7, 3)).astype(np.float32)


def by_segment(x):
    """The rows of each segment that has any, beside all rows: the numbers, a mask and the rows."""
    present = np.unique(IDS[IDS >= 0])
    return present, (present[:, None] == IDS)[..., None], jnp.stack([x] * len(present))


def softmax(x):
    _, mask, rows = by_segment(x)
    return jax.nn.softmax(jnp.where(mask, rows, -jnp.inf), axis=1).sum(0)


def logsumexp(x):
    present, mask, rows = by_segment(x)
    found = jax.nn.logsumexp(jnp.where(mask, rows, -jnp.inf), axis=1)
    return jnp.full((5, *x.shape[1:]), -jnp.inf, x.dtype).at[present].set(found)


def moments(x):
    present, mask, rows = by_segment(x)
    found = jnp.stack([f(rows, axis=1, where=mask) for f in (jnp.mean, jnp.var)])
    return jnp.zeros((2, 5, *x.shape[1:]), x.dtype).at[:, present].set(found)


FUNCTIONS = {
    "softmax": (jaxops.nn.segment_softmax, softmax),
    "logsumexp": (jaxops.nn.segment_logsumexp, logsumexp),
    "moments": (jaxops.nn.segment_moments, moments),
}


def call(name, x, ids: Any = IDS, number=5, **options):
    """Results as one array."""
    return jnp.asarray(FUNCTIONS[name][0](x, ids, number, **options))


EACH = pytest.mark.parametrize("name", FUNCTIONS)


def finite(y):
    return jnp.where(jnp.isfinite(y), y, 0)


def loss(function):
    """A function of all results, of which each has a slope and a curvature of its own."""

    def total(x):
        y = finite(function(x)).reshape(-1)
        weights = jnp.asarray(np.resize(WEIGHTS, y.shape), y.dtype)
        return (weights * y + weights[::-1] * y**2).sum()

    return total


def derivatives(function, x):
    """Of first and second order."""
    own = loss(function)
    return jax.grad(own)(x), jax.jacfwd(own)(x), jax.hessian(own)(x)


@EACH
@pytest.mark.parametrize("x64", [False, True], ids=["x32", "x64"], indirect=True)
def test_values_and_derivatives_to_second_order(name, x64):
    x = ROWS.astype(np.float64 if x64 else np.float32)
    rtol, atol = (1e-12, 1e-13) if x64 else (1e-5, 1e-5)

    @fast_jit
    def both(x):
        functions = (lambda x: call(name, x)), FUNCTIONS[name][1]
        return [(function(x), *derivatives(function, x)) for function in functions]

    for ours, theirs in zip(*both(x), strict=True):
        assert ours.dtype == x.dtype
        np.testing.assert_allclose(ours, theirs, rtol, atol)


# --- infinities ---

NONE = -np.inf
INFINITE = np.array([1.0, NONE, 2.0, 3.0, NONE, NONE, NONE], np.float32)


def test_rows_of_minus_infinity():
    """One among others has no share; a segment of nothing else, 0 and 4, is 0 or -inf."""
    np.testing.assert_array_equal(
        jaxops.segment_softmax(INFINITE, IDS, 5)[jnp.array([1, 3, 4, 5, 6])], np.zeros(5)
    )
    np.testing.assert_allclose(jaxops.segment_softmax(INFINITE, IDS, 5).sum(), 1, 1e-6)
    sums = jaxops.segment_logsumexp(INFINITE, IDS, 5)
    np.testing.assert_array_equal(sums[jnp.array([0, 1, 3, 4])], [NONE] * 4)
    np.testing.assert_allclose(sums[2], np.log(np.exp(1) + np.exp(2)), 1e-6)


@pytest.mark.parametrize("name", ["softmax", "logsumexp"])
def test_derivatives_at_minus_infinity(name):
    """They are those without the rows, which have none themselves."""
    there = np.flatnonzero(np.isfinite(INFINITE) & (IDS >= 0))
    weights = jnp.arange(1.0, 8.0, dtype=INFINITE.dtype)

    def of_all(x):
        y = finite(call(name, x))
        return (weights[: len(y)] * (y + y**2)).sum()

    def of_some(x):
        y = finite(call(name, x, IDS[there]))
        own = weights[there] if name == "softmax" else weights[: len(y)]
        return (own * (y + y**2)).sum()

    @fast_jit
    def both(x):
        args = (of_all, x), (of_some, x[there])
        return [[d(f)(x) for d in (jax.grad, jax.jacfwd, jax.hessian)] for f, x in args]

    for ours, theirs in zip(*both(INFINITE), strict=True):
        expected = np.zeros(ours.shape, np.float32)
        expected[np.ix_(*[there] * ours.ndim)] = theirs
        np.testing.assert_allclose(ours, expected, 1e-5, 1e-6)


def test_cotangents_of_segments_without_rows():
    """Not NaN, of -inf or of the logarithm of 0, whatever the cotangent."""
    for function in (jaxops.segment_logsumexp, jaxops.segment_softmax):
        _, pull_back = jax.vjp(lambda x, f=function: f(x, IDS, 5), INFINITE)
        size = 5 if function is jaxops.segment_logsumexp else 7
        (bar,) = pull_back(jnp.ones(size, INFINITE.dtype))
        assert np.isfinite(bar).all()


def test_other_infinities_and_nan_stay_in_their_segments():
    x = np.array([np.inf, 1.0, np.nan, 2.0, 3.0, np.inf, -np.inf], np.float32)
    ids = np.array([0, 0, 1, 1, 2, 3, 3])
    np.testing.assert_array_equal(jaxops.segment_logsumexp(x, ids, 4), [np.inf, np.nan, 3, np.inf])
    assert np.isnan(jaxops.segment_softmax(x, ids, 4)[jnp.array([0, 2, 3, 5])]).all()
    assert jaxops.segment_softmax(x, ids, 4)[4] == 1
    mean, variance = jaxops.segment_moments(x, ids, 4)
    np.testing.assert_array_equal(mean, [np.inf, np.nan, 3, np.nan])
    np.testing.assert_array_equal(variance, [np.nan, np.nan, 0, np.nan])


# --- digits ---


def test_large_numbers():
    x = np.array([1e4, 1e4 + 1, -1e4, 3e38], np.float32)
    ids = [0, 0, 1, 2]
    np.testing.assert_allclose(
        jaxops.segment_softmax(x, ids, 3), [1 / (1 + np.e), np.e / (1 + np.e), 1, 1], 1e-6
    )
    np.testing.assert_allclose(
        jaxops.segment_logsumexp(x, ids, 3), [1e4 + np.log(1 + np.e), -1e4, 3e38], 1e-7
    )


@pytest.mark.parametrize("rows", [10, 1_000, 100_000])
def test_moments_with_a_large_mean(rows):
    """Each segment has a mean of its own. Sums of rows would make a variance of 100 of the 1."""
    rng = np.random.default_rng(0)
    x = rng.normal([1e4, -1e4, 12_345.6], size=(rows, 3)).astype(np.float32)
    mean, variance = jaxops.segment_moments(x, np.tile(np.arange(3), (rows, 1)), 3)
    exact = x.astype(np.float64)
    np.testing.assert_allclose(mean, exact.mean(0), 0, 1e-3)
    np.testing.assert_allclose(variance, exact.var(0), 1e-3)


@pytest.mark.parametrize("place", [0, -1])
def test_moments_with_a_row_that_lies_far_from_the_others(place):
    x = np.random.default_rng(0).normal(size=1_000).astype(np.float32)
    x[place] = 1e5
    mean, variance = jaxops.segment_moments(x, np.zeros(1_000, int), 1)
    exact = x.astype(np.float64)
    np.testing.assert_allclose(mean[0], exact.mean(), 1e-3)
    np.testing.assert_allclose(variance[0], exact.var(), 1e-3)


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16], ids=["float16", "bfloat16"])
def test_narrow_floats_are_added_in_float32(dtype):
    """float16 holds no count of 70,000; a sum of ones in bfloat16 stops at 256."""
    ids = np.zeros(70_000, np.int32)
    x = jnp.asarray(np.arange(70_000) % 2, dtype)
    wide = x.astype(jnp.float32)
    for function, _ in FUNCTIONS.values():
        found, expected = (jnp.asarray(function(y, ids, 1)) for y in (x, wide))
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected.astype(dtype))
    mean, variance = jaxops.segment_moments(x, ids, 1)
    assert (mean[0], variance[0]) == (0.5, 0.25)
    np.testing.assert_allclose(
        jaxops.segment_logsumexp(wide, ids, 1), np.log(35_000 * (1 + np.e)), 1e-4
    )


# --- shapes and ids ---


OUTSIDE = np.array([12, 0, 5, -1, 2, 0, 4])


@EACH
def test_numbers_out_of_bounds(name):
    """By mode: values and gradients are those of other ids, or of the rows that are left."""
    others = {
        "fill": np.where(OUTSIDE > 4, -1, OUTSIDE),
        "clip": np.minimum(OUTSIDE, 4),
        "wrap": np.where(OUTSIDE < 0, -1, OUTSIDE % 5),
    }

    @fast_jit
    def results(x):
        def of(ids, mode):
            function = lambda x: call(name, x, ids, mode=mode)  # noqa: E731
            return function(x), jax.grad(loss(function))(x)

        return [(of(OUTSIDE, m), of(i, "promise_in_bounds")) for m, i in others.items()]

    for ours, theirs in results(ROWS):
        jax.tree.map(np.testing.assert_array_equal, ours, theirs)


@EACH
@pytest.mark.parametrize("mode", ["device", "error"])
def test_errors_of_gradients(name, mode):
    """A negative number is one where an error was asked for."""
    bad = -1 if mode == "error" else 5
    ids = jnp.asarray([0, 0, bad, 1, 1, 2, 2])
    text = rf"segment_ids\[2\] = {bad} is out of range \[0, 5\) \[Op:segment_{name}\]"

    def gradient(i):
        return jax.grad(loss(lambda x: call(name, x, i, mode=mode)))(ROWS)

    testing.assert_out_of_bounds(gradient, ids, match=text)


@EACH
def test_dropped_rows_count_for_nothing(name):
    """Not even where they overflow, or are NaN: neither in values nor in derivatives."""
    ids, rest = np.array([0, 0, -1, 1]), np.array([0, 1, 3])
    rows = np.array([[1, 2, odd, 4] for odd in (1e38, np.inf, np.nan, 3)], np.float32)

    @fast_jit
    @jax.vmap
    def results(x):
        function = lambda x: call(name, x, ids, 2)  # noqa: E731
        return function(x), *derivatives(function, x)

    found = results(rows)
    for result in found:
        np.testing.assert_array_equal(result, np.stack([result[-1]] * 4))
    value = found[0][-1]
    value = value[rest] if name == "softmax" else value
    np.testing.assert_allclose(value, call(name, rows[0, rest], ids[rest], 2), 1e-6)


@pytest.mark.parametrize("num_segments", [2**31 - 2, 2**31 - 1, 2**31, 2**32 - 2])
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint32"])
@EACH
def test_as_many_segments_as_int32_counts(name, dtype, num_segments, x64):
    """The number that stands for no segment is one more than there are."""
    del x64
    statistic = functools.partial(FUNCTIONS[name][0], num_segments=num_segments)
    results = jax.eval_shape(statistic, jnp.zeros(3), jnp.zeros(3, dtype))
    sizes = {x.shape for x in jax.tree.leaves(results)}
    assert sizes == {(3 if name == "softmax" else num_segments,)}
