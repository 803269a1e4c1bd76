"""What lazy steps read, change and make; `test_lazy_optax.py` has all against the dense ones."""

import concurrent.futures
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from fast import fast_jit

import jaxops
from jaxops import IndexedSlices, TiedGradient, _jax_internals
from jaxops._sparse import jaxprs
from jaxops._sparse.optimizer.lazy import _kept as kept

ROWS, WIDTH = 6, 3


pytestmark = pytest.mark.usefixtures("standard_promotion")

OPTIMIZERS = {
    "sgd": lambda: optax.sgd(0.5),
    "momentum": lambda: optax.sgd(0.5, momentum=0.5),
    "adam": lambda: optax.adam(0.1),
    "scheduled": lambda: optax.sgd(optax.linear_schedule(1.0, 0.0, 4)),
    "clipped": lambda: optax.chain(optax.clip_by_global_norm(0.5), optax.sgd(1.0)),
    "decayed": lambda: optax.chain(optax.add_decayed_weights(0.5), optax.sgd(0.5)),
    "row-wise adagrad": lambda: jaxops.rowwise_adagrad(0.5),
}


def params():
    table = jnp.arange(ROWS * WIDTH, dtype=jnp.float32).reshape(ROWS, WIDTH) / 8
    return {"embed": table, "other": jnp.ones(2)}


def grads(step, indices):
    rng = np.random.default_rng(step)
    values = rng.integers(-3, 4, (len(indices), WIDTH)).astype(np.float32)
    slices = IndexedSlices(values, jnp.array(indices, jnp.int32), (ROWS, WIDTH))
    return {"embed": slices, "other": jnp.array([1.0, -1.0]) * (step + 1)}


def assert_close(actual, expected):
    """Equal up to how XLA rounds when it fuses."""
    jax.tree.map(
        lambda a, e: np.testing.assert_allclose(a, e, rtol=2e-6, atol=1e-7), actual, expected
    )
    assert jax.tree.structure(actual) == jax.tree.structure(expected)


@pytest.mark.usefixtures("x32")
def test_dense_and_tied_gradients_update_every_row():
    gradients = grads(0, [1, 1, 3])
    dense = jnp.ones((ROWS, WIDTH))
    optimizer = optax.adam(0.1)
    lazy = jaxops.lazy(optimizer)
    for gradient in (TiedGradient(dense, gradients["embed"]), gradients["embed"].add_to(dense)):
        state = lazy.init(params())
        actual = lazy.apply({**gradients, "embed": gradient}, state, params())
        total = {**gradients, "embed": gradients["embed"].add_to(dense)}
        updates, new_state = optimizer.update(total, state, params())
        assert_close(actual, (optax.apply_updates(params(), updates), new_state))


def test_bfloat16_parameters_keep_their_dtype():
    current = {
        "embed": params()["embed"].astype(jnp.bfloat16),
        "other": jnp.ones(2, jnp.bfloat16),
    }
    slices = IndexedSlices(jnp.ones((2, WIDTH), jnp.bfloat16), [1, 2], (ROWS, WIDTH))
    optimizer = jaxops.lazy(optax.adam(jnp.float32(0.1), mu_dtype=jnp.float32))
    state = optimizer.init(current)
    gradients = {"embed": slices, "other": current["other"]}
    actual, new_state = fast_jit(optimizer.apply)(gradients, state, current)
    assert {x.dtype for x in actual.values()} == {jnp.dtype("bfloat16")}
    assert jax.tree.map(jnp.result_type, new_state) == jax.tree.map(jnp.result_type, state)


# --- what is made ---

MANY_ROWS = 100_003


def training_step(optimizer):
    optimizer = jaxops.lazy(optimizer)

    def loss(params, indices):
        return jnp.sum(jaxops.gather(params["embed"], indices) ** 2)

    def step(params, state, indices):
        value_and_grad = jaxops.sparse_value_and_grad(loss, tables="embed")
        value, grads = value_and_grad(params, indices)
        return *optimizer.apply(grads, state, params), value

    current = {"embed": jnp.ones((MANY_ROWS, 8))}
    return step, (current, optimizer.init(current), jnp.array([5, 3, 5, 100_000]))


@pytest.mark.parametrize("name", ["sgd", "adam", "row-wise adagrad"])
def test_only_tables_and_states_have_their_size(name):
    step, args = training_step(OPTIMIZERS[name]())
    made = [
        eqn.primitive.name
        for eqn in _jax_internals.equations_in(jax.make_jaxpr(step)(*args))
        for v in eqn.outvars
        if MANY_ROWS in jaxprs.type_of(v).shape
    ]
    tables = [x for x in jax.tree.leaves(args) if MANY_ROWS in x.shape]
    # Without a state the table takes what SGD adds, row by row, and none is gathered to be set.
    # With jaxlib 0.10.2 the addition has a form for CUDA.
    expected = ["scatter-add"] if name == "sgd" else ["scatter"] * len(tables)
    made = ["scatter-add" if op == "atomic_sums" else op for op in made]
    assert [op for op in made if op not in ("reshape", "jit")] == expected


@pytest.mark.parametrize("name", ["sgd", "scheduled", "momentum", "clipped", "decayed"])
def test_repeated_rows_are_summed_where_it_matters(name):
    current = jnp.ones((ROWS, WIDTH))
    gradient = IndexedSlices(jnp.ones((3, WIDTH)), jnp.array([1, 1, 2]), current.shape)
    lazy = jaxops.lazy(OPTIMIZERS[name]())
    program = jax.make_jaxpr(lazy.apply)(gradient, lazy.init(current), current)
    assert ("name=sum_at_first" in str(program)) == (name not in ("sgd", "scheduled"))


def test_small_updates_of_16_bits_are_summed_before_they_are_added():
    """1 and one update is 1; 1 and the sum of eight is not."""
    current = jnp.ones((ROWS, WIDTH), jnp.bfloat16)
    values = jnp.full((8, WIDTH), -(2.0**-9), jnp.bfloat16)
    gradient = IndexedSlices(values, jnp.full(8, 4), current.shape)
    lazy = jaxops.lazy(optax.sgd(1.0))
    after, _ = lazy.apply(gradient, lazy.init(current), current)
    np.testing.assert_array_equal(after[4], np.full(WIDTH, 1 + 2.0**-6, np.float32))


@pytest.mark.parametrize("name", ["sgd", "decayed", "adam"])
def test_the_optimizer_is_traced_once(name):
    optimizer, calls = OPTIMIZERS[name](), []

    class Counting:
        init = staticmethod(optimizer.init)

        def update(self, *args):
            calls.append(1)
            return optimizer.update(*args)

    lazy = jaxops.lazy(Counting())
    state = lazy.init(params())
    calls.clear()
    jax.make_jaxpr(lazy.apply)(grads(0, [1, 1]), state, params())
    assert len(calls) == 1


def test_eager_optimizer_may_look_at_values():
    class Careful:
        def init(self, params):
            return ()

        def update(self, grads, state, params):
            return (-grads if bool(jnp.all(jnp.isfinite(grads))) else grads), state

    table = jnp.zeros((4, 2))
    grads = IndexedSlices([[1.0, 2.0], [1.0, 0.0]], [3, 3], (4, 2))
    after, _ = jaxops.lazy(Careful()).apply(grads, (), table)
    np.testing.assert_array_equal(after[3], [-2.0, -2.0])


@pytest.mark.parametrize("name", ["sgd", "momentum", "adam", "clipped"])
@pytest.mark.parametrize(("shape", "row"), [((0, 3), (3,)), ((0, 3), ()), ((4, 0), ())])
def test_a_table_without_elements(name, shape, row):
    """Indices count for nothing there, whatever they are."""
    slices = IndexedSlices(jnp.ones((2, *row)), [0, 5], shape)
    p, g = {**params(), "none": jnp.zeros(shape)}, {**grads(0, [1, 1]), "none": slices}
    lazy = jaxops.lazy(OPTIMIZERS[name]())
    after, _ = lazy.apply(g, lazy.init(p), p)
    alone, _ = lazy.apply(grads(0, [1, 1]), lazy.init(params()), params())
    assert_close(after, {**alone, "none": p["none"]})


def test_second_step_compiles_nothing():
    step, (current, state, indices) = training_step(optax.adam(0.1))
    compiled = jax.jit(step, donate_argnums=(0, 1))
    for n in range(3):
        current, state, _ = compiled(current, state, indices + n)
    assert compiled._cache_size() == 1  # pyright: ignore[reportAttributeAccessIssue]


def test_what_was_found_out_is_kept_for_all_threads():
    """Each drops what is old while others read and add."""
    found = {}

    def keep(thread):
        for number in range(20_000):
            key = thread, number % 40
            assert kept(found, key, lambda key=key: key) == key

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            list(threads.map(keep, range(4)))
    finally:
        sys.setswitchinterval(interval)
    assert 0 < len(found) <= 16


def test_a_weight_beside_a_table_costs_no_mask():
    """Where nothing mixes rows, an index that counts for nothing reads any row, without a mask."""

    def selects(**weights):
        params = {"table": jnp.ones((50, 4)), **weights}
        optimizer = jaxops.lazy(optax.adam(0.1))
        state = optimizer.init(params)
        slices = jaxops.IndexedSlices(jnp.ones((3, 4)), jnp.array([1, 2, 1]), (50, 4))
        program = jax.make_jaxpr(optimizer.apply)({"table": slices, **weights}, state, params)
        return str(program).count("select_n")

    assert selects(weight=jnp.ones((5, 6)), bias=jnp.ones(6)) == selects()
