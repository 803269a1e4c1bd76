"""What an error says and holds, for the first index out of bounds of each kind of indices.

Of other kinds the records of functions have it, as `out_of_bounds`, and tests/refusals has the
words of numbers that make no rows.
"""

import pickle

import numpy as np
import pytest

from jaxops._call_sites import CallSite
from jaxops._indexing import specs

SITE = CallSite("model.py:31 (decoder)", None)

# spec, index vectors, message, position, index, bound
FIRST = {
    "default-id": (
        specs.DefaultId("safe_embedding_lookup_sparse", (5,)), [-1],
        "default_id = -1 is not in [0, 5)", (), -1, 5),
    "begin-at-the-end": (
        specs.SliceBegin("slice", (2, 4), (3, 5)), [1, 5],
        "Expected size[1] in [0, 0], but got 2", (1,), 5, 4),
    "shrunk": (
        specs.ShrunkAxes("strided_slice", (2, 4), (0, 2), (1, 3)), [1, 4],
        "slice index 4 of dimension 2 out of bounds.", (3,), 4, 4),
    "band": (
        specs.BandWidth("matrix_band_part", (5,), "num_upper"), [6],
        "num_upper must be negative or at most the number of columns, 4; received 6", (), 6, 5),
    "stitch": (
        specs.StitchIndices("dynamic_stitch", (9,), 3, ((2,), (), (2, 2))),
        [[0], [8], [1], [2], [3], [9], [4]],
        "indices[2] is out of range: indices[5][1,0] = 9 is not in [0, 9)", (5, 1, 0), 9, 9),
    "split-last": (
        specs.RowPartition("rows", (7, 7), "row_splits", 3), [[0, 0], [2, 2], [5, 3], [5, -1]],
        "row_splits[2] = 5 is not the number of values, 6", (2,), 5, 6),
    "row-length": (
        specs.RowPartition("rows", (7, 7), "row_lengths", 3), [[0, 0], [2, 2], [1, -1]],
        "row_lengths[1] = -1 is negative", (2,), 1, 6),
    "row-number-less": (
        specs.RowPartition("rows", (3, 4), "value_rowids", 3), [[0, 0], [2, 2], [1, -1]],
        "value_rowids[2] = 1 is less than the one before, 2; sort the rows by them", (2,), 1, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", FIRST)
def test_first_out_of_bounds(name):
    spec, indices, message, position, index, bound = FIRST[name]
    error = spec.find_error(np.array(indices), SITE)
    assert error is not None
    for received in (error, pickle.loads(pickle.dumps(error))):
        assert str(received) == f"{message} [Op:{spec.operation}] at model.py:31 (decoder)"
        assert (received.operation, received.where, received.name) == (spec.operation, *SITE)
        assert (received.position, received.index, received.bound) == (position, index, bound)


@pytest.mark.parametrize("name", FIRST)
def test_nothing_is_out_of_bounds(name):
    spec, indices, *_ = FIRST[name]
    assert spec.find_error(np.zeros_like(indices), SITE) is None
    assert spec.find_error(np.zeros((0, len(spec.limits)), int), SITE) is None


def test_every_kind_is_here():
    kinds = {cls for cls in vars(specs).values() if isinstance(cls, type)}
    kinds = {cls for cls in kinds if issubclass(cls, specs.IndexSpec)} - {specs.IndexSpec}
    recorded = {specs.ScalarIndex, specs.VectorIndex, specs.PermutationEntry, specs.RowIndex}
    recorded |= {specs.SegmentIds, specs.SegmentIdsOrNone, specs.SequenceLength}
    recorded |= {specs.PartitionNumber, specs.RepeatCount}  # as `ScalarIndex`, but for a word
    assert {type(spec) for spec, *_ in FIRST.values()} == kinds - recorded


@pytest.mark.parametrize("bits", [32, 64])
def test_an_index_that_may_stand_for_one_beyond_it(bits):
    ends = [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1]
    for end, inside in zip(ends, (1, -1), strict=True):
        for number in (end, end + inside):
            for spec, index in (
                (specs.ScalarIndex("gather", (5,)), [number]),
                (specs.VectorIndex("gather_nd", (5, 3), noun="shape", shape=(5, 3), indices_ndim=1),
                 [1, number]),
                (specs.ShrunkAxes("strided_slice", (2, 4), (0, 2), (1, 3)), [1, number]),
            ):  # fmt: skip
                text = str(spec.find_error(np.array(index), SITE))
                assert (f" (int{bits} has no number beyond it) [Op:" in text) == (number == end)
