"""Where jaxops is meant to differ from TensorFlow 2.21, each with its reason and a call.

`test_differences.py` checks that the two still differ so. A call that is drawn and shows such a
difference carries its name, and is held to it.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import jax
import numpy as np
from calls import Refused
from peer import tf

import jaxops
from jaxops.compat import v0


@dataclasses.dataclass(frozen=True)
class Difference:
    """In what the two differ, why, and a call of either library, which it gets as its argument.

    Where TensorFlow wants another call, that is `theirs`. With `at` the call gets that array too,
    and the gradients differ.
    """

    reason: str
    call: Callable[..., Any]
    theirs: Callable[[], Any] | None = None
    at: np.ndarray | None = None

    def of_jaxops(self) -> Any:
        if self.at is None:
            return self.call(jaxops)
        holomorphic = np.iscomplexobj(self.at)
        return jax.grad(lambda x: self.call(jaxops, x).sum(), holomorphic=holomorphic)(self.at)

    def of_tensorflow(self) -> Any:
        if self.at is None:
            return self.theirs() if self.theirs else self.call(tf)
        tensor = tf.constant(self.at)
        with tf.GradientTape() as tape:
            tape.watch(tensor)
            result = self.call(tf, tensor)
        return tape.gradient(result, tensor)

    refused: ClassVar[tuple[bool, bool]] = (False, False)  # jaxops, TensorFlow

    def check(self, ours: Any, theirs: Any) -> None:
        """Raises an AssertionError where the outcomes do not differ in this way."""
        refused = (isinstance(ours, Refused), isinstance(theirs, Refused))
        kind = type(self).__name__
        assert refused == self.refused, f"meant: {kind}\n  jaxops: {ours}\n  TensorFlow: {theirs}"
        if not any(refused):
            assert [(x.dtype, x.shape) for x in ours] == [(y.dtype, y.shape) for y in theirs]
            assert any((x != y).any() for x, y in zip(ours, theirs, strict=True))


class OtherValues(Difference):
    """Both return arrays, of the same dtypes and shapes."""


class TheyHaveNone(Difference):
    """Only jaxops has a gradient."""

    def check(self, ours: Any, theirs: Any) -> None:
        assert [x.tolist() for x in theirs] == [b"None"]
        assert all(x.any() for x in ours)


class TheyRefuse(Difference):
    refused = (False, True)


class WeRefuse(Difference):
    refused = (True, False)


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
ROOTS = np.sqrt(np.arange(120, dtype=np.float32)).reshape(12, 10)
ROWS = np.zeros(12, np.int32)
EMPTY_VECTORS = np.zeros((1, 0), np.int32)
TWICE = [np.array(0, np.int32), np.array(0, np.int32)]


def _weighted_mean(lib: Any) -> Any:
    places = np.arange(24).reshape(12, 2) * [[0, 1]]
    ids = lib.SparseTensor(places, np.arange(12), (1, 24))
    weights = lib.SparseTensor(places, ROOTS[:, 1], (1, 24))
    return lib.nn.embedding_lookup_sparse(ROOTS, ids, weights)


def _to_itself(lib: Any) -> Any:
    x = lib.SparseTensor(NO_INDICES, NO_INDEX, (0, 2))
    return lib.edit_distance(x, x)


DIFFERENCES: dict[str, Difference] = {
    "ragged default of lower rank": TheyRefuse(
        "TensorFlow compares its dimensions with the first ones of a value, broadcasts to the last",
        lambda lib: lib.RaggedTensor.from_row_lengths(TABLE[None], [1]).to_tensor(TABLE[0]),
    ),
    "index dtype": TheyRefuse(
        "indices have any integer dtype, as in JAX",
        lambda lib: lib.gather(TABLE, np.array([1], np.uint8)),
    ),
    "batch_dims at axis 0": WeRefuse(
        "the documentation asks for an axis of at least batch_dims; TensorFlow ignores them at 0",
        lambda lib: lib.gather(TABLE[None], np.zeros((1, 2), np.int32), axis=0, batch_dims=1),
    ),
    "index beyond a row": WeRefuse(
        "an index is in bounds in its row; TensorFlow 1's batch_gather looks at all rows at once",
        lambda _: jaxops.batch_gather(TABLE, [[3], [0]]),
        lambda: tf.compat.v1.batch_gather(TABLE, [[3], [0]]),
    ),
    "nothing to index": TheyRefuse(
        "an index that is in bounds is no error where what it selects has no elements",
        lambda lib: lib.gather_nd(NOTHING, [[1]]),
    ),
    "nothing to scatter into": TheyRefuse(
        "as nothing to index", lambda lib: lib.scatter_nd([[1]], NOTHING[:1], [2, 0])
    ),
    "updates that broadcast": TheyRefuse(
        "updates broadcast, as those of x.at[i].add",
        lambda lib: lib.tensor_scatter_nd_add(TABLE, [[0], [1]], np.float32(5)),
    ),
    "updates of integers": TheyRefuse(
        "integers become what they are added to, as in x.at[i].add",
        lambda _: jaxops.tensor_scatter_nd_add(TABLE, [[0, 0]], jax.numpy.array([5])),
        lambda: tf.tensor_scatter_nd_add(tf.constant(TABLE), [[0, 0]], tf.constant([5])),
    ),
    "one index vector": TheyRefuse(
        "an index vector alone is one update, as it is one element in gather_nd",
        lambda lib: lib.scatter_nd([1, 2], np.float32(5), [2, 3]),
    ),
    "empty index vectors": TheyRefuse(
        "an empty index vector selects all of the array, as in gather_nd",
        lambda lib: lib.tensor_scatter_nd_add(TABLE, EMPTY_VECTORS, TABLE[None]),
    ),
    "gather_nd of a scalar": TheyRefuse(
        "an empty index vector selects all of params, which may be a scalar",
        lambda lib: lib.gather_nd(np.float32(1), EMPTY_VECTORS),
    ),
    "NaN among updates": OtherValues(
        "NaN propagates, as in jax.numpy; TensorFlow keeps that of the tensor and drops the others",
        lambda lib: lib.tensor_scatter_nd_min(TABLE, [[0, 1]], NAN),
    ),
    "zeros of both signs": OtherValues(
        "-0 is below 0, as in jax.numpy; TensorFlow keeps the one that came first",
        lambda lib: 1 / lib.tensor_scatter_nd_min(np.zeros(1), [[0]], np.array([-0.0])),
    ),
    "row that is not there": TheyRefuse(
        "an index outside of the rows counts for nothing, on either side",
        lambda _: jaxops.IndexedSlices(TABLE[:1], [2], (2, 3)).to_dense(),
        lambda: tf.convert_to_tensor(tf.IndexedSlices(TABLE[:1], [2], [2, 3])),
    ),
    "dense_shape that does not fit": WeRefuse(
        "dense_shape ends in the shape of a row; TensorFlow looks at the number of rows only",
        lambda _: jaxops.IndexedSlices(TABLE, [0, 1], (4, 5)).to_dense(),
        lambda: tf.convert_to_tensor(tf.IndexedSlices(TABLE, [0, 1], [4, 5])),
    ),
    "gradient of NaN": OtherValues(
        "a NaN that stays has its gradient, as any number that stays; TensorFlow makes it NaN",
        lambda lib, x: lib.tensor_scatter_nd_min(x, [[1]], ONE),
        at=NAN_FIRST,
    ),
    "gradient of complex products": OtherValues(
        "the product of the other factors is exact; TensorFlow's is a rounded quotient",
        lambda lib, x: lib.math.segment_prod(x, ROWS[:2]),
        at=np.array([[-7 - 7j, -7 - 6j, -7 - 5j], [7 + 6j, -1 + 5j, -1 + 3j]], np.complex64) / 2,
    ),
    "means of halves": OtherValues(
        "means are added in float32, exactly counted and rounded once, as TensorFlow's "
        "sparse_segment_mean; its others stop at 256 in bfloat16",
        lambda lib: lib.math.segment_mean(MANY_ONES, MANY_ONES.astype(np.int32) - 1),
    ),
    "sums of many sparse rows": OtherValues(
        "TensorFlow adds 8 rows at a time, and rounds in another order",
        lambda lib: lib.sparse.segment_sum(ROOTS, range(12), ROWS),
    ),
    "means of sparse rows": OtherValues(
        "sums are divided, and rounded once; TensorFlow multiplies them by the rounded inverse",
        lambda lib: lib.sparse.segment_mean(ROOTS, range(7), ROWS[:7]),
    ),
    "roots of sparse rows": OtherValues(
        "as means of sparse rows",
        lambda lib: lib.sparse.segment_sqrt_n(ROOTS, range(7), ROWS[:7]),
    ),
    "max_norm": OtherValues(
        "TensorFlow adds the squares of a row in another order",
        lambda lib: lib.nn.embedding_lookup(ROOTS, range(12), 0.7),
    ),
    "max_norm of halves": OtherValues(
        "norms of halves are computed in float32, and rows rounded once",
        lambda lib: lib.nn.embedding_lookup(ROOTS.astype(np.float16), range(12), 0.7),
    ),
    "weighted means": OtherValues(
        "the sums of products are rounded in another order", _weighted_mean
    ),
    "gradient of pad's constant": TheyHaveNone(
        "the constant is data, which the elements that it fills depend on",
        lambda lib, x: lib.pad(TABLE, [[1, 1], [0, 0]], constant_values=x),
        at=ONE[0],
    ),
    "gradient of diag's padding": TheyHaveNone(
        "as gradient of pad's constant",
        lambda lib, x: lib.linalg.diag(TABLE, padding_value=x),
        at=ONE[0],
    ),
    "gradient of diag_part's padding": TheyHaveNone(
        "as gradient of pad's constant",
        lambda lib, x: lib.linalg.diag_part(TABLE, k=(0, 2), padding_value=x),
        at=ONE[0],
    ),
    "roots of halves": OtherValues(
        "as means of halves",
        lambda lib: lib.math.unsorted_segment_sqrt_n(MANY_ONES, MANY_ONES.astype(np.int32) - 1, 1),
    ),
    "float for an int": WeRefuse(
        "a float or a text is no int; TensorFlow converts it in some places",
        lambda lib: lib.reverse_sequence(TABLE, [1, 2], seq_axis=1.0),
    ),
    "None for a default": WeRefuse(
        "None stands for no other default; TensorFlow takes it for some",
        lambda lib: lib.shape(TABLE, out_type=None),
    ),
    "batches that disagree, vectors of no components": WeRefuse(
        "the batch dimensions of params and indices are the same; TensorFlow loses those of params",
        lambda lib: lib.gather_nd(TABLE, np.zeros((3, 0), np.int32), batch_dims=1),
    ),
    "stack of nothing": WeRefuse(
        "an empty list has no dtype; TensorFlow takes float32, when called eagerly only",
        lambda lib: lib.stack([]),
    ),
    "constant that does not fit": WeRefuse(
        "a number that the dtype does not hold is an error; TensorFlow takes its low bits",
        lambda lib: lib.pad(np.zeros(2, np.uint8), [[1, 1]], constant_values=300),
    ),
    "bool for an int": WeRefuse(
        "a bool is no int; TensorFlow takes it for one in some places",
        lambda lib: lib.expand_dims(TABLE, True),
    ),
    "negative repeats": WeRefuse(
        "negative repeats are an error; TensorFlow takes one in a vector for 0",
        lambda lib: lib.repeat(TABLE, [1, -1], 0),
    ),
    "repeat of nothing": TheyRefuse(
        "slices without elements are repeated too; TensorFlow loses the size of the axis",
        lambda lib: lib.repeat(NOTHING.T, [3, 2], 1),
    ),
    "mask beyond 32 bits": TheyRefuse(
        "bits without an entry do not count, however many there are; TensorFlow's masks are int32s",
        lambda lib: lib.strided_slice(TABLE, [0], [1], end_mask=1 << 31),
    ),
    "gradient of nothing": TheyRefuse(
        "empty index vectors select all of params; TensorFlow's gradient refuses them",
        lambda lib, x: lib.gather_nd(x, EMPTY_VECTORS),
        at=TABLE,
    ),
    "gradient of patches of nothing": TheyRefuse(
        "images without elements have a gradient without elements; TensorFlow's gradient fails",
        lambda lib, x: lib.image.extract_patches(x, *PATCHES),
        at=NO_DEPTH,
    ),
    "gradient of a gather of nothing": TheyRefuse(
        "what has no elements has a gradient without elements; TensorFlow's gradient fails",
        lambda lib, x: lib.gather(x, NO_INDEX, axis=1),
        at=NOTHING_3D,
    ),
    "edit_distance of nothing": TheyRefuse(
        "no sequences have no distances; TensorFlow refuses a result without elements",
        _to_itself,
    ),
    "gradient of a diagonal of a scalar": TheyRefuse(
        "a scalar is its own diagonal; TensorFlow's gradient refuses it",
        lambda lib, x: lib.linalg.tensor_diag_part(x),
        at=ONE[0],
    ),
    "roll far": OtherValues(
        "a shift counts whole; TensorFlow looks at its low 32 bits",
        lambda _: jaxops.roll(TABLE, 2**32 + 1, 1),
        lambda: tf.roll(TABLE, tf.constant(2**32 + 1, tf.int64), 1),
    ),
    "gradient of no segments": TheyRefuse(
        "the slices are all dropped, and have gradient 0; TensorFlow's gradient reads segment 0",
        lambda lib, x: lib.math.unsorted_segment_sum(x, [-1], 0),
        at=ONE,
    ),
    "gradient of a negative perm": TheyRefuse(
        "a negative dimension counts from the end; TensorFlow's gradient refuses it",
        lambda lib, x: lib.transpose(x, [-1, 0]),
        at=TABLE,
    ),
    "unstack into 0": WeRefuse(
        "the documentation asks that num is the dimension; TensorFlow does not look at 0",
        lambda lib: lib.unstack(TABLE, 0),
    ),
    "reverse of nothing": WeRefuse(
        "an axis that is wrong is an error, also where there is nothing to reverse",
        lambda lib: lib.reverse(NOTHING, [0, 0]),
    ),
    "v0.reverse of a scalar": WeRefuse(
        "one bool per dimension, also where there is none",
        lambda _: v0.reverse(1.0, [True]),
        lambda: tf.raw_ops.Reverse(tensor=1.0, dims=[True]),
    ),
    "v0.reverse of nothing": TheyRefuse(
        "nothing can be reversed, as by TensorFlow 2's tf.reverse",
        lambda _: v0.reverse(NOTHING.T, [True, False]),
        lambda: tf.raw_ops.Reverse(tensor=NOTHING.T, dims=[True, False]),
    ),
    "gradient of one index vector": TheyRefuse(
        "an index vector alone selects a scalar; TensorFlow's gradient refuses it",
        lambda lib, x: lib.gather_nd(x, np.array([1, 2])),
        at=TABLE,
    ),
    "overwritten": OtherValues(
        "what was overwritten has no part in the result; TensorFlow sends it a gradient",
        lambda lib, x: lib.dynamic_stitch(TWICE, list(x)),
        at=TABLE,
    ),
    "split into [-1]": TheyRefuse(
        "-1 is what the other sizes leave, also where there are none; TensorFlow forgets that case",
        lambda lib: lib.split(TABLE, [-1]),
    ),
    "negative axis of boolean_mask": TheyRefuse(
        "a negative axis counts from the end; TensorFlow loses axis -1 by slicing the shape",
        lambda lib: lib.boolean_mask(TABLE, [True, False, True], axis=-1),
    ),
    "unravel_index of nothing": TheyRefuse(
        "no indices have no coordinates; TensorFlow refuses an empty vector",
        lambda lib: lib.unravel_index(NO_INDEX, [2, 3]),
    ),
    "negative index of unravel_index": WeRefuse(
        "a negative index is out of bounds; TensorFlow makes a negative coordinate of it",
        lambda lib: lib.unravel_index([-1], [2, 3]),
    ),
    "strings of a grid": TheyRefuse(
        "what moves elements takes strings; TensorFlow multiplies them by ones",
        lambda _: jaxops.meshgrid(["a", "b"], ["c"])[0].view(np.int32),
        lambda: tf.meshgrid(["a", "b"], ["c"])[0],
    ),
    "out_type of size": WeRefuse(
        "a size is int32 or int64, as in tf.shape and in TensorFlow's graphs",
        lambda _: jaxops.size(TABLE, np.float32),
        lambda: tf.size(TABLE, tf.float32),
    ),
    "cast of what does not fit": OtherValues(
        "TensorFlow leaves it undefined, and its kernels for vectors and for scalars differ",
        lambda lib: lib.cast(np.full(16, -1.0), np.uint8),
    ),
    "saturate_cast to 64 bits": OtherValues(
        "TensorFlow's limit is 2^63, or 2^64, which the integers do not hold: it overflows",
        lambda lib: lib.saturate_cast(np.array([1e30], np.float32), np.int64),
    ),
    "saturate_cast of int64": OtherValues(
        "TensorFlow's limit overflows: every int64 becomes -2^63 where the dtype reaches to 2^63",
        lambda lib: lib.saturate_cast(LARGE, np.int64),
    ),
}
