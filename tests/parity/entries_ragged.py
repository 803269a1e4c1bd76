"""RaggedTensor: how it is made, made dense, and what rows are chosen."""

import functools
from collections.abc import Callable
from typing import Any

import draws
import jax.numpy as jnp
import numpy as np
from calls import Call
from draws import Args, Draw, chance, fault, integer, pick
from entries import compared
from peer import tf

import jaxops

DTYPES = [*draws.BOOL, *draws.NUMERIC]


def compared_ragged(name: str, function: Callable, *data: str, **fields: Any) -> Callable:
    """Of a function of either library's module and the arguments that are drawn."""
    ours, theirs = functools.partial(function, jaxops), functools.partial(function, tf)
    return compared(name, ours=ours, theirs=theirs, data=data, **fields)


def partition_dtype(draw: Draw) -> np.dtype:
    return draws.dtype_of(pick(draw, ["int32", "int64"]))


def lengths_of_rows(draw: Draw, low: int = 0) -> list[int]:
    return [integer(draw, 0, 4) for _ in range(integer(draw, low, 4))]


def row_shape(draw: Draw) -> tuple[int, ...]:
    return draws.shape(draw, 0, 2, [2, 1, 3, 0]) if chance(draw, 50) else ()


def _made(lib, how, values, partition, nrows=None, default_value=None, shape=None) -> list:
    more = {} if nrows is None else {"nrows": nrows}
    x = getattr(lib.RaggedTensor, f"from_{how}")(values, partition, **more)
    dense = x.to_tensor(default_value, shape=shape)
    return [dense, x.row_splits, x.row_lengths(), x.value_rowids(), x.nrows()]


@compared_ragged(
    "RaggedTensor",
    _made,
    *("values", "partition", "default_value"),
    differentiable=("values", "default_value"),
)
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
    args: Args = {"how": how, "values": draws.array(draw, shape, dtype)}
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
    return Call(args, traced=traced)


def _cut(
    lib, tensor, lengths=None, padding=None, ragged_rank=1, row_splits_dtype=np.int64, size=None
) -> list:
    options = {"ragged_rank": ragged_rank, "row_splits_dtype": row_splits_dtype, **_size(lib, size)}
    x = lib.RaggedTensor.from_tensor(tensor, lengths, padding, **options)
    return [x.to_tensor(shape=[None, 6, *tensor.shape[2:]]), x.row_splits]


def _size(lib, size: int | None) -> Args:
    """An option of jaxops alone."""
    return {"size": size} if lib is jaxops else {}


@compared_ragged("RaggedTensor.from_tensor", _cut, "tensor", "lengths", "padding", x64=True)
def cut(draw: Draw) -> Call:
    """A ragged tensor made of a dense array."""
    shape = (*draws.shape(draw, 2, 2), *row_shape(draw))
    wrong = fault(draw, "rank", "lengths", "padding", "both", "ragged_rank", percent=20)
    if wrong == "rank":
        shape = shape[:1]
    dtype = draws.dtype(draw, DTYPES)
    args: Args = {"tensor": draws.array(draw, shape, dtype)}
    by = pick(draw, ["lengths", "padding", None])
    if by == "lengths" or wrong in ("lengths", "both"):
        count = shape[0] + (wrong == "lengths")
        lengths = [integer(draw, -1, 5) for _ in range(count)]
        args["lengths"] = np.array(lengths, partition_dtype(draw))
    if (by == "padding" and "lengths" not in args) or wrong in ("padding", "both"):
        padding = shape[2:] if wrong != "padding" else (*shape[2:], 1)
        args["padding"] = draws.array(draw, padding, dtype)
        if chance(draw, 70) and len(shape) > 1 and 0 not in shape[:2] and wrong is None:
            args["padding"] = args["tensor"][0, -1]
    if wrong == "padding":
        args.pop("lengths", None)
    if wrong == "ragged_rank":
        args["ragged_rank"] = pick(draw, [0, -1])
    size = shape[0] * shape[1] if len(shape) > 1 else 0
    if chance(draw, 60):
        args["size"] = size + pick(draw, [0, 1])
    traced = ("tensor", "lengths", "padding") if "size" in args else ("tensor",)
    is_known = "padding" not in args or "size" in args  # the size of what is traced
    return Call(args, traced=traced, jit=is_known, gradient=is_known)


def _chosen(lib, values, row_splits, indices, size=None) -> list:
    x = lib.RaggedTensor.from_row_splits(values, row_splits)
    x = x.gather(indices, size=size) if lib is jaxops else tf.gather(x, indices)
    return [x.to_tensor(shape=[None, 4, *values.shape[1:]]), x.row_splits]


@compared_ragged("RaggedTensor.gather", _chosen, "values", "row_splits", "indices", bounded=True)
def chosen(draw: Draw) -> Call:
    lengths = lengths_of_rows(draw, 1)
    wrong = fault(draw, "out of bounds", percent=20)
    values = draws.array(draw, (sum(lengths), *row_shape(draw)), draws.dtype(draw, DTYPES))
    args: Args = {"values": values}
    args["row_splits"] = np.cumsum([0, *lengths]).astype(partition_dtype(draw))
    count = (integer(draw, 0, 5),)
    outside = wrong == "out of bounds"
    args["indices"] = draws.indices(draw, count, len(lengths), partition_dtype(draw), outside)
    if chance(draw, 60):
        args["size"] = 4 * count[0] + pick(draw, [0, 2])
    return Call(args, traced=("values", "row_splits", "indices") if "size" in args else ("values",))


def _reduced(lib, values, row_splits, kind, axis, keepdims=False) -> Any:
    x = lib.RaggedTensor.from_row_splits(values, row_splits)
    if lib is tf:
        result = getattr(tf, f"reduce_{kind}")(x, axis, keepdims)
    else:
        result = getattr(x, f"reduce_{kind}")(axis, keepdims)
    if kind != "prod":
        return result
    # The sign of a 0 depends on the order of the factors.
    xp = tf if lib is tf else jnp
    return xp.where(result == 0, xp.zeros_like(result), result)


@compared_ragged(
    "RaggedTensor.reduce",
    _reduced,
    "values",
    "row_splits",
    differentiable=("values",),
    divides=True,
    x64=True,
)
def reduced(draw: Draw) -> Args:
    lengths = lengths_of_rows(draw)
    wrong = fault(draw, "axis", "dtype", percent=20)
    kind = pick(draw, ["sum", "mean", "max", "min", "prod"])
    if kind == "mean":  # XLA may multiply by the reciprocal of the length, which is exact of these
        lengths = [n for n in lengths if n != 3]
    names = draws.FLOATS if chance(draw, 60) else [*draws.INTEGERS, *draws.COMPLEX]
    dtype = draws.dtype(draw, draws.BOOL if wrong == "dtype" else names)
    # TensorFlow's maximum is without NaN, and a product of infinities depends on its order.
    of = "ordered" if kind in ("max", "min") else "finite"
    values = draws.array(draw, (sum(lengths), *row_shape(draw)), dtype, of)
    splits = np.cumsum([0, *lengths]).astype(partition_dtype(draw))
    args: Args = {"values": values, "row_splits": splits, "kind": kind, "axis": 1}
    if wrong == "axis":
        args["axis"] = draws.axis(draw, values.ndim + 1, True)
    elif chance(draw, 30):
        args["axis"] = -values.ndim
    return args | {"keepdims": chance(draw, 40)}
