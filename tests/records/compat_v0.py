"""What is known of the functions of `compat/v0.py`: of most, what is known of those they adapt."""

import inspect
from collections.abc import Mapping

import numpy as np

from jaxops.compat import v0
from records.arguments import ANYTHING, DATA, IMAGES, MASK, PADS, X
from records.record import Record

# By the name in v0: the arguments of its spellings in their order, and their names in TensorFlow 2.
# Others are spelled in one way, in which the names of their arguments are those of TensorFlow 2.
SPELLINGS: dict[str, list[dict[str, str]]] = {
    "string_to_number": [{"string_tensor": "input", "out_type": "out_type"}],
    "squeeze": [{"input": "input", arg: "axis"} for arg in ("squeeze_dims", "axis")],
    "expand_dims": [{"input": "input", arg: "axis"} for arg in ("dim", "axis")],
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


def adapted(name: str) -> str:
    return ADAPTED.get(name, name)


def spellings(name: str) -> list[dict[str, str]]:
    """The names of its arguments, in the orders of its calls, and of those of the adapted."""
    order = [p for p in inspect.signature(getattr(v0, name)).parameters if p != "name"]
    return SPELLINGS.get(name, [{arg: arg for arg in order}])


# Those with two names of one argument, of which a call has one.


def squeeze(input, squeeze_dims=None, name=None):
    return v0.squeeze(input, squeeze_dims=squeeze_dims, name=name)


def expand_dims(input, dim=None, name=None):
    return v0.expand_dims(input, dim=dim, name=name)


def reverse_sequence(input, seq_lengths, seq_dim=None, batch_dim=None, name=None):
    return v0.reverse_sequence(input, seq_lengths, seq_dim=seq_dim, batch_dim=batch_dim, name=name)


def meshgrid(args, indexing="xy", name=None):
    args = args if isinstance(args, (list, tuple)) else [args]
    return v0.meshgrid(*args, indexing=indexing, name=name)


FUNCTIONS = {f"v0.{f.__name__}": f for f in (squeeze, expand_dims, reverse_sequence, meshgrid)}
IMAGE = ("data, anything", IMAGES)
RECORDS = {
    "v0.split": Record(call={"split_dim": ("int", 0), "num_split": ("int", 2), "value": DATA}),
    "v0.reverse": Record(
        call={"tensor": ANYTHING, "dims": ("bools, own", np.array([False, True]))}
    ),
    "v0.space_to_batch": Record(call={"input": IMAGE, "paddings": PADS, "block_size": ("int", 2)}),
    "v0.batch_to_space": Record(call={"input": IMAGE, "crops": PADS, "block_size": ("int", 2)}),
    "v0.where": Record(call={"input": MASK}),
    "v0.select": Record(call={"condition": MASK, "t": DATA, "e": ("data", X + 1)}),
}


def adapters(base: Mapping[str, Record]) -> dict[str, Record]:
    """The records of the others, made from those of the functions that they adapt."""
    found = {}
    for name in dir(v0):
        record = base.get(adapted(name))
        if record and f"v0.{name}" not in RECORDS:
            arguments = spellings(name)[0].items()
            call = {arg: record.call[its] for arg, its in arguments if its in record.call}
            found[f"v0.{name}"] = Record(call=call)
    return found
