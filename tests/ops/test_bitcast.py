"""bitcast: a view of the bytes, in every dtype."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops


def test_bitcast_to_floats_has_gradient_zero():
    x = jnp.array([1.5, -2.0])
    for dtype in ("float32", "bfloat16", "complex64"):
        gradient = jax.grad(lambda x, d=dtype: jaxops.to_float(jaxops.bitcast(x, d)).sum())(x)
        np.testing.assert_array_equal(gradient, [0, 0])


BITCAST_DTYPES = ["uint8", "bfloat16", "int32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("source", BITCAST_DTYPES)
def test_bitcast_is_a_view_of_the_bytes(source):
    """Also under `vmap` over any dimension, the last one included."""
    source = np.dtype(source)
    data = np.random.default_rng(0).integers(0, 256, (3, 2, 16), np.uint8)
    for target in map(np.dtype, BITCAST_DTYPES):
        ratio = target.itemsize // source.itemsize
        x = data.view(source)
        if ratio > 1:
            x = x.reshape(3, -1, ratio)
            expected = x.view(target)[..., 0]
        elif target.itemsize < source.itemsize:
            expected = x[..., None].view(target)
        else:
            expected = x.view(target)
        with jax.enable_x64(True):
            result = np.asarray(jaxops.bitcast(x, target))
            over_last = jax.jit(jax.vmap(lambda x, t=target: jaxops.bitcast(x, t), in_axes=-1))
            mapped = np.asarray(over_last(np.stack([x, x[::-1]], axis=-1)))
        assert (result.dtype, result.shape) == (target, expected.shape)
        assert result.tobytes() == expected.tobytes()
        assert mapped.tobytes() == np.stack([expected, expected[::-1]]).tobytes()


@pytest.mark.parametrize(
    ("shape", "source", "target", "expected"),
    [
        ((), "float32", "int32", ()),
        ((), "float32", "uint8", (4,)),
        ((4,), "uint8", "float32", ()),
        ((0,), "float32", "uint8", (0, 4)),
        ((0, 4), "uint8", "float32", (0,)),
        ((3, 2), "float32", "complex64", (3,)),
        ((2,), "complex64", "float32", (2, 2)),
        ((2,), "complex64", "complex64", (2,)),
        ((3,), "uint8", "int4", (3, 2)),
        ((8,), "int4", "int32", ()),
    ],
)
def test_bitcast_shapes(shape, source, target, expected):
    x = jnp.ones(shape, source)
    result = jaxops.bitcast(x, target)
    assert (result.shape, result.dtype) == (expected, np.dtype(target))
    np.testing.assert_array_equal(jaxops.bitcast(result, source), x)


@pytest.mark.parametrize(
    ("of", "to"), [("uint8", "uint32"), ("uint32", "uint8"), ("int16", "complex64")]
)
def test_rows_of_any_number(of, to):
    """An exported program for a symbolic size computes the bits as one for a known size."""
    (n,) = jax.export.symbolic_shape("n")
    more = np.dtype(to).itemsize // np.dtype(of).itemsize
    dims = (more,) if more else ()
    x = np.random.default_rng(0).integers(0, 128, (3, *dims)).astype(of)
    program = jax.export.export(jax.jit(lambda x: jaxops.bitcast(x, to)))
    result = program(jax.ShapeDtypeStruct((n, *dims), of)).call(x)
    np.testing.assert_array_equal(result, jaxops.bitcast(x, to), strict=True)
