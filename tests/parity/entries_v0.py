"""The functions of `jaxops.compat.v0`, by the calls of the functions that they adapt.

The draws are the same, so that the programs are compiled already; where TensorFlow still has the
0.x kernel (`Reverse` of bools, `SpaceToBatch` of a block size) that is what they are compared with.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import draws
from calls import Call, Entry
from draws import Draw, chance, fault, integer, pick
from hypothesis import strategies as st
from peer import tf

from jaxops.compat import v0

# By the name in v0: the names of its arguments that TensorFlow 2 has under others.
RENAMED = {
    "string_to_number": {"string_tensor": "input"},
    "squeeze": {"squeeze_dims": "axis"},
    "expand_dims": {"dim": "axis"},
    "split": {"split_dim": "axis", "num_split": "num_or_size_splits"},
    "concat": {"concat_dim": "axis"},
    "reverse_sequence": {"seq_dim": "seq_axis", "batch_dim": "batch_axis"},
    "extract_image_patches": {"ksizes": "sizes"},
}
# By the name in v0: the function that it adapts, where the names differ.
ADAPTED = {"pack": "stack", "unpack": "unstack"}
SAME = [
    *["string_to_number", "to_double", "to_float", "to_bfloat16", "to_int32", "to_int64", "cast"],
    *["saturate_cast", "bitcast", "shape", "shape_n", "size", "rank", "reshape", "squeeze"],
    *["expand_dims", "slice", "split", "tile", "pad", "concat", "pack", "unpack", "transpose"],
    *["reverse_sequence", "extract_image_patches", "space_to_depth", "depth_to_space", "gather"],
    *["gather_nd", "dynamic_partition", "dynamic_stitch", "boolean_mask", "one_hot"],
    *["unique_with_counts"],
]


def adapter(name: str, entries: Mapping[str, Entry]) -> Entry:
    """The entry of a function of v0, made from that of the function that it adapts."""
    base = entries[ADAPTED.get(name, name)]
    ours = getattr(v0, name)
    order = [p for p in inspect.signature(ours).parameters if p != "name"]
    renamed = RENAMED.get(name, {})
    old = {new: old for old, new in renamed.items()}

    def theirs(**args):
        return base.theirs(**{renamed.get(arg, arg): x for arg, x in args.items()})

    def has_same(call: Call) -> bool:
        """Whether v0 can be called so: it has fewer options."""
        missing = {arg for arg in call.args if old.get(arg, arg) not in order}
        if name == "split":
            return not missing and isinstance(call.args["num_or_size_splits"], int)
        return not missing

    return dataclasses.replace(
        base,
        ours=ours,
        theirs=theirs,
        calls=_usable(base.calls, has_same, order, old),
        data=tuple(old.get(arg, arg) for arg in base.data),
        differentiable=tuple(old.get(arg, arg) for arg in base.differentiable),
        group=base.group or ADAPTED.get(name, name),
        never_refused=base.never_refused or name in ("shape", "size"),  # they take no out_type
    )


@st.composite
def _usable(
    draw: Draw,
    calls: st.SearchStrategy[Call],
    has_same: Callable[[Call], bool],
    order: list[str],
    old: Mapping[str, str],
) -> Call:
    call = draw(calls.filter(has_same))
    args: dict[str, Any] = {old.get(arg, arg): x for arg, x in call.args.items()}
    if "split_dim" in order:  # which has no default
        args.setdefault("split_dim", 0)
    args: dict[str, Any] = {arg: args[arg] for arg in order if arg in args}
    if "validate_indices" in order and chance(draw, 30):  # says that the default checks
        args["validate_indices"] = pick(draw, [None, True])
    in_place = 0
    while in_place < len(args) and list(args)[in_place] == order[in_place]:
        in_place += 1
    return dataclasses.replace(call, args=args, positional=min(call.positional, in_place))


def _gather(params, indices, validate_indices=None):
    del validate_indices  # True asks for what TensorFlow 2 always does
    return tf.gather(params, indices)


@st.composite
def reverse(draw: Draw) -> Call:
    x = draws.array(draw, draws.shape(draw, 0, 4), draws.dtype(draw, draws.MOVED))
    flags = [chance(draw, 50) for _ in range(x.ndim)]
    if fault(draw, "length"):
        flags = [*flags, True] if chance(draw, 50) or not flags else flags[1:]
    known = "v0.reverse of a scalar" if x.ndim == 0 and flags else None
    if x.shape[:1] == (0,) and len(flags) == x.ndim:
        known = "v0.reverse of nothing"
    return draws.finish(draw, {"tensor": x, "dims": flags}, ("tensor", "dims"), known=known)


def _reverse(tensor, dims):
    return tf.raw_ops.Reverse(tensor=tensor, dims=tf.constant(dims, tf.bool))


@st.composite
def space_to_batch(draw: Draw) -> Call:
    return draws.finish(draw, _blocks(draw, False), ("input", "paddings", "block_size"))


@st.composite
def batch_to_space(draw: Draw) -> Call:
    return draws.finish(draw, _blocks(draw, True), ("input", "crops", "block_size"))


def _blocks(draw: Draw, back: bool) -> dict[str, Any]:
    wrong = fault(draw, "size", "rows", "negative", "block", "rank")
    block = integer(draw, 2, 3)
    dims, pairs = [], []
    for _ in range(2):
        before, after, blocks = integer(draw, 0, 2), integer(draw, 0, 2), pick(draw, [1, 2])
        if back:
            dims.append(blocks)
            before = min(before, blocks * block - 1)
            after = min(after, blocks * block - before)
        else:
            dims.append(max(block * blocks - before - after, 0))
            after += (-dims[-1] - before - after) % block
        pairs.append([before, after])
    batch = pick(draw, [1, 2, 0]) * (block**2 if back else 1)
    if wrong == "size":
        batch, dims[0] = batch + back, dims[0] + (not back)
    elif wrong == "rows":
        pairs = pairs[1:]
    elif wrong == "negative":
        pairs[0][0] = -1
    elif wrong == "block":
        block = pick(draw, [1, 0, -1])
    shape = [batch, *dims, pick(draw, [1, 2, 0])]
    if wrong == "rank":
        shape = shape[:3] if chance(draw, 50) else [*shape, 1]
    x = draws.array(draw, shape, draws.dtype(draw, draws.MOVED))
    return {"input": x, "crops" if back else "paddings": pairs, "block_size": block}


def _space_to_batch(input, paddings, block_size):
    return tf.raw_ops.SpaceToBatch(input=input, paddings=paddings, block_size=block_size)


def _batch_to_space(input, crops, block_size):
    return tf.raw_ops.BatchToSpace(input=input, crops=crops, block_size=block_size)


def entries(base: Mapping[str, Entry]) -> dict[str, Entry]:
    """All of v0's."""
    result = {f"v0.{name}": adapter(name, base) for name in SAME}
    result["v0.gather"] = dataclasses.replace(result["v0.gather"], theirs=_gather)
    for name, theirs, calls in [
        ("reverse", _reverse, reverse()),
        ("space_to_batch", _space_to_batch, space_to_batch()),
        ("batch_to_space", _batch_to_space, batch_to_space()),
    ]:
        result[f"v0.{name}"] = dataclasses.replace(
            base[name], ours=getattr(v0, name), theirs=theirs, calls=calls, group=name
        )
    return result
