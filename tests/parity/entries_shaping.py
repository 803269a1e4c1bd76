"""Shapes and shaping: shape, shape_n, size, rank, reshape, squeeze, expand_dims, transpose."""

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
def reshape(draw: Draw) -> Call:
    x = draws.array(draw, draws.shape(draw), draws.dtype(draw, draws.MOVED))
    wrong = fault(draw, "size", "two unknown", "negative", "rank")
    factors = [n for n in x.shape if n != 1 or chance(draw, 50)]
    target = draw(st.permutations(factors))
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
    return draws.finish(draw, {"tensor": x, "shape": target}, ("tensor", "shape"))


@st.composite
def expand_dims(draw: Draw) -> Call:
    x = draws.array(draw, draws.shape(draw), draws.dtype(draw, draws.MOVED))
    wrong = fault(draw, "axis", "axis", "list")
    where: Any = axis(draw, x.ndim + 1, wrong=wrong == "axis")
    if wrong == "list":
        where = pick(draw, [[where], [where, where], []])
    return draws.finish(draw, {"input": x, "axis": where}, ("input", "axis"))


@st.composite
def squeeze(draw: Draw) -> Call:
    dims = [1, 1, 1, 2, 3, 0]
    x = draws.array(draw, draws.shape(draw, 0, 4, dims), draws.dtype(draw, draws.MOVED))
    ones = [n - x.ndim * chance(draw, 50) for n, size in enumerate(x.shape) if size == 1]
    args: dict[str, Any] = {"input": x}
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
    return draws.finish(draw, args, ("input", "axis"))


@st.composite
def transpose(draw: Draw) -> Call:
    x = draws.array(draw, draws.shape(draw, 0, 4), draws.dtype(draw, draws.MOVED))
    args: dict[str, Any] = {"a": x}
    wrong = fault(draw, "length", "twice", "range", "rank")
    if wrong or chance(draw, 70):
        perm = [p - x.ndim * chance(draw, 20) for p in draw(st.permutations(range(x.ndim)))]
        if wrong == "length":
            perm = [*perm, x.ndim] if chance(draw, 50) else perm[1:]
        elif wrong == "twice" and x.ndim:
            perm[0] = perm[-1]
        elif wrong == "range" and x.ndim:
            perm[0] = pick(draw, [x.ndim, -x.ndim - 1])
        elif wrong == "rank":
            perm = pick(draw, [0, [perm]])
        args["perm"] = perm
    elif chance(draw, 30):
        args["perm"] = None
    if chance(draw, 30):
        args["conjugate"] = chance(draw, 60)
    perm = args.get("perm")
    fails = perm is not None and np.min(perm, initial=0) < 0
    return draws.finish(draw, args, ("a", "perm", "conjugate"), their_gradient_fails=fails)


@st.composite
def measured(draw: Draw, of_size: bool = False) -> Call:
    """Of `shape` and `size`."""
    args: dict[str, Any] = {
        "input": draws.array(draw, draws.shape(draw, 0, 4), draws.dtype(draw, draws.MOVED))
    }
    if chance(draw, 60):
        wrong = fault(draw, "float32", "bool")
        args["out_type"] = draws.dtype_of(wrong or pick(draw, ["int32", "int64"]))
    known = None
    if of_size and args.get("out_type", np.dtype(np.int32)).name in ("float32", "bool"):
        known = "out_type of size"
    return draws.finish(draw, args, ("input", "out_type"), known=known)


@st.composite
def rank(draw: Draw) -> Call:
    x = draws.array(draw, draws.shape(draw, 0, 5), draws.dtype(draw, draws.MOVED))
    return draws.finish(draw, {"input": x}, ("input",))


@st.composite
def shape_n(draw: Draw) -> Call:
    dtype = draws.dtype(draw, draws.MOVED)
    number = 0 if fault(draw, "none") else integer(draw, 1, 4)
    args: dict[str, Any] = {
        "input": [draws.array(draw, draws.shape(draw), dtype) for _ in range(number)]
    }
    if chance(draw, 60):
        args["out_type"] = draws.dtype_of(pick(draw, ["int32", "int64"]))
    return draws.finish(draw, args, ("input", "out_type"))


ENTRIES = {
    # Their results are static: nothing to trace.
    "shape": Entry(jaxops.shape, tf.shape, measured(), ("input",)),
    "size": Entry(jaxops.size, tf.size, measured(of_size=True), ("input",)),
    "rank": Entry(jaxops.rank, tf.rank, rank(), ("input",), never_refused=True),
    "shape_n": Entry(jaxops.shape_n, tf.shape_n, shape_n(), ("input",)),
    "reshape": Entry(
        jaxops.reshape, tf.reshape, reshape(), ("tensor",), differentiable=("tensor",), moves=True
    ),
    "squeeze": Entry(
        jaxops.squeeze, tf.squeeze, squeeze(), ("input",), differentiable=("input",), moves=True
    ),
    "expand_dims": Entry(
        jaxops.expand_dims,
        tf.expand_dims,
        expand_dims(),
        ("input",),
        differentiable=("input",),
        moves=True,
    ),
    "transpose": Entry(
        jaxops.transpose,
        tf.transpose,
        transpose(),
        ("a",),
        differentiable=("a",),
        moves=True,
        no_kernel=frozenset(draws.INT4),
    ),
}
