"""lazy and every transformation of optax: as the dense optimizer, or refused."""

import contextlib
import logging
import re
import warnings
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import lazy_optax_table as table
import numpy as np
import optax
import pytest
from sparse_checks import eagerly

import jaxops
from jaxops import IndexedSlices

ROWS = 7
# Some rows repeated, some absent, one index that counts for nothing.
STEPS = [[0, 0, 2, 5, 9], [2, 4, 2, 1, -1], [3, 1, 1, 0, 7]]
REASONS = {name: words for words, names in table.REFUSED.items() for name in names}


@pytest.fixture(autouse=True)
def as_optax_wants_it(caplog):
    caplog.set_level(logging.CRITICAL)
    with (
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


def test_every_public_name_is_in_the_table():
    listed = [*table.WORKS, *REASONS]
    assert len(set(listed)) == len(listed)
    names = table.public_names()
    assert {"adam", "MultiSteps", "dog", "monitor", "inject_hyperparams"} <= set(names)
    assert not {"apply_updates", "EmaState", "global_norm", "MaskOrFn"} & set(names)
    assert set(names) <= set(listed)


def test_the_guide_has_the_table():
    text = (Path(__file__).parents[2] / "docs/sparse_gradients.md").read_text()
    rows = re.findall(r"^\| (`.*`) \| (.*) \|$", text.split("### Every name of optax")[1], re.M)
    names = [(re.findall(r"`(\w+)`", names), outcome) for names, outcome in rows]
    works = [name for some, outcome in names if outcome.startswith("works") for name in some]
    refused = [name for some, outcome in names if outcome.startswith("refused") for name in some]
    assert sorted(works) == sorted(table.WORKS)
    assert sorted(refused) == sorted(REASONS)


def array(seed, shape):
    return jnp.asarray(np.random.default_rng(seed).integers(-8, 9, shape) / 4, jnp.float32)


def gradients(params, tables, step) -> dict[str, Any]:
    return {
        name: IndexedSlices(array(step, (5, *p.shape[1:])), jnp.array(STEPS[step]), p.shape)
        if name in tables
        else array(step, p.shape)
        for name, p in params.items()
    }


def put_back(new, old, seen):
    """What has rows of tables gets those back that have no gradient."""

    def restore(new, old):
        has_rows = np.ndim(new) > 0 and np.shape(new)[0] == ROWS
        return np.where(seen.reshape(-1, *[1] * (np.ndim(new) - 1)), new, old) if has_rows else new

    return jax.tree.map(restore, new, old)


def check(optimizer, params, tables, extra=None, num_steps=3, run=jax.jit):
    """Each step from where the lazy one before has come to; eager ones round in the same way."""
    lazy, extra = jaxops.lazy(optimizer), extra or {}
    state = lazy.init(params)
    rtol, atol = (1e-4, 1e-5) if run is jax.jit else (0, 0)

    @run  # the two together: each primitive of its own takes longer to compile
    def take_step(grads, dense, state, params):
        updates, new_state = optimizer.update(dense, state, params, **extra)
        expected = optax.apply_updates(params, updates), new_state
        return lazy.apply(grads, state, params, **extra), expected

    for step, indices in enumerate(STEPS[:num_steps]):
        grads = gradients(params, tables, step)
        dense = {n: g.to_dense() if n in tables else g for n, g in grads.items()}
        seen = np.isin(np.arange(ROWS), indices)
        received, wanted = take_step(grads, dense, state, params)
        wanted = put_back(wanted, (params, state), seen)
        kept = put_back(received, (params, state), seen)
        jax.tree.map(np.testing.assert_array_equal, received, kept)
        params, state = received
        for a, b in zip(jax.tree.leaves(received), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(a, b, rtol, atol)


def matrix():
    return {"embed": array(0, (ROWS, 3)), "other": jnp.ones(2, jnp.float32)}


@pytest.mark.slow
@pytest.mark.parametrize("name", table.WORKS)
def test_as_the_dense_optimizer(name):
    check(table.build(name), matrix(), {"embed"}, table.EXTRA.get(name))


@pytest.mark.parametrize(
    ("name", "run"),
    [
        *((name, jax.jit) for name in table.COMPOSED),
        *(pytest.param(name, eagerly, marks=pytest.mark.slow) for name in ("adam", "decayed")),
    ],
)
def test_composed(name, run):
    params = {"words": array(0, (ROWS, 3)), "tags": array(1, (ROWS, 3)), "bias": array(2, (ROWS,))}
    check(table.COMPOSED[name](), params, {*params}, run=run)


# `add_noise` draws numbers by operations that `evaluation` compiles one by one.
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow if n == "add_noise" else ()) for n in REASONS],
)
def test_refused_at_init(name):
    params = matrix()
    if name in table.PER_EXAMPLE:
        del params["other"]
    with pytest.raises(ValueError, match=r"^lazy: the optimizer.*" + REASONS[name]):
        jaxops.lazy(table.build(name)).init(params)


SOME = ["adam", "centralize", "chain", "novograd", "scale_by_factored_rms", "schedule_free"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SOME, *REASONS])
def test_tables_of_one_and_three_dimensions(name):
    """Where they are not refused too."""
    params = {"bias": array(0, (ROWS,)), "cube": array(1, (ROWS, 2, 2))}
    if name in table.WORKS:
        return check(table.build(name), params, {"bias", "cube"}, num_steps=1)
    with contextlib.suppress(ValueError):
        check(table.build(name), params, {"bias", "cube"}, num_steps=1)
