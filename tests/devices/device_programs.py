"""Programs on 8 host devices, one shard of whose indices is bad; run by `test_devices.py`.

A process of its own, because the question is whether it lives.

Usage: device_programs.py TURN, 0, 1 or 2 for a third of `PROGRAMS`, or `shared`
"""

import functools
import re
import sys
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from checks import raised
from jax import lax
from jax.experimental import checkify
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import jaxops

jax.config.update("jax_num_cpu_devices", 8)

SECONDS_TO_LIVE = 8  # after the programs, in which a shard that was left waiting ends the process
MESH = Mesh(np.array(jax.devices()), ("d",))
MESH_2D = Mesh(np.array(jax.devices()).reshape(4, 2), ("d", "m"))
BY_ROWS = NamedSharding(MESH, P("d"))
REPLICATED = NamedSharding(MESH, P())
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


def of_replicated(rows, i):
    """The sum over the devices needs no element that is read."""
    return jaxops.gather(TABLE, i).sum() + jnp.sin(rows).sum()


def of_replicated_shards(i):
    return jaxops.gather(TABLE, i).sum() + lax.psum(jnp.sin(lax.axis_index("d") + 1.0), "d")


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
    "shard_map-replicated": (jax.jit(over_shards(of_replicated_shards, in_specs=P())), ()),
    "replicated-jit": (jax.jit(of_replicated, in_shardings=(BY_ROWS, REPLICATED)), (ROWS,)),
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


# The position is that within the shard, but of a program for all devices.
WORDS = {
    "shard_map": "indices[1] = 99 is not in [0, 10)",
    "shard_map-partly-manual": "indices[3] = 99 is not in [0, 10)",
    "shard_map-scatter_nd": "indices[1] = [99] does not index into shape [10]",
    "shard_map-replicated": "indices[7] = 99 is not in [0, 10)",
    "replicated": "indices[7] = 99 is not in [0, 10)",
    "sharded_jit": "indices[7] = 99 is not in [0, 16)",
    "checked": "index 99 at position [1] is out of bounds for axis 0",
}


# One branch for five checks of four arrays of indices, which are sharded in different ways. The
# first check has the same indices on all devices, as many as the third has in a shard.
INDICES = [GOOD, jnp.arange(32, dtype=jnp.int32).reshape(16, 2) % 10, jnp.int32([3, 4]), GOOD[::-1]]
LONG_TABLE = jnp.arange(12, dtype=jnp.float32)


def lookups(table, i, j, k, column):
    rows = table[k] + table[j] + jnp.take(table, i)[:, None]
    return rows + jnp.take(2 * table, column)[:, None] + lax.dynamic_slice(table, k[:1], (2,)).sum()


def by_jit(mesh, specs):
    shardings = [NamedSharding(mesh, spec) for spec in specs]
    return lambda f: jax.jit(f, in_shardings=shardings)


def by_shard_map(mesh, axes, **options):
    specs = P(), P(axes), P(axes), P(), P(axes)
    return lambda f: jax.jit(
        jax.shard_map(f, mesh=mesh, in_specs=specs, out_specs=P(axes), **options)
    )


# name: (way to run, the position in the shard of the last element)
SHARED: dict[str, tuple[Callable, int]] = {
    "jit": (by_jit(MESH, [P(), P("d"), P("d"), P(), P("d")]), 15),
    "jit-two-axes": (by_jit(MESH_2D, [P("d"), P(("d", "m")), P("d", "m"), P(), P("m")]), 15),
    "shard_map": (by_shard_map(MESH, "d"), 1),
    "shard_map-untracked": (by_shard_map(MESH, "d", check_vma=False), 1),
    "shard_map-two-axes": (by_shard_map(MESH_2D, ("d", "m")), 1),
    "shard_map-one-of-two": (by_shard_map(MESH_2D, "d"), 3),
    "shard_map-partly-manual": (by_shard_map(MESH_2D, "d", axis_names={"d"}), 3),
}


def with_bad(*numbers):
    """The arguments of `lookups`, of which the last index of some arrays is out of bounds."""
    indices = [np.array(x) for x in INDICES]
    for number in numbers:
        indices[number].flat[-1] = 50 + number
    return LONG_TABLE, *indices


def check_shared(name):
    way, last = SHARED[name]
    checked = way(jaxops.checked(lookups))
    np.testing.assert_array_equal(checked(*with_bad()), way(lookups)(*with_bad()), name)
    compiled = checked.lower(*with_bad()).compile()
    assert compiled.as_text().count(" conditional(") == 1, name
    check_devices_meet(name, compiled)
    positions = {2: "[1]", 1: f"[{last}, 1]", 0: f"[{last}]", 3: f"[{last}]"}
    for n, (number, position) in enumerate(positions.items()):  # in the order of the code
        for bad in ([number], [*positions][n:], [3, number]):
            error = raised(checked, *with_bad(*bad))
            assert f"index {50 + number} at position {position} is out" in str(error), (name, error)
    np.testing.assert_array_equal(checked(*with_bad()), way(lookups)(*with_bad()), name)


def column(table, i):
    return table[i[:, 0]] + table[i[:, 1]]


def check_that_a_column_is_sent_alone():
    """Not the array that it is a column of, which is in the memory of the devices."""
    wide = jax.device_put(jnp.zeros((16, 999), jnp.int32), BY_ROWS)
    text = jax.jit(jaxops.checked(column)).lower(LONG_TABLE, wide).compile().as_text() or ""
    sent = set(re.findall(r"= (\S+)\{\S* all-gather\(", text))
    assert sent == {"s32[16,1]"}, sent


def check_checkify_on_explicit_axes():
    mesh = jax.make_mesh((8,), ("d",), (AxisType.Explicit,))
    sharding = NamedSharding(mesh, P("d", None))
    with jax.set_mesh(mesh):
        table, i = (jax.device_put(np.arange(n).reshape(8, -1) % 9, sharding) for n in (64, 32))
        gather = checkify.checkify(lambda *args: jaxops.gather(*args, axis=1, batch_dims=1))
        error, _ = jax.jit(gather)(table, i)
    assert "indices[2,0] = 8 is not in [0, 8)" in str(error.get()), error.get()


def check_lanes_on_explicit_axes():
    """A `vmap` computes both branches of a `cond`, and the devices share the predicates."""
    mesh = jax.make_mesh((8,), ("d",), (AxisType.Explicit,))

    def read(table, i):
        return jax.vmap(lambda k: lax.cond(k < 50, lambda: table[k], lambda: 0.0))(i)

    with jax.set_mesh(mesh):
        i, far, bad = (
            jax.device_put(x, NamedSharding(mesh, P("d"))) for x in (GOOD, BAD, GOOD.at[7].set(39))
        )
        checked, table = jax.jit(jaxops.checked(read)), jnp.arange(10.0)
        for indices in (i, far):
            np.testing.assert_array_equal(checked(table, indices), jax.jit(read)(table, indices))
        assert raised(checked, table, bad).index == 39


def check_devices_meet(name, compiled):
    """A collective in each branch that raises.

    Without it XLA runs the branch and other collectives in any order, and a device may raise before
    a collective at which the others wait.
    """
    computations = compiled.as_text().split("\n}\n")
    raising = [text for text in computations if "python_cpu_callback" in text]
    assert raising, name
    for text in raising:
        assert re.search(r" (all-reduce|all-gather)\(", text), (name, text)


def check(name):
    """An error in these words and with this file, and right results before and after it."""
    function, args = PROGRAMS[name]
    if name != "checked-pmap":  # which has no `lower`
        check_devices_meet(name, function.lower(*args, BAD).compile())
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
    if turn == "shared":
        for name in SHARED:
            check_shared(name)
        check_that_a_column_is_sent_alone()
        check_checkify_on_explicit_axes()
        check_lanes_on_explicit_axes()
    else:
        for name in list(PROGRAMS)[int(turn) :: 3]:
            check(name)
    time.sleep(SECONDS_TO_LIVE)
