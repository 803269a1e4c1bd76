"""What the harness does not see of `_ops/setdiff1d.py`: exact results, NaN, strings."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops

X = np.array([np.nan, -0.0, 2, 1e-45, 2, 7], np.float32)
Y = np.array([np.nan, 0.0, 7, 3], np.float32)


@pytest.mark.parametrize("copies", [1, 400])
def test_every_way_finds_the_same(copies):
    """On the host by Python and by compiled code, and in a program."""
    x, y = np.tile(X, copies), np.tile(Y, copies)
    places = np.flatnonzero(~np.tile([False, True, False, False, False, True], copies))
    exact = jaxops.setdiff1d(x, y)
    held = jax.jit(lambda x, y: jaxops.setdiff1d(x, y, size=x.size, return_size=True))(x, y)
    for out, idx in (exact, [part[: held[1]] for part in held[0]]):
        np.testing.assert_array_equal(idx, places)
        np.testing.assert_array_equal(out, x[places])


def test_gradient_without_a_size():
    def total(x):
        return (jaxops.setdiff1d(x, [2.0]).out ** 2).sum()

    assert jax.grad(total)(jnp.array([1.0, 2, 3])).tolist() == [2, 0, 6]


def test_strings():
    out, idx = jaxops.setdiff1d(["b", "a", "b", "c"], ["c"])
    assert (out.tolist(), idx.tolist()) == (["b", "a", "b"], [0, 1, 2])
    out, idx = jaxops.setdiff1d([b"b", b"a"], [], size=3)
    assert (out.tolist(), idx.tolist()) == ([b"b", b"a", b""], [0, 1, 2])
    out, idx = jaxops.setdiff1d(["b", "a"], [], size=1, mode="fill")
    assert (out.tolist(), idx.tolist()) == (["b"], [0])
    out, idx = jaxops.setdiff1d(["b", "a"], [b"a"])  # text equals its bytes
    assert (out.tolist(), idx.tolist()) == (["b"], [0])
