"""What an error says and holds, for the first index out of bounds of each kind of indices.

Of other kinds the records of functions have it, as `out_of_bounds`.
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
    "length": (
        specs.SequenceLength("reverse_sequence", (5,), 1), [[4], [6]],
        "seq_lens(1) > input.dims(1): 6 is not in [0, 5)", (1,), 6, 5),
    "negative-length": (
        specs.SequenceLength("reverse_sequence", (5,), 1), [[-2], [6]],
        "seq_lens(0) < 0: -2 is not in [0, 5)", (0,), -2, 5),
    "band": (
        specs.BandWidth("matrix_band_part", (5,), "num_upper"), [6],
        "num_upper must be negative or at most the number of columns, 4; received 6", (), 6, 5),
    "partition": (
        specs.PartitionNumber("dynamic_partition", (2,)), [[[0], [2]]],
        "partitions[0,1] = 2 is not in [0, 2)", (0, 1), 2, 2),
    "repeats": (
        specs.RepeatCount("repeat", (9,)), [[0], [-2], [9]],
        "repeats[1] = -2 is not in [0, 9)", (1,), -2, 9),
    "stitch": (
        specs.StitchIndices("dynamic_stitch", (9,), 3, ((2,), (), (2, 2))),
        [[0], [8], [1], [2], [3], [9], [4]],
        "indices[2] is out of range: indices[5][1,0] = 9 is not in [0, 9)", (5, 1, 0), 9, 9),
    "split-not-0": (
        specs.RowPartition("rows", (7, 7), "row_splits", 3), [[1, -1], [2, 1], [6, 4], [6, 0]],
        "row_splits[0] = 1 is not 0", (0,), 1, 6),
    "split-less": (
        specs.RowPartition("rows", (7, 7), "row_splits", 3), [[0, 0], [6, 6], [5, -1], [5, -1]],
        "row_splits[2] = 5 is less than the one before, 6", (2,), 5, 6),
    "split-more": (
        specs.RowPartition("rows", (7, 7), "row_splits", 3), [[0, 0], [2, 2], [7, 5], [7, 1]],
        "row_splits[2] = 7 is more than the number of values, 6", (2,), 7, 6),
    "split-last": (
        specs.RowPartition("rows", (7, 7), "row_splits", 3), [[0, 0], [2, 2], [5, 3], [5, -1]],
        "row_splits[2] = 5 is not the number of values, 6", (2,), 5, 6),
    "row-length": (
        specs.RowPartition("rows", (7, 7), "row_lengths", 3), [[0, 0], [2, 2], [1, -1]],
        "row_lengths[1] = -1 is negative", (2,), 1, 6),
    "row-lengths": (
        specs.RowPartition("rows", (7, 7), "row_lengths", 3), [[0, 0], [2, 2], [9, 7]],
        "the sum of row_lengths = 9 is more than the number of values, 6", (2,), 9, 6),
    "row-number": (
        specs.RowPartition("rows", (3, 4), "value_rowids", 3), [[0, 0], [2, 2], [3, 1]],
        "value_rowids[2] = 3 is not in [0, 3)", (2,), 3, 3),
    "row-number-less": (
        specs.RowPartition("rows", (3, 4), "value_rowids", 3), [[0, 0], [2, 2], [1, -1]],
        "value_rowids[2] = 1 is less than the one before, 2; sort the rows by them", (2,), 1, 3),
    "segment-less": (
        specs.RowPartition("segment_sum", (3, 4), "segment_ids", 3), [[0, 0], [2, 2], [1, -1]],
        "segment_ids[2] = 1 is less than the one before, 2; unsorted_segment_sum takes any order",
        (2,), 1, 3),
    "unsorted-segments-negative": (
        specs.SegmentIds("unsorted_segment_sum", (5,)), [[4], [-1]],
        "segment_ids[1] = -1 is out of range [0, 5)", (1,), -1, 5),
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
    recorded |= {specs.SegmentIdsOrNone}
    assert {type(spec) for spec, *_ in FIRST.values()} == kinds - recorded
