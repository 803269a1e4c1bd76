"""Rows at their owners, on a mesh of one device; on several: `tests/devices/test_devices.py`."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from checks import SLOW
from fast import fast_jit
from jax.sharding import AxisType

import jaxops
from jaxops._devices.exchange import RowSharding
from jaxops._sparse.slices import owner_rows
from jaxops._sparse.slices.owner_rows import OwnerRows

MESH = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Auto,))
TABLE = np.arange(60.0, dtype=np.float32).reshape(20, 3) / 20
IDS = np.array([7, 0, 7, 3, 5, 5, 1, *range(8, 20)], np.int32)  # 17 rows: more than a bucket has
ROWS = OwnerRows(
    jnp.ones((4, 3), jnp.float32),
    jnp.array([7, 2, 7, 20]),
    num_rows=20,
    sharding=RowSharding(("d",), MESH),
)


def test_sums():
    (rows,) = owner_rows.sum_all_at_first([ROWS])
    np.testing.assert_array_equal(rows.indices, [7, 2, 20, 20])
    np.testing.assert_array_equal(rows.values, np.array([[2], [1], [0], [0]]) * np.ones(3))


def test_gather_and_put():
    rows = owner_rows.gather_rows(jnp.asarray(TABLE), ROWS)
    np.testing.assert_array_equal(rows, [TABLE[7], TABLE[2], TABLE[7], np.zeros(3)])
    new = owner_rows.put_rows(jnp.asarray(TABLE), jnp.full((4, 3), -1.0, jnp.float32), ROWS)
    expected = TABLE.copy()
    expected[[7, 2]] = -1
    np.testing.assert_array_equal(new, expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    "optimizer",
    [
        optax.chain(optax.clip_by_global_norm(0.25), optax.adagrad(0.5)),
        *(
            pytest.param(optimizer, marks=SLOW)
            for optimizer in (
                optax.sgd(0.5),
                jaxops.rowwise_adagrad(0.5),
                optax.adagrad(0.5),
                optax.adam(0.5),
                optax.chain(optax.normalize_by_update_norm(), optax.sgd(0.5)),
            )
        ),
    ],
    ids=["clipped adagrad", "sgd", "row-wise adagrad", "adagrad", "adam", "normalized sgd"],
)
def test_lazy_steps(optimizer, standard_promotion):
    """In several rounds as in one, with a table of this device and a dense parameter beside it."""

    def steps(lookup):
        def loss(params):
            rows = lookup(params["shared"])
            own = jaxops.gather(params["own"], IDS)
            return jnp.sum(jnp.sin(rows + own) @ params["dense"])

        lazy = jaxops.lazy(optimizer)
        params = {"shared": TABLE, "own": TABLE + 1, "dense": jnp.ones(3, jnp.float32)}
        gradient = jaxops.sparse_value_and_grad(loss, tables=["shared", "own"])

        def step(_, carry):
            params, state = carry
            return lazy.apply(gradient(params)[1], state, params)

        return jax.lax.fori_loop(0, 2, step, (params, lazy.init(params)))

    def shared(capacity):
        return lambda table: jaxops.sharded_gather(table, IDS, "d", mesh=MESH, capacity=capacity)

    expected = fast_jit(lambda: steps(lambda table: jaxops.gather(table, IDS)))()
    for capacity in (1, 2, None):
        actual = fast_jit(lambda c=capacity: steps(shared(c)))()
        for x, y in zip(*map(jax.tree.leaves, (actual, expected)), strict=True):
            np.testing.assert_allclose(x, y, rtol=2e-6, atol=1e-6, err_msg=f"{capacity=}")


def test_no_rows():
    """Of a table that devices share: everything stays."""
    lazy = jaxops.lazy(optax.adagrad(0.5))
    none = np.zeros(0, np.int32)

    def loss(table):
        return jnp.sum(jaxops.sharded_gather(table, none, "d", mesh=MESH))

    @fast_jit
    def updated(table):
        slices = jaxops.sparse_value_and_grad(loss, tables="")(table)[1]
        return lazy.apply(slices, lazy.init(table), table)[0], slices.add_to(table)

    for table in updated(TABLE):
        np.testing.assert_array_equal(table, TABLE)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_rows_of_16_bits_that_repeat(dtype):
    """4,000 lookups of one row, on the way to its owner and there: in their dtype 256, or 2,048."""
    lazy, ids = jaxops.lazy(optax.sgd(1.0)), np.full(4_000, 7)

    def loss(table):
        return jnp.sum(jaxops.sharded_gather(table, ids, "d", mesh=MESH).astype(jnp.float32))

    @fast_jit
    def moved(table):
        slices = jaxops.sparse_value_and_grad(loss, tables="")(table)[1]
        return -lazy.apply(slices, lazy.init(table), table)[0], slices.add_to(table)

    for table in moved(jnp.zeros((20, 3), dtype)):
        np.testing.assert_array_equal(table, jnp.zeros((20, 3), dtype).at[7].set(4_000))


def test_norms_are_as_of_the_whole_gradient():
    def norm_of(lookup):
        gradient = jaxops.sparse_value_and_grad(lambda t: jnp.sum(lookup(t) ** 2), tables="")
        return fast_jit(lambda table: jaxops.global_norm(gradient(table)[1]))(TABLE)

    shared = norm_of(lambda table: jaxops.sharded_gather(table, IDS, "d", mesh=MESH))
    plain = norm_of(lambda table: jaxops.gather(table, IDS))
    np.testing.assert_allclose(shared, plain, rtol=1e-6)


def test_under_shard_map():
    """`psum` leaves rows to their owners, and norms are of the sums of rows of all devices."""
    spec = jax.P("d")

    def step(table, ids):
        def loss(table):
            return jnp.sum(jaxops.sharded_gather(table, ids, "d") ** 2)

        slices = jaxops.sparse_value_and_grad(loss, tables="")(table)[1]
        summed, mean = jaxops.psum(slices, "d"), jaxops.pmean(slices, "d")
        same = jnp.ones(1, jnp.float32)
        return summed.add_to(table), mean.add_to(table), same * jaxops.global_norm(slices)

    mapped = jax.shard_map(step, mesh=MESH, in_specs=spec, out_specs=spec)
    expected = jax.grad(lambda table: jnp.sum(table[IDS] ** 2))(TABLE)
    summed, mean, norm = jax.jit(mapped)(TABLE, IDS)
    np.testing.assert_allclose(summed, TABLE + expected, rtol=1e-6)
    np.testing.assert_allclose(mean, TABLE + expected, rtol=1e-6)
    np.testing.assert_allclose(norm[0], np.linalg.norm(expected), rtol=1e-6)
