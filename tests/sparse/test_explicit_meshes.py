"""Sparse gradients on meshes of explicit axes: their types, and values on a mesh of one device.

`tests/devices/test_devices.py` has values on several devices.
"""

import contextlib
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from checks import NIGHTLY, SLOW
from explicit_mesh import MESH, floats, ints
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import jaxops

TABLES = {
    "whole": P(None, None),
    "rows": P("d", None),
    "columns": P(None, "m"),
    "both": P("d", "m"),
}


def sharded(table, ids):
    return jaxops.sharded_gather(table, ids, "d")


def of_auto_axes(function):
    return jax.sharding.auto_axes(function, out_sharding=P("d", None))


def in_loop(lookup):
    def looked_up(table, ids):
        return lax.scan(
            lambda _, n: (0.0, lookup(table, ids + n)), 0.0, jnp.arange(3, dtype=ids.dtype)
        )[1]

    return looked_up


def in_branch(lookup):
    def looked_up(table, ids):
        is_first = jnp.sum(ids) > 3
        return lax.cond(is_first, lambda: lookup(table, ids), lambda: 2 * lookup(table, ids + 1))

    return looked_up


def scales_of(table):
    scales = jnp.arange(table.size, dtype=jnp.float32).reshape(table.shape)
    return jax.reshard(scales, jax.typeof(table).sharding)


# Of a table [8, 4] and ids [6@d]; and how many rows the gradient has.
GATHERS = {
    "gather": (jaxops.gather, 6),
    "at": (lambda t, i: t.at[i].get(out_sharding=P("d", None)), 6),
    "reshard": (lambda t, i: jax.reshard(t, P())[jax.reshard(i, P())], 6),
    "auto_axes": (of_auto_axes(lambda t, i: t[i]), 6),
    "a loop of auto_axes": (of_auto_axes(lambda t, i: in_loop(lambda t, i: t[i])(t, i)[0]), 18),
    "loop": (in_loop(jaxops.gather), 18),
    "branch": (in_branch(jaxops.gather), 12),
    "jit": (lambda t, i: jax.jit(jaxops.gather)(t, i), 6),
    "checkpoint": (jax.checkpoint(jaxops.gather), 6),
    "scaled": (lambda t, i: jaxops.gather(2 * t, i), 6),
    "scaled, resharded": (lambda t, i: jax.reshard(2 * t, P())[jax.reshard(i, P())], 6),
    "scaled row by row": (lambda t, i: jaxops.gather(t * scales_of(t), i), 6),
    "cast": (lambda t, i: jaxops.gather(t.astype(jnp.bfloat16), i), 6),
    "softmax": (lambda t, i: jaxops.gather(jax.nn.softmax(jax.reshard(t, P()), axis=1), i), 6),
    "branch, scaled": (in_branch(lambda t, i: jaxops.gather(jnp.tanh(t), i)), 12),
    "loop, scaled": (in_loop(lambda t, i: jaxops.gather(jnp.tanh(t), i)), 18),
}
SHARDED = {
    "sharded_gather": (sharded, 6),
    "sharded_gather twice": (lambda t, i: sharded(t, i) * sharded(t, i + 1), 12),
    "sharded_gather and scaled": (lambda t, i: sharded(t, i) + jaxops.gather(2 * t, i), 12),
    "loop of sharded_gather": (in_loop(sharded), 18),
    "branch, of sharded_gather": (in_branch(sharded), 12),
}
# JAX before 0.10.2 has no derivative of a `cond` with `auto_axes` in its branches.
if jax.__version_info__ < (0, 10, 2):
    for lookups in (GATHERS, SHARDED):
        for name in [name for name in lookups if name.startswith("branch")]:
            del lookups[name]


def loss_of(lookup):
    return lambda table, ids: jnp.sum(jnp.square(lookup(table, ids).astype(jnp.float32)))


def step(lookup, table, ids):
    """A gradient, and what is made of it."""
    value, slices = jaxops.sparse_value_and_grad(loss_of(lookup), tables="")(table, ids)
    optimizer = jaxops.lazy(optax.adagrad(0.5))
    state = optimizer.init(table)
    return {
        "value": value,
        "values": slices.values,
        "indices": slices.indices,
        "dense": slices.to_dense(),
        "norm": jaxops.global_norm(slices),
        "distinct": slices.sum_duplicates(9).values,
        "stacked": jaxops.sum_stacked(jax.tree.map(lambda x: x[None], slices)).values,
        "like table": [slices.add_to(table), optimizer.apply(slices, state, table)],
    }


def types(lookup, spec):
    table, ids = floats(8, 4, of=spec), ints(6, of=P("d"))
    with jax.sharding.use_abstract_mesh(MESH):
        found = jax.eval_shape(functools.partial(step, lookup), table, ids)
    of_table = {str(jax.typeof(x)) for x in jax.tree.leaves(found.pop("like table"))}
    assert of_table == {str(jax.typeof(table))}
    return {name: str(jax.typeof(x)) for name, x in found.items()}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", [*GATHERS, *SHARDED])
def test_types(name, table):
    """All devices have the rows of a gather, those of sharded_gather stay where they are.

    Within rows they are shared as the table.
    """
    lookup, n = (GATHERS | SHARDED)[name]
    row = "4@m" if "m" in TABLES[table] else "4"
    axis = "@d" if name in SHARDED else ""
    assert types(lookup, TABLES[table]) == {
        "value": "float32[]",
        "values": f"float32[{n}{axis},{row}]",
        "indices": f"int32[{n}{axis}]",
        "dense": f"float32[8{axis},{row}]",
        "norm": "float32[]",
        "distinct": f"float32[9,{row}]",
        "stacked": f"float32[{n}{axis},{row}]",
    }


def test_rows_that_the_devices_cannot_share_evenly():
    few = lambda t, i: sharded(t, jax.reshard(i, P())[:5])  # noqa: E731
    # One more, which counts for nothing.
    assert types(few, P("d", None))["values"] == "float32[6@d,4]"
    both = lambda t, i: sharded(t, i) + jaxops.gather(t, 3)[None]  # noqa: E731
    assert types(both, P("d", None))["values"] == "float32[7,4]"


FEW = ["gather", "scaled", "sharded_gather"]


@pytest.mark.parametrize(
    ("name", "jit", "is_set"),
    [
        *((name, True, True) for name in FEW),
        ("gather", True, False),
        pytest.param("sharded_gather", True, False, marks=SLOW),
        *(pytest.param(name, False, True, marks=SLOW) for name in FEW),
        *(pytest.param(name, False, False, marks=SLOW) for name in FEW),
        *(pytest.param(name, False, True, marks=NIGHTLY) for name in GATHERS if name not in FEW),
    ],
)
def test_as_the_dense_gradient(name, jit, is_set):
    """On a mesh of one device, which an array tells where `jax.set_mesh` does not.

    All lookups in one program, also on several devices: `tests/devices/test_devices.py`.
    """
    lookup = jaxops.sharded_gather if name == "sharded_gather" else GATHERS[name][0]
    mesh = jax.make_mesh((1, 1), ("d", "m"), axis_types=(AxisType.Explicit,) * 2)
    put = lambda x, spec: jax.device_put(x, NamedSharding(mesh, spec))  # noqa: E731
    table = put(np.arange(32, dtype=np.float32).reshape(8, 4) / 16, P("d", None))
    ids = put(np.array([4, 1, 1, 0, 5, 4], np.int32), P("d"))
    function = functools.partial(step, lookup)
    with jax.set_mesh(mesh) if is_set else contextlib.nullcontext():
        value, dense = jax.jit(jax.value_and_grad(loss_of(lookup)))(table, ids)
        found = (jax.jit(function) if jit else function)(table, ids)
    assert jax.typeof(found["values"]).sharding.mesh == mesh.abstract_mesh
    assert_close = functools.partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-6)
    assert_close(found["value"], value)
    np.testing.assert_allclose(found["dense"], dense, rtol=1e-2 if name == "cast" else 1e-5)
    assert_close(found["norm"], np.linalg.norm(found["dense"]))
    added, (stepped, _) = found["like table"]
    assert_close(added, table + found["dense"])
    optimizer = optax.adagrad(0.5)
    updates, _ = optimizer.update(found["dense"], optimizer.init(table))
    assert_close(stepped, table + updates)


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("shape", [(), (1, 4), (8, 4)])
def test_a_parameter_that_one_branch_reads(number, shape):
    """The others return zeros in its place."""
    mesh = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Explicit,))

    def loss(params, ids):
        cases: list = [lambda t, k=k: (k + 2.0) * t for k in range(3)]
        cases[number] = lambda t: params["scale"] * t
        return jnp.sum(lax.switch(ids[0] % 3, cases, params["embed"])[ids])

    with jax.set_mesh(mesh):
        params = {"embed": jnp.ones((8, 4)), "scale": jnp.full(shape, 3.0)}
        params = jax.device_put(params, NamedSharding(mesh, P()))
        for first in range(3):
            ids = jax.device_put(jnp.array([first, 5, 5]), NamedSharding(mesh, P()))
            _, found = jax.jit(jaxops.sparse_value_and_grad(loss, tables="embed"))(params, ids)
            found["embed"] = found["embed"].to_dense()
            jax.tree.map(np.testing.assert_allclose, found, jax.jit(jax.grad(loss))(params, ids))
