"""What the harness does not see of `_ops/diagonals.py`: how the gradient is computed."""

import jax
import numpy as np
import pytest
from checks import primitives

import jaxops

# Of diagonals of 4 elements: k, num_rows, num_cols.
PLACES = [(0, -1, -1), (2, -1, -1), (-3, -1, -1), (0, 7, -1), (0, -1, 7), (-2, 9, -1), (1, -1, 8)]


@pytest.mark.parametrize(("k", "num_rows", "num_cols"), PLACES)
def test_the_gradient_reads_the_diagonal_alone(k, num_rows, num_cols):
    """As the transpose of a broadcast it would be a sum over all elements of the matrix."""
    x = np.arange(1, 9, dtype=np.float32).reshape(2, 4)

    def function(x):
        return jaxops.matrix_diag(x, k=k, num_rows=num_rows, num_cols=num_cols, padding_value=5.0)

    y, pull_back = jax.vjp(function, x)
    cotangent = np.random.default_rng(0).normal(size=y.shape).astype(np.float32)
    expected = [np.diagonal(matrix, k)[:4] for matrix in cotangent]
    np.testing.assert_array_equal(pull_back(cotangent)[0], expected)
    tangent = jax.jvp(function, [x], [x])[1]
    np.testing.assert_array_equal(tangent, jaxops.matrix_diag(x, None, k, num_rows, num_cols))
    assert "reduce_sum" not in primitives(pull_back, y, platform="cpu")


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_accelerators_add_up_rows(platform):
    """They do so while they compute the rows; a slice of a stride reads a matrix from memory."""

    def pull_back(x, cotangent):
        return jax.vjp(jaxops.matrix_diag, x)[1](cotangent)

    traced = jax.jit(pull_back).trace(np.ones(4, np.float32), np.ones((4, 4), np.float32))
    text = traced.lower(lowering_platforms=(platform,)).as_text()
    assert "stablehlo.reduce" in text
    assert ":16:5]" not in text
    assert "stablehlo.reduce" not in traced.lower(lowering_platforms=("cpu",)).as_text()


@pytest.mark.parametrize("name", ["matrix_diag", "matrix_diag_part", "matrix_set_diag"])
def test_the_name_that_tensorflow_gives_by_default_is_no_scope(name):
    x = np.ones((3, 3), np.float32)
    args = [x, x[0]] if name == "matrix_set_diag" else [x]
    program = jax.jit(lambda *args: getattr(jaxops, name)(*args))
    assert f'"jit(<lambda>)/{name}' in program.lower(*args).as_text(debug_info=True)


@pytest.mark.parametrize("part", [jaxops.matrix_diag_part, jaxops.tensor_diag_part])
def test_the_gradient_of_a_diagonal_needs_no_atomic_addition(part):
    """XLA adds at places that may repeat by compare-and-swap on a GPU (docs/accelerators.md)."""
    pull = jax.vmap(lambda x: jax.vjp(part, x)[1](x[0])[0])
    program = str(jax.make_jaxpr(pull)(np.ones((2, 3, 3), np.float32)))
    assert "scatter-add" in program
    assert "unique_indices=True" in program


IN_LONG_MATRICES = {
    "matrix_band_part": lambda x: jaxops.matrix_band_part(x, 0, 0),
    "matrix_diag": lambda x: jaxops.matrix_diag(x[..., 0, :3], None, 0, *x.shape[-2:]),
    "matrix_diag_part": lambda x: jaxops.matrix_diag_part(x, None, 0),
    "matrix_diag_part, several": lambda x: jaxops.matrix_diag_part(x, None, (0, 1)),
    "matrix_set_diag": lambda x: jaxops.matrix_set_diag(x, x[..., 0, :3], None, 0),
}


@pytest.mark.parametrize("shape", [(2**31 + 1, 3), (3, 2**31 + 1)], ids=["rows", "columns"])
@pytest.mark.parametrize("name", IN_LONG_MATRICES)
def test_rows_and_columns_beyond_int32(name, shape, x64):
    """In int32 the number of the last row wraps around, and it seemed to lie in the band."""
    x, call = jax.ShapeDtypeStruct(shape, np.int8), IN_LONG_MATRICES[name]
    if x64:
        program = str(jax.make_jaxpr(call)(x))
        assert "i64[" in program
        assert "i32[" not in program
    else:
        words = rf"{name.split(',')[0]}: \w+ must make matrices of less than 2\*\*31 rows and"
        with pytest.raises(ValueError, match=words):
            jax.eval_shape(call, x)
