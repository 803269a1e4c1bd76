"""Forms of scatters for CUDA, lowered for it and run here: the sums of plain loops, to the bit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import exported_for

import jaxops
from jaxops._cuda import atomic_sums

needs_vectors = pytest.mark.skipif(
    not atomic_sums._ADDS_BY_COMPARE_AND_SWAP, reason="this jaxlib adds without a loop"
)


def added(table, indices, updates, by=1):
    """By loops; what is out of bounds is skipped."""
    result = table.copy()
    for index, update in zip(indices, updates, strict=True):
        if all(0 <= i < n for i, n in zip(index, table.shape, strict=False)):
            result[tuple(index)] += by * update
    return result


RNG = np.random.default_rng(0)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 7, 8, 9, 65])
@pytest.mark.parametrize("rows", [1, 5, 8])
def test_rows(length, rows):
    """Single elements too (a length of 0), in tables that are no whole number of vectors."""
    tail = (length,) if length else ()
    table = RNG.integers(-9, 9, (rows, *tail)).astype(np.float32)
    table[0] = -0.0  # what is added to its neighbours leaves the sign alone
    indices = np.array([[rows - 1], [rows], [-1], [rows - 1], [rows // 2]], np.int32)
    updates = RNG.integers(-9, 9, (5, *tail)).astype(np.float32)
    for op, by in ((jaxops.tensor_scatter_nd_add, 1), (jaxops.tensor_scatter_nd_sub, -1)):
        exported = exported_for("cuda", op, table, indices, updates)
        expected = added(table, indices, updates, by)
        np.testing.assert_array_equal(exported.call(table, indices, updates), expected)
        assert (np.signbit(exported.call(table, indices, updates)) == np.signbit(expected)).all()


@needs_vectors
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_gradients_of_gathers_add_vectors(axis):
    params = RNG.normal(size=(4, 5, 6)).astype(np.float32)
    indices = np.array([3, 0, 3, 9, -1], np.int32)

    def gradient(params, indices):
        return jax.grad(lambda p: (jaxops.gather(p, indices, axis=axis, mode="fill") ** 2).sum())(
            params
        )

    exported = exported_for("cuda", gradient, params, indices)
    assert "tensor<15x8xf32>" in exported.mlir_module()  # 120 elements
    expected = np.zeros_like(params)
    for i in indices[:3]:
        at = (slice(None),) * axis + (i,)
        expected[at] += 2 * params[at]
    np.testing.assert_allclose(exported.call(params, indices), expected, 1e-6)


@needs_vectors
def test_many_rows_that_are_vectors_stay_as_they_are():
    table = jax.ShapeDtypeStruct((9, 128), jnp.float32)
    for count, is_left in ((8192, True), (64, False)):
        indices = jax.ShapeDtypeStruct((count, 1), jnp.int32)
        updates = jax.ShapeDtypeStruct((count, 128), jnp.float32)
        program = jax.make_jaxpr(jaxops.tensor_scatter_nd_add)(table, indices, updates)
        assert (" = atomic_sums[" in str(program)) != is_left


def test_subtraction_of_other_dtypes_is_an_addition():
    for dtype in (np.int32, np.float16, np.uint8):
        table, updates = np.arange(6).astype(dtype), np.array([2, 3]).astype(dtype)
        indices = np.array([[1], [1]], np.int32)
        exported = exported_for("cuda", jaxops.tensor_scatter_nd_sub, table, indices, updates)
        assert "stablehlo.subtract" not in exported.mlir_module()
        expected = jaxops.tensor_scatter_nd_sub(table, indices, updates)
        np.testing.assert_array_equal(exported.call(table, indices, updates), expected)
