"""Softmax, logsumexp and moments of segments: what the harness does not see.

The harness has exact values; here they are those of a dense function of each segment's rows.
"""

import itertools

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


def dense(function, ids, number):
    """Makes of a function of the rows of one segment that of all of them, in a list."""
    return lambda x: [function(x[np.flatnonzero(ids == n)]) for n in range(number)]


def softmax(x, ids=IDS, number=5):
    out = jnp.zeros_like(x)
    for n, rows in enumerate(dense(lambda rows: jax.nn.softmax(rows, axis=0), ids, number)(x)):
        out = out.at[np.flatnonzero(ids == n)].set(rows)
    return out


def logsumexp(x, ids=IDS, number=5):
    return jnp.stack(dense(lambda rows: jax.nn.logsumexp(rows, axis=0), ids, number)(x))


def moments(x, ids=IDS, number=5):
    def of_rows(rows):
        zeros = jnp.zeros(rows.shape[1:], x.dtype)
        return jnp.stack([rows.mean(0), rows.var(0)] if len(rows) else [zeros, zeros])

    return jnp.stack(dense(of_rows, ids, number)(x), 1)


FUNCTIONS = {
    "softmax": (jaxops.nn.segment_softmax, softmax),
    "logsumexp": (jaxops.nn.segment_logsumexp, logsumexp),
    "moments": (jaxops.nn.segment_moments, moments),
}


@pytest.fixture(params=FUNCTIONS)
def functions(request):
    """The function and its oracle, of rows alone, whose results are one array."""
    function, oracle = FUNCTIONS[request.param]
    return (lambda x, **k: jnp.asarray(function(x, IDS, 5, **k))), oracle


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
    return fast_jit(
        lambda x: (
            jax.grad(loss(function))(x),
            jax.jacfwd(loss(function))(x),
            jax.hessian(loss(function))(x),
        )
    )(x)


@pytest.mark.parametrize("x64", [False, True], ids=["x32", "x64"], indirect=True)
def test_values_and_derivatives_to_second_order(functions, x64):
    function, oracle = functions
    x = ROWS.astype(np.float64 if x64 else np.float32)
    rtol, atol = (1e-12, 1e-13) if x64 else (1e-5, 1e-5)
    assert function(x).dtype == x.dtype
    np.testing.assert_allclose(function(x), oracle(x), rtol, atol)
    for ours, theirs in zip(derivatives(function, x), derivatives(oracle, x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol, atol)


def test_checked_gradients(functions):
    function, _ = functions
    testing.check_grads(lambda x: finite(function(x)), ROWS, order=2, jit=fast_jit)


def test_vmap(functions):
    """Over rows, over ids, and over both."""
    name = next(n for n, (_, oracle) in FUNCTIONS.items() if oracle is functions[1])
    function, oracle = FUNCTIONS[name]
    rows, ids = np.stack([ROWS, ROWS[::-1]]), np.stack([IDS, IDS[::-1]])

    def both(x, i):
        gradient = jax.grad(lambda x: loss(lambda x: jnp.asarray(function(x, i, 5)))(x))
        return jnp.asarray(function(x, i, 5)), gradient(x)

    for axes in ((0, None), (None, 0), (0, 0)):
        args = [both if axis == 0 else both[0] for both, axis in zip((rows, ids), axes, strict=True)]
        found = fast_jit(jax.vmap(both, axes))(*args)
        for n in range(2):
            x, i = (a[n] if axis == 0 else a for a, axis in zip(args, axes, strict=True))
            own = lambda x, i=i: oracle(x, i)  # noqa: E731
            np.testing.assert_allclose(found[0][n], own(x), 1e-5, 1e-6)
            np.testing.assert_allclose(found[1][n], jax.grad(loss(own))(x), 1e-4, 1e-5)


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


@pytest.mark.parametrize("function", [jaxops.segment_softmax, jaxops.segment_logsumexp])
def test_derivatives_at_minus_infinity(function):
    """They are those without the rows, which have none themselves."""
    there = np.flatnonzero(np.isfinite(INFINITE) & (IDS >= 0))

    def own(x, ids):
        weights = jnp.arange(1.0, 8.0)
        y = function(x, ids, 5)
        y = finite(y) if function is jaxops.segment_logsumexp else y
        weights = weights[there] if len(y) == len(there) else weights[: len(y)]
        return (weights * y + y**2).sum()

    found = derivatives_of(own, INFINITE, IDS)
    expected = derivatives_of(own, INFINITE[there], IDS[there])
    for ours, theirs in zip(found, expected, strict=True):
        full = np.zeros(ours.shape, np.float32)
        full[np.ix_(*[there] * ours.ndim)] = theirs
        np.testing.assert_allclose(ours, full, 1e-5, 1e-6)


def derivatives_of(function, x, ids):
    def of_rows(x):
        return function(x, ids)

    gradient = jax.grad(of_rows)
    return fast_jit(lambda x: (gradient(x), jax.jacfwd(of_rows)(x), jax.hessian(of_rows)(x)))(x)


def test_cotangents_of_segments_without_rows():
    """Not NaN, of -inf or of the logarithm of 0, whatever the cotangent."""
    for function in (jaxops.segment_logsumexp, jaxops.segment_softmax):
        _, pull_back = jax.vjp(lambda x, f=function: f(x, IDS, 5), INFINITE)
        (bar,) = pull_back(jnp.ones(5 if function is jaxops.segment_logsumexp else 7))
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
    x = (rng.normal(size=(rows, 3)) + [1e4, -1e4, 12_345.6]).astype(np.float32)
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


def test_nothing(functions):
    name = next(n for n, (_, oracle) in FUNCTIONS.items() if oracle is functions[1])
    function = FUNCTIONS[name][0]
    nothing = {"softmax": (0, 2), "logsumexp": (3, 2), "moments": (2, 3, 2)}[name]
    result = jnp.asarray(function(np.zeros((0, 2), np.float32), np.zeros(0, int), 3))
    np.testing.assert_array_equal(result, np.full(nothing, NONE if name == "logsumexp" else 0))
    without_columns = jnp.asarray(function(np.zeros((4, 0), np.float32), [0, 0, 2, 1], 3))
    assert without_columns.shape == {"softmax": (4, 0)}.get(name, (*nothing[:-1], 0))
    no_segments = jnp.asarray(function(np.ones((2, 2), np.float32), [-1, -5], 0))
    assert no_segments.shape == {"softmax": (2, 2)}.get(name, (*nothing[:-2], 0, 2))
    assert not no_segments.any()


def test_ids_of_many_axes(functions):
    name = next(n for n, (_, oracle) in FUNCTIONS.items() if oracle is functions[1])
    function = FUNCTIONS[name][0]
    ids = np.array([[0, 2, 1], [2, 2, 0]])
    x = ROWS[:6]
    flat = jnp.asarray(function(x, ids.reshape(-1), 3))
    found = jnp.asarray(function(x.reshape(2, 3, 3), ids, 3))
    np.testing.assert_array_equal(found.reshape(flat.shape), flat)


@pytest.mark.parametrize("outside", [5, 12, -1])
def test_numbers_out_of_bounds(functions, outside):
    """By mode: the results are those of other ids, or of the rows that are left."""
    name = next(n for n, (_, oracle) in FUNCTIONS.items() if oracle is functions[1])
    function = FUNCTIONS[name][0]
    ids = np.where(IDS == 2, outside, IDS)
    others = {
        "fill": np.where(ids > 4, -1, ids),
        "clip": np.minimum(ids, 4),
        "wrap": np.where(ids < 0, -1, ids % 5),
    }
    for mode, same in others.items():
        found, expected = (
            derivatives(lambda x, i=i, m=m: jnp.asarray(function(x, i, 5, mode=m)), ROWS)[0]
            for i, m in ((ids, mode), (same, "device"))
        )
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(function(ROWS, ids, 5, mode=mode), function(ROWS, same, 5))
    for mode in ("device", "error"):
        if mode == "device" and outside < 0:
            continue
        first = int(np.argmax((ids < 0) | (ids > 4) if mode == "error" else ids > 4))
        text = rf"segment_ids\[{first}\] = {ids[first]} is out of range \[0, 5\)"
        testing.assert_out_of_bounds(
            lambda i, mode=mode: function(ROWS, i, 5, mode=mode), jnp.asarray(ids), match=text
        )


def test_dropped_rows_count_for_nothing():
    """Not even where they overflow, or are NaN: neither in values nor in derivatives."""
    x = np.array([1.0, 2.0, 0, 4.0], np.float32)
    ids = np.array([0, 0, -1, 1])
    for odd, (function, _) in itertools.product((1e38, np.inf, np.nan), FUNCTIONS.values()):
        x[2] = odd
        found = derivatives(lambda x, f=function: jnp.asarray(f(x, ids, 2)), x)
        rest = np.array([0, 1, 3])
        assert all(np.isfinite(y).all() for y in found), (odd, function)
        value = jnp.asarray(function(x, ids, 2))
        assert np.isfinite(value).all()
        expected = jnp.asarray(function(x[rest], ids[rest], 2))
        found = value[rest] if value.shape == x.shape else value
        np.testing.assert_array_equal(found, expected)
