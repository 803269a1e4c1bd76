"""Lookups, however they are written, become rows of the table."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import exported_for, share
from fast import fast_jit
from jax import lax
from sparse_checks import EACH_WAY, assert_sparse, square, table
from sparse_lookups import (
    READS,
    READS_OF_CUBES,
    READS_OF_MANY,
    READS_OF_MATRICES,
    READS_OF_SEVERAL,
    READS_OUTSIDE,
)
from sparse_patterns import assert_rows_first, polynomial

import jaxops

SHAPES = [(1,), (5,), (9,), (1, 1), (5, 3), (9, 1), (2, 4), (4, 2, 3), (1, 3, 2), (6, 1, 2)]
INDEX_SHAPES = [(), (3,), (0,), (2, 2), (1, 3)]
INDEX_DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"]
ALL_READS = READS | READS_OUTSIDE | READS_OF_SEVERAL
ALL_READS |= READS_OF_MATRICES | READS_OF_MANY | READS_OF_CUBES


def shapes_for(name):
    rank = 3 if name in READS_OF_CUBES else 2 if name in READS_OF_MATRICES | READS_OF_MANY else 1
    rows = 2 if name in READS_OF_SEVERAL else 1
    return [shape for shape in SHAPES if len(shape) >= rank and shape[0] >= rows]


@pytest.mark.parametrize("name", [*share(ALL_READS, 2)])
def test_lookups(name, x64):
    """One in a program for tables of each shape, with indices of other shapes and dtypes."""
    read, number = ALL_READS[name], [*ALL_READS].index(name)
    random = np.random.default_rng(number)
    low, high = (-1, 3) if name in READS_OUTSIDE else (0, 0)
    tables, indices = {}, {}
    for n, shape in enumerate(shapes_for(name), number):
        dtype = np.dtype(INDEX_DTYPES[n % len(INDEX_DTYPES)])
        numbers = random.integers(
            low * (dtype.kind == "i"), shape[0] + high, INDEX_SHAPES[n % len(INDEX_SHAPES)]
        )
        tables[str(shape)], indices[str(shape)] = table(*shape), numbers.astype(dtype)

    def loss(tables, indices):
        return sum(polynomial(read(t, indices[shape])) for shape, t in tables.items())

    assert_rows_first(loss, tables, indices, tables=[*tables], tolerance=0)


BAD = jnp.array([3, 7, 1])


@pytest.mark.parametrize("run", EACH_WAY)
@pytest.mark.parametrize("name", READS_OUTSIDE)
def test_out_of_bounds(name, run):
    """An index that is ignored becomes the number of rows."""
    slices = assert_rows_first(
        lambda p, i: polynomial(READS_OUTSIDE[name](p["t"], i)), {"t": table(7, 3)}, BAD, run=run
    )["t"]
    row = 6 if "clip" in name else 0 if "wrap" in name else 7
    np.testing.assert_array_equal(slices.indices, [3, row, 1])


def test_an_element_out_of_bounds_is_no_other_element():
    """Counted row-major, column 3 of row 0 would be column 0 of row 1."""
    t = table(7, 3)

    def loss(t):
        columns = jnp.array([3, 2, -4])
        return square(t.at[jnp.array([0, 1, 2]), columns].get(mode="fill", fill_value=0))

    slices = assert_sparse(loss, t, tables="")
    np.testing.assert_array_equal(slices.indices, [t.size, 5, t.size])


def test_on_cuda_what_is_out_of_bounds_contributes_nothing():
    def loss(t, i):
        return square(jaxops.gather(t, i))

    def gradient(t, i):
        return jaxops.sparse_value_and_grad(loss, tables="")(t, i)[1].to_dense()

    t = table(7, 3)
    expected = jax.grad(loss)(t, jnp.array([3, 1]))
    np.testing.assert_array_equal(exported_for("cuda", gradient, t, BAD).call(t, BAD), expected)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
@pytest.mark.parametrize("name", ["gather", "take", "row", "dynamic_slice"])
def test_narrow_indices_of_a_long_table(name, dtype):
    """By NumPy, as the gradient that jax 0.10 has for `dynamic_slice` is wrong here."""
    reads = {
        **READS,
        "dynamic_slice": lambda t, i: lax.dynamic_slice(t, (i[0, 0], i[0, 0]), (2, 2)),
    }
    indices = jnp.array([[100, 3], [127, 100]], dtype)

    def loss(t):
        return square(reads[name](t, indices))

    t = table(300, 2)
    _, slices = fast_jit(jaxops.sparse_value_and_grad(loss, tables=""))(t)
    rows = {"row": [100], "dynamic_slice": [100, 101]}.get(name, [100, 3, 127, 100])
    np.testing.assert_array_equal(slices.indices, rows)
    np.testing.assert_array_equal(slices.values, 2 * t[np.array(rows)] - 1)


@pytest.mark.parametrize("numbers", [[], [1, 0, 1], 1], ids=["none", "some", "scalar"])
@pytest.mark.parametrize("name", ALL_READS)
def test_eager_gradients_of_indices_that_numpy_holds(name, numbers):
    """In the program that the loss becomes these indices are literals, which no device holds."""
    i = np.array(numbers, np.int32)

    def loss(t):
        return square(ALL_READS[name](t, i))

    t = table(4, 3, 2) if name in READS_OF_CUBES else table(4, 3)
    _, slices = jaxops.sparse_value_and_grad(loss, tables="")(t)
    np.testing.assert_array_equal(slices.to_dense(), jax.grad(loss)(t))


NO_INDICES = jnp.zeros(0, jnp.int32)

LOOKUPS_OF_NOTHING = {
    name: lambda t, name=name: ALL_READS[name](t, NO_INDICES)
    for name in ("indexing", "take", "gather", "gather_nd, one axis", "batch_gather", "range")
}
LOOKUPS_OF_NOTHING |= {
    "ignored": lambda t: jaxops.gather(t, jnp.array([0, 3]), mode="fill"),
    "vmap": lambda t: jax.vmap(lambda i: jaxops.gather(t, i))(NO_INDICES[None]),
}


OTHER_SHAPES = [pytest.param(s, marks=pytest.mark.slow) for s in ((0, 0), (4, 0), (2, 0, 3))]


@pytest.mark.parametrize("shape", [(0, 3), *OTHER_SHAPES], ids=str)
@pytest.mark.parametrize("lookup", LOOKUPS_OF_NOTHING)
def test_tables_without_elements(lookup, shape):
    """Lookups pad them, which is no use of a table: there is nothing to have a gradient."""

    def loss(params):
        return square(LOOKUPS_OF_NOTHING[lookup](params["embed"])) + square(params["other"])

    params = {"embed": jnp.zeros(shape), "other": jnp.ones(2)}
    for tied in (False, True):
        grads = assert_sparse(loss, params, tied=tied)
        assert grads["embed"].dense_shape == shape
        assert grads["embed"].indices.size == 0
