"""Refused calls: split, concat, stack, unstack, tile, pad, reverse and reverse_sequence."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import jax.numpy as jnp
import numpy as np

import jaxops
from refusals.values import X, key

CALLS = {
    "split-traced-sizes": (lambda: jax.jit(lambda sizes: jaxops.split(X, sizes))(jnp.array([1, 3])), TypeError, "split: num_or_size_splits must be static; received a traced array of shape (2,); jaxops.dynamic_partition takes a traced number of the piece of each row"),
    "split-value-scalar": (lambda: jaxops.split(1.0, 1), ValueError, "split: axis must name a dimension; received 0 for a scalar"),
    "split-num_or_size_splits-not-divisor": (lambda: jaxops.split(X, 3), ValueError, "must divide dimension 0 of value, 4; received 3"),
    "split-num_or_size_splits-0": (lambda: jaxops.split(X, 0), ValueError, "must make at least one piece; received 0"),
    "split-num_or_size_splits-empty": (lambda: jaxops.split(X, []), ValueError, "must make at least one piece; received []"),
    "split-num_or_size_splits-sum": (lambda: jaxops.split(X, [1, 2]), ValueError, "must have sizes of at least 0, but for one -1, and make up dimension 0 of value, 4; received (1, 2)"),
    "split-num_or_size_splits-two-unknown": (lambda: jaxops.split(X, [-1, -1]), ValueError, "must have sizes of at least 0, but for one -1, and make up dimension 0 of value, 4; received (-1, -1)"),
    "split-num_or_size_splits-negative-size": (lambda: jaxops.split(X, [6, -2]), ValueError, "must have sizes of at least 0, but for one -1, and make up dimension 0 of value, 4; received (6, -2)"),
    "split-num_or_size_splits-2**31": (lambda: jaxops.split(X[:0], 2**31), ValueError, "must make less than 2**31 pieces; received 2147483648"),
    "split-num_or_size_splits-beyond-with-unknown": (
        lambda: jaxops.split(X, [5, -1]), ValueError, "must have sizes of at least 0, but for one -1, and make up dimension 0 of value, 4; received (5, -1)"),
    "split-num-differs": (lambda: jaxops.split(X, [2, 2], num=3), ValueError, "must be the number of pieces, 2; received 3"),
    "concat-values-empty": (lambda: jaxops.concat([], 0), ValueError, "must hold at least one array; received an empty list"),
    "concat-values-shapes": (lambda: jaxops.concat([X, X[:, :2]], 0), ValueError, "concat: values[1] must have the shape of values[0], (4, 3), but for dimension 0; received shape (4, 2)"),
    "concat-values-ranks": (lambda: jaxops.concat([X, X[0]], 0), ValueError, "concat: values[1] must have the shape of values[0], (4, 3), but for dimension 0; received shape (3,)"),
    "concat-values-scalars": (lambda: jaxops.concat([1.0, 2.0], 0), ValueError, "must have rank 1 at least; received scalars (stack them)"),
    "concat-values-strings-and-numbers": (lambda: jaxops.concat([["a"], [1.0]], 0), TypeError, "concat: values[1] must hold strings only; received [1.0]"),
    "concat-values-of-a-generator": (lambda: jaxops.concat((x for x in [X]), 0), TypeError, "concat: values[0] must be an array of numbers or bools; received <generator object"),
    "concat-values-host-float": (lambda: jaxops.concat([jnp.array([1]), [1.5]], 0), TypeError, "concat: values[1] must fit dtype int32; received an array of dtype float32"),
    "concat-values-host-overflow": (lambda: jaxops.concat([[300], jnp.array([1], jnp.uint8)], 0), TypeError, "concat: values[0] must fit dtype uint8; received an array of dtype int32"),
    "stack-values-empty": (lambda: jaxops.stack([]), ValueError, "must hold at least one array; received an empty list"),
    "stack-values-shapes": (lambda: jaxops.stack([X, X[0]]), ValueError, "stack: values[1] must have the shape of values[0], (4, 3); received shape (3,)"),
    "stack-values-scalar": (lambda: jaxops.stack(1.0), ValueError, "must be a list or an array with rows; received a scalar"),
    "stack-values-key": (lambda: jaxops.stack([key(), jnp.ones(2)]), TypeError, "stack: values[0] and values[1] must all be keys of one kind; received an array of dtype key<fry>, "),
    "stack-values-host-float": (lambda: jaxops.stack([1.5, jnp.array(2)]), TypeError, "stack: values[0] must fit dtype int32; received 1.5"),
    "stack-axis-high-of-an-array": (lambda: jaxops.stack(X, 2), ValueError, "must be in [-2, 2); received 2"),
    "parallel_stack-values-empty": (lambda: jaxops.parallel_stack([]), ValueError, "parallel_stack: values must"),
    "parallel_stack-values-shapes": (lambda: jaxops.parallel_stack([X, X[:2]]), ValueError, "parallel_stack: values[1] must have the shape of values[0], (4, 3); received shape (2, 3)"),
    "unstack-num-differs": (lambda: jaxops.unstack(X, 3), ValueError, "must be dimension 0 of value, 4; received 3"),
    "unstack-num-0": (lambda: jaxops.unstack(X, 0), ValueError, "must be dimension 0 of value, 4; received 0"),
    "tile-multiples-length": (lambda: jaxops.tile(X, [2]), ValueError, "must have one component of at least 0 per dimension of input, 2; received (2,)"),
    "tile-multiples-negative": (lambda: jaxops.tile(X, [1, -1]), ValueError, "must have one component of at least 0 per dimension of input, 2; received (1, -1)"),
    "tile-multiples-2**122-copies": (
        lambda: jaxops.tile(X, [2**61, 2**61]), ValueError, "tile: input and multiples must make arrays of less than 2**56 bytes; received input of shape (4, 3), multiples (2305843009213693952, 2305843009213693952), which make one of shape (2305843009213693952, 4, 2305843009213693952, 3)"),
    "tile-multiples-none-of-many": (
        lambda: jaxops.tile(X, [2**70, 0]), ValueError, "tile: input and multiples must make arrays of less than 2**63 bytes by the dimensions before a 0; received input of shape (4, 3), multiples (1180591620717411303424, 0), which make one of shape (1180591620717411303424, 4, 0, 3)"),
    "pad-paddings-rows": (lambda: jaxops.pad(X, [[1, 1]]), ValueError, "must have shape [2, 2] for tensor of shape (4, 3); received ((1, 1),)"),
    "pad-paddings-columns": (lambda: jaxops.pad(X, [[1, 1, 1], [1, 1, 1]]), ValueError, "must have shape [2, 2] for tensor of shape (4, 3); received ((1, 1, 1), (1, 1, 1))"),
    "pad-paddings-negative": (lambda: jaxops.pad(X, [[-1, 1], [0, 0]]), ValueError, "must be at least 0; received ((-1, 1), (0, 0))"),
    "pad-paddings-float-in-row": (lambda: jaxops.pad(X, [[1.0, 1], [0, 0]]), TypeError, "pad: each row of paddings must be a one-dimensional sequence of ints; received [1.0, 1]"),
    "pad-paddings-bools-in-row": (lambda: jaxops.pad(X, [[True, True], [False, False]]), TypeError, "pad: each row of paddings must be a one-dimensional sequence of ints; received [True, True]"),
    "pad-paddings-2**63": (
        lambda: jaxops.pad(X, [[2**62, 2**62], [0, 0]]), ValueError, "pad: tensor and paddings must make arrays of less than 2**56 bytes; received tensor of shape (4, 3), paddings ((4611686018427387904, 4611686018427387904), (0, 0)), which make one of shape (9223372036854775812, 3)"),
    "pad-paddings-reflect-high": (
        lambda: jaxops.pad(X, [[0, 4], [0, 0]], "REFLECT"), ValueError, "must be less than the dimension in mode REFLECT; received ((0, 4), (0, 0)) with tensor of shape (4, 3)"),
    "pad-paddings-reflect-nothing": (
        lambda: jaxops.pad(X[:0], [[0, 0]] * 2, "REFLECT"), ValueError, "must be less than the dimension in mode REFLECT; received ((0, 0), (0, 0)) with tensor of shape (0, 3)"),
    "pad-paddings-symmetric-high": (
        lambda: jaxops.pad(X, [[0, 5], [0, 0]], "SYMMETRIC"), ValueError, "must be at most the dimension in mode SYMMETRIC; received ((0, 5), (0, 0)) with tensor of shape (4, 3)"),
    "pad-paddings-traced-in-list": (lambda: jax.jit(lambda p: jaxops.pad(X, [[p, 0], [0, 0]]))(1), TypeError, "pad: each row of paddings must be static; received a list with a traced value in it"),
    "pad-constant_values-string": (lambda: jaxops.pad(X, [[1, 1], [1, 1]], constant_values="a"), TypeError, "must be a string where tensor holds strings, and only there; received 'a'"),
    "pad-constant_values-number-for-strings": (lambda: jaxops.pad(["a"], [[1, 1]], constant_values=1), TypeError, "must be a string where tensor holds strings, and only there; received 1"),
    "pad-constant_values-number-for-bools": (lambda: jaxops.pad([True], [[1, 1]], constant_values=1), TypeError, "must fit dtype bool; received 1"),
    "pad-constant_values-dtype": (lambda: jaxops.pad(X.astype(np.int32), [[1, 1], [1, 1]], constant_values=0.5), TypeError, "must fit dtype int32; received 0.5"),
    "reverse-axis-high": (lambda: jaxops.reverse(X, [2]), ValueError, "must be in [-2, 2); received 2"),
    "reverse-axis-duplicate": (lambda: jaxops.reverse(X, [1, -1]), ValueError, "must name each dimension at most once; received (1, -1)"),
    "reverse_sequence-input-scalar": (lambda: jaxops.reverse_sequence(1.0, [1], 1), ValueError, "reverse_sequence: seq_axis must be in [0, 0) for input of shape (); received 1"),
    "reverse_sequence-seq_lengths-shape": (lambda: jaxops.reverse_sequence(X, [1, 1], 1), ValueError, "must have shape (4,), dimension 0 of input; received shape (2,)"),
    "reverse_sequence-seq_axis-high": (lambda: jaxops.reverse_sequence(X, [1] * 4, 2), ValueError, "must be in [0, 2) for input of shape (4, 3); received 2"),
    "reverse_sequence-seq_axis-negative": (lambda: jaxops.reverse_sequence(X, [1] * 4, -1), ValueError, "must be in [0, 2) for input of shape (4, 3); received -1"),
    "reverse_sequence-batch_axis-same": (lambda: jaxops.reverse_sequence(X, [1] * 4, 1, 1), ValueError, "reverse_sequence: seq_axis must differ from batch_axis; received 1 twice"),
    "reverse_sequence-batch_axis-high": (lambda: jaxops.reverse_sequence(X, [1] * 4, 1, 2), ValueError, "must be in [0, 2) for input of shape (4, 3); received 2"),
    "reverse_sequence-batch_axis-negative": (lambda: jaxops.reverse_sequence(X, [1] * 4, 1, -2), ValueError, "must be in [0, 2) for input of shape (4, 3); received -2"),
    "reverse_sequence-batch_axis-same-by-default": (lambda: jaxops.reverse_sequence(X, [1] * 4, 0, None), ValueError, "reverse_sequence: seq_axis must differ from batch_axis; received 0 twice"),
}  # fmt: skip
