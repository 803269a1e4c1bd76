"""sparse_value_and_grad against jax.grad."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from sparse_checks import EACH_WAY, assert_sparse, is_sparse, square, table, to_dense

import jaxops

INDICES = jnp.array([[3, 0, 3], [6, 3, 1]], jnp.int32)


# --- parameter trees ---


@functools.partial(jax.tree_util.register_dataclass, data_fields=["embed"], meta_fields=["name"])
@dataclasses.dataclass
class Layer:
    embed: Any
    name: str = "layer"


TREES = {  # parameters, how to come by the table in them, `tables`
    "argument": (table(7, 3), lambda p: p, ""),
    "dict": ({"embed": table(7, 3), "w": jnp.ones(2)}, lambda p: p["embed"], "embed"),
    "nested": ({"a": {"b": [jnp.ones(2), table(7, 3)]}}, lambda p: p["a"]["b"][1], "a/b/1"),
    "tuple": ((jnp.ones(2), table(7, 3)), lambda p: p[1], ["1"]),
    "dataclass": ({"l": Layer(table(7, 3))}, lambda p: p["l"].embed, "l/embed"),
    "predicate": ([table(7, 3), jnp.ones(2)], lambda p: p[0], lambda path, leaf: leaf.ndim == 2),
    "predicate-path": ([table(7, 3)], lambda p: p[0], lambda path, leaf: path == "0"),
    "numpy": ({"embed": np.asarray(table(7, 3))}, lambda p: jnp.asarray(p["embed"]), {"embed"}),
    "vector": ({"embed": table(7)}, lambda p: p["embed"], "embed"),
    "one-row": ({"embed": table(1, 3)}, lambda p: p["embed"], "embed"),
}


@pytest.mark.parametrize("run", EACH_WAY)
@pytest.mark.parametrize("name", TREES)
def test_trees(name, run):
    params, table_of, tables = TREES[name]

    def loss(params, indices):
        return square(jaxops.gather(table_of(params), indices, mode="clip"))

    grads = assert_sparse(loss, params, INDICES, tables=tables, run=run)
    (slices,) = filter(is_sparse, jax.tree.leaves(grads, is_leaf=is_sparse))
    rows = table_of(params).shape[0]
    np.testing.assert_array_equal(slices.indices, np.minimum(INDICES.ravel(), rows - 1))


OF_ONE_ROW = {  # how a loss takes the only row of a table
    "first": lambda t: t[0],
    "last": lambda t: t[-1],
    "slice": lambda t: t[:1],
    "scaled": lambda t: (2 * t)[0],
    "squeezed": lambda t: jnp.squeeze(t, 0),
    "whole": lambda t: t,
    "product": lambda t: t @ t.T,
    "branch": lambda t: lax.cond(t[0, 0] < 0, lambda: t[0], lambda: 0 * t[0]),
    "rounds": lambda t: lax.scan(lambda c, i: (c + t[0], t[i]), 0 * t[0], jnp.arange(2)),
    "checkpoint": jax.checkpoint(lambda t: t[0] * t[0]),
    "mapped": lambda t: jax.vmap(lambda c: c * t[0])(jnp.arange(2, dtype=t.dtype)),
}


@pytest.mark.parametrize("name", OF_ONE_ROW)
def test_a_table_of_one_row(name):
    """A use of all rows takes no more than a lookup."""

    def loss(t):
        return sum(map(square, jax.tree.leaves(OF_ONE_ROW[name](t))))

    slices = assert_sparse(loss, table(1, 3), tables="", tolerance=1e-6)
    assert isinstance(slices, jaxops.IndexedSlices)


SEVERAL = {  # argnums, tables, which of the three gradients are sparse
    "first": (0, "embed", [True]),
    "last": (-1, "", [True]),
    "pair": ((0, 2), ["0/embed", "1"], [True, True]),
    "reversed": ((2, 0), "0", [True, False]),
    "list": ([0], "0/embed", [True]),
    "none-sparse": ((0, 2), [], [False, False]),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_argnums(name):
    argnums, tables, sparse = SEVERAL[name]
    args = {"embed": table(7, 3)}, INDICES, table(9)

    def loss(params, indices, vector, *, scale):
        return scale * square(params["embed"][indices]) + square(vector[indices])

    expected = jax.value_and_grad(loss, argnums)(*args, scale=2)
    transformed = jaxops.sparse_value_and_grad(loss, tables=tables, argnums=argnums)
    for call in (transformed, jax.jit(transformed)):
        result = call(*args, scale=2)
        dense = jax.tree.map(to_dense, result, is_leaf=is_sparse)
        jax.tree.map(np.testing.assert_array_equal, dense, expected)
        leaves = jax.tree.leaves(result[1], is_leaf=is_sparse)
        assert list(map(is_sparse, leaves)) == sparse


NO_ROWS = {  # uses that have no gradient
    "constant": lambda t, i: jnp.float32(1),
    "number": lambda t, i: 1.0,
    "shape": lambda t, i: jnp.float32(t.shape[0]),
    "stop_gradient": lambda t, i: square(lax.stop_gradient(t)[i]),
    "stop_gradient-rows": lambda t, i: square(lax.stop_gradient(t[i])),
    "stop_gradient-dense": lambda t, i: jnp.sum(lax.stop_gradient(t @ t.T)),
    "argmax": lambda t, i: jnp.argmax(t).astype(jnp.float32),
    "comparison": lambda t, i: jnp.sum(jnp.where(t > 0, 1.0, 2.0)),
    "no-indices": lambda t, i: square(t[i[:0]]),
    "no-steps": lambda t, i: lax.scan(lambda c, j: (c + square(t[j]), None), 0.0, i[:0])[0],
}


@pytest.mark.parametrize("name", NO_ROWS)
def test_uses_without_a_gradient(name):
    use = NO_ROWS[name]
    grads = assert_sparse(lambda p, i: use(p["embed"], i), {"embed": table(7, 3)}, INDICES)
    assert grads["embed"].values.shape == (0, 3)
    assert grads["embed"].indices.shape == (0,)


def test_no_parameters():
    transformed = jaxops.sparse_value_and_grad(lambda p: 2.0, tables=[])
    assert transformed({}) == (2, {})


def test_python_numbers_are_weakly_typed():
    params = {"embed": table(7, 3).astype(jnp.bfloat16), "scale": 0.5}
    assert_sparse(lambda p, i: square(p["scale"] * p["embed"][i]), params, INDICES)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
@pytest.mark.usefixtures("x32")
def test_dtypes(dtype):
    with jax.enable_x64(dtype == "float64"):
        params = {"embed": table(7, 3).astype(dtype)}
        grads = assert_sparse(lambda p, i: square(p["embed"][i]), params, INDICES)
        assert grads["embed"].dtype == dtype
