"""repeat beyond the harness: dtypes of counts, strings, large sums."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("repeats", [[1, 2], [2, 0], [0, 0], [0, 1]], ids=str)
def test_the_end_is_filled_as_by_jnp(repeats):
    """As segment ids zeros put the values at the end into segment 0."""
    ids, repeats = np.array([0, 1]), np.array(repeats)
    expected = jnp.repeat(jnp.array(ids), jnp.array(repeats), total_repeat_length=5)
    for padded in (jaxops.repeat, jax.jit(jaxops.repeat, static_argnames="size")):
        np.testing.assert_array_equal(padded(ids, repeats, size=5), expected)
        filled = np.repeat(ids, repeats).tolist() + [2] * (5 - sum(repeats))
        np.testing.assert_array_equal(padded(ids, repeats, size=5, fill_value=2), filled)
    equally = jax.jit(lambda n: jaxops.repeat(ids, n, size=5, return_size=True))(2)
    jax.tree.map(np.testing.assert_array_equal, equally, (np.array([0, 0, 1, 1, 1]), 4))
    text = jaxops.repeat(np.array(["0", "1"]), repeats, size=5)
    np.testing.assert_array_equal(text, np.array(expected).astype(str))


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
)
def test_counts_of_every_dtype(dtype):
    """NumPy casts no uint64 to the numbers by which it repeats."""
    counts = np.array([1, 0, 2], dtype)
    ways: list[dict[str, Any]] = [{}, {"size": 3}, {"mode": "fill", "size": 3}]
    for options in ways:
        np.testing.assert_array_equal(jaxops.repeat([5, 6, 7], counts, **options), [5, 7, 7])
    np.testing.assert_array_equal(jaxops.repeat(["a", "b", "c"], counts), ["a", "c", "c"])
    np.testing.assert_array_equal(jaxops.repeat([5, 6], counts[2]), [5, 5, 6, 6])
    if dtype == "uint64":
        with pytest.raises(
            jaxops.OutOfBoundsError, match=r"repeats\[1\] = 18446744073709551615 is"
        ):
            jaxops.repeat([5, 6], np.array([1, 2**64 - 1], dtype))


def test_of_no_slices():
    for x, expected in ((np.zeros(0, np.int32), [0, 0]), (np.zeros(0, str), ["", ""])):
        np.testing.assert_array_equal(jaxops.repeat(x, [], size=2), expected)


def test_gradient_of_the_places_at_the_end():
    def total(x, fill, size):
        kept = jaxops.repeat(x, np.array([2, 0, 1]), size=size, fill_value=fill, mode="fill")
        return (kept * jnp.arange(1.0, size + 1)).sum()

    x_bar = jax.grad(total)(jnp.ones(3), None, 5)
    np.testing.assert_array_equal(x_bar, [3, 0, 12])  # copies of the last slice
    for size, expected, of_fill in ((5, [3, 0, 3], 9), (1, [1, 0, 0], 0)):
        x_bar, fill_bar = jax.grad(total, (0, 1))(jnp.ones(3), 1.0, size)
        np.testing.assert_array_equal(x_bar, expected)
        assert fill_bar == of_fill


def test_negative_repeats():
    repeats = np.array([2, -1, 1])
    for mode in ("fill", "promise_in_bounds"):
        result = jaxops.repeat(X[:, 0].repeat(2)[:3], repeats, size=3, mode=mode)
        np.testing.assert_array_equal(result, [0, 0, 3])
    with pytest.raises(jaxops.OutOfBoundsError) as info:
        jax.vmap(lambda r: jaxops.repeat(range(3), r, size=4))(np.stack([abs(repeats), repeats]))
    assert (info.value.position, info.value.index) == ((1, 1), -1)


@pytest.mark.parametrize("size", [None, 2])
def test_the_mode_of_negative_repeats(size):
    """With and without a size, which is about other repeats."""
    repeats = np.array([-1, 2])
    for mode in ("fill", "promise_in_bounds"):
        np.testing.assert_array_equal(jaxops.repeat([5, 6], repeats, size=size, mode=mode), [6, 6])
    for mode in ("device", "error"):
        with pytest.raises(jaxops.OutOfBoundsError, match=r"repeats\[0\] = -1 is not in"):
            jaxops.repeat([5, 6], repeats, size=size, mode=mode)


def test_sums_beyond_int32():
    most = 2**31 - 2
    for repeats in ([1, most, most, most, 0], [1, most, 1, 0, 0], [1, most, 2, 0, 0]):
        result, total = jaxops.repeat(range(5), repeats, size=3, return_size=True)
        np.testing.assert_array_equal(result, [0, 1, 1])
        assert total == 2**31 - 1


def test_strings():
    text = ["a", "b"]
    np.testing.assert_array_equal(jaxops.repeat(text, 2), ["a", "a", "b", "b"])
    cut = jaxops.repeat(text, [-1, 3], size=2, mode="fill")
    np.testing.assert_array_equal(cut, ["b", "b"])
