"""What the harness does not see of `_ops/shaping.py`: dtypes, strings, static shapes, refusals."""
# Some calls are wrong on purpose.
# pyright: reportArgumentType=false

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.core import Tracer

import jaxops

T = [[[1, 1, 1], [2, 2, 2]], [[3, 3, 3], [4, 4, 4]]]
X = np.arange(6, dtype=np.float32).reshape(2, 3)
ONES = np.zeros((1, 2, 1, 3, 1, 1), np.float32)

DOCUMENT = {
    "004-shape": (lambda: jaxops.shape(T), [2, 2, 3]),
    "004-size": (lambda: jaxops.size(T), 12),
    "004-rank": (lambda: jaxops.rank(T), 3),
    "004-reshape": (
        lambda: jaxops.reshape(range(1, 10), [3, 3]),
        [[1, 2, 3], [4, 5, 6], [7, 8, 9]],
    ),
    "004-reshape-merge": (
        lambda: jaxops.reshape([[[1, 1], [2, 2]], [[3, 3], [4, 4]]], [2, 4]),
        [[1, 1, 2, 2], [3, 3, 4, 4]],
    ),
    "004-reshape-flat": (lambda: jaxops.shape(jaxops.reshape(np.ones((3, 2, 3)), [-1])), [18]),
    "004-reshape-2,-1": (lambda: jaxops.shape(jaxops.reshape(np.ones((3, 2, 3)), [2, -1])), [2, 9]),
    "004-reshape--1,9": (lambda: jaxops.shape(jaxops.reshape(np.ones((3, 2, 3)), [-1, 9])), [2, 9]),
    "004-reshape-2,-1,3": (
        lambda: jaxops.shape(jaxops.reshape(np.ones((3, 2, 3)), [2, -1, 3])),
        [2, 3, 3],
    ),
    "004-reshape-scalar": (lambda: jaxops.reshape([7], []), 7),
    "004-squeeze": (lambda: jaxops.shape(jaxops.squeeze(ONES)), [2, 3]),
    "004-squeeze-axis": (lambda: jaxops.shape(jaxops.squeeze(ONES, [2, 4])), [1, 2, 3, 1]),
    "004-expand_dims-0": (lambda: jaxops.shape(jaxops.expand_dims([1, 2], 0)), [1, 2]),
    "004-expand_dims-1": (lambda: jaxops.shape(jaxops.expand_dims([1, 2], 1)), [2, 1]),
    "004-expand_dims--1": (lambda: jaxops.shape(jaxops.expand_dims([1, 2], -1)), [2, 1]),
    "004-expand_dims-t2-0": (
        lambda: jaxops.shape(jaxops.expand_dims(np.ones((2, 3, 5)), 0)),
        [1, 2, 3, 5],
    ),
    "004-expand_dims-t2-2": (
        lambda: jaxops.shape(jaxops.expand_dims(np.ones((2, 3, 5)), 2)),
        [2, 3, 1, 5],
    ),
    "004-expand_dims-t2-3": (
        lambda: jaxops.shape(jaxops.expand_dims(np.ones((2, 3, 5)), 3)),
        [2, 3, 5, 1],
    ),
    "004-transpose": (lambda: jaxops.transpose([[1, 2, 3], [4, 5, 6]]), [[1, 4], [2, 5], [3, 6]]),
    "004-transpose-perm": (
        lambda: jaxops.transpose([[1, 2, 3], [4, 5, 6]], perm=[1, 0]),
        [[1, 4], [2, 5], [3, 6]],
    ),
    "004-transpose-3d": (
        lambda: jaxops.transpose(
            [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]], perm=[0, 2, 1]
        ),
        [[[1, 4], [2, 5], [3, 6]], [[7, 10], [8, 11], [9, 12]]],
    ),
}


@pytest.mark.parametrize("name", DOCUMENT)
def test_document(name):
    call, expected = DOCUMENT[name]
    np.testing.assert_array_equal(call(), expected)


@pytest.mark.parametrize("op", [jaxops.shape, jaxops.size])
@pytest.mark.parametrize("out_type", [np.int32, "int64", jnp.int64])
def test_shapes_are_numpy_of_the_type_asked_for(op, out_type):
    result = op(jnp.zeros((2, 3)), out_type)
    assert isinstance(result, (np.ndarray, np.generic))
    assert result.dtype == np.dtype(out_type)  # without x64 too
    assert op([["a", "b"]]).dtype == np.int32


def test_shapes_of_strings_and_of_several():
    assert jaxops.rank([["a"]]) == 2
    np.testing.assert_array_equal(jaxops.shape(np.array([[b"a", b"b"]], object)), [1, 2])
    first, second = jaxops.shape_n([X, [1]], np.int64)
    assert first.dtype == np.int64
    np.testing.assert_array_equal(first, [2, 3])
    np.testing.assert_array_equal(second, [1])


def _flatten(x):
    """`x` with all but its first dimension flattened, the shape computed by jaxops."""
    assert isinstance(jaxops.rank(x), np.int32)
    first, _ = jaxops.split(jaxops.shape(x), [1, -1])
    shape = jaxops.concat([first, jaxops.stack([-1])], 0)
    if isinstance(x, Tracer):
        assert not isinstance(shape, Tracer)
        assert shape.dtype == np.int32
    return jaxops.reshape(x, shape)


STATIC = {
    "eager": (_flatten, (4, 6)),
    "jit": (jax.jit(_flatten), (4, 6)),
    "vmap": (jax.vmap(_flatten), (4, 2, 3)),
    "vmap-of-jit": (jax.vmap(jax.jit(lambda x: _flatten(x[None]))), (4, 1, 6)),
    "grad": (jax.grad(lambda x: (_flatten(x) ** 2).sum()), (4, 2, 3)),
}


@pytest.mark.parametrize("context", STATIC)
@pytest.mark.usefixtures("x32")
def test_shapes_stay_static(context):
    function, shape = STATIC[context]
    assert function(np.zeros((4, 2, 3), np.float32)).shape == shape


def test_shape_looks_at_no_value():
    assert jaxops.size(np.broadcast_to(np.int8(0), (2**16, 2**16)), np.int64) == 2**32
    assert jax.jit(lambda x: x + float(jaxops.shape([x, x])[0]))(1.0) == 3


def test_host_ints_with_a_traced_fill_value_are_no_shape():
    filled = jax.jit(lambda c: jaxops.gather([1, 2], [0, 5], mode="fill", fill_value=c))
    np.testing.assert_array_equal(filled(jnp.array(7)), [1, 7])


@pytest.mark.parametrize(
    "shape",
    [(3, 2), [3, 2], np.array([3, 2], np.int8), jnp.array([3, 2]), [np.int64(3), -1]],
    ids=repr,
)
def test_what_a_shape_may_be(shape):
    assert jaxops.reshape(X, shape).shape == (3, 2)


# As TensorFlow 2.21 has them.
ZERO_SIZE = {
    "flat": ((0, 3), [-1], (0,)),
    "first": ((0, 3), [0, -1], (0, 3)),
    "last": ((0, 3), [-1, 0], (3, 0)),
    "other": ((0, 3), [3, -1], (3, 0)),
    "divided": ((0, 3), [2, -1, 0], (2, 1, 0)),
    "no -1": ((0, 3), [5, 0], (5, 0)),
    "int": ((2, 3), -1, (6,)),
    "scalar": ((), [-1], (1,)),
}


@pytest.mark.parametrize("name", ZERO_SIZE)
def test_reshape_infers(name):
    shape, to, expected = ZERO_SIZE[name]
    assert jaxops.reshape(np.zeros(shape), to).shape == expected


@pytest.mark.parametrize("axis", [[], None, (0, 2), [0, -1, 0], np.array([0, 2])], ids=repr)
def test_squeeze_axes(axis):
    assert jaxops.squeeze(np.zeros((1, 2, 1)), axis).shape == (2,)


def test_transpose_conjugates_complex_numbers_only():
    x = np.array([[1 + 2j, 3]], np.complex64)
    np.testing.assert_array_equal(jaxops.transpose(x, conjugate=True), [[1 - 2j], [3]])
    np.testing.assert_array_equal(jaxops.transpose(x), x.T)
    np.testing.assert_array_equal(jaxops.transpose(X, [-1, 0], conjugate=True), X.T)
    np.testing.assert_array_equal(jaxops.transpose([["a", "b"]], conjugate=True), [["a"], ["b"]])


STRINGS = {
    "reshape": lambda s: (jaxops.reshape(s, [-1]), s.reshape(-1)),
    "squeeze": lambda s: (jaxops.squeeze(s[:1]), s[0]),
    "expand_dims": lambda s: (jaxops.expand_dims(s, 1), s[:, None]),
    "transpose": lambda s: (jaxops.transpose(s), s.T),
    "split": lambda s: (jaxops.split(s, 3, 1)[2], s[:, 2:]),
    "concat": lambda s: (jaxops.concat([s, s], 1), np.concatenate([s, s], 1)),
    "stack": lambda s: (jaxops.stack([s, s], 1), np.stack([s, s], 1)),
    "unstack": lambda s: (jaxops.unstack(s)[1], s[1]),
    "tile": lambda s: (jaxops.tile(s, [2, 1]), np.concatenate([s, s])),
    "pad-reflect": lambda s: (jaxops.pad(s, [[0, 0], [1, 0]], "REFLECT"), s[:, [1, 0, 1, 2]]),
    "reverse": lambda s: (jaxops.reverse(s, [1]), s[:, ::-1]),
    "reverse_sequence": lambda s: (jaxops.reverse_sequence(s, [3, 0], 1)[0], s[0, ::-1]),
}


@pytest.mark.parametrize("kind", [np.str_, np.bytes_, object, np.dtypes.StringDType()], ids=str)
@pytest.mark.parametrize("op", STRINGS)
def test_strings(op, kind):
    result, expected = STRINGS[op](np.array([["a", "bb", "c"], ["d", "e", "ff"]]).astype(kind))
    np.testing.assert_array_equal(result, expected)


MOVES = {
    "reshape": (lambda x: jaxops.reshape(x, [3, 2]), lambda x: x.reshape(3, 2)),
    "transpose": (jaxops.transpose, np.transpose),
    "split": (lambda x: jaxops.split(x, 3, 1)[1], lambda x: x[:, 1:2]),
    "concat": (lambda x: jaxops.concat([x, x], 1), lambda x: np.concatenate([x, x], 1)),
    "stack": (lambda x: jaxops.stack([x, x], 1), lambda x: np.stack([x, x], 1)),
    "unstack": (lambda x: jaxops.unstack(x, axis=1)[2], lambda x: x[:, 2]),
    "tile": (lambda x: jaxops.tile(x, [1, 2]), lambda x: np.tile(x, [1, 2])),
    "pad": (lambda x: jaxops.pad(x, [[1, 0], [0, 1]]), lambda x: np.pad(x, [[1, 0], [0, 1]])),
    "pad-reflect": (
        lambda x: jaxops.pad(x, [[1, 0], [0, 1]], "reflect"),
        lambda x: np.pad(x, [[1, 0], [0, 1]], "reflect"),
    ),
    "reverse": (lambda x: jaxops.reverse(x, [1]), lambda x: x[:, ::-1]),
    "reverse_sequence": (
        lambda x: jaxops.reverse_sequence(x, [2, 3], 1),
        lambda x: np.stack([x[0, [1, 0, 2]], x[1, ::-1]]),
    ),
}
DTYPES = [np.bool_, np.uint8, jnp.int4, jnp.uint4, np.uint16, np.float16]
DTYPES += [jnp.bfloat16, jnp.float8_e4m3fn, jnp.float8_e5m2, np.complex64]
# Of these XLA compiles nothing without optimizations: the process ends.
DTYPES += [pytest.param(dtype, marks=pytest.mark.optimized) for dtype in (jnp.int2, jnp.uint2)]


@pytest.mark.parametrize("op", MOVES)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
def test_dtypes(op, dtype):
    function, expected = MOVES[op]
    x = np.array([[1, 0, 0], [0, 1, 1]]).astype(dtype)
    result = np.asarray(function(jnp.asarray(x)))
    assert result.dtype == x.dtype
    np.testing.assert_array_equal(result.astype(np.complex64), expected(x).astype(np.complex64))


@pytest.mark.parametrize("op", MOVES)
@pytest.mark.usefixtures("x32")
def test_64_bit(op):
    function, expected = MOVES[op]
    x = np.array([[2**40, 0, 1], [3, 4, 5]])
    with jax.enable_x64(True):
        np.testing.assert_array_equal(function(x), expected(x), strict=True)
    with pytest.raises(ValueError, match="does not fit int32"):
        function(x)


RANKS = {
    "reshape": lambda n: jaxops.reshape(1.0, [1] * n),
    "expand_dims": lambda n: jaxops.expand_dims(jnp.ones((1,) * (n - 1)), -1),
    "scatter_nd": lambda n: jaxops.scatter_nd([[0]], jnp.ones((1,) * n), [1] * n),
    "one_hot": lambda n: jaxops.one_hot(jnp.zeros((1,) * (n - 1), int), 2),
    "gather": lambda n: jaxops.gather(jnp.ones((1,) * (n - 3)), jnp.zeros((1,) * 4, int)),
}


@pytest.mark.parametrize("op", RANKS)
def test_as_many_dimensions_as_tensorflow_has(op):
    make = RANKS[op]
    assert make(253).ndim == 253
    for n in (254, 300):
        for call in (make, jax.jit(make, static_argnums=0)):
            with pytest.raises(ValueError, match=rf"^{op}: .* less than 254 dimensions; received "):
                call(n)


def test_a_shape_of_very_many_dimensions():
    with pytest.raises(ValueError, match=r"shape \(1.* of 100000 dimensions"):
        jaxops.reshape(1.0, [1] * 100_000)
