"""Blocks and patches: space and batch, space and depth, patches of images."""

import draws
import numpy as np
from calls import Call
from draws import Args, Draw, chance, fault, integer, pick
from entries import RARE, compared
from peer import tf

BATCHES = RARE | {"bool", "complex64", "complex128", *draws.STRINGS}


@compared("space_to_batch", "space_to_batch_nd", moves=True, no_kernel=BATCHES)
def space_to_batch(draw: Draw) -> Args:
    return _blocks(draw, "paddings")


@compared("batch_to_space", "batch_to_space_nd", moves=True, no_kernel=BATCHES)
def batch_to_space(draw: Draw) -> Args:
    return _blocks(draw, "crops")


def _space_to_batch(input, paddings, block_size):
    return tf.raw_ops.SpaceToBatch(input=input, paddings=paddings, block_size=block_size)


def _batch_to_space(input, crops, block_size):
    return tf.raw_ops.BatchToSpace(input=input, crops=crops, block_size=block_size)


V0 = {"differentiable": ("input",), "moves": True, "no_kernel": BATCHES}


@compared("v0.space_to_batch", theirs=_space_to_batch, **V0)
def v0_space_to_batch(draw: Draw) -> Args:
    return _blocks(draw, "paddings", integer(draw, 2, 3))


@compared("v0.batch_to_space", theirs=_batch_to_space, **V0)
def v0_batch_to_space(draw: Draw) -> Args:
    return _blocks(draw, "crops", integer(draw, 2, 3))


def _blocks(draw: Draw, margins: str, of_v0: int | None = None) -> Args:
    """`of_v0` is the one size of the blocks of TensorFlow 0.x, which cuts two dimensions."""
    number = integer(draw, 0, 3)  # of dimensions that are cut
    block = [of_v0] * 2 if of_v0 else [pick(draw, [1, 2, 2, 3]) for _ in range(number)]
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
            before = min(before, blocks * side - bool(of_v0))
            after = min(after, blocks * side - before)
        pairs.append([before, after])
    batch = pick(draw, [1, 2, 0])
    if margins == "crops":
        batch *= int(np.prod(block))
    rest = (pick(draw, [1, 2, 0]),) if of_v0 else draws.shape(draw, 0, 1)
    if wrong == "size":
        if margins == "crops":
            batch += 1
        elif dims:
            dims[0] += 1
    elif wrong == "rows":
        pairs = [*pairs, [0, 0]] if chance(draw, 50) and not of_v0 else pairs[1:]
    elif wrong == "negative" and pairs:
        pairs[0][0] = -1
    elif wrong == "block" and block:
        block[0] = pick(draw, [1, 0, -1] if of_v0 else [0, -1])
    elif wrong == "rank":
        dims, rest = dims[1:], ()
    x = draws.array(draw, (batch, *dims, *rest), draws.dtype(draw, draws.MOVED))
    blocks = {"block_size": block[0]} if of_v0 else {"block_shape": block}
    return {"input": x, **blocks, margins: pairs or np.zeros((0, 2), np.int32)}


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


@compared("space_to_depth", theirs=any_format(tf.nn.space_to_depth), moves=True)
def space_to_depth(draw: Draw, from_depth: bool = False) -> Args:
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
    data_format = pick(draw, ["NHWC", "NHWC", "NCHW", "NCHW_VECT_C"])
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
    args: Args = {"input": x, "block_size": block}
    if wrong == "format":
        args["data_format"] = pick(draw, ["NWHC", "nhwc", ""])
    elif data_format != "NHWC" or chance(draw, 40):
        args["data_format"] = data_format
    return args


@compared("depth_to_space", theirs=any_format(tf.nn.depth_to_space), moves=True)
def depth_to_space(draw: Draw) -> Args:
    return space_to_depth(draw, from_depth=True)


PATCHES = RARE | {"bool", *draws.STRINGS}


@compared("extract_patches", "extract_image_patches", moves=True, no_kernel=PATCHES)
def extract_patches(draw: Draw) -> Call:
    wrong = fault(draw, "rank", "length", "outer", "zero", percent=15)
    shape = [pick(draw, [1, 2, 0]), *(pick(draw, [3, 4, 2, 5, 1, 0]) for _ in range(2))]
    shape.append(pick(draw, [1, 2, 0]))
    names = ("sizes", "strides", "rates")
    args: Args = {n: [1, pick(draw, [1, 2, 3]), pick(draw, [1, 2, 3]), 1] for n in names}
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
    x = args["images"] = draws.array(draw, shape, draws.dtype(draw, draws.MOVED))
    return Call(args, their_gradient_fails=x.size == 0)


@compared("required_space_to_batch_paddings")
def required_paddings(draw: Draw) -> Args:
    count = integer(draw, 0, 3)
    args: Args = {
        "input_shape": [integer(draw, 0, 9) for _ in range(count)],
        "block_shape": [integer(draw, 1, 4) for _ in range(count)],
    }
    if chance(draw, 50):
        args["base_paddings"] = [[integer(draw, 0, 3) for _ in range(2)] for _ in range(count)]
    if fault(draw, "length") and count:
        args["input_shape"] = args["input_shape"][1:]
    return args
