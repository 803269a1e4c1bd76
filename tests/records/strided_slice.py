"""What is known of the functions of `_ops/strided_slice.py`."""

import builtins
import itertools

import numpy as np

import jaxops
from records.arguments import DATA, FILL, LENGTH, X
from records.loops import floats, int32s, place_of
from records.record import MODES, Case, Export, OutOfBounds, Record


def pythonint32s(x, entries, singles, mode="fill", fill_value=0):
    """`x[entries]`, where `singles` replace the ints in `entries`."""
    x, singles = np.asarray(x), iter(singles)
    consumed = sum(entry is not None and entry is not Ellipsis for entry in entries)
    if Ellipsis not in entries:
        entries = (*entries, ...)
    full = [builtins.slice(None)] * (x.ndim - consumed)
    places, shape = [], []  # per axis of x: the places to read, and whether the axis is kept
    dims = iter(x.shape)
    for entry in itertools.chain(*(full if e is Ellipsis else [e] for e in entries)):
        if entry is None:
            shape.append(1)
            continue
        dim = next(dims)
        if isinstance(entry, builtins.slice):
            places.append(list(range(*entry.indices(dim))))
            shape.append(len(places[-1]))
        else:
            single = int(next(singles))
            place = place_of((single + dim if single < 0 else single,), (dim,), mode)
            places.append([None if place is None else place[0]])
    out = [fill_value if None in at else x[at] for at in itertools.product(*places)]
    return np.array(out, x.dtype).reshape(shape)


def strided_slice_case(shape, index):
    """`index` in Python's syntax; its ints are passed as one array, which may be traced."""
    spec = jaxops.strided_slice_spec(index)
    entries = index if isinstance(index, tuple) else (index,)
    places = [n for n, entry in enumerate(entries) if isinstance(entry, int)]

    def op(x, singles, **options):
        begin = list(spec.begin)
        for place, single in zip(places, singles, strict=True):
            begin[place] = single
        return jaxops.strided_slice(x, begin, *spec[1:], **options)

    return Case(
        op,
        lambda x, singles, **k: pythonint32s(x, entries, singles, **k),
        (floats(*shape),),
        int32s([entries[place] for place in places]),
        MODES,
    )


RECORDS = {
    "strided_slice": Record(
        call={
            "input_": DATA,
            "begin": ("ints, slots", [0, 0]),
            "end": ("ints, slots", [2, 1]),
            "strides": ("ints, slots", [1, 1]),
            "begin_mask": ("int", 0),
            "end_mask": ("int", 0),
            "ellipsis_mask": ("int", 0),
            "new_axis_mask": ("int", 0),
            "shrink_axis_mask": ("int", 0),
            "var": ("word", None),
            **FILL,
        },
        cases={
            "single": strided_slice_case((4, 3), np.s_[1]),
            "mixed": strided_slice_case((2, 4, 3), np.s_[None, 1, ::-2, ..., 2]),
            "ranges": strided_slice_case((4, 3), np.s_[1:-1, ..., ::2, None]),
            "empty": strided_slice_case((4, 3), np.s_[3:1, 1]),
        },
        out_of_bounds={
            "": OutOfBounds(
                lambda i, **k: jaxops.strided_slice(X, i, i + 1, shrink_axis_mask=3, **k),
                [-4, 2],
                [0, 3],
                "slice index 3 of dimension 1 out of bounds.",
                (1,),
                3,
                3,
            )
        },
        narrow={"": strided_slice_case((LENGTH, 3), np.s_[99])},
        exports=[
            Export(
                "x[::2, ::-1]",
                lambda x: jaxops.strided_slice(
                    x, [0, 0], [0, 0], [2, -1], begin_mask=3, end_mask=3
                ),
                ("a, b",),
            ),
            Export(
                "x[1:-1, :2]",
                lambda x: jaxops.strided_slice(x, [1, 0], [-1, 2]),
                ("a, b",),
                ("a >= 2", "b >= 2"),
            ),
            Export(
                "x[-2:0:-2]",
                lambda x: jaxops.strided_slice(x, [-2], [0], [-2]),
                ("a, b",),
                ("a >= 3",),
            ),
            Export(
                "x[i]",
                lambda x, i: jaxops.strided_slice(x, [i], [0], shrink_axis_mask=1, mode="fill"),
                ("a, b", " int"),
            ),
        ],
        row=(
            "Slicing and joining | `strided_slice` | static ranges; single indices may be traced | "
            "placed into zeros | single indices"
        ),
    ),
    "strided_slice_spec": Record(
        row="Slicing and joining | - | static, but for single indices | - | -"
    ),
}
