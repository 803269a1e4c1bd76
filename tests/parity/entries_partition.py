"""Shapes that depend on data: partition, stitch, boolean_mask, unique; and one_hot."""

from __future__ import annotations

from typing import Any

import draws
import numpy as np
from calls import Call, Entry
from draws import Draw, axis, chance, fault, integer, pick
from hypothesis import strategies as st
from peer import tf

import jaxops


@st.composite
def dynamic_partition(draw: Draw) -> Call:
    data = draws.array(draw, draws.shape(draw, 0, 3), draws.dtype(draw, draws.MOVED))
    wrong = fault(draw, *["out of bounds"] * 5, "shape", "number", "kind", percent=35)
    shape = data.shape[: integer(draw, 0, data.ndim)]
    if wrong == "shape":
        shape = (*shape, 3)
    number = pick(draw, [0, -1]) if wrong == "number" else integer(draw, 1, 4)
    dtype = draws.index_dtype(draw)
    partitions = draws.indices(draw, shape, max(number, 1), dtype, wrong == "out of bounds")
    if wrong == "kind":
        partitions = draws.no_indices(draw, partitions)
    args: dict[str, Any] = {"data": data, "partitions": partitions, "num_partitions": number}
    return draws.finish(draw, args, ("data", "partitions", "num_partitions"))


@st.composite
def dynamic_stitch(draw: Draw) -> Call:
    dtype = draws.dtype(draw, draws.MOVED)
    wrong = fault(draw, *["negative"] * 2, "shape", "number", "dtype", "none", "kind")
    rest = draws.shape(draw, 0, 2)
    indices, data = [], []
    kinds = ["int32", "int32", "int32", pick(draw, draws.INTEGERS)]
    for _ in range(0 if wrong == "none" else integer(draw, 1, 3)):
        shape = draws.shape(draw, 0, 2)
        indices.append(draws.indices(draw, shape, 6, draws.dtype_of(pick(draw, kinds))))
        data.append(draws.array(draw, (*shape, *rest), dtype))
    if wrong == "negative":
        indices[0] = np.full(indices[0].shape, -1, np.int32)
    elif wrong == "kind":
        indices[0] = draws.no_indices(draw, indices[0])
    elif wrong == "shape":
        data[-1] = draws.array(draw, (*data[-1].shape, 2), dtype)
    elif wrong == "number":
        data.append(data[0])
    elif wrong == "dtype":
        other = draws.dtype_of("int32" if dtype.name != "int32" else "float32")
        data.append(draws.array(draw, (2, *rest), other))
        indices.append(np.array([0, 1], np.int32))
    places = [i for array in indices for i in array.reshape(-1).tolist()]
    return draws.finish(
        draw,
        {"indices": indices, "data": data},
        ("indices", "data"),
        on_device=wrong == "dtype",  # from the host they would take the other dtype
        overwritten=("data",) if len(set(places)) < len(places) else (),
    )


@st.composite
def boolean_mask(draw: Draw) -> Call:
    wrong = fault(draw, "shape", "scalar", "axis", "tensor", "rank")
    tensor = draws.array(draw, draws.shape(draw, 1, 3), draws.dtype(draw, draws.MOVED))
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
    args: dict[str, Any] = {"tensor": tensor, "mask": mask}
    if wrong == "axis":
        where = axis(draw, tensor.ndim, wrong=True)
    elif len(shape) == 1 and chance(draw, 30):
        where -= tensor.ndim
    if where or chance(draw, 30):
        args["axis"] = where
    known = None
    if where == -1 and mask.shape == tensor.shape[-1:]:
        known = "negative axis of boolean_mask"
    fails = tensor.size == 0
    order = ("tensor", "mask", "axis")
    return draws.finish(draw, args, order, known=known, their_gradient_fails=fails)


@st.composite
def one_hot(draw: Draw) -> Call:
    wrong = fault(draw, "depth", "axis", "dtypes", "value", "kind")
    common = ["int32", "int64", "uint8", "int8"]
    dtype = draws.dtype_of(pick(draw, draws.INTEGERS if chance(draw, 10) else common))
    depth = -1 if wrong == "depth" else integer(draw, 0, 4)
    shape = draws.shape(draw, 0, 2)
    indices = draws.indices(draw, shape, depth + 1, dtype, chance(draw, 30))
    if wrong == "kind":
        indices = draws.no_indices(draw, indices)
    args: dict[str, Any] = {"indices": indices, "depth": depth}
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
            args["dtype"] = draws.dtype_of("int32" if result.name != "int32" else "float32")
    if result.kind == "S" and chance(draw, 40):
        args["dtype"] = "string"
    order = ("indices", "depth", "on_value", "off_value", "axis", "dtype")
    # From the host values would take the dtype asked for.
    return draws.finish(draw, args, order, on_device=wrong == "dtypes")


UNIQUE = [*draws.BOOL, *draws.INTEGERS, *draws.FLOATS, *draws.RARE, *draws.STRINGS]


@st.composite
def unique(draw: Draw) -> Call:
    wrong = fault(draw, "rank", "out_idx", "dtype", percent=20)
    dtype = draws.dtype(draw, draws.COMPLEX if wrong == "dtype" else UNIQUE)
    shape = (integer(draw, 0, 9),)
    if wrong == "rank":
        shape = pick(draw, [(), (2, 2), (1, 3), (0, 2)])
    x = draws.array(draw, shape, dtype, pick(draw, ["finite", "summable", "all"]))
    args: dict[str, Any] = {"x": x}
    if chance(draw, 60) or wrong == "out_idx":
        kinds = ["float32", "int8", "bool"] if wrong == "out_idx" else ["int32", "int64"]
        args["out_idx"] = draws.dtype_of(pick(draw, kinds))
    call = draws.finish(draw, args, ("x", "out_idx"))
    # With the options of conftest.py XLA does not compile a constant of these.
    call.jit = call.jit and not dtype.name.startswith("float8")
    return call


@st.composite
def unique_slices(draw: Draw) -> Call:
    wrong = fault(draw, "axis", "dtype", percent=20)
    dtype = draws.dtype(draw, draws.COMPLEX if wrong == "dtype" else UNIQUE)
    shape = draws.shape(draw, 1, 3)
    x = draws.array(draw, shape, dtype, pick(draw, ["finite", "summable", "ordered"]))
    if x.dtype.kind in "biuf" and x.size and chance(draw, 60):  # few values, so that slices meet
        x = np.where(x > 0, x.reshape(-1)[0], x.reshape(-1)[-1]).astype(dtype)
    rank = len(shape)
    axis = pick(draw, [rank, -rank - 1]) if wrong == "axis" else integer(draw, -rank, rank - 1)
    call = draws.finish(draw, {"x": x}, ("x",), keywords={"axis": axis})
    call.jit = call.jit and not dtype.name.startswith("float8")
    return call


def _with_numbers(unique_v2):
    return lambda x, axis: list(unique_v2(x=x, axis=[axis]))


ENTRIES = {
    "unique-axis": Entry(
        jaxops.unique,
        _with_numbers(tf.raw_ops.UniqueV2),
        unique_slices(),
        ("x",),
        traced=(),
        no_kernel=frozenset(draws.RARE),
    ),
    "unique_with_counts-axis": Entry(
        jaxops.unique_with_counts,
        _with_numbers(tf.raw_ops.UniqueWithCountsV2),
        unique_slices(),
        ("x",),
        traced=(),
        no_kernel=frozenset(draws.RARE),
    ),
    "dynamic_partition": Entry(
        jaxops.dynamic_partition,
        tf.dynamic_partition,
        dynamic_partition(),
        ("data", "partitions"),
        indices=("partitions",),
        bounded=True,
        widest="int32",
        traced=("data",),
        differentiable=("data",),
        moves=True,
        no_kernel=frozenset(draws.RARE),
    ),
    "dynamic_stitch": Entry(
        jaxops.dynamic_stitch,
        tf.dynamic_stitch,
        dynamic_stitch(),
        ("indices", "data"),
        indices=("indices",),
        widest="int32",
        bounded=True,
        traced=("data",),
        differentiable=("data",),
        moves=True,
        no_kernel=frozenset(draws.RARE),
    ),
    "boolean_mask": Entry(
        jaxops.boolean_mask,
        tf.boolean_mask,
        boolean_mask(),
        ("tensor", "mask"),
        traced=("tensor",),
        differentiable=("tensor",),
        moves=True,
        no_kernel=frozenset(draws.INT4),
    ),
    "one_hot": Entry(
        jaxops.one_hot,
        tf.one_hot,
        one_hot(),
        ("indices", "on_value", "off_value"),
        indices=("indices",),
        moves=True,
        no_kernel=frozenset(draws.RARE),
    ),
    "unique": Entry(
        jaxops.unique,
        tf.unique,
        unique(),
        ("x",),
        traced=(),
        widens=True,
        no_kernel=frozenset(draws.RARE),
    ),
    "unique_with_counts": Entry(
        jaxops.unique_with_counts,
        tf.unique_with_counts,
        unique(),
        ("x",),
        traced=(),
        group="unique",
        widens=True,
        no_kernel=frozenset(draws.RARE),
    ),
}
