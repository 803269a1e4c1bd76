"""Slicing and joining: slice, strided_slice, split, concat, stack, unstack, tile, pad, reverses."""

import builtins
from typing import Any

import draws
import numpy as np
from calls import Call
from draws import Args, Draw, axis, chance, fault, integer, pick
from entries import RARE, compared
from peer import tf

import jaxops

INT4 = frozenset(draws.INT4)


def of_ints(x, dtype: Any = np.int64):
    """As an array, since TensorFlow makes floats of `[]`, and int32s of what they cannot hold."""
    if isinstance(x, np.ndarray) or all(type(i) is int for i in x):
        return np.asarray(x, dtype)
    return x


def _tf_slice(input_, begin, size):
    begin = of_ints(begin) if isinstance(begin, list) else begin
    is_int32 = not isinstance(begin, list) and tf.as_dtype(begin.dtype) == tf.int32
    return tf.slice(input_, begin, of_ints(size, np.int32 if is_int32 else np.int64))


@compared("slice", theirs=_tf_slice, bounded=True, moves=True, no_kernel=INT4)
def slice(draw: Draw) -> Call:
    x = draws.operand(draw)
    wrong = fault(draw, *["begin", "size"] * 2, "length", "negative size", percent=30)
    begin, size = [], []
    for dim in x.shape:
        start = integer(draw, 0, dim)
        begin.append(start)
        size.append(-1 if chance(draw, 25) else integer(draw, 0, dim - start))
    where = integer(draw, 0, x.ndim - 1) if x.ndim else 0
    if wrong == "begin" and x.ndim:
        begin[where] = pick(draw, [-1, x.shape[where] + 1, 2**31 - 1, -(2**31)])
    elif wrong == "size" and x.ndim:
        size[where] = x.shape[where] - begin[where] + pick(draw, [1, 3, 2**31 - 10])
    elif wrong == "negative size" and x.ndim:
        size[where] = -2
    elif wrong == "length":
        (begin if chance(draw, 50) else size).append(0)
    args: Args = {"input_": x, "begin": begin, "size": size}
    traced = ("input_",)
    if chance(draw, 50) and len(begin):
        dtype = draws.index_dtype(draw)
        info = np.iinfo(dtype)
        fits = info.min <= min(begin) and max(begin) <= info.max
        args["begin"] = np.array(begin, dtype if fits else np.int32)
        if -1 not in size:  # else the size depends on begin
            traced = ("input_", "begin")
    return Call(args, traced=traced)


def _tf_strided_slice(input_, begin, end, strides=None, **masks):
    strides = None if strides is None else of_ints(strides)
    return tf.strided_slice(input_, of_ints(begin), of_ints(end), strides, **masks)


FAR = [2**31 - 1, -(2**31), 2**31, 2**40, -(2**40), 2**63 - 1, -(2**63) + 1]


@compared("strided_slice", theirs=_tf_strided_slice, bounded=True, moves=True, no_kernel=INT4)
def strided_slice(draw: Draw) -> Args:
    x = (
        draws.operand(draw, 1, 4, [2, 3, 1, 5, 0, 4])
        if chance(draw, 95)
        else draws.operand(draw, 0, 0)
    )
    faults = ("stride", "index", "index", "single stride", "entries", "length", "ellipses")
    wrong = fault(draw, *faults, percent=30)
    begin, end, strides = [], [], []
    masks = dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    left = list(x.shape)
    for bit in range(integer(draw, 0, x.ndim + chance(draw, 20))):
        kind = pick(draw, ["range", "range", "range", "index", "new", "ellipsis"])
        if (wrong == "index" and not masks["shrink_axis"]) or wrong == "single stride":
            kind = "index"
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
            step = pick(draw, [1, 1, 2])
            if wrong == "single stride":
                step = -1
            if masks["ellipsis"]:  # of the dimensions after it, which is not known here
                start = 0
        elif chance(draw, 10):
            start, stop, step = (pick(draw, [v, *FAR]) for v in (start, stop, step))
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
    if chance(draw, 8):  # a bit beyond the entries
        masks[pick(draw, list(masks))] |= 1 << (len(begin) + integer(draw, 0, 3))
    args: Args = {"input_": x, "begin": begin, "end": end}
    if any(step != 1 for step in strides) or chance(draw, 50):
        args["strides"] = strides
    names = ["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"]
    args |= {n: m for n, m in zip(names, masks.values(), strict=True) if m or chance(draw, 20)}
    return args


def _indexed(input_, index):
    spec = jaxops.strided_slice_spec(index)
    return jaxops.strided_slice(input_, *jaxops.strided_slice_spec(spec.to_index()))


@compared(
    "strided_slice_spec",
    ours=_indexed,
    theirs=lambda input_, index: input_[index],
    data=("input_",),
    differentiable=("input_",),
    bounded=True,
    moves=True,
    no_kernel=INT4,
)
def strided_slice_spec(draw: Draw) -> Args:
    """Of Python's indexing: a slice of what it encodes."""
    x = draws.operand(draw, 0, 4, [2, 3, 1, 5, 0, 4])
    wrong = fault(draw, "index", "entries", "ellipses", "step", "kind")
    index: list[Any] = []
    for dim in x.shape[: integer(draw, 0, x.ndim)]:
        kind = pick(draw, ["range", "range", "index", "new", "ellipsis"])
        if kind == "range" or dim == 0:
            parts = [integer(draw, -dim - 1, dim + 1) for _ in range(2)]
            parts.append(pick(draw, [1, 2, -1, -2, 3, *FAR[:3]]))
            index.append(builtins.slice(*(None if chance(draw, 40) else p for p in parts)))
        elif kind == "index" and ... not in index:
            index.append(integer(draw, -dim, dim - 1))
        elif kind == "new":
            index.append(None)
        elif ... not in index:
            index.append(...)
    if wrong == "index" and x.ndim:
        index = [pick(draw, [x.shape[0], -x.shape[0] - 1]), *index[1:]]
    elif wrong == "entries":
        index += [0] * (x.ndim + 1)
    elif wrong == "ellipses":
        index = [..., *index, ...]
    elif wrong == "step" and x.ndim:
        index = [builtins.slice(None, None, 0), *index[1:]]
    elif wrong == "kind":
        index = [pick(draw, [1.0, "0", builtins.slice(0.0, 1), builtins.slice(0, "1")]), *index[1:]]
    entry = index[0] if len(index) == 1 and chance(draw, 50) else tuple(index)
    return {"input_": x, "index": entry}


@compared("split", moves=True)
def split(draw: Draw) -> Call:
    x = draws.operand(draw, 1, 3, [2, 4, 1, 3, 0, 6])
    wrong = fault(draw, "axis", "sizes", "number", "two unknown", "num", "scalar", "none")
    if wrong == "scalar":
        x = draws.operand(draw, 0, 0)
    where = axis(draw, x.ndim, wrong=wrong == "axis")
    dim = x.shape[where] if -x.ndim <= where < x.ndim else 2
    args: Args = {"value": x}
    if chance(draw, 50) and wrong not in ("sizes", "two unknown", "none"):
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
        args["num_or_size_splits"] = [] if wrong == "none" else sizes
        if chance(draw, 20):
            args["num"] = len(sizes) + (wrong == "num")
    args["axis"] = where
    known = None
    if args["num_or_size_splits"] == [-1] and wrong not in ("axis", "num", "scalar"):
        known = "split into [-1]"
    return Call(args, known=known)


@compared("concat", moves=True, no_kernel=INT4)
def concat(draw: Draw) -> Args:
    dtype = draws.dtype(draw, draws.MOVED)
    wrong = fault(draw, "axis", "shape", "rank", "scalars", "none", "axis list")
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
    return {"values": arrays, "axis": [where] if wrong == "axis list" else where}


@compared("stack", moves=True, no_kernel=INT4)
def stack(draw: Draw) -> Call:
    dtype = draws.dtype(draw, draws.MOVED)
    shape = draws.shape(draw, 0, 3)
    wrong = fault(draw, "axis", "shape", "none", percent=20)
    number = 0 if wrong == "none" else integer(draw, 1, 4)
    arrays = [draws.array(draw, shape, dtype) for _ in range(number)]
    if wrong == "shape":
        arrays.append(draws.array(draw, (*shape, 2), dtype))
    where = axis(draw, len(shape) + 1, wrong=wrong == "axis") if wrong or chance(draw, 60) else 0
    known = "stack of nothing" if wrong == "none" and not where else None
    return Call({"values": arrays, "axis": where}, known=known)


def _tf_parallel_stack(values):
    """In a graph only, and without a gradient."""
    return tf.function(tf.parallel_stack)(values)


@compared("parallel_stack", theirs=_tf_parallel_stack, differentiable=(), moves=True)
def parallel_stack(draw: Draw) -> Args:
    # TensorFlow's graph has no kernel for the others.
    dtype = draws.dtype(draw, [name for name in draws.MOVED if name not in RARE])
    shape = draws.shape(draw, 0, 3)
    wrong = fault(draw, "shape", "none")
    number = 0 if wrong == "none" else integer(draw, 1, 4)
    arrays = [draws.array(draw, shape, dtype) for _ in range(number)]
    if wrong == "shape" and number:
        arrays.append(draws.array(draw, (*shape, 2), dtype))
    return {"values": arrays}


@compared("unstack", moves=True, no_kernel=INT4)
def unstack(draw: Draw) -> Call:
    wrong = fault(draw, "axis", "num", "scalar")
    x = draws.operand(draw, *((0, 0) if wrong == "scalar" else (1, 3)))
    where = axis(draw, x.ndim, wrong=wrong == "axis") if chance(draw, 60) or wrong == "axis" else 0
    args: Args = {"value": x, "axis": where}
    if wrong == "num" or chance(draw, 40):
        dim = x.shape[where] if -x.ndim <= where < x.ndim else 1
        args["num"] = dim + (pick(draw, [1, -1]) if wrong == "num" else 0)
    known = "unstack into 0" if wrong == "num" and args["num"] == 0 and x.ndim else None
    return Call(args, known=known)


@compared("tile", moves=True, no_kernel=RARE | {"uint16"})
def tile(draw: Draw) -> Args:
    x = draws.operand(draw, 0, 3)
    multiples = [pick(draw, [1, 2, 3, 1, 0]) for _ in x.shape]
    wrong = fault(draw, "length", "negative", "scalar")
    if wrong == "scalar":
        multiples = 2
    elif wrong == "length":
        multiples = [*multiples, 2] if chance(draw, 50) else multiples[1:]
    elif wrong == "negative" and multiples:
        multiples[0] = -1
    return {"input": x, "multiples": multiples}


@compared("pad", moves=True)
def pad(draw: Draw) -> Call:
    x = draws.operand(draw, 0, 3)
    wrong = fault(draw, "rows", "columns", "negative", "mirror", "mode", "rank", "constant")
    mode = pick(draw, ["CONSTANT", "CONSTANT", "REFLECT", "SYMMETRIC"])
    most = {"CONSTANT": 3, "REFLECT": -1, "SYMMETRIC": 0}[mode]
    paddings = []
    for dim in x.shape:
        limit = most if mode == "CONSTANT" else max(dim + most, 0)
        paddings.append([integer(draw, 0, limit), integer(draw, 0, limit)])
    if wrong == "rows":
        paddings = [*paddings, [0, 1]] if chance(draw, 50) else paddings[1:]
    elif wrong == "columns":
        paddings = [row[:1] if chance(draw, 50) else [*row, 0] for row in paddings]
    elif wrong == "rank":
        paddings = [n for row in paddings for n in row]
    elif wrong == "negative" and paddings:
        paddings[0][1] = -1
    elif wrong == "mirror" and paddings and mode != "CONSTANT":
        paddings[0][0] = x.shape[0] + most + 1
    if wrong == "mode":
        mode = pick(draw, ["EDGE", "", "WRAP"])
    args: Args = {"tensor": x, "paddings": paddings or np.zeros((0, 2), np.int32)}
    if mode != "CONSTANT" or chance(draw, 40):
        args["mode"] = mode.lower() if chance(draw, 20) else mode
    if chance(draw, 50 if mode == "CONSTANT" else 10):  # the other modes look at none
        args["constant_values"] = draws.array(draw, (2,) if wrong == "constant" else (), x.dtype)
    # TensorFlow gets a tensor, whose -0.0 keeps its sign; of NumPy's neither of the two keeps it.
    on_device = "constant_values" in args and not np.any(args["constant_values"])
    return Call(args, on_device=on_device, their_gradient_fails=x.size == 0)


@compared("reverse", moves=True, vectors=())
def reverse(draw: Draw) -> Call:
    x = draws.operand(draw, 0, 4)
    wrong = fault(draw, "axis", "twice", "scalar", "nested")
    chosen = draws.shuffled(draw, range(x.ndim))[: integer(draw, 0, x.ndim)]
    axes = [a - x.ndim * chance(draw, 40) for a in chosen]
    if wrong == "axis" and x.ndim:
        axes.append(axis(draw, x.ndim, wrong=True))
    elif wrong == "twice" and axes:
        axes.append(axes[0])
    elif wrong in ("scalar", "nested") and x.ndim:
        args = {"tensor": x, "axis": 0 if wrong == "scalar" else [[0]]}
        return Call(args, known=None if x.size else "reverse of nothing")
    inside = all(-x.ndim <= a < x.ndim for a in axes)
    bad = not inside or len({a % x.ndim for a in axes}) < len(axes)
    args = {"tensor": x, "axis": axes}
    return Call(args, known="reverse of nothing" if bad and x.size == 0 else None)


def _reverse(tensor, dims=None, axis=None):
    if axis is not None:
        return tf.reverse(tensor, axis)
    return tf.raw_ops.Reverse(tensor=tensor, dims=tf.constant(dims, tf.bool))


@compared(
    "v0.reverse",
    theirs=_reverse,
    data=("tensor",),
    differentiable=("tensor",),
    moves=True,
    vectors=(),
)
def v0_reverse(draw: Draw) -> Call:
    if chance(draw, 40):
        return reverse(draw)
    x = draws.operand(draw, 0, 4)
    flags = [chance(draw, 50) for _ in range(x.ndim)]
    if fault(draw, "length"):
        flags = [*flags, True] if chance(draw, 50) or not flags else flags[1:]
    known = "v0.reverse of a scalar" if x.ndim == 0 and flags else None
    if x.shape[:1] == (0,) and len(flags) == x.ndim:
        known = "v0.reverse of nothing"
    return Call({"tensor": x, "dims": flags}, known=known)


@compared("reverse_sequence", bounded=True, moves=True)
def reverse_sequence(draw: Draw) -> Args:
    x = draws.operand(draw, 2, 4)
    faults = ["axis", "same axis", "number", "no axis", "rank", "vector"]
    wrong = fault(draw, *["length"] * 8, *faults, percent=35)
    seq, batch = draws.shuffled(draw, range(x.ndim))[:2]
    if not chance(draw, 50):
        batch = 0
        seq = seq or 1
    number = x.shape[batch] + (wrong == "number")
    lengths = draws.indices(
        draw, (number,), x.shape[seq] + 1, draws.index_dtype(draw), wrong == "length"
    )
    if wrong == "rank":
        lengths = lengths.reshape(1, -1)
    elif wrong == "vector":
        x = draws.operand(draw, 1, 1)
    args: Args = {"input": x, "seq_lengths": lengths, "seq_axis": seq, "batch_axis": batch}
    if wrong == "axis":
        args[pick(draw, ["seq_axis", "batch_axis"])] = pick(draw, [x.ndim, -x.ndim - 1, -1])
    elif wrong == "same axis":
        args["batch_axis"] = seq
    elif wrong == "no axis":
        del args["seq_axis"]
    return args
