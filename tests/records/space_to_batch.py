"""What is known of the functions of `_ops/space_to_batch.py`."""

import numpy as np

import jaxops
from records.arguments import IMAGES, PADS
from records.loops import array_case, evaluated
from records.record import Record


def batch_moves(block_shape, batch, dims):
    """Pairs `(at in batches, at in space)`, without the dimensions after space."""
    for b, position in np.ndindex(batch, int(np.prod(dims, initial=1))):
        at = np.unravel_index(position, dims) if dims else ()
        place = 0
        for i, block in zip(at, block_shape, strict=True):
            place = place * block + i % block
        outer = tuple(i // block for i, block in zip(at, block_shape, strict=True))
        yield (place * batch + b, *outer), (b, *at)


def space_to_batch(x, block_shape, paddings):
    m = len(block_shape)
    dims = tuple(d + low + high for d, (low, high) in zip(x.shape[1:], paddings, strict=False))
    outer = tuple(d // block for d, block in zip(dims, block_shape, strict=True))
    blocks = int(np.prod(block_shape, initial=1))
    out = np.zeros((x.shape[0] * blocks, *outer, *x.shape[1 + m :]), x.dtype)
    for in_batches, (b, *at) in batch_moves(block_shape, x.shape[0], dims):
        at = [i - low for i, (low, _) in zip(at, paddings, strict=True)]
        if all(0 <= i < d for i, d in zip(at, x.shape[1:], strict=False)):
            out[in_batches] = x[(b, *at)]
    return out


def batch_to_space(x, block_shape, crops):
    block_shape = np.broadcast_to(block_shape, len(crops))
    m = len(block_shape)
    dims = tuple(d * block for d, block in zip(x.shape[1:], block_shape, strict=False))
    batch = x.shape[0] // int(np.prod(block_shape, initial=1))
    kept = tuple(d - low - high for d, (low, high) in zip(dims, crops, strict=True))
    out = np.zeros((batch, *kept, *x.shape[1 + m :]), x.dtype)
    for in_batches, (b, *at) in batch_moves(block_shape, batch, dims):
        at = [i - low for i, (low, _) in zip(at, crops, strict=True)]
        if all(0 <= i < d for i, d in zip(at, kept, strict=True)):
            out[(b, *at)] = x[in_batches]
    return out


def to_batch(op, *arguments):
    return array_case(op, space_to_batch, *arguments)


def to_space(op, *arguments):
    return array_case(op, batch_to_space, *arguments)


CALL = {"input": ("data", IMAGES), "block_shape": ("ints", [2, 2])}
CROPPED = {"input": ("data", IMAGES), "block_shape": ("ints, int or ints", [2, 2]), "crops": PADS}
RECORDS = {
    "batch_to_space": Record(
        call=CROPPED,
        cases={
            "cropped": to_space(jaxops.batch_to_space, (4, 2, 1, 1), [2, 2], [[1, 0], [0, 1]]),
            "all-cropped": to_space(jaxops.batch_to_space, (4, 2, 2, 1), [2, 2], [[3, 1], [0, 0]]),
            "one-dim": to_space(jaxops.batch_to_space, (6, 2), [3], [[0, 0]]),
            "square": to_space(jaxops.batch_to_space, (4, 2, 3, 1), 2, [[0, 1], [1, 0]]),
        },
        exports=[evaluated(jaxops.batch_to_space, "(x, [2, 2], [[0, 0], [1, 0]])", "4*n, a, b, c")],
        row="Slicing and joining | `batch_to_space` | static but `input` | `space_to_batch` | -",
    ),
    "batch_to_space_nd": Record(
        call=CROPPED,
        cases={"image": to_space(jaxops.batch_to_space_nd, (4, 1, 2), [2, 2], [[0, 0], [0, 0]])},
        exports=[
            evaluated(jaxops.batch_to_space_nd, "(x, [2, 2], [[0, 0], [1, 0]])", "4*n, a, b, c")
        ],
        row="Slicing and joining | `batch_to_space_nd` | static but `input` | `space_to_batch` | -",
    ),
    "space_to_batch": Record(
        call={**CALL, "paddings": PADS},
        cases={
            "padded": to_batch(jaxops.space_to_batch, (1, 3, 1, 2), [2, 3], [[1, 0], [0, 2]]),
            "one-dim": to_batch(jaxops.space_to_batch, (3, 2, 2), [2], [[0, 0]]),
            "empty-space": to_batch(jaxops.space_to_batch, (1, 0, 2, 1), [2, 2], [[1, 1], [0, 0]]),
        },
        exports=[
            evaluated(jaxops.space_to_batch, "(x, [2, 2], [[0, 0], [1, 1]])", "n, 2*a, 2*b, c")
        ],
        row="Slicing and joining | `space_to_batch` | static but `input` | `batch_to_space` | -",
    ),
    "required_space_to_batch_paddings": Record(
        call={
            "input_shape": ("ints", [5, 6]),
            "block_shape": ("ints", [2, 4]),
            "base_paddings": ("pairs, [2, 2]", [[0, 0], [0, 0]]),
        },
        row=(
            "Slicing and joining | `required_space_to_batch_paddings` | known at trace time | - | -"
        ),
    ),
    "space_to_batch_nd": Record(
        call={**CALL, "paddings": PADS},
        cases={"image": to_batch(jaxops.space_to_batch_nd, (1, 2, 2), [2, 2], [[0, 0], [0, 0]])},
        exports=[
            evaluated(jaxops.space_to_batch_nd, "(x, [2, 2], [[0, 0], [1, 1]])", "n, 2*a, 2*b, c")
        ],
        row="Slicing and joining | `space_to_batch_nd` | static but `input` | `batch_to_space` | -",
    ),
}
