"""Refused calls: the methods of RaggedTensor."""

# pyright: reportCallIssue=false, reportArgumentType=false

import functools

import jax
import numpy as np

import jaxops
from jaxops import RaggedTensor
from refusals.values import IN_JIT, X, in_jit


@functools.cache
def rows():
    return RaggedTensor.from_row_splits(X, [0, 1, 1, 4])


of_splits = RaggedTensor.from_row_splits
of_lengths = RaggedTensor.from_row_lengths
of_ids = RaggedTensor.from_value_rowids
of_tensor = RaggedTensor.from_tensor

CALLS = {
    "RaggedTensor-called": (
        lambda: RaggedTensor(X, [0, 4]), TypeError, "RaggedTensor: expected one of from_row_splits, from_row_lengths, from_value_rowids and from_tensor to make it; received a call of the class"),
    "RaggedTensor-delete": (lambda: delattr(rows(), "values"), AttributeError, "RaggedTensor: values cannot be deleted"),
    "RaggedTensor-set": (lambda: setattr(rows(), "values", X), AttributeError, "RaggedTensor: values cannot be set; make a new object instead"),
    "RaggedTensor-in-gather": (
        lambda: jaxops.gather(rows(), [0]), TypeError, "gather: params must be an array of numbers or bools; received RaggedTensor(values=float32[4,3], row_splits=int32[4]); a RaggedTensor is no array: x.with_values(f(x.values)) applies a function to each value"),
    "RaggedTensor-in-numpy": (lambda: np.asarray(rows()), TypeError, "a RaggedTensor is no array"),
    "RaggedTensor.from_row_splits-values-2**31": (
        lambda: RaggedTensor.from_row_splits(np.zeros((2**31, 0)), [0, 4]), ValueError, "RaggedTensor.from_row_splits: row_splits must be int64 for 2147483648 values; received dtype int32"),
    "RaggedTensor.from_row_splits-values-tensor": (
        lambda: of_splits(rows(), [0, 1]), TypeError, "must be an array of numbers or bools; received RaggedTensor(values=float32[4,3], row_splits=int32[4])"),
    "RaggedTensor.from_row_splits-row_splits-empty": (lambda: of_splits(X, []), ValueError, "must not be empty; received shape (0,)"),
    "RaggedTensor.from_value_rowids-value_rowids-few": (lambda: of_ids(X, [0, 1]), ValueError, "must have one number for each of 4 values; received shape (2,)"),
    "RaggedTensor.from_value_rowids-value_rowids-beyond-32-bits": (
        lambda: of_ids(X, [0, 0, 0, 2**31 - 2]), ValueError, "from_value_rowids: the last of value_rowids plus 1 must be less than 2**31 - 1; received 2147483647"),
    "RaggedTensor.from_value_rowids-nrows-missing-in-jit": (lambda: in_jit(lambda i: of_ids(X, i), [0] * 4), TypeError, "must be given with traced value_rowids; received nrows=None"),
    "RaggedTensor.from_value_rowids-nrows-missing-padded": (lambda: of_ids(X, [0] * 4, padded=True), TypeError, "must be given with padded=True; received nrows=None"),
    "RaggedTensor.from_tensor-tensor-rank": (lambda: of_tensor(X[0]), ValueError, "must have rank 2 at least; received shape (3,)"),
    "RaggedTensor.from_tensor-tensor-traced": (
        lambda: in_jit(lambda x: of_tensor(x, padding=0.0), X), TypeError, "RaggedTensor.from_tensor: size must be given where tensor is traced, in which padding is found; received size=None; 12 is always enough"),
    "RaggedTensor.from_tensor-lengths-few": (lambda: of_tensor(X, [1, 2]), ValueError, "must have one number for each of 4 rows; received shape (2,)"),
    "RaggedTensor.from_tensor-lengths-nested": (lambda: of_tensor(X, [[1] * 4]), ValueError, "must be a vector; received shape (1, 4)"),
    "RaggedTensor.from_tensor-lengths-traced": (
        lambda: in_jit(lambda n: of_tensor(X, n), [1] * 4), TypeError, "RaggedTensor.from_tensor: size must be given where lengths are traced; received size=None; 12 is always enough"),
    "RaggedTensor.from_tensor-padding-shape": (lambda: of_tensor(X, padding=[0.0]), ValueError, "must have the shape of one value, (); received shape (1,)"),
    "RaggedTensor.from_tensor-padding-dtype": (lambda: of_tensor(X, padding=1j), TypeError, "must fit dtype float32; received 1j"),
    "RaggedTensor.from_tensor-padding-lengths": (lambda: of_tensor(X, [1] * 4, 0.0), ValueError, "RaggedTensor.from_tensor: lengths must be None with padding; received both"),
    "RaggedTensor.from_tensor-ragged_rank-2": (lambda: of_tensor(X, ragged_rank=2), ValueError, "must be 1; received 2"),
    "RaggedTensor.from_tensor-size-small-in-jit": (
        lambda: in_jit(lambda n: of_tensor(X, n, size=3), [1] * 4), IN_JIT, '4 values of the rows do not fit size=3; mode="fill" drops the rest [Op:RaggedTensor.from_tensor] at '),
    "RaggedTensor.from_tensor-mode-clip": (
        lambda: of_tensor(X, size=3, mode="clip"), ValueError, "must be device, error, fill or promise_in_bounds, as there is no other place for an element that size does not hold; received 'clip'"),
    "RaggedTensor.from_tensor-mode-no-size": (lambda: of_tensor(X, mode="fill"), ValueError, "RaggedTensor.from_tensor: mode is used with size only; received mode='fill'"),
    "RaggedTensor.to_tensor-default_value-shape": (lambda: rows().to_tensor([1.0, 2.0]), ValueError, "must broadcast to the shape of one value, (3,); received shape (2,)"),
    "RaggedTensor.to_tensor-default_value-rank": (lambda: rows().to_tensor(np.ones((1, 3))), ValueError, "must broadcast to the shape of one value, (3,); received shape (1, 3)"),
    "RaggedTensor.to_tensor-default_value-dtype": (lambda: rows().to_tensor(1j), TypeError, "must fit dtype float32; received 1j"),
    "RaggedTensor.to_tensor-shape-scalar": (lambda: rows().to_tensor(shape=3), ValueError, "must be None or have 3 entries; received 3"),
    "RaggedTensor.to_tensor-shape-length": (lambda: rows().to_tensor(shape=(3, 2)), ValueError, "must be None or have 3 entries; received (3, 2)"),
    "RaggedTensor.to_tensor-shape-negative": (
        lambda: rows().to_tensor(shape=(-1, 2, 3)), ValueError, "must have None or a size in its first two entries, and then the shape of one value, (3,); received (-1, 2, 3)"),
    "RaggedTensor.to_tensor-shape-of-a-value": (
        lambda: rows().to_tensor(shape=(None, 2, 4)), ValueError, "must have None or a size in its first two entries, and then the shape of one value, (3,); received (None, 2, 4)"),
    "RaggedTensor.to_tensor-shape-float": (lambda: rows().to_tensor(shape=(None, 2.0, None)), TypeError, "RaggedTensor.to_tensor: each entry of shape must be a static int; received 2.0"),
    "RaggedTensor.to_tensor-shape-traced": (
        lambda: in_jit(lambda n: rows().to_tensor(shape=(None, n, None)), 2), TypeError, "must be static; received a list with a traced value in it; inside jit compute it from"),
    "RaggedTensor.to_tensor-shape-large": (
        lambda: rows().to_tensor(shape=(None, 2**80, None)), ValueError, "must make arrays of less than 2**56 bytes; received (None, 1208925819614629174706176, None)"),
    "RaggedTensor.to_tensor-shape-missing-in-jit": (
        lambda: jax.jit(lambda x: x.to_tensor())(rows()), TypeError, "must give the length of rows where row_splits are traced, as it depends on them; received shape=None; (None, 4, None) is always enough"),
    "RaggedTensor.to_tensor-shape-batched": (
        lambda: jax.tree.map(lambda x: x[None], rows()).to_tensor(shape=(None, 2, 3, None)), ValueError, "RaggedTensor.to_tensor: expected row_splits of rank 1; received RaggedTensor(values=float32[1,4,3], row_splits=int32[1,4]), which looks batched: call this under jax.vmap"),
    "RaggedTensor.gather-indices-traced": (
        lambda: in_jit(lambda i: rows().gather(i), [1]), TypeError, "RaggedTensor.gather: size must be given where indices or row_splits are traced; received size=None"),
    "RaggedTensor.gather-size-missing-in-jit": (lambda: jax.jit(lambda x: x.gather([1]))(rows()), TypeError, "must be given where indices or row_splits are traced; received size=None"),
    "RaggedTensor.gather-size-small-in-jit": (
        lambda: in_jit(lambda i: rows().gather(i, size=5), [2, 2]), IN_JIT, '6 values of the rows do not fit size=5; mode="fill" drops the rest [Op:RaggedTensor.gather] at '),
    "RaggedTensor.gather-mode-wrap": (
        lambda: rows().gather([1], mode="wrap"), ValueError, "must be device, error, fill or promise_in_bounds, as there is no other place for an element that size does not hold; received 'wrap'"),
    "RaggedTensor.row_lengths-axis-2": (lambda: rows().row_lengths(2), ValueError, "must be 1, the ragged dimension; received 2"),
    "RaggedTensor.with_values-new_values-few": (lambda: rows().with_values(X[:3]), ValueError, "must be 4 as the values are; received shape (3, 3)"),
    **{
        f"RaggedTensor.reduce_{kind}-{case}": (
            lambda kind=kind, options=options: getattr(rows(), f"reduce_{kind}")(**options),
            exception,
            f"RaggedTensor.reduce_{kind}: {words}",
        )
        for kind in ("sum", "mean", "max", "min", "prod")
        for case, options, exception, words in (
            ("axis-missing", {}, TypeError, "axis must be a static int; received None"),
            ("axis-0", {"axis": 0}, ValueError, "axis must be 1, the ragged dimension; received 0"),
        )
    },
    "RaggedTensor.reduce_sum-values-bool": (lambda: rows().with_values(X > 1).reduce_sum(1), TypeError, "must have a numeric dtype; received bool"),
    "RaggedTensor.reduce_max-values-complex": (lambda: rows().with_values(X + 1j).reduce_max(1), TypeError, "must have an ordered dtype; received complex64"),
}  # fmt: skip
# Numbers that make no rows of X, known and traced.
NO_ROWS = {
    "row_splits-first": (of_splits, [1, 4], {}, "row_splits[0] = 1 is not 0"),
    "row_splits-last": (of_splits, [0, 3], {}, "row_splits[1] = 3 is not the number of values, 4"),
    "row_splits-less": (of_splits, [0, 3, 2, 4], {}, "row_splits[2] = 2 is less than the one before, 3"),
    "padded-splits": (of_splits, [0, 5], {"padded": True}, "row_splits[1] = 5 is more than the number of values, 4"),
    "row_lengths-negative": (of_lengths, [3, -1, 2], {}, "row_lengths[1] = -1 is negative"),
    "row_lengths-few": (of_lengths, [3], {}, "the sum of row_lengths = 3 is not the number of values, 4"),
    "row_lengths-beyond-int32": (of_lengths, [2**31 - 2, 2**31 - 2, 8], {}, "the sum of row_lengths = 2147483646 is more than the number of values, 4"),
    "padded-lengths": (of_lengths, [3, 2], {"padded": True}, "the sum of row_lengths = 5 is more than the number of values, 4"),
    "value_rowids-less": (of_ids, [0, 2, 1, 3], {"nrows": 4}, "value_rowids[2] = 1 is less than the one before, 2; sort the rows by them"),
    "value_rowids-negative": (of_ids, [-1, 2, 3, 3], {"nrows": 4}, "value_rowids[0] = -1 is not in [0, 4)"),
    "nrows-small": (of_ids, [0, 1, 1, 2], {"nrows": 2}, "value_rowids[3] = 2 is not in [0, 2)"),
    "padded-ids": (of_ids, [0, 1, 2, 3], {"nrows": 2, "padded": True}, "value_rowids[3] = 3 is not in [0, 3)"),
}  # fmt: skip
for case, (make, numbers, options, words) in NO_ROWS.items():
    op = f"RaggedTensor.{make.__name__}"
    call, text = functools.partial(make, X, **options), f"{words} [Op:{op}] at "
    CALLS[f"{op}-{case}"] = functools.partial(call, numbers), ValueError, text
    CALLS[f"{op}-{case}-in-jit"] = functools.partial(in_jit, call, numbers), IN_JIT, text
