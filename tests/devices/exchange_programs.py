"""`sharded_gather` and what follows it on host devices, as on one; run by `test_devices.py`.

A process of its own, because the number of devices is fixed when JAX starts.

Usage: exchange_programs.py DEVICES, a number
"""

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
from checks import raised
from fast import fast_jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import jaxops

DEVICES = int(sys.argv[1])
jax.config.update("jax_num_cpu_devices", DEVICES)

ROWS, WIDTH, BATCH, EACH = 20 * DEVICES, 4, 2 * DEVICES, 6
RNG = np.random.default_rng(0)
# Small integers, so that sums do not depend on their order.
TABLE = RNG.integers(-8, 8, (ROWS, WIDTH)).astype(np.float32)
OTHER = RNG.integers(-8, 8, (DEVICES, WIDTH)).astype(np.float32)
WEIGHTS = RNG.integers(-4, 4, (BATCH, EACH, WIDTH)).astype(np.float32)
IDS = {
    "random": RNG.integers(0, ROWS, (BATCH, EACH)),
    "all of one owner": RNG.integers(0, 20, (BATCH, EACH)) + ROWS - 20,
    "one row": np.full((BATCH, EACH), ROWS - 3),
}
IDS = {name: ids.astype(np.int32) for name, ids in IDS.items()}
BAD = IDS["random"].copy()
BAD[1, 2] = ROWS
OPTIMIZERS = {
    "sgd": optax.sgd(0.5),
    "adagrad": optax.adagrad(0.5),
    "clipped adagrad": optax.chain(optax.clip_by_global_norm(1.0), optax.adagrad(0.5)),
}


def loss_of(lookup):
    """Two lookups of one table, and one of another."""

    def loss(params, ids, weights):
        rows = lookup(params["table"], ids)
        first = lookup(params["table"], ids[:, 0])
        others = lookup(params["other"], ids[:, 1] % DEVICES)
        return jnp.sum(rows * weights) + jnp.sum(first * others)

    return loss


def programs_of(lookup, capacity):
    """By name, functions of (params, ids, weights)."""
    loss = loss_of(functools.partial(lookup, capacity=capacity))

    def gradient(params, ids, weights):
        return jaxops.sparse_value_and_grad(loss, tables=["table", "other"])(params, ids, weights)[
            1
        ]

    def norm(params, ids, weights):
        return jaxops.global_norm(gradient(params, ids, weights)) * jnp.ones(len(ids))

    def add(params, ids, weights):
        grads = gradient(params, ids, weights)
        return {name: (-0.5 * grads[name]).add_to(params[name]) for name in params}

    def lazy(optimizer, params, ids, weights):
        optimizer = jaxops.lazy(optimizer)
        state = optimizer.init(params)
        for _ in range(2):
            grads = gradient(params, ids, weights)
            params, state = optimizer.apply(grads, state, params)
        return params, [x for x in jax.tree.leaves(state) if x.ndim]

    def forward_mode(params, ids, weights):
        table = params["table"]
        return jax.jvp(lambda table: lookup(table, ids, capacity=capacity), (table,), (table,))[1]

    def of_16_bits(params, ids, weights):
        """By sums in float32, which are other programs."""
        table = params["table"].astype(jnp.bfloat16)
        return jax.grad(lambda table: loss({**params, "table": table}, ids, weights))(table)

    return {
        "gather": lambda params, ids, weights: lookup(params["table"], ids, capacity=capacity),
        "vmap": lambda params, ids, weights: jax.vmap(
            lambda ids: lookup(params["table"], ids, capacity=capacity), 1, 1
        )(ids),
        "forward mode": forward_mode,
        "gradient": jax.grad(loss),
        "gradient of bfloat16": of_16_bits,
        "norm": norm,
        "add_to": add,
        **{name: functools.partial(lazy, optimizer) for name, optimizer in OPTIMIZERS.items()},
    }


def gather_of_one(table, ids, capacity):
    return jaxops.gather(table, ids)


TWO_AXES = ["gradient", "gradient of bfloat16", "adagrad"]
# Roots and quotients are rounded by the number of rows that a loop has.
INEXACT = {"adagrad", "clipped adagrad", "norm"}
assert_close = functools.partial(np.testing.assert_allclose, rtol=1e-6, atol=1e-6)


def outcomes_of_one(program):
    """By name of the ids, on one device."""
    compiled, params = fast_jit(program), {"table": TABLE, "other": OTHER}
    return {
        name: jax.tree.map(np.asarray, compiled(params, ids, WEIGHTS)) for name, ids in IDS.items()
    }


def check(programs, expected, put, run, way):
    for name, program in programs.items():
        compiled = run(program)
        assert_same = assert_close if name in INEXACT else np.testing.assert_array_equal
        for ids_name, ids in IDS.items():
            actual = compiled(put({"table": TABLE, "other": OTHER}), put(ids), put(WEIGHTS))
            words = f"{way}, {name}, {ids_name}"
            compare = functools.partial(assert_same, err_msg=words)
            jax.tree.map(compare, actual, expected[name][ids_name])


def check_other_ways(lookup, mesh):
    """The number of ids need not be a multiple of the devices; a `shard_map` may get slices."""

    def loss(table, ids, lookup):
        return jnp.sum(lookup(table, ids, capacity=3) ** 2)

    def added(slices, table):
        return slices.add_to(table)

    def distinct_added(slices, table):
        return slices.sum_duplicates(size=ids.size - 1).add_to(table)

    dense, sharded = (functools.partial(loss, lookup=f) for f in (gather_of_one, lookup))
    sparse = jaxops.sparse_value_and_grad(sharded, tables="")
    in_shards = jax.shard_map(added, mesh=mesh, in_specs=P("d"), out_specs=P("d"))
    ids = IDS["random"].reshape(-1)
    for some, add in ((ids[1:], distinct_added), (ids, in_shards)):
        expected = jax.grad(dense)(TABLE, some)
        np.testing.assert_array_equal(fast_jit(jax.grad(sharded))(TABLE, some), expected)
        _, slices = fast_jit(sparse)(TABLE, some)
        np.testing.assert_array_equal(fast_jit(add)(slices, 0 * TABLE), expected)


def main():
    programs = programs_of(gather_of_one, None)
    expected = {name: outcomes_of_one(program) for name, program in programs.items()}
    meshes: dict[str, tuple] = {"d": ((DEVICES,), ("d",))}
    if DEVICES == 8:
        meshes["two axes"] = ((4, 2), ("a", "b"))
    for mesh_name, (shape, names) in meshes.items():
        mesh = jax.make_mesh(shape, names, axis_types=(AxisType.Auto,) * len(names))
        put = functools.partial(jax.device_put, device=NamedSharding(mesh, P(names)))

        def mapped(program, mesh=mesh, names=names):
            function = jax.shard_map(program, mesh=mesh, in_specs=P(names), out_specs=P(names))
            return fast_jit(function)

        lookups = {
            "jit": functools.partial(jaxops.sharded_gather, axis_name=names, mesh=mesh),
            "shard_map": functools.partial(jaxops.sharded_gather, axis_name=names),
        }
        bad = put({"table": TABLE, "other": OTHER}), put(BAD), put(WEIGHTS)
        for kind, lookup in lookups.items():
            run = fast_jit if kind == "jit" else mapped
            # One round takes everything by default; with a capacity of 3 some ids take more.
            for capacity in (None, 3) if mesh_name == "d" else (3,):
                programs = programs_of(lookup, capacity)
                if capacity is None:
                    programs = {name: programs[name] for name in ("gather", "adagrad")}
                if kind == "shard_map":
                    programs.pop("clipped adagrad", None)  # which clips by the norm of one shard
                if mesh_name != "d":
                    programs = {name: programs[name] for name in TWO_AXES}
                way = f"{kind}, {mesh_name}, capacity {capacity}"
                check(programs, expected, put, run, way)
            if kind == "jit" and mesh_name == "d":
                programs = {name: programs_of(lookup, 3)[name] for name in ("gather", "gradient")}
                check(programs, expected, lambda arrays: arrays, run, "arrays on no mesh")
                check_other_ways(lookup, mesh)
            if mesh_name == "d":
                for name in ("gather", "gradient"):
                    error = str(raised(run(programs_of(lookup, None)[name]), *bad))
                    assert f"= {ROWS} is not in [0, {ROWS}) [Op:sharded_gather]" in error, error
                    assert "at exchange_programs.py:" in error, error


if __name__ == "__main__":
    main()
