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


WORDS = np.array(["a", "b", "c"])
# In each two strings are moved to the front.
OF_A_SIZE = {
    "boolean_mask": lambda x, **o: jaxops.boolean_mask(x, [True, False, True], **o),
    "repeat": lambda x, **o: jaxops.repeat(x, [0, 1, 1], **o),
    "dynamic_stitch": lambda x, **o: jaxops.dynamic_stitch([[0], [1]], [x[:1], x[2:]], **o),
    "dynamic_partition": lambda x, **o: jaxops.dynamic_partition(x, [0, 1, 0], 2, **o),
}


@pytest.mark.parametrize("name", OF_A_SIZE)
def test_strings_with_a_size(name):
    call = OF_A_SIZE[name]
    two = WORDS[1:] if name == "repeat" else WORDS[[0, 2]]
    last = "c" if name == "repeat" else ""  # `repeat` fills up with the last slice
    filled, count = call(WORDS, size=3, fill_value="none", return_size=True)
    for result, expected in (
        (call(WORDS, size=2), two),
        (call(WORDS, size=4), [*two, last, last]),
        (filled, [*two, "none"]),
    ):
        first = result[0] if isinstance(result, list) else result  # of the partitions
        np.testing.assert_array_equal(first, expected)
    assert np.ravel(count)[0] == 2
