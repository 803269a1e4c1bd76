"""where, repeat, sequence_mask and searchsorted."""

import draws
import jax
import numpy as np
from calls import Call
from draws import Args, Draw, axis, chance, fault, integer, pick
from entries import RARE, compared
from peer import tf


def _where(condition, x=None, y=None):
    if x is not None or y is not None:
        return tf.where(condition, x, y)
    if condition.dtype.name in ("half", "float16", *draws.RARE):  # without a kernel
        condition = tf.cast(condition, tf.float32)
    # jaxops' positions are int32 while 64-bit types are off.
    return tf.where(condition).numpy().astype(jax.dtypes.canonicalize_dtype(np.int64))


@compared("where", theirs=_where, moves=True)
def where(draw: Draw) -> Call:
    if chance(draw, 40):
        return positions(draw)
    wrong = fault(draw, "shape", "dtype", "kind", "alone")
    dtype = draws.dtype(draw, draws.MOVED)
    shape = draws.shape(draw, 0, 3)
    shapes = [_part(draw, shape) if chance(draw, 40) else shape for _ in range(3)]
    if wrong == "shape":
        place = integer(draw, 0, 2)
        shapes[place] = (*shapes[place], 7)
        shapes[place - 1] = (*shapes[place - 1], 5)
    kind = "int32" if wrong == "kind" else "bool"
    args: Args = {"condition": draws.array(draw, shapes[0], draws.dtype_of(kind))}
    args["x"] = draws.array(draw, shapes[1], dtype)
    if wrong == "dtype":
        dtype = draws.other(dtype)
    args["y"] = draws.array(draw, shapes[2], dtype)
    if wrong == "alone":
        del args[pick(draw, ["x", "y"])]
    # From the host y would take the dtype of x.
    return Call(args, on_device=wrong == "dtype")


def _part(draw: Draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    """What broadcasts to `shape`."""
    ones = [1 if chance(draw, 40) else dim for dim in shape]
    return tuple(ones[integer(draw, 0, len(shape)) :])


CONDITIONS = [*draws.BOOL, *draws.NUMERIC, *draws.RARE]


def _select(condition, t, e):
    return tf.raw_ops.Select(condition=condition, x=t, y=e)


@compared("v0.select", theirs=_select, moves=True)
def select(draw: Draw) -> Args:
    """Of TensorFlow 0.x, where nothing broadcasts."""
    wrong = fault(draw, "condition", "values", "kind")
    dtype = draws.dtype(draw, draws.MOVED)
    shape = draws.shape(draw, 0, 3)
    of_condition = pick(draw, [shape, shape[:1], ()])
    if wrong == "condition":
        of_condition = (*shape, 3)
    other = (*shape, 2) if wrong == "values" else shape
    kind = draws.dtype_of("int32" if wrong == "kind" else "bool")
    return {
        "condition": draws.array(draw, of_condition, kind),
        "t": draws.array(draw, shape, dtype),
        "e": draws.array(draw, other, dtype),
    }


def positions(draw: Draw, arg: str = "condition") -> Call:
    wrong = fault(draw, "scalar", "strings", percent=10)
    dtype = draws.dtype(draw, draws.STRINGS if wrong == "strings" else CONDITIONS)
    shape = () if wrong == "scalar" else draws.shape(draw, 1, 4)
    return Call({arg: draws.array(draw, shape, dtype)}, traced=())


def _v0_where(input=None, condition=None, x=None, y=None):
    if x is not None:
        return _select(condition, x, y)
    return _where(condition if input is None else input)


@compared(
    "v0.where",
    theirs=_v0_where,
    data=("input", "condition", "x", "y"),
    differentiable=("x", "y"),
    moves=True,
)
def v0_where(draw: Draw) -> Call:
    if chance(draw, 60):
        return positions(draw, pick(draw, ["input", "condition"]))
    return Call({{"t": "x", "e": "y"}.get(arg, arg): x for arg, x in select(draw).items()})


@compared("repeat", traced=("input",), bounded=True, moves=True, no_kernel=RARE | {"uint16"})
def repeat(draw: Draw) -> Call:
    wrong = fault(draw, "negative", "length", "rank", "axis", percent=20)
    x = draws.operand(draw, 0)
    args: Args = {"input": x}
    where = None
    if wrong == "axis" or chance(draw, 70):
        where = axis(draw, max(x.ndim, 1), wrong=wrong == "axis")
    length = x.size if where is None or x.ndim == 0 else x.shape[where] if wrong != "axis" else 2
    shape = pick(draw, [(), (length,), (length,), (1,)])
    if x.size == 0 and x.ndim > 1:
        shape = ()  # the difference "repeat of nothing", but for some shapes
    if wrong == "length":
        shape = (length + 2,)
    elif wrong == "rank":
        shape = (1, length)
    dtype = draws.index_dtype(draw)
    if dtype.name == "uint16":  # of which TensorFlow repeats no elements
        dtype = draws.dtype_of("uint8")
    repeats = draws.indices(draw, shape, 4, dtype)
    known = None
    if wrong == "negative" and repeats.size:
        repeats = np.where(np.arange(repeats.size).reshape(shape) == 0, -1, repeats.astype(int))
        # One for all TensorFlow refuses.
        known = "negative repeats" if repeats.size > 1 else None
    args["repeats"] = repeats
    if where is not None:
        args["axis"] = where
    return Call(args, known=known, their_gradient_fails=x.size == 0)


@compared("sequence_mask", "v0.sequence_mask", theirs=tf.sequence_mask, floats_for_indices=True)
def sequence_mask(draw: Draw) -> Call:
    wrong = fault(draw, "maxlen", "list", percent=15)
    lengths = draws.indices(draw, draws.shape(draw, 0, 2), 5, draws.index_dtype(draw))
    if chance(draw, 30) and lengths.dtype.kind == "i":
        lengths = lengths - lengths.dtype.type(2)
    args: Args = {"lengths": lengths}
    # TensorFlow has no ranges of other dtypes.
    if wrong or chance(draw, 70) or lengths.dtype.name not in ("int32", "int64"):
        args["maxlen"] = {"maxlen": -1, "list": [3]}.get(wrong or "", integer(draw, 0, 6))
    if chance(draw, 60):
        args["dtype"] = draws.dtype(draw, [*draws.BOOL, *draws.NUMERIC])
    return Call(args, traced=None if "maxlen" in args else ())


ORDERED = [*draws.INTEGERS, *draws.FLOATS]


@compared("searchsorted", differentiable=())
def searchsorted(draw: Draw) -> Call:
    wrong = fault(draw, "rows", "dtype", "kind", "scalar")
    dtype = draws.dtype(draw, draws.COMPLEX if wrong == "kind" else ORDERED)
    length, number = integer(draw, 0, 9), pick(draw, draws.DIMS)
    # TensorFlow cannot tell how many rows without elements there are.
    is_told = length and number and wrong != "rows"
    shape = draws.shape(draw, 0, 2, draws.DIMS if is_told else [2, 1])
    kind = pick(draw, ["all", "ordered"])
    rows = draws.array(draw, (*shape, length), dtype, kind)
    if wrong != "kind" and not chance(draw, 10):
        rows = np.sort(rows)
    batch = (*shape, 2) if wrong == "rows" else shape
    if wrong == "dtype":
        dtype = draws.other(dtype)
    args: Args = {
        "sorted_sequence": rows,
        "values": draws.array(draw, () if wrong == "scalar" else (*batch, number), dtype, kind),
    }
    return Call(args, on_device=wrong == "dtype")
