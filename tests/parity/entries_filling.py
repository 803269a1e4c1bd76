"""Shapes that are filled, and values that stay: fill, broadcast_to, range, identities."""

from typing import Any

import draws
import numpy as np
from draws import Args, Draw, chance, fault, integer, pick
from entries import compared


@compared("fill", differentiable=("value",), moves=True)
def fill(draw: Draw) -> Args:
    wrong = fault(draw, "negative", "value")
    dims: Any = [*draws.shape(draw)]
    if wrong == "negative":
        dims = [*dims, -1]
    shape = (2,) if wrong == "value" else ()
    return {"dims": dims, "value": draws.array(draw, shape, draws.dtype(draw, draws.MOVED))}


@compared("broadcast_to", moves=True)
def broadcast_to(draw: Draw) -> Args:
    shape = [pick(draw, draws.DIMS) for _ in range(integer(draw, 0, 3))]
    own = [1 if chance(draw, 40) else dim for dim in shape[integer(draw, 0, len(shape)) :]]
    wrong = fault(draw, "other", "negative", "short")
    if wrong == "other" and own:
        own[0] = own[0] + 3
    elif wrong == "negative":
        shape = [-1, *shape[1:]]
    elif wrong == "short":
        own = [1, *own, *shape]
    x = draws.array(draw, own, draws.dtype(draw, draws.MOVED))
    return {"input": x, "shape": shape}


# TensorFlow has kernels for these only.
RANGES = ["int32", "int64", *draws.FLOATS]


@compared("range", data=("start", "limit", "delta"), traced=())
def numbers(draw: Draw) -> Args:
    limit = integer(draw, -3, 12)
    args: Args = {"start": limit}
    if chance(draw, 70):
        args = {"start": integer(draw, -4, 4), "limit": limit}
        if chance(draw, 60):
            args["delta"] = pick(draw, [1, 2, 3, -1, -2, 7, 0])
    if chance(draw, 40):
        arg = pick(draw, [*args])
        args[arg] += pick(draw, [0.5, 0.1, 0.25, 0.0])
    elif chance(draw, 30):
        arg = pick(draw, [*args])
        args[arg] = np.array(args[arg], draws.dtype_of(pick(draw, RANGES)))
    if chance(draw, 40) and all(type(x) in (int, float) for x in args.values()):
        args["dtype"] = draws.dtype_of(pick(draw, RANGES))
    return args


# TensorFlow's guarantee_const has no gradient.
@compared("stop_gradient", "guarantee_const", differentiable=(), moves=True, never_refused=True)
def anything(draw: Draw) -> Args:
    return {"input": draws.operand(draw)}
