"""Sums in an order of their own: the same in every run, on every device."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import names_with
from records.record import MODES

import jaxops


@pytest.mark.parametrize("n", [1, 1000])
def test_deterministic_sums(n):
    rng = np.random.default_rng(0)
    updates = rng.normal(size=(n, 3)) * 10.0 ** rng.integers(-9, 9, (n, 1))
    updates = updates.astype(np.float32)
    indices = rng.integers(0, 3, (n, 1)).astype(np.int32)

    def sums(indices, updates):
        return jaxops.scatter_nd(indices, updates, [3, 3], deterministic=True)

    exact = np.zeros((3, 3))
    np.add.at(exact, indices[:, 0], updates.astype(np.float64))
    first = sums(indices, updates)
    np.testing.assert_allclose(first, exact, rtol=1e-4, atol=1e-2 * np.abs(updates).max())
    np.testing.assert_array_equal(sums(indices, updates), first)


@pytest.mark.parametrize("deterministic", [False, True])
def test_no_two_updates_meet_in_a_deterministic_program(deterministic):
    """On a CPU any sum repeats; what makes it so on a GPU is that targets are unique."""

    def gradient(table, indices):
        def total(t):
            return (jaxops.gather(t, indices, deterministic=deterministic) ** 2).sum()

        return jax.grad(total)(table)

    text = jax.jit(gradient).lower(jnp.ones(4), jnp.array([1, 1])).as_text()
    assert ("unique_indices = true" in text) == deterministic
    assert ("unique_indices = false" in text) != deterministic


def combined(name, i, u, **options):
    places = jnp.pad(i, [(0, 0), (0, 1)])
    ids = jaxops.SparseTensor(places, np.arange(len(u)), (3, 1))
    return getattr(jaxops, name)(u, ids, None, "sum", **options)


def gathered(function, i, u, **options):
    """The gradient of the table."""
    zeros = jnp.zeros(3, jnp.float32)
    return jax.grad(lambda table: u @ function(table, i[:, 0], **options))(zeros)


def in_order(name, factor, i, u, mode="fill", **options):
    """The numbers of segments are not sorted, which is no error in mode "fill"."""
    places = [np.arange(len(u))] if name.startswith("sparse") else []
    function = getattr(jaxops, name)
    y = factor * function(u, *places, i[:, 0], num_segments=3, mode=mode, **options)
    return jnp.rint(y) if name.endswith("sqrt_n") else y


# Each as a function of rows of a table and their indices.
DETERMINISTIC = {
    "scatter_nd": lambda i, u, **k: jaxops.scatter_nd(i, u, [3], **k),
    "tensor_scatter_nd_add": lambda i, u, **k: jaxops.tensor_scatter_nd_add(
        jnp.zeros(3, jnp.float32), i, u, **k
    ),
    "tensor_scatter_nd_sub": lambda i, u, **k: jaxops.tensor_scatter_nd_sub(
        jnp.zeros(3, jnp.float32), i, -u, **k
    ),
    **{
        name: functools.partial(gathered, getattr(jaxops, name))
        for name in ("batch_gather", "embedding_lookup", "gather", "take_along_axis")
    },
    **{
        name: functools.partial(combined, name)
        for name in ("embedding_lookup_sparse", "safe_embedding_lookup_sparse")
    },
    "gather_nd": lambda i, u, **k: jax.grad(lambda t: u @ jaxops.gather_nd(t, i, **k))(
        jnp.zeros(3, jnp.float32)
    ),
    "unsorted_segment_sum": lambda i, u, **k: jaxops.unsorted_segment_sum(u, i[:, 0], 3, **k),
    # Of segments of 8 rows each.
    "unsorted_segment_mean": lambda i, u, **k: 8 * jaxops.unsorted_segment_mean(u, i[:, 0], 3, **k),
    "unsorted_segment_sqrt_n": lambda i, u, **k: jnp.rint(
        8**0.5 * jaxops.unsorted_segment_sqrt_n(u, i[:, 0], 3, **k)
    ),
    **{
        name: functools.partial(in_order, name, factor)
        for name, factor in [
            ("segment_sum", 1),
            ("segment_mean", 8),
            ("sparse_segment_sum", 1),
            ("sparse_segment_mean", 8),
            ("sparse_segment_sqrt_n", 8**0.5),
        ]
    },
}


def test_every_function_with_the_argument_is_here():
    wants = "tests/indexing/test_deterministic_sums.py: DETERMINISTIC wants a sum of each"
    assert names_with("deterministic", jaxops) == set(DETERMINISTIC), wants


# For each of two rows in turn the same. Summed one after the other these make 3, as neighbours and
# then as their sums 5.
UPDATES = np.repeat(np.array([2.0**24, 1, 1, 1, -(2.0**24), 1, 1, 1], np.float32), 2)

ROWS = np.array([[1], [0]] * 8, np.int32)


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_order_of_summation(name):
    for mode in MODES:
        for deterministic in (True, False):
            call = functools.partial(DETERMINISTIC[name], mode=mode, deterministic=deterministic)
            program = str(jax.make_jaxpr(call)(ROWS, UPDATES))
            assert ("deterministic_scatter_add" in program) == deterministic
    sums = DETERMINISTIC[name](ROWS, UPDATES, deterministic=True)
    np.testing.assert_array_equal(sums, [5, 5, 0])


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_index_vectors_of_no_components(dtype):
    """bfloat16 is scattered into as it is, other dtypes as rows."""
    x, none = jnp.array([1, 2], dtype), np.zeros((3, 0), np.int32)
    slopes = jax.grad(lambda x: jaxops.gather_nd(x, none, deterministic=True).sum())(x)
    np.testing.assert_array_equal(slopes, [3, 3])
    updates = jnp.ones((3, 2), dtype)
    added = jaxops.tensor_scatter_nd_add(x, none, updates, deterministic=True)
    np.testing.assert_array_equal(added, [4, 5])


def test_derivatives_by_the_tensor_or_the_updates_alone():
    def add(tensor, updates):
        return jaxops.tensor_scatter_nd_add(tensor, ROWS[:3], updates, deterministic=True)

    for n, expected in enumerate(([[1, 0], [0, 1]], [[0, 1, 0], [1, 0, 1]])):
        for derivative in (jax.jacfwd, jax.jacrev):
            np.testing.assert_array_equal(derivative(add, n)(jnp.ones(2), jnp.ones(3)), expected)
