"""Sparse gradients and lazy steps on meshes of explicit axes; run by `test_devices.py`.

A process of its own, because the number of devices is fixed when JAX starts. The results are those
of the dense gradient and of the step on one device, and the devices share them as the table.

Usage: explicit_programs.py DEVICES, a number
"""

import contextlib
import functools
import math
import sys
from collections import Counter

import host_devices
import jax
import jax.numpy as jnp
import numpy as np
import optax
from checks import raised
from fast import fast_jit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from sparse.test_explicit_meshes import GATHERS, SHARDED, loss_of, sharded

import jaxops

DEVICES = int(sys.argv[1])
jax.config.update("jax_num_cpu_devices", DEVICES)

SHAPE, NAMES = ((4, 2), ("d", "m")) if DEVICES == 8 else ((DEVICES,), ("d",))
ROWS, WIDTH, COUNT = 5 * DEVICES, 4, 4 * DEVICES
RNG = np.random.default_rng(0)
TABLE = RNG.integers(-4, 5, (ROWS, WIDTH)).astype(np.float32) / 4
IDS = RNG.integers(0, ROWS - 2, COUNT).astype(np.int32)  # some of them twice; lookups add 2 to them
BY_TABLE = {"whole": P(None, None), "rows": P("d", None)}
if DEVICES == 8:
    BY_TABLE |= {"columns": P(None, "m"), "both": P("d", "m"), "both axes": P(("d", "m"), None)}

# Of a table and ids on the mesh.
LOOKUPS = {
    **{name: lookup for name, (lookup, _) in (GATHERS | SHARDED).items()},
    "ids whole": lambda t, i: jaxops.gather(t, jax.reshard(i, P())),
    "two dimensions": lambda t, i: jaxops.gather(t, jnp.stack([i, i], 1)),
    "out_sharding": lambda t, i: jaxops.gather(t, i, out_sharding=P(None, None)),
    "fill": lambda t, i: jaxops.gather(t, i + 5, mode="fill"),
    "elements": lambda t, i: jaxops.gather_nd(t, jnp.stack([i, i % 3], 1)),
    "embedding_lookup": jaxops.embedding_lookup,
    "within rows": lambda t, i: jax.jit(
        lambda t: jaxops.gather(t - jnp.mean(t, 1, keepdims=True), i)
    )(t),
    "sharded_gather, few": lambda t, i: sharded(t, jax.reshard(i, P())[:3]),
}
# Lookups of JAX that give the expected values, for modes that no other test compares on a mesh.
BY_JAX = {
    "fill": lambda t, i: t.at[i + 5].get(mode="fill", fill_value=0, out_sharding=P("d", None)),
}
# Run in other ways than in one program too. Eagerly `sharded_gather` compiles hundreds of programs.
ALSO_EAGER = ("gather", "scaled", *(["sharded_gather"] if DEVICES == 2 else []))
OPTIMIZERS = {"sgd": optax.sgd(0.5), "adagrad": optax.adagrad(0.5), "adam": optax.adam(0.5)}


def make_mesh(kind, shape: tuple[int, ...] = SHAPE):
    devices = jax.devices()[: math.prod(shape)]
    return jax.make_mesh(shape, NAMES, axis_types=(kind,) * len(NAMES), devices=devices)


def put(mesh, x, spec):
    return jax.device_put(x, NamedSharding(mesh, spec))


def everything(lookup, table, ids):
    """What is made of a sparse gradient."""
    value, slices = jaxops.sparse_value_and_grad(loss_of(lookup), tables="")(table, ids)
    twice = (slices + slices).sum_duplicates(2 * slices.indices.size)
    results = {
        "value": value,
        "dense": slices.to_dense(),
        "added": slices.add_to(table),
        "norm": jaxops.global_norm({"table": slices, "other": jnp.ones(3)}),
        "twice": twice.to_dense(),
    }
    for name, optimizer in OPTIMIZERS.items():
        optimizer = jaxops.lazy(optimizer)
        params, state = optimizer.apply(slices, optimizer.init(table), table)
        results[name] = params, [x for x in jax.tree.leaves(state) if x.ndim]
    return results


def everything_of_one(lookup):
    """The same on one device, from the dense gradient."""
    mesh = make_mesh(AxisType.Explicit, (1,) * len(NAMES))
    with jax.set_mesh(mesh):
        table, ids = put(mesh, TABLE, P("d", None)), put(mesh, IDS, P("d"))
        gradient = fast_jit(jax.value_and_grad(loss_of(lookup)))
        value, gradient = jax.tree.map(np.asarray, gradient(table, ids))
    results = {
        "value": value,
        "dense": gradient,
        "added": TABLE + gradient,
        "norm": np.sqrt(np.sum(gradient**2) + 3),
        "twice": 2 * gradient,
    }
    # A first step changes no row whose gradient is 0.
    for name, optimizer in OPTIMIZERS.items():
        updates, state = optimizer.update(gradient, optimizer.init(TABLE), TABLE)
        results[name] = TABLE + np.asarray(updates), [x for x in jax.tree.leaves(state) if x.ndim]
    return results


def check(results, expected, table, words):
    compare = functools.partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-5, err_msg=words)
    jax.tree.map(compare, results, expected)
    like_table = jax.tree.leaves([results[name] for name in ("added", *OPTIMIZERS)])
    assert {jax.typeof(x).sharding.spec for x in like_table} == {jax.typeof(table).sharding.spec}, (
        words
    )


def sent(kind):
    """Elements by kind of collective in a step with `sharded_gather`."""
    mesh = make_mesh(kind)
    optimizer = jaxops.lazy(optax.adagrad(0.5))

    def step(table, state, ids):
        slices = jaxops.sparse_value_and_grad(loss_of(sharded), tables="")(table, ids)[1]
        return optimizer.apply(slices, state, table)

    with jax.set_mesh(mesh):
        table = put(mesh, TABLE, P("d", None))
        state = optimizer.init(table)
        compiled = jax.jit(step).lower(table, state, put(mesh, IDS, P("d"))).compile()
    counts = Counter()
    for name, size in host_devices.sent(compiled.as_text() or ""):
        counts[name] += size
    return counts


def is_refused(context, table, rate):
    """Whether an optimizer is judged, where the arrays that it closes over are of the mesh too."""
    with context:
        try:
            jaxops.lazy(optax.lamb(rate)).init(table)
        except ValueError as error:
            return "by itself" in str(error)
    return False


def main():
    mesh = make_mesh(AxisType.Explicit)
    for name, lookup in LOOKUPS.items():
        expected = everything_of_one(BY_JAX.get(name, lookup))
        for table_name, spec in BY_TABLE.items():
            table, ids = put(mesh, TABLE, spec), put(mesh, IDS, P("d"))
            ways: dict[str, tuple] = {"jit": (fast_jit, jax.set_mesh)}
            if name in ALSO_EAGER and table_name == "rows":
                ways["eager"] = lambda function: function, jax.set_mesh
                ways["no set_mesh"] = fast_jit, contextlib.nullcontext
                ways["eager, no set_mesh"] = lambda function: function, contextlib.nullcontext
            for way, (run, context) in ways.items():
                with context(mesh):
                    results = run(functools.partial(everything, lookup))(table, ids)
                check(results, expected, table, f"{name}, {table_name}, {way}")
    rate = put(mesh, np.float32(0.1), P())
    for context in (jax.set_mesh(mesh), contextlib.nullcontext()):
        assert is_refused(context, put(mesh, TABLE, P("d", None)), rate)
    with jax.set_mesh(mesh):
        lookup = jax.jit(lambda table, ids: jaxops.sharded_gather(table, ids))
        error = raised(lookup, put(mesh, TABLE, P("d")), put(mesh, IDS + ROWS, P("d")))
    assert "[Op:sharded_gather] at explicit_programs.py:" in str(error), error
    if DEVICES > 1:
        assert sent(AxisType.Auto)["all-to-all"]
        assert sent(AxisType.Explicit) == sent(AxisType.Auto)


if __name__ == "__main__":
    main()
