"""`sharded_gather` on a mesh of one device; on several: `tests/devices/test_exchanged.py`."""

import functools
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import jaxops
from jaxops._devices.exchange import RowSharding

MESH = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Auto,))
EXPLICIT = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Explicit,))
TABLE = np.arange(24.0, dtype=np.float32).reshape(8, 3)
IDS = np.array([[7, 0], [7, 3]], np.int32)


def lookup(table, ids, **options):
    return jaxops.sharded_gather(table, ids, "d", mesh=MESH, **options)


def loss(table, ids, capacity=None):
    return jnp.sum(lookup(table, ids, capacity=capacity) ** 2)


def slices_of(ids=IDS, capacity=None):
    gradient = jaxops.sparse_value_and_grad(loss, tables="")
    return jax.jit(gradient, static_argnums=2)(TABLE, ids, capacity)[1]


@pytest.mark.parametrize("ids", [IDS, 3, np.zeros((0, 2), int), [1], np.array([0, 7], np.uint8)])
def test_values(ids):
    dtypes = [np.float32, np.int8, np.uint16, bool, np.complex64, jnp.bfloat16]
    tables = [TABLE.astype(dtype) for dtype in dtypes]
    results = jax.jit(lambda tables: [lookup(table, ids, capacity=1) for table in tables])(tables)
    for table, result in zip(tables, results, strict=True):
        np.testing.assert_array_equal(result, table[np.asarray(ids)], strict=True)
    np.testing.assert_array_equal(lookup(TABLE, ids, capacity=1), TABLE[np.asarray(ids)])


def test_tables_of_other_ranks():
    vector, cube = TABLE[:, 0], TABLE.reshape(4, 2, 3)
    np.testing.assert_array_equal(lookup(vector, IDS), vector[IDS])
    np.testing.assert_array_equal(lookup(cube, [3, 1]), cube[[3, 1]])
    np.testing.assert_array_equal(lookup(np.zeros((8, 0)), IDS), np.zeros((2, 2, 0)))
    assert lookup(np.zeros((0, 3)), np.zeros(0, int)).shape == (0, 3)


@pytest.mark.parametrize(
    ("mode", "rows"), [("fill", [0, None]), ("clip", [0, 7]), ("wrap", [0, 1])]
)
def test_modes(mode, rows):
    expected = np.array([0 * TABLE[0] if row is None else TABLE[row] for row in rows])
    gradient = jaxops.sparse_value_and_grad(
        lambda table: jnp.sum(lookup(table, [0, 9], mode=mode)), tables=""
    )

    @jax.jit
    def results(table):
        value, slices = gradient(table)
        dense = slices.to_dense(), slices.add_to(jnp.zeros_like(table))
        return lookup(table, [0, 9], mode=mode), value, dense

    found, value, of_slices = results(TABLE)
    np.testing.assert_array_equal(found, expected)
    assert value == np.sum(expected)
    dense = jax.grad(lambda table: jnp.sum(jaxops.gather(table, [0, 9], mode=mode)))(TABLE)
    for gradient_of_table in of_slices:
        np.testing.assert_array_equal(gradient_of_table, dense)


def test_an_index_of_64_bits_is_not_cut_off():
    with jax.enable_x64(True):
        rows = lookup(TABLE, np.array([2**32 + 3, 3]), mode="fill")
    np.testing.assert_array_equal(rows, [0 * TABLE[3], TABLE[3]])


def test_an_index_out_of_bounds_is_an_error():
    with pytest.raises(
        jaxops.OutOfBoundsError, match=r"indices\[1\] = 8 is not in \[0, 8\)"
    ) as error:
        lookup(TABLE, [0, 8], name="words")
    assert (error.value.index, error.value.name) == (8, "words")
    with pytest.raises(jaxops.OutOfBoundsError), jaxops.typed_errors():
        jax.block_until_ready(jax.jit(lookup)(TABLE, [0, -1]))


def test_axes_that_need_not_be_said():
    by_rows = jax.device_put(TABLE, NamedSharding(MESH, P("d", None)))
    np.testing.assert_array_equal(jaxops.sharded_gather(by_rows, IDS), TABLE[IDS])
    typed = jax.device_put(TABLE, NamedSharding(EXPLICIT, P("d")))
    with jax.set_mesh(EXPLICIT):
        np.testing.assert_array_equal(jax.jit(jaxops.sharded_gather)(typed, IDS), TABLE[IDS])
    with jax.set_mesh(MESH):
        result = jax.jit(lambda x: jaxops.sharded_gather(x, IDS, ["d"]))(TABLE)
    np.testing.assert_array_equal(result, TABLE[IDS])


def test_gradients():
    expected = jax.grad(lambda table: jnp.sum(table[IDS] ** 2))(TABLE)

    @jax.jit
    def gradients(table):
        slices = jaxops.sparse_value_and_grad(loss, tables="")(table, IDS)[1]
        dense = [jax.grad(loss)(table, IDS, 1), jax.grad(loss)(table, IDS), slices.to_dense()]
        return slices, dense, slices.add_to(table)

    slices, dense, added = gradients(TABLE)
    assert slices.sharding == RowSharding(("d",), MESH)
    np.testing.assert_array_equal(slices.indices, IDS.reshape(-1))
    for found in dense:
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(added, TABLE + expected)


@pytest.mark.parametrize("wrap", [jax.checkpoint, jax.jit, lambda f: f])
def test_in_scan(wrap):
    def loss_of(lookup):
        def loss(table):
            def body(total, ids):
                return total + jnp.sum(wrap(lookup)(table, ids) ** 2), None

            return jax.lax.scan(body, 0.0, IDS)[0]

        return loss

    _, slices = jaxops.sparse_value_and_grad(loss_of(lookup), tables="")(TABLE)
    expected = jax.grad(loss_of(jaxops.gather))(TABLE)
    np.testing.assert_array_equal(slices.to_dense(), expected)
    assert slices.sharding == RowSharding(("d",), MESH)


def test_a_gradient_keeps_how_the_table_is_shared():
    slices = slices_of(capacity=3)
    sharding = slices.sharding
    same = [2 * slices, slices / 2, -slices, slices.sum_duplicates(), jax.jit(lambda x: x)(slices)]
    same += [jaxops.clip_by_global_norm(slices, 1.0)[0]]
    same += [jaxops.sum_stacked(jax.tree.map(lambda x: x[None], slices))]
    assert all(x.sharding == sharding for x in same)
    stored = pickle.loads(pickle.dumps(slices))  # without the devices of the mesh
    assert stored.sharding is None
    np.testing.assert_array_equal(stored.to_dense(), slices.to_dense())
    sums = slices + slices
    assert sums.sharding == sharding._replace(capacity=6)
    assert (slices + slices_of()).sharding.capacity is None
    plain = jaxops.IndexedSlices(slices.values, slices.indices, slices.dense_shape)
    assert plain.sharding is None
    assert (plain + slices).sharding == sharding
    np.testing.assert_array_equal(
        (plain + slices).add_to(jnp.asarray(TABLE)), TABLE + 2 * slices.to_dense()
    )


def test_a_gradient_whose_axes_the_program_does_not_know():
    """As after a `shard_map`: the whole gradient, for one device or for XLA's partitioner."""

    def in_shard(table, ids):
        def loss(table):
            return jnp.sum(jaxops.sharded_gather(table, ids, "d") ** 2)

        return jaxops.sparse_value_and_grad(loss, tables="")(table)[1]

    mapped = jax.shard_map(in_shard, mesh=MESH, in_specs=P("d"), out_specs=P("d"))
    slices = jax.jit(mapped)(TABLE, IDS)
    assert slices.sharding is None
    expected = jax.grad(lambda table: jnp.sum(table[IDS] ** 2))(TABLE)
    np.testing.assert_array_equal(slices.add_to(jnp.zeros_like(TABLE)), expected)
    with jax.set_mesh(MESH):
        assert slices.sharding is not None
        np.testing.assert_array_equal(slices.add_to(jnp.zeros_like(TABLE)), expected)


def test_a_table_looked_up_in_two_ways_under_shard_map():
    def step(table, ids):
        def loss(table):
            whole = jaxops.sharded_gather(table, ids, "d")
            return jnp.sum(whole**2) + jnp.sum(jaxops.gather(table, ids[0]))

        slices = jaxops.sparse_value_and_grad(loss, tables="")(table)[1]
        return slices.add_to(jnp.zeros_like(table)), jax.grad(loss)(table)

    mapped = jax.shard_map(step, mesh=MESH, in_specs=P("d"), out_specs=P("d"))
    sparse, dense = jax.jit(mapped)(TABLE, IDS)
    np.testing.assert_array_equal(sparse, dense)


@pytest.mark.parametrize("number", [-1, 7, 99])
def test_padding(number):
    def total(table, ids, **options):
        return jnp.sum(lookup(table, ids, **options) ** 2)

    ids, others = jnp.array([number, 3, number]), jnp.array([3])
    np.testing.assert_array_equal(
        lookup(TABLE, ids, padding_index=number), TABLE[[3]] * np.array([[0], [1], [0]])
    )
    padded = functools.partial(total, ids=ids, padding_index=number)

    @jax.jit
    def gradients(table):
        slices = jaxops.sparse_value_and_grad(padded, tables="")(table)[1]
        return slices.to_dense(), jax.grad(padded)(table), jax.grad(total)(table, others)

    sparse, dense, expected = gradients(TABLE)
    np.testing.assert_array_equal(dense, expected)
    np.testing.assert_array_equal(sparse, expected)
    with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[1\] = 8"):
        lookup(TABLE, [number, 8], padding_index=number)


def test_a_sparse_step_makes_nothing_of_the_size_of_the_table():
    def step(table):
        return jaxops.sparse_value_and_grad(loss, tables="")(table, IDS)[1].add_to(table)

    program = jax.make_jaxpr(step)(jnp.zeros((8000, 3))).jaxpr
    made = [v for eqn in program.eqns for v in eqn.outvars if v.aval.size >= 8000]
    assert made == program.outvars
