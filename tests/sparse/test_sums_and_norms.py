"""psum, pmean, sum_stacked, global_norm and clip_by_global_norm: as of the dense gradient."""

import functools
import json
import operator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from checks import NIGHTLY, printed_by
from fast import fast_jit
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P
from sparse_checks import is_sparse, to_dense

import jaxops
from jaxops import IndexedSlices, TiedGradient

SHAPE = (6, 2)


def gradient(seed=0, dtype=np.float32):
    """Of one leaf of each kind, in small whole numbers; one row comes twice, one is ignored."""
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return jnp.asarray(rng.integers(-4, 5, shape), dtype)

    def slices(depth):
        rows = np.prod(SHAPE[:depth])
        indices = np.array([1, rows, 1, *rng.integers(0, rows, 2)], np.int32)
        return IndexedSlices(draw(5, *SHAPE[depth:]), indices, SHAPE)

    tied = TiedGradient(draw(*SHAPE), slices(1))
    return {"rows": slices(1), "parts": slices(2), "tied": tied, "dense": draw(3)}


def dense(grads):
    return jax.tree.map(to_dense, grads, is_leaf=is_sparse)


def assert_same(actual, expected):
    jax.tree.map(functools.partial(np.testing.assert_array_equal, strict=True), actual, expected)


def stacked(*trees):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


BATCHES = [gradient(seed) for seed in range(4)]
SUM = functools.reduce(functools.partial(jax.tree.map, operator.add), map(dense, BATCHES))


# --- sums ---


@pytest.mark.parametrize("name", ["psum", "pmean"])
def test_over_an_axis_of_vmap(name):
    function = getattr(jaxops, name)
    calls = [lambda g: dense(function(g, "i")), lambda g: dense(function(g, ["i"]))]
    expected = SUM if name == "psum" else jax.tree.map(lambda x: x / 4, SUM)
    for call in calls:
        mapped = jax.vmap(call, axis_name="i", out_axes=None)
        assert_same(mapped(stacked(*BATCHES)), expected)
        assert_same(jax.jit(mapped)(stacked(*BATCHES)), expected)


def test_over_two_axes_of_vmap():
    pairs = stacked(stacked(*BATCHES[:2]), stacked(*BATCHES[2:]))

    def call(grads):
        return dense(jaxops.psum(grads, ("i", "j")))

    mapped = jax.vmap(jax.vmap(call, axis_name="i", out_axes=None), axis_name="j", out_axes=None)
    assert_same(mapped(pairs), SUM)


@pytest.mark.parametrize("call", [jaxops.sum_stacked, jax.jit(jaxops.sum_stacked)])
def test_sum_stacked(call):
    total = call(stacked(*BATCHES))
    assert total["rows"].indices.shape == (20,)
    assert_same(dense(total), SUM)


def test_sum_stacked_twice():
    pairs = stacked(stacked(*BATCHES[:2]), stacked(*BATCHES[2:]))
    sums = jaxops.sum_stacked(pairs)
    first = jax.tree.map(lambda x: x[0], sums)
    assert_same(dense(first), jax.tree.map(operator.add, *map(dense, BATCHES[::2])))
    total = jaxops.sum_stacked(sums)
    assert_same(dense(total), SUM)


@pytest.mark.parametrize(
    ("dtype", "first"),
    [
        *((dtype, 1) for dtype in (np.float32, np.complex64, np.int8)),
        (jnp.bfloat16, 256),
        (np.float16, 2048),
        (jnp.float8_e5m2, 8),
        (jnp.float8_e4m3fn, 16),
    ],
)
def test_sum_stacked_of_long_rows(dtype, first):
    """Where each addition is rounded, 1 changes nothing of a `first` of 16 or 8 bits."""
    stacked = np.ones((258, 2, 2**14), dtype) * np.arange(2)[:, None].astype(dtype)
    stacked[0, 1] = first
    total = jaxops.sum_stacked(stacked)
    expected = np.array([0, first + 257]).astype(dtype)[:, None]
    np.testing.assert_array_equal(total, np.broadcast_to(expected, (2, 2**14)), strict=True)


def test_long_rows_are_added_in_turn_with_a_gradient():
    x = np.random.default_rng(0).normal(size=(3, 2**15)).astype(np.float32)
    assert "scan" in str(jax.make_jaxpr(jaxops.sum_stacked)(x))
    assert "scan" not in str(jax.make_jaxpr(jaxops.sum_stacked)(x[:, :99]))
    total, pull = jax.vjp(jaxops.sum_stacked, x)
    np.testing.assert_allclose(np.asarray(total), x[0] + x[1] + x[2], rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(pull(x[0])[0], np.stack([x[0]] * 3))


def test_long_rows_in_shard_map():
    """Where types tell along which axes of the mesh values vary."""
    mesh = jax.make_mesh((1,), ("devices",), axis_types=(AxisType.Auto,))
    x = np.random.default_rng(0).normal(size=(3, 1, 2**15)).astype(np.float32)
    over_devices = {"mesh": mesh, "in_specs": P(None, "devices"), "check_vma": True}
    total = jax.jit(jax.shard_map(jaxops.sum_stacked, out_specs=P("devices"), **over_devices))(x)
    np.testing.assert_allclose(np.asarray(total), x[0] + x[1] + x[2], rtol=1e-5, atol=1e-5)
    gradient = jax.grad(lambda x: jnp.sum(jaxops.sum_stacked(x) * x[0]))
    found = jax.jit(jax.shard_map(gradient, out_specs=P(None, "devices"), **over_devices))(x)
    expected = jax.grad(lambda x: jnp.sum(jnp.sum(x, 0) * x[0]))(x)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5, atol=1e-5)


def test_sum_stacked_of_nothing():
    none = jax.tree.map(lambda x: x[:0], stacked(*BATCHES))
    assert_same(dense(jaxops.sum_stacked(none)), jax.tree.map(jnp.zeros_like, SUM))


def loss(params, words):
    return jnp.sum((jaxops.gather(params["table"], words) @ params["w"]) ** 2)


PARAMS = {"table": jnp.arange(12.0).reshape(6, 2) - 5, "w": jnp.array([1.0, 2.0])}
WORDS = jnp.array([[1, 3, 1], [5, 1, 3], [0, 0, 0]])
SPARSE = jaxops.sparse_value_and_grad(loss, tables="table")


def expected_of_microbatches():
    each = [jax.grad(loss)(PARAMS, words) for words in WORDS]
    return functools.reduce(functools.partial(jax.tree.map, operator.add), each)


def stacked_by_scan():
    _, grads = jax.lax.scan(lambda c, words: (c, SPARSE(PARAMS, words)[1]), 0, WORDS)
    return jaxops.sum_stacked(grads)


def dense_carried():
    def body(total, words):
        _, grads = SPARSE(PARAMS, words)
        return total + grads["w"], grads["table"]

    total, slices = jax.lax.scan(body, jnp.zeros(2), WORDS)
    return {"table": jaxops.sum_stacked(slices), "w": total}


def all_carried():
    def body(total, words):
        _, grads = SPARSE(PARAMS, words)
        total = jax.tree.map(operator.add, total, grads, is_leaf=is_sparse)
        return {**total, "table": total["table"].sum_duplicates(size=5)}, None

    nothing = IndexedSlices(jnp.zeros((5, 2)), jnp.full(5, 6), (6, 2))
    return jax.lax.scan(body, {"table": nothing, "w": jnp.zeros(2)}, WORDS)[0]


@pytest.mark.parametrize("way", [stacked_by_scan, dense_carried, all_carried])
def test_microbatches(way):
    for call in (way, jax.jit(way)):
        assert_same(dense(call()), expected_of_microbatches())


# --- norms ---


@pytest.mark.parametrize("call", [jaxops.global_norm, jax.jit(jaxops.global_norm)])
def test_global_norm(call):
    """Squares of whole numbers have an exact sum, and roots are rounded once."""
    for grads in BATCHES:
        squares = sum(float(np.sum(np.square(x))) for x in jax.tree.leaves(dense(grads)))
        np.testing.assert_array_equal(call(grads), np.sqrt(np.float32(squares)), strict=True)


def test_norm_of_16_bits_and_of_complex_numbers(x64):
    large = {"embed": IndexedSlices(jnp.full((1, 2), 300.0, jnp.float16), [0], (3, 2))}
    assert jaxops.global_norm(large) == np.sqrt(np.float32(180_000))  # whose squares overflow
    assert jaxops.global_norm(large).dtype == np.float32
    norm = jaxops.global_norm(jnp.array([3 + 4j], np.complex64))
    assert (norm, norm.dtype) == (5, np.float32)
    assert jaxops.global_norm({}) == 0
    if x64:
        assert jaxops.global_norm([jnp.float32(3), jnp.float64(4)]).dtype == np.float64


def test_many_leaves_are_one_program():
    """An eager call runs one program, whatever the number of leaves."""
    grads = [jnp.full((2, 3), n, jnp.float32) for n in range(200)]
    assert len(jax.make_jaxpr(jaxops.global_norm)(grads).eqns) == 1
    clipped, norm = jaxops.clip_by_global_norm(grads, 1.0)
    np.testing.assert_allclose(norm, np.sqrt(6.0 * sum(n * n for n in range(200))), 1e-6)
    np.testing.assert_allclose(clipped[7], grads[7] / norm, 1e-6)


@pytest.mark.parametrize("limit", [1.0, 7, np.float32(2.5), 1e6, np.inf])
def test_clip_by_global_norm(limit):
    grads = BATCHES[0]
    norm = jaxops.global_norm(grads)

    @jax.jit
    def results(grads, clipped):
        compiled, received = jaxops.clip_by_global_norm(grads, limit)
        expected, _ = optax.clip_by_global_norm(limit).update(dense(grads), optax.EmptyState())
        both = [dense(clipped), dense(compiled)]
        return received, both, jaxops.global_norm(compiled), dense(grads), expected

    clipped, eagerly = jaxops.clip_by_global_norm(grads, limit)
    received, both, clipped_norm, whole, expected = results(grads, clipped)
    assert received == eagerly == norm
    for found in both:
        if limit > norm:
            assert_same(found, whole)
            continue
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(clipped_norm, limit, rtol=1e-5)


def test_clipping_keeps_dtypes_and_small_scales():
    grads = {"a": jnp.full(4, 4.0, jnp.bfloat16), "b": jnp.full(4, 60_000.0, jnp.float16)}
    clipped, _ = jaxops.clip_by_global_norm(grads, 1.0)
    assert [clipped[k].dtype for k in "ab"] == [jnp.bfloat16, jnp.float16]
    assert float(clipped["b"][0]) == 0.5  # the scale is less than float16 has


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_clipping_shows_what_is_not_finite(bad):
    grads: Any = [jnp.array([bad]), BATCHES[0]["rows"]]
    clipped, _ = jaxops.clip_by_global_norm(grads, 1.0)
    assert np.isnan(clipped[0]).all()
    assert np.isnan(clipped[1].values).all()


def test_norms_have_derivatives():
    def scaled_norm(x, clip):
        grads = [IndexedSlices(x[:, None], [3, 3], (5, 1)), x]
        if not clip:
            return jaxops.global_norm(grads)
        clipped, _ = jaxops.clip_by_global_norm(grads, 1.0)
        return jnp.sum(clipped[1])

    def expected(x, clip):
        flat = jnp.concatenate([jnp.sum(x)[None], x])
        norm = jnp.linalg.norm(flat)
        return jnp.sum(x / norm) if clip else norm

    x = jnp.array([3.0, -1.0])
    for clip in (False, True):
        actual, wanted = (jax.grad(f)(x, clip) for f in (scaled_norm, expected))
        np.testing.assert_allclose(actual, wanted, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(jax.grad(scaled_norm)(jnp.zeros(2), False), np.zeros(2))


# --- devices ---


@functools.cache
def on_devices(number):
    script = Path(__file__).with_name("gradient_programs.py")
    return dict(map(json.loads, printed_by(script, number).splitlines()))


WAYS = ["checked", "unchecked", "two axes", "own copies", "pmap"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [pytest.param(1, marks=NIGHTLY), 8])
@pytest.mark.parametrize("way", WAYS)
def test_on_devices(number, way):
    if way == "two axes" and number == 1:
        pytest.skip("needs several devices")
    report = on_devices(number)[way]
    assert report["differ"] == []
    assert report["compared"] > 0


@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_sums_keep_dtypes(dtype):
    both = stacked(*[gradient(dtype=dtype)] * 2)
    summed = jax.vmap(lambda g: dense(jaxops.psum(g, "i")), axis_name="i", out_axes=None)
    for total in (summed, lambda both: dense(jaxops.sum_stacked(both))):
        result = fast_jit(total)(both)
        assert {x.dtype for x in jax.tree.leaves(result)} == {jnp.dtype(dtype)}
