"""What the harness does not see of `_ops/joining.py`: pieces, dtypes that meet, refusals."""
# Some calls are wrong on purpose.
# pyright: reportArgumentType=false

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops

X = np.arange(6, dtype=np.float32).reshape(2, 3)
T1, T2 = [[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]

DOCUMENT = {
    "004-split": (lambda: [s.shape for s in jaxops.split(np.ones((5, 30)), 3, 1)], [(5, 10)] * 3),
    "004-tile": (lambda: jaxops.tile(list("abcd"), [2]), list("abcdabcd")),
    "004-concat-0": (lambda: jaxops.concat([T1, T2], 0), [*T1, *T2]),
    "004-concat-1": (
        lambda: jaxops.concat([T1, T2], 1),
        [[1, 2, 3, 7, 8, 9], [4, 5, 6, 10, 11, 12]],
    ),
    "004-concat-shape-0": (lambda: jaxops.shape(jaxops.concat([X, X], 0)), [4, 3]),
    "004-concat-shape-1": (lambda: jaxops.shape(jaxops.concat([X, X], 1)), [2, 6]),
    "004-pack": (lambda: jaxops.stack([[1, 4], [2, 5], [3, 6]]), [[1, 4], [2, 5], [3, 6]]),
    "004-unpack": (lambda: np.stack(jaxops.unstack(X, 2)), X),
}


@pytest.mark.parametrize("name", DOCUMENT)
def test_document(name):
    call, expected = DOCUMENT[name]
    np.testing.assert_array_equal(call(), expected)


# value's shape, num_or_size_splits, axis, num, shapes of the pieces
SPLITS = {
    "rest-alone": ((2, 3), [-1], 1, None, [(2, 3)]),
    "number": ((2, 6), 3, 1, None, [(2, 2)] * 3),
    "negative-axis": ((2, 6), 2, -1, 2, [(2, 3)] * 2),
    "sizes": ((2, 6), [1, 5], 1, 2, [(2, 1), (2, 5)]),
    "rest": ((2, 6), [1, -1, 2], 1, None, [(2, 1), (2, 3), (2, 2)]),
    "rest-of-nothing": ((2, 3), (3, -1), 1, None, [(2, 3), (2, 0)]),
    "array": ((2, 3), np.array([3], np.int8), 1, None, [(2, 3)]),
    "jax-array": ((2, 3), jnp.array([1, 2]), 1, None, [(2, 1), (2, 2)]),
    "number-array": ((2, 3), jnp.array(3), np.array(1), None, [(2, 1)] * 3),
    "empty": ((2, 0), 3, 1, None, [(2, 0)] * 3),
}


@pytest.mark.parametrize("name", SPLITS)
def test_split_shapes(name):
    shape, pieces, axis, num, expected = SPLITS[name]
    value = np.zeros(shape, np.float32)
    result = jaxops.split(value, pieces, axis, num)
    assert isinstance(result, list)
    assert [piece.shape for piece in result] == expected
    compiled = jax.jit(lambda x: jaxops.split(x, pieces, axis, num))(value)
    assert [piece.shape for piece in compiled] == expected


def test_unstack_shapes():
    assert [piece.shape for piece in jaxops.unstack(X, 3, axis=-1)] == [(2,)] * 3
    assert jaxops.unstack(X[:0], 0) == []
    assert [piece.shape for piece in jaxops.unstack(np.zeros((2, 0)))] == [(0,), (0,)]


@pytest.mark.parametrize("xp", [np, jnp], ids=["numpy", "jax"])
def test_an_array_of_values(xp):
    x = xp.asarray(X)
    # To concat it is one value, to stack the list of its rows.
    np.testing.assert_array_equal(jaxops.concat(x, 1), X)
    np.testing.assert_array_equal(jaxops.stack(x), X)
    np.testing.assert_array_equal(jaxops.stack(x, -1), X.T)


def test_one_value_is_not_looked_at():
    # As TensorFlow 2.21: neither its rank nor the axis.
    np.testing.assert_array_equal(jaxops.concat([X], 5), X)
    assert jaxops.concat([1.0], 0) == 1


def test_stack_of_scalars():
    np.testing.assert_array_equal(jaxops.stack([1, 2, 3]), [1, 2, 3])
    jacobian = jax.jacrev(lambda x, y: jaxops.stack([x, y, x]), (0, 1))(1.0, 2.0)
    np.testing.assert_array_equal(jacobian, [[1, 0, 1], [0, 1, 0]])
    assert jaxops.stack(["a", "bb"]).tolist() == ["a", "bb"]


# values, dtype of the result
MEETING = {
    "jax,python": ([jnp.array([1.5], jnp.float16), [2]], np.float16),
    "python,jax": ([[2], jnp.array([1.5], jnp.bfloat16)], jnp.bfloat16),
    "numpy,jax": ([np.array([2]), jnp.array([1], jnp.uint8)], np.uint8),
    "python,numpy": ([[2], np.array([1.5], np.float16)], np.float16),
    "numpy,python": ([np.array([2], np.int8), [3]], np.int8),
    "float,numpy": ([[1.5], np.array([2], np.int8)], np.float32),  # a family of its own
    "python,python": ([[1], [1.5]], np.float32),
    "bool,int": ([[True], [2]], np.int32),
}


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", MEETING)
@pytest.mark.usefixtures("x32")
def test_dtypes_that_meet(name, transform):
    values, dtype = MEETING[name]
    # In the trace the host values stay such, and JAX arrays become tracers.
    arrays = [v for v in values if isinstance(v, jax.Array)]

    def call(arrays):
        rest = iter(arrays)
        return jaxops.concat([next(rest) if isinstance(v, jax.Array) else v for v in values], 0)

    result = transform(call)(arrays)
    assert result.dtype == dtype
    expected = [np.asarray(v, np.float32)[0] for v in values]
    np.testing.assert_array_equal(np.asarray(result, np.float32), expected)
    assert jaxops.stack(values).dtype == dtype


# The same of scalars, which NumPy has beside Python's.
MEETING_SCALARS = {
    "python,numpy": ([1.5, np.float16(2)], np.float16),
    "numpy,python": ([np.float16(2), 1.5], np.float16),
    "python,numpy-int": ([1, np.int8(2)], np.int8),
    "bool,numpy-int": ([True, np.uint8(2)], np.uint8),
    "python,jax": ([1.5, jnp.float16(2)], np.float16),
    "numpy,jax": ([np.float32(1.5), jnp.float16(2)], np.float16),
    "python,python": ([1, 1.5], np.float32),
}


@pytest.mark.parametrize("name", MEETING_SCALARS)
@pytest.mark.usefixtures("x32")
def test_dtypes_of_scalars_that_meet(name):
    values, dtype = MEETING_SCALARS[name]
    result = jaxops.stack(values)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, np.asarray(values, np.float32))


def test_lists_that_hold_tracers():
    result = jax.jit(lambda x: jaxops.concat([[x, 1], jaxops.stack([[x], [2]])[:, 0]], 0))(
        jnp.int8(5)
    )
    assert result.dtype == np.int8
    np.testing.assert_array_equal(result, [5, 1, 5, 2])


def test_an_eager_call_is_one_program():
    values = [jnp.float32(n) for n in range(100)]
    jaxops.stack(values)
    with jax.log_compiles(), jax.no_tracing():
        np.testing.assert_array_equal(jaxops.stack(values), np.arange(100))


@pytest.mark.parametrize("multiples", [(4, 1), (1, 4), (2, 100)])
def test_the_gradient_of_tile_adds_slices(multiples):
    """XLA's CPU compiler takes fifty times as long for a sum over the copies."""

    def tiled(x):
        return jaxops.tile(x, multiples)

    y, pull_back = jax.vjp(tiled, X)
    primitives = {eqn.primitive.name for eqn in jax.make_jaxpr(pull_back)(y).jaxpr.eqns}
    assert primitives == {"split", "add_any"}
    # The tile itself stays one broadcast, which fuses with what uses it.
    assert "concatenate" not in str(jax.make_jaxpr(tiled)(X))


def test_the_gradient_of_many_copies_is_a_short_program():
    y, pull_back = jax.vjp(lambda x: jaxops.tile(x, [1, 1000]), X)
    assert len(jax.make_jaxpr(pull_back)(y).jaxpr.eqns) < 100


def _traced(function):
    return lambda: jax.jit(function)(np.int32(1))


BAD = {
    "split-divide": (lambda: jaxops.split(X, 2, 1), ValueError, "split: num_or_size_splits 3 2"),
    "split-zero": (lambda: jaxops.split(X, 0), ValueError, "split: num_or_size_splits one piece 0"),
    "split-negative": (lambda: jaxops.split(X, -1), ValueError, "split: num_or_size_splits -1"),
    "split-no-sizes": (lambda: jaxops.split(X, [], 1), ValueError, "split: num_or_size_splits []"),
    "split-two-rests": (lambda: jaxops.split(X, [-1, -1], 1), ValueError, "one -1 (-1, -1)"),
    "split-two-empty-rests": (
        lambda: jaxops.split(X, [3, -1, -1], 1),
        ValueError,
        "one -1 (3, -1, -1)",
    ),
    "split-sum": (lambda: jaxops.split(X, [1, 1], 1), ValueError, "num_or_size_splits 3 (1, 1)"),
    "split-too-much": (lambda: jaxops.split(X, [4, -1], 1), ValueError, "(4, -1)"),
    "split-size": (lambda: jaxops.split(X, [-2, 5], 1), ValueError, "at least 0 (-2, 5)"),
    "split-axis": (lambda: jaxops.split(X, 1, 2), ValueError, "split: axis [-2, 2) 2"),
    "split-scalar": (lambda: jaxops.split(1.0, 1), ValueError, "split: axis dimension 0 scalar"),
    "split-num": (lambda: jaxops.split(X, [1, 2], 1, 3), ValueError, "split: num 2 3"),
    "split-num-number": (lambda: jaxops.split(X, 3, 1, 2), ValueError, "split: num 3 2"),
    "split-float": (lambda: jaxops.split(X, 3.0, 1), TypeError, "split: num_or_size_splits 3.0"),
    "split-floats": (lambda: jaxops.split(X, [1.0, 2], 1), TypeError, "num_or_size_splits 1.0"),
    "split-2d": (lambda: jaxops.split(X, [[1, 2]], 1), ValueError, "one-dimensional [[1, 2]]"),
    "split-axis-list": (lambda: jaxops.split(X, 3, [1]), TypeError, "split: axis int [1]"),
    "split-traced": (
        _traced(lambda n: jaxops.split(X, n)),
        TypeError,
        "split: num_or_size_splits static traced",
    ),
    "concat-scalars": (lambda: jaxops.concat([1.0, 2.0], 0), ValueError, "concat: values scalars"),
    "concat-axis": (lambda: jaxops.concat([X, X], 2), ValueError, "concat: axis [-2, 2) 2"),
    "concat-shape": (lambda: jaxops.concat([X, X[:1]], 1), ValueError, "values[1] (2, 3) (1, 3)"),
    "concat-rank": (lambda: jaxops.concat([X, X[0]], 0), ValueError, "values[1] (3,)"),
    "concat-empty-rank": (lambda: jaxops.concat([X, X[0, :0]], 0), ValueError, "values[1] (0,)"),
    "concat-no-values": (lambda: jaxops.concat([], 0), ValueError, "concat: values at least one"),
    "concat-axis-float": (lambda: jaxops.concat([X], 1.0), TypeError, "concat: axis int 1.0"),
    "concat-axis-None": (lambda: jaxops.concat([X, X], None), TypeError, "concat: axis int None"),
    "concat-axis-traced": (
        _traced(lambda a: jaxops.concat([X, X], a)),
        TypeError,
        "concat: axis static traced",
    ),
    "concat-None": (lambda: jaxops.concat([X, None], 0), TypeError, "concat: values[1]"),
    "concat-generator": (lambda: jaxops.concat((x for x in [X]), 0), TypeError, "concat: values"),
    "concat-dtypes": (
        lambda: jaxops.concat([jnp.array([1]), jnp.array([1.0])], 0),
        TypeError,
        "concat: values[1] int32 float32",
    ),
    "concat-host-float": (
        lambda: jaxops.concat([jnp.array([1]), [1.5]], 0),
        TypeError,
        "concat: values[1] int32 float32",
    ),
    "concat-overflow": (
        lambda: jaxops.concat([[300], jnp.array([1], jnp.uint8)], 0),
        TypeError,
        "concat: values[0] uint8",
    ),
    "concat-string": (lambda: jaxops.concat([["a"], [1]], 0), TypeError, "concat: values[1]"),
    "stack-high": (lambda: jaxops.stack([X, X], 3), ValueError, "stack: axis [-3, 3) 3"),
    "stack-low": (lambda: jaxops.stack([1.0, 2.0], -2), ValueError, "stack: axis [-1, 1) -2"),
    "stack-array-axis": (lambda: jaxops.stack(X, 2), ValueError, "stack: axis [-2, 2) 2"),
    "stack-shape": (lambda: jaxops.stack([X, X[:1]]), ValueError, "stack: values[1] (2, 3) (1, 3)"),
    "stack-scalar": (lambda: jaxops.stack(2.0), ValueError, "stack: values scalar"),
    "stack-empty": (lambda: jaxops.stack([]), ValueError, "stack: values at least one"),
    "stack-None": (lambda: jaxops.stack(None), TypeError, "stack: values"),
    "stack-axis": (lambda: jaxops.stack([X], [1]), TypeError, "stack: axis int [1]"),
    "stack-float": (lambda: jaxops.stack([1.5, jnp.array(2)]), TypeError, "stack: values[0] int32"),
    "unstack-num": (lambda: jaxops.unstack(X, 3), ValueError, "unstack: num 2 3"),
    "unstack-num-0": (lambda: jaxops.unstack(X, 0), ValueError, "unstack: num 2 0"),
    "unstack-axis": (lambda: jaxops.unstack(X, axis=2), ValueError, "unstack: axis [-2, 2) 2"),
    "unstack-scalar": (lambda: jaxops.unstack(1.0), ValueError, "unstack: value rank scalar"),
    "unstack-float": (lambda: jaxops.unstack(X, axis=1.0), TypeError, "unstack: axis int 1.0"),
    "tile-short": (lambda: jaxops.tile(X, [2]), ValueError, "tile: multiples 2 (2,)"),
    "tile-negative": (lambda: jaxops.tile(X, [-1, 1]), ValueError, "tile: multiples (-1, 1)"),
    "tile-int": (lambda: jaxops.tile(X, 2), ValueError, "tile: multiples one-dimensional 2"),
    "tile-float": (lambda: jaxops.tile(X, [1.0, 2]), TypeError, "tile: multiples int 1.0"),
    "tile-traced": (_traced(lambda m: jaxops.tile(X, [m, 1])), TypeError, "tile: multiples static"),
    "name": (lambda: jaxops.concat([X], 0, name=3), TypeError, "concat: name str 3"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.usefixtures("x32")
def test_refuses(name):
    call, error, words = BAD[name]
    with pytest.raises(error) as info:
        call()
    for word in words.split(" "):
        assert word in str(info.value)
