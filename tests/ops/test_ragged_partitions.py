"""What the harness does not see of how a RaggedTensor is made."""

import jax
import numpy as np
import pytest

from jaxops import RaggedTensor, testing

VALUES = np.arange(6, dtype=np.float32)
ROWS = [[0.0, 1.0], [], [2.0, 3.0, 4.0], []]
# Of 5 values, in 4 rows; the sixth value belongs to none.
PARTITIONS = {
    "row_splits": [0, 2, 2, 5, 5],
    "row_lengths": [2, 0, 3, 0],
    "value_rowids": [0, 0, 2, 2, 2, 4],
}


def make(how, numbers, values=VALUES, **options):
    if how == "value_rowids":
        options["nrows"] = 4
    return getattr(RaggedTensor, f"from_{how}")(values, numbers, **options)


@pytest.mark.parametrize("how", PARTITIONS)
def test_known_and_traced_partitions(how):
    for dtype in (np.int8, np.int32, np.uint32):
        numbers = np.array(PARTITIONS[how], dtype)
        eager = make(how, numbers, padded=True)
        assert eager.to_list() == ROWS
        wide = jax.dtypes.canonicalize_dtype(np.int64)
        assert eager.row_splits.dtype == (wide if dtype is np.uint32 else np.int32)
        traced = jax.jit(lambda n: make(how, n, padded=True))(numbers)
        np.testing.assert_array_equal(traced.row_splits, eager.row_splits)
        known = jax.jit(lambda n=numbers: make(how, n, padded=True).to_tensor())()
        np.testing.assert_array_equal(known, eager.to_tensor())
    some = numbers[:5] if how == "value_rowids" else numbers
    np.testing.assert_array_equal(make(how, some, VALUES[:5]).row_splits, eager.row_splits)


@pytest.mark.parametrize("how", PARTITIONS)
def test_values_of_no_row_take_padded(how):
    with pytest.raises(ValueError, match=how):
        make(how, PARTITIONS[how])
    testing.assert_out_of_bounds(
        jax.vmap(lambda n: make(how, n).row_splits), np.array([PARTITIONS[how]])
    )


WRONG = {
    "row_splits": ([-3, 4, 2, 9, 8, 9], [[0, 1, 2, 3], [], [2, 3, 4, 5], [], []]),
    "row_lengths": ([4, -2, 9, 3], [[0, 1, 2, 3], [], [2, 3, 4, 5], []]),
    "value_rowids": ([3, 0, -1, 4, 9, 3], [[0], [], [], [1, 2]]),
}


@pytest.mark.parametrize("how", WRONG)
def test_without_validation_rows_lie_in_the_values(how):
    numbers, rows = WRONG[how]
    numbers = np.array(numbers, np.int32)
    size = max(map(len, rows))
    for function in (make, jax.jit(make, static_argnums=0, static_argnames="validate")):
        x = function(how, numbers, validate=False)
        assert x.to_list() == rows
        for row, expected in zip(np.asarray(x.to_tensor(shape=(None, size))), rows, strict=True):
            assert row[: len(expected)].tolist() == expected
        assert x.gather(np.arange(len(rows)), size=12).to_list() == rows
        assert x.gather(np.arange(len(rows))).to_list() == rows


def test_the_last_row_number_tells_how_many_rows_there_are():
    x = RaggedTensor.from_value_rowids(VALUES[:3], [0, 0, 2])
    assert x.to_list() == [VALUES[:2].tolist(), [], VALUES[2:3].tolist()]


def test_without_validation_negative_numbers_are_of_no_row():
    """Also where all are: of their last one comes the number of rows."""
    for ids in ([-5, -3], [-1, -1]):
        x = RaggedTensor.from_value_rowids(VALUES[:2], ids, validate=False)
        assert x.to_list() == []
        assert x.row_splits.tolist() == [0]
        with pytest.raises(ValueError, match=rf"value_rowids\[0\] = {ids[0]} is not in \[0, 0\)"):
            RaggedTensor.from_value_rowids(VALUES[:2], ids)


def test_the_error_of_a_batch_tells_the_row():
    lengths = np.array([[2, 4], [7, -1]], np.int32)
    batched = jax.vmap(lambda n: RaggedTensor.from_row_lengths(VALUES, n).row_splits)
    error = testing.assert_out_of_bounds(batched, lengths)
    assert str(error).startswith("the sum of row_lengths = 7 is more than the number of values, 6")
    assert (error.position, error.index, error.bound) == ((1, 1), 7, 6)
