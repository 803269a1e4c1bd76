"""Programs whose outputs, parts, windows or ranks grow, for what growth.py compiles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from row import floats, ints, permutation
from rows_blocks import (
    jnp_batch_to_space,
    jnp_depth_to_space,
    jnp_patches,
    jnp_space_to_batch,
    jnp_space_to_depth,
)
from rows_partition import jnp_mask_with_size, jnp_partition_with_size

import jaxops

MANY = (2, 8, 32, 128)  # XLA takes half a minute for 256 outputs
SQUARES = (4, 16, 64, 256)
RANKS = (1, 2, 4, 8)
EDGES = [[0, 0], [0, 0]]


class Program(NamedTuple):
    """Functions of `arguments(count)`, and their compilation for growing counts.

    `jaxops(count)` and `jnp(count)` give the functions, which leave the same answer. The first
    `differentiated` arguments have gradients, whose program is compiled too.
    """

    op: str
    grows: str  # what there are `count` of
    arguments: Callable[[int], tuple[Any, ...]]
    jaxops: Callable[[int], Callable[..., Any]]
    jnp: Callable[[int], Callable[..., Any]]
    counts: tuple[int, ...] = MANY
    differentiated: int = 1

    @property
    def name(self) -> str:
        return f"{self.op}: {self.grows}"


def vector(count):
    return (floats(count * 8),)


def several(count):
    return ([floats(8, 4) + k % 7 for k in range(count)],)


def cube(rank):
    """Of 256 elements, whatever its rank."""
    return (floats(*[2] * (rank - 1), 2 ** (9 - rank)),)


def image(count):
    """For `count` windows or blocks, which are squares."""
    side = math.isqrt(count)
    return (floats(1, 4 * side, 4 * side, 2),)


def stitched(count):
    places = permutation(8 * count).reshape(count, 8)
    return [floats(8, 4) + k % 7 for k in range(count)], [*places]


def indexed(rank):
    (x,) = cube(rank)
    return x, np.stack([ints(size, 16) for size in x.shape], -1)


def in_squares(op, arguments, ours, theirs):
    """Functions of an image and of the side of a window or block, for counts of these."""
    return Program(
        op,
        "windows",
        arguments,
        jaxops=lambda count: lambda x: ours(x, math.isqrt(count)),
        jnp=lambda count: lambda x: theirs(x, math.isqrt(count)),
        counts=SQUARES,
    )


def patches(x, side):
    return jaxops.extract_patches(x, [1, side, side, 1], [1] * 4, [1] * 4, "VALID")


def columns(indices):
    return tuple(indices[:, k] for k in range(indices.shape[1]))


OUTPUTS = [
    Program(
        "split",
        "outputs",
        vector,
        jaxops=lambda count: lambda x: jaxops.split(x, count),
        jnp=lambda count: lambda x: jnp.split(x, count),
    ),
    Program(
        "split",
        "outputs of two sizes, last axis",
        lambda count: (floats(4, count * 8),),
        jaxops=lambda count: lambda x: jaxops.split(x, [7, 9] * (count // 2), -1),
        jnp=lambda count: lambda x: jnp.split(x, np.cumsum([7, 9] * (count // 2))[:-1], -1),
    ),
    Program(
        "unstack",
        "outputs",
        lambda count: (floats(count, 8),),
        jaxops=lambda count: lambda x: jaxops.unstack(x),
        jnp=lambda count: lambda x: list(jnp.unstack(x)),
    ),
    Program(
        "dynamic_partition",
        "outputs",
        lambda count: (floats(count * 8, 4), ints(count, count * 8)),
        jaxops=lambda count: lambda x, p: jaxops.dynamic_partition(x, p, count, size=32),
        jnp=lambda count: lambda x, p: jnp_partition_with_size(x, p, count, 32),
    ),
    Program(
        "meshgrid",
        "outputs",
        lambda rank: ([floats(2)] * rank,),
        jaxops=lambda rank: lambda xs: jaxops.meshgrid(*xs),
        jnp=lambda rank: lambda xs: jnp.meshgrid(*xs),
        counts=RANKS,
    ),
]

PARTS = [
    Program(
        "concat",
        "parts",
        several,
        jaxops=lambda count: lambda xs: jaxops.concat(xs, 0),
        jnp=lambda count: lambda xs: jnp.concatenate(xs, 0),
    ),
    Program(
        "concat",
        "parts, last axis",
        several,
        jaxops=lambda count: lambda xs: jaxops.concat(xs, -1),
        jnp=lambda count: lambda xs: jnp.concatenate(xs, -1),
    ),
    Program(
        "stack",
        "parts",
        several,
        jaxops=lambda count: lambda xs: jaxops.stack(xs),
        jnp=lambda count: lambda xs: jnp.stack(xs),
    ),
    Program(
        "dynamic_stitch",
        "parts",
        stitched,
        jaxops=lambda count: lambda d, i: jaxops.dynamic_stitch(i, d, size=8 * count),
        jnp=lambda count: (
            lambda d, i: (
                jnp.zeros((8 * count, 4), d[0].dtype).at[jnp.concatenate(i)].set(jnp.concatenate(d))
            )
        ),
    ),
    Program(
        "embedding_lookup",
        "parts",
        lambda count: (*several(count), ints(8 * count, 16)),
        jaxops=lambda count: lambda tables, i: jaxops.embedding_lookup(tables, i),
        jnp=lambda count: lambda tables, i: jnp.concatenate(tables)[i],
    ),
    Program(
        "global_norm",
        "parts",
        several,
        jaxops=lambda count: jaxops.global_norm,
        jnp=lambda count: lambda xs: jnp.sqrt(sum(jnp.sum(x * x) for x in xs)),
    ),
    Program(
        "tile",
        "copies",
        vector,
        jaxops=lambda count: lambda x: jaxops.tile(x, [count]),
        jnp=lambda count: lambda x: jnp.tile(x, count),
    ),
]

WINDOWS = [
    in_squares("extract_patches", image, patches, lambda x, side: jnp_patches(x, side, "VALID")),
    in_squares(
        "space_to_batch",
        image,
        lambda x, side: jaxops.space_to_batch(x, [side, side], EDGES),
        lambda x, side: jnp_space_to_batch(x, EDGES, side),
    ),
    in_squares(
        "batch_to_space",
        lambda count: (floats(count * 4, 2, 2, 2),),
        lambda x, side: jaxops.batch_to_space(x, [side, side], EDGES),
        lambda x, side: jnp_batch_to_space(x, EDGES, side),
    ),
    in_squares("space_to_depth", image, jaxops.space_to_depth, jnp_space_to_depth),
    in_squares(
        "depth_to_space",
        lambda count: (floats(1, 2, 2, 2 * count),),
        jaxops.depth_to_space,
        jnp_depth_to_space,
    ),
]


def reversed_axes(rank):
    return list(range(rank))[::-1]


def ranked(op, ours, theirs, arguments=cube, **options):
    """Functions of arrays and their rank."""
    return Program(
        op,
        "rank",
        arguments,
        jaxops=lambda rank: lambda *xs: ours(rank, *xs),
        jnp=lambda rank: lambda *xs: theirs(rank, *xs),
        counts=RANKS,
        **options,
    )


def of_positions(rank):
    (x,) = cube(rank)
    return (x > np.median(x), int((x > np.median(x)).sum()))


def whole(rank):
    x, begin = cube(rank)[0], np.zeros(rank, np.int32)
    return x, begin


def half(x):
    return [max(1, size // 2) for size in x.shape]


RANKED = [
    ranked(
        "gather_nd", lambda r, x, i: jaxops.gather_nd(x, i), lambda r, x, i: x[columns(i)], indexed
    ),
    ranked(
        "scatter_nd",
        lambda r, u, i: jaxops.scatter_nd(i, u, cube(r)[0].shape),
        lambda r, u, i: jnp.zeros(cube(r)[0].shape, u.dtype).at[columns(i)].add(u),
        lambda r: (floats(16), indexed(r)[1]),
    ),
    ranked(
        "tensor_scatter_nd_update",
        lambda r, x, i: jaxops.tensor_scatter_nd_update(x, i, x.reshape(-1)[:1].repeat(16)),
        lambda r, x, i: x.at[columns(i)].set(x.reshape(-1)[:1].repeat(16)),
        indexed,
    ),
    ranked("transpose", lambda r, x: jaxops.transpose(x), lambda r, x: jnp.transpose(x)),
    ranked(
        "reverse",
        lambda r, x: jaxops.reverse(x, reversed_axes(r)),
        lambda r, x: jnp.flip(x),
    ),
    ranked(
        "strided_slice",
        lambda r, x: jaxops.strided_slice(x, [0] * r, list(x.shape), [2] * r),
        lambda r, x: x[(slice(None, None, 2),) * r],
    ),
    ranked(
        "slice",
        lambda r, x, begin: jaxops.slice(x, begin, half(x)),
        lambda r, x, begin: jax.lax.dynamic_slice(x, begin, half(x)),
        whole,
    ),
    ranked(
        "pad",
        lambda r, x: jaxops.pad(x, [[1, 1]] * r),
        lambda r, x: jnp.pad(x, [[1, 1]] * r),
    ),
    ranked(
        "pad, REFLECT",
        lambda r, x: jaxops.pad(x, [[1, 1]] * r, "REFLECT"),
        lambda r, x: jnp.pad(x, [[1, 1]] * r, "reflect"),
    ),
    ranked("tile", lambda r, x: jaxops.tile(x, [2] * r), lambda r, x: jnp.tile(x, [2] * r)),
    ranked(
        "roll",
        lambda r, x: jaxops.roll(x, [1] * r, list(range(r))),
        lambda r, x: jnp.roll(x, [1] * r, list(range(r))),
    ),
    ranked(
        "unravel_index",
        lambda r, i: jaxops.unravel_index(i, cube(r)[0].shape),
        lambda r, i: jnp.stack(jnp.unravel_index(i, cube(r)[0].shape)),
        lambda r: (ints(256, 16),),
        differentiated=0,
    ),
    ranked(
        "where",
        lambda r, mask, size: jaxops.where(mask, size=size),
        lambda r, mask, size: jnp.argwhere(mask, size=size, fill_value=0),
        of_positions,
        differentiated=0,
    ),
    ranked(
        "boolean_mask",
        lambda r, x, mask, size: jaxops.boolean_mask(x, mask, size=size),
        lambda r, x, mask, size: jnp_mask_with_size(x.reshape(-1), mask.reshape(-1), size),
        lambda r: (*cube(r), *of_positions(r)),
    ),
    ranked(
        "space_to_batch_nd",
        lambda r, x: jaxops.space_to_batch_nd(x, [2] * r, [[0, 0]] * r),
        lambda r, x: blocks_first(x, r),
        lambda r: (floats(1, *[2] * r, 256 >> r),),
    ),
    ranked(
        "gather, batch_dims",
        lambda r, x, i: jaxops.gather(x, i, axis=r - 1, batch_dims=r - 1),
        lambda r, x, i: jnp.take_along_axis(x, i, -1),
        lambda r: (*cube(r), ints(2 ** (9 - r), *cube(r)[0].shape)),
    ),
]


def blocks_first(x, rank):
    """Blocks of 2 along each of the dimensions between the first and the last."""
    batch, *space, depth = x.shape
    x = x.reshape(batch, *(part for size in space for part in (size // 2, 2)), depth)
    inner, outer = range(2, 2 * rank + 1, 2), range(1, 2 * rank + 1, 2)
    x = x.transpose(*inner, 0, *outer, 2 * rank + 1)
    return x.reshape(batch * 2**rank, *(size // 2 for size in space), depth)


PROGRAMS = [*OUTPUTS, *PARTS, *WINDOWS, *RANKED]
