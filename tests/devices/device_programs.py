"""Programs on 8 host devices, one shard of whose indices is bad; run by `test_devices.py`.

A process of its own, because the question is whether it lives.

Usage: device_programs.py TURN, 0, 1 or 2 for a third of `PROGRAMS`, or `divergent`
"""

import functools
import sys
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import jaxops

jax.config.update("jax_num_cpu_devices", 8)

SECONDS_TO_LIVE = 8  # after the programs, in which a shard that was left waiting ends the process
MESH = Mesh(np.array(jax.devices()), ("d",))
MESH_2D = Mesh(np.array(jax.devices()).reshape(4, 2), ("d", "m"))
BY_ROWS = NamedSharding(MESH, P("d"))
TABLE = jnp.arange(10, dtype=jnp.float32)
ROWS = jax.device_put(jnp.arange(64, dtype=jnp.float32).reshape(16, 4), BY_ROWS)
GOOD = jnp.arange(16, dtype=jnp.int32) % 10
BAD = GOOD.at[7].set(99)  # on the fourth shard


def varying(x, *axes):
    return lax.pcast(jnp.float32(x), axes or "d", to="varying")


def looked_up(i):
    return jaxops.gather(TABLE, i).sum()


def then_collectives(i):
    total = looked_up(i)
    for _ in range(20):
        total = jnp.sin(lax.psum(total, "d")) + i.astype(jnp.float32).sum()
    return lax.psum(total, "d")


def in_scan(i):
    def step(carry, k):
        return carry + lax.psum(looked_up(jnp.where(k == 3, i, 0 * i)), "d"), None

    return lax.scan(step, jnp.float32(0), jnp.arange(20))[0]


def in_cond(i):
    same_on_all = lax.pmax(i.sum(), "d") > 0
    return lax.psum(lax.cond(same_on_all, lambda: looked_up(i), lambda: varying(0)), "d")


def in_switch(i):
    branches = [lambda: varying(0), lambda: looked_up(i)]
    same_on_all = lax.pmax(i.sum(), "d")
    return lax.psum(lax.switch(same_on_all, branches), "d")


def in_while_loop(i):
    def body(carry):
        n, total = carry
        return n + 1, total + looked_up(i)

    return lax.psum(lax.while_loop(lambda c: c[0] < 3, body, (0, varying(0)))[1], "d")


def in_cond_along_the_other_axis(i):
    """Shards decide differently along "m" only, so those along "d" still have to agree."""
    taken = lax.axis_index("m") == 1
    total = lax.cond(taken, lambda: looked_up(i), lambda: varying(0, "d", "m"))
    return lax.psum(total, "d")[None]


def scattered(i):
    return lax.psum(jaxops.scatter_nd(i[:, None], jnp.ones(i.shape), [10]), "d")


def sgd_step(table, i):
    def loss(table):
        return lax.pmean((jaxops.gather(table, i) ** 2).mean(), "d")

    return table - 0.1 * jax.grad(loss)(table)


def deterministic_gradient(table, i):
    def loss(table):
        return (jaxops.gather(table, i, deterministic=True) ** 2).sum()

    return jax.grad(loss)(table)


def sharded_scan(rows, i):
    def step(carry, k):
        g = jaxops.gather(rows, jnp.where(k == 3, i, 0 * i))
        return carry + jnp.sum(g) + jnp.sum(g.T @ g), None

    return lax.scan(step, jnp.float32(0), jnp.arange(20))[0]


def shard_gradient(rows, i):
    return jax.grad(lambda rows: (jaxops.gather(rows, i) ** 2).sum())(rows)


over_shards = functools.partial(jax.shard_map, mesh=MESH, in_specs=P("d"), out_specs=P())
with_table = functools.partial(jax.shard_map, mesh=MESH, in_specs=(P(), P("d")), out_specs=P())
sharded_jit = functools.partial(jax.jit, in_shardings=(BY_ROWS, BY_ROWS))


def by_pmap(f):
    return lambda table, i: jax.pmap(f, in_axes=(None, 0))(table, i.reshape(8, 2))


# Code of JAX, of a table and indices.
OF_JAX = {
    "rows": lambda table, i: table[i],
    "take": lambda table, i: jnp.take(table, i, axis=0),
    "gradient": lambda table, i: jax.grad(lambda table: jnp.sum(table[i] ** 2))(table)[None],
    "in a branch": lambda table, i: lax.cond(i[0] > -1, lambda: table[i], lambda: table[:2]),
    # For an index out of bounds JAX reads NaN, with which the loop would never end.
    "loop": lambda table, i: lax.while_loop(lambda x: jnp.isnan(x).any(), jnp.sin, table[i]),
}

# name: (function, arguments before the indices)
PROGRAMS: dict[str, tuple[Callable, tuple]] = {
    "shard_map-collectives": (jax.jit(over_shards(then_collectives)), ()),
    "shard_map-untracked": (jax.jit(over_shards(then_collectives, check_vma=False)), ()),
    "shard_map-partly-manual": (
        jax.jit(
            jax.shard_map(
                then_collectives, mesh=MESH_2D, in_specs=P("d"), out_specs=P(), axis_names={"d"}
            )
        ),
        (),
    ),
    "shard_map-scan": (jax.jit(over_shards(in_scan)), ()),
    "shard_map-cond": (jax.jit(over_shards(in_cond)), ()),
    "shard_map-switch": (jax.jit(over_shards(in_switch)), ()),
    "shard_map-while_loop": (jax.jit(over_shards(in_while_loop)), ()),
    "shard_map-scatter_nd": (jax.jit(over_shards(scattered)), ()),
    "shard_map-step": (jax.jit(with_table(sgd_step)), (TABLE,)),
    "shard_map-deterministic": (jax.jit(with_table(deterministic_gradient)), (TABLE,)),
    "shard_map-two-axes": (
        jax.jit(
            jax.shard_map(
                lambda i: in_cond_along_the_other_axis(i.reshape(-1)),
                mesh=MESH_2D,
                in_specs=P(("d", "m")),
                out_specs=P("m"),
            )
        ),
        (),
    ),
    "sharded_jit-scan": (sharded_jit(sharded_scan), (ROWS,)),
    "sharded_jit-gradient": (sharded_jit(shard_gradient), (ROWS,)),
    "sharded_jit-deterministic": (sharded_jit(deterministic_gradient), (ROWS,)),
}
# The same without `checked`.
UNCHECKED: dict[str, Callable] = {"checked-pmap": by_pmap(OF_JAX["rows"])}
PROGRAMS["checked-pmap"] = jaxops.checked(UNCHECKED["checked-pmap"]), (TABLE,)
for name, f in OF_JAX.items():
    # Without types of varying values the gradient is not summed over shards.
    tracked = name != "in a branch"
    over_rows = functools.partial(with_table, out_specs=P("d"), check_vma=tracked)
    around, within = jaxops.checked(over_rows(f)), over_rows(jaxops.checked(f))
    for where, checked in {"around": around, "within": within}.items():
        PROGRAMS[f"checked-{name}-{where}"] = jax.jit(checked), (TABLE,)
        UNCHECKED[f"checked-{name}-{where}"] = jax.jit(over_rows(f))


# Programs whose shards go different ways. They are right, and so must come to their end.
def different_branches(i):
    taken = lax.axis_index("d") == 3
    return lax.psum(lax.cond(taken, lambda: looked_up(i), lambda: varying(0)), "d")


def different_trip_counts(i):
    n = lax.axis_index("d")

    def body(carry):
        k, total = carry
        return k + 1, total + looked_up(i)

    start = (lax.pcast(jnp.int32(0), "d", to="varying"), varying(0))
    return lax.psum(lax.while_loop(lambda c: c[0] < n, body, start)[1], "d")


DIVERGENT = {
    "cond": (jax.jit(over_shards(different_branches)), 13.0),
    "while_loop": (jax.jit(over_shards(different_trip_counts)), 228.0),
}


# The position is that within the shard, but of a program for all devices.
WORDS = {
    "shard_map": "indices[1] = 99 is not in [0, 10)",
    "shard_map-partly-manual": "indices[3] = 99 is not in [0, 10)",
    "shard_map-scatter_nd": "indices[1] = [99] does not index into shape [10]",
    "sharded_jit": "indices[7] = 99 is not in [0, 16)",
    "checked": "index 99 at position [1] is out of bounds for axis 0",
}


def check(name):
    """An error in these words and with this file, and right results before and after it."""
    function, args = PROGRAMS[name]
    expected = np.asarray(UNCHECKED.get(name, function)(*args, GOOD))
    np.testing.assert_array_equal(function(*args, GOOD), expected, name)
    try:
        jax.block_until_ready(function(*args, BAD))
        error = ""
    except Exception as e:
        error = str(e)
    assert WORDS.get(name, WORDS[name.partition("-")[0]]) in error, (name, error)
    assert "at device_programs.py:" in error, (name, error)
    np.testing.assert_array_equal(function(*args, GOOD), expected, name)


if __name__ == "__main__":
    turn = sys.argv[1]
    if turn == "divergent":
        for name, (function, expected) in DIVERGENT.items():
            assert float(function(GOOD)) == expected, name
    else:
        for name in list(PROGRAMS)[int(turn) :: 3]:
            check(name)
    time.sleep(SECONDS_TO_LIVE)
