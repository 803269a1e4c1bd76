"""Sparse gradients for tests, and sparse_value_and_grad beside jax.value_and_grad."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from checks import SLOW
from fast import fast_jit

import jaxops


def table(rows=7, *rest):
    size = rows * int(np.prod(rest, dtype=int))
    return jnp.asarray(np.arange(size, dtype=np.float32).reshape(rows, *rest) % 5 - 2)


def is_sparse(x):
    return isinstance(x, (jaxops.IndexedSlices, jaxops.TiedGradient))


def to_dense(gradient):
    return gradient.to_dense() if is_sparse(gradient) else gradient


def eagerly(function):
    """Each operation is compiled by itself, which takes several times as long."""
    return function


EACH_WAY = [fast_jit, pytest.param(eagerly, marks=SLOW)]


def assert_sparse(
    fun, params, *args, tables: Any = "embed", run=fast_jit, tolerance=0.0, **options
):
    """Values and gradients are those of jax.value_and_grad, exactly without a tolerance."""

    @run
    def both(params, *args):
        received = jaxops.sparse_value_and_grad(fun, tables=tables, **options)(params, *args)
        dense = jax.tree.map(to_dense, received, is_leaf=is_sparse)
        return received[1], dense, jax.value_and_grad(fun)(params, *args)

    def compare(x, y):
        if tolerance:  # NumPy has no tolerance for bfloat16
            x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(x, y)

    grads, received, expected = both(params, *args)
    jax.tree.map(compare, received, expected)
    return grads


def square(rows):
    return jnp.sum(rows * (rows - 1))


def slices(indices=(2, 0, 2, 5), dense_shape=(4, 2), depth=1, dtype: Any = np.float32):
    shape = (len(indices), *dense_shape[depth:])
    values = np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(dtype)
    return jaxops.IndexedSlices(values, jnp.array(indices, jnp.int32), dense_shape)


def dense_oracle(slices):
    depth = len(slices.dense_shape) - slices.values.ndim + 1
    rows = np.zeros((int(np.prod(slices.dense_shape[:depth])), *slices.values.shape[1:]))
    rows = rows.astype(slices.dtype)
    for value, index in zip(np.asarray(slices.values), np.asarray(slices.indices), strict=True):
        if 0 <= index < len(rows):
            rows[index] += value
    return rows.reshape(slices.dense_shape)


SLICES = {
    "duplicates-and-ignored": slices(),
    "negative-is-ignored": slices((-1, 3, -4, 3)),
    "rank-1": slices((1, 1, 0), (3,)),
    "rank-3": slices((1, 1, 0), (3, 2, 2)),
    "depth-2": slices((5, 0, 5, 7, 8), (4, 2), depth=2),
    "depth-2-of-3": slices((5, 0, 5, 8), (4, 2, 3), depth=2),
    "no-rows": slices((), (4, 2)),
    "empty-table": slices((0, 1), (0, 2)),
    "empty-rows": slices((0, 1), (4, 0)),
    "bfloat16": slices(dtype=jnp.bfloat16),
    "int32": slices(dtype=np.int32),
    "int8-indices": jaxops.IndexedSlices(
        np.ones((3, 1)), np.array([1, -128, 127], np.int8), (200, 1)
    ),
    "uint8-indices": jaxops.IndexedSlices(
        np.ones((2, 1)), np.array([200, 255], np.uint8), (256, 1)
    ),
    "uint32-indices": jaxops.IndexedSlices(
        np.ones((2, 1)), np.array([2, 2**32 - 1], np.uint32), (3, 1)
    ),
}


def over_two_devices(function):
    """`function` of the gradient on each of two devices, which `vmap` imitates, as dense."""

    def call(s):
        both = jax.tree.map(lambda x: jnp.stack([x, x]), s)
        return jax.vmap(lambda s: to_dense(function(s, "d")), axis_name="d", out_axes=None)(both)

    return call


def tied(s):
    return jaxops.TiedGradient(jnp.zeros(s.dense_shape, s.dtype), s)


def moved_by_sgd(s):
    """By how much a step of SGD moves a table of zeros."""
    optimizer, table = jaxops.lazy(optax.sgd(1.0)), jnp.zeros(s.dense_shape, s.dtype)
    return -optimizer.apply(s, optimizer.init(table), table)[0]


# Functions of slices that add their values or hand them on, and how many times the dense array
# their result stands for.
OF_SLICES = {
    "to_dense": (jaxops.IndexedSlices.to_dense, 1),
    "add_to": (lambda s: s.add_to(jnp.zeros(s.dense_shape, s.dtype)), 1),
    "sum_duplicates": (lambda s: s.sum_duplicates(s.indices.shape[0], mode="fill"), 1),
    "sum": (lambda s: s + s, 2),
    "sum of Python": (lambda s: sum([s, s, s]), 3),
    "difference": (lambda s: 3 * s - s, 2),
    "negative": (lambda s: 2 * s + -s, 1),
    "tied": (tied, 1),
    "sum of Python, of tied": (lambda s: sum([tied(s), tied(s), tied(s)]), 3),
    "difference of tied": (lambda s: tied(s) + tied(s) - tied(s), 1),
    "negative of tied": (lambda s: tied(s) + tied(s) + -tied(s), 1),
    "sum_stacked": (lambda s: jaxops.sum_stacked(jax.tree.map(lambda x: jnp.stack([x, x]), s)), 2),
    "psum": (over_two_devices(jaxops.psum), 2),
}
# Those for floats and complex numbers alone.
OF_INEXACT_SLICES = {
    "quotient": (lambda s: s / 2, 0.5),
    "pmean": (over_two_devices(jaxops.pmean), 1),
    "clip_by_global_norm": (lambda s: jaxops.clip_by_global_norm(s, 1e9)[0], 1),
    "lazy": (moved_by_sgd, 1),
}
