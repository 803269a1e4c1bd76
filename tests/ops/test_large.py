"""Arrays of more than 2^31 elements, at both ends and beyond. `make test-large` runs this."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import assert_fails
from long_axes import as_mode_has_it
from records.record import MODES

import jaxops

pytestmark = pytest.mark.large

LENGTH = 2**31 + 7
ENDS = [0, 2, 2**31 - 2, 2**31 - 1, 2**31, 2**31 + 1, LENGTH - 1]
# A prime, so that a position that is wrong by a power of 2 has another value.
PERIOD = 251


def value_at(positions):
    """What the array holds there; 0, which is nowhere in it, at None."""
    return [0 if p is None else p % PERIOD - (126 if p % PERIOD < 126 else 125) for p in positions]


def filled(length):
    period = np.array(value_at(range(PERIOD)), np.int8)
    array = np.empty(length, np.int8)
    array[:PERIOD] = period
    done = PERIOD
    while done < length:
        step = min(done, length - done)
        array[done : done + step] = array[:step]
        done += step
    return array


@pytest.fixture(scope="module")
def vector():
    return jnp.asarray(filled(LENGTH))


def positions_under(mode, indices):
    return [as_mode_has_it(index, LENGTH, mode) for index in indices]


# By dtype: indices inside, indices outside
INDICES = {
    "int8": ([0, 127], [-1, -128]),
    "uint8": ([0, 255], []),
    "int32": (ENDS[:4], [-1, -7, -(2**31)]),
    "uint32": (ENDS, [LENGTH, LENGTH + 1, 2**32 - 1]),
    "int64": (ENDS, [LENGTH, -1, -LENGTH, 2**32, 2**33 + 5]),
    "uint64": (ENDS, [LENGTH, 2**32, 2**64 - 1]),
}
DTYPES = [(dtype, x64) for dtype in INDICES for x64 in (False, True) if x64 or "64" not in dtype]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("dtype", "x64"), DTYPES, indirect=["x64"])
def test_gather(vector, dtype, mode, x64, run):
    inside, outside = INDICES[dtype]
    gather = run(lambda x, i: jaxops.gather(x, i, mode=mode))
    np.testing.assert_array_equal(gather(vector, jnp.array(inside, dtype)), value_at(inside))
    if mode in ("device", "error"):
        for index in outside:
            text = f"indices[1] = {index} is not in [0, {LENGTH})"
            assert_fails(text, gather, vector, jnp.array([0, index], dtype))
    elif mode != "promise_in_bounds" and outside:
        expected = value_at(positions_under(mode, outside))
        np.testing.assert_array_equal(gather(vector, jnp.array(outside, dtype)), expected)


@pytest.mark.parametrize("as_host", [list, np.array])
@pytest.mark.parametrize("mode", ["device", "clip", "fill", "wrap"])
def test_gather_by_numbers_of_the_host(vector, mode, as_host, x64, run):
    """Which 32-bit types may not hold."""
    gather = run(lambda x: jaxops.gather(x, as_host(ENDS), mode=mode))
    np.testing.assert_array_equal(gather(vector), value_at(ENDS))
    if mode == "fill":
        beyond = run(lambda x: jaxops.gather(x, as_host([LENGTH, 2**40, 1]), mode=mode))
        np.testing.assert_array_equal(beyond(vector), value_at([None, None, 1]))


def test_vmapped_gather(vector, x64):
    gather = jax.jit(jax.vmap(lambda x, i: jaxops.gather(x, i), in_axes=(None, 0)))
    np.testing.assert_array_equal(gather(vector, jnp.array(ENDS, jnp.uint32)), value_at(ENDS))


# begin, size, dtype of a begin that is traced
SLICES = {
    "begin": (0, 3, np.int32),
    "narrow": (100, 3, np.int8),
    "across": (2**31 - 2, 5, np.int32),
    "end": (LENGTH - 4, 4, np.uint32),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SLICES)
def test_slice(vector, name, mode, x64, run):
    begin, size, dtype = SLICES[name]
    expected = value_at(range(begin, begin + size))
    static = run(lambda x: jaxops.slice(x, [begin], [size], mode=mode))
    np.testing.assert_array_equal(static(vector), expected)
    traced = run(lambda x, b: jaxops.slice(x, b, [size], mode=mode))
    np.testing.assert_array_equal(traced(vector, jnp.array([begin], dtype)), expected)


def test_slice_of_the_rest(vector, x64):
    rest = jaxops.slice(vector, [2**31 + 1], [-1])
    np.testing.assert_array_equal(rest, value_at(range(2**31 + 1, LENGTH)))


# begin, dtype; 5 elements
WINDOWS = {
    "before": (-2, np.int32),
    "across-int32": (2**31 - 3, np.int32),
    "beyond": (LENGTH - 2, np.uint32),
    "far-beyond": (2**32 - 2, np.uint32),
}


@pytest.mark.parametrize("mode", ["fill", "clip", "wrap"])
@pytest.mark.parametrize("name", WINDOWS)
def test_slice_that_reaches_outside(vector, name, mode, x64, run):
    begin, dtype = WINDOWS[name]
    sliced = run(lambda x, b: jaxops.slice(x, b, [5], mode=mode))
    expected = value_at(positions_under(mode, range(begin, begin + 5)))
    np.testing.assert_array_equal(sliced(vector, jnp.array([begin], dtype)), expected)


@pytest.mark.parametrize("begin", [LENGTH - 3, LENGTH, 2**32 - 1])
def test_slice_out_of_bounds(vector, begin, x64, run):
    sliced = run(lambda x, b: jaxops.slice(x, b, [4]))
    text = "Expected size[0] in" if begin <= LENGTH else "Expected begin[0] in"
    assert_fails(text, sliced, vector, jnp.array([begin], jnp.uint32))


# begin, end, stride, end_mask
RANGES = {
    "begin": (0, 3, 1, 0),
    "end": (LENGTH - 4, LENGTH, 1, 0),
    "from-the-end": (-4, 0, 1, 1),
    "clamped": (2**31 + 3, 2**40, 1, 0),
    "reversed": (-1, -6, -1, 0),
    "reversed-across": (2**31 + 1, 2**31 - 3, -1, 0),
    "strided": (0, LENGTH, 2**30, 0),
    "strided-back": (-1, 0, -(2**31) + 3, 1),
}


@pytest.mark.parametrize("name", RANGES)
def test_strided_slice_of_ranges(vector, name, x64, run):
    begin, end, stride, end_mask = RANGES[name]
    sliced = run(lambda x: jaxops.strided_slice(x, [begin], [end], [stride], end_mask=end_mask))
    positions = range(LENGTH)[begin : None if end_mask else end : stride]
    np.testing.assert_array_equal(sliced(vector), value_at(positions))


@pytest.mark.parametrize(
    ("begin", "dtype"),
    [
        (0, np.int32),
        (-1, np.int32),
        (-1, np.int8),
        (-(2**31), np.int32),
        (2**31 - 1, np.int32),
        (LENGTH - 1, np.uint32),
    ],
)
def test_strided_slice_at_a_single_index(vector, begin, dtype, x64, run):
    static = run(lambda x: jaxops.strided_slice(x, [begin], [0], shrink_axis_mask=1))
    traced = run(lambda x, b: jaxops.strided_slice(x, b, [0], shrink_axis_mask=1))
    listed = run(lambda x, b: jaxops.strided_slice(x, [b[0]], [0], shrink_axis_mask=1))
    (expected,) = value_at([begin % LENGTH])
    assert static(vector) == expected
    assert traced(vector, jnp.array([begin], dtype)) == expected
    assert listed(vector, jnp.array([begin], dtype)) == expected


def test_strided_slice_out_of_bounds(vector, x64, run):
    sliced = run(lambda x, b: jaxops.strided_slice(x, b, [0], shrink_axis_mask=1))
    text = f"slice index {LENGTH} of dimension 0 out of bounds"
    assert_fails(text, sliced, vector, jnp.array([LENGTH], jnp.uint32))


def test_strided_slice_mixed(vector, x64):
    """A long axis and a short one, from the end of both."""
    corner = jax.jit(lambda x, b: jaxops.strided_slice(x[:, None], b, [0, 0], shrink_axis_mask=3))
    assert corner(vector, jnp.array([-1, -1])) == value_at([LENGTH - 1])[0]
    assert_fails("of dimension 1 out of bounds", corner, vector, jnp.array([-1, -2]))


@jax.jit
def slices_at_ends(array):
    return [jax.lax.slice(array, (p,), (p + 1,))[0] for p in ENDS]


def ends_of(array):
    return [int(value) for value in slices_at_ends(array)]


@pytest.mark.parametrize(
    ("dtype", "x64"), [("uint32", False), ("uint32", True), ("int64", True)], indirect=["x64"]
)
@pytest.mark.parametrize("kind", ["add", "sub", "min", "max", "update"])
def test_tensor_scatter(vector, kind, dtype, x64):
    scatter = jax.jit(lambda x, i, u: getattr(jaxops, f"tensor_scatter_nd_{kind}")(x, i, u))
    indices = jnp.array([ENDS[0], *ENDS[3:]], dtype)[:, None]
    result = scatter(vector, indices, jnp.full(5, 1, jnp.int8))
    combine = {"add": int.__add__, "sub": int.__sub__, "min": min, "max": max}
    combine["update"] = lambda old, new: new
    hit = [n in (0, 3, 4, 5, 6) for n in range(len(ENDS))]
    expected = [combine[kind](v, 1) if h else v for v, h in zip(value_at(ENDS), hit, strict=True)]
    assert ends_of(result) == [(v + 128) % 256 - 128 for v in expected]


@pytest.mark.parametrize("mode", ["fill", "clip", "wrap"])
def test_scatter_nd(mode, x64):
    outside = [LENGTH, 2**32 - 1]
    inside = [0, 2**31, LENGTH - 1]
    updates = jnp.arange(1, 6, dtype=jnp.int8)
    scatter = jax.jit(lambda i, u: jaxops.scatter_nd(i, u, [LENGTH], mode=mode))
    indices = inside + outside
    sums = dict.fromkeys(ENDS, 0)
    for n, position in enumerate(positions_under(mode, indices)):
        if position in sums:
            sums[position] += n + 1
    result = scatter(jnp.array(indices, jnp.uint32)[:, None], updates)
    assert ends_of(result) == [*sums.values()]


def test_scatter_nd_eagerly(x64):
    """By NumPy's int64, and by what is out of bounds."""
    indices, updates = np.array([[0], [2**31], [LENGTH - 1]]), np.arange(1, 4, dtype=np.int8)
    result = jaxops.scatter_nd(indices, updates, [LENGTH])
    assert ends_of(result) == [1, 0, 0, 0, 2, 0, 3]
    del result
    text = f"indices[1] = [{LENGTH}] does not index into shape [{LENGTH}]"
    assert_fails(text, jaxops.scatter_nd, np.array([[0], [LENGTH], [1]]), updates, [LENGTH])


def test_concat_and_split(vector, x64):
    whole = vector
    left, right = jaxops.split(whole, [2**31 - 1, -1])
    assert left.shape == (2**31 - 1,)
    np.testing.assert_array_equal(right, value_at(range(2**31 - 1, LENGTH)))
    joined = jaxops.concat([left, right], 0)
    del left
    assert ends_of(joined) == value_at(ENDS)


@pytest.mark.parametrize(
    ("function", "positions"),
    [
        (lambda x: jaxops.reverse(x, [0]), [LENGTH - 1 - p for p in ENDS]),
        (lambda x: jaxops.pad(x, [[1, 0]]), [None, *(p - 1 for p in ENDS[1:])]),
        (lambda x: jaxops.cast(x, np.int8), ENDS),
        (lambda x: jaxops.reshape(jaxops.expand_dims(x, 0), [-1]), ENDS),
        (lambda x: jaxops.tile(x[: 2**30 + 4], [2]), [p % (2**30 + 4) for p in ENDS]),
    ],
    ids=["reverse", "pad", "cast", "reshape", "tile"],
)
def test_what_only_moves(vector, function, positions, x64):
    assert ends_of(function(vector)) == value_at(positions)


def test_shape_and_size(vector):
    np.testing.assert_array_equal(jaxops.shape(vector, np.int64), [LENGTH])
    assert jaxops.size(vector, np.int64) == LENGTH
    with pytest.raises(ValueError, match="out_type must be int64 to hold 2147483655"):
        jaxops.size(vector)


def test_boolean_mask(vector, x64):
    mask = np.zeros(LENGTH, bool)
    mask[ENDS] = True
    np.testing.assert_array_equal(jaxops.boolean_mask(vector, mask), value_at(ENDS))
