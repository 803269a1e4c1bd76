"""Sparse gradients and lazy steps on meshes of explicit axes; run by `test_explicit.py`.

A process of its own, because the number of devices is fixed when JAX starts. Prints one JSON
object: what differs from the dense gradient and the step on one device, by program; how the
devices share results; and what a step with `sharded_gather` sends, by the kind of the axes.

Usage: explicit_programs.py DEVICES, a number
"""

import contextlib
import functools
import json
import sys
from collections import Counter

import host_devices
import jax
import jax.numpy as jnp
import numpy as np
import optax
from fast import fast_jit
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import jaxops

DEVICES = int(sys.argv[1])
jax.config.update("jax_num_cpu_devices", DEVICES)

SHAPE, NAMES = ((4, 2), ("d", "m")) if DEVICES == 8 else ((DEVICES,), ("d",))
ROWS, WIDTH, COUNT = 5 * DEVICES, 4, 4 * DEVICES
RNG = np.random.default_rng(0)
TABLE = RNG.integers(-4, 5, (ROWS, WIDTH)).astype(np.float32) / 4
IDS = RNG.integers(0, ROWS, COUNT).astype(np.int32)  # some of them twice
BY_TABLE = {"whole": P(None, None), "rows": P("d", None)}
if DEVICES == 8:
    BY_TABLE |= {"columns": P(None, "m"), "both": P("d", "m"), "both axes": P(("d", "m"), None)}


def gather_of_all(ids):
    return jax.reshard(ids, P())


def by_scan(lookup):
    """In a loop, `lookup(ids)` of other ids each time."""
    return lambda ids: lax.scan(
        lambda total, n: (total, lookup((ids + n) % ROWS)), 0.0, jnp.arange(3)
    )[1]


def by_cond(lookup):
    return lambda ids: lax.cond(
        jnp.sum(ids) > 10**6, lambda: lookup(ids), lambda: 2 * lookup((ids + 1) % ROWS)
    )


def sharded(table, ids):
    return jaxops.sharded_gather(table, ids, "d")


auto = functools.partial(jax.sharding.auto_axes, out_sharding=P("d", None))

# By name: a lookup on the mesh, and the same on one device.
LOOKUPS = {
    "gather": (jaxops.gather, lambda t, i: t[i]),
    "gather, ids whole": (lambda t, i: jaxops.gather(t, gather_of_all(i)), lambda t, i: t[i]),
    "two dimensions": (
        lambda t, i: jaxops.gather(t, jnp.stack([i, i], 1)),
        lambda t, i: t[jnp.stack([i, i], 1)],
    ),
    "out_sharding": (
        lambda t, i: jaxops.gather(t, i, out_sharding=P(None, None)),
        lambda t, i: t[i],
    ),
    "fill": (
        lambda t, i: jaxops.gather(t, i + 3, mode="fill"),
        lambda t, i: t.at[i + 3].get(mode="fill", fill_value=0),
    ),
    "elements": (
        lambda t, i: jaxops.gather_nd(t, jnp.stack([i, i % 3], 1)),
        lambda t, i: t[i, i % 3],
    ),
    "embedding_lookup": (jaxops.embedding_lookup, lambda t, i: t[i]),
    "at": (lambda t, i: t.at[i].get(out_sharding=P("d", None)), lambda t, i: t[i]),
    "reshard": (lambda t, i: jax.reshard(t, P())[gather_of_all(i)], lambda t, i: t[i]),
    "auto_axes": (
        auto(lambda t, i: t[i] + jnp.tanh(t)[i]),
        lambda t, i: t[i] + jnp.tanh(t[i]),
    ),
    "scan": (
        lambda t, i: by_scan(lambda i: jaxops.gather(t, i))(i),
        lambda t, i: by_scan(lambda i: t[i])(i),
    ),
    "cond": (
        lambda t, i: by_cond(lambda i: jaxops.gather(t, i))(i),
        lambda t, i: by_cond(lambda i: t[i])(i),
    ),
    "scaled": (lambda t, i: jaxops.gather(2 * t, i), lambda t, i: 2 * t[i]),
    "cast": (
        lambda t, i: jaxops.gather(t.astype(jnp.bfloat16), i),
        lambda t, i: t[i].astype(jnp.bfloat16),
    ),
    "scaled, resharded": (
        lambda t, i: jax.reshard(jnp.tanh(t), P())[gather_of_all(i)],
        lambda t, i: jnp.tanh(t[i]),
    ),
    "within rows": (
        lambda t, i: jax.jit(lambda t: jaxops.gather(t - jnp.mean(t, 1, keepdims=True), i))(t),
        lambda t, i: t[i] - jnp.mean(t[i], 1, keepdims=True),
    ),
    "sharded_gather": (sharded, lambda t, i: t[i]),
    "sharded_gather, twice": (
        lambda t, i: sharded(t, i) + 2 * sharded(t, (3 * i) % ROWS),
        lambda t, i: t[i] + 2 * t[(3 * i) % ROWS],
    ),
    "sharded_gather, few": (
        lambda t, i: sharded(t, gather_of_all(i)[:3]),
        lambda t, i: t[i[:3]],
    ),
    "sharded_gather and gather": (
        lambda t, i: sharded(t, i) + 2 * jaxops.gather(t, i),
        lambda t, i: 3 * t[i],
    ),
    "sharded_gather, scan": (
        lambda t, i: by_scan(lambda i: sharded(t, i))(i),
        lambda t, i: by_scan(lambda i: t[i])(i),
    ),
    "sharded_gather, cond": (
        lambda t, i: by_cond(lambda i: sharded(t, i))(i),
        lambda t, i: by_cond(lambda i: t[i])(i),
    ),
}
# JAX before 0.10.2 has no derivative of a `cond` with `auto_axes` in its branches.
if jax.__version_info__ < (0, 10, 2):
    del LOOKUPS["cond"], LOOKUPS["sharded_gather, cond"]
# Run in other ways than in one program too. Eagerly `sharded_gather` compiles hundreds of programs.
ALSO_EAGER = ("gather", "scaled", *(["sharded_gather"] if DEVICES == 2 else []))
OPTIMIZERS = {"sgd": optax.sgd(0.5), "adagrad": optax.adagrad(0.5), "adam": optax.adam(0.5)}


def loss_of(lookup):
    return lambda table, ids: jnp.sum(jnp.square(lookup(table, ids).astype(jnp.float32)))


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
    value, gradient = jax.value_and_grad(loss_of(lookup))(TABLE, IDS)
    gradient = np.asarray(gradient)
    results = {
        "value": value,
        "dense": gradient,
        "added": TABLE + gradient,
        "norm": np.sqrt(np.sum(gradient**2) + 3),
        "twice": 2 * gradient,
    }
    touched = np.zeros(ROWS, bool)
    touched[np.asarray(rows_of(lookup))] = True
    for name, optimizer in OPTIMIZERS.items():
        state = optimizer.init(TABLE)
        updates, new_state = optimizer.update(gradient, state, TABLE)
        params = np.where(touched[:, None], TABLE + np.asarray(updates), TABLE)
        of_rows = zip(jax.tree.leaves(state), jax.tree.leaves(new_state), strict=True)
        new = [np.where(touched[:, None], b, a) for a, b in of_rows if np.ndim(a)]
        results[name] = params, new
    return results


def rows_of(lookup):
    """The rows that a lookup reads: those that differ in the result if they differ in the table."""
    jacobian = jax.jacobian(lambda t: lookup(t, IDS).astype(jnp.float32))(TABLE)
    return np.flatnonzero(np.any(np.asarray(jacobian) != 0, axis=(*range(jacobian.ndim - 2), -1)))


def differences(actual, expected):
    def is_close(a, b):
        return np.allclose(a, b, rtol=1e-5, atol=1e-5)

    return [
        name
        for name in expected
        if not all(jax.tree.leaves(jax.tree.map(is_close, actual[name], expected[name])))
    ]


def sharings(results):
    """How the devices share the arrays of the table's shape."""
    names = ["added", *OPTIMIZERS]
    arrays = jax.tree.leaves([results[name] for name in names])
    return sorted({str(jax.typeof(x).sharding.spec) for x in arrays})


def sent(kind):
    """Elements by kind of collective in a step with `sharded_gather`."""
    mesh = jax.make_mesh(SHAPE, NAMES, axis_types=(kind,) * len(NAMES))
    put = lambda x, spec: jax.device_put(x, NamedSharding(mesh, spec))  # noqa: E731
    optimizer = jaxops.lazy(optax.adagrad(0.5))

    def step(table, state, ids):
        slices = jaxops.sparse_value_and_grad(loss_of(sharded), tables="")(table, ids)[1]
        return optimizer.apply(slices, state, table)

    with jax.set_mesh(mesh):
        table = put(TABLE, P("d", None))
        state = optimizer.init(table)
        compiled = jax.jit(step).lower(table, state, put(IDS, P("d"))).compile()
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
    mesh = jax.make_mesh(SHAPE, NAMES, axis_types=(AxisType.Explicit,) * len(NAMES))
    put = lambda x, spec: jax.device_put(x, NamedSharding(mesh, spec))  # noqa: E731
    found: dict[str, list] = {}
    shared = {}
    for name, (lookup, plain) in LOOKUPS.items():
        expected = everything_of_one(plain)
        for table_name, spec in BY_TABLE.items():
            table, ids = put(TABLE, spec), put(IDS, P("d"))
            ways: dict[str, tuple] = {"jit": (fast_jit, jax.set_mesh)}
            if name in ALSO_EAGER and table_name == "rows":
                ways["eager"] = lambda function: function, jax.set_mesh
                ways["no set_mesh"] = fast_jit, contextlib.nullcontext
                ways["eager, no set_mesh"] = lambda function: function, contextlib.nullcontext
            for way, (run, context) in ways.items():
                with context(mesh):
                    results = run(functools.partial(everything, lookup))(table, ids)
                found[f"{name}, {table_name}, {way}"] = differences(results, expected)
                shared.setdefault(table_name, set()).update(sharings(results))
    of_table = {
        name: str(jax.typeof(put(TABLE, spec)).sharding.spec) for name, spec in BY_TABLE.items()
    }
    rate = put(np.float32(0.1), P())
    outcome = {
        "refused": [
            is_refused(context, put(TABLE, P("d", None)), rate)
            for context in (jax.set_mesh(mesh), contextlib.nullcontext())
        ],
        "lookups": len(LOOKUPS),
        "programs": len(found),
        "differ": {name: keys for name, keys in found.items() if keys},
        "shared otherwise": {
            name: sorted(specs - {of_table[name]})
            for name, specs in shared.items()
            if specs != {of_table[name]}
        },
        "sent": {kind.name: sent(kind) for kind in (AxisType.Explicit, AxisType.Auto)},
    }
    print(json.dumps(outcome))


if __name__ == "__main__":
    main()
