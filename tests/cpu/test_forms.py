"""_forms: without the forms every value stays, and no other room knows of those of `_cpu`."""

import ast
import contextlib
import functools
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

import jaxops
from jaxops import _forms
from jaxops._cuda import atomic_sums
from jaxops._indexing.first_occurrences import first_occurrences_in_rows

PACKAGE = Path(jaxops.__file__).parent


@contextlib.contextmanager
def no_forms():
    """Within: functions are computed by their references."""
    _forms.load()
    forms = dict(_forms._forms)
    _forms.switch_off()
    jax.clear_caches()
    try:
        yield
    finally:
        _forms._forms.update(forms)
        jax.clear_caches()


RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(40, 64)).astype(np.float32)
NARROW = jnp.asarray(RNG.normal(size=(2000, 64)), jnp.bfloat16)
KEYS = RNG.integers(0, 5, 3000).astype(np.int32)
PARTS = RNG.normal(size=(3000, 32)).astype(np.float32)
ROWS = jnp.array([3, 7, 3, 39])
STEPS = jaxops.IndexedSlices(TABLE[:4], ROWS, TABLE.shape)


class Sgd:
    """With momentum: reads and writes rows of the state."""

    def init(self, params):
        return jax.tree.map(jnp.zeros_like, params)

    def update(self, updates, state, params=None):
        state = jax.tree.map(lambda m, g: 0.9 * m + g, state, updates)
        return jax.tree.map(lambda m: -0.1 * m, state), state


def lazy_step(table):
    optimizer = jaxops.lazy(Sgd())
    return optimizer.apply({"t": STEPS}, optimizer.init({"t": table}), {"t": table})


# A call that takes a form, and the primitive of the form.
CALLS = {
    "gather": (lambda x: jaxops.gather(x, ROWS), TABLE, "gather_rows"),
    "gather-columns": (
        jax.grad(lambda x: (jaxops.gather(x, KEYS[:300] * 7, axis=1) ** 2).sum()),
        TABLE, "add_columns"),
    "add_columns": (lambda x: jaxops.gather(x, KEYS[:300] * 7, axis=1), TABLE, "gather_columns"),
    "scatter": (
        lambda x: jaxops.tensor_scatter_nd_add(x, ROWS[:, None], x[:4]), NARROW, "narrow_scatter"),
    "subtract": (
        lambda x: jaxops.tensor_scatter_nd_sub(x, ROWS[:, None], x[:4]), TABLE, "atomic_sums"),
    "true_ranks": (
        lambda x: jaxops.boolean_mask(x, KEYS == 2, size=3000), PARTS, "true_ranks"),
    "stable_order": (
        lambda x: jaxops.dynamic_partition(x, KEYS, 5, size=3000), PARTS, "stable_order"),
    "take_parts": (lambda x: jaxops.dynamic_partition(x, KEYS, 5, size=3000), PARTS, "take_parts"),
    "first_occurrences": (
        lambda x: jaxops.IndexedSlices(x, KEYS, (9, 32)).sum_duplicates(9).values, PARTS,
        "first_occurrences"),
    "first_occurrences_in_rows": (
        lambda x: first_occurrences_in_rows(x.T), np.round(PARTS), "first_occurrences_in_rows"),
    "number_distinct": (
        lambda x: jaxops.unique_with_counts(x[:, 0], size=3000), np.round(PARTS),
        "number_distinct"),
    "number_distinct-rows": (
        lambda x: jaxops.unique_with_counts(x, size=3000, axis=0), np.round(PARTS[:, :2]),
        "number_distinct"),
    "put_rows": (
        lambda x: jaxops.dynamic_stitch([ROWS, ROWS], [x[:4], x[4:8]], size=50), TABLE, "put_rows"),
    "split": (lambda x: jaxops.split(x, 300), jnp.arange(600.0), "split_in_many"),
    "concatenate": (lambda x: jaxops.concat([x] * 300, 0), jnp.arange(2.0), "join_many"),
    "read_rows": (lazy_step, jnp.asarray(TABLE), "read_rows"),
}  # fmt: skip
if atomic_sums._ADDS_BY_COMPARE_AND_SWAP:
    CALLS["gather-elements"] = (
        lambda x: jaxops.gather(x[:, 0], ROWS), TABLE, "gather_for_atomic_sums")  # fmt: skip


def assert_same(dtype, result, expected):
    result, expected = (np.asarray(r).astype(np.float64) for r in (result, expected))
    tolerance = 2.0**-7 if dtype == jnp.bfloat16 else 1e-6
    np.testing.assert_allclose(result, expected, tolerance, tolerance)


@pytest.mark.parametrize("name", CALLS)
def test_values_stay(name):
    function, x, primitive = CALLS[name]
    assert re.search(rf" = {primitive}\b", str(jax.make_jaxpr(function)(x)))
    results = jax.jit(function)(x)
    with no_forms():
        assert not re.search(rf" = {primitive}\b", str(jax.make_jaxpr(function)(x)))
        expected = jax.jit(function)(x)
    jax.tree.map(functools.partial(assert_same, x.dtype), results, expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_in_shard_map(name):
    """Of an array that varies along an axis of the mesh."""
    function, x, _ = CALLS[name]
    mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))

    def on_device(x):
        return jax.tree.map(lambda y: jnp.asarray(y)[None], function(x[0]))

    mapped = jax.shard_map(on_device, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    results = jax.tree.map(lambda y: y[0], jax.jit(mapped)(x[None]))
    jax.tree.map(functools.partial(assert_same, x.dtype), results, jax.jit(function)(x))


def test_every_form_is_called():
    assert {primitive for *_, primitive in CALLS.values()} == {p.name for p in _forms._references}


def test_no_other_room_imports_the_forms():
    importers = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            if isinstance(node, ast.ImportFrom) and node.module == "jaxops":
                names += [f"jaxops.{alias.name}" for alias in node.names]
            if any(name.startswith(("jaxops._cpu", "jaxops._cuda")) for name in names):
                importers.add(path.relative_to(PACKAGE).parts[0])
    assert importers == {"_cpu", "_cuda"}
