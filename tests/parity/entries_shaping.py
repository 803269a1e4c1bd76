"""Shapes and shaping: shape, shape_n, size, rank, reshape, squeeze, expand_dims, transpose."""

from typing import Any

import draws
import numpy as np
from calls import Call
from draws import Args, Draw, axis, chance, fault, integer, pick
from entries import compared


@compared("reshape", moves=True)
def reshape(draw: Draw) -> Args:
    x = draws.operand(draw)
    wrong = fault(draw, "size", "two unknown", "negative", "rank")
    factors = [n for n in x.shape if n != 1 or chance(draw, 50)]
    target = draws.shuffled(draw, factors)
    if len(target) > 1 and chance(draw, 30):
        target = [target[0] * target[1], *target[2:]]
    target = [*target, *[1] * integer(draw, 0, 1)]
    if target and chance(draw, 50):
        target[integer(draw, 0, len(target) - 1)] = -1
    if wrong == "size":
        target = [*target, pick(draw, [0, 2, 5])]
    elif wrong == "two unknown":
        target = [-1, *target, -1]
    elif wrong == "negative":
        target = [*target, -2]
    elif wrong == "rank":
        target = [target]
    if target == [x.size] and chance(draw, 30):
        target = x.size  # an int is a vector of one
    return {"tensor": x, "shape": target}


@compared("expand_dims", moves=True)
def expand_dims(draw: Draw) -> Args:
    x = draws.operand(draw)
    wrong = fault(draw, "axis", "axis", "list")
    where: Any = axis(draw, x.ndim + 1, wrong=wrong == "axis")
    if wrong == "list":
        where = pick(draw, [[where], [where, where], []])
    return {"input": x, "axis": where}


@compared("squeeze", moves=True)
def squeeze(draw: Draw) -> Args:
    x = draws.operand(draw, 0, 4, [1, 1, 1, 2, 3, 0])
    ones = [n - x.ndim * chance(draw, 50) for n, size in enumerate(x.shape) if size == 1]
    args: Args = {"input": x}
    wrong = fault(draw, "axis", "not 1")
    if wrong == "axis":
        args["axis"] = [*ones[:1], axis(draw, x.ndim, wrong=True)]
    elif wrong == "not 1":
        args["axis"] = [axis(draw, x.ndim)]
    elif chance(draw, 70):
        chosen = ones[: integer(draw, 0, len(ones))]
        if chosen and chance(draw, 15):
            chosen = [*chosen, chosen[0]]  # twice is once
        args["axis"] = chosen[0] if len(chosen) == 1 and chance(draw, 50) else chosen
    elif chance(draw, 30):
        args["axis"] = None
    return args


@compared("transpose", moves=True, no_kernel=frozenset(draws.INT4))
def transpose(draw: Draw) -> Call:
    x = draws.operand(draw, 0, 4)
    args: Args = {"a": x}
    wrong = fault(draw, "length", "twice", "range", "scalar")
    if wrong or chance(draw, 70):
        perm = [p - x.ndim * chance(draw, 20) for p in draws.shuffled(draw, range(x.ndim))]
        if wrong == "length":
            perm = [*perm, x.ndim] if chance(draw, 50) else perm[1:]
        elif wrong == "twice" and x.ndim:
            perm[0] = perm[-1]
        elif wrong == "range" and x.ndim:
            perm[0] = pick(draw, [x.ndim, -x.ndim - 1])
        args["perm"] = 0 if wrong == "scalar" else perm
    elif chance(draw, 30):
        args["perm"] = None
    return Call(args, their_gradient_fails=np.min(args.get("perm") or 0, initial=0) < 0)


# Results of those that follow are static: nothing to trace.


@compared("shape")
def shape(draw: Draw) -> Args:
    return {"input": draws.operand(draw, 0, 4)}


compared("size")(shape)


@compared("rank", never_refused=True)
def rank(draw: Draw) -> Args:
    return {"input": draws.operand(draw, 0, 5)}


@compared("shape_n")
def shape_n(draw: Draw) -> Args:
    dtype = draws.dtype(draw, draws.MOVED)
    number = 0 if fault(draw, "none") else integer(draw, 1, 4)
    arrays = [draws.array(draw, draws.shape(draw), dtype) for _ in range(number)]
    return {"input": arrays}
