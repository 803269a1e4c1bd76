"""`checked` around and within `shard_map` and `pmap`; run by `test_checked_shards.py`.

Usage: checked_programs.py DEVICES. Prints for each program whether good indices give the results
of the unchecked one, and the error of a bad index in one shard.
"""

import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

import jaxops

DEVICES = int(sys.argv[1])
jax.config.update("jax_num_cpu_devices", DEVICES)

X = jnp.arange(12.0).reshape(4, 3)
GOOD = jnp.arange(2 * DEVICES) % 4
BAD = GOOD.at[2 * DEVICES - 1].set(4)
MESH = jax.make_mesh((DEVICES,), ("d",), (jax.sharding.AxisType.Auto,))

FUNCTIONS = {
    "rows": lambda x, i: x[i],
    "take": lambda x, i: jnp.take(x, i, axis=0),
    "gradient": lambda x, i: jax.grad(lambda x: jnp.sum(x[i] ** 2))(x)[None],
    "in a branch": lambda x, i: jax.lax.cond(i[0] > -1, lambda: x[i], lambda: x[:2]),
}


def sharded(f, check_vma=True):
    # Without types of varying values the gradient is not summed over shards.
    return jax.shard_map(
        f, mesh=MESH, in_specs=(P(), P("d")), out_specs=P("d"), check_vma=check_vma
    )


def by_pmap(f):
    return lambda x, i: jax.pmap(f, in_axes=(None, 0))(x, i.reshape(DEVICES, 2))


def outcome(checked, unchecked):
    same = np.array_equal(checked(X, GOOD), unchecked(X, GOOD))
    try:
        with jaxops.typed_errors():
            jax.block_until_ready(checked(X, BAD))
    except jaxops.OutOfBoundsError as error:
        return [same, error.index, error.where.partition(":")[0]]
    return [same, None, None]


PROGRAMS = {}
for name, f in FUNCTIONS.items():
    shard = sharded(f, check_vma=name != "in a branch")
    PROGRAMS[f"{name}, around"] = jax.jit(jaxops.checked(shard)), jax.jit(shard)
    within = sharded(jaxops.checked(f), check_vma=name != "in a branch")
    PROGRAMS[f"{name}, within"] = jax.jit(within), jax.jit(shard)
PROGRAMS["rows, pmap"] = jaxops.checked(by_pmap(FUNCTIONS["rows"])), by_pmap(FUNCTIONS["rows"])

if __name__ == "__main__":
    print(json.dumps({name: outcome(*programs) for name, programs in PROGRAMS.items()}))
