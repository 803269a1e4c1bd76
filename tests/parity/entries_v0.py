"""The functions of `jaxops.compat.v0`, by the calls of the functions that they adapt.

The draws are the same, so that the programs are compiled already; where TensorFlow still has the
0.x kernel (`Reverse` of bools, `SpaceToBatch` of a block size) that is what they are compared with.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any

import draws
from calls import Call, Entry
from draws import Draw, chance, fault, integer, pick
from hypothesis import strategies as st
from peer import tf

from jaxops.compat import v0

# By the name in v0: the arguments of its spellings in their order, and their names in TensorFlow 2.
# Others are spelled in one way, in which the names of their arguments are those of TensorFlow 2.
SPELLINGS: dict[str, list[dict[str, str]]] = {
    "string_to_number": [{"string_tensor": "input", "out_type": "out_type"}],
    "squeeze": [{"input": "input", arg: "axis"} for arg in ("axis", "squeeze_dims")],
    "expand_dims": [{"input": "input", arg: "axis"} for arg in ("axis", "dim")],
    "split": [
        {"split_dim": "axis", "num_split": "num_or_size_splits", "value": "value"},
        {a: a for a in ("value", "num_or_size_splits", "axis", "num")},
    ],
    "split_v": [
        {"value": "value", "size_splits": "num_or_size_splits", "split_dim": "axis", "num": "num"}
    ],
    "pad": [
        {"tensor": "tensor", "paddings": "paddings", "mode": "mode"},
        {"input": "tensor", "paddings": "paddings"},
    ],
    "concat": [{"concat_dim": "axis", "values": "values"}, {"values": "values", "axis": "axis"}],
    "reverse_sequence": [
        {"input": "input", "seq_lengths": "seq_lengths", seq: "seq_axis", batch: "batch_axis"}
        for seq, batch in [("seq_dim", "batch_dim"), ("seq_axis", "batch_axis")]
    ],
    "extract_image_patches": [
        {a: {"ksizes": "sizes"}.get(a, a) for a in order}
        for order in [
            ("images", "padding", "ksizes", "strides", "rates"),
            ("images", "ksizes", "strides", "rates", "padding"),
        ]
    ],
    "listdiff": [{"x": "x", "y": "y", "out_idx": "index_dtype"}],
}
# By the name in v0: the function that it adapts, where the names differ.
ADAPTED = {"pack": "stack", "unpack": "unstack", "listdiff": "setdiff1d"}
ADAPTED |= {"concat_v2": "concat", "split_v": "split", "reverse_v2": "reverse"}
ADAPTED |= {"diag": "tensor_diag", "diag_part": "tensor_diag_part"}
# In TensorFlow 2 these have more arguments between those of 0.x.
BY_NAME = {"shape", "size"}
SAME = [
    *["string_to_number", "to_double", "to_float", "to_bfloat16", "to_int32", "to_int64", "cast"],
    *["saturate_cast", "bitcast", "shape", "shape_n", "size", "rank", "reshape", "squeeze"],
    *["expand_dims", "slice", "split", "tile", "pad", "concat", "pack", "unpack", "transpose"],
    *["reverse_sequence", "extract_image_patches", "space_to_depth", "depth_to_space", "gather"],
    *["gather_nd", "dynamic_partition", "dynamic_stitch", "boolean_mask", "one_hot"],
    *["unique_with_counts", "invert_permutation", "unique", "listdiff", "setdiff1d", "scatter_nd"],
    *["strided_slice", "split_v", "concat_v2", "stack", "unstack", "parallel_stack", "reverse_v2"],
    *["space_to_batch_nd", "batch_to_space_nd", "required_space_to_batch_paddings"],
    *["stop_gradient", "fill", "range", "meshgrid", "matrix_band_part", "matrix_transpose"],
    *["diag", "diag_part", "unsorted_segment_sum"],
    *(f"segment_{kind}" for kind in ("sum", "mean", "prod", "min", "max")),
    *(f"sparse_segment_{kind}" for kind in ("sum", "mean", "sqrt_n")),
]


def spellings(name: str) -> list[dict[str, str]]:
    order = [p for p in inspect.signature(getattr(v0, name)).parameters if p != "name"]
    return SPELLINGS.get(name, [{arg: arg for arg in order}])


def adapter(name: str, entries: Mapping[str, Entry]) -> Entry:
    """The entry of a function of v0, made from that of the function that it adapts."""
    base = entries[ADAPTED.get(name, name)]
    ways = spellings(name)
    names = {arg: new for way in ways for arg, new in way.items()}

    def theirs(**args):
        return base.theirs(**{names[arg]: x for arg, x in args.items()})

    def ours(new: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(arg for arg, its in names.items() if its in new)

    return dataclasses.replace(
        base,
        ours=getattr(v0, name),
        theirs=theirs,
        calls=_spelled(base.calls, name),
        data=ours(base.data),
        indices=ours(base.indices),
        traced=None if base.traced is None else ours(base.traced),
        differentiable=ours(base.differentiable),
        group=base.group or ADAPTED.get(name, name),
    )


def _can_say(name: str, way: Mapping[str, str], call: Call) -> bool:
    """Whether a spelling has all arguments of the call: v0 has fewer options."""
    if name == "split" and "num_split" in way and type(call.args["num_or_size_splits"]) is not int:
        return False
    return {*call.args} <= {*way.values()}


@st.composite
def _spelled(draw: Draw, calls: st.SearchStrategy[Call], name: str) -> Call:
    ways = spellings(name)
    call = draw(calls.filter(lambda call: any(_can_say(name, way, call) for way in ways)))
    way = pick(draw, [way for way in ways if _can_say(name, way, call)])
    said = dict(call.args)
    if "split_dim" in way and name == "split":  # which has no default
        said.setdefault("axis", 0)
    args: dict[str, Any] = {arg: said[its] for arg, its in way.items() if its in said}
    if args.get("validate_indices") is False:  # in 0.x a promise, which bad indices would break
        args["validate_indices"] = True
    in_place = 0
    while in_place < len(args) and [*args][in_place] == [*way][in_place]:
        in_place += 1
    positional = min(call.positional, 1 if name in BY_NAME else in_place)
    if positional and "input" in args and name == "pad":  # which has no place of its own
        positional = 0
    return dataclasses.replace(call, args=args, positional=positional)


def _gather(params, indices, validate_indices=None):
    del validate_indices  # True asks for what TensorFlow 2 always does
    return tf.gather(params, indices)


@st.composite
def reverse(draw: Draw, of_axes: st.SearchStrategy[Call]) -> Call:
    if chance(draw, 40):
        return draw(of_axes)
    x = draws.array(draw, draws.shape(draw, 0, 4), draws.dtype(draw, draws.MOVED))
    flags = [chance(draw, 50) for _ in range(x.ndim)]
    if fault(draw, "length"):
        flags = [*flags, True] if chance(draw, 50) or not flags else flags[1:]
    known = "v0.reverse of a scalar" if x.ndim == 0 and flags else None
    if x.shape[:1] == (0,) and len(flags) == x.ndim:
        known = "v0.reverse of nothing"
    return draws.finish(draw, {"tensor": x, "dims": flags}, ("tensor", "dims"), known=known)


def _reverse(tensor, dims=None, axis=None):
    if axis is not None:
        return tf.reverse(tensor, axis)
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


@st.composite
def matrix_diag(draw: Draw) -> Call:
    shape = () if fault(draw, "rank", percent=10) else draws.shape(draw, 1, 3)
    x = draws.array(draw, shape, draws.dtype(draw, draws.ALL))
    return draws.finish(draw, {"diagonal": x}, ("diagonal",))


@st.composite
def matrix_diag_part(draw: Draw) -> Call:
    shape = (2,) if fault(draw, "rank", percent=10) else draws.shape(draw, 2, 4)
    x = draws.array(draw, shape, draws.dtype(draw, draws.ALL))
    return draws.finish(draw, {"input": x}, ("input",))


@st.composite
def matrix_set_diag(draw: Draw) -> Call:
    shape = draws.shape(draw, 2, 4)
    x = draws.array(draw, shape, draws.dtype(draw, draws.ALL))
    own = (*shape[:-2], min(shape[-2:]) + bool(fault(draw, "length", percent=15)))
    args = {"input": x, "diagonal": draws.array(draw, own, x.dtype)}
    return draws.finish(draw, args, ("input", "diagonal"))


OF_MATRICES = {
    "matrix_diag": matrix_diag(),
    "matrix_diag_part": matrix_diag_part(),
    "matrix_set_diag": matrix_set_diag(),
}


def _meshgrid(args, indexing="xy"):
    return v0.meshgrid(*args, indexing=indexing)


def entries(base: Mapping[str, Entry]) -> dict[str, Entry]:
    """All of v0's."""
    result = {f"v0.{name}": adapter(name, base) for name in SAME}
    result["v0.gather"] = dataclasses.replace(result["v0.gather"], theirs=_gather)
    result["v0.meshgrid"] = dataclasses.replace(result["v0.meshgrid"], ours=_meshgrid)
    for name, calls in OF_MATRICES.items():
        result[f"v0.{name}"] = dataclasses.replace(
            base[name],
            ours=getattr(v0, name),
            calls=calls,
            data=tuple(arg for arg in base[name].data if arg != "padding_value"),
            group=name,
        )
    for name, theirs, calls in [
        ("reverse", _reverse, reverse(base["reverse"].calls)),
        ("space_to_batch", _space_to_batch, space_to_batch()),
        ("batch_to_space", _batch_to_space, batch_to_space()),
    ]:
        result[f"v0.{name}"] = dataclasses.replace(
            base[name], ours=getattr(v0, name), theirs=theirs, calls=calls, group=name
        )
    return result
