"""Blocks and patches: space and batch, space and depth, patches of images."""

from __future__ import annotations

from typing import Any

import draws
import numpy as np
from calls import Call, Entry
from draws import Draw, chance, fault, integer, pick
from hypothesis import strategies as st
from peer import tf

import jaxops


@st.composite
def space_to_batch(draw: Draw) -> Call:
    return draws.finish(draw, _blocks(draw, "paddings"), ("input", "block_shape", "paddings"))


@st.composite
def batch_to_space(draw: Draw) -> Call:
    return draws.finish(draw, _blocks(draw, "crops"), ("input", "block_shape", "crops"))


def _blocks(draw: Draw, margins: str) -> dict:
    dtype = draws.dtype(draw, draws.MOVED)
    number = integer(draw, 0, 3)  # of dimensions that are cut
    block = [pick(draw, [1, 2, 2, 3]) for _ in range(number)]
    wrong = fault(draw, "size", "rows", "negative", "block", "rank")
    pairs, dims = [], []
    for side in block:
        before, after = integer(draw, 0, 2), integer(draw, 0, 2)
        blocks = pick(draw, [1, 2, 1, 3])
        if margins == "paddings":
            dims.append(max(side * blocks - before - after, 0))
            after += (-dims[-1] - before - after) % side
        else:
            dims.append(blocks)
            before = min(before, blocks * side)
            after = min(after, blocks * side - before)
        pairs.append([before, after])
    batch = pick(draw, [1, 2, 0])
    if margins == "crops":
        batch *= int(np.prod(block))
    rest = draws.shape(draw, 0, 1)
    if wrong == "size":
        if margins == "crops":
            batch += 1
        elif dims:
            dims[0] += 1
    elif wrong == "rows":
        pairs = [*pairs, [0, 0]] if chance(draw, 50) else pairs[1:]
    elif wrong == "negative" and pairs:
        pairs[0][0] = -1
    elif wrong == "block" and block:
        block[0] = pick(draw, [0, -1])
    elif wrong == "rank":
        dims, rest = dims[1:], ()
    x = draws.array(draw, (batch, *dims, *rest), dtype)
    return {"input": x, "block_shape": block, margins: pairs or np.zeros((0, 2), np.int32)}


FORMATS = ["NHWC", "NHWC", "NCHW", "NCHW_VECT_C"]


@st.composite
def space_to_depth(draw: Draw) -> Call:
    return draws.finish(draw, _depth(draw, False), ("input", "block_size", "data_format"))


@st.composite
def depth_to_space(draw: Draw) -> Call:
    return draws.finish(draw, _depth(draw, True), ("input", "block_size", "data_format"))


def _depth(draw: Draw, from_depth: bool) -> dict:
    wrong = fault(draw, "size", "rank", "block", "format")
    block = integer(draw, 2, 3)
    height, width, depth = (pick(draw, [1, 2, 1, 0]) for _ in range(3))
    if from_depth:
        depth *= block**2
    else:
        height, width = height * block, width * block
    if wrong == "size":
        height, depth = height + (not from_depth), depth + from_depth
    batch = pick(draw, [1, 2, 0])
    data_format = pick(draw, FORMATS)
    shape = {
        "NHWC": (batch, height, width, depth),
        "NCHW": (batch, depth, height, width),
        "NCHW_VECT_C": (batch, depth, height, width, 4),
    }[data_format]
    if wrong == "rank":
        shape = shape[1:] if chance(draw, 50) else (1, *shape)
    elif wrong == "block":
        block = pick(draw, [1, 0, -1])
    x = draws.array(draw, shape, draws.dtype(draw, draws.MOVED))
    args: dict[str, Any] = {"input": x, "block_size": block}
    if wrong == "format":
        args["data_format"] = pick(draw, ["NWHC", "nhwc", ""])
    elif data_format != "NHWC" or chance(draw, 40):
        args["data_format"] = data_format
    return args


def any_format(function):
    """TensorFlow's function in the two data formats that it has on GPUs only, by way of NHWC."""

    def call(input, block_size, data_format="NHWC"):
        if data_format == "NCHW" and len(input.shape) == 4:
            result = function(tf.transpose(input, [0, 2, 3, 1]), block_size)
            return tf.transpose(result, [0, 3, 1, 2])
        if data_format == "NCHW_VECT_C" and len(input.shape) == 5 and input.shape[4] == 4:
            lanes = [call(lane, block_size, "NCHW") for lane in tf.unstack(input, axis=4)]
            return tf.stack(lanes, axis=4)
        return function(input, block_size, data_format)

    return call


@st.composite
def extract_patches(draw: Draw) -> Call:
    wrong = fault(draw, "rank", "length", "outer", "zero", "padding", percent=20)
    dtype = draws.dtype(draw, draws.MOVED)
    shape = [pick(draw, [1, 2, 0]), *(pick(draw, [3, 4, 2, 5, 1, 0]) for _ in range(2))]
    shape.append(pick(draw, [1, 2, 0]))
    names = ("sizes", "strides", "rates")
    args: dict[str, Any] = {n: [1, pick(draw, [1, 2, 3]), pick(draw, [1, 2, 3]), 1] for n in names}
    args["rates"] = [1, pick(draw, [1, 1, 2]), pick(draw, [1, 1, 2]), 1]
    chosen = args[pick(draw, names)]
    if wrong == "rank":
        shape = shape[1:]
    elif wrong == "length":
        chosen.pop()
    elif wrong == "outer":
        chosen[pick(draw, [0, 3])] = 2
    elif wrong == "zero":
        chosen[1] = pick(draw, [0, -1])
    args["padding"] = "FULL" if wrong == "padding" else pick(draw, ["VALID", "SAME"])
    args["images"] = draws.array(draw, shape, dtype)
    fails = args["images"].size == 0
    return draws.finish(draw, args, ("images", *names, "padding"), their_gradient_fails=fails)


def blocks(ours, theirs, calls, data: str = "input", **options) -> Entry:
    return Entry(ours, theirs, calls, (data,), differentiable=(data,), moves=True, **options)


BATCHES = frozenset(["bool", "complex64", "complex128", *draws.RARE, *draws.STRINGS])
DEPTHS = frozenset(draws.RARE)
PATCHES = frozenset(["bool", *draws.RARE, *draws.STRINGS])


@st.composite
def required_paddings(draw: Draw) -> Call:
    count = integer(draw, 0, 3)
    args: dict[str, Any] = {
        "input_shape": [integer(draw, 0, 9) for _ in range(count)],
        "block_shape": [integer(draw, 1, 4) for _ in range(count)],
    }
    if chance(draw, 50):
        args["base_paddings"] = [[integer(draw, 0, 3) for _ in range(2)] for _ in range(count)]
    if fault(draw, "length") and count:
        args["input_shape"] = args["input_shape"][1:]
    return Call(args, positional=integer(draw, 0, len(args)))


ENTRIES = {
    "required_space_to_batch_paddings": Entry(
        jaxops.required_space_to_batch_paddings,
        tf.required_space_to_batch_paddings,
        required_paddings(),
        (),
    ),
    "space_to_batch": blocks(
        jaxops.space_to_batch, tf.space_to_batch, space_to_batch(), no_kernel=BATCHES
    ),
    "space_to_batch_nd": blocks(
        jaxops.space_to_batch_nd,
        tf.space_to_batch_nd,
        space_to_batch(),
        group="space_to_batch",
        no_kernel=BATCHES,
    ),
    "batch_to_space": blocks(
        jaxops.batch_to_space, tf.batch_to_space, batch_to_space(), no_kernel=BATCHES
    ),
    "batch_to_space_nd": blocks(
        jaxops.batch_to_space_nd,
        tf.compat.v1.batch_to_space_nd,
        batch_to_space(),
        group="batch_to_space",
        no_kernel=BATCHES,
    ),
    "space_to_depth": blocks(
        jaxops.space_to_depth,
        any_format(tf.nn.space_to_depth),
        space_to_depth(),
        no_kernel=DEPTHS,
    ),
    "depth_to_space": blocks(
        jaxops.depth_to_space,
        any_format(tf.nn.depth_to_space),
        depth_to_space(),
        no_kernel=DEPTHS,
    ),
    "extract_image_patches": blocks(
        jaxops.extract_image_patches,
        tf.image.extract_patches,
        extract_patches(),
        "images",
        group="extract_patches",
        no_kernel=PATCHES,
    ),
    "extract_patches": blocks(
        jaxops.extract_patches,
        tf.image.extract_patches,
        extract_patches(),
        "images",
        no_kernel=PATCHES,
    ),
}
