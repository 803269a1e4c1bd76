"""One of two processes, of 4 host devices each: an index out of bounds in the data of the second.

Writes the errors, and the results of good steps after them, as JSON to the file that it is given:
Gloo's threads print on standard output, in the middle of one another's lines.
"""

import json
import sys
from pathlib import Path

import jax
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import jaxops

port, rank, results = sys.argv[1:]
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
programs = {
    "sharded-jit": (jax.jit(lookup), put(table, P("d"))),
    "shard_map": (jax.jit(over_shards(lookup)), put(table, P())),
    "checked": (jax.jit(jaxops.checked(rows_of)), put(table, P())),
    "checked shard_map": (jax.jit(jaxops.checked(over_shards(rows_of))), put(table, P())),
    "sharded_gather": (jax.jit(from_owners), put(table, P("d"))),
    "sparse step": (jax.jit(sparse_step), put(table, P("d"))),
}
outcomes = {}
for name, (program, operand) in programs.items():
    try:
        with jaxops.typed_errors():
            jax.block_until_ready(program(operand, bad))
    except jaxops.OutOfBoundsError as error:
        message = str(error)
    else:
        message = None
    jax.effects_barrier()
    outcomes[name] = [message, float(program(operand, good))]
Path(results).write_text(json.dumps(outcomes))
