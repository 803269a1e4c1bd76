"""The reversal of prefixes is its own transpose, and is the same on every shard."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxops

Y = np.arange(8, dtype=np.float32).reshape(2, 4)


def test_its_gradient_is_itself():
    def total(x):
        return jaxops.reverse_sequence(x, jnp.array([2, 3]), 1).sum()

    primitives = str(jax.make_jaxpr(jax.grad(total))(Y))
    assert "scatter" not in primitives
    assert "reverse_sequence[" in primitives


def test_shard_map():
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")

    def rows(x, lengths):
        return jaxops.reverse_sequence(x, lengths, 1)

    mapped = jax.jit(jax.shard_map(rows, mesh=mesh, in_specs=(spec, spec), out_specs=spec))
    lengths = jnp.array([2, 3])
    np.testing.assert_array_equal(mapped(Y, lengths), rows(Y, lengths))
    total = jax.grad(lambda x: (mapped(x, lengths) * np.array([[1, 2, 3, 4]], np.float32)).sum())
    np.testing.assert_array_equal(total(jnp.array(Y)), [[2, 1, 3, 4], [3, 2, 1, 4]])


def test_shard_map_of_one_input_for_all_shards():
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")
    whole = jax.sharding.PartitionSpec()

    def rows(x, lengths):
        return jaxops.reverse_sequence(x, lengths, 1)

    mapped = jax.jit(jax.shard_map(rows, mesh=mesh, in_specs=(whole, spec), out_specs=spec))
    weights = np.array([[1, 2, 3, 4], [5, 6, 7, 8]], np.float32)
    gradient = jax.grad(lambda x: (mapped(x, jnp.array([2, 3])) * weights).sum())(Y)
    np.testing.assert_array_equal(gradient, [[2, 1, 3, 4], [7, 6, 5, 8]])
