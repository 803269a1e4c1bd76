"""What the harness does not see of the rows of a RaggedTensor."""

import copy
import functools
import operator
import pickle

import fast
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

import jaxops
from jaxops import RaggedTensor, testing

VALUES = np.arange(10, dtype=np.float32).reshape(5, 2)
DENSE = np.array([[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 0]], np.float32)


@pytest.fixture
def rows():
    return RaggedTensor.from_row_lengths(VALUES, [2, 0, 3])


def test_what_it_is_made_of(rows):
    assert rows.shape == (3, None, 2)
    assert rows.dtype == np.float32
    assert rows.flat_values is rows.values
    assert rows.to_list() == [VALUES[:2].tolist(), [], VALUES[2:].tolist()]
    assert rows.nrows() == 3
    assert type(rows.nrows()) is jax.dtypes.canonicalize_dtype(np.int64).type
    np.testing.assert_array_equal(rows.row_lengths(), [2, 0, 3])
    np.testing.assert_array_equal(rows.row_lengths(axis=-2), [2, 0, 3])
    for twin in (copy.deepcopy(rows), pickle.loads(pickle.dumps(rows))):
        assert twin.to_list() == rows.to_list()


def test_a_pytree(rows):
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(rows)]
    assert paths == [".values", ".row_splits"]
    doubled = jax.jit(lambda x: x.with_values(2 * x.values))(rows)
    assert doubled.to_list() == rows.with_values(2 * VALUES).to_list()
    stacked = jax.tree.map(lambda x: jnp.stack([x, x]), rows)
    dense = jax.vmap(lambda x: x.to_tensor(shape=(None, 3, None)))(stacked)
    np.testing.assert_array_equal(dense, np.stack([rows.to_tensor()] * 2))
    last, sums = lax.scan(
        lambda x, _: (x.gather([2, 0, 1], size=5), x.values.sum()), rows, length=2
    )
    assert last.to_list() == rows.gather([1, 2, 0]).to_list()
    assert sums.tolist() == [45, 45]
    with pytest.raises(TypeError, match="unsupported operand"):
        operator.mul(np.float32(2), rows)


def test_numbers_of_rows():
    x = RaggedTensor.from_row_lengths(VALUES, [0, 2, 0, 1], padded=True)
    np.testing.assert_array_equal(x.value_rowids(), [1, 1, 3, 4, 4])
    np.testing.assert_array_equal(jax.jit(lambda x: x.value_rowids())(x), [1, 1, 3, 4, 4])


PADDED = {
    "number": (DENSE, 0.0, [3, 0, 2]),
    "nan": (np.where(DENSE == 0, np.nan, DENSE), np.nan, [4, 4, 4]),
    "vector": (np.stack([DENSE, DENSE[::-1]], -1), [0.0, 0.0], [3, 0, 3]),
    "no-columns": (DENSE[:, :0], 0.0, [0, 0, 0]),
}


@pytest.mark.parametrize("name", PADDED)
def test_padding_is_found(name):
    dense, padding, lengths = PADDED[name]
    exact = RaggedTensor.from_tensor(dense, padding=padding)
    np.testing.assert_array_equal(exact.row_lengths(), lengths)
    assert exact.values.shape[0] == sum(lengths)
    expected = RaggedTensor.from_tensor(dense, lengths).to_list()
    np.testing.assert_equal(exact.to_list(), expected)
    compiled = jax.jit(lambda x, p: RaggedTensor.from_tensor(x, padding=p, size=13))
    np.testing.assert_equal(compiled(dense, np.float32(padding)).to_list(), expected)


def test_some_rows_are_whole():
    """All values of a row count in some rows only, so that the array is not the values."""
    for function in (RaggedTensor.from_tensor, lambda x, n: RaggedTensor.from_tensor(x, n, size=9)):
        rows = function(DENSE, [4, 0, 2]).to_list()
        assert rows == [DENSE[0].tolist(), [], DENSE[2, :2].tolist()]


def test_a_whole_array_is_not_copied():
    program = jax.make_jaxpr(lambda x: RaggedTensor.from_tensor(x).values)(DENSE)
    names = {equation.primitive.name for equation in program.eqns}
    assert names - {"stop_gradient"} == {"reshape"}


def test_gradients_of_exact_results(rows):
    def chosen(values):
        return (rows.with_values(values).gather([2, 2, 0]).values ** 2).sum()

    def cut(dense):
        return (RaggedTensor.from_tensor(dense, padding=0.0).values ** 2).sum()

    np.testing.assert_array_equal(
        jax.grad(chosen)(VALUES), 2 * VALUES * np.repeat([1, 2], [2, 3])[:, None]
    )
    np.testing.assert_array_equal(jax.grad(cut)(DENSE), 2 * DENSE)


def test_indices_that_are_ignored(rows):
    indices = [2, 3, -1, 0]
    expected = [VALUES[2:].tolist(), [], [], VALUES[:2].tolist()]
    assert rows.gather(indices, mode="fill").to_list() == expected
    assert rows.gather(indices, size=5, mode="fill").to_list() == expected
    testing.assert_out_of_bounds(lambda i: rows.gather(i, size=5).values, np.array(indices))
    with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[1\] = 3 is not in \[0, 3\)"):
        rows.gather(indices)


def test_values_that_do_not_fit(rows):
    few = rows.gather([0, 2], size=3, mode="fill")
    assert few.to_list() == [VALUES[:2].tolist(), VALUES[2:3].tolist()]
    few = RaggedTensor.from_tensor(DENSE, [1, 2, 3], size=4, mode="fill")
    assert few.to_list() == [[1], [0, 0], [0]]
    np.testing.assert_array_equal(few.row_splits, [0, 1, 3, 4])


@pytest.mark.slow
@pytest.mark.parametrize("extra", [0, 1])
def test_more_values_than_int32_counts(extra):
    """Of values without elements, which take no memory: 2^32, of which int32 keeps 0, and more."""
    x = RaggedTensor.from_row_lengths(np.zeros((2**30 + extra, 0)), [2**30, extra])
    most = np.iinfo(jax.dtypes.canonicalize_dtype(np.int64)).max
    rows = np.array([0, 0, 0, 0, 1], np.int32)
    with pytest.raises(jaxops.OutOfBoundsError) as info:
        x.gather(rows, size=8)
    assert f"{min(2**32 + extra, most)} values of the rows do not fit" in str(info.value)
    with pytest.raises(ValueError, match=r"the number of values must be less than 2\*\*31"):
        x.gather(rows)
    assert x.gather(rows, size=8, mode="fill").row_splits.tolist() == [0, 8, 8, 8, 8, 8]


JOINED = {
    "gather": lambda x, n: RaggedTensor.from_row_splits(x[:, 0], n).gather(n, size=8),
    "from_tensor": lambda x, n: RaggedTensor.from_tensor(x, lengths=n[1:], size=8),
}


@pytest.mark.parametrize("name", JOINED)
def test_sums_that_fit_are_plain(name):
    """If int32 counts the values, the program does not look for sums that wrap around."""
    arguments = jnp.ones((4, 3)), jnp.zeros(5, jnp.int32)
    assert "cummax" not in str(jax.make_jaxpr(JOINED[name])(*arguments))


def test_dense_shapes(rows):
    dense = np.zeros((4, 2, 2), np.float32)
    dense[:3] = np.asarray(rows.to_tensor())[:, :2]
    np.testing.assert_array_equal(rows.to_tensor(shape=[4, 2, None]), dense)
    np.testing.assert_array_equal(rows.to_tensor(shape=np.array([4, 2, 2])), dense)
    assert rows.to_tensor(shape=(0, None, None)).shape == (0, 3, 2)
    none = RaggedTensor.from_row_splits(VALUES[:0], [0])
    assert none.to_tensor().shape == (0, 0, 2)
    assert none.gather(np.zeros(0, np.int32)).to_list() == []


UNCHECKED, FILLED = {"validate": False}, {"mode": "fill"}
# Calls, and the options with which a program for a CPU can be stored.
EXPORTED = {
    "from_row_splits": (
        UNCHECKED,
        lambda x, **k: RaggedTensor.from_row_splits(x.values, x.row_splits, **k),
    ),
    "from_row_lengths": (
        UNCHECKED,
        lambda x, **k: RaggedTensor.from_row_lengths(x.values, x.row_lengths(), **k),
    ),
    "from_value_rowids": (
        UNCHECKED,
        lambda x, **k: RaggedTensor.from_value_rowids(x.values, x.value_rowids(), 3, **k),
    ),
    "from_tensor": (FILLED, lambda x, **k: RaggedTensor.from_tensor(x.values, size=8, **k)),
    "from_tensor-lengths": (
        FILLED,
        lambda x, **k: RaggedTensor.from_tensor(x.values, x.value_rowids(), size=8, **k),
    ),
    "from_tensor-padding": (
        FILLED,
        lambda x, **k: RaggedTensor.from_tensor(x.values, padding=5, size=8, **k),
    ),
    "gather": (FILLED, lambda x, **k: x.gather(x.value_rowids(), size=7, **k)),
    "nrows": ({}, lambda x: x.nrows()),
    "to_tensor": ({}, lambda x: x.to_tensor(shape=(None, x.values.shape[0], 2))),
    "reduce_mean": ({}, lambda x: x.reduce_mean(axis=1, keepdims=True)),
}


@pytest.mark.parametrize("name", EXPORTED)
def test_exported_for_symbolic_sizes(name, rows):
    scope = export.SymbolicScope(["r >= 2"])
    shapes = (export.symbolic_shape(shape, scope=scope) for shape in ("n, 2", "r"))
    leaves, structure = jax.tree.flatten(rows)
    types = structure.unflatten(
        jax.ShapeDtypeStruct(shape, x.dtype) for shape, x in zip(shapes, leaves, strict=True)
    )
    options, call = EXPORTED[name]
    unchecked = functools.partial(call, **options)
    stored = export.export(jax.jit(unchecked))(types)
    jax.tree.map(np.testing.assert_array_equal, stored.call(rows), unchecked(rows))
    export.export(jax.jit(call), platforms=["cuda"])(types)  # with the checks, which are nothing


def test_reduced_to_nothing_and_in_other_dtypes(x64):
    x = RaggedTensor.from_row_lengths(np.array([5, 7, 200, 3], np.uint8), [2, 0, 1], padded=True)
    assert x.reduce_max(1).tolist() == [7, 0, 200]
    assert x.reduce_min(1, keepdims=True).tolist() == [[5], [255], [200]]
    means = x.reduce_mean(1)
    assert means.dtype == np.float32
    np.testing.assert_array_equal(means, [6, np.nan, 200])
    wide = x.with_values(x.values.astype(np.int32)).reduce_mean(1)
    assert wide.dtype == (np.float64 if x64 else np.float32)
    halves = np.zeros(70000, np.float16)
    halves[0] = 35000
    halves = RaggedTensor.from_row_lengths(halves, [70000])
    np.testing.assert_array_equal(halves.reduce_mean(1), [np.float16(0.5)])
    dense = RaggedTensor.from_tensor(DENSE)
    assert dense.row_splits.dtype == (np.int64 if x64 else np.int32)
    none = RaggedTensor.from_row_lengths(VALUES[:0], [0, 0])
    np.testing.assert_array_equal(none.reduce_max(1), np.full((2, 2), np.finfo(np.float32).min))


def test_means_of_several_rows_are_rounded_once():
    x = np.random.default_rng(0).uniform(1, 2, (15, 33)).astype(np.float32)
    ids = np.repeat(np.arange(5), 3)
    means = fast.optimized_jit(lambda x: RaggedTensor.from_row_lengths(x, [3] * 5).reduce_mean(1))
    np.testing.assert_array_equal(means(x), jaxops.segment_mean(x, ids))


@pytest.mark.slow
def test_gradients_of_products_with_zeros():
    def product(values):
        return RaggedTensor.from_row_lengths(values, [3, 1, 3], padded=True).reduce_prod(1).sum()

    values = np.array([2.0, 0.0, 3.0, 0.0, 0.0, 0.0, 5.0, 7.0], np.float32)
    np.testing.assert_array_equal(jax.grad(product)(values), [0, 6, 0, 1, 0, 0, 0, 0])
