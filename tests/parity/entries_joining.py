"""Slicing and joining: slice, strided_slice, split, concat, stack, unstack, tile, pad, reverses."""

from __future__ import annotations

from typing import Any

import draws
import numpy as np
from calls import Call, Entry
from draws import Draw, axis, chance, fault, integer, pick
from hypothesis import strategies as st
from peer import tf

import jaxops


def operand(draw: Draw, low: int = 0, high: int = 3, dims=draws.DIMS) -> np.ndarray:
    return draws.array(draw, draws.shape(draw, low, high, dims), draws.dtype(draw, draws.MOVED))


@st.composite
def slice(draw: Draw) -> Call:
    x = operand(draw)
    wrong = fault(draw, "begin", "size", "length", "negative size")
    begin, size = [], []
    for dim in x.shape:
        start = integer(draw, 0, dim)
        begin.append(start)
        size.append(-1 if chance(draw, 25) else integer(draw, 0, dim - start))
    where = integer(draw, 0, x.ndim - 1) if x.ndim else 0
    if wrong == "begin" and x.ndim:
        begin[where] = pick(draw, [-1, x.shape[where] + 1])
    elif wrong == "size" and x.ndim:
        size[where] = x.shape[where] - begin[where] + pick(draw, [1, 3])
    elif wrong == "negative size" and x.ndim:
        size[where] = -2
    elif wrong == "length":
        (begin if chance(draw, 50) else size).append(0)
    args: dict[str, Any] = {"input_": x, "begin": begin, "size": size}
    traced = ("input_",)
    if chance(draw, 50) and len(begin):
        dtype = draws.index_dtype(draw)
        signed = dtype.kind == "i" or min(begin) >= 0
        args["begin"] = np.array(begin, dtype if signed else np.int32)
        if -1 not in size:  # else the size depends on begin
            traced = ("input_", "begin")
    return draws.finish(draw, args, ("input_", "begin", "size"), traced=traced)


@st.composite
def strided_slice(draw: Draw) -> Call:
    x = operand(draw, 1, 4, [2, 3, 1, 5, 0, 4])
    wrong = fault(draw, "stride", "index", "entries", "length", "ellipses", percent=20)
    begin, end, strides = [], [], []
    masks = dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    left = list(x.shape)
    for bit in range(integer(draw, 0, x.ndim)):
        kind = pick(draw, ["range", "range", "range", "index", "new", "ellipsis"])
        dim = left.pop(0) if kind in ("range", "index") and left else 1
        start, stop = integer(draw, -dim - 1, dim + 1), integer(draw, -dim - 1, dim + 1)
        step = pick(draw, [1, 1, 2, -1, -2, 3])
        if kind == "ellipsis" and not masks["ellipsis"]:
            masks["ellipsis"] |= 1 << bit
            # What comes after it counts from the end.
            left = left[: integer(draw, 0, len(left))]
        elif kind == "new":
            masks["new_axis"] |= 1 << bit
        elif kind == "index" and (dim or wrong == "index"):
            masks["shrink_axis"] |= 1 << bit
            start = (
                pick(draw, [dim, -dim - 1]) if wrong == "index" else integer(draw, -dim, dim - 1)
            )
            step = 1
            if masks["ellipsis"]:  # of the dimensions after it, which is not known here
                start = 0
        if chance(draw, 25):
            masks["begin"] |= 1 << bit
        if chance(draw, 25):
            masks["end"] |= 1 << bit
        begin.append(start)
        end.append(stop)
        strides.append(step)
    if wrong == "stride" and strides:
        strides[0] = 0
    elif wrong == "entries":
        extra = x.ndim + 1
        begin, end, strides = [[*v, *[n] * extra] for v, n in ((begin, 0), (end, 1), (strides, 1))]
    elif wrong == "length":
        end.append(1)
    elif wrong == "ellipses" and len(begin) > 1:
        masks["ellipsis"] = 3
    args: dict[str, Any] = {"input_": x, "begin": begin, "end": end}
    if any(step != 1 for step in strides) or chance(draw, 50):
        args["strides"] = strides
    names = ["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"]
    args |= {n: m for n, m in zip(names, masks.values(), strict=True) if m or chance(draw, 20)}
    return draws.finish(draw, args, ("input_", "begin", "end", "strides", *names))


@st.composite
def split(draw: Draw) -> Call:
    x = operand(draw, 1, 3, [2, 4, 1, 3, 0, 6])
    wrong = fault(draw, "axis", "sizes", "number", "two unknown", "num")
    where = axis(draw, x.ndim, wrong=wrong == "axis")
    dim = x.shape[where] if -x.ndim <= where < x.ndim else 2
    args: dict[str, Any] = {"value": x}
    if chance(draw, 50) and wrong not in ("sizes", "two unknown"):
        divisors = [n for n in (1, 2, 3, 4, 6) if dim % n == 0]
        args["num_or_size_splits"] = pick(draw, divisors)
        if wrong == "number":
            args["num_or_size_splits"] = pick(draw, [dim + 1, 0, -1])
    else:
        ends = sorted(integer(draw, 0, dim) for _ in range(integer(draw, 0, 2)))
        sizes = np.diff([0, *ends, dim]).tolist()
        if wrong == "sizes":
            sizes[0] += pick(draw, [1, -1, 5])
        elif wrong == "two unknown":
            sizes = [-1, *sizes, -1]
        elif chance(draw, 30):
            sizes[integer(draw, 0, len(sizes) - 1)] = -1
        args["num_or_size_splits"] = sizes
        if chance(draw, 20):
            args["num"] = len(sizes) + (wrong == "num")
    if where or chance(draw, 30):
        args["axis"] = where
    known = "split into [-1]" if args["num_or_size_splits"] == [-1] and wrong is None else None
    order = ("value", "num_or_size_splits", "axis", "num")
    return draws.finish(draw, args, order, known=known)


@st.composite
def concat(draw: Draw) -> Call:
    dtype = draws.dtype(draw, draws.MOVED)
    wrong = fault(draw, "axis", "shape", "rank", "dtype", "scalars", "none")
    shape = () if wrong == "scalars" else draws.shape(draw, 1, 3)
    where = axis(draw, len(shape), wrong=wrong == "axis")
    shapes = []
    for _ in range(0 if wrong == "none" else integer(draw, 1 if wrong is None else 2, 4)):
        part = list(shape)
        if part and wrong != "axis":
            part[where] = pick(draw, draws.DIMS)
        shapes.append(part)
    if wrong == "shape" and len(shape) > 1:
        shapes[-1][(where - 1) % len(shape)] += 1
    elif wrong == "rank":
        shapes[-1] = [1, *shapes[-1]]
    arrays = [draws.array(draw, s, dtype) for s in shapes]
    if wrong == "dtype":
        other = "int32" if dtype.name != "int32" else "float32"
        arrays[-1] = draws.array(draw, shapes[-1], draws.dtype_of(other))
    args: dict[str, Any] = {"values": arrays, "axis": where}
    # From the host values would take the other dtype.
    return draws.finish(draw, args, ("values", "axis"), on_device=wrong == "dtype")


@st.composite
def stack(draw: Draw) -> Call:
    dtype = draws.dtype(draw, draws.MOVED)
    shape = draws.shape(draw, 0, 3)
    wrong = fault(draw, "axis", "shape", "dtype")
    arrays = [draws.array(draw, shape, dtype) for _ in range(integer(draw, 1, 4))]
    if wrong == "shape":
        arrays.append(draws.array(draw, (*shape, 2), dtype))
    elif wrong == "dtype":
        other = "int32" if dtype.name != "int32" else "float32"
        arrays.append(draws.array(draw, shape, draws.dtype_of(other)))
    args: dict[str, Any] = {"values": arrays}
    if wrong == "axis" or chance(draw, 60):
        args["axis"] = axis(draw, len(shape) + 1, wrong=wrong == "axis")
    return draws.finish(draw, args, ("values", "axis"), on_device=wrong == "dtype")


@st.composite
def unstack(draw: Draw) -> Call:
    wrong = fault(draw, "axis", "num", "scalar")
    x = operand(draw, *((0, 0) if wrong == "scalar" else (1, 3)))
    where = axis(draw, x.ndim, wrong=wrong == "axis") if chance(draw, 60) or wrong == "axis" else 0
    args: dict[str, Any] = {"value": x}
    if where:
        args["axis"] = where
    if wrong == "num" or chance(draw, 40):
        dim = x.shape[where] if -x.ndim <= where < x.ndim else 1
        args["num"] = dim + (pick(draw, [1, -1]) if wrong == "num" else 0)
    known = "unstack into 0" if wrong == "num" and args["num"] == 0 and x.ndim else None
    return draws.finish(draw, args, ("value", "num", "axis"), known=known)


@st.composite
def tile(draw: Draw) -> Call:
    x = operand(draw, 0, 3)
    multiples = [pick(draw, [1, 2, 3, 1, 0]) for _ in x.shape]
    wrong = fault(draw, "length", "negative")
    if wrong == "length":
        multiples = [*multiples, 2] if chance(draw, 50) else multiples[1:]
    elif wrong == "negative" and multiples:
        multiples[0] = -1
    return draws.finish(draw, {"input": x, "multiples": multiples}, ("input", "multiples"))


@st.composite
def pad(draw: Draw) -> Call:
    x = operand(draw, 0, 3)
    wrong = fault(draw, "rows", "negative", "mirror", "mode")
    mode = pick(draw, ["CONSTANT", "CONSTANT", "REFLECT", "SYMMETRIC"])
    most = {"CONSTANT": 3, "REFLECT": -1, "SYMMETRIC": 0}[mode]
    paddings = []
    for dim in x.shape:
        limit = most if mode == "CONSTANT" else max(dim + most, 0)
        paddings.append([integer(draw, 0, limit), integer(draw, 0, limit)])
    if wrong == "rows":
        paddings = [*paddings, [0, 1]] if chance(draw, 50) else paddings[1:]
    elif wrong == "negative" and paddings:
        paddings[0][1] = -1
    elif wrong == "mirror" and paddings and mode != "CONSTANT":
        paddings[0][0] = x.shape[0] + most + 1
    if wrong == "mode":
        mode = pick(draw, ["EDGE", "", "WRAP"])
    args: dict[str, Any] = {"tensor": x, "paddings": paddings or np.zeros((0, 2), np.int32)}
    if mode != "CONSTANT" or chance(draw, 40):
        args["mode"] = mode.lower() if chance(draw, 20) else mode
    if mode == "CONSTANT" and chance(draw, 50):
        args["constant_values"] = draws.array(draw, (), x.dtype)
    return draws.finish(draw, args, ("tensor", "paddings", "mode", "constant_values"))


@st.composite
def reverse(draw: Draw) -> Call:
    x = operand(draw, 0, 4)
    wrong = fault(draw, "axis", "twice")
    chosen = draw(st.permutations(range(x.ndim)))[: integer(draw, 0, x.ndim)]
    axes = [a - x.ndim * chance(draw, 40) for a in chosen]
    if wrong == "axis" and x.ndim:
        axes.append(axis(draw, x.ndim, wrong=True))
    elif wrong == "twice" and axes:
        axes.append(axes[0])
    bad = len({a % x.ndim for a in axes}) < len(axes) or not all(
        -x.ndim <= a < x.ndim for a in axes
    )
    known = "reverse of nothing" if bad and x.size == 0 else None
    return draws.finish(draw, {"tensor": x, "axis": axes}, ("tensor", "axis"), known=known)


@st.composite
def reverse_sequence(draw: Draw) -> Call:
    x = operand(draw, 2, 4)
    wrong = fault(draw, "length", "axis", "same axis", "number", "no axis")
    seq, batch = draw(st.permutations(range(x.ndim)))[:2]
    if not chance(draw, 50):
        batch = 0
        seq = seq or 1
    number = x.shape[batch] + (wrong == "number")
    lengths = draws.indices(
        draw, (number,), x.shape[seq] + 1, draws.index_dtype(draw), wrong == "length"
    )
    args: dict[str, Any] = {"input": x, "seq_lengths": lengths, "seq_axis": seq}
    if batch or chance(draw, 30):
        args["batch_axis"] = batch
    if wrong == "axis":
        args[pick(draw, ["seq_axis", "batch_axis"])] = x.ndim
    elif wrong == "same axis":
        args["batch_axis"] = seq
    elif wrong == "no axis":
        del args["seq_axis"]
    return draws.finish(draw, args, ("input", "seq_lengths", "seq_axis", "batch_axis"))


def moving(ours, theirs, calls, data: str, *others: str, no_kernel=(), **options) -> Entry:
    return Entry(
        ours,
        theirs,
        calls,
        (data, *others),
        differentiable=(data,),
        moves=True,
        no_kernel=frozenset(no_kernel),
        **options,
    )


def of_ints(x):
    """A vector; TensorFlow makes floats of `[]`."""
    return np.zeros(0, np.int32) if isinstance(x, list) and not x else x


def _tf_slice(input_, begin, size):
    return tf.slice(input_, of_ints(begin), of_ints(size))


def _tf_strided_slice(input_, begin, end, strides=None, **masks):
    return tf.strided_slice(input_, of_ints(begin), of_ints(end), of_ints(strides), **masks)


INT4, RARE = draws.INT4, draws.RARE
ENTRIES = {
    "slice": moving(
        jaxops.slice, _tf_slice, slice(), "input_", "begin", indices=("begin",), no_kernel=INT4
    ),
    "strided_slice": moving(
        jaxops.strided_slice, _tf_strided_slice, strided_slice(), "input_", no_kernel=INT4
    ),
    "split": moving(jaxops.split, tf.split, split(), "value"),
    "concat": moving(jaxops.concat, tf.concat, concat(), "values", no_kernel=INT4),
    "stack": moving(jaxops.stack, tf.stack, stack(), "values", no_kernel=INT4),
    "unstack": moving(jaxops.unstack, tf.unstack, unstack(), "value", no_kernel=INT4),
    "tile": moving(jaxops.tile, tf.tile, tile(), "input", no_kernel=["uint16", *RARE]),
    "pad": moving(jaxops.pad, tf.pad, pad(), "tensor", "constant_values", no_kernel=RARE),
    "reverse": moving(jaxops.reverse, tf.reverse, reverse(), "tensor", no_kernel=RARE),
    "reverse_sequence": moving(
        jaxops.reverse_sequence,
        tf.reverse_sequence,
        reverse_sequence(),
        "input",
        "seq_lengths",
        indices=("seq_lengths",),
        no_kernel=RARE,
    ),
}
