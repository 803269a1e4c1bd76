"""What only the scatters have: extrema and their ties, bools, overwriting."""

import fast
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops


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


@pytest.mark.parametrize("count", [2, 256, 2**16])  # sums that are 0 in 1, 8 and 16 bits
def test_as_many_trues_as_a_type_counts_to_are_true(count):
    result = jaxops.scatter_nd(np.zeros((count, 1), np.int32), np.ones(count, bool), [2])
    np.testing.assert_array_equal(result, [True, False])


def test_host_values_take_the_dtype_of_the_tensor():
    result = jaxops.tensor_scatter_nd_add(np.zeros(2, np.float16), [[1]], [1.5])
    assert result.dtype == np.float16
    np.testing.assert_array_equal(result, [0, 1.5])


# Of TensorFlow 2.21: indices, updates, shape, options, result.
JOINED = {
    "in-order": ([[1], [1], [0]], ["a", "b", "c"], [3], {}, ["c", "ab", ""]),
    "rows": ([[1], [1]], [["a", "x"], ["b", "y"]], [2, 2], {}, [["", ""], ["ab", "xy"]]),
    "ignored": ([[1], [8], [1]], ["a", "b", "c"], [2], {"mode": "fill"}, ["", "ac"]),
    "policy": ([[1], [8]], ["a", "b"], [2], {"bad_indices_policy": "IGNORE"}, ["", "a"]),
    "wrap": ([[1], [8]], ["a", "b"], [2], {"mode": "wrap"}, ["b", "a"]),
    "none": (np.zeros((0, 1), np.int32), np.array([], str), [2], {}, ["", ""]),
    "no-places": (np.zeros((0, 1), np.int32), np.array([], str), [0], {}, []),
}


@pytest.mark.parametrize("case", JOINED)
@pytest.mark.parametrize("kind", ["U", "S", "O"])
def test_strings_are_joined(case, kind):
    indices, updates, shape, options, expected = JOINED[case]
    updates, expected = (np.array(x, "U").astype(kind) for x in (updates, expected))
    result = jaxops.scatter_nd(indices, updates, shape, **options)
    assert type(result) is np.ndarray
    assert result.dtype.kind == kind
    np.testing.assert_array_equal(result, expected)


SHAPES = [(), (1,), (3,), (4,), (1, 3), (2, 1), (2, 3), (1, 1), (3, 2), (1, 2, 3), (0, 3), (2, 0)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["update", "add", "nd"])
def test_updates_broadcast_as_those_of_numpy(kind, shape):
    tensor, updates = jnp.zeros((4, 3)), np.ones(shape, np.float32)

    def scatter(updates):
        if kind == "nd":
            return jaxops.scatter_nd([[2], [0]], updates, (4, 3))
        return getattr(jaxops, f"tensor_scatter_nd_{kind}")(tensor, [[2], [0]], updates)

    try:
        np.broadcast_to(updates, (2, 3))
    except ValueError:
        with pytest.raises(ValueError, match=r"updates must broadcast to .* = \(2, 3\)"):
            scatter(updates)
        return
    np.testing.assert_array_equal(scatter(updates), np.array([[1], [0], [1], [0]]) * np.ones(3))


def test_strings_broadcast():
    assert jaxops.scatter_nd([[0], [0]], "a", [2]).tolist() == ["aa", ""]
    words = jaxops.tensor_scatter_nd_update([["a", "b"], ["c", "d"]], [[1], [0]], [["x"], ["y"]])
    assert words.tolist() == [["y", "y"], ["x", "x"]]


DTYPES = [
    "int8",
    "uint8",
    "int16",
    "int32",
    "uint32",
    "float16",
    "bfloat16",
    "float32",
    "complex64",
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_integers_are_taken_where_jax_takes_them(dtype, standard_promotion):
    """Arrays of all other kinds must have the dtype of the tensor.

    But for uint32 into int32, which JAX takes without 64-bit types, and cuts.
    """
    tensor = jnp.zeros(3, dtype)
    for other in DTYPES:
        updates = jnp.array([3, 5], other)
        is_taken = jnp.issubdtype(other, jnp.integer) and (dtype, other) != ("int32", "uint32")
        if dtype == other or (is_taken and jnp.promote_types(dtype, other) == dtype):
            result = jax.jit(jaxops.tensor_scatter_nd_update)(tensor, [[0], [2]], updates)
            np.testing.assert_array_equal(result, np.array([3, 0, 5], dtype), strict=True)
        else:
            with pytest.raises(TypeError, match=f"updates must fit dtype {dtype}"):
                jaxops.tensor_scatter_nd_update(tensor, [[0], [2]], updates)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)], ids=str)
def test_empty_vectors_into_one_element(shape):
    """Each vector selects the whole array, in the scatters and in `gather_nd`."""
    expected = {"add": 17, "sub": -7, "min": 2, "max": 7, "update": 7}
    tensor, updates = jnp.full(shape, 5.0), jnp.array([2.0, 3.0, 7.0]).reshape(3, *shape)
    none = np.zeros((3, 0), np.int32)

    def results(tensor, updates):
        def scatter(kind):
            return getattr(jaxops, f"tensor_scatter_nd_{kind}")(tensor, none, updates)

        def read(tensor):
            return (jaxops.gather_nd(tensor, none) * updates).sum()

        return {kind: scatter(kind) for kind in expected}, jax.grad(read)(tensor)

    scattered, gradient = fast.optimized_jit(results)(tensor, updates)
    for kind, result in scattered.items():
        np.testing.assert_array_equal(result, np.full(shape, expected[kind]), kind)
    np.testing.assert_array_equal(gradient, np.full(shape, 12))
