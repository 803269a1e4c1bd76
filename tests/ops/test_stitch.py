"""dynamic_stitch beyond the harness: exact shapes, many lists, and their true size."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import assert_equal
from fast import known

import jaxops

STITCHES = {
    "scalars": ([1, 0], [5, 6], [6, 5]),
    "nothing": ([[]], [np.zeros((0, 3), np.int32)], np.zeros((0, 3))),
    "strings": ([[3], [0]], [["a"], ["b"]], ["b", "", "", "a"]),
}


@pytest.mark.parametrize("case", STITCHES)
def test_stitch_exactly(case):
    indices, data, expected = STITCHES[case]
    merged, size = jaxops.dynamic_stitch(indices, data, return_size=True)
    assert_equal(merged, expected)
    assert int(size) == len(expected)


def test_ignored_indices_of_exact_results():
    merged = jaxops.dynamic_stitch([[0, -1], [2]], [[1, 2], [3]], mode="fill", fill_value=9)
    assert_equal(merged, [1, 9, 3])
    text = jaxops.dynamic_stitch([[0, 7]], [["a", "b"]], size=2, mode="fill", fill_value="?")
    assert text.tolist() == ["a", "?"]


def test_places_of_many_rows():
    """Places are counted in 32 bits, though these indices have 16."""
    numbers = np.arange(2**16)
    halves = numbers[2**15 :], numbers[: 2**15]
    stitch = jax.jit(lambda *indices: jaxops.dynamic_stitch(indices, halves, size=2**16))
    assert_equal(stitch(*(half.astype(np.uint16) for half in halves)), numbers)


LISTS = [np.arange(n, n + 2, dtype=np.int32) for n in range(20)]  # each overlaps the next one


def test_many_lists_are_checked_together():
    data = [jnp.full((2, 3), float(n)) for n in range(20)]
    stitch = jax.jit(lambda indices: jaxops.dynamic_stitch(indices, data, size=21))
    expected = np.minimum(np.arange(21), 19)  # of two rows the later list's stays
    expected[1:-1] = np.arange(1, 20)
    assert_equal(stitch(LISTS)[:, 0], expected)
    program = stitch.lower(LISTS).compile(known(True)).as_text() or ""
    assert program.count(" conditional(") == 1
    assert " gather(" not in program


@pytest.mark.parametrize("size", [None, 21], ids=["exact", "padded"])
def test_out_of_bounds_in_one_of_many_lists(size):
    indices = [*LISTS, np.array([[3, 4], [5, -7]], np.int32)]
    data = [np.ones(x.shape, np.float32) for x in indices]
    with pytest.raises(jaxops.OutOfBoundsError) as info:
        jaxops.dynamic_stitch(indices, data, size=size)
    assert "indices[3] is out of range: indices[20][1,1] = -7 is not in" in str(info.value)
    assert info.value.position == (20, 1, 1)


def test_true_size_of_many_lists():
    """The largest index is in the last one."""
    data = [jnp.zeros(x.shape) for x in LISTS]
    _, size = jaxops.dynamic_stitch(LISTS, data, size=3, return_size=True)
    assert int(size) == max(int(x.max()) for x in LISTS) + 1


def test_index_dtypes_of_lists_differ():
    indices = [np.array([0], np.uint32), np.array([1], np.int8), np.array([2], np.uint64)]
    data = [np.array([n], np.float32) for n in range(3)]
    assert_equal(jaxops.dynamic_stitch(indices, data), [0, 1, 2])
    large = [*indices[:2], np.array([2**32 + 2], np.uint64)]
    with pytest.raises(jaxops.OutOfBoundsError, match=f"indices.2..0. = {2**32 + 2} is not in"):
        jaxops.dynamic_stitch(large, data, size=3)


@pytest.mark.parametrize("index", [2**31 - 1, 2**31, 2**32 - 1, 2**62])
def test_the_true_size_of_a_stitch_saturates(index, x64):
    indices = jnp.array([1, min(index, np.iinfo(np.int64 if x64 else np.uint32).max)],
                        jnp.int64 if x64 else jnp.uint32)  # fmt: skip
    stitch = jax.jit(
        lambda i: jaxops.dynamic_stitch([i], [i], size=2, return_size=True, mode="fill")
    )
    assert stitch(indices)[1] == 2**31 - 1


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


@pytest.mark.parametrize("tail", [(), (3,), (2, 5), (0,)])
@pytest.mark.parametrize("dtype", [bool, np.int8, jnp.bfloat16, jnp.int4, np.float32, np.complex64])
def test_exact_rows(dtype, tail):
    """Rows of every width: the last one stays, places without a row get zeros, -1 is dropped."""
    rng = np.random.default_rng(0)
    indices = [np.array(i) for i in ([[3, 0], [-1, 3]], [9, 0, 5], [], 1)]
    data = [np.asarray(rng.integers(0, 8, (*i.shape, *tail)), dtype) for i in indices]
    indices[2] = indices[2].astype(np.uint8)
    expected = np.zeros((10, *tail), dtype)
    for places, rows in zip(indices, data, strict=True):
        for at in np.ndindex(places.shape):
            if places[at] >= 0:
                expected[int(places[at])] = rows[at]
    result = jaxops.dynamic_stitch(indices, data, mode="fill")
    np.testing.assert_array_equal(result, expected, strict=True)
    jitted = jax.jit(lambda x: jaxops.dynamic_stitch(indices, x, mode="fill", size=10))(data)
    np.testing.assert_array_equal(jitted, expected)
