"""In which dtype functions add: sums of many numbers of narrow dtypes."""

import itertools

import fast
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from records import FUNCTIONS, PUBLIC

import jaxops
from jaxops import IndexedSlices, RaggedTensor, SparseTensor, testing

NARROW = [jnp.bfloat16, jnp.float16, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn]
N = 4096  # a sum of ones in the dtype stops at 256, 2048, 8 and 16
ZEROS = np.zeros(N, np.int32)
ALL = np.arange(N, dtype=np.int32)


def _mean_of_rows(x):
    return RaggedTensor.from_row_lengths(x, [len(x)]).reduce_mean(1)


def _combined(combiner, weights=False, safe=False):
    def call(x):
        places = np.stack([ZEROS, ALL], 1)
        ids = SparseTensor(places, ALL, (1, N))
        of = SparseTensor(places, jnp.ones(N, x.dtype), (1, N)) if weights else None
        op = jaxops.safe_embedding_lookup_sparse if safe else jaxops.embedding_lookup_sparse
        return op(x[:, None], ids, of, combiner)[0]

    return call


def _combined_of_all(combiner):
    """With and without weights, and safe."""
    options = itertools.product([False, True], [False, True])
    return [_combined(combiner, *option) for option in options]


def _of_one_segment(ids, rows):
    return {
        "segment_mean": lambda x: jaxops.segment_mean(x, ids),
        "unsorted_segment_mean": lambda x: jaxops.unsorted_segment_mean(x, ids, 1),
        "sparse_segment_mean": lambda x: jaxops.sparse_segment_mean(x, rows, ids),
        "RaggedTensor.reduce_mean": _mean_of_rows,
        "unsorted_segment_sqrt_n": lambda x: jaxops.unsorted_segment_sqrt_n(x, ids, 1),
        "sparse_segment_sqrt_n": lambda x: jaxops.sparse_segment_sqrt_n(x, rows, ids),
    }


# Functions of N numbers: a power of N by which they multiply where all numbers are the same.
OF_ONE = _of_one_segment(ZEROS, ALL)
MEANS = {
    **{name: [call] for name, call in OF_ONE.items() if "mean" in name},
    "embedding_lookup_sparse": _combined_of_all("mean"),
}
ROOTS = {
    **{name: [call] for name, call in OF_ONE.items() if "sqrt" in name},
    "embedding_lookup_sparse": _combined_of_all("sqrtn"),
    "global_norm": [
        lambda x: jaxops.global_norm({"w": x}),
        lambda x: jaxops.global_norm([x[: N // 2], x[N // 2 :]]),
        lambda x: jaxops.clip_by_global_norm([x], 1e9)[1],
    ],
}
SUMS = {
    "sparse_segment_sum": [lambda x: jaxops.sparse_segment_sum(x, ALL, ZEROS)],
    "embedding_lookup_sparse": _combined_of_all("sum"),
    "sum_stacked": [jaxops.sum_stacked],
    "global_norm": [lambda x: jaxops.global_norm(IndexedSlices(x[:, None], ZEROS, (3, 1)))],
    "accumulate_dtype": [
        lambda x: jaxops.segment_sum(x, ZEROS, accumulate_dtype=jnp.float32),
        lambda x: jaxops.unsorted_segment_sum(x, ZEROS, 1, accumulate_dtype=jnp.float32),
        lambda x: jaxops.scatter_nd(ZEROS[:, None], x, [1], accumulate_dtype=jnp.float32),
        lambda x: jaxops.tensor_scatter_nd_add(
            0 * x[:1], ZEROS[:, None], x, accumulate_dtype=jnp.float32
        ),
        lambda x: (
            -jaxops.tensor_scatter_nd_sub(
                0 * x[:1], ZEROS[:, None], x, accumulate_dtype="float32", deterministic=True
            )
        ),
    ],
}
EXPONENTS = {"mean": (MEANS, 0), "root": (ROOTS, 0.5), "sum": (SUMS, 1)}
CALLS = {
    f"{name}-{kind}-{n}": (call, exponent)
    for kind, (table, exponent) in EXPONENTS.items()
    for name, calls in table.items()
    for n, call in enumerate(calls)
}


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("name", CALLS)
def test_sums_of_many_narrow_numbers(name, dtype):
    call, exponent = CALLS[name]
    one = 2.0**-5  # so that the sum is a number of every dtype, 128
    result = call(jnp.full(N, one, dtype))
    np.testing.assert_array_equal(np.asarray(result, np.float32).reshape(-1)[0], one * N**exponent)


def test_every_mean_and_norm_is_among_them():
    """Functions whose names say that they average or take a norm."""
    words = ("mean", "sqrt_n", "norm", "sparse_segment", "lookup_sparse")
    names = {n for n in {*FUNCTIONS, *PUBLIC} if any(w in n for w in words)}
    names -= {n for n in names if n.startswith("v0.")}  # they call these
    assert names - {"pmean", "clip_by_global_norm", "safe_embedding_lookup_sparse"} <= {
        *MEANS,
        *ROOTS,
        *SUMS,
    }


@pytest.mark.parametrize("name", [name for name in CALLS if "global_norm" not in name])
def test_means_and_sums_have_a_transpose(name):
    call, _ = CALLS[name]
    testing.check_adjoint(call, np.ones(N, np.float32), jit=fast.fast_jit)


def test_pmean_of_narrow_numbers():
    mean = jax.vmap(lambda x: jaxops.pmean(x, "i"), axis_name="i")(jnp.ones(N, jnp.bfloat16))
    np.testing.assert_array_equal(mean, np.ones(N, jnp.bfloat16))


@pytest.mark.parametrize("dtype", NARROW)
def test_norms_of_rows_are_those_of_float32(dtype):
    """The square of 16 is none of the 8-bit dtypes, the sum of these none of float16."""
    table = jnp.full((2, N), 16, dtype)
    clipped = jaxops.embedding_lookup(table, [1], max_norm=512.0)
    np.testing.assert_array_equal(clipped, np.full((1, N), 8, dtype))


@pytest.mark.parametrize("name", OF_ONE)
def test_means_are_rounded_once(name):
    """Sum, root and quotient are of float32. By a loop, of 7 numbers."""
    n = 7
    numbers = np.random.default_rng(n).uniform(1, 2, (n, 99))
    call = _of_one_segment(np.zeros(n, np.int32), np.arange(n, dtype=np.int32))[name]
    by = np.sqrt(n) if "sqrt" in name else n
    arrays = [numbers.astype(dtype) for dtype in NARROW]
    # Without optimizations jaxlib 0.10.0 rounds float32 to 8-bit floats in two steps.
    results = fast.optimized_jit(lambda arrays: [*map(call, arrays)])(arrays)
    for x, result in zip(arrays, results, strict=True):
        total = sum(row.astype(np.float64) for row in x)
        assert result.dtype == x.dtype
        # In float32 these are exact enough to be rounded as the quotient is.
        expected = np.float32(total / by).astype(x.dtype)
        np.testing.assert_array_equal(result[0], expected, str(x.dtype))


@pytest.mark.parametrize("name", OF_ONE)
def test_quotients_of_a_batch_have_the_same_bits(name):
    """A product with a rounded reciprocal has other last bits than these quotients."""
    n = 7
    call = _of_one_segment(np.zeros(n, np.int32), np.arange(n, dtype=np.int32))[name]
    batch = np.random.default_rng(n).uniform(1, 2, (3, n, 99)).astype(np.float32)
    one_by_one = fast.optimized_jit(lambda batch: jnp.stack([*map(call, batch)]))(batch)
    np.testing.assert_array_equal(fast.optimized_jit(jax.vmap(call))(batch), one_by_one)


def test_counts_of_integers_have_more_bits_than_the_data():
    """Of 40,000 numbers of 16 bits, in which 40,000 is negative."""
    ids = np.zeros(40_000, np.int32)
    x = np.zeros(40_000, np.int16)
    x[0] = 30_000
    assert jaxops.segment_mean(x, ids).tolist() == [0]
    assert jaxops.unsorted_segment_mean(x, ids, 1).tolist() == [0.75]
    assert RaggedTensor.from_row_lengths(x, [40_000]).reduce_mean(1).tolist() == [0.75]


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16])
def test_accumulated_in_float32_with_gradients_and_batches(dtype):
    """As float32 data, rounded; cotangents have the dtype of the data."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 50, 2)).astype(dtype)
    ids = rng.integers(0, 4, (3, 50)).astype(np.int32)

    def exact(x, ids):
        return jaxops.unsorted_segment_sum(x, ids, 4, accumulate_dtype=jnp.float32)

    def wide(x, ids):
        total = jaxops.unsorted_segment_sum(x.astype(jnp.float32), ids, 4)
        return total.astype(dtype)

    expected = fast.fast_jit(jax.vmap(wide))(x, ids)
    for call in (jax.vmap(exact), jax.jit(jax.vmap(exact))):
        result = call(x, ids)
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, expected)
    assert (exact(x[0], ids[0]) != jaxops.unsorted_segment_sum(x[0], ids[0], 4)).any()
    cotangent = jnp.arange(8, dtype=dtype).reshape(4, 2)
    _, pullback = jax.vjp(lambda x: exact(x, ids[0]), jnp.asarray(x[0]))
    assert pullback(cotangent)[0].dtype == dtype
    np.testing.assert_array_equal(pullback(cotangent)[0], cotangent[ids[0]])
    _, tangent = jax.jvp(lambda x: exact(x, ids[0]), (x[0],), (x[1],))
    (total,) = fast.fast_jit(jax.vmap(wide))(x[1:2], ids[:1])
    np.testing.assert_array_equal(tangent, total)
