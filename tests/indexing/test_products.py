"""Derivatives of the scatter that multiplies."""

import functools
import itertools
from fractions import Fraction
from math import prod

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import NIGHTLY, SLOW, share
from fast import fast_jit

import jaxops
from jaxops import RaggedTensor
from jaxops._indexing import products

# The product of each of several runs of numbers.
PRODUCTS = {
    "unsorted": lambda x, ids: jaxops.unsorted_segment_prod(x[::-1], ids[::-1], ids[-1] + 2),
    "sorted": lambda x, ids: jaxops.segment_prod(x, ids, num_segments=ids[-1] + 2),
    "ragged": lambda x, ids: RaggedTensor.from_value_rowids(x, ids, ids[-1] + 2).reduce_prod(1),
}
SORTED = ("sorted", "ragged")  # which are the unsorted product of the same numbers
MAGNITUDES = {
    "both ends": [1e-25, 1e-25, 1e25, 1e25],
    "too large": [1e30, 1e30, 1e-30],
    "small beside": [7, 3, 1e-4],
    "huge": [1e30, -1e30, 1e30],
    "tiny": [1e-30, 1e-30, 1e-30, 2],
    "all powers": [2e-38, 1e38, -1e-20, 1e20, 3e-5, 1e5, 1e-30, 1e30],
    "zero among ends": [1e30, 1e30, 0, 1e-30],
    "two zeros": [1e30, 0, 1e30, 0, 1e-30],
    "one": [5],
    "negative": [-2, 3, -5],
    **{f"{zeros} of 4 are zeros": [0] * zeros + [2, 3, -1, 5][zeros:] for zeros in range(4)},
}

MORE_MODES = [(jax.jacrev, jax.jacrev), (jax.jacfwd, jax.jacfwd), (jax.jacrev, jax.jacfwd)]


def others(x, *left_out):
    """The product of the others, of exact numbers: in float32 it may be inf or 0 where it is."""
    exact = prod((Fraction(float(v)) for n, v in enumerate(x) if n not in left_out), start=1)
    limit = Fraction(float(np.finfo(np.float32).max))
    return np.inf * (1.0 if exact > 0 else -1.0) if abs(exact) > limit else float(exact)


def expected(x):
    """The gradient and the Hessian of a product."""
    n = len(x)
    second = np.zeros((n, n))
    for i, j in itertools.permutations(range(n), 2):
        second[i, j] = others(x, i, j)
    return np.array([others(x, i) for i in range(n)]), second


def assert_derivatives(product, runs, modes):
    """Of the sum of the products: its gradient and, by two modes each, its Hessian."""
    x = jnp.concatenate([jnp.array(run, jnp.float32) for run in runs])
    ids = np.repeat(np.arange(len(runs)), [*map(len, runs)])
    close = functools.partial(np.testing.assert_allclose, rtol=3e-6, atol=1e-37)

    def total(x):
        return product(x, ids).sum()

    @fast_jit
    def derivatives(x):
        firsts = [derivative(total)(x) for derivative in (jax.grad, jax.jacfwd)]
        return firsts, [outer(inner(total))(x) for outer, inner in modes]

    firsts, seconds = derivatives(x)
    for n, run in enumerate(runs):
        first, second = expected(np.array(run, np.float32))
        here = ids == n
        for found in firsts:
            close(found[here], first, err_msg=str(run))
        for found in seconds:
            close(found[here][:, here], second, err_msg=str(run))
            np.testing.assert_array_equal(found[here][:, ~here], 0)


@pytest.mark.parametrize(
    ("kind", "modes"),
    [
        ("unsorted", [(jax.jacfwd, jax.jacrev)]),
        pytest.param("unsorted", MORE_MODES, marks=SLOW),
        *(pytest.param(kind, [(jax.jacfwd, jax.jacrev)], marks=NIGHTLY) for kind in SORTED),
    ],
)
def test_derivatives_at_all_magnitudes(kind, modes):
    """As the product of the others is, wherever that is a number of the dtype, and inf beyond."""
    assert_derivatives(PRODUCTS[kind], [*MAGNITUDES.values()], modes)


def product(x):
    return jaxops.unsorted_segment_prod(x, np.ones(len(x), int), 3)[1]


def test_infinite_factors_at_all_magnitudes():
    """By the products of a loop: an infinity times 0 is NaN."""
    runs = [[np.inf, 2, 3], [-np.inf, 0, 3], [np.inf, np.inf, 0], [np.nan, 1], [5, 7]]
    with np.errstate(invalid="ignore"):
        first = [np.prod(np.delete(run, n)) for run in runs for n in range(len(run))]
    ids = np.repeat(np.arange(len(runs)), [*map(len, runs)])
    gradient = jax.grad(lambda x: jaxops.unsorted_segment_prod(x, ids, len(runs)).sum())
    found = fast_jit(gradient)(np.concatenate(runs).astype(np.float32))
    np.testing.assert_array_equal(found, first)


@pytest.mark.slow
def test_third_derivatives():
    x = jnp.array([2.0, 3.0, 0.0, 7.0, -1.0])
    third = np.zeros((5,) * 3)
    for places in itertools.permutations(range(5), 3):
        third[places] = others(x, *places)
    for derivative in (
        jax.jacfwd(jax.hessian(product)),
        jax.jacrev(jax.jacrev(jax.jacrev(product))),
    ):
        np.testing.assert_array_equal(fast_jit(derivative)(x), third)


def rows_of_segments(rows, ids, num_segments):
    """The gradient of the sum of all products, by a loop."""
    gradient = np.zeros(rows.shape, np.result_type(rows.dtype, np.float64))
    for place in np.ndindex(*ids.shape):
        if 0 <= ids[place] < num_segments:
            same = [rows[p] for p in np.ndindex(*ids.shape) if ids[p] == ids[place] and p != place]
            gradient[place] = np.prod(np.array(same, gradient.dtype), axis=0) if same else 1
    return gradient


@pytest.mark.slow
@pytest.mark.parametrize("dtype", share([jnp.complex64, jnp.float32, jnp.bfloat16, jnp.float16], 2))
def test_gradients_of_rows_dropped_empty_and_mapped(dtype):
    rng = np.random.default_rng(0)
    ids = rng.integers(-1, 6, (2, 5, 4))
    rows = rng.normal(size=(2, 5, 4, 3))
    rows[0, :2] = 0
    if dtype == jnp.complex64:
        rows = rows + 1j * rng.normal(size=rows.shape)
    rows = np.asarray(rows, dtype)

    def gradient(rows, ids):
        def total(rows):
            return jaxops.unsorted_segment_prod(rows, ids, 4, mode="fill").sum()

        return jax.grad(total, holomorphic=dtype == jnp.complex64)(rows)

    wide = rows.astype(np.complex128 if dtype == jnp.complex64 else np.float64)
    loops = np.stack([rows_of_segments(r, i, 4) for r, i in zip(wide, ids, strict=True)])
    tolerance = 1e-5 if np.dtype(dtype).itemsize > 2 else 1e-2

    @fast_jit
    def results(rows, ids):
        singly = [*map(gradient, rows, ids)]
        by_rows = jax.vmap(gradient, (0, None))(rows, ids[0])[0]
        by_ids = jax.vmap(gradient, (None, 0))(rows[0], ids)[1]
        pairs = (by_rows, singly[0]), (by_ids, gradient(rows[0], ids[1]))
        return [jax.vmap(gradient)(rows, ids), jnp.stack(singly)], pairs

    batches, pairs = results(rows, ids)
    for found in batches:
        assert found.dtype == rows.dtype
        np.testing.assert_allclose(np.asarray(found, wide.dtype), loops, rtol=tolerance, atol=1e-6)
    for pair in pairs:
        np.testing.assert_array_equal(*pair)


def test_gradients_of_narrow_floats_are_rounded_once():
    """The product of the others in bfloat16 would be 1 throughout."""
    x = jnp.full(200, 1 + 2**-7, jnp.bfloat16)
    one = (1 + 2**-7) ** 199
    gradient = fast_jit(jax.grad(lambda x: product(x).astype(jnp.float32)))(x)
    np.testing.assert_array_equal(gradient, np.full(200, one, np.float32).astype(jnp.bfloat16))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_gradients_of_complex_factors_are_exact(count):
    """Where the products are; XLA's quotient of most of these numbers by themselves is not 1."""
    random = np.random.default_rng(count)
    runs = [random.integers(-8, 9, (64, count)) / 2 for _ in range(2)]
    runs = (runs[0] + 1j * runs[1]).astype(np.complex64)
    ids = np.repeat(np.arange(64), count)

    def total(x):
        return jaxops.unsorted_segment_prod(x, ids, 64).sum()

    gradient = jax.jit(jax.grad(total, holomorphic=True))(runs.reshape(-1))
    expected = [np.delete(run, n).prod() for run in runs for n in range(count)]
    np.testing.assert_array_equal(gradient, expected)


@pytest.mark.slow
def test_gradients_of_many_factors():
    """More than mantissas can be multiplied: in lanes if each element has many, else by scans."""
    x = np.exp2(np.repeat([-0.4, 0.4], 1000)).astype(np.float32)
    logs = np.log2(x.astype(np.float64))
    places = np.arange(2000)
    middle = np.where(abs(places - 999.5) < 750, 0, places)
    for ids, n in ((0 * places, 1), (places % 4 // 2, 2), (middle, 2000)):
        gradient = jax.grad(lambda x, i=ids, n=n: jaxops.unsorted_segment_prod(x, i, n).sum())
        gradient = fast_jit(gradient)(x)
        sums = np.bincount(ids, logs)[ids] - logs
        np.testing.assert_allclose(np.log2(np.asarray(gradient)), sums, atol=1e-3)


def test_gradients_of_many_factors_with_large_mantissas():
    """The products of the mantissas of two lanes are numbers of the dtype, their product is not."""
    x = np.repeat([1.41, 0.705], 250).astype(np.float32)
    ids = np.zeros(500, int)
    gradient = fast_jit(jax.grad(lambda x: jaxops.unsorted_segment_prod(x, ids, 2).sum()))(x)
    sums = np.log2(x.astype(np.float64))
    np.testing.assert_allclose(np.log2(np.asarray(gradient)), sums.sum() - sums, atol=1e-3)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_derivatives_without_factors(shape):
    def total(x):
        return jaxops.unsorted_segment_prod(x, np.zeros(shape[0], int), 2).sum()

    derivatives = fast_jit(lambda x: (jax.grad(total)(x), jax.hessian(total)(x)))
    assert [x.shape for x in derivatives(jnp.ones(shape))] == [shape, shape * 2]


def test_cotangents_are_multiplied_before_they_are_rounded():
    """The product of the others is no number of the dtype, its part of the gradient is one."""
    x = jnp.array([1e30, 1e30, 1e30], jnp.float32)
    _, pullback = jax.vjp(product, x)
    np.testing.assert_allclose(pullback(jnp.float32(1e-30))[0], np.full(3, 1e30), rtol=1e-6)
    np.testing.assert_array_equal(pullback(jnp.float32(0))[0], np.zeros(3))


@pytest.mark.slow
def test_jacobians_share_the_products_of_others():
    """Of many cotangents these are computed once: weights alone get one more dimension."""
    ids = jnp.array([0, 1, 0, 1])

    def jacobian(x):
        return jax.jacrev(lambda x: jaxops.unsorted_segment_prod(x, ids, 2, mode="fill"))(x)

    x = jnp.array([2.0, 3.0, 5.0, 7.0])
    np.testing.assert_array_equal(jacobian(x), [[5, 0, 2, 0], [0, 7, 0, 3]])
    equations = [e for e in jax.make_jaxpr(jacobian)(x).eqns if e.primitive is products.weighted_p]
    assert [[v.aval.shape for v in e.invars[:2]] for e in equations] == [[(4,), (2, 4)]]
    # Then the others have a batch too: its dimension stands behind that of the weights.
    batch = jnp.stack([x, x + 1])
    np.testing.assert_array_equal(
        *jax.jit(lambda batch: (jax.vmap(jacobian)(batch), jnp.stack([*map(jacobian, batch)])))(
            batch
        )
    )
    np.testing.assert_array_equal(
        jax.jit(jax.jacfwd(jacobian))(x)[0], [[0, 0, 1, 0], [0] * 4, [1, 0, 0, 0], [0] * 4]
    )
