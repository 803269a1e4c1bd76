"""Host strings, whose positions an op moves."""

import numpy as np
import pytest

import jaxops

KINDS = ["U", "S", "O", np.dtypes.StringDType()]


def test_strings_out_of_bounds():
    words = [["a", "b"], ["c", "d"]]
    with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[0\] = \[2\] does not index"):
        jaxops.gather_nd(words, [[2]])
    filled = jaxops.gather_nd(words, [[2], [1]], mode="fill", fill_value="longer")
    assert filled.tolist() == [["longer", "longer"], ["c", "d"]]
    assert jaxops.gather_nd(words, [[2]], mode="fill").tolist() == [["", ""]]
    as_bytes = np.array(words, np.bytes_)
    assert jaxops.gather_nd(as_bytes, [[2]], mode="fill").tolist() == [[b"", b""]]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: np.dtype(kind).name)
def test_strings_of_one_place_are_joined(kind):
    """The result is wider than each of the strings, and of their kind."""
    words = np.array(["ab", "cd", "e"], kind)
    joined = jaxops.scatter_nd([[0], [0], [1]], words, [3])
    expected = np.array(["abcd", "e", ""], kind)
    np.testing.assert_array_equal(joined, expected, strict=True)


OF_ONE = {
    "gather": lambda x: jaxops.gather(x, 1),
    "strided_slice": lambda x: jaxops.strided_slice(x, [1], [2], shrink_axis_mask=1),
    "unstack": lambda x: jaxops.unstack(x)[1],
    "reshape": lambda x: jaxops.reshape(x[1:], []),
    "where": lambda x: jaxops.where(False, x[0], x[1]),
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: np.dtype(kind).name)
@pytest.mark.parametrize("name", OF_ONE)
def test_one_string_is_an_array_too(name, kind):
    """NumPy indexes an element as a scalar, and as Python's str in two of its dtypes."""
    strings = np.array(["a", "b"]).astype(kind)
    result = OF_ONE[name](strings)
    assert (type(result), result.shape) == (np.ndarray, ())
    assert result == strings[1]


BESIDE_NONE = {
    "concat": lambda x: jaxops.concat([x, []], 0),
    "concat-first": lambda x: jaxops.concat([[], x], 0),
    "dynamic_stitch": lambda x: jaxops.dynamic_stitch([[1, 0], []], [x[::-1], []]),
    "dynamic_stitch-size": lambda x: jaxops.dynamic_stitch([[1, 0], []], [x[::-1], []], size=2),
    "tensor_scatter_nd_update": lambda x: jaxops.tensor_scatter_nd_update(
        x, np.zeros((0, 1), int), []
    ),
    "setdiff1d": lambda x: jaxops.setdiff1d(x, []).out,
}


@pytest.mark.parametrize("kind", KINDS[:3], ids=lambda kind: np.dtype(kind).name)
@pytest.mark.parametrize("name", BESIDE_NONE)
def test_an_empty_list_beside_strings(name, kind):
    """An empty list has no dtype of its own, though NumPy makes an array of floats of it."""
    strings = np.array(["a", "bc"]).astype(kind)
    result = BESIDE_NONE[name](strings)
    assert result.dtype.kind == strings.dtype.kind
    assert result.tolist() == strings.tolist()


JOINED = {
    "concat": lambda x, y: jaxops.concat([x, y], 0),
    "stack": lambda x, y: jaxops.stack([x, y]),
    "where": lambda x, y: jaxops.where([True, False], x, y),
    "dynamic_stitch": lambda x, y: jaxops.dynamic_stitch([[0, 1], [2, 3]], [x, y]),
    "tensor_scatter_nd_update": lambda x, y: jaxops.tensor_scatter_nd_update(x, [[0], [1]], y),
    "pad": lambda x, y: jaxops.pad(x, [[1, 0]], constant_values=y[0]),
    "one_hot": lambda x, y: jaxops.one_hot([0, 1], 2, x[0], y[0]),
    "gather": lambda x, y: jaxops.gather(x, [0, 5], mode="fill", fill_value=y[0]),
    "boolean_mask": lambda x, y: jaxops.boolean_mask(x, [True, False], size=2, fill_value=y[0]),
    "unique": lambda x, y: jaxops.unique(x, size=3, fill_value=y[0]).y,
    "setdiff1d": lambda x, y: jaxops.setdiff1d(x, y, size=3, fill_value=y[0]).out,
    "dynamic_stitch-fill": lambda x, y: jaxops.dynamic_stitch([[0, 2]], [x], fill_value=y[0]),
    "dynamic_stitch-size": lambda x, y: jaxops.dynamic_stitch(
        [[0, 2]], [x], size=5, fill_value=y[0]
    ),
}


@pytest.mark.parametrize("join", JOINED.values(), ids=JOINED)
def test_text_beside_bytes_becomes_bytes_of_utf8(join):
    first, second = np.array([b"\xff", b"a"]), np.array(["\u00e9t\u00e9", "b"])
    expected = join(first, np.array([x.encode() for x in second.tolist()]))
    assert expected.dtype.kind == "S"
    np.testing.assert_array_equal(join(first, second), expected, strict=True)
    expected = join(np.array([x.encode() for x in second.tolist()]), first)
    np.testing.assert_array_equal(join(second, first), expected, strict=True)


COUNT, LONG = 2**25, "x" * 2**22  # 2**49 bytes, more than a process can address
LARGE = {
    "fill": lambda: jaxops.fill([COUNT], LONG),
    "tile": lambda: jaxops.tile([LONG], [COUNT]),
    "pad": lambda: jaxops.pad([LONG], [[0, COUNT]]),
    "repeat": lambda: jaxops.repeat([LONG], COUNT),
    "broadcast_to": lambda: jaxops.broadcast_to([LONG], [COUNT]),
    "boolean_mask": lambda: jaxops.boolean_mask([LONG], [True], size=COUNT),
    "gather": lambda: jaxops.gather([LONG], np.zeros(COUNT, np.int8)),
    "dynamic_stitch": lambda: jaxops.dynamic_stitch([[0]], [[LONG]], size=COUNT),
    "unique": lambda: jaxops.unique([LONG], size=COUNT),
    "scatter_nd": lambda: jaxops.scatter_nd([[0]], [LONG], [COUNT]),
}


@pytest.mark.parametrize("op", LARGE)
def test_more_strings_than_memory_holds(op):
    with pytest.raises(MemoryError, match=f"^{op}: "):
        LARGE[op]()
