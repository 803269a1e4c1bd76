"""Sparse gradients for tests, and sparse_value_and_grad beside jax.value_and_grad."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from fast import fast_jit

import jaxops


def table(rows=7, *rest):
    size = rows * int(np.prod(rest, dtype=int))
    return jnp.arange(size, dtype=jnp.float32).reshape(rows, *rest) % 5 - 2


def is_sparse(x):
    return isinstance(x, (jaxops.IndexedSlices, jaxops.TiedGradient))


def to_dense(gradient):
    return gradient.to_dense() if is_sparse(gradient) else gradient


def assert_sparse(fun, params, *args, tables="embed", **options):
    """Values and gradients are those of jax.value_and_grad, exactly."""
    expected_value, expected = fast_jit(jax.value_and_grad(fun))(params, *args)
    transformed = jaxops.sparse_value_and_grad(fun, tables=tables, **options)
    for call in (transformed, fast_jit(transformed)):
        value, grads = call(params, *args)
        np.testing.assert_array_equal(value, expected_value)
        dense = jax.tree.map(to_dense, grads, is_leaf=is_sparse)
        jax.tree.map(np.testing.assert_array_equal, dense, expected)
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
