"""Modules of flax.nnx, flax.linen and equinox as parameters: see docs/frameworks.md."""

from typing import Any

import fast
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from sparse_checks import is_sparse, to_dense

import jaxops

pytestmark = pytest.mark.usefixtures("standard_promotion", "x32")

ROWS, WIDTH = 5000, 8
WORDS = np.array([[7, 3, 7], [7, 9, ROWS - 1]])
TARGETS = np.array([1.0, -1.0], np.float32)
INSTALL = "pip install '.[frameworks]'"


def of_nnx(split):
    nnx = pytest.importorskip("flax.nnx", reason=INSTALL)

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.embed = nnx.Embed(ROWS, WIDTH, rngs=rngs)
            self.dense = nnx.Linear(WIDTH, 1, rngs=rngs)
            self.dropout = nnx.Dropout(0.5, rngs=rngs if split else None, deterministic=not split)

        def __call__(self, words):
            return self.dense(self.dropout(self.embed(words)).mean(1))[:, 0]

    model = Model(nnx.Rngs(0))
    if not split:
        return model, lambda model: model(WORDS), "embed/embedding/value"
    graph, params, rest = nnx.split(model, nnx.Param, ...)

    def run(params):
        return nnx.merge(graph, params, rest, copy=True)(WORDS)

    return params, run, "embed/embedding/value"


def of_linen(partitioned):
    nn = pytest.importorskip("flax.linen", reason=INSTALL)
    start = nn.initializers.normal()
    start = nn.with_partitioning(start, ("d", None)) if partitioned else start

    class Model(nn.Module):
        @nn.compact
        def __call__(self, words):
            return nn.Dense(1)(nn.Embed(ROWS, WIDTH, embedding_init=start)(words).mean(1))[:, 0]

    model = Model()
    path = "params/Embed_0/embedding" + "/value" * partitioned
    return model.init(jax.random.key(0), WORDS), lambda p: model.apply(p, WORDS), path


def of_equinox(partition):
    eqx = pytest.importorskip("equinox", reason=INSTALL)

    class Model(eqx.Module):
        embed: Any
        dense: Any

        def __call__(self, words):
            return self.dense(jax.vmap(self.embed)(words).mean(0))[0]

    keys = jax.random.split(jax.random.key(0))
    dense = eqx.nn.MLP(WIDTH, 1, 4, 1, key=keys[0]) if partition else None
    dense = dense or eqx.nn.Linear(WIDTH, 1, key=keys[0])
    model = Model(eqx.nn.Embedding(ROWS, WIDTH, key=keys[1]), dense)
    params, rest = eqx.partition(model, eqx.is_inexact_array)
    combine = (lambda params: eqx.combine(params, rest)) if partition else lambda model: model
    return params if partition else model, lambda p: jax.vmap(combine(p))(WORDS), "embed/weight"


def of_dicts():
    rows = np.random.default_rng(0).normal(size=(ROWS, WIDTH)).astype(np.float32)
    params = {
        "text/~/embed": {"embeddings": jnp.array(rows)},
        "text/linear": {"w": jnp.ones(WIDTH), "b": jnp.ones(())},
    }

    def model(params):
        linear = params["text/linear"]
        return params["text/~/embed"]["embeddings"][WORDS].mean(1) @ linear["w"] + linear["b"]

    return params, model, "text/~/embed/embeddings"


MODELS = {
    "nnx-module": lambda: of_nnx(split=False),
    "nnx-split": lambda: of_nnx(split=True),
    "linen": lambda: of_linen(partitioned=False),
    "linen-partitioned": lambda: of_linen(partitioned=True),
    "equinox-module": lambda: of_equinox(partition=False),
    "equinox-partition": lambda: of_equinox(partition=True),
    "dicts": of_dicts,
}


@pytest.fixture(params=MODELS)
def case(request):
    params, model, path = MODELS[request.param]()
    return params, lambda params: jnp.mean((model(params) - TARGETS) ** 2), path


def test_gradient_and_step_are_the_dense_ones(case):
    params, loss, path = case
    value, grads = fast.fast_jit(jaxops.sparse_value_and_grad(loss, tables=path))(params)
    expected_value, expected = fast.fast_jit(jax.value_and_grad(loss))(params)
    np.testing.assert_allclose(value, expected_value, rtol=1e-6)
    leaves, structure = jax.tree.flatten(grads, is_leaf=is_sparse)
    assert structure == jax.tree.structure(params)
    (slices,) = filter(is_sparse, leaves)
    assert slices.values.shape == (WORDS.size, WIDTH)
    for ours, theirs in zip(map(to_dense, leaves), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
        assert np.any(theirs)

    optimizer = optax.adagrad(0.1)
    lazy = jaxops.lazy(optimizer)

    @fast.fast_jit
    def steps(grads, expected, params):
        updates, _ = optimizer.update(expected, optimizer.init(params), params)
        new, _ = lazy.apply(grads, lazy.init(params), params)
        return new, optax.apply_updates(params, updates)

    for ours, theirs in zip(*map(jax.tree.leaves, steps(grads, expected, params)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_donated_step_makes_no_table(case):
    params, loss, path = case
    lazy = jaxops.lazy(optax.adagrad(0.1))

    def step(params, state):
        value, grads = jaxops.sparse_value_and_grad(loss, tables=path)(params)
        return value, *lazy.apply(grads, state, params)

    compiled = fast.optimized_jit(step, donate_argnums=(0, 1)).lower(params, lazy.init(params))
    memory = compiled.compile().memory_analysis()
    assert memory is not None
    table = 4 * ROWS * WIDTH
    assert memory.temp_size_in_bytes < table / 2
    assert memory.alias_size_in_bytes >= 2 * table
