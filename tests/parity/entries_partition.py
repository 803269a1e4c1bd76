"""Shapes that depend on data: partition, stitch, boolean_mask, unique; and one_hot."""

import draws
import numpy as np
from calls import Call
from draws import Args, Draw, axis, chance, fault, integer, pick
from entries import compared
from peer import tf


@compared("dynamic_partition", bounded=True, widest="int32", traced=("data",), moves=True)
def dynamic_partition(draw: Draw) -> Args:
    data = draws.operand(draw, 0)
    wrong = fault(draw, *["out of bounds"] * 5, "shape", "number", percent=30)
    shape = data.shape[: integer(draw, 0, data.ndim)]
    if wrong == "shape":
        shape = (*shape, 3)
    number = pick(draw, [0, -1]) if wrong == "number" else integer(draw, 1, 4)
    dtype = draws.index_dtype(draw)
    partitions = draws.indices(draw, shape, max(number, 1), dtype, wrong == "out of bounds")
    return {"data": data, "partitions": partitions, "num_partitions": number}


@compared("dynamic_stitch", bounded=True, widest="int32", traced=("data",), moves=True)
def dynamic_stitch(draw: Draw) -> Call:
    dtype = draws.dtype(draw, draws.MOVED)
    wrong = fault(draw, *["negative"] * 2, "shape", "number", "none", percent=20)
    rest = draws.shape(draw, 0, 2)
    indices, data = [], []
    kinds = ["int32", "int32", "int32", pick(draw, draws.INTEGERS)]
    for _ in range(0 if wrong == "none" else integer(draw, 1, 3)):
        shape = draws.shape(draw, 0, 2)
        indices.append(draws.indices(draw, shape, 6, draws.dtype_of(pick(draw, kinds))))
        data.append(draws.array(draw, (*shape, *rest), dtype))
    if wrong == "negative":
        indices[0] = np.full(indices[0].shape, -1, np.int32)
    elif wrong == "shape":
        data[-1] = draws.array(draw, (*data[-1].shape, 2), dtype)
    elif wrong == "number":
        data.append(data[0])
    places = [i for array in indices for i in array.reshape(-1).tolist()]
    overwritten = ("data",) if len(set(places)) < len(places) else ()
    return Call({"indices": indices, "data": data}, overwritten=overwritten)


@compared("boolean_mask", traced=("tensor",), moves=True, no_kernel=frozenset(draws.INT4))
def boolean_mask(draw: Draw) -> Call:
    wrong = fault(draw, "shape", "scalar", "axis", "tensor", "rank")
    tensor = draws.operand(draw, 1)
    where = integer(draw, 0, tensor.ndim - 1)
    shape = [] if wrong == "scalar" else list(tensor.shape[where : integer(draw, where + 1, 3)])
    if wrong == "shape":
        shape[0] += 1
    elif wrong == "rank":
        shape = [*tensor.shape, 2]
    # Numbers count as true where they are not 0.
    numbers = ["int32", "float32", "uint8", "complex64", "bfloat16"]
    kind = pick(draw, numbers) if chance(draw, 10) else "bool"
    mask = draws.array(draw, shape, draws.dtype_of(kind))
    if wrong == "tensor":
        tensor = draws.array(draw, (), tensor.dtype)
    args: Args = {"tensor": tensor, "mask": mask}
    if wrong == "axis":
        where = axis(draw, tensor.ndim, wrong=True)
    elif len(shape) == 1 and chance(draw, 30):
        where -= tensor.ndim
    args["axis"] = where or pick(draw, [0, None])
    known = None
    if where == -1 and mask.shape == tensor.shape[-1:]:
        known = "negative axis of boolean_mask"
    return Call(args, known=known, their_gradient_fails=tensor.size == 0)


@compared("one_hot", moves=True)
def one_hot(draw: Draw) -> Call:
    wrong = fault(draw, "depth", "axis", "dtypes", "value", percent=20)
    common = ["int32", "int64", "uint8", "int8"]
    dtype = draws.dtype_of(pick(draw, draws.INTEGERS if chance(draw, 10) else common))
    depth = -1 if wrong == "depth" else integer(draw, 0, 4)
    shape = draws.shape(draw, 0, 2)
    indices = draws.indices(draw, shape, depth + 1, dtype, chance(draw, 30))
    args: Args = {"indices": indices, "depth": depth}
    result = draws.dtype(draw, draws.MOVED)
    rare = result.name in draws.RARE
    both = result.kind == "b" or result.kind == "S" or rare
    if both or chance(draw, 50):
        args["on_value"] = draws.array(draw, (), result)
    if both or chance(draw, 50):
        args["off_value"] = draws.array(draw, (), result)
    if wrong == "value" and "on_value" in args:
        args["on_value"] = draws.array(draw, (2,), result)
    if wrong == "axis" or chance(draw, 60):
        args["axis"] = integer(draw, -1, len(shape))
        if wrong == "axis":
            args["axis"] = pick(draw, [-2, len(shape) + 1])
    if result.kind != "S" and not rare and (wrong == "dtypes" or chance(draw, 40)):
        args["dtype"] = result
        if wrong == "dtypes":
            args["dtype"] = draws.other(result)
    if result.kind == "S" and chance(draw, 40):
        args["dtype"] = "string"
    # From the host values would take the dtype asked for.
    return Call(args, on_device=wrong == "dtypes")


UNIQUE = [*draws.BOOL, *draws.INTEGERS, *draws.FLOATS, *draws.RARE, *draws.STRINGS]


@compared("unique", "unique_with_counts", traced=(), widens=True)
def unique(draw: Draw) -> Call:
    wrong = fault(draw, "rank", "dtype", percent=15)
    dtype = draws.dtype(draw, draws.COMPLEX if wrong == "dtype" else UNIQUE)
    shape = (integer(draw, 0, 9),)
    if wrong == "rank":
        shape = pick(draw, [(), (2, 2), (1, 3), (0, 2)])
    x = draws.array(draw, shape, dtype, pick(draw, ["finite", "summable", "all"]))
    if dtype.name in draws.HALVES:
        x = x + dtype.type(0)  # TensorFlow tells -0 from 0 in 16 bits
    # With the options of conftest.py XLA does not compile a constant of these.
    return Call({"x": x}, jit=dtype.name not in draws.FLOAT8)


def unique_slices(draw: Draw) -> Call:
    wrong = fault(draw, "axis", "dtype", percent=20)
    dtype = draws.dtype(draw, draws.COMPLEX if wrong == "dtype" else UNIQUE)
    shape = draws.shape(draw, 1, 3)
    x = draws.array(draw, shape, dtype, pick(draw, ["finite", "summable", "ordered"]))
    if x.dtype.kind in "biuf" and x.size and chance(draw, 60):  # few values, so that slices meet
        x = np.where(x > 0, x.reshape(-1)[0], x.reshape(-1)[-1]).astype(dtype)
    rank = len(shape)
    axis = pick(draw, [rank, -rank - 1]) if wrong == "axis" else integer(draw, -rank, rank - 1)
    return Call({"x": x, "axis": axis}, jit=dtype.name not in draws.FLOAT8)


def _with_numbers(unique_v2):
    return lambda x, axis: list(unique_v2(x=x, axis=[axis]))


for name, raw in [("unique", "UniqueV2"), ("unique_with_counts", "UniqueWithCountsV2")]:
    theirs = _with_numbers(getattr(tf.raw_ops, raw))
    compared(f"{name}-axis", theirs=theirs, traced=())(unique_slices)
