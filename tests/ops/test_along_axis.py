"""`take_along_axis` beside NumPy's and JAX's, in all shapes that broadcast."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import jaxops

SIZES = (2, 3, 4)


def calls(rank):
    """Each axis, and in each other dimension both arrays, or one of them of size 1."""
    for axis in range(rank):
        for sizes in itertools.product(("both", "arr", "indices"), repeat=rank - 1):
            in_order = [*sizes[:axis], "axis", *sizes[axis:]]
            of_arr = [
                1 if kind == "indices" else s for kind, s in zip(in_order, SIZES, strict=False)
            ]
            of_indices = [
                1 if kind == "arr" else s for kind, s in zip(in_order, SIZES, strict=False)
            ]
            of_arr[axis], of_indices[axis] = 5, 4
            yield axis, of_arr, of_indices


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("mode", ["fill", "clip"])
def test_values_and_gradients_are_those_of_jnp(mode, rank):
    """The indices are not negative: `jnp` counts negative ones from the end. The axes are."""
    options = {"mode": mode, **({"fill_value": 0} if mode == "fill" else {})}
    made = [*calls(rank)]

    def gradients(take):
        def loss(arrays):
            results = [
                take(arr, indices, axis - rank, **options)
                for (axis, *_), arr, indices in zip(made, arrays, all_indices, strict=True)
            ]
            return sum(jnp.sum(result**2) for result in results), results

        return jax.jit(jax.grad(loss, has_aux=True))(arrays)

    rng = np.random.default_rng(1)
    arrays = [rng.integers(-9, 9, of_arr).astype(np.float32) for _, of_arr, _ in made]
    all_indices = [rng.integers(0, 7, of_indices).astype(np.int32) for *_, of_indices in made]
    found, expected = map(gradients, (jaxops.take_along_axis, jnp.take_along_axis))
    jax.tree.map(functools.partial(np.testing.assert_array_equal, strict=True), found, expected)


@pytest.mark.parametrize("shared", [0, 2])
def test_a_result_is_shared_as_the_indices(shared):
    mesh = AbstractMesh((2,), ("d",), axis_types=(AxisType.Explicit,))
    spec = P(*["d" if d == shared else None for d in range(3)])
    arr = jax.ShapeDtypeStruct((2, 4, 2), jnp.float32, sharding=NamedSharding(mesh, P()))
    indices = jax.ShapeDtypeStruct((2, 1, 2), jnp.int32, sharding=NamedSharding(mesh, spec))
    with jax.sharding.use_abstract_mesh(mesh):
        take = functools.partial(jaxops.take_along_axis, axis=1)
        assert jax.typeof(jax.eval_shape(take, arr, indices)).sharding.spec == spec
