"""Refused calls: where, repeat, sequence_mask and searchsorted."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import numpy as np

import jaxops
from refusals.values import IN_JIT, X, in_jit

NO_BOOLS = "where: condition must be an array of bools if x and y are given; received dtype int32"
CALLS = {
    "where-condition-no-bools": (lambda: jaxops.where([1, 0, 1], X, X), TypeError, NO_BOOLS),
    "where-condition-no-bools-in-jit": (lambda: in_jit(lambda c: jaxops.where(c, X, X), np.array([1, 0, 1], np.int32)), TypeError, NO_BOOLS),
    "where-condition-shape": (lambda: jaxops.where([True] * 4, X, X), ValueError, "where: condition, x and y must have shapes that broadcast; received shapes (4,), (4, 3) and (4, 3)"),
    "where-condition-none-alone": (lambda: jaxops.where(None), TypeError, "must be an array of numbers or bools; received None"),
    "where-condition-scalar": (lambda: jaxops.where(True), ValueError, "must have rank 1 at least to have positions; received a scalar"),
    "where-condition-scalar-with-size": (lambda: jaxops.where(True, size=1), ValueError, "must have rank 1 at least to have positions; received a scalar"),
    "where-condition-traced-of-strings": (
        lambda: jax.jit(lambda c: jaxops.where(c, "a", "b"))([True]), TypeError, "must be concrete where the data are strings, which exist on the host only; received a traced array; call it outside jit, vmap and grad"),
    "where-x-dtype": (lambda: jaxops.where(True, 2.5, X.astype(np.int32)), TypeError, "must fit dtype int32; received 2.5"),
    "where-x-no-string": (lambda: jaxops.where([True], [1], ["a"]), TypeError, "must hold strings only; received [1]"),
    "where-x-alone": (lambda: jaxops.where([True], 1), ValueError, "where: x and y must both be given, or neither; received no y"),
    "where-y-alone": (lambda: jaxops.where([True], y=1), ValueError, "where: x and y must both be given, or neither; received no x"),
    "where-y-large": (lambda: jaxops.where(True, np.int8(1), 300), TypeError, "must fit dtype int8; received 300"),
    "where-y-shape": (lambda: jaxops.where(True, X, X[:3]), ValueError, "where: condition, x and y must have shapes that broadcast; received shapes (), (4, 3) and (3, 3)"),
    "where-size-with-x": (lambda: jaxops.where(True, X, X, size=3), ValueError, "must be left out if x and y are given; received 3"),
    "where-size-negative": (lambda: jaxops.where([True], size=-2), ValueError, "must be at least 0; received -2"),
    "where-size-float": (lambda: jaxops.where([True], size=2.0), TypeError, "must be a static int; received 2.0"),
    "where-fill_value-with-x": (lambda: jaxops.where(True, X, X, fill_value=0), ValueError, "must be left out if x and y are given; received 0"),
    "where-fill_value-float": (lambda: jaxops.where([True], size=2, fill_value=1.0), TypeError, "must fit dtype int32; received 1.0"),
    "where-fill_value-vector": (lambda: jaxops.where([True], size=2, fill_value=[1]), ValueError, "must be a scalar; received shape (1,)"),
    "where-return_size-with-x": (lambda: jaxops.where(True, X, X, return_size=True), ValueError, "must be left out if x and y are given; received True"),
    "where-return_size-int": (lambda: jaxops.where([True], return_size=1), TypeError, "must be a static bool; received 1"),
    "where-mode-with-x": (lambda: jaxops.where(True, X, X, mode="fill"), ValueError, "must be left out if x and y are given; received 'fill'"),
    "repeat-input-none-each": (lambda: jaxops.repeat(None, [2, 1]), TypeError, "must be an array of numbers or bools; received None"),
    "repeat-repeats-negative": (lambda: jaxops.repeat(X, -1), jaxops.OutOfBoundsError, "repeats = -1 is not in [0, 2147483647)"),
    "repeat-repeats-negative-one": (lambda: jaxops.repeat(X, [1, 2, -1, 0], 0), jaxops.OutOfBoundsError, "repeats[2] = -1 is not in [0, 2147483647)"),
    "repeat-repeats-negative-of-strings": (lambda: jaxops.repeat(["a", "b"], [1, -1]), jaxops.OutOfBoundsError, "repeats[1] = -1 is not in [0, 2147483647)"),
    "repeat-repeats-negative-in-jit": (lambda: in_jit(lambda i: jaxops.repeat(X, i, 0, size=2), [1, 2, -1, 0]), IN_JIT, "repeats[2] = -1 is not in [0, 2147483647)"),
    "repeat-repeats-length": (lambda: jaxops.repeat(X, [1, 2], 0), ValueError, "must be a scalar, or a vector of 1 or 4 numbers, of one for each slice of input; received shape (2,)"),
    "repeat-repeats-length-with-size": (
        lambda: jaxops.repeat(X, [1, 2], 0, size=3), ValueError, "must be a scalar, or a vector of 1 or 4 numbers, of one for each slice of input; received shape (2,)"),
    "repeat-repeats-rank": (lambda: jaxops.repeat(1, [[2]]), ValueError, "must have rank 1 at most; received shape (1, 1)"),
    "repeat-repeats-rank-with-size": (lambda: jaxops.repeat(1, [[2]], size=2), ValueError, "must have rank 1 at most; received shape (1, 1)"),
    "repeat-repeats-float-alone": (lambda: jaxops.repeat(X, 2.0), TypeError, "must have an integer dtype; received float64"),
    "repeat-repeats-bool": (lambda: jaxops.repeat(X, True), TypeError, "must have an integer dtype; received bool"),
    "repeat-repeats-none-alone": (lambda: jaxops.repeat(X, None), TypeError, "must have an integer dtype; received None"),
    "repeat-axis-high-each": (lambda: jaxops.repeat(X, [1, 2], 2), ValueError, "must be in [-2, 2); received 2"),
    "sequence_mask-lengths-float-alone": (lambda: jaxops.sequence_mask([1.0]), TypeError, "must have an integer dtype; received float64"),
    "sequence_mask-maxlen-large": (lambda: jaxops.sequence_mask([1], 2**31), ValueError, "must be at most 2147483647 for lengths of dtype int32; received 2147483648"),
    "sequence_mask-maxlen-missing": (
        lambda: in_jit(jaxops.sequence_mask, [1]), TypeError, "must be given where lengths is traced, as the shape of the result depends on the values; received a traced lengths"),
    "searchsorted-sorted_sequence-bool": (lambda: jaxops.searchsorted([False, True], [True]), TypeError, "must have an ordered dtype; received bool"),
    "searchsorted-sorted_sequence-complex": (lambda: jaxops.searchsorted([1j], [1j]), TypeError, "must have an ordered dtype; received complex64"),
    "searchsorted-values-rows": (
        lambda: jaxops.searchsorted([[1], [2]], [1]), ValueError, "searchsorted: sorted_sequence and values must have the same dimensions before the last; received shapes (2, 1) and (1,)"),
    "v0.where-input-scalar": (lambda: jaxops.compat.v0.where(True), ValueError, "must have rank 1 at least"),
    "v0.where-input-traced": (lambda: in_jit(jaxops.compat.v0.where, [True]), TypeError, "where: `size` of `jaxops.where` must be given where input is traced"),
    "v0.select-condition-no-bools": (lambda: jaxops.compat.v0.select([1, 0, 1, 0], X, X), TypeError, "must be an array of bools if t and e are given; received dtype int32"),
    "v0.select-condition-shape": (
        lambda: jaxops.compat.v0.select([True] * 3, X, X), ValueError, "select: condition, t and e must have one shape, or condition no dimension or the first one only; received shapes (3,), (4, 3) and (4, 3)"),
    "v0.select-condition-shape-of-scalars": (
        lambda: jaxops.compat.v0.select([True], 1, 2), ValueError, "select: condition, t and e must have one shape, or condition no dimension or the first one only; received shapes (1,), () and ()"),
    "v0.select-t-dtype": (lambda: jaxops.compat.v0.select(True, 2.5, np.int32(1)), TypeError, "must fit dtype int32; received 2.5"),
    "v0.select-e-shape": (
        lambda: jaxops.compat.v0.select([True] * 4, X, 1.0), ValueError, "select: condition, t and e must have one shape, or condition no dimension or the first one only; received shapes (4,), (4, 3) and ()"),
}  # fmt: skip
