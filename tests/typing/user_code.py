"""Calls as users write them, which `make check` hands to pyright and to mypy; it is not run.

`assert_type` says what a type checker is to find. A call that is wrong bears the rule by which each
of the two refuses it: a call that is no longer refused is an error too, as both are told to look
for comments that nothing needs.
"""

from __future__ import annotations

from typing import Any, assert_type

import jax
import jax.numpy as jnp
import numpy as np

import jaxops
from jaxops import testing
from jaxops.compat import v0
from jaxops.typing import ArrayLike, Int, Ints, ListDiff, Mode, Unique, UniqueWithCounts

table = jnp.ones((4, 2))
flag: bool = bool(table.size)

# --- arguments: arrays, numbers, nested lists, arrays of other libraries ---


class OfAnotherLibrary:
    def __array__(self) -> np.ndarray:
        return np.zeros(3)


assert_type(jaxops.gather(table, [1, 2]), jax.Array)
assert_type(jaxops.gather([[1.0], [2.0]], np.array([0])), jax.Array)
assert_type(jaxops.gather(OfAnotherLibrary(), 0), jax.Array)
assert_type(jaxops.slice(table, [0, 0], jaxops.shape(table)), jax.Array)
assert_type(jaxops.transpose(table, (1, 0)), jax.Array)
assert_type(jaxops.scatter_nd([[0]], [1.0], table.shape[:1]), jax.Array)
assert_type(jaxops.split(table, 2), list[jax.Array])
assert_type(jaxops.shape(table), np.ndarray)
jaxops.range(jaxops.size(table))
rows, columns = jaxops.unstack(jaxops.shape(table))
jaxops.repeat(table, [1, 0, 2, 1], size=rows * columns, axis=jaxops.rank(table) - 2)
jaxops.unsorted_segment_sum(table, [0, 0, 1, 1], num_segments=rows // 2)
jaxops.RaggedTensor.from_value_rowids(table, [0, 0, 1, 1], nrows=rows)


def taken(x: ArrayLike, size: Int) -> jax.Array:
    return jaxops.boolean_mask(x, [True] * 4, size=size)


jaxops.gather(None, [0])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
jaxops.gather(table, {0})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
jaxops.gather(table)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
jaxops.gather(table, [0], axes=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
jaxops.gather(table, [0], axis="0")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
jaxops.transpose(table, [0.5])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
jaxops.gathr(table, [0])  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]

# --- mode ---


def lookup(indices: ArrayLike, mode: Mode = "fill") -> jax.Array:
    return jaxops.gather_nd(table, indices, mode=mode)


def shaped(x: ArrayLike, shape: Ints, mode: jaxops.Mode) -> jax.Array:
    return jaxops.fill(shape, jaxops.gather(x, 0, mode=mode))


def of_any_mode(mode: str) -> jax.Array:
    return jaxops.gather(table, 0, mode=mode)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


lookup([[0]], mode="promise_in_bounds")
lookup([[0]], mode="drop")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
jaxops.segment_sum(table, [0, 0, 1, 1], mode=None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# --- results that depend on return_size ---

assert_type(jaxops.unique([1, 2]), Unique)
assert_type(jaxops.unique([1, 2]).idx, jax.Array)
assert_type(jaxops.unique([1, 2], size=3, return_size=True), tuple[Unique, jax.Array])
assert_type(jaxops.unique_with_counts([1, 2], size=3), UniqueWithCounts)
assert_type(
    jaxops.unique_with_counts([1], size=3, return_size=True), tuple[UniqueWithCounts, jax.Array]
)
assert_type(jaxops.setdiff1d([1, 2], [1]), ListDiff)
assert_type(jaxops.setdiff1d([1], [1], size=1, return_size=True), tuple[ListDiff, jax.Array])
assert_type(jaxops.boolean_mask(table, [True] * 4), jax.Array)
assert_type(
    jaxops.boolean_mask(table, [True] * 4, size=2, return_size=True), tuple[jax.Array, jax.Array]
)
assert_type(jaxops.where([True, False]), jax.Array)
assert_type(jaxops.where([True, False], 1.0, 2.0), jax.Array)
assert_type(jaxops.where([True], size=1, return_size=True), tuple[jax.Array, jax.Array])
assert_type(jaxops.repeat(table, 2), jax.Array)
assert_type(jaxops.repeat(table, 2, size=9, return_size=True), tuple[jax.Array, jax.Array])
assert_type(jaxops.dynamic_partition(table, [0, 1, 0, 1], 2), list[jax.Array])
assert_type(
    jaxops.dynamic_partition(table, [0, 1, 0, 1], 2, size=4, return_size=True),
    tuple[list[jax.Array], jax.Array],
)
assert_type(jaxops.dynamic_stitch([[0], [1]], [[1.0], [2.0]]), jax.Array)
assert_type(
    jaxops.dynamic_stitch([[0]], [[1.0]], size=2, return_size=True), tuple[jax.Array, jax.Array]
)
assert_type(jaxops.one_hot([0, 1], 2), jax.Array)

jaxops.unique([1, 2]).count(1).real  # a method of tuples
jaxops.unique([1, 2]).counts  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
jaxops.unique([1], return_size="yes")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
y, idx, count = jaxops.unique([1, 2])  # type: ignore[misc]  # pyright: ignore[reportAssignmentType]
jaxops.dynamic_partition(table, [0], 2).shape  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]

# --- ragged and sparse ---

ragged = jaxops.RaggedTensor.from_row_lengths([3.0, 1.0, 4.0], [2, 1])
assert_type(ragged, jaxops.RaggedTensor)
assert_type(ragged.values, jax.Array)
assert_type(ragged.to_tensor(default_value=-1.0, shape=(None, 3)), jax.Array)
assert_type(ragged.reduce_sum(axis=1), jax.Array)
jaxops.embedding_lookup_sparse(table, jaxops.SparseTensor([[0, 0]], [3], (2, 2)), None)
ragged.to_tensor(shape=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def loss(params: dict[str, jax.Array], indices: jax.Array) -> jax.Array:
    return jnp.sum(jaxops.gather(params["embed"], indices))


step = jaxops.sparse_value_and_grad(loss, tables="embed")
assert_type(step({"embed": table}, jnp.array([1])), tuple[jax.Array, Any])
value, gradient = step({"embed": table}, jnp.array([1]))
assert_type(value, jax.Array)
slices: jaxops.IndexedSlices = gradient["embed"]
assert_type(slices.sum_duplicates(2, mode="fill").indices, jax.Array)
assert_type(jaxops.clip_by_global_norm([slices], 1.0), tuple[list[jaxops.IndexedSlices], jax.Array])
assert_type(jaxops.lazy(object()), jaxops.LazyOptimizer)
jaxops.lazy(object(), catch_up=True).catch_up
jaxops.lazy(object()).catch_up  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
step({"embed": table})  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]

# --- the other public modules ---

assert_type(jaxops.nn.depth_to_space(jnp.ones((1, 1, 1, 4)), 2), jax.Array)
assert_type(jaxops.math.segment_sum(table, [0, 0, 1, 1]), jax.Array)
assert_type(v0.concat(0, [table, table]), jax.Array)
assert_type(v0.unique([1, 2]), Unique)
assert_type(v0.slice(table, [0, 0], [-1, 1]), jax.Array)
assert_type(v0.boolean_mask(table, [True] * 4), jax.Array)
v0.gather_nd(table, [[0]], mode="fill")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]

testing.check_grads(jnp.sin, table, modes="rev", numeric_dtype=jnp.float32)
testing.check_grads(jnp.sin, table, modes=["fwd", "rev"], jit=None)
assert_type(testing.assert_out_of_bounds(jaxops.gather, table, 4), jaxops.OutOfBoundsError).position
testing.check_grads(jnp.sin, table, modes="reverse")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
testing.check_adjoint(jnp.sin, table, by="jvp")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
testing.check_grads(table, table)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@jaxops.typed_errors()
def decorated(x: jax.Array) -> int:
    return len(x)


assert_type(decorated(table), int)
decorated(1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

try:
    lookup([[9]])
except jaxops.OutOfBoundsError as error:
    assert_type(error.index, int | tuple[int, ...])
