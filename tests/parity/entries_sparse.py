"""Sparse gradients against TensorFlow's: those of lookups, and what can be done with them.

The gradient of `tf.gather` along axis 0, and of `tf.gather_nd` by vectors of one component, is a
`tf.IndexedSlices`; that of other lookups is dense there and is compared as such.
"""

from __future__ import annotations

from typing import Any

import draws
import jax.numpy as jnp
import numpy as np
from calls import Call, Entry
from draws import Draw, chance, fault, integer, pick
from entries_indexing import ENTRIES as INDEXING
from entries_indexing import policy
from hypothesis import strategies as st
from jax.core import Tracer
from peer import tf

import jaxops


@st.composite
def lookups(draw: Draw) -> Call:
    """One or two lookups of a table, by one function."""
    lookup = pick(draw, ["gather", "gather", "gather_nd", "batch_gather"])
    wrong = fault(draw, *["out of bounds"] * 4, "batch", "kind", "axis", percent=30)
    dims = draws.DIMS if chance(draw, 30) else [2, 3, 1, 5]
    table = draws.array(draw, draws.shape(draw, 1, 3, dims), draws.dtype(draw, draws.FLOATS))
    rank = table.ndim
    batch = integer(draw, 0, min(rank - 1, 2)) if chance(draw, 30) else 0
    args: dict[str, Any] = {"params": table}
    bounds = table.shape[batch : batch + 1]
    if lookup == "gather":
        axis = integer(draw, batch, rank - 1) if chance(draw, 30) else batch
        bounds = table.shape[axis : axis + 1]
        if wrong == "axis":
            axis = pick(draw, [rank, -rank - 1])
        if axis != batch or chance(draw, 30):
            args["axis"] = axis - rank * chance(draw, 20) if wrong != "axis" else axis
        args["batch_dims"] = batch
    elif lookup == "gather_nd":
        bounds = table.shape[batch : batch + pick(draw, [1, 1, 2])]
        args["batch_dims"] = batch
    args["lookup"] = lookup
    lead = table.shape[:batch]
    if wrong == "batch" and batch:
        lead = (lead[0] + 1, *lead[1:])
    args["indices"] = [
        _indices(draw, lookup, lead, bounds, wrong) for _ in range(pick(draw, [1, 1, 2]))
    ]
    if chance(draw, 20):
        args["tied"] = True
    keywords = {}
    if wrong in (None, "out of bounds") and 0 not in table.shape:
        keywords = policy(draw, bounds, ("error", "clip", "wrap"), deterministic=10)
    order = ("params", "indices", "lookup", "axis", "batch_dims", "tied")
    return draws.finish(draw, args, order, keywords=keywords)


def _indices(draw, lookup, lead, bounds, wrong) -> np.ndarray:
    shape = (*lead, pick(draw, draws.DIMS)) if lookup == "batch_gather" else lead
    if lookup != "batch_gather":
        shape = (*lead, *draws.shape(draw, 0 if lookup == "gather" else 1, 2))
    if 0 in bounds and wrong is None:
        shape = (*shape[:-1], 0) if len(shape) > len(lead) else (*shape, 0)
    dtype = draws.index_dtype(draw)
    columns = [
        draws.indices(draw, shape, bound, dtype, wrong == "out of bounds") for bound in bounds
    ]
    result = np.stack(columns, axis=-1) if lookup == "gather_nd" else columns[0]
    return draws.no_indices(draw, result) if wrong == "kind" else result


def weights(shape, dtype) -> np.ndarray:
    """What the elements of a lookup are multiplied by, so that each has a gradient of its own."""
    return (np.arange(int(np.prod(shape))) % 7 - 3).reshape(tuple(shape)).astype(dtype)


def is_sliced(args: dict[str, Any]) -> bool:
    """Whether TensorFlow's gradient is a `tf.IndexedSlices`, and its rows have elements."""
    if 0 in tuple(args["params"].shape):
        return False  # jaxops has no slices then
    if args["batch_dims"] or args["tied"] or args["lookup"] == "batch_gather":
        return False
    if args["lookup"] == "gather":
        return not args["axis"]
    return all(i.ndim == 2 and i.shape[-1] == 1 for i in args["indices"])


def axis_options(lookup: str, axis: int | None, batch_dims: int) -> dict[str, Any]:
    options = {
        "gather": {"axis": axis, "batch_dims": batch_dims},
        "gather_nd": {"batch_dims": batch_dims},
    }
    return options.get(lookup, {})


def _sparse_gradient(
    params, indices, lookup, axis=None, batch_dims=0, tied=False, **options
) -> list:
    """The gradient as a dense array; of one lookup, if TensorFlow has them, its slices too."""
    keywords = axis_options(lookup, axis, batch_dims)

    def loss(table):
        total = jnp.zeros((), table.dtype)
        for i in indices:
            rows = getattr(jaxops, lookup)(table, i, **keywords, **options)
            total += (rows * weights(rows.shape, rows.dtype)).sum()
        return total + (table * weights(table.shape, table.dtype)).sum() if tied else total

    along_later_axis = lookup == "gather" and axis is not None and axis % params.ndim != batch_dims
    is_tied = tied or along_later_axis or not indices
    gradient = jaxops.sparse_value_and_grad(loss, tables="", tied=is_tied)(params)[1]
    args = {"params": params, "indices": indices, "lookup": lookup, "axis": axis}
    if not is_sliced({**args, "batch_dims": batch_dims, "tied": tied}) or len(indices) > 1:
        return [gradient if isinstance(gradient, jnp.ndarray) else gradient.to_dense()]
    return [gradient.to_dense(), gradient.values, gradient.indices.astype(jnp.int32)]


def _tf_sparse_gradient(
    params, indices, lookup, axis=None, batch_dims=0, tied=False, mode="", deterministic=False
) -> list:
    keywords = axis_options(lookup, axis, batch_dims)
    with tf.GradientTape() as tape:
        tape.watch(params)
        total = tf.zeros((), params.dtype)
        for i in indices:
            rows = INDEXING[lookup].theirs(params, i, mode=mode, **keywords)
            total += tf.reduce_sum(rows * weights(rows.shape, params.dtype.as_numpy_dtype))
        if tied:
            total += tf.reduce_sum(params * weights(params.shape, params.dtype.as_numpy_dtype))
    gradient = tape.gradient(total, params)
    args = {"params": params, "indices": indices, "lookup": lookup, "axis": axis}
    if not is_sliced({**args, "batch_dims": batch_dims, "tied": tied}) or len(indices) > 1:
        return [tf.convert_to_tensor(gradient)]
    indices = tf.cast(gradient.indices, tf.int32)  # jaxops' are as small as they can be
    return [tf.convert_to_tensor(gradient), gradient.values, indices]


@st.composite
def slices(draw: Draw) -> Call:
    """What is done with one or two IndexedSlices."""
    operation = pick(draw, list(OPERATIONS))
    wrong = fault(draw, "values", "rank", "dtype") if operation in DENSE[:-1] else None
    dtype = draws.dtype(draw, ["int32", *draws.FLOATS])
    if operation == "multiply":
        dtype = draws.dtype(draw, draws.FLOATS)
    kind = "ordered" if operation == "sum_duplicates" else "summable"  # XLA may keep -0
    dense_shape = draws.shape(draw, 1, 3)
    rows = dense_shape[0]
    args: dict[str, Any] = {"operation": operation}
    for suffix in ("", "_2"):
        number = integer(draw, 0, 5) if rows else 0
        index_dtype = draws.dtype_of(pick(draw, ["int32", "int64"]))
        args[f"indices{suffix}"] = draws.indices(draw, (number,), rows, index_dtype)
        if number and chance(draw, 15):
            args[f"indices{suffix}"][integer(draw, 0, number - 1)] = -1  # counts for nothing
        values_shape = (number, *dense_shape[1:])
        args[f"values{suffix}"] = draws.array(draw, values_shape, dtype, kind)
    if wrong == "values":
        args["values"] = draws.array(draw, (args["indices"].size + 1, *dense_shape[1:]), dtype)
    elif wrong == "rank":
        args["indices"] = args["indices"][None]
    elif wrong == "dtype":
        args["indices"] = draws.no_indices(draw, args["indices"])
    args["dense"] = draws.array(draw, dense_shape, dtype, "ordered")
    args["factor"] = pick(draw, [2.0, 0.5, -1.0])
    known = None
    is_checked = operation in DENSE[:-1] and args["indices"].size and args["dense"].size
    if is_checked and wrong is None and chance(draw, 4):
        args["indices"][0] = rows
        known = "row that is not there"
    order = ("operation", "values", "indices", "values_2", "indices_2", "dense", "factor")
    # A sum over duplicates has a size that depends on the indices.
    traced = ("values", "values_2", "dense") if operation == "sum_duplicates" else None
    return draws.finish(draw, args, order, known=known, traced=traced)


# Those that make a dense array, which needs the indices, and the one that looks at them.
DENSE = ("to_dense", "add", "subtract", "add_to", "tied", "sum_duplicates")
OPERATIONS = (*DENSE, "negative", "multiply")


def _slices(operation, values, indices, values_2, indices_2, dense, factor) -> list:
    one = jaxops.IndexedSlices(values, indices, dense.shape)
    other = jaxops.IndexedSlices(values_2, indices_2, dense.shape)
    if operation == "to_dense":
        return [one.to_dense()]
    if operation == "add":
        return [(one + other).to_dense()]
    if operation == "subtract":
        return [(one - other).to_dense()]
    if operation == "add_to":
        return [one.add_to(dense)]
    if operation == "tied":
        return [jaxops.TiedGradient(dense, one).to_dense()]
    if operation == "sum_duplicates":
        counted = np.asarray(indices)
        distinct = np.unique(counted[counted >= 0]).size
        # Of traced values it is in a program, where NumPy's indices count as traced too.
        result = one.sum_duplicates(distinct if isinstance(values, Tracer) else None)
    else:
        result = -one if operation == "negative" else factor * one
    return [result.values, result.indices]


def _tf_slices(operation, values, indices, values_2, indices_2, dense, factor) -> list:
    one = tf.IndexedSlices(values, indices, dense.shape)
    other = tf.IndexedSlices(values_2, indices_2, dense.shape)
    if operation == "to_dense":
        return [tf.convert_to_tensor(one)]
    if operation == "add":
        return [tf.math.add(one, other)]
    if operation == "subtract":
        return [tf.math.subtract(one, other)]
    if operation in ("add_to", "tied"):
        return [tf.math.add(dense, one)]
    if operation == "sum_duplicates":  # as its optimizers do
        count = indices >= 0
        distinct, numbers = tf.unique(tf.boolean_mask(indices, count))
        values = tf.boolean_mask(values, count)
        return [tf.math.unsorted_segment_sum(values, numbers, tf.size(distinct)), distinct]
    result = -one if operation == "negative" else tf.math.scalar_mul(factor, one)
    return [result.values, result.indices]


ENTRIES = {
    "sparse_value_and_grad": Entry(
        _sparse_gradient,
        _tf_sparse_gradient,
        lookups(),
        ("params", "indices"),
        indices=("indices",),
        bounded=True,
    ),
    "IndexedSlices": Entry(
        _slices,
        _tf_slices,
        slices(),
        ("values", "indices", "values_2", "indices_2", "dense"),
        differentiable=("values", "values_2", "dense"),
    ),
}
