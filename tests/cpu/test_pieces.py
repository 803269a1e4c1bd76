"""Splits into many pieces and joins of many: the same values as of few, and short programs."""

import math

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from fast import optimized_jit

import jaxops
from jaxops._cpu import pieces as cpu_pieces
from jaxops._indexing import pieces as pieces_module
from jaxops._run import dispatch

DTYPES = ["bool", "int8", "uint64", "float16", "bfloat16", "float8_e4m3fn", "complex64", "int4"]
MANY, FEW = cpu_pieces.MANY, cpu_pieces._MANY_RESULTS


def table(rows, dtype="float32", columns=3):
    dtype = jax.dtypes.canonicalize_dtype(getattr(ml_dtypes, dtype, dtype))
    return (np.arange(rows * columns) % 7).reshape(rows, columns).astype(dtype)


def assert_all_equal(actual, expected):
    assert len(actual) == len(expected)
    for x, y in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(x, y, strict=True)


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


@pytest.mark.parametrize(
    "function",
    [lambda x: jaxops.split(x, MANY), jaxops.unstack],
    ids=["split", "unstack"],
)
def test_programs_are_short(function):
    """XLA compiles no code for a piece: a reshape has none."""
    x = jnp.ones((MANY, 2))
    compiled = str(optimized_jit(function).lower(x).compile().as_text())
    assert "callback" in compiled
    assert "fusion" not in compiled
    assert " copy(" not in compiled
    exported = jax.export.export(jax.jit(function), platforms=["cuda"])(x)
    assert "callback" not in exported.mlir_module()


def test_joins_of_what_a_program_computes_are_fused():
    """Python would keep XLA from it, and each slice would be compiled for itself."""
    x = jnp.ones((MANY, 2))
    program = optimized_jit(lambda x: jaxops.concat([x[n : n + 1] for n in range(MANY)], 0))
    assert "callback" not in str(program.lower(x).compile().as_text())


@pytest.fixture
def joins(monkeypatch):
    """The arguments of each join that Python makes during the test."""
    jax.clear_caches()  # programs of other tests call the function itself
    joins, copy = [], cpu_pieces._copy_joined
    monkeypatch.setattr(cpu_pieces, "_copy_joined", lambda *a: joins.append(a) or copy(*a))
    return joins


def test_an_eager_join_is_a_call_of_python(joins):
    pieces = [jnp.full((1, 5), n) for n in range(MANY)]
    np.testing.assert_array_equal(jaxops.concat(pieces, 0)[:, 3], np.arange(MANY))
    assert len(joins) == 1


def test_more_than_a_program_takes(monkeypatch, joins):
    """Eager calls make no program of so many results or operands; errors are the same."""
    number = pieces_module._TOO_MANY + 1
    monkeypatch.setattr(dispatch, "_run_compiled", None)
    sliced, cut = [], cpu_pieces._slice
    monkeypatch.setattr(cpu_pieces, "_slice", lambda *args: sliced.append(args) or cut(*args))
    x = jnp.asarray(table(number))
    pieces = jaxops.split(x, number)
    rows = jaxops.unstack(x, name="rows")
    assert len(sliced) == 2 * number
    joined, stacked = jaxops.concat(pieces, 0), jaxops.stack(rows)
    assert_all_equal(pieces, [x[i : i + 1] for i in range(number)])
    assert_all_equal(rows, [*x])
    np.testing.assert_array_equal(joined, x)
    np.testing.assert_array_equal(stacked, x)
    assert len(joins) == 2 * (math.ceil(number / MANY) + 1)
    grads = jax.grad(lambda x: sum(p.sum() * n for n, p in enumerate(jaxops.unstack(x))))(x)
    np.testing.assert_array_equal(grads, np.arange(number)[:, None] * np.ones(3))
    with pytest.raises(ValueError, match=r"split: num_or_size_splits must divide"):
        jaxops.split(x, number + 1)
    with pytest.raises(ValueError, match=rf"concat: values\[{number}\] must have the shape"):
        jaxops.concat([*pieces, x.T], 0)


def test_strings():
    words = np.array(["a", "b"] * MANY)
    assert_all_equal(jaxops.unstack(words), [*words])
