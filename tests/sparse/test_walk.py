"""Losses that compute with tables before they look rows up, within and under transformations."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import NIGHTLY, share
from fast import fast_jit
from jax import lax
from sparse_checks import EACH_WAY, assert_sparse, eagerly, square
from sparse_patterns import (
    INDICES,
    LOOKUPS,
    PATTERNS,
    STEPS,
    WITHIN,
    assert_rows_first,
    composed,
    params,
    polynomial,
)

import jaxops
from jaxops._sparse.gradient import walk

pytestmark = pytest.mark.usefixtures("x32")


@pytest.mark.parametrize("name", WITHIN)
def test_within(name):
    loss = composed("scaled by rows", "row set", "jit")
    assert_rows_first(WITHIN[name](loss), params(), tolerance=1e-4)


# Each pattern in one of the kinds of programs, the next pattern in the next one.
EACH_ONCE = [(pattern, [*WITHIN][n % len(WITHIN)]) for n, pattern in enumerate(PATTERNS)]
KINDS = ["jit", "checkpoint", "scan", "scan of checkpoints", "cond", "vmap"]
OTHERS = [pair for pair in itertools.product(PATTERNS, KINDS) if pair not in EACH_ONCE]


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        *(pytest.param(*pair, marks=pytest.mark.slow) for pair in EACH_ONCE),
        *(pytest.param(*pair, marks=pytest.mark.stress) for pair in OTHERS),
    ],
)
def test_all_within(pattern, name):
    loss = WITHIN[name](PATTERNS[pattern])
    if pattern == "updated" and name in ("vmap", "map in batches"):
        # JAX makes it a scatter of parts of rows, of which no rule tells rows.
        with pytest.raises(ValueError, match=r"and scatter at .* takes all rows of the result"):
            jaxops.sparse_value_and_grad(loss, tables="t")(params(), INDICES)
        return
    assert_rows_first(loss, params(), tolerance=1e-4)


# Functions of jaxops that a program for large arrays computes in another way than for small ones.
LARGE = {
    "custom_jvp_call": lambda t, i: jaxops.tile(t, [2, 1])[i + t.shape[0]],
    "split_in_many": lambda t, i: jaxops.split(t, 300)[7][i],
    "join_many": lambda t, i: jaxops.concat([*[jnp.ones((1, 3))] * 255, t], 0)[250 + i],
    "narrow_scatter": lambda t, i: jaxops.tensor_scatter_nd_add(
        t.astype(jnp.bfloat16), i[:, None], jnp.bfloat16(1)
    )[i].astype(jnp.float32),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_tables(name):
    p = {**params(), "t": jnp.arange(36_000.0).reshape(12_000, 3) / 12_000}

    def loss(p, i):
        return polynomial(LARGE[name](p["t"], i))

    names = {eqn.primitive.name for eqn in jax.make_jaxpr(loss)(p, INDICES).eqns}
    assert name in names
    assert_rows_first(loss, p)


COMPOSED = [
    *((seed, eagerly, False) for seed in range(8)),
    *((seed, fast_jit, False) for seed in range(8, 32)),
    *((seed, fast_jit, True) for seed in range(32, 40)),
    *(pytest.param(seed, fast_jit, seed % 2 == 0, marks=NIGHTLY) for seed in range(40, 100)),
]


ROUNDED = {"cast and back", "reduce_precision", "bfloat16", "computed in bfloat16"}  # to bfloat16


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "run", "x64"), COMPOSED)
def test_compositions(seed, run, x64):
    random = np.random.default_rng(seed)
    steps = random.choice([*STEPS], random.integers(4), replace=False)
    lookup = random.choice([*LOOKUPS])
    loss = composed(*steps, lookup=lookup)
    within = random.choice([*WITHIN], random.integers(3))
    if "updated" not in steps:  # see above
        for name in within:
            loss = WITHIN[name](loss)
    with jax.enable_x64(x64):
        p = params(jnp.float64 if x64 else jnp.float32)
        # The derivative of a cast to bfloat16 rounds. In `jax.grad` it rounds the sum of each row,
        # with rows first each term. Only in compiled programs of float32 XLA leaves the casts out.
        rounds = (run is eagerly or x64) and ROUNDED & {*steps, lookup}
        assert_rows_first(loss, p, run=run, tolerance=2.0**-7 if rounds else 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", share(PATTERNS, 3))
def test_under_vmap(pattern):
    stacked = jax.tree.map(lambda x: jnp.stack([x, 2 * x]), params())
    run = lambda f: fast_jit(jax.vmap(f, (0, None)))  # noqa: E731
    assert_rows_first(PATTERNS[pattern], stacked, run=run, tolerance=1e-4)


@pytest.mark.parametrize("run", EACH_WAY)
@pytest.mark.parametrize("name", ["jit", "scan of checkpoints"])
def test_under_vmap_of_indices(name, run):
    batch = jnp.stack([INDICES, INDICES // 2])
    grads = assert_rows_first(
        WITHIN[name](composed()), params(), batch, run=lambda f: run(jax.vmap(f, (None, 0)))
    )
    assert grads["t"].values.shape == (2, INDICES.size * (1 if name == "jit" else 3), 3)


@pytest.mark.parametrize(
    "loss",
    [
        *map(composed, ["scaled by rows", "of two, traced", "jit"]),
        composed("row set", "tanh"),
        composed(lookup="gather"),
        composed(lookup="scan"),
    ],
)
def test_second_order(loss):
    def cubic(p):
        return loss(p, INDICES) ** 2

    def sparse(p):
        grads = jaxops.sparse_value_and_grad(cubic, tables="t")(p)[1]
        return {**grads, "t": grads["t"].to_dense()}

    direction = jax.tree.map(jnp.cos, params())
    _, expected = jax.jit(lambda p: jax.jvp(jax.grad(cubic), (p,), (direction,)))(params())
    _, actual = jax.jit(lambda p: jax.jvp(sparse, (p,), (direction,)))(params())
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-3), actual, expected)
    back = jax.jit(lambda p: jax.vjp(sparse, p)[1](direction)[0])(params())
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-3), back, expected)


def test_of_itself():
    def norm(p, i):
        grads = jaxops.sparse_value_and_grad(composed(), tables="t")(p, i)[1]
        return jnp.sum(grads["t"].values ** 2)

    grads = assert_rows_first(norm, params())
    np.testing.assert_array_equal(grads["t"].indices, INDICES)


def test_two_tables():
    def loss(p, _):
        both = jnp.concatenate([p["t"] * p["c"][None], jnp.tanh(p["u"])])
        chosen = lax.cond(p["c"][0] > 9, lambda: p["t"], lambda: 3 * p["u"])
        return polynomial(both[INDICES * 2]) + polynomial(chosen[INDICES] + p["t"][INDICES])

    p = {**params(), "u": params()["t"] - 1}
    assert_rows_first(loss, p, tables=("t", "u"))


def test_a_loop_within_a_loop():
    """The inner one goes through what the outer one gets in a round."""

    def outer(inner):
        def loss(p, _=None):
            tables = jnp.stack([p["t"], p["t"] * p["c"][None]])[None] * jnp.ones((2, 1, 1, 1))
            return lax.scan(lambda c, two: (lax.scan(inner, c, two)[0], None), 0.0, tables)[0]

        return loss

    def layer_within(c, t):
        return lax.scan(lambda c, i: (c + square(t) + square(t[i]), None), c, INDICES)[0], None

    def loss(p):
        return lax.scan(layer_within, 0.0, jnp.stack([p["t"], 2 * p["t"]]))[0]

    with pytest.raises(ValueError, match="must be used by lookups"):
        jaxops.sparse_value_and_grad(loss, tables="t")(params())
    assert_rows_first(outer(lambda c, t: (c + polynomial(t[INDICES]), None)), params())
    with pytest.raises(ValueError, match="must be used by lookups"):
        jaxops.sparse_value_and_grad(outer(lambda c, t: (c + square(t), None)), tables="t")(
            params()
        )


def test_a_part_that_is_taken_whole():
    """As the first rows of a table of positions: looked up once, and no layer after it again."""
    length = 9

    def loss(p, _):
        positions = p["t"][:length]
        x = positions + p["c"][None]
        for _ in range(3):
            x = jnp.tanh(x @ p["w"][:, :3]) + positions
        last = jax.checkpoint(lambda x: x[-1] * positions[-1])(x)
        return polynomial(x) + polynomial(last)

    grads = assert_rows_first(loss, params())
    np.testing.assert_array_equal(grads["t"].indices, [*range(length)])


def test_tied():
    """What takes all rows has a dense gradient, lookups have slices still."""

    def loss(p):
        return polynomial(jnp.tanh(p["t"])[INDICES] @ p["t"].T)

    grads = assert_sparse(loss, params(), tables="t", tied=True, tolerance=1e-4)
    assert isinstance(grads["t"], jaxops.TiedGradient)
    np.testing.assert_array_equal(grads["t"].slices.indices, INDICES)


def test_aux_takes_the_whole_table():
    def loss(p):
        scaled = p["t"] * p["c"][None]
        aux = {"norm": jnp.sum(scaled**2), "scaled": scaled, "rows": scaled[INDICES]}
        return polynomial(scaled[INDICES]), {**aux, "text": "x", "none": None, "n": 3}

    transformed = jaxops.sparse_value_and_grad(loss, tables="t", has_aux=True)
    (value, aux), grads = transformed(params())
    assert (aux.pop("text"), aux.pop("none"), aux.pop("n")) == ("x", None, 3)

    def arrays(p):
        value, aux = loss(p)
        return value, {name: aux[name] for name in ("norm", "scaled", "rows")}

    dense = fast_jit(jax.value_and_grad(arrays, has_aux=True))
    (expected_value, expected_aux), expected = dense(params())
    np.testing.assert_allclose(value, expected_value, rtol=1e-6)
    for name in aux:
        np.testing.assert_allclose(aux[name], expected_aux[name], rtol=1e-6)
    np.testing.assert_allclose(grads["t"].to_dense(), expected["t"], rtol=1e-5)
    np.testing.assert_array_equal(grads["t"].indices, INDICES)


def test_a_loss_that_decides_in_python():
    """It cannot be traced, but its derivative can."""

    def loss(t):
        rows = t[INDICES] if t[0, 0] < 0 else t
        return square(rows).astype(jnp.float32)

    _, slices = jaxops.sparse_value_and_grad(loss, tables="")(params()["t"])
    np.testing.assert_array_equal(slices.indices, INDICES)
    halved = jaxops.sparse_value_and_grad(lambda t: loss(t.astype(jnp.bfloat16)), tables="")
    assert halved(params()["t"])[1].dtype == jnp.float32
    t = params()["t"]
    assert_sparse(lambda t: loss(2 * t), t, tables="", run=eagerly, tolerance=1e-6)
    with pytest.raises(ValueError, match=r"a use by neg at test_walk\.py"):
        jaxops.sparse_value_and_grad(lambda t: loss(-t), tables="")(params()["t"])


@pytest.mark.parametrize("scale", [1, 2])
def test_callbacks(scale):
    """They run once, also where the table is computed with before it is looked up."""
    seen = []

    def loss(t, indices):
        def step(so_far, i):
            jax.debug.callback(lambda i: seen.append(int(i)), i)
            i = jax.pure_callback(lambda i: np.asarray(i + 1), jax.ShapeDtypeStruct((), i.dtype), i)
            return so_far + square((t if scale == 1 else scale * t)[i]), None

        return lax.scan(step, jnp.float32(0), indices)[0]

    t = params()["t"]
    transformed = jaxops.sparse_value_and_grad(loss, tables="")
    for call in (transformed, jax.jit(transformed)):
        _, slices = call(t, INDICES)
        jax.effects_barrier()
        assert sorted(seen) == sorted(INDICES.tolist())
        seen.clear()
        np.testing.assert_array_equal(slices.indices, [4, 1, 4, 16])
        np.testing.assert_array_equal(slices.to_dense(), jax.grad(loss)(t, INDICES))
        jax.effects_barrier()
        seen.clear()


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, jax.checkpoint])
@pytest.mark.parametrize("step", [lambda t: t, jnp.tanh])
def test_an_index_out_of_bounds(step, wrap):
    """At its place in the caller's code, also where rows are read first."""

    def loss(p, indices):
        return square(jaxops.gather(step(p["t"]), indices))

    transformed = jaxops.sparse_value_and_grad(wrap(loss), tables="t")
    error = Exception if wrap is jax.jit else jaxops.OutOfBoundsError
    with pytest.raises(error, match=r"indices\[1\] = 99 is not in .*test_walk.py"):
        jax.block_until_ready(transformed(params(), jnp.array([3, 99])))
    with pytest.raises(Exception, match=r"indices\[1\] = 99 is not in .*test_walk.py"):
        jax.block_until_ready(jax.jit(transformed)(params(), jnp.array([3, 99])))


def test_names_and_shardings_stay():
    """Of a `jit` that says how its arguments are shared, which is not taken apart."""
    sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    shared = jax.jit(lambda t: 2 * t, out_shardings=sharding)
    with pytest.raises(ValueError, match="must be used by lookups"):
        jaxops.sparse_value_and_grad(lambda t: square(shared(t)[INDICES]), tables="")(params()["t"])

    def loss(t):
        return square((2 * t)[INDICES]) + square(jax.named_call(jnp.sin, name="wave")(t[INDICES]))

    text = (
        jax.jit(jaxops.sparse_value_and_grad(loss, tables=""))
        .lower(params()["t"])
        .as_text(debug_info=True)
    )
    assert "wave" in text


@pytest.mark.parametrize("step", ["none", "tanh", "row set", "cond"])
def test_a_second_eager_call_compiles_nothing(step):
    """Also of a `jit` that is given what the loss made of a table, by equations of each call."""

    @jax.jit
    def model(t, c):
        for _ in range(20):  # not short, so that it stays a `jit`
            c = jnp.sin(c)
        return polynomial((t * c[None])[INDICES])

    def loss(p):
        return model(p["t"] if step == "none" else STEPS[step](p["t"], p), p["c"])

    transformed = jaxops.sparse_value_and_grad(loss, tables="t")
    transformed(params())
    before = walk._jitted.cache_info()
    transformed(params())
    after = walk._jitted.cache_info()
    assert (after.hits, after.misses) == (before.hits + 2, before.misses)  # in both walks


@pytest.mark.parametrize("number", [-0.0, float("nan"), 2.0])
def test_numbers_of_equal_programs(number):
    """A number of the caller's code decides whether a later eager call takes the same program."""

    @jax.jit
    def model(t):
        for _ in range(20):  # not short, so that it stays a `jit`
            t = t * 1.0
        return jnp.sum(1 / t[INDICES])

    def transformed(number):
        return jaxops.sparse_value_and_grad(lambda t: model(t * number), tables="")

    t = jnp.ones_like(params()["t"])
    transformed(0.0)(t)
    value, _ = transformed(number)(t)
    np.testing.assert_array_equal(value, jnp.sum(1 / (t * number)[INDICES]))
    before = walk._jitted.cache_info()
    transformed(number)(t)
    after = walk._jitted.cache_info()
    assert (after.hits, after.misses) == (before.hits + 2, before.misses)
