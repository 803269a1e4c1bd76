"""_cpu/column_sums: gathers along later axes, whose gradient is added up row by row."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import primitives
from jax.sharding import PartitionSpec as P
from records import gather as oracle

import jaxops

RNG = np.random.default_rng(0)


def integers(*shape):
    return jnp.asarray(RNG.integers(-9, 9, shape).astype(np.float32))


def columns(count, of=300):
    return RNG.integers(0, of, count).astype(np.int32)


def added(shape, cotangent, indices, axis, batch_dims=0):
    """Zeros to which the cotangent of a gather is added, one element after the other."""
    total = np.zeros(shape, np.complex128)
    places = oracle.gather(np.arange(total.size).reshape(shape), indices, axis, batch_dims)
    np.add.at(total.reshape(-1), places, np.asarray(cotangent).astype(np.complex128))
    return total


# shape, axis, batch_dims, indices, dtype, whether by the primitive
CASES = {
    "columns": ((8, 300), 1, 0, columns(256), np.float32, True),
    "few-rows": ((7, 300), 1, 0, columns(256), np.float32, False),
    "few-columns": ((8, 300), 1, 0, columns(255), np.float32, False),
    "of-many-columns": ((8, 1025), 1, 0, columns(256), np.float32, False),
    "windows": ((2, 4, 300, 3), 2, 0, columns((50, 2)), np.float32, True),
    "first-axis": ((300, 8), 0, 0, columns(256), np.float32, False),
    "batch": ((8, 2, 300), 2, 1, columns((8, 256)), np.float32, False),
    "bfloat16": ((8, 300), -1, 0, columns(256), jnp.bfloat16, True),
    "complex": ((8, 300), -1, 0, columns(256), np.complex64, True),
    "integers": ((8, 300), -1, 0, columns(256), np.int32, False),
}


@pytest.mark.parametrize("name", CASES)
def test_gradient_is_numpys(name):
    shape, axis, batch_dims, indices, dtype, is_own = CASES[name]
    params = integers(*shape).astype(dtype)

    def gather(params):
        return jaxops.gather(params, indices, axis=axis, batch_dims=batch_dims)

    assert ("gather_columns" in primitives(gather, params)) == is_own
    assert np.dtype(dtype).kind != "i" or not is_own
    result = gather(params)
    cotangent = integers(*result.shape).astype(dtype)
    expected = oracle.gather(params, indices, axis, batch_dims)
    np.testing.assert_array_equal(result, expected)
    if not jnp.issubdtype(dtype, jnp.inexact):
        return
    expected = added(shape, cotangent, indices, axis, batch_dims)
    for pull in (pull_back, jax.jit(pull_back, static_argnums=0)):
        params_bar = pull(gather, params, cotangent)
        assert params_bar.dtype == dtype
        np.testing.assert_array_equal(np.asarray(params_bar).astype(np.complex128), expected)


def pull_back(f, x, cotangent):
    return jax.vjp(f, x)[1](cotangent)[0]


TABLE, INDICES = integers(8, 300), columns(256)
COTANGENT = integers(8, 256)
EXPECTED = added((8, 300), COTANGENT, INDICES, 1)


def gather(table, indices=INDICES):
    return jaxops.gather(table, indices, axis=1)


def test_sparse_gradient():
    """Of a table of one row, where columns are all that there is to look up."""
    table = integers(1, 8, 300)

    def loss(table):
        return (jaxops.gather(table, INDICES, axis=2)[0] * COTANGENT).sum()

    assert "gather_columns" in primitives(loss, table)
    _, sparse = jaxops.sparse_value_and_grad(loss, tables="")(table)
    assert isinstance(sparse, jaxops.IndexedSlices)
    np.testing.assert_array_equal(sparse.to_dense(), EXPECTED[None])


def test_only_programs_for_one_cpu_are_changed():
    pull = jax.jit(lambda t, ct: pull_back(gather, t, ct))
    traced = pull.trace(TABLE, COTANGENT)
    assert "stablehlo.while" in traced.lower(lowering_platforms=("cpu",)).as_text()
    assert "stablehlo.while" not in traced.lower(lowering_platforms=("cuda",)).as_text()
    mesh = jax.sharding.AbstractMesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    sharding = jax.sharding.NamedSharding(mesh, P("x"))
    args = [jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding) for x in (TABLE, COTANGENT)]
    many = pull.trace(*args).lower(lowering_platforms=("cpu",))
    assert "stablehlo.while" not in many.as_text()
