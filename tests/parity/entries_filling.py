"""Shapes that are filled, and values that stay: fill, broadcast_to, range, identities."""

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
def fill(draw: Draw) -> Call:
    wrong = fault(draw, "negative", "rank", "value")
    dims: Any = [*draws.shape(draw)]
    if wrong == "negative":
        dims = [*dims, -1]
    elif wrong == "rank":
        dims = [[2, *dims]]
    shape = (2,) if wrong == "value" else ()
    args = {"dims": dims, "value": draws.array(draw, shape, draws.dtype(draw, draws.MOVED))}
    return draws.finish(draw, args, ("dims", "value"))


@st.composite
def broadcast_to(draw: Draw) -> Call:
    shape = [pick(draw, draws.DIMS) for _ in range(integer(draw, 0, 3))]
    own = [1 if chance(draw, 40) else dim for dim in shape[integer(draw, 0, len(shape)) :]]
    wrong = fault(draw, "other", "negative", "short", "rank")
    if wrong == "other" and own:
        own[0] = own[0] + 3
    elif wrong == "negative":
        shape = [-1, *shape[1:]]
    elif wrong == "short":
        own = [1, *own, *shape]
    x = draws.array(draw, own, draws.dtype(draw, draws.MOVED))
    target: Any = [shape] if wrong == "rank" else shape
    return draws.finish(draw, {"input": x, "shape": target}, ("input", "shape"))


@st.composite
def numbers(draw: Draw) -> Call:
    """The arguments of `range`."""
    limit = integer(draw, -3, 12)
    args: dict[str, Any] = {"start": limit}
    if chance(draw, 70):
        args = {"start": integer(draw, -4, 4), "limit": limit}
        if chance(draw, 60):
            args["delta"] = pick(draw, [1, 2, 3, -1, -2, 7, 0])
    if chance(draw, 40):
        arg = pick(draw, [*args])
        args[arg] += pick(draw, [0.5, 0.1, 0.25, 0.0])
    elif chance(draw, 30):
        arg = pick(draw, [*args])
        dtypes = ["int32", "int64", "float16", "float32", "float64", "bfloat16"]
        args[arg] = np.array(args[arg], draws.dtype_of(pick(draw, dtypes)))
    if chance(draw, 40) and all(type(x) in (int, float) for x in args.values()):
        # TensorFlow has kernels for these only.
        dtypes = ["int32", "int64", "float16", "float32", "float64", "bfloat16"]
        args["dtype"] = draws.dtype_of(pick(draw, dtypes))
    return Call(args, positional=integer(draw, 0, min(len(args), 1)))


@st.composite
def anything(draw: Draw) -> Call:
    x = draws.array(draw, draws.shape(draw), draws.dtype(draw, draws.MOVED))
    return draws.finish(draw, {"input": x}, ("input",))


RARE = frozenset(draws.RARE)
ENTRIES = {
    "fill": Entry(
        jaxops.fill,
        tf.fill,
        fill(),
        ("value",),
        differentiable=("value",),
        moves=True,
        no_kernel=RARE,
    ),
    "broadcast_to": Entry(
        jaxops.broadcast_to,
        tf.broadcast_to,
        broadcast_to(),
        ("input",),
        differentiable=("input",),
        moves=True,
        no_kernel=RARE,
    ),
    "range": Entry(jaxops.range, tf.range, numbers(), ("start", "limit", "delta"), traced=()),
    "stop_gradient": Entry(
        jaxops.stop_gradient,
        tf.stop_gradient,
        anything(),
        ("input",),
        moves=True,
        never_refused=True,
    ),
    # TensorFlow's has no gradient.
    "guarantee_const": Entry(
        jaxops.guarantee_const,
        tf.guarantee_const,
        anything(),
        ("input",),
        moves=True,
        never_refused=True,
    ),
}
