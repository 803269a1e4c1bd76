"""One of two processes, of 4 host devices each: an index out of bounds in the data of the second.

It is an error in both, and a good step after it is right. Usage: process_programs.py PORT RANK
"""

import sys

import jax
import numpy as np
from checks import raised
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import jaxops

port, rank = sys.argv[1:]
jax.config.update("jax_num_cpu_devices", 4)
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(f"localhost:{port}", 2, int(rank))
mesh = jax.sharding.Mesh(np.array(jax.devices()), "d")


def put(x, spec):
    return jax.make_array_from_callback(x.shape, NamedSharding(mesh, spec), lambda i: x[i])


rows = np.arange(16)
good, bad = put(rows, P("d")), put(np.where(rows == 12, 99, rows), P("d"))


def lookup(table, words):
    return jaxops.gather(table, words).sum()


def rows_of(table, words):
    return table[words].sum()


def over_shards(function):
    return jax.shard_map(
        lambda table, words: lax.psum(function(table, words), "d"),
        mesh=mesh,
        in_specs=(P(), P("d")),
        out_specs=P(),
    )


def from_owners(table, words):
    return jaxops.sharded_gather(table, words, "d", mesh=mesh).sum()


def sparse_step(table, words):
    """Each row becomes its negative: the derivative of its square is twice the row."""

    def loss(table):
        return (jaxops.sharded_gather(table, words, "d", mesh=mesh) ** 2).sum()

    slices = jaxops.sparse_value_and_grad(loss, tables="")(table)[1]
    return (slices * -1.0).add_to(table) @ table


table = rows.astype(np.float32)
gathered = "{} is not in [0, 16) [Op:gather] at process_programs.py:33 (lookup)"
outside = (
    "index 99 at position [{}] is out of bounds for axis 0 of an array of shape (16,) [Op:x[...]]"
)
outside += " at process_programs.py:37 (rows_of)"
sharded = "indices[12] = 99 is not in [0, 16) [Op:sharded_gather] at process_programs.py:"
# By name: the step, its table, the error and the result.
programs = {
    "sharded-jit": (lookup, P("d"), gathered.format("indices[12] = 99"), 120),
    "shard_map": (over_shards(lookup), P(), gathered.format("indices[0] = 99"), 120),
    "checked": (jaxops.checked(rows_of), P(), outside.format(12), 120),
    "checked shard_map": (jaxops.checked(over_shards(rows_of)), P(), outside.format(0), 120),
    "sharded_gather": (from_owners, P("d"), f"{sharded}50 (from_owners)", 120),
    "sparse step": (sparse_step, P("d"), f"{sharded}57 (loss)", -1240),
}
for name, (function, spec, words, value) in programs.items():
    program, operand = jax.jit(function), put(table, spec)
    assert str(raised(program, operand, bad)) == words, name
    jax.effects_barrier()
    assert program(operand, good) == value, name
