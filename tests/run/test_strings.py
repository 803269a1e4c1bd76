"""Host strings, whose positions an op moves."""

import numpy as np
import pytest

import jaxops


def test_strings_out_of_bounds():
    words = [["a", "b"], ["c", "d"]]
    with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[0\] = \[2\] does not index"):
        jaxops.gather_nd(words, [[2]])
    filled = jaxops.gather_nd(words, [[2], [1]], mode="fill", fill_value="longer")
    assert filled.tolist() == [["longer", "longer"], ["c", "d"]]
    assert jaxops.gather_nd(words, [[2]], mode="fill").tolist() == [["", ""]]
    as_bytes = np.array(words, np.bytes_)
    assert jaxops.gather_nd(as_bytes, [[2]], mode="fill").tolist() == [[b"", b""]]


@pytest.mark.parametrize(
    "dtype", [np.str_, np.bytes_, object, np.dtypes.StringDType()], ids=["U", "S", "object", "T"]
)
def test_strings_of_one_place_are_joined(dtype):
    """The result is wider than each of the strings, and of their kind."""
    words = np.array(["ab", "cd", "e"], dtype)
    joined = jaxops.scatter_nd([[0], [0], [1]], words, [3])
    expected = np.array(["abcd", "e", ""], dtype)
    np.testing.assert_array_equal(joined, expected, strict=True)
