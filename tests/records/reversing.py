"""What is known of the functions of `_ops/reversing.py`."""

import functools

import numpy as np

import jaxops
from records.arguments import DATA, FEW, LENGTH
from records.loops import array_case, evaluated, floats, indexed_case
from records.record import OutOfBounds, Record


def reverse_sequence(x, lengths, seq_axis, batch_axis, mode="clip"):
    out = np.empty(x.shape, x.dtype)
    dim = x.shape[seq_axis]
    for at in np.ndindex(*x.shape):
        length = int(lengths[at[batch_axis]])
        if not 0 <= length <= dim:
            assert mode == "clip", f"length {length} in dimension {dim}"
            length = min(max(length, 0), dim)
        i = at[seq_axis]
        source = length - 1 - i if i < length else i
        out[at] = x[(*at[:seq_axis], source, *at[seq_axis + 1 :])]
    return out


reverse_case = functools.partial(array_case, jaxops.reverse, np.flip)


def reverse_sequence_case(*args):
    case = indexed_case(jaxops.reverse_sequence, reverse_sequence, *args)
    modes = ("device", "error", "clip", "promise_in_bounds")
    return case._replace(modes=modes, has_deterministic=False)


RECORDS = {
    "reverse": Record(
        call={"tensor": DATA, "axis": ("ints", [0, 1])},
        cases={
            "": reverse_case((2, 3, 2), (0, -1)),
            "no-axis": reverse_case((2, 3), ()),
            "empty": reverse_case((2, 0), (1,)),
        },
        exports=[evaluated(jaxops.reverse, "(x, [1])", "a, b")],
        row="Slicing and joining | `reverse`, `reverse_v2` | static `axis` | reversed | -",
    ),
    "reverse_sequence": Record(
        call={
            "input": DATA,
            "seq_lengths": ("integers", [1, 2, 3, 0]),
            "seq_axis": ("int", 1),
            "batch_axis": ("int", 0),
            "mode": ("word, one of device, error, clip, promise_in_bounds", "clip"),
        },
        cases={
            "": reverse_sequence_case((3, 4), (2, 0, 4), 1, 0),
            "before-batch": reverse_sequence_case((4, 2, 3), (1, 3, 4), 0, 2),
            "after-batch": reverse_sequence_case((2, 2, 3), (1, 3), 2, 1),
            "empty": reverse_sequence_case((0, 2), (), 1, 0),
        },
        out_of_bounds={
            "too-long": OutOfBounds(
                lambda i, **k: jaxops.reverse_sequence(floats(2, 4), i, 1, **k),
                [4, 0],
                [4, 5],
                "seq_lens(1) > input.dims(1): 5 is not in [0, 5)",
                (1,),
                5,
                5,
            ),
            "negative": OutOfBounds(
                lambda i, **k: jaxops.reverse_sequence(floats(2, 4), i, 1, **k),
                [1, 4],
                [-1, 7],
                "seq_lens(0) < 0: -1 is not in [0, 5)",
                (0,),
                -1,
                5,
            ),
        },
        narrow={"": reverse_sequence_case((4, LENGTH), FEW, 1, 0)},
        exports=[
            evaluated(
                functools.partial(jaxops.reverse_sequence, mode="clip"),
                "(x, i, 1, 0)",
                "a, b, c",
                "a int",
            )
        ],
        row="Slicing and joining | `reverse_sequence` | - | reversed | lengths",
    ),
}
