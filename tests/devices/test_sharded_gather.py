"""`sharded_gather` on a mesh of one device; on several: `tests/devices/test_devices.py`."""

import functools
import itertools
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fast import fast_jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from ops.test_ops import MODES_WITHOUT_ERRORS, check_values, shifted
from records.gather import gather
from records.loops import indexed_case, padded
from records.record import MODES

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


def slices_of(capacity=None):
    gradient = jaxops.sparse_value_and_grad(loss, tables="")
    return jax.jit(gradient, static_argnums=2)(TABLE, IDS, capacity)[1]


def cases_of(op):
    """By name, cases of the harness whose options `op` and the oracle share."""
    case = functools.partial(indexed_case, op, gather)
    cases = {
        "matrix": case((8, 3), IDS),
        "vector": case((8,), IDS),
        "cube": case((4, 2, 3), [3, 1]),
        "one row": case((8, 3), 3),
        "no ids": case((8, 3), np.zeros((0, 2))),
        "empty rows": case((8, 0), IDS),
    }
    return cases | {f"padded by {n}": padded(cases["matrix"], n) for n in (-1, 7, 99)}


CASES, OF_GATHER = cases_of(lookup), cases_of(jaxops.gather)


@pytest.mark.parametrize("capacity", [None, 1])
def test_batches(capacity):
    """Of ids, of tables, or of both, along any dimension."""
    tables, ids = np.stack([TABLE, -TABLE, 2 * TABLE]), np.array([[7, 0], [6, 3], [1, 1]])
    in_axes = [*itertools.product([None, 0, 2], [None, 0, 1])][1:]

    def along(stacked, axis):
        return stacked[0] if axis is None else np.moveaxis(stacked, 0, axis)

    arrays = [(along(tables, d), along(ids, e)) for d, e in in_axes]

    @fast_jit
    def mapped(arrays):
        of_one = functools.partial(lookup, capacity=capacity)
        return [jax.vmap(of_one, axes)(*own) for axes, own in zip(in_axes, arrays, strict=True)]

    for (d, e), result in zip(in_axes, mapped(arrays), strict=True):
        for k in range(3):
            expected = tables[0 if d is None else k][ids[0 if e is None else k]]
            np.testing.assert_array_equal(result[k], expected)


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name):
    check_values(CASES[name], {mode: {"mode": mode} for mode in MODES}, [fast_jit])

    (ids,) = shifted(CASES[name], 3)

    @fast_jit
    def gradients(table):
        def of(mode):
            def loss(op, table):
                return jnp.sum(op(table, ids, mode=mode) ** 2)

            sharded = functools.partial(loss, CASES[name].op)
            slices = jaxops.sparse_value_and_grad(sharded, tables="")(table)[1]
            added = slices.add_to(jnp.zeros_like(table))
            found = [jax.grad(sharded)(table), slices.to_dense(), added]
            return found, jax.grad(functools.partial(loss, OF_GATHER[name].op))(table)

        return {mode: of(mode) for mode in MODES_WITHOUT_ERRORS}

    for mode, (found, expected) in gradients(*CASES[name].data).items():
        for gradient in found:
            np.testing.assert_array_equal(gradient, expected, mode)


def test_dtypes():
    dtypes = [np.float32, np.int8, np.uint16, bool, np.complex64, jnp.bfloat16]
    tables, ids = [TABLE.astype(dtype) for dtype in dtypes], np.array([0, 7], np.uint8)
    results = jax.jit(lambda tables: [lookup(table, ids, capacity=1) for table in tables])(tables)
    for table, result in zip(tables, results, strict=True):
        np.testing.assert_array_equal(result, table[ids], strict=True)
    np.testing.assert_array_equal(lookup(TABLE, [1], capacity=1), TABLE[[1]])
    assert lookup(np.zeros((0, 3)), np.zeros(0, int)).shape == (0, 3)


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
    with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[1\] = 8"):
        lookup(TABLE, [-1, 8], padding_index=-1)
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
    sharding = RowSharding(("d",), MESH, 3)

    @fast_jit
    def results(slices, of_no_capacity):
        same = [2 * slices, slices / 2, -slices, slices.sum_duplicates(size=4)]
        same += [jax.jit(lambda x: x)(slices)]
        same += [jaxops.clip_by_global_norm(slices, 1.0)[0]]
        same += [jaxops.sum_stacked(jax.tree.map(lambda x: x[None], slices))]
        assert all(x.sharding == sharding for x in [slices, *same])
        assert (slices + slices).sharding == sharding._replace(capacity=6)
        assert (slices + of_no_capacity).sharding.capacity is None
        plain = jaxops.IndexedSlices(slices.values, slices.indices, slices.dense_shape)
        assert plain.sharding is None
        assert (plain + slices).sharding == sharding
        return (plain + slices).add_to(jnp.asarray(TABLE)), slices.to_dense()

    slices = slices_of(3)
    np.testing.assert_array_equal(slices.indices, IDS.reshape(-1))
    table, dense = results(slices, slices_of())
    np.testing.assert_array_equal(table, TABLE + 2 * dense)
    stored = pickle.loads(pickle.dumps(slices))  # without the devices of the mesh
    assert stored.sharding is None
    np.testing.assert_array_equal(stored.to_dense(), dense)


def test_a_gradient_whose_axes_the_program_does_not_know():
    """As after a `shard_map`: the whole gradient, for one device or for XLA's partitioner."""

    def in_shard(table, ids):
        def loss(table):
            return jnp.sum(jaxops.sharded_gather(table, ids, "d") ** 2)

        return jaxops.sparse_value_and_grad(loss, tables="")(table)[1]

    mapped = jax.shard_map(in_shard, mesh=MESH, in_specs=P("d"), out_specs=P("d"))
    slices, added = jax.jit(mapped)(TABLE, IDS), fast_jit(jaxops.IndexedSlices.add_to)
    assert slices.sharding is None
    expected = jax.grad(lambda table: jnp.sum(table[IDS] ** 2))(TABLE)
    np.testing.assert_array_equal(added(slices, jnp.zeros_like(TABLE)), expected)
    with jax.set_mesh(MESH):
        assert slices.sharding is not None
        np.testing.assert_array_equal(added(slices, jnp.zeros_like(TABLE)), expected)


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


def test_a_sparse_step_makes_nothing_of_the_size_of_the_table():
    def step(table):
        return jaxops.sparse_value_and_grad(loss, tables="")(table, IDS)[1].add_to(table)

    program = jax.make_jaxpr(step)(jnp.zeros((8000, 3))).jaxpr
    made = [v for eqn in program.eqns for v in eqn.outvars if v.aval.size >= 8000]
    assert made == program.outvars
