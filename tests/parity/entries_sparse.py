"""Sparse gradients against TensorFlow's: those of lookups, and what can be done with them.

The gradient of `tf.gather` along axis 0, and of `tf.gather_nd` by vectors of one component, is a
`tf.IndexedSlices`; that of other lookups is dense there and is compared as such.
"""

import draws
import jax.numpy as jnp
import numpy as np
from calls import Call
from draws import Args, Draw, chance, fault, integer, pick
from entries import ENTRIES, compared
from entries_indexing import policy
from jax.core import Tracer
from peer import tf

import jaxops


def weights(shape, dtype) -> np.ndarray:
    """What the elements of a lookup are multiplied by, so that each has a gradient of its own."""
    return (np.arange(int(np.prod(shape))) % 7 - 3).reshape(tuple(shape)).astype(dtype)


def is_sliced(params, indices, lookup, axis, batch_dims, tied) -> bool:
    """Whether TensorFlow's gradient is one `tf.IndexedSlices`, and its rows have elements."""
    if len(indices) != 1 or batch_dims or tied or lookup == "batch_gather":
        return False
    if 0 in tuple(params.shape):
        return False  # jaxops has no slices then
    if lookup == "gather":
        return not axis
    return indices[0].ndim == 2 and indices[0].shape[-1] == 1


def axis_options(lookup: str, axis: int | None, batch_dims: int) -> Args:
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
    if not is_sliced(params, indices, lookup, axis, batch_dims, tied):
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
            if lookup == "batch_gather":  # of which TensorFlow 1 does not look at each row
                rows = ENTRIES["gather"].theirs(params, i, batch_dims=len(i.shape) - 1, mode=mode)
            else:
                rows = ENTRIES[lookup].theirs(params, i, mode=mode, **keywords)
            total += tf.reduce_sum(rows * weights(rows.shape, params.dtype.as_numpy_dtype))
        if tied:
            total += tf.reduce_sum(params * weights(params.shape, params.dtype.as_numpy_dtype))
    if 0 in params.shape:  # TensorFlow refuses the gradient of some tables without elements
        return [tf.zeros_like(params)]
    gradient = tape.gradient(total, params)
    if not is_sliced(params, indices, lookup, axis, batch_dims, tied):
        return [tf.convert_to_tensor(gradient)]
    indices = tf.cast(gradient.indices, tf.int32)  # jaxops' are as small as they can be
    return [tf.convert_to_tensor(gradient), gradient.values, indices]


@compared(
    "sparse_value_and_grad",
    ours=_sparse_gradient,
    theirs=_tf_sparse_gradient,
    data=("params", "indices"),
    indices=("indices",),
    bounded=True,
)
def lookups(draw: Draw) -> Call | Args:
    """One or two lookups of a table, by one function."""
    lookup = pick(draw, ["gather", "gather", "gather_nd", "batch_gather"])
    wrong = fault(draw, *["out of bounds"] * 4, "batch", "axis")
    # TensorFlow's gather_nd refuses tables without elements.
    dims = draws.DIMS if chance(draw, 30) and lookup != "gather_nd" else [2, 3, 1, 5]
    table = draws.array(draw, draws.shape(draw, 1, 3, dims), draws.dtype(draw, draws.FLOATS))
    rank = table.ndim
    batch = integer(draw, 0, min(rank - 1, 2)) if chance(draw, 30) else 0
    args: Args = {"params": table}
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
    if 0 in table.shape:
        # A program whose results have no elements uses no lookup, and JAX drops the check.
        return Call(args, jit=False)
    args["deterministic"] = chance(draw, 10)
    return args | policy(draw, wrong, bounds, ("error", "clip", "wrap"))


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
    return np.stack(columns, axis=-1) if lookup == "gather_nd" else columns[0]


# Those that make a dense array of slices and others, or an array: jaxops' and TensorFlow's.
DENSE = {
    "to_dense": (lambda x, y, a: x.to_dense(), lambda x, y, a: tf.convert_to_tensor(x)),
    "add": (lambda x, y, a: (x + y).to_dense(), lambda x, y, a: tf.math.add(x, y)),
    "subtract": (lambda x, y, a: (x - y).to_dense(), lambda x, y, a: tf.math.subtract(x, y)),
    "add_to": (lambda x, y, a: x.add_to(a), lambda x, y, a: tf.math.add(a, x)),
    "tied": (
        lambda x, y, a: jaxops.TiedGradient(a, x).to_dense(),
        lambda x, y, a: tf.math.add(a, x),
    ),
}
OPERATIONS = (*DENSE, "sum_duplicates", "negative", "multiply")


def _slices(operation, values, indices, values_2, indices_2, dense, factor) -> list:
    one = jaxops.IndexedSlices(values, indices, dense.shape)
    other = jaxops.IndexedSlices(values_2, indices_2, dense.shape)
    if operation in DENSE:
        return [DENSE[operation][0](one, other, dense)]
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
    if operation in DENSE:
        return [DENSE[operation][1](one, other, dense)]
    if operation == "sum_duplicates":  # as its optimizers do
        count = indices >= 0
        distinct, numbers = tf.unique(tf.boolean_mask(indices, count))
        values = tf.boolean_mask(values, count)
        return [tf.math.unsorted_segment_sum(values, numbers, tf.size(distinct)), distinct]
    result = -one if operation == "negative" else tf.math.scalar_mul(factor, one)
    return [result.values, result.indices]


@compared(
    "IndexedSlices",
    ours=_slices,
    theirs=_tf_slices,
    data=("values", "indices", "values_2", "indices_2", "dense"),
    indices=(),
    differentiable=("values", "values_2", "dense"),
)
def slices(draw: Draw) -> Call:
    """What is done with one or two IndexedSlices."""
    operation = pick(draw, list(OPERATIONS))
    wrong = fault(draw, "values", "rank", "dtype") if operation in DENSE else None
    dtype = draws.dtype(draw, ["int32", *draws.FLOATS])
    if operation == "multiply":
        dtype = draws.dtype(draw, draws.FLOATS)
    kind = "ordered" if operation == "sum_duplicates" else "summable"  # XLA may keep -0
    dense_shape = draws.shape(draw, 1, 3)
    rows = dense_shape[0]
    args: Args = {"operation": operation}
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
    is_checked = operation in DENSE and args["indices"].size and args["dense"].size
    if is_checked and wrong is None and chance(draw, 4):
        args["indices"][0] = rows
        known = "row that is not there"
    # A sum over duplicates has a size that depends on the indices.
    traced = ("values", "values_2", "dense") if operation == "sum_duplicates" else None
    return Call(args, known=known, traced=traced)
