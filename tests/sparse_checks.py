"""sparse_value_and_grad and jax.value_and_grad side by side, for the tests of the former."""

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
