"""Control flow around lookups under `shard_map`, of a table that is the same on all devices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fast import fast_jit
from jax import lax
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P
from sparse_checks import square, table

import jaxops

pytestmark = pytest.mark.usefixtures("x32")
INDICES = jnp.array([3, 0, 3, 6], jnp.int32)


def zero(i):
    return 0.0 * i[0].astype(jnp.float32)


CONTROL_FLOW = {
    "none": lambda t, i, k: square(t[i]),
    "cond": lambda t, i, k: lax.cond(k > 0, lambda: square(t[i]), lambda: jnp.sum(t[i - 1])),
    "cond, one reads": lambda t, i, k: lax.cond(k > 0, lambda: square(t[i]), lambda: zero(i)),
    "cond of a scaled table": lambda t, i, k: square(lax.cond(k > 0, lambda: 2 * t, lambda: t)[i]),
    "cond by an index": lambda t, i, k: lax.cond(i[0] > 2, lambda: square(t[i]), lambda: zero(i)),
    "switch": lambda t, i, k: lax.switch(
        k,
        [lambda: zero(i), lambda: square(t[i]), lambda: jnp.sum(t[i[0]]), lambda: square(t[i * 0])],
    ),
    "scan": lambda t, i, k: lax.scan(lambda c, j: (c + square(t[j]), None), zero(i), i)[0],
    "scan of cond": lambda t, i, k: lax.scan(
        lambda c, j: (c + lax.cond(j > 2, lambda: square(t[j]), lambda: square((2 * t)[j])), None),
        zero(i),
        i,
    )[0],
    "cond of scan": lambda t, i, k: lax.cond(
        k > 0,
        lambda: lax.scan(lambda c, j: (c + square(t[j]), None), zero(i), i)[0],
        lambda: zero(i),
    ),
    "checkpoint of cond": jax.checkpoint(
        lambda t, i, k: lax.cond(k > 0, lambda: square(t[i]), lambda: zero(i))
    ),
    "jit": lambda t, i, k: jax.jit(lambda t: square((2 * t)[i]))(t),
}
MESHES = {"one axis": ((1,), ("d",)), "two axes": ((1, 1), ("d", "m"))}


@pytest.mark.parametrize("check_vma", [True, False], ids=["checked", "unchecked"])
@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("name", CONTROL_FLOW)
def test_gradients(name, mesh, check_vma):
    """`jax.grad` of one device is compared: under `shard_map` it sums within the branches."""
    loss = CONTROL_FLOW[name]
    devices = jax.make_mesh(*MESHES[mesh], axis_types=(AxisType.Auto,) * len(MESHES[mesh][0]))
    t, k = table(7, 3), jnp.int32(1)

    def gradient(t, indices, k):
        def summed(t):
            return lax.psum(loss(t, indices, k), "d")

        return jaxops.sparse_value_and_grad(summed, tables="")(t)[1]

    mapped = jax.shard_map(
        gradient, mesh=devices, in_specs=(P(), P("d"), P()), out_specs=P(), check_vma=check_vma
    )
    slices = fast_jit(mapped)(t, INDICES, k)
    expected = jax.grad(loss)(t, INDICES, k)
    np.testing.assert_allclose(slices.to_dense(), expected, rtol=1e-6)
