"""The reversal of prefixes is its own transpose, and is the same on every shard."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

import jaxops

Y = np.arange(8, dtype=np.float32).reshape(2, 4)


def test_its_gradient_is_itself():
    def total(x):
        return jaxops.reverse_sequence(x, jnp.array([2, 3]), 1).sum()

    primitives = str(jax.make_jaxpr(jax.grad(total))(Y))
    assert "scatter" not in primitives
    assert "reverse_sequence[" in primitives


@pytest.mark.parametrize("of_x", [P("i"), P()], ids=["shards", "one input for all shards"])
def test_shard_map(of_x):
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))

    def rows(x, lengths):
        return jaxops.reverse_sequence(x, lengths, 1)

    mapped = jax.jit(jax.shard_map(rows, mesh=mesh, in_specs=(of_x, P("i")), out_specs=P("i")))
    lengths, weights = jnp.array([2, 3]), np.arange(1, 9, dtype=np.float32).reshape(2, 4)
    np.testing.assert_array_equal(mapped(Y, lengths), rows(Y, lengths))
    gradient = jax.grad(lambda x: (mapped(x, lengths) * weights).sum())(Y)
    np.testing.assert_array_equal(gradient, [[2, 1, 3, 4], [7, 6, 5, 8]])
