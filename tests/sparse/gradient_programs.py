"""Sums of gradients over devices; run by `test_sums_and_norms.py`.

A process of its own, because the number of devices is fixed when JAX starts. Prints one JSON pair a
line: the way that the devices are mapped over, and which results are not those of one device.

Usage: gradient_programs.py NUMBER
"""

import functools
import json
import operator
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

NUMBER = int(sys.argv[1])
jax.config.update("jax_num_cpu_devices", NUMBER)

import test_sums_and_norms as gradients  # noqa: E402

import jaxops  # noqa: E402

BATCHES = [gradients.gradient(seed) for seed in range(NUMBER)]
ALL = gradients.stacked(*BATCHES)
add = functools.partial(jax.tree.map, operator.add)
SUM = functools.reduce(add, map(gradients.dense, BATCHES))
MEAN = jax.tree.map(lambda x: x / NUMBER, SUM)  # exact: a power of two
TOTAL_NORM = jaxops.global_norm(SUM)


def computed(axes, grads):
    """Of the gradient of one device; its leaves have a leading axis of size 1."""
    grads = jax.tree.map(lambda x: x.reshape(x.shape[1:]), grads)
    total, mean = jaxops.psum(grads, axes), jaxops.pmean(grads, axes)
    return {"sum": gradients.dense(total), "mean": gradients.dense(mean)}


def computed_with_norm(grads):
    norm = jaxops.global_norm(jaxops.psum(jax.tree.map(lambda x: x[0], grads), "d"))
    return {**computed("d", grads), "norm": norm}


def report(way, results):
    expected = {"sum": SUM, "mean": MEAN, "norm": TOTAL_NORM}
    expected = {name: expected[name] for name in results}
    compared = jax.tree_util.tree_leaves_with_path(expected)
    differ = [
        jax.tree_util.keystr(path)
        for (path, wanted), result in zip(compared, jax.tree.leaves(results), strict=True)
        if not np.array_equal(result, wanted)
    ]
    print(json.dumps([way, {"differ": differ, "compared": len(compared)}]), flush=True)


def mesh_of(shape, names):
    return jax.make_mesh(shape, names, axis_types=(AxisType.Auto,) * len(shape))


LINE = mesh_of((NUMBER,), ("d",))


def mapped(function, **options):
    """The same on all devices, as `out_specs` say; `check_vma=True` makes JAX prove it."""
    return jax.jit(jax.shard_map(function, mesh=LINE, in_specs=P("d"), out_specs=P(), **options))


report("checked", mapped(computed_with_norm)(ALL))
report("unchecked", mapped(functools.partial(computed, "d"), check_vma=False)(ALL))
one_each = jax.pmap(functools.partial(computed, "d"), axis_name="d", out_axes=None)
report("pmap", one_each(jax.tree.map(lambda x: x[:, None], ALL)))
if NUMBER > 1:
    plane = mesh_of((NUMBER // 2, 2), ("d", "m"))
    over_both = functools.partial(computed, ("d", "m"))
    in_specs = P(("d", "m"))
    report("two axes", jax.shard_map(over_both, mesh=plane, in_specs=in_specs, out_specs=P())(ALL))


def step(params, words):
    """The gradient of a loss, which is the sum over the devices, of each device's own copies."""
    own = jax.tree.map(lambda x: lax.pcast(x, "d", to="varying"), params)
    _, grads = jaxops.sparse_value_and_grad(gradients.loss, tables="table")(own, words)
    return gradients.dense(jaxops.psum(grads, "d"))


words = jnp.arange(2 * NUMBER) % 5
actual = jax.shard_map(step, mesh=LINE, in_specs=(P(), P("d")), out_specs=P())(
    gradients.PARAMS, words
)
wanted = jax.grad(gradients.loss)(gradients.PARAMS, words)
same = jax.tree.map(np.array_equal, actual, wanted)
differ = [name for name, is_same in same.items() if not is_same]
print(json.dumps(["own copies", {"differ": differ, "compared": len(wanted)}]), flush=True)
