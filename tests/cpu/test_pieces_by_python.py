"""Python copies pieces where they are many: programs stay short, eager calls take any number."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import assert_all_equal
from fast import optimized_jit

import jaxops
from jaxops._cpu import pieces_by_python
from jaxops._indexing import pieces as pieces_module
from jaxops._run import dispatch

MANY = pieces_by_python.MANY


@pytest.mark.parametrize(
    ("function", "dtype"),
    [(lambda x: jaxops.split(x, MANY), "float32"), (jaxops.unstack, "int8")],
    ids=["split", "unstack"],
)
def test_programs_are_short(function, dtype):
    """XLA compiles no code for a piece: a reshape has none."""
    x = jnp.ones((MANY, 2), dtype)
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
    joins, copy = [], pieces_by_python._copy_joined
    monkeypatch.setattr(pieces_by_python, "_copy_joined", lambda *a: joins.append(a) or copy(*a))
    return joins


def test_an_eager_join_is_a_call_of_python(joins):
    pieces = [jnp.full((1, 5), n) for n in range(MANY)]
    np.testing.assert_array_equal(jaxops.concat(pieces, 0)[:, 3], np.arange(MANY))
    assert len(joins) == 1


@pytest.mark.slow
def test_more_than_a_program_takes(monkeypatch, joins):
    """Eager calls make no program of so many results or operands; errors are the same."""
    number = pieces_module._TOO_MANY + 1
    monkeypatch.setattr(dispatch, "_run_compiled", None)
    split, counts = pieces_by_python._compiled_split, []

    def counted(operand, sizes, **static):
        counts.append(len(sizes))
        return split(operand, sizes=sizes, **static)

    monkeypatch.setattr(pieces_by_python, "_compiled_split", counted)
    x = jnp.arange(3.0 * number).reshape(number, 3)
    pieces = jaxops.split(x, number)
    rows = jaxops.unstack(x, name="rows")
    assert max(counts) == MANY
    assert len(counts) == 2 * (math.ceil(number / MANY) + 1)
    sizes = [n % 3 for n in range(number)]
    cut = np.cumsum(sizes)[:-1]
    columns = jnp.arange(2.0 * sum(sizes)).reshape(2, -1)
    assert_all_equal(jaxops.split(columns, sizes, 1), np.split(np.asarray(columns), cut, 1))
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
