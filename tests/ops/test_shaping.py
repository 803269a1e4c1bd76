"""What the harness does not see of `_ops/shaping.py`: dtypes, strings, static shapes, refusals."""
# Some calls are wrong on purpose.
# pyright: reportArgumentType=false

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.core import Tracer

import jaxops

X = np.arange(6, dtype=np.float32).reshape(2, 3)


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


@pytest.mark.parametrize("kind", [np.str_, np.bytes_, object, np.dtypes.StringDType()], ids=str)
def test_lists_of_strings(kind):
    """What makes or takes several arrays; the others: test_dtypes.py."""
    s = np.array([["a", "bb", "c"], ["d", "e", "ff"]]).astype(kind)
    for result, expected in (
        (jaxops.split(s, 3, 1)[2], s[:, 2:]),
        (jaxops.concat([s, s], 1), np.concatenate([s, s], 1)),
        (jaxops.stack([s, s], 1), np.stack([s, s], 1)),
        (jaxops.unstack(s)[1], s[1]),
        (jaxops.pad(s, [[0, 0], [1, 0]], "REFLECT"), s[:, [1, 0, 1, 2]]),
    ):
        np.testing.assert_array_equal(result, expected)


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
