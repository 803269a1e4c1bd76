"""sparse_value_and_grad against jax.grad."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

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
    expected_value, expected = jax.value_and_grad(fun)(params, *args)
    transformed = jaxops.sparse_value_and_grad(fun, tables=tables, **options)
    for call in (transformed, jax.jit(transformed)):
        value, grads = call(params, *args)
        np.testing.assert_array_equal(value, expected_value)
        dense = jax.tree.map(to_dense, grads, is_leaf=is_sparse)
        jax.tree.map(np.testing.assert_array_equal, dense, expected)
    return grads


LOOKUPS = {
    "gather": lambda t, i: jaxops.gather(t, i),
    "gather-deterministic": lambda t, i: jaxops.gather(t, i, deterministic=True),
    "gather_nd": lambda t, i: jaxops.gather_nd(t, i[..., None]),
    "gather_nd-elements": lambda t, i: jaxops.gather_nd(t, jnp.stack([i, i % 3], -1)),
    "take": lambda t, i: jnp.take(t, i, axis=0),
    "indexing": lambda t, i: t[i],
    "indexing-elements": lambda t, i: t[i, i % 3],
    "dynamic-row": lambda t, i: t[i[0, 0]],
    "static-row": lambda t, i: t[2],
    "static-rows": lambda t, i: t[1:6:2],
    "part-of-rows": lambda t, i: t[1:3, 1:],
    "slice": lambda t, i: jaxops.slice(t, [i[0, 0], 0], [2, 3]),
}
INDICES = jnp.array([[3, 0, 3], [6, 3, 1]])


@pytest.mark.parametrize("lookup", LOOKUPS)
def test_lookups(lookup):
    read = LOOKUPS[lookup]
    weight = jnp.float32(2)
    params = {"embed": table(7, 3), "w": weight}

    def loss(params, indices):
        rows = read(params["embed"], indices)
        return jnp.sum(params["w"] * rows * (rows - 1))

    grads = assert_sparse(loss, params, INDICES)
    assert isinstance(grads["embed"], jaxops.IndexedSlices)
    assert grads["embed"].values.size < 7 * 3 * 2


def test_tied_table_is_refused_by_name_and_operation():
    def loss(params, indices):
        return jnp.sum(params["embed"][indices] @ params["embed"].T)

    params = {"embed": table(7, 3)}
    with pytest.raises(
        ValueError, match=r"'embed'.*transpose at .*test_sparse_grad.py:\d+ \(.*loss"
    ):
        jaxops.sparse_value_and_grad(loss, tables="embed")(params, INDICES)
    grads = assert_sparse(loss, params, INDICES, tied=True)
    assert isinstance(grads["embed"], jaxops.TiedGradient)
