"""Splits into many pieces and joins of many: the same values as of few."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from checks import assert_all_equal

import jaxops
from jaxops._cpu import pieces_by_python

DTYPES = ["bool", "int8", "uint64", "float16", "bfloat16", "float8_e4m3fn", "complex64", "int4"]

MANY, FEW = pieces_by_python.MANY, pieces_by_python._MANY_RESULTS


def table(rows, dtype="float32", columns=3):
    dtype = jax.dtypes.canonicalize_dtype(getattr(ml_dtypes, dtype, dtype))
    return (np.arange(rows * columns) % 7).reshape(rows, columns).astype(dtype)


@pytest.mark.parametrize(
    ("number", "jit"),
    [(FEW, lambda f: f), (MANY, lambda f: f), (MANY, jax.jit)],
    ids=["eager", "eager-many", "jit"],
)
def test_values(number, jit):
    x = table(number)
    pieces = [x[i : i + 1] for i in range(number)]
    assert_all_equal(jit(lambda x: jaxops.split(x, number))(x), pieces)
    assert_all_equal(jit(lambda x: jaxops.split(x, number, axis=-1))(x.T), [p.T for p in pieces])
    assert_all_equal(jit(jaxops.unstack)(x), [*x])
    np.testing.assert_array_equal(jit(lambda *p: jaxops.concat(p, 0))(*pieces), x)
    np.testing.assert_array_equal(jit(lambda *p: jaxops.stack(p, 1))(*x), x.T)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    number = FEW
    x = table(number, dtype)
    pieces = jaxops.split(x, number)
    assert_all_equal(pieces, [x[i : i + 1] for i in range(number)])
    repeated = np.tile(x, (MANY // number, 1))
    joined = jaxops.concat(pieces * (MANY // number), 0)
    np.testing.assert_array_equal(joined, repeated, strict=True)


def test_pieces_of_different_sizes():
    sizes = [n % 3 for n in range(MANY)]
    ends = np.cumsum(sizes)
    x = table(ends[-1])
    pieces = jax.jit(lambda x: jaxops.split(x, sizes))(x)
    assert_all_equal(pieces, np.split(x, ends[:-1]))
    np.testing.assert_array_equal(jax.jit(lambda p: jaxops.concat(p, 0))(pieces), x)


@pytest.mark.parametrize("axis", [0, 1])
def test_batched(axis):
    """By a `vmap` along any axis; of a join, where some of the operands are shared."""
    x = np.stack([table(MANY), table(MANY) + 1], axis)
    pieces = jax.vmap(lambda x: jaxops.split(x, MANY), in_axes=axis)(x)
    batches = np.moveaxis(x, axis, 0)
    assert_all_equal(pieces, [batches[:, i : i + 1] for i in range(MANY)])

    def join(piece):
        return jaxops.concat([piece, *pieces[1]] * (MANY // 2), 0)

    first = jnp.moveaxis(pieces[0], 0, axis)
    expected = [join(piece) for piece in pieces[0]]
    np.testing.assert_array_equal(jax.vmap(join, in_axes=axis)(first), expected)


def test_derivatives():
    x = table(MANY)
    weights = np.arange(1.0, MANY + 1, dtype=np.float32)[:, None]

    def turned(x):
        return jaxops.concat(jaxops.split(x, MANY)[::-1], 0) * weights * x

    expected = x[::-1] * (weights + weights[::-1])
    for grad in (jax.grad, lambda f: jax.jit(jax.grad(f))):
        np.testing.assert_array_equal(grad(lambda x: turned(x).sum())(x), expected)
    _, tangent = jax.jvp(turned, (x,), (np.ones_like(x),))
    np.testing.assert_array_equal(tangent, (x + x[::-1]) * weights)


def test_some_pieces_without_cotangent():
    x = table(MANY)
    grads = jax.grad(lambda x: jaxops.unstack(x)[5].sum())(x)
    np.testing.assert_array_equal(grads, np.arange(MANY)[:, None] == 5 * np.ones((1, 3)))


def test_some_operands_are_constants():
    x, rest = jnp.ones((1, 3), jnp.float32), table(MANY)

    def total(x):
        return (jaxops.concat([x, *jaxops.split(rest, MANY)], 0) ** 2).sum()

    np.testing.assert_array_equal(jax.grad(total)(x), 2 * x)


def test_strings():
    words = np.array(["a", "b"] * MANY)
    assert_all_equal(jaxops.unstack(words), [*words])
