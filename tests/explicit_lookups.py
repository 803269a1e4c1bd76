"""Lookups on meshes of explicit axes."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

import jaxops


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
    "twice": (lambda t, i: sharded(t, i) * sharded(t, i + 1), 12),
    "and scaled": (lambda t, i: sharded(t, i) + jaxops.gather(2 * t, i), 12),
    "loop": (in_loop(sharded), 18),
    "branch": (in_branch(sharded), 12),
}
# JAX before 0.10.2 has no derivative of a `cond` with `auto_axes` in its branches.
if jax.__version_info__ < (0, 10, 2):
    for lookups in (GATHERS, SHARDED):
        for name in [name for name in lookups if name.startswith("branch")]:
            del lookups[name]


def loss_of(lookup):
    return lambda table, ids: jnp.sum(jnp.square(lookup(table, ids).astype(jnp.float32)))
