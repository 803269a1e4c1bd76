"""Rows that come several times are summed where they come first."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops
from jaxops import IndexedSlices
from jaxops._sparse.indexed_slices import sum_at_first


def slices(indices=(2, 0, 2, 5), dense_shape=(4, 2), depth=1, dtype: Any = np.float32):
    shape = (len(indices), *dense_shape[depth:])
    values = np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(dtype)
    return IndexedSlices(values, jnp.array(indices, jnp.int32), dense_shape)


def dense_oracle(slices):
    depth = len(slices.dense_shape) - slices.values.ndim + 1
    rows = np.zeros((int(np.prod(slices.dense_shape[:depth])), *slices.values.shape[1:]))
    rows = rows.astype(slices.dtype)
    for value, index in zip(np.asarray(slices.values), np.asarray(slices.indices), strict=True):
        if 0 <= index < len(rows):
            rows[index] += value
    return rows.reshape(slices.dense_shape)


CASES = {
    "duplicates-and-ignored": slices(),
    "negative-is-ignored": slices((-1, 3, -4, 3)),
    "rank-1": slices((1, 1, 0), (3,)),
    "rank-3": slices((1, 1, 0), (3, 2, 2)),
    "depth-2": slices((5, 0, 5, 7, 8), (4, 2), depth=2),
    "depth-2-of-3": slices((5, 0, 5, 8), (4, 2, 3), depth=2),
    "no-rows": slices((), (4, 2)),
    "empty-table": slices((0, 1), (0, 2)),
    "empty-rows": slices((0, 1), (4, 0)),
    "bfloat16": slices(dtype=jnp.bfloat16),
    "int32": slices(dtype=np.int32),
    "int8-indices": IndexedSlices(np.ones((3, 1)), np.array([1, -128, 127], np.int8), (200, 1)),
    "uint8-indices": IndexedSlices(np.ones((2, 1)), np.array([200, 255], np.uint8), (256, 1)),
    "uint32-indices": IndexedSlices(np.ones((2, 1)), np.array([2, 2**32 - 1], np.uint32), (3, 1)),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def first_occurrences(case):
    inside = [i for i in np.asarray(case.indices).tolist() if 0 <= i < case.num_rows]
    return list(dict.fromkeys(inside))


def test_sum_duplicates(case):
    summed = case.sum_duplicates()
    assert summed.indices.tolist() == first_occurrences(case)
    np.testing.assert_array_equal(summed.to_dense(), dense_oracle(case), strict=True)


@pytest.mark.parametrize("more", [0, 3])
def test_sum_duplicates_with_size(case, more):
    distinct = first_occurrences(case)
    size = len(distinct) + more
    for call in (
        IndexedSlices.sum_duplicates,
        jax.jit(IndexedSlices.sum_duplicates, static_argnums=1),
    ):
        summed = call(case, size)
        assert summed.indices.tolist() == distinct + [case.num_rows] * more
        assert not np.any(np.asarray(summed.values[len(distinct) :], np.float32))
        np.testing.assert_array_equal(summed.to_dense(), dense_oracle(case), strict=True)


def test_sum_duplicates_needs_room():
    with pytest.raises(jaxops.OutOfBoundsError, match="2 distinct rows do not fit size=1"):
        slices().sum_duplicates(size=1)
    with pytest.raises((jax.errors.JaxRuntimeError, ValueError), match="2 distinct rows"):
        jax.block_until_ready(jax.jit(lambda s: s.sum_duplicates(size=1))(slices()))
    with pytest.raises(jaxops.OutOfBoundsError, match="2 distinct rows do not fit size=0"):
        slices().sum_duplicates(size=0)


def test_sum_duplicates_under_jit_needs_a_size():
    with pytest.raises(
        TypeError, match=r"size must be given .* The number of indices, 4, is always"
    ):
        jax.jit(lambda s: s.sum_duplicates())(slices())


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


REPEATED = {  # more than one in eight repeated are summed in another way than few
    "distinct": [4, 1, 7, 2, 9, 0, 3, 8, 5, 6],
    "few-repeated": [4, 1, 7, 4, 9, 0, 3, 8, 4, 6, 2, 5, 11, 12, 13, 14],
    "many-repeated": [4, 1, 4, 4, 1, 4, 7, 1, 4, 4],
    "repeated-and-ignored": [15, 4, -1, 15, 4, 16, 4, 15],
    "one": [3],
}


@pytest.mark.parametrize("case", REPEATED)
@pytest.mark.parametrize("rest", [(), (2,), (2, 3)], ids=str)
def test_sum_at_first(case, rest):
    original = slices(REPEATED[case], (15, *rest))
    summed = sum_at_first(original)
    np.testing.assert_array_equal(summed.to_dense(), dense_oracle(original), strict=True)
    for n, index in enumerate(REPEATED[case]):
        counts = 0 <= index < 15 and index not in REPEATED[case][:n]
        assert summed.indices[n] == (index if counts else 15)
        assert counts or not summed.values[n].any()
