"""_forms: without the forms every value stays, and no other room knows of those of `_cpu`.

The values also of batches, loops and derivatives, and in `shard_map`. So the modules of the forms
test what is special about each.
"""

import ast
import contextlib
import functools
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import SLOW
from devices.test_varying import in_shard_map
from fast import fast_jit
from jax import lax
from jax.sharding import PartitionSpec as P

import jaxops
from jaxops import _forms
from jaxops._cuda import atomic_sums
from jaxops._indexing.first_occurrences import first_occurrences_in_rows
from jaxops._indexing.positions import read_rows

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
# Whole numbers, whose sums are exact in any order.
TABLE = RNG.integers(-4, 5, (40, 64)).astype(np.float32)
NARROW = jnp.asarray(RNG.integers(-4, 5, (2000, 64)), jnp.bfloat16)
KEYS = RNG.integers(0, 5, 3000).astype(np.int32)
PARTS = RNG.normal(size=(3000, 32)).astype(np.float32)
COLUMNS = KEYS[:300] * 21 - 7  # some are out of bounds on either side
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


def scattered_rows(kind, x):
    return getattr(jaxops, f"tensor_scatter_nd_{kind}")(x, ROWS[:, None], x[:4])


# A call that takes a form, and the primitive of the form.
CALLS = {
    "gather": (lambda x: jaxops.gather(x, ROWS), TABLE, "gather_rows"),
    "gather-fill": (
        lambda x: jaxops.gather(x, ROWS + 30, mode="fill", fill_value=7.0), TABLE, "gather_rows"),
    "gather-columns": (
        jax.grad(lambda x: (jaxops.gather(x, COLUMNS, axis=1, mode="fill") ** 2).sum()),
        TABLE, "add_columns"),
    "add_columns": (lambda x: jaxops.gather(x, KEYS[:300] * 7, axis=1), TABLE, "gather_columns"),
    **{
        f"scatter-{kind}": (functools.partial(scattered_rows, kind), NARROW, "narrow_scatter")
        for kind in ("add", "sub", "min", "max", "update")
    },
    "scatter-updates": (
        lambda x: jaxops.tensor_scatter_nd_add(NARROW, ROWS[:, None], x[:4]), NARROW,
        "narrow_scatter"),
    "scatter-in-loop": (
        lambda x: lax.fori_loop(0, 2, lambda _, y: scattered_rows("add", y), x), NARROW,
        "narrow_scatter"),
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
    "bisect_in_rows": (
        lambda x: jaxops.searchsorted(np.arange(9, dtype=np.float32), x[:, 0]), PARTS,
        "bisect_in_rows"),
    "put_rows": (
        lambda x: jaxops.dynamic_stitch([ROWS, ROWS], [x[:4], x[4:8]], size=50), TABLE, "put_rows"),
    "split": (lambda x: jaxops.split(x, 300), jnp.arange(600.0), "split_in_many"),
    "concatenate": (lambda x: jaxops.concat([x] * 300, 0), jnp.arange(2.0), "join_many"),
    "read_rows": (lazy_step, jnp.asarray(TABLE), "read_rows"),
    "read_rows-beyond": (
        lambda x: read_rows(x, jnp.array([2, 40, 0, 2])), jnp.asarray(TABLE), "read_rows"),
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


# Of a function of an array, another one of the same array.
TRANSFORMATIONS = {
    "itself": lambda f: f,
    "vmap": lambda f: lambda x: jax.vmap(f)(jnp.stack([x, x[::-1]])),
    "vmap-last": lambda f: lambda x: jax.vmap(f, -1, -1)(jnp.stack([x, x[::-1]], -1)),
    "checkpoint": jax.checkpoint,
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (c, f(c)), x, None, 2)[1],
    "cond": lambda f: lambda x: lax.cond(x.sum() < jnp.inf, f, lambda x: f(0 * x), x),
}
# Of other forms the tests of their modules have batches.
OF_WINDOWS = [name for name in CALLS if name.startswith(("gather", "add", "scatter", "read_rows-"))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=SLOW if n.startswith("scatter") else ()) for n in OF_WINDOWS]
)
def test_values_and_derivatives_of_transformed_calls_stay(name):
    function, x, _ = CALLS[name]

    def derivatives(f, x):
        leaves, pull_back = jax.vjp(lambda x: jax.tree.leaves(f(x)), x)
        return leaves, jax.jvp(f, (x,), (x[::-1],))[1], pull_back(leaves)

    def results(x):
        return [derivatives(transform(function), x) for transform in TRANSFORMATIONS.values()]

    received = fast_jit(results)(x)
    with no_forms():
        expected = fast_jit(results)(x)
    jax.tree.map(functools.partial(assert_same, x.dtype), received, expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_in_shard_map(name):
    """Of an array that varies along an axis of the mesh."""
    function, x, _ = CALLS[name]
    results = in_shard_map(function, x)
    jax.tree.map(functools.partial(assert_same, x.dtype), results, jax.jit(function)(x))


# Of a table that all shards share, and of what they divide among them. `reverse_sequence` has a
# primitive of its own.
SHARED = {
    "reverse_sequence": (lambda x, n: jaxops.reverse_sequence(x, n, 1), TABLE, KEYS[:40]),
    "gather": (lambda x, i: jaxops.gather(x, i), TABLE, ROWS),
    "gather-columns": (lambda x, i: jaxops.gather(x, i, axis=1), TABLE, KEYS[:300] * 7),
    "scatter": (
        lambda x, u: jaxops.tensor_scatter_nd_add(x, ROWS[:, None], u), NARROW, NARROW[:4]),
}  # fmt: skip


@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("name", SHARED)
def test_gradient_of_a_table_that_shards_share(name, check_vma):
    """The gradient is summed over the shards: its type says that it varies along no axis."""
    function, *args = SHARED[name]
    mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))

    def gradient(x, of_shard):
        return jax.grad(lambda x: (function(x, of_shard) ** 2).sum())(x)

    over_shards = jax.shard_map(
        gradient, mesh=mesh, in_specs=(P(), P("x")), out_specs=P(), check_vma=check_vma
    )
    np.testing.assert_array_equal(jax.jit(over_shards)(*args), gradient(*args))


def test_every_form_is_called():
    _forms.load()
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
