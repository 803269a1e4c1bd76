"""`take_along_axis` beside NumPy's and JAX's, in all shapes that broadcast."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

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


@pytest.mark.parametrize("rank", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
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
