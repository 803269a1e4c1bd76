"""Where jaxops is meant to differ from TensorFlow 2.21, each with its reason and a call.

`test_differences.py` checks that the two still differ so. A call that is drawn and shows such a
difference carries its name, and is held to it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from calls import Refused
from peer import tf

import jaxops
from jaxops.compat import v0

THEY_REFUSE = "TensorFlow refuses"
WE_REFUSE = "jaxops refuses"
OTHER_VALUES = "other values"


@dataclasses.dataclass(frozen=True)
class Difference:
    kind: str
    reason: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]

    def check(self, ours: Any, theirs: Any) -> None:
        """Raises an AssertionError where the outcomes do not differ in this way."""
        refused = (isinstance(ours, Refused), isinstance(theirs, Refused))
        expected = {
            THEY_REFUSE: (False, True),
            WE_REFUSE: (True, False),
            OTHER_VALUES: (False, False),
        }
        assert refused == expected[self.kind], (
            f"meant: {self.kind}\n  jaxops: {ours}\n  TensorFlow: {theirs}"
        )
        if self.kind == OTHER_VALUES:
            assert [(x.dtype, x.shape) for x in ours] == [(y.dtype, y.shape) for y in theirs]
            assert any((x != y).any() for x, y in zip(ours, theirs, strict=True))


TABLE = np.arange(6, dtype=np.float32).reshape(2, 3)
NOTHING = np.zeros((2, 0), np.float32)
LARGE = np.array([5, -7], np.int64)

NO_DEPTH = np.zeros((1, 3, 3, 0), np.float32)
PATCHES = ([1, 3, 1, 1], [1, 2, 1, 1], [1, 2, 1, 1], "VALID")
NOTHING_3D = np.zeros((2, 0, 0), np.float32)
NO_INDEX = np.zeros(0, np.int32)
NO_INDICES = np.zeros((0, 2), np.int64)
ONE = np.ones(1, np.float32)
MANY_ONES = np.ones(4096, np.float16)
NAN = np.array([np.nan], np.float32)
NAN_FIRST = np.array([np.nan, 2], np.float32)
EMPTY_VECTORS = np.zeros((1, 0), np.int32)
TWICE = [np.array(0, np.int32), np.array(0, np.int32)]


def _tape(function: Callable, x: np.ndarray) -> Any:
    tensor = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        result = function(tensor)
    return tape.gradient(result, tensor)


def _to_itself(distance: Callable, tensor: Callable) -> Any:
    x = tensor(NO_INDICES, NO_INDEX, (0, 2))
    return distance(x, x)


DIFFERENCES = {
    "ragged default of lower rank": Difference(
        THEY_REFUSE,
        "TensorFlow compares its dimensions with the first ones of a value, broadcasts to the last",
        lambda: jaxops.RaggedTensor.from_row_lengths(TABLE[None], [1]).to_tensor(TABLE[0]),
        lambda: tf.RaggedTensor.from_row_lengths(TABLE[None], [1]).to_tensor(TABLE[0]),
    ),
    "index dtype": Difference(
        THEY_REFUSE,
        "indices have any integer dtype, as in JAX",
        lambda: jaxops.gather(TABLE, np.array([1], np.uint8)),
        lambda: tf.gather(TABLE, tf.constant([1], tf.uint8)),
    ),
    "batch_dims at axis 0": Difference(
        WE_REFUSE,
        "the documentation asks for an axis of at least batch_dims; TensorFlow ignores them at 0",
        lambda: jaxops.gather(TABLE[None], np.zeros((1, 2), np.int32), axis=0, batch_dims=1),
        lambda: tf.gather(TABLE[None], np.zeros((1, 2), np.int32), axis=0, batch_dims=1),
    ),
    "nothing to index": Difference(
        THEY_REFUSE,
        "an index that is in bounds is no error where what it selects has no elements",
        lambda: jaxops.gather_nd(NOTHING, [[1]]),
        lambda: tf.gather_nd(NOTHING, [[1]]),
    ),
    "nothing to scatter into": Difference(
        THEY_REFUSE,
        "as nothing to index",
        lambda: jaxops.scatter_nd([[1]], NOTHING[:1], [2, 0]),
        lambda: tf.scatter_nd([[1]], NOTHING[:1], [2, 0]),
    ),
    "one index vector": Difference(
        THEY_REFUSE,
        "an index vector alone is one update, as it is one element in gather_nd",
        lambda: jaxops.scatter_nd([1, 2], np.float32(5), [2, 3]),
        lambda: tf.scatter_nd([1, 2], np.float32(5), [2, 3]),
    ),
    "empty index vectors": Difference(
        THEY_REFUSE,
        "an empty index vector selects all of the array, as in gather_nd",
        lambda: jaxops.tensor_scatter_nd_add(TABLE, EMPTY_VECTORS, TABLE[None]),
        lambda: tf.tensor_scatter_nd_add(TABLE, EMPTY_VECTORS, TABLE[None]),
    ),
    "gather_nd of a scalar": Difference(
        THEY_REFUSE,
        "an empty index vector selects all of params, which may be a scalar",
        lambda: jaxops.gather_nd(np.float32(1), EMPTY_VECTORS),
        lambda: tf.gather_nd(np.float32(1), EMPTY_VECTORS),
    ),
    "NaN among updates": Difference(
        OTHER_VALUES,
        "NaN propagates, as in jax.numpy; TensorFlow keeps that of the tensor and drops the others",
        lambda: jaxops.tensor_scatter_nd_min(TABLE, [[0, 1]], NAN),
        lambda: tf.tensor_scatter_nd_min(TABLE, [[0, 1]], NAN),
    ),
    "zeros of both signs": Difference(
        OTHER_VALUES,
        "-0 is below 0, as in jax.numpy; TensorFlow keeps the one that came first",
        lambda: 1 / jaxops.tensor_scatter_nd_min(np.zeros(1), [[0]], np.array([-0.0])),
        lambda: 1 / tf.tensor_scatter_nd_min(np.zeros(1), [[0]], np.array([-0.0])),
    ),
    "row that is not there": Difference(
        THEY_REFUSE,
        "an index outside of the rows counts for nothing, on either side",
        lambda: jaxops.IndexedSlices(TABLE[:1], [2], (2, 3)).to_dense(),
        lambda: tf.convert_to_tensor(tf.IndexedSlices(TABLE[:1], [2], [2, 3])),
    ),
    "dense_shape that does not fit": Difference(
        WE_REFUSE,
        "dense_shape ends in the shape of a row; TensorFlow looks at the number of rows only",
        lambda: jaxops.IndexedSlices(TABLE, [0, 1], (4, 5)).to_dense(),
        lambda: tf.convert_to_tensor(tf.IndexedSlices(TABLE, [0, 1], [4, 5])),
    ),
    "gradient of NaN": Difference(
        OTHER_VALUES,
        "a NaN that stays has its gradient, as any number that stays; TensorFlow makes it NaN",
        lambda: jax.grad(lambda x: jaxops.tensor_scatter_nd_min(x, [[1]], ONE).sum())(NAN_FIRST),
        lambda: _tape(lambda x: tf.tensor_scatter_nd_min(x, [[1]], ONE), NAN_FIRST),
    ),
    "means of halves": Difference(
        OTHER_VALUES,
        "means are added in float32, exactly counted and rounded once, as TensorFlow's "
        "sparse_segment_mean; its others stop at 256 in bfloat16",
        lambda: jaxops.segment_mean(MANY_ONES, MANY_ONES.astype(np.int32) - 1),
        lambda: tf.math.segment_mean(MANY_ONES, MANY_ONES.astype(np.int32) - 1),
    ),
    "roots of halves": Difference(
        OTHER_VALUES,
        "as means of halves",
        lambda: jaxops.unsorted_segment_sqrt_n(MANY_ONES, MANY_ONES.astype(np.int32) - 1, 1),
        lambda: tf.math.unsorted_segment_sqrt_n(MANY_ONES, MANY_ONES.astype(np.int32) - 1, 1),
    ),
    "float for an int": Difference(
        WE_REFUSE,
        "a float or a text is no int; TensorFlow converts it in some places",
        lambda: jaxops.reverse_sequence(TABLE, [1, 2], seq_axis=1.0),  # pyright: ignore
        lambda: tf.reverse_sequence(TABLE, [1, 2], seq_axis=1.0),
    ),
    "batches that disagree, vectors of no components": Difference(
        WE_REFUSE,
        "the batch dimensions of params and indices are the same; TensorFlow loses those of params",
        lambda: jaxops.gather_nd(TABLE, np.zeros((3, 0), np.int32), batch_dims=1),
        lambda: tf.gather_nd(TABLE, np.zeros((3, 0), np.int32), batch_dims=1),
    ),
    "stack of nothing": Difference(
        WE_REFUSE,
        "an empty list has no dtype; TensorFlow takes float32, when called eagerly only",
        lambda: jaxops.stack([]),
        lambda: tf.stack([]),
    ),
    "constant that does not fit": Difference(
        WE_REFUSE,
        "a number that the dtype does not hold is an error; TensorFlow takes its low bits",
        lambda: jaxops.pad(np.zeros(2, np.uint8), [[1, 1]], constant_values=300),
        lambda: tf.pad(np.zeros(2, np.uint8), [[1, 1]], constant_values=300),
    ),
    "bool for an int": Difference(
        WE_REFUSE,
        "a bool is no int; TensorFlow takes it for one in some places",
        lambda: jaxops.expand_dims(TABLE, True),
        lambda: tf.expand_dims(TABLE, True),
    ),
    "negative repeats": Difference(
        WE_REFUSE,
        "negative repeats are an error; TensorFlow takes one in a vector for 0",
        lambda: jaxops.repeat(TABLE, [1, -1], 0),
        lambda: tf.repeat(TABLE, [1, -1], 0),
    ),
    "repeat of nothing": Difference(
        THEY_REFUSE,
        "slices without elements are repeated too; TensorFlow loses the size of the axis",
        lambda: jaxops.repeat(NOTHING.T, [3, 2], 1),
        lambda: tf.repeat(NOTHING.T, [3, 2], 1),
    ),
    "mask beyond 32 bits": Difference(
        THEY_REFUSE,
        "bits without an entry do not count, however many there are; TensorFlow's masks are int32s",
        lambda: jaxops.strided_slice(TABLE, [0], [1], end_mask=1 << 31),
        lambda: tf.strided_slice(TABLE, [0], [1], end_mask=1 << 31),
    ),
    "gradient of nothing": Difference(
        THEY_REFUSE,
        "empty index vectors select all of params; TensorFlow's gradient refuses them",
        lambda: jax.grad(lambda x: jaxops.gather_nd(x, EMPTY_VECTORS).sum())(TABLE),
        lambda: _tape(lambda x: tf.gather_nd(x, EMPTY_VECTORS), TABLE),
    ),
    "gradient of patches of nothing": Difference(
        THEY_REFUSE,
        "images without elements have a gradient without elements; TensorFlow's gradient fails",
        lambda: jax.grad(lambda x: jaxops.extract_patches(x, *PATCHES).sum())(NO_DEPTH),
        lambda: _tape(lambda x: tf.image.extract_patches(x, *PATCHES), NO_DEPTH),
    ),
    "gradient of a gather of nothing": Difference(
        THEY_REFUSE,
        "what has no elements has a gradient without elements; TensorFlow's gradient fails",
        lambda: jax.grad(lambda x: jaxops.gather(x, NO_INDEX, axis=1).sum())(NOTHING_3D),
        lambda: _tape(lambda x: tf.gather(x, NO_INDEX, axis=1), NOTHING_3D),
    ),
    "edit_distance of nothing": Difference(
        THEY_REFUSE,
        "no sequences have no distances; TensorFlow refuses a result without elements",
        lambda: _to_itself(jaxops.edit_distance, jaxops.SparseTensor),
        lambda: _to_itself(tf.edit_distance, tf.SparseTensor),
    ),
    "gradient of a diagonal of a scalar": Difference(
        THEY_REFUSE,
        "a scalar is its own diagonal; TensorFlow's gradient refuses it",
        lambda: jax.grad(jaxops.tensor_diag_part)(1.0),
        lambda: _tape(tf.linalg.tensor_diag_part, np.array(1, np.float32)),
    ),
    "roll far": Difference(
        OTHER_VALUES,
        "a shift counts whole; TensorFlow looks at its low 32 bits",
        lambda: jaxops.roll(TABLE, 2**32 + 1, 1),
        lambda: tf.roll(TABLE, tf.constant(2**32 + 1, tf.int64), 1),
    ),
    "gradient of no segments": Difference(
        THEY_REFUSE,
        "the slices are all dropped, and have gradient 0; TensorFlow's gradient reads segment 0",
        lambda: jax.grad(lambda x: jaxops.unsorted_segment_sum(x, [-1], 0).sum())(ONE),
        lambda: _tape(lambda x: tf.math.unsorted_segment_sum(x, [-1], 0), ONE),
    ),
    "gradient of a negative perm": Difference(
        THEY_REFUSE,
        "a negative dimension counts from the end; TensorFlow's gradient refuses it",
        lambda: jax.grad(lambda x: jaxops.transpose(x, [-1, 0]).sum())(TABLE),
        lambda: _tape(lambda x: tf.transpose(x, [-1, 0]), TABLE),
    ),
    "unstack into 0": Difference(
        WE_REFUSE,
        "the documentation asks that num is the dimension; TensorFlow does not look at 0",
        lambda: jaxops.unstack(TABLE, 0),
        lambda: tf.unstack(TABLE, 0),
    ),
    "reverse of nothing": Difference(
        WE_REFUSE,
        "an axis that is wrong is an error, also where there is nothing to reverse",
        lambda: jaxops.reverse(NOTHING, [0, 0]),
        lambda: tf.reverse(NOTHING, [0, 0]),
    ),
    "v0.reverse of a scalar": Difference(
        WE_REFUSE,
        "one bool per dimension, also where there is none",
        lambda: v0.reverse(1.0, [True]),
        lambda: tf.raw_ops.Reverse(tensor=1.0, dims=[True]),
    ),
    "v0.reverse of nothing": Difference(
        THEY_REFUSE,
        "nothing can be reversed, as by TensorFlow 2's tf.reverse",
        lambda: v0.reverse(NOTHING.T, [True, False]),
        lambda: tf.raw_ops.Reverse(tensor=NOTHING.T, dims=[True, False]),
    ),
    "gradient of one index vector": Difference(
        THEY_REFUSE,
        "an index vector alone selects a scalar; TensorFlow's gradient refuses it",
        lambda: jax.grad(lambda x: jaxops.gather_nd(x, np.array([1, 2])))(TABLE),
        lambda: _tape(lambda x: tf.gather_nd(x, np.array([1, 2])), TABLE),
    ),
    "overwritten": Difference(
        OTHER_VALUES,
        "what was overwritten has no part in the result; TensorFlow sends it a gradient",
        lambda: jax.grad(lambda x: jaxops.dynamic_stitch(TWICE, list(x)).sum())(TABLE),
        lambda: _tape(lambda x: tf.dynamic_stitch(TWICE, tf.unstack(x)), TABLE),
    ),
    "split into [-1]": Difference(
        THEY_REFUSE,
        "-1 is what the other sizes leave, also where there are none; TensorFlow forgets that case",
        lambda: jaxops.split(TABLE, [-1]),
        lambda: tf.split(TABLE, [-1]),
    ),
    "negative axis of boolean_mask": Difference(
        THEY_REFUSE,
        "a negative axis counts from the end; TensorFlow loses axis -1 by slicing the shape",
        lambda: jaxops.boolean_mask(TABLE, [True, False, True], axis=-1),
        lambda: tf.boolean_mask(TABLE, [True, False, True], axis=-1),
    ),
    "unravel_index of nothing": Difference(
        THEY_REFUSE,
        "no indices have no coordinates; TensorFlow refuses an empty vector",
        lambda: jaxops.unravel_index(NO_INDEX, [2, 3]),
        lambda: tf.unravel_index(NO_INDEX, [2, 3]),
    ),
    "negative index of unravel_index": Difference(
        WE_REFUSE,
        "a negative index is out of bounds; TensorFlow makes a negative coordinate of it",
        lambda: jaxops.unravel_index([-1], [2, 3]),
        lambda: tf.unravel_index([-1], [2, 3]),
    ),
    "strings of a grid": Difference(
        THEY_REFUSE,
        "what moves elements takes strings; TensorFlow multiplies them by ones",
        lambda: jaxops.meshgrid(["a", "b"], ["c"])[0].view(np.int32),
        lambda: tf.meshgrid(["a", "b"], ["c"])[0],
    ),
    "out_type of size": Difference(
        WE_REFUSE,
        "a size is int32 or int64, as in tf.shape and in TensorFlow's graphs",
        lambda: jaxops.size(TABLE, np.float32),
        lambda: tf.size(TABLE, tf.float32),
    ),
    "cast of what does not fit": Difference(
        OTHER_VALUES,
        "TensorFlow leaves it undefined, and its kernels for vectors and for scalars differ",
        lambda: jaxops.cast(np.full(16, -1.0), np.uint8),
        lambda: tf.cast(np.full(16, -1.0), tf.uint8),
    ),
    "saturate_cast to 64 bits": Difference(
        OTHER_VALUES,
        "TensorFlow's limit is 2^63, or 2^64, which the integers do not hold: it overflows",
        lambda: jaxops.saturate_cast(np.array([1e30], np.float32), np.int64),
        lambda: tf.saturate_cast(np.array([1e30], np.float32), tf.int64),
    ),
    "saturate_cast of int64": Difference(
        OTHER_VALUES,
        "TensorFlow's limit overflows: every int64 becomes -2^63 where the dtype reaches to 2^63",
        lambda: jaxops.saturate_cast(LARGE, np.int64),
        lambda: tf.saturate_cast(LARGE, tf.int64),
    ),
}
