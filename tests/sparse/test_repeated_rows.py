"""Rows that come several times are summed where they come first."""

import jax
import numpy as np
import pytest
from sparse_checks import SLICES, dense_oracle, slices

import jaxops
from jaxops import IndexedSlices
from jaxops._sparse.slices.indexed_slices import sum_all_at_first


@pytest.fixture(params=SLICES)
def case(request):
    return SLICES[request.param]


def first_occurrences(case):
    inside = [i for i in np.asarray(case.indices).tolist() if 0 <= i < case.num_rows]
    return list(dict.fromkeys(inside))


@pytest.mark.parametrize("more", [None, 0, 3])
def test_sum_duplicates(case, more):
    distinct = first_occurrences(case)
    size = None if more is None else len(distinct) + more
    calls: list = [IndexedSlices.sum_duplicates]
    if size is not None:
        calls.append(jax.jit(IndexedSlices.sum_duplicates, static_argnums=1))
    for call in calls:
        summed = call(case, size)
        assert summed.indices.tolist() == distinct + [case.num_rows] * (more or 0)
        assert not np.any(np.asarray(summed.values[len(distinct) :], np.float32))
        np.testing.assert_array_equal(dense_oracle(summed), dense_oracle(case), strict=True)


def test_sum_duplicates_needs_room():
    with pytest.raises(jaxops.OutOfBoundsError, match="2 distinct rows do not fit size=1"):
        slices().sum_duplicates(size=1)
    with pytest.raises((jax.errors.JaxRuntimeError, ValueError), match="2 distinct rows"):
        jax.block_until_ready(jax.jit(lambda s: s.sum_duplicates(size=1))(slices()))
    with pytest.raises(jaxops.OutOfBoundsError, match="2 distinct rows do not fit size=0"):
        slices().sum_duplicates(size=0)


def test_more_rows_than_32_bits_count(x64):
    shape = (2**17, 2**17)
    rows, parts = slices((1, 2**17 - 1), shape), slices((5,), shape, depth=2)
    if not x64:
        with pytest.raises(ValueError, match="64-bit"):
            parts.sum_duplicates()
        return
    indices = np.asarray((rows + parts).indices)
    assert indices.dtype == np.int64
    assert indices[-2:].tolist() == [2**34 - 1, 5]
    summed = IndexedSlices(
        np.ones(3, np.float32), np.array([7, 7, -1], np.int32), (2**33,)
    ).sum_duplicates()
    assert (summed.indices.tolist(), summed.values.tolist()) == ([7], [2.0])


REPEATED = {
    "distinct": [4, 1, 7, 2, 9, 0, 3, 8, 5, 6],
    "repeated": [4, 1, 4, 4, 1, 4, 7, 1, 4, 4],
    "repeated-and-ignored": [15, 4, -1, 15, 4, 16, 4, 15],
    "one": [3],
}


@pytest.mark.parametrize("case", REPEATED)
@pytest.mark.parametrize("rest", [(), (2,), (2, 3)], ids=str)
def test_sum_at_first(case, rest):
    original = slices(REPEATED[case], (15, *rest))
    (summed,) = sum_all_at_first([original])
    np.testing.assert_array_equal(dense_oracle(summed), dense_oracle(original), strict=True)
    for n, index in enumerate(REPEATED[case]):
        counts = 0 <= index < 15 and index not in REPEATED[case][:n]
        assert summed.indices[n] == (index if counts else 15)
        assert counts or not summed.values[n].any()


@pytest.mark.usefixtures("x64")
def test_sum_all_at_first():
    """Tables of different sizes, widths and types, with equally many and with other indices."""
    all_slices = [
        slices(REPEATED["distinct"], (15, 2)),
        slices(REPEATED["repeated"], (5,)),
        slices(REPEATED["one"], (15, 2)),
        slices([14, 3, 14, -1, 15, 3, 3, 0, 1, 2], (15, 3, 2), depth=2),
        slices(np.array(REPEATED["repeated"], np.int64), (8, 2)),
        slices([], (4, 2)),
    ]
    for original, summed in zip(all_slices, sum_all_at_first(all_slices), strict=True):
        np.testing.assert_array_equal(dense_oracle(summed), dense_oracle(original), strict=True)
        (alone,) = sum_all_at_first([original])
        np.testing.assert_array_equal(summed.indices, alone.indices, strict=True)
        np.testing.assert_array_equal(summed.values, alone.values, strict=True)


def test_one_search_for_tables_with_equally_many_indices():
    def program(*lengths):
        all_slices = [slices([1] * n, (9 + n, 2)) for n in lengths]
        return str(jax.make_jaxpr(sum_all_at_first)(all_slices))

    assert program(4, 4, 4).count(" = first_occurrences_in_rows") == 1
    assert program(4, 5).count(" = first_occurrences") == 2
    assert sum_all_at_first([]) == []
