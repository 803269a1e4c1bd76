"""Rows of narrow floats are added in float32 and rounded once, whatever the size of the table."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fast import fast_jit, optimized_jit

from jaxops._indexing import narrow_sums

RNG = np.random.default_rng(0)
# Fewer elements than are added, and more: they are added in two ways.
SHAPES = {"small": (3, 4, 2), "large": (40, 30, 2)}
DTYPES = ["bfloat16", "float16", "float8_e4m3fn"]


def drawn(shape, depth, dtype):
    """A table, updates and numbers of rows, of which some repeat and some are beyond the last."""
    rows = int(np.prod(shape[:depth]))
    numbers = np.concatenate([RNG.integers(0, rows + 1, 20), [1] * 20])
    table = jnp.asarray(RNG.integers(-64, 64, shape) / 16, dtype)
    updates = jnp.asarray(RNG.integers(-8, 8, (40, *shape[depth:])) / 16, dtype)
    return table, updates, jnp.asarray(numbers, jnp.int32)


def added(table, updates, numbers, depth):
    rows = np.asarray(table, np.float32).reshape(-1, *table.shape[depth:])
    total = np.concatenate([rows, np.zeros_like(rows[:1])])
    np.add.at(total, numbers, np.asarray(updates, np.float32))
    return jnp.asarray(total[:-1].reshape(table.shape)).astype(table.dtype)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_are_rounded_once(dtype, depth, shape):
    table, updates, numbers = drawn(shape, depth, dtype)
    result = fast_jit(narrow_sums.add_rows, static_argnums=3)(table, updates, numbers, depth)
    np.testing.assert_array_equal(result, added(table, updates, numbers, depth), strict=True)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_derivatives_and_batches(shape):
    """It is linear in table and updates; its transpose reads rows of the cotangent."""
    table, updates, numbers = drawn(shape, 1, "bfloat16")

    def add(table, updates):
        return narrow_sums.add_rows(table, updates, numbers, 1)

    @fast_jit
    def results(table, updates):
        out, out_dot = jax.jvp(add, (table, updates), (-2 * table, 2 * updates))
        table_bar, updates_bar = jax.vjp(add, table, updates)[1](table)
        batch = jax.vmap(add)(jnp.stack([table, -table]), jnp.stack([updates, updates]))
        return out, out_dot, table_bar, updates_bar, batch

    out, out_dot, table_bar, updates_bar, batch = results(table, updates)
    np.testing.assert_array_equal(out, added(table, updates, numbers, 1))
    dots = -2 * table, 2 * updates
    np.testing.assert_array_equal(out_dot, added(*dots, numbers, 1))
    np.testing.assert_array_equal(table_bar, table)
    rows = np.concatenate([table, np.zeros_like(table[:1])])[numbers]
    np.testing.assert_array_equal(updates_bar, rows)
    for one, sign in zip(batch, (1, -1), strict=True):
        np.testing.assert_array_equal(one, added(sign * table, updates, numbers, 1))


def test_a_donated_table_is_updated_in_place():
    """By a program whose temporaries do not grow with the table."""

    def temporaries(rows):
        table, updates = (jax.ShapeDtypeStruct((n, 64), jnp.float16) for n in (rows, 100))
        numbers = jax.ShapeDtypeStruct((100,), jnp.int32)
        add = optimized_jit(narrow_sums.add_rows, static_argnums=3, donate_argnums=0)
        analysis = add.lower(table, updates, numbers, 1).compile().memory_analysis()
        assert analysis is not None
        return analysis.temp_size_in_bytes

    assert temporaries(1_000_000) - temporaries(10_000) < 1_000
