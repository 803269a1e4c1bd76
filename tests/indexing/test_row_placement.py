"""Rows put at their places: time and memory follow the rows, not the places."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops


@pytest.mark.parametrize("fill_value", [None, 7])
def test_few_rows_far_apart(fill_value):
    """Also where their places are ignored, or taken several times."""
    far = 20_000
    indices, data = [[far, 3], [-1, 3]], [np.array([1.5, 2]), np.array([4.0, 5])]
    expected = np.zeros(far + 1) if fill_value is None else np.full(far + 1, fill_value, float)
    expected[[3, far]] = 5, 1.5

    def stitch(*data):
        return jaxops.dynamic_stitch(indices, [*data], mode="fill", fill_value=fill_value)

    np.testing.assert_array_equal(stitch(*data), expected)
    np.testing.assert_array_equal(jax.jit(stitch)(*data), expected)
    grads = jax.grad(lambda *data: (stitch(*data)[3:] ** 2).sum(), argnums=(0, 1))(
        *map(jnp.array, data)
    )
    np.testing.assert_array_equal(grads, [[3.0, 0], [0, 10]])


def test_work_follows_the_rows(monkeypatch):
    """What lies between two places far apart is memory that nobody has to write."""
    written = []
    ones = np.full
    monkeypatch.setattr(np, "full", lambda *args: written.append(args) or ones(*args))
    result = jaxops.dynamic_stitch([[2**26]], [jnp.ones(1, jnp.int8)])
    assert result.shape == (2**26 + 1,)
    assert not written


@pytest.mark.parametrize("place", [2**47, 0xDEADBEEF * 2**16])
@pytest.mark.parametrize("data", [[1], np.ones(1, np.float32), jnp.ones((1, 3))], ids=type)
def test_places_beyond_memory(place, data):
    text = f"dynamic_stitch: indices must name places that memory holds; received {place}, for a "
    tail = np.shape(data)[1:]
    with pytest.raises(MemoryError, match=re.escape(f"{text}result of shape {(place + 1, *tail)}")):
        jaxops.dynamic_stitch([np.array([place], np.int64)], [data])
