"""The worked examples of the source documents 000 (GatherNd), 001, 002 and 003."""

import numpy as np
import pytest

import jaxops

MATRIX = [["a", "b"], ["c", "d"]]
CUBE = [[["a0", "b0"], ["c0", "d0"]], [["a1", "b1"], ["c1", "d1"]]]

GATHER_ND = {
    "slice": (MATRIX, [[1], [0]], [["c", "d"], ["a", "b"]]),
    "cube-2": (CUBE, [[0, 1], [1, 0]], [["c0", "d0"], ["a1", "b1"]]),
    "cube-3": (CUBE, [[0, 0, 1], [1, 0, 1]], ["b0", "b1"]),
    "batched-cube-2": (
        CUBE,
        [[[0, 1], [1, 0]], [[0, 0], [1, 1]]],
        [[["c0", "d0"], ["a1", "b1"]], [["a0", "b0"], ["c1", "d1"]]],
    ),
}


@pytest.mark.parametrize("kind", [np.str_, np.bytes_, object, np.dtypes.StringDType()], ids=str)
@pytest.mark.parametrize("case", GATHER_ND, ids=lambda name: f"000-{name}")
def test_gather_nd_of_strings(case, kind):
    params, indices, expected = GATHER_ND[case]
    result = jaxops.gather_nd(np.array(params).astype(kind), indices)
    np.testing.assert_array_equal(result, np.array(expected).astype(kind))


def test_003_encoding():
    spec = jaxops.strided_slice_spec(np.s_[1, 2:4, None, ..., :-3:-1, :])
    assert spec.begin == (1, 2, 0, 0, 0, 0)
    assert spec.end == (2, 4, 0, 0, -3, 0)
    assert spec.strides == (1, 1, 1, 1, -1, 1)
    assert spec[3:] == (48, 32, 8, 4, 1)


INDEX = [
    np.s_[...],
    np.s_[:, ...],
    np.s_[1, 2:4, None, ..., :-3:-1, :],
    np.s_[None, 1, ..., None, -1],
    np.s_[::2, ::-1, 3:1:-1],
    np.s_[5:, 1],
    np.s_[:, -100:100:3],
    np.s_[()],
    np.s_[0, 0, 0, 0, 0],
]


@pytest.mark.parametrize("index", INDEX, ids=str)
@pytest.mark.parametrize("dtype", [np.int32, np.str_], ids=["int32", "str"])
def test_003_python_indexing(index, dtype):
    foo = np.arange(2 * 5 * 3 * 4 * 2).reshape(2, 5, 3, 4, 2).astype(dtype)
    spec = jaxops.strided_slice_spec(index)
    np.testing.assert_array_equal(jaxops.strided_slice(foo, *spec), foo[index])
    np.testing.assert_array_equal(foo[spec.to_index()], foo[index])
