"""What only the scatters have: extrema and their ties, bools, overwriting."""

import functools
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from records.record import MODES

import jaxops


@pytest.mark.parametrize("kind", ["min", "max"])
def test_extremum_shares_its_gradient_among_ties(kind):
    op = getattr(jaxops, f"tensor_scatter_nd_{kind}")
    sign = 1.0 if kind == "max" else -1.0

    def total(tensor, updates):
        return op(sign * tensor, [[1], [1], [0]], sign * updates).sum()

    tensor, updates = jnp.array([1.0, 2, 3]), jnp.array([2.0, 2, 3])
    tensor_bar, updates_bar = jax.grad(total, (0, 1))(tensor, updates)
    # As tf.GradientTape of TensorFlow 2.21 has it.
    np.testing.assert_allclose(sign * tensor_bar, [0, 1 / 3, 1], rtol=1e-6)
    np.testing.assert_allclose(sign * updates_bar, [1 / 3, 1 / 3, 1], rtol=1e-6)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("kind", ["min", "max"])
def test_nan_has_its_share_of_the_gradient(kind, compiled):
    op = getattr(jaxops, f"tensor_scatter_nd_{kind}")

    def total(tensor, updates):
        return (op(tensor, [[1], [2], [2]], updates) * jnp.array([2.0, 4, 6])).sum()

    gradient = jax.grad(total, (0, 1))
    nan = jnp.nan
    tensor, updates = jnp.array([nan, nan, 1]), jnp.array([5.0, nan, nan])
    tensor_bar, updates_bar = (jax.jit(gradient) if compiled else gradient)(tensor, updates)
    # One that no update meets, one that stays, and two that came in for one element.
    np.testing.assert_array_equal(tensor_bar, [2, 4, 0])
    np.testing.assert_array_equal(updates_bar, [0, 3, 3])


def test_overwritten_elements_get_no_gradient():
    def total(tensor, updates):
        return (jaxops.tensor_scatter_nd_update(tensor, [[0], [2]], updates) ** 2).sum()

    tensor_bar, updates_bar = jax.grad(total, (0, 1))(jnp.array([1.0, 2, 3]), jnp.array([4.0, 5]))
    np.testing.assert_array_equal(tensor_bar, [0, 4, 0])
    np.testing.assert_array_equal(updates_bar, [8, 10])


def test_adding_bools_is_or():
    result = jaxops.scatter_nd([[0], [0], [2]], np.array([True, True, False]), [4])
    np.testing.assert_array_equal(result, [True, False, False, False])


@pytest.mark.parametrize("count", [2, 256, 2**16])  # sums that are 0 in 1, 8 and 16 bits
def test_as_many_trues_as_a_type_counts_to_are_true(count):
    result = jaxops.scatter_nd(np.zeros((count, 1), np.int32), np.ones(count, bool), [2])
    np.testing.assert_array_equal(result, [True, False])


def test_host_values_take_the_dtype_of_the_tensor():
    result = jaxops.tensor_scatter_nd_add(np.zeros(2, np.float16), [[1]], [1.5])
    assert result.dtype == np.float16
    np.testing.assert_array_equal(result, [0, 1.5])


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


# Each as a function of rows of a table and their indices.
DETERMINISTIC = {
    "scatter_nd": lambda i, u, **k: jaxops.scatter_nd(i, u, [3], **k),
    "tensor_scatter_nd_add": lambda i, u, **k: jaxops.tensor_scatter_nd_add(
        jnp.zeros(3, jnp.float32), i, u, **k
    ),
    "tensor_scatter_nd_sub": lambda i, u, **k: jaxops.tensor_scatter_nd_sub(
        jnp.zeros(3, jnp.float32), i, -u, **k
    ),
    "gather": lambda i, u, **k: jax.grad(lambda t: u @ jaxops.gather(t, i[:, 0], **k))(
        jnp.zeros(3, jnp.float32)
    ),
    "gather_nd": lambda i, u, **k: jax.grad(lambda t: u @ jaxops.gather_nd(t, i, **k))(
        jnp.zeros(3, jnp.float32)
    ),
    "batch_gather": lambda i, u, **k: jax.grad(lambda t: u @ jaxops.batch_gather(t, i[:, 0], **k))(
        jnp.zeros(3, jnp.float32)
    ),
}


def test_every_function_with_the_argument_is_here():
    functions = {name: f for name, f in vars(jaxops).items() if inspect.isfunction(f)}
    takes = {n for n, f in functions.items() if "deterministic" in inspect.signature(f).parameters}
    assert takes == set(DETERMINISTIC)


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


def test_nothing_is_read_or_written_at_an_index_in_bounds():
    """TensorFlow refuses index vectors wherever the indexed array has no elements."""
    nothing, row = np.zeros((2, 0), np.float32), np.zeros((1, 0), np.float32)
    assert jaxops.gather_nd(nothing, [[1]]).shape == (1, 0)
    assert jaxops.scatter_nd([[1]], row, [2, 0]).shape == (2, 0)
    assert jaxops.tensor_scatter_nd_update(nothing, [[1]], row).shape == (2, 0)
    for call in (
        lambda: jaxops.gather_nd(nothing, [[2]]),
        lambda: jaxops.scatter_nd([[2]], row, [2, 0]),
        lambda: jaxops.tensor_scatter_nd_update(nothing, [[2]], row),
    ):
        with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[0\] = \[2\] does not index"):
            call()
