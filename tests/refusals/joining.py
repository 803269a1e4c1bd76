"""Refused calls: split, concat, stack, unstack, tile, pad, reverse and reverse_sequence."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import jax.numpy as jnp
import numpy as np

import jaxops
from refusals.values import IN_JIT, X, in_jit, key

CALLS = {
    "split-value-none": (
        lambda: jaxops.split(None, 2), TypeError, "split: value must be an array of numbers or bools; received None"),
    "split-value-scalar": (
        lambda: jaxops.split(1.0, 1), ValueError, "split: axis must name a dimension; received 0 for a scalar"),
    "split-num_or_size_splits-not-divisor": (
        lambda: jaxops.split(X, 3), ValueError, "split: num_or_size_splits must divide dimension 0 of value, 4; received 3"),
    "split-num_or_size_splits-0": (
        lambda: jaxops.split(X, 0), ValueError, "split: num_or_size_splits must make at least one piece; received 0"),
    "split-num_or_size_splits-negative": (
        lambda: jaxops.split(X, -1), ValueError, "split: num_or_size_splits must make at least one piece; received -1"),
    "split-num_or_size_splits-empty": (
        lambda: jaxops.split(X, []), ValueError, "split: num_or_size_splits must make at least one piece; received []"),
    "split-num_or_size_splits-sum": (
        lambda: jaxops.split(X, [1, 2]), ValueError, "split: num_or_size_splits must have sizes of at least 0, but for one -1, and make up dimension 0 of value, 4; received (1, 2)"),
    "split-num_or_size_splits-two-unknown": (
        lambda: jaxops.split(X, [-1, -1]), ValueError, "split: num_or_size_splits must have sizes of at least 0, but for one -1, and make up dimension 0 of value, 4; received (-1, -1)"),
    "split-num_or_size_splits-two-unknown-of-nothing": (
        lambda: jaxops.split(X, [4, -1, -1]), ValueError, "split: num_or_size_splits must have sizes of at least 0, but for one -1, and make up dimension 0 of value, 4; received (4, -1, -1)"),
    "split-num_or_size_splits-negative-size": (
        lambda: jaxops.split(X, [6, -2]), ValueError, "split: num_or_size_splits must have sizes of at least 0, but for one -1, and make up dimension 0 of value, 4; received (6, -2)"),
    "split-num_or_size_splits-float": (
        lambda: jaxops.split(X, 2.0), TypeError, "split: num_or_size_splits must be a static int; received 2.0"),
    "split-num_or_size_splits-bool": (
        lambda: jaxops.split(X, True), TypeError, "split: num_or_size_splits must be a static int; received True"),
    "split-num_or_size_splits-none": (
        lambda: jaxops.split(X, None), TypeError, "split: num_or_size_splits must be a one-dimensional sequence of ints; received None"),
    "split-num_or_size_splits-string": (
        lambda: jaxops.split(X, "2"), TypeError, "split: num_or_size_splits must be a one-dimensional sequence of ints; received '2'"),
    "split-num_or_size_splits-matrix": (
        lambda: jaxops.split(X, [[2, 2]]), ValueError, "split: num_or_size_splits must be a one-dimensional sequence of ints; received [[2, 2]]"),
    "split-num_or_size_splits-traced": (
        lambda: jax.jit(lambda n: jaxops.split(X, n))(2), TypeError, "split: num_or_size_splits must be a static int; received a traced array of shape ()"),
    "split-num_or_size_splits-2**31": (
        lambda: jaxops.split(X[:0], 2**31), ValueError, "split: num_or_size_splits must make less than 2**31 pieces; received 2147483648"),
    "split-num_or_size_splits-beyond-with-unknown": (
        lambda: jaxops.split(X, [5, -1]), ValueError, "split: num_or_size_splits must have sizes of at least 0, but for one -1, and make up dimension 0 of value, 4; received (5, -1)"),
    "split-axis-high": (
        lambda: jaxops.split(X, 2, 2), ValueError, "split: axis must be in [-2, 2); received 2"),
    "split-axis-low": (
        lambda: jaxops.split(X, 2, -3), ValueError, "split: axis must be in [-2, 2); received -3"),
    "split-axis-none": (
        lambda: jaxops.split(X, 2, None), TypeError, "split: axis must be a static int; received None"),
    "split-axis-bool": (
        lambda: jaxops.split(X, 3, True), TypeError, "split: axis must be a static int; received True"),
    "split-axis-list": (
        lambda: jaxops.split(X, 2, [1]), TypeError, "split: axis must be a static int; received [1]"),
    "split-num-differs": (
        lambda: jaxops.split(X, [2, 2], num=3), ValueError, "split: num must be the number of pieces, 2; received 3"),
    "split-num-float": (
        lambda: jaxops.split(X, [2, 2], num=2.0), TypeError, "split: num must be a static int; received 2.0"),
    "split-num-differs-from-number": (
        lambda: jaxops.split(X, 2, 0, 4), ValueError, "split: num must be the number of pieces, 2; received 4"),
    "concat-values-empty": (
        lambda: jaxops.concat([], 0), ValueError, "concat: values must hold at least one array; received an empty list"),
    "concat-values-none": (
        lambda: jaxops.concat([X, None], 0), TypeError, "concat: values[1] must be an array of numbers or bools; received None"),
    "concat-values-shapes": (
        lambda: jaxops.concat([X, X[:, :2]], 0), ValueError, "concat: values[1] must have the shape of values[0], (4, 3), but for dimension 0; received shape (4, 2)"),
    "concat-values-ranks": (
        lambda: jaxops.concat([X, X[0]], 0), ValueError, "concat: values[1] must have the shape of values[0], (4, 3), but for dimension 0; received shape (3,)"),
    "concat-values-scalars": (
        lambda: jaxops.concat([1.0, 2.0], 0), ValueError, "concat: values must have rank 1 at least; received scalars (stack them)"),
    "concat-values-dtypes": (
        lambda: jaxops.concat([jnp.ones(2), jnp.ones(2, int)], 0), TypeError, "concat: values[1] must fit dtype float32; received an array of dtype int32"),
    "concat-values-strings-and-numbers": (
        lambda: jaxops.concat([["a"], [1.0]], 0), TypeError, "concat: values[1] must hold strings only; received [1.0]"),
    "concat-values-ragged": (
        lambda: jaxops.concat([X, [[1], [2, 3]]], 0), ValueError, "concat: values[1] must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "concat-values-dates": (
        lambda: jaxops.concat([np.array(["2020-01-01"], "datetime64[D]")] * 2, 0), TypeError, "concat: values[0] must be an array of numbers or bools; received dtype datetime64[D]"),
    "concat-values-empty-of-another-rank": (
        lambda: jaxops.concat([X, X[0, :0]], 0), ValueError, "concat: values[1] must have the shape of values[0], (4, 3), but for dimension 0; received shape (0,)"),
    "concat-values-generator": (
        lambda: jaxops.concat((x for x in [X]), 0), TypeError, "concat: values[0] must be an array of numbers or bools; received <generator object"),
    "concat-values-host-float": (
        lambda: jaxops.concat([jnp.array([1]), [1.5]], 0), TypeError, "concat: values[1] must fit dtype int32; received an array of dtype float32"),
    "concat-values-host-overflow": (
        lambda: jaxops.concat([[300], jnp.array([1], jnp.uint8)], 0), TypeError, "concat: values[0] must fit dtype uint8; received an array of dtype int32"),
    "concat-axis-high": (
        lambda: jaxops.concat([X, X], 2), ValueError, "concat: axis must be in [-2, 2); received 2"),
    "concat-axis-low": (
        lambda: jaxops.concat([X, X], -3), ValueError, "concat: axis must be in [-2, 2); received -3"),
    "concat-axis-none": (
        lambda: jaxops.concat([X, X], None), TypeError, "concat: axis must be a static int; received None"),
    "concat-axis-bool": (
        lambda: jaxops.concat([X, X], False), TypeError, "concat: axis must be a static int; received False"),
    "concat-axis-list": (
        lambda: jaxops.concat(0, [X, X]), TypeError, "concat: axis must be a static int; received a list of 2, the first an array of shape (4, 3) and dtype float32; the arrays come first, as in TensorFlow 2 (in jaxops.compat.v0.concat as in TensorFlow 0.x)"),
    "concat-axis-traced": (
        lambda: jax.jit(lambda a: jaxops.concat([X, X], a))(0), TypeError, "concat: axis must be a static int; received a traced array of shape ()"),
    "concat-axis-float": (
        lambda: jaxops.concat([X], 1.0), TypeError, "concat: axis must be a static int; received 1.0"),
    "stack-values-empty": (
        lambda: jaxops.stack([]), ValueError, "stack: values must hold at least one array; received an empty list"),
    "stack-values-shapes": (
        lambda: jaxops.stack([X, X[0]]), ValueError, "stack: values[1] must have the shape of values[0], (4, 3); received shape (3,)"),
    "stack-values-none": (
        lambda: jaxops.stack(None), TypeError, "stack: values must be an array of numbers or bools; received None"),
    "stack-values-scalar": (
        lambda: jaxops.stack(1.0), ValueError, "stack: values must be a list or an array with rows; received a scalar"),
    "stack-values-dtypes": (
        lambda: jaxops.stack([jnp.ones(2), jnp.ones(2, bool)]), TypeError, "stack: values[1] must fit dtype float32; received an array of dtype bool"),
    "stack-values-key": (
        lambda: jaxops.stack([key(), jnp.ones(2)]), TypeError, "stack: values[0] and values[1] must all be keys of one kind; received an array of dtype key<fry>, "),
    "stack-values-host-float": (
        lambda: jaxops.stack([1.5, jnp.array(2)]), TypeError, "stack: values[0] must fit dtype int32; received 1.5"),
    "stack-axis-high": (
        lambda: jaxops.stack([X, X], 3), ValueError, "stack: axis must be in [-3, 3); received 3"),
    "stack-axis-low": (
        lambda: jaxops.stack([X, X], -4), ValueError, "stack: axis must be in [-3, 3); received -4"),
    "stack-axis-float": (
        lambda: jaxops.stack([X, X], 0.5), TypeError, "stack: axis must be a static int; received 0.5"),
    "stack-axis-high-of-an-array": (
        lambda: jaxops.stack(X, 2), ValueError, "stack: axis must be in [-2, 2); received 2"),
    "stack-axis-list": (
        lambda: jaxops.stack([X], [1]), TypeError, "stack: axis must be a static int; received [1]"),
    "parallel_stack-values-empty": (
        lambda: jaxops.parallel_stack([]), ValueError, "parallel_stack: values must"),
    "parallel_stack-values-shapes": (
        lambda: jaxops.parallel_stack([X, X[:2]]), ValueError, "parallel_stack: values[1] must have the shape of values[0], (4, 3); received shape (2, 3)"),
    "unstack-value-none": (
        lambda: jaxops.unstack(None), TypeError, "unstack: value must be an array of numbers or bools; received None"),
    "unstack-value-scalar": (
        lambda: jaxops.unstack(1.0), ValueError, "unstack: value must have rank 1 at least; received a scalar"),
    "unstack-num-differs": (
        lambda: jaxops.unstack(X, 3), ValueError, "unstack: num must be dimension 0 of value, 4; received 3"),
    "unstack-num-float": (
        lambda: jaxops.unstack(X, 4.0), TypeError, "unstack: num must be a static int; received 4.0"),
    "unstack-num-bool": (
        lambda: jaxops.unstack(X[:1], True), TypeError, "unstack: num must be a static int; received True"),
    "unstack-num-0": (
        lambda: jaxops.unstack(X, 0), ValueError, "unstack: num must be dimension 0 of value, 4; received 0"),
    "unstack-axis-high": (
        lambda: jaxops.unstack(X, axis=2), ValueError, "unstack: axis must be in [-2, 2); received 2"),
    "unstack-axis-low": (
        lambda: jaxops.unstack(X, axis=-3), ValueError, "unstack: axis must be in [-2, 2); received -3"),
    "unstack-axis-string": (
        lambda: jaxops.unstack(X, axis="0"), TypeError, "unstack: axis must be a static int; received '0'"),
    "unstack-axis-float": (
        lambda: jaxops.unstack(X, axis=1.0), TypeError, "unstack: axis must be a static int; received 1.0"),
    "tile-input-none": (
        lambda: jaxops.tile(None, [2]), TypeError, "tile: input must be an array of numbers or bools; received None"),
    "tile-input-ragged": (
        lambda: jaxops.tile([[1], [2, 3]], [2]), ValueError, "tile: input must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "tile-multiples-length": (
        lambda: jaxops.tile(X, [2]), ValueError, "tile: multiples must have one component of at least 0 per dimension of input, 2; received (2,)"),
    "tile-multiples-negative": (
        lambda: jaxops.tile(X, [1, -1]), ValueError, "tile: multiples must have one component of at least 0 per dimension of input, 2; received (1, -1)"),
    "tile-multiples-scalar": (
        lambda: jaxops.tile(X, 2), ValueError, "tile: multiples must be a one-dimensional sequence of ints; received 2"),
    "tile-multiples-float": (
        lambda: jaxops.tile(X, [1.0, 2.0]), TypeError, "tile: multiples must be a one-dimensional sequence of ints; received [1.0, 2.0]"),
    "tile-multiples-bools": (
        lambda: jaxops.tile(X, [True, True]), TypeError, "tile: multiples must be a one-dimensional sequence of ints; received [True, True]"),
    "tile-multiples-none": (
        lambda: jaxops.tile(X, None), TypeError, "tile: multiples must be a one-dimensional sequence of ints; received None"),
    "tile-multiples-traced": (
        lambda: jax.jit(lambda m: jaxops.tile(X, m))(jnp.array([1, 2])), TypeError, "tile: multiples must be static; received a traced array of shape (2,)"),
    "tile-multiples-2**122-copies": (
        lambda: jaxops.tile(X, [2**61, 2**61]), ValueError, "tile: input and multiples must make arrays of less than 2**56 bytes; received input of shape (4, 3), multiples (2305843009213693952, 2305843009213693952), which make one of shape (2305843009213693952, 4, 2305843009213693952, 3)"),
    "tile-multiples-none-of-many": (
        lambda: jaxops.tile(X, [2**70, 0]), ValueError, "tile: input and multiples must make arrays of less than 2**63 bytes by the dimensions before a 0; received input of shape (4, 3), multiples (1180591620717411303424, 0), which make one of shape (1180591620717411303424, 4, 0, 3)"),
    "tile-multiples-traced-in-list": (
        lambda: jax.jit(lambda m: jaxops.tile(X, [m, 1]))(1), TypeError, "tile: multiples must be static; received a list with a traced value in it"),
    "pad-tensor-none": (
        lambda: jaxops.pad(None, [[1, 1]]), TypeError, "pad: tensor must be an array of numbers or bools; received None"),
    "pad-tensor-object": (
        lambda: jaxops.pad(object(), [[1, 1]]), TypeError, "pad: tensor must be an array of numbers or bools; received"),
    "pad-paddings-rows": (
        lambda: jaxops.pad(X, [[1, 1]]), ValueError, "pad: paddings must have shape [2, 2] for tensor of shape (4, 3); received ((1, 1),)"),
    "pad-paddings-columns": (
        lambda: jaxops.pad(X, [[1, 1, 1], [1, 1, 1]]), ValueError, "pad: paddings must have shape [2, 2] for tensor of shape (4, 3); received ((1, 1, 1), (1, 1, 1))"),
    "pad-paddings-negative": (
        lambda: jaxops.pad(X, [[-1, 1], [0, 0]]), ValueError, "pad: paddings must be at least 0; received ((-1, 1), (0, 0))"),
    "pad-paddings-scalar": (
        lambda: jaxops.pad(X, 1), ValueError, "pad: paddings must have shape [rank, 2]; received 1"),
    "pad-paddings-vector": (
        lambda: jaxops.pad(X, [1, 1]), ValueError, "pad: paddings must have shape [rank, 2]; received [1, 1]"),
    "pad-paddings-float": (
        lambda: jaxops.pad(X, [[1.0, 1], [0, 0]]), TypeError, "pad: each row of paddings must be a one-dimensional sequence of ints; received [1.0, 1]"),
    "pad-paddings-bools": (
        lambda: jaxops.pad(X, [[True, True], [False, False]]), TypeError, "pad: each row of paddings must be a one-dimensional sequence of ints; received [True, True]"),
    "pad-paddings-none": (
        lambda: jaxops.pad(X, None), TypeError, "pad: paddings must have shape [rank, 2]; received None"),
    "pad-paddings-key": (
        lambda: jaxops.pad(X, key()), TypeError, "pad: paddings must have shape [rank, 2]; received an array of dtype key<fry>"),
    "pad-paddings-traced": (
        lambda: jax.jit(lambda p: jaxops.pad(X, p))(jnp.ones((2, 2), int)), TypeError, "pad: paddings must be static; received a traced array of shape (2, 2)"),
    "pad-paddings-2**63": (
        lambda: jaxops.pad(X, [[2**62, 2**62], [0, 0]]), ValueError, "pad: tensor and paddings must make arrays of less than 2**56 bytes; received tensor of shape (4, 3), paddings ((4611686018427387904, 4611686018427387904), (0, 0)), which make one of shape (9223372036854775812, 3)"),
    "pad-paddings-reflect-high": (
        lambda: jaxops.pad(X, [[0, 4], [0, 0]], "REFLECT"), ValueError, "pad: paddings must be less than the dimension in mode REFLECT; received ((0, 4), (0, 0)) with tensor of shape (4, 3)"),
    "pad-paddings-reflect-nothing": (
        lambda: jaxops.pad(X[:0], [[0, 0]] * 2, "REFLECT"), ValueError, "pad: paddings must be less than the dimension in mode REFLECT; received ((0, 0), (0, 0)) with tensor of shape (0, 3)"),
    "pad-paddings-symmetric-high": (
        lambda: jaxops.pad(X, [[0, 5], [0, 0]], "SYMMETRIC"), ValueError, "pad: paddings must be at most the dimension in mode SYMMETRIC; received ((0, 5), (0, 0)) with tensor of shape (4, 3)"),
    "pad-paddings-negative-reflect": (
        lambda: jaxops.pad(X, [[-1, 0], [0, 0]], "REFLECT"), ValueError, "pad: paddings must be at least 0; received ((-1, 0), (0, 0))"),
    "pad-paddings-negative-symmetric": (
        lambda: jaxops.pad(X, [[-1, 0], [0, 0]], "SYMMETRIC"), ValueError, "pad: paddings must be at least 0; received ((-1, 0), (0, 0))"),
    "pad-paddings-vector-array": (
        lambda: jaxops.pad(X, np.array([0, 0])), ValueError, "pad: paddings must have shape [rank, 2]; received array([0, 0])"),
    "pad-paddings-traced-in-list": (
        lambda: jax.jit(lambda p: jaxops.pad(X, [[p, 0], [0, 0]]))(1), TypeError, "pad: each row of paddings must be static; received a list with a traced value in it"),
    "pad-mode-unknown": (
        lambda: jaxops.pad(X, [[1, 1], [1, 1]], "EDGE"), ValueError, "pad: mode must be one of CONSTANT, REFLECT, SYMMETRIC; received 'EDGE'"),
    "pad-mode-none": (
        lambda: jaxops.pad(X, [[1, 1], [1, 1]], None), TypeError, "pad: mode must be a str; received None"),
    "pad-constant_values-shape": (
        lambda: jaxops.pad(X, [[1, 1], [1, 1]], constant_values=[1.0, 2.0]), ValueError, "pad: constant_values must be a scalar; received shape (2,)"),
    "pad-constant_values-string": (
        lambda: jaxops.pad(X, [[1, 1], [1, 1]], constant_values="a"), TypeError, "pad: constant_values must be a string where tensor holds strings, and only there; received 'a'"),
    "pad-constant_values-number-for-strings": (
        lambda: jaxops.pad(["a"], [[1, 1]], constant_values=1), TypeError, "pad: constant_values must be a string where tensor holds strings, and only there; received 1"),
    "pad-constant_values-number-for-bools": (
        lambda: jaxops.pad([True], [[1, 1]], constant_values=1), TypeError, "pad: constant_values must fit dtype bool; received 1"),
    "pad-constant_values-dtype": (
        lambda: jaxops.pad(X.astype(np.int32), [[1, 1], [1, 1]], constant_values=0.5), TypeError, "pad: constant_values must fit dtype int32; received 0.5"),
    "pad-constant_values-none": (
        lambda: jaxops.pad(X, [[1, 1], [1, 1]], constant_values=None), TypeError, "pad: constant_values must be an array of numbers or bools; received None"),
    "pad-constant_values-complex": (
        lambda: jaxops.pad(X, [[1, 1]] * 2, constant_values=1j), TypeError, "pad: constant_values must fit dtype float32; received 1j"),
    "pad-constant_values-overflow": (
        lambda: jaxops.pad(np.array([1], np.uint8), [[1, 1]], constant_values=300), TypeError, "pad: constant_values must fit dtype uint8; received 300"),
    "reverse-tensor-none": (
        lambda: jaxops.reverse(None, [0]), TypeError, "reverse: tensor must be an array of numbers or bools; received None"),
    "reverse-tensor-dict": (
        lambda: jaxops.reverse({"a": 1}, [0]), TypeError, "reverse: tensor must be an array of numbers or bools; received {'a': 1}"),
    "reverse-axis-high": (
        lambda: jaxops.reverse(X, [2]), ValueError, "reverse: axis must be in [-2, 2); received 2"),
    "reverse-axis-low": (
        lambda: jaxops.reverse(X, [-3]), ValueError, "reverse: axis must be in [-2, 2); received -3"),
    "reverse-axis-duplicate": (
        lambda: jaxops.reverse(X, [1, -1]), ValueError, "reverse: axis must name each dimension at most once; received (1, -1)"),
    "reverse-axis-scalar": (
        lambda: jaxops.reverse(X, 0), ValueError, "reverse: axis must be a one-dimensional sequence of ints; received 0"),
    "reverse-axis-bools": (
        lambda: jaxops.reverse(X, [True, False]), TypeError, "reverse: axis must be a one-dimensional sequence of ints; received [True, False]"),
    "reverse-axis-none": (
        lambda: jaxops.reverse(X, None), TypeError, "reverse: axis must be a one-dimensional sequence of ints; received None"),
    "reverse-axis-float": (
        lambda: jaxops.reverse(X, [0.0]), TypeError, "reverse: axis must be a one-dimensional sequence of ints; received [0.0]"),
    "reverse-axis-traced": (
        lambda: jax.jit(lambda a: jaxops.reverse(X, a))(jnp.array([0])), TypeError, "reverse: axis must be static; received a traced array of shape (1,)"),
    "reverse-axis-duplicate-of-nothing": (
        lambda: jaxops.reverse(X[:0], [0, -2]), ValueError, "reverse: axis must name each dimension at most once; received (0, -2)"),
    "reverse-axis-bools-array": (
        lambda: jaxops.reverse(X, np.array([True])), TypeError, "reverse: axis must be a one-dimensional sequence of ints; received array([ True])"),
    "reverse-axis-traced-in-list": (
        lambda: jax.jit(lambda a: jaxops.reverse(X, [a]))(1), TypeError, "reverse: axis must be static; received a list with a traced value in it"),
    "reverse_sequence-input-none": (
        lambda: jaxops.reverse_sequence(None, [1], 1), TypeError, "reverse_sequence: input must be an array of numbers or bools; received None"),
    "reverse_sequence-input-scalar": (
        lambda: jaxops.reverse_sequence(1.0, [1], 1), ValueError, "reverse_sequence: seq_axis must be in [0, 0) for input of shape (); received 1"),
    "reverse_sequence-seq_lengths-float": (
        lambda: jaxops.reverse_sequence(X, [1.0] * 4, 1), TypeError, "reverse_sequence: seq_lengths must have an integer dtype; received float64"),
    "reverse_sequence-seq_lengths-shape": (
        lambda: jaxops.reverse_sequence(X, [1, 1], 1), ValueError, "reverse_sequence: seq_lengths must have shape (4,), dimension 0 of input; received shape (2,)"),
    "reverse_sequence-seq_lengths-high": (
        lambda: jaxops.reverse_sequence(X, [1, 4, 1, 1], 1), jaxops.OutOfBoundsError, "seq_lens(1) > input.dims(1): 4 is not in [0, 4) [Op:reverse_sequence]"),
    "reverse_sequence-seq_lengths-negative": (
        lambda: jaxops.reverse_sequence(X, [1, 1, -1, 1], 1), jaxops.OutOfBoundsError, "seq_lens(2) < 0: -1 is not in [0, 4) [Op:reverse_sequence]"),
    "reverse_sequence-seq_lengths-high-in-jit": (
        lambda: in_jit(lambda n: jaxops.reverse_sequence(X, n, 1), [0, 0, 0, 4]), IN_JIT, "seq_lens(3) > input.dims(1): 4 is not in [0, 4) [Op:reverse_sequence]"),
    "reverse_sequence-seq_lengths-rank": (
        lambda: jaxops.reverse_sequence(X, [[1] * 4], 1), ValueError, "reverse_sequence: seq_lengths must have shape (4,), dimension 0 of input; received shape (1, 4)"),
    "reverse_sequence-seq_lengths-scalar": (
        lambda: jaxops.reverse_sequence(X, 2, 1), ValueError, "reverse_sequence: seq_lengths must have shape (4,), dimension 0 of input; received shape ()"),
    "reverse_sequence-seq_axis-missing": (
        lambda: jaxops.reverse_sequence(X, [1] * 4), TypeError, "reverse_sequence: seq_axis must be a static int; received None"),
    "reverse_sequence-seq_axis-high": (
        lambda: jaxops.reverse_sequence(X, [1] * 4, 2), ValueError, "reverse_sequence: seq_axis must be in [0, 2) for input of shape (4, 3); received 2"),
    "reverse_sequence-seq_axis-negative": (
        lambda: jaxops.reverse_sequence(X, [1] * 4, -1), ValueError, "reverse_sequence: seq_axis must be in [0, 2) for input of shape (4, 3); received -1"),
    "reverse_sequence-seq_axis-float": (
        lambda: jaxops.reverse_sequence(X, [1] * 4, 1.0), TypeError, "reverse_sequence: seq_axis must be a static int; received 1.0"),
    "reverse_sequence-batch_axis-same": (
        lambda: jaxops.reverse_sequence(X, [1] * 4, 1, 1), ValueError, "reverse_sequence: seq_axis must differ from batch_axis; received 1 twice"),
    "reverse_sequence-batch_axis-high": (
        lambda: jaxops.reverse_sequence(X, [1] * 4, 1, 2), ValueError, "reverse_sequence: batch_axis must be in [0, 2) for input of shape (4, 3); received 2"),
    "reverse_sequence-batch_axis-string": (
        lambda: jaxops.reverse_sequence(X, [1] * 4, 1, "0"), TypeError, "reverse_sequence: batch_axis must be a static int; received '0'"),
    "reverse_sequence-batch_axis-negative": (
        lambda: jaxops.reverse_sequence(X, [1] * 4, 1, -2), ValueError, "reverse_sequence: batch_axis must be in [0, 2) for input of shape (4, 3); received -2"),
    "reverse_sequence-batch_axis-same-by-default": (
        lambda: jaxops.reverse_sequence(X, [1] * 4, 0, None), ValueError, "reverse_sequence: seq_axis must differ from batch_axis; received 0 twice"),
    "reverse_sequence-mode-fill": (
        lambda: jaxops.reverse_sequence(X, [1] * 4, 1, mode="fill"), ValueError, "reverse_sequence: mode must be one of device, error, clip, promise_in_bounds; received 'fill'"),
    "reverse_sequence-mode-array": (
        lambda: jaxops.reverse_sequence(X, [1] * 4, 1, mode=np.array(["clip", "error"])), ValueError, "reverse_sequence: mode must be one of device, error, clip, promise_in_bounds; received"),
    "reverse_sequence-mode-wrap": (
        lambda: jaxops.reverse_sequence(X, [1] * 4, 1, mode="wrap"), ValueError, "reverse_sequence: mode must be one of device, error, clip, promise_in_bounds; received 'wrap'"),
    "reverse_sequence-mode-drop": (
        lambda: jaxops.reverse_sequence(X, [1] * 4, 1, mode="drop"), ValueError, "reverse_sequence: mode must be one of device, error, clip, promise_in_bounds; received 'drop'"),
    "reverse_sequence-misspelt": (
        lambda: jaxops.reverse_sequence(X, [1] * 4, seq_dim=1), TypeError, "reverse_sequence() got an unexpected keyword argument 'seq_dim'"),
}  # fmt: skip
