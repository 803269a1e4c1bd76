"""RaggedTensor: how it is made, made dense, and what rows are chosen."""

from __future__ import annotations

from typing import Any

import draws
import jax.numpy as jnp
import numpy as np
from calls import Call, Entry
from draws import Draw, chance, fault, integer, pick
from hypothesis import strategies as st
from peer import tf

import jaxops

DTYPES = [*draws.BOOL, *draws.NUMERIC]


def partition_dtype(draw: Draw) -> np.dtype:
    return draws.dtype_of(pick(draw, ["int32", "int64"]))


def lengths_of_rows(draw: Draw, low: int = 0) -> list[int]:
    return [integer(draw, 0, 4) for _ in range(integer(draw, low, 4))]


def row_shape(draw: Draw) -> tuple[int, ...]:
    return draws.shape(draw, 0, 2, [2, 1, 3, 0]) if chance(draw, 50) else ()


@st.composite
def made(draw: Draw) -> Call:
    """A ragged tensor, made of a partition, and the dense array of it."""
    how = pick(draw, ["row_splits", "row_lengths", "value_rowids"])
    lengths = lengths_of_rows(draw)
    dtype = draws.dtype(draw, DTYPES)
    wrong = fault(draw, "number", "number", "total", "order", "kind", "rank", "nrows", "shape")
    shape = (sum(lengths), *row_shape(draw))
    numbers = {
        "row_splits": np.cumsum([0, *lengths]),
        "row_lengths": np.array(lengths, np.int64),
        "value_rowids": np.repeat(np.arange(len(lengths)), lengths),
    }[how].astype(partition_dtype(draw))
    if wrong == "number" and numbers.size:
        numbers[integer(draw, 0, numbers.size - 1)] = pick(draw, [-1, 100, -100])
    elif wrong == "total":
        shape = (shape[0] + pick(draw, [1, 2]), *shape[1:])
    elif wrong == "order":
        numbers = numbers[::-1].copy()
    elif wrong == "kind":
        numbers = draws.no_indices(draw, numbers)
    elif wrong == "rank":
        numbers = pick(draw, [numbers[None], numbers[:0], numbers.sum()])
        numbers = np.asarray(numbers)
    args: dict[str, Any] = {"how": how, "values": draws.array(draw, shape, dtype)}
    args["partition"] = numbers
    is_traced = True
    if how == "value_rowids" and wrong == "nrows":
        args["nrows"] = pick(draw, [-1, 0, max(len(lengths) - 1, 0)])
    elif how == "value_rowids" and chance(draw, 60):
        args["nrows"] = len(lengths) + pick(draw, [0, 0, 1])
    elif how == "value_rowids":
        is_traced = False
    if chance(draw, 50):
        of_values = draws.shape(draw, 0, 1) if wrong == "shape" else ()
        if chance(draw, 40):
            of_values = pick(draw, [shape[1:], (1,) * (len(shape) - 1)])
        if 0 < len(of_values) < len(shape) - 1:
            of_values = ()  # the difference "ragged default of lower rank"
        args["default_value"] = draws.array(draw, of_values, dtype)
    if chance(draw, 70):
        args["shape"] = [pick(draw, [None, 0, 2, 5]), integer(draw, 0, 5)]
        args["shape"] += [pick(draw, [None, dim]) for dim in shape[1:]]
        if wrong == "shape":
            args["shape"] = pick(draw, [args["shape"][:-1], [*args["shape"], 1], [-1, 2]])
    elif chance(draw, 30):
        args["shape"] = [None] * (len(shape) + 1)
    if "shape" not in args or args["shape"][1:2] == [None]:
        is_traced = False
    traced = ("values", "partition", "default_value")[:: 1 if is_traced else 2]
    order = ("how", "values", "partition", "nrows", "default_value", "shape")
    return draws.finish(draw, args, order, traced=traced)


def _made(how, values, partition, nrows=None, default_value=None, shape=None) -> list:
    more = {} if nrows is None else {"nrows": nrows}
    x = getattr(jaxops.RaggedTensor, f"from_{how}")(values, partition, **more)
    dense = x.to_tensor(default_value, shape=shape)
    return [dense, x.row_splits, x.row_lengths(), x.value_rowids(), x.nrows()]


def _tf_made(how, values, partition, nrows=None, default_value=None, shape=None) -> list:
    more = {} if nrows is None else {"nrows": nrows}
    x = getattr(tf.RaggedTensor, f"from_{how}")(values, partition, **more)
    dense = x.to_tensor(default_value, shape=shape)
    return [dense, x.row_splits, x.row_lengths(), x.value_rowids(), x.nrows()]


@st.composite
def cut(draw: Draw) -> Call:
    """A ragged tensor made of a dense array."""
    shape = (*draws.shape(draw, 2, 2), *row_shape(draw))
    wrong = fault(draw, "rank", "lengths", "kind", "padding", "both", "ragged_rank")
    if wrong == "rank":
        shape = shape[:1]
    dtype = draws.dtype(draw, DTYPES)
    args: dict[str, Any] = {"tensor": draws.array(draw, shape, dtype)}
    by = pick(draw, ["lengths", "padding", None])
    if by == "lengths" or wrong in ("lengths", "kind", "both"):
        count = shape[0] + (wrong == "lengths")
        lengths = np.array([integer(draw, -1, 5) for _ in range(count)], partition_dtype(draw))
        args["lengths"] = draws.no_indices(draw, lengths) if wrong == "kind" else lengths
    if (by == "padding" and "lengths" not in args) or wrong in ("padding", "both"):
        padding = shape[2:] if wrong != "padding" else (*shape[2:], 1)
        args["padding"] = draws.array(draw, padding, dtype)
        if chance(draw, 70) and len(shape) > 1 and 0 not in shape[:2] and wrong is None:
            args["padding"] = args["tensor"][0, -1]
    if wrong == "padding":
        args.pop("lengths", None)
    if wrong == "ragged_rank":
        args["ragged_rank"] = pick(draw, [0, -1])
    if chance(draw, 30):
        args["row_splits_dtype"] = partition_dtype(draw)
    size = shape[0] * shape[1] if len(shape) > 1 else 0
    keywords = {"size": size + pick(draw, [0, 1])} if chance(draw, 60) else {}
    traced = ("tensor", "lengths", "padding") if keywords else ("tensor",)
    order = ("tensor", "lengths", "padding", "ragged_rank", "row_splits_dtype")
    call = draws.finish(draw, args, order, keywords=keywords, traced=traced)
    if "padding" in args and not keywords:  # the size of what is traced is not known
        call.jit = call.gradient = False
    return call


def _cut(tensor, lengths=None, padding=None, ragged_rank=1, row_splits_dtype=np.int64, size=None):
    options = {"ragged_rank": ragged_rank, "row_splits_dtype": row_splits_dtype, "size": size}
    x = jaxops.RaggedTensor.from_tensor(tensor, lengths, padding, **options)
    return [x.to_tensor(shape=[None, 6, *tensor.shape[2:]]), x.row_splits]


def _tf_cut(tensor, lengths=None, padding=None, ragged_rank=1, row_splits_dtype=None, size=None):
    options = {"ragged_rank": ragged_rank, "row_splits_dtype": row_splits_dtype or tf.int64}
    x = tf.RaggedTensor.from_tensor(tensor, lengths, padding, **options)
    return [x.to_tensor(shape=[None, 6, *tensor.shape[2:]]), x.row_splits]


@st.composite
def chosen(draw: Draw) -> Call:
    lengths = lengths_of_rows(draw, 1)
    wrong = fault(draw, "out of bounds", "out of bounds", "kind")
    values = draws.array(draw, (sum(lengths), *row_shape(draw)), draws.dtype(draw, DTYPES))
    args: dict[str, Any] = {"values": values}
    args["row_splits"] = np.cumsum([0, *lengths]).astype(partition_dtype(draw))
    count = (integer(draw, 0, 5),)
    outside = wrong == "out of bounds"
    indices = draws.indices(draw, count, len(lengths), partition_dtype(draw), outside)
    args["indices"] = draws.no_indices(draw, indices) if wrong == "kind" else indices
    keywords = {"size": 4 * count[0] + pick(draw, [0, 2])} if chance(draw, 60) else {}
    traced = ("values", "row_splits", "indices") if keywords else ("values",)
    order = ("values", "row_splits", "indices")
    return draws.finish(draw, args, order, keywords=keywords, traced=traced)


def _chosen(values, row_splits, indices, size=None) -> list:
    x = jaxops.RaggedTensor.from_row_splits(values, row_splits).gather(indices, size=size)
    return [x.to_tensor(shape=[None, 4, *values.shape[1:]]), x.row_splits]


def _tf_chosen(values, row_splits, indices, size=None) -> list:
    del size
    x = tf.gather(tf.RaggedTensor.from_row_splits(values, row_splits), indices)
    return [x.to_tensor(shape=[None, 4, *values.shape[1:]]), x.row_splits]


KINDS = ["sum", "mean", "max", "min", "prod"]


@st.composite
def reduced(draw: Draw) -> Call:
    lengths = lengths_of_rows(draw)
    wrong = fault(draw, "axis", "dtype", percent=20)
    kind = pick(draw, KINDS)
    if kind == "mean":  # XLA may multiply by the reciprocal of the length, which is exact of these
        lengths = [n for n in lengths if n != 3]
    names = draws.FLOATS if chance(draw, 60) else [*draws.INTEGERS, *draws.COMPLEX]
    dtype = draws.dtype(draw, draws.BOOL if wrong == "dtype" else names)
    # TensorFlow's maximum is without NaN, and a product of infinities depends on its order.
    of = "ordered" if kind in ("max", "min") else "finite"
    values = draws.array(draw, (sum(lengths), *row_shape(draw)), dtype, of)
    args: dict[str, Any] = {"values": values}
    args["row_splits"] = np.cumsum([0, *lengths]).astype(partition_dtype(draw))
    args |= {
        "kind": kind,
        "axis": draws.axis(draw, values.ndim + 1, True) if wrong == "axis" else 1,
    }
    if wrong != "axis" and chance(draw, 30):
        args["axis"] = -values.ndim
    if chance(draw, 40):
        args["keepdims"] = chance(draw, 70)
    order = ("values", "row_splits", "kind", "axis", "keepdims")
    return draws.finish(draw, args, order, traced=("values", "row_splits"))


def _reduced(values, row_splits, kind, axis, keepdims=False) -> Any:
    x = jaxops.RaggedTensor.from_row_splits(values, row_splits)
    result = getattr(x, f"reduce_{kind}")(axis, keepdims)
    # The sign of a 0 depends on the order of the factors.
    return jnp.where(result == 0, jnp.zeros_like(result), result) if kind == "prod" else result


def _tf_reduced(values, row_splits, kind, axis, keepdims=False) -> Any:
    x = tf.RaggedTensor.from_row_splits(values, row_splits)
    result = getattr(tf, f"reduce_{kind}")(x, axis, keepdims)
    return tf.where(result == 0, tf.zeros_like(result), result) if kind == "prod" else result


ENTRIES = {
    "RaggedTensor": Entry(
        _made,
        _tf_made,
        made(),
        ("values", "partition", "default_value"),
        differentiable=("values", "default_value"),
    ),
    "RaggedTensor.from_tensor": Entry(
        _cut,
        _tf_cut,
        cut(),
        ("tensor", "lengths", "padding"),
        differentiable=("tensor",),
        x64=True,
    ),
    "RaggedTensor.gather": Entry(
        _chosen,
        _tf_chosen,
        chosen(),
        ("values", "row_splits", "indices"),
        differentiable=("values",),
        bounded=True,
    ),
    "RaggedTensor.reduce": Entry(
        _reduced,
        _tf_reduced,
        reduced(),
        ("values", "row_splits"),
        differentiable=("values",),
        x64=True,
    ),
}
