"""The segment reductions."""

import draws
import jax
import numpy as np
from calls import Call
from draws import Args, Draw, chance, fault, integer, pick
from entries import compared
from peer import tf

# In a wider dtype, which TensorFlow gets for those that it has no kernel for, extrema of no numbers
# and means of sums that wrap are others.
REAL = [*draws.INTEGERS, *draws.FLOATS]
NUMERIC = [*draws.NUMERIC, *draws.RARE]


def unsorted(draw: Draw, dtypes: list[str], refused: list[str], kind: str) -> Call:
    wrong = fault(draw, *["out of bounds"] * 3, "shape", "number", "refused")
    dtype = draws.dtype(draw, refused if wrong == "refused" else dtypes)
    shape = draws.shape(draw, 0, 2)
    number = -1 if wrong == "number" else integer(draw, 0, 4)
    ids = draws.indices(draw, shape, max(number, 0), draws.index_dtype(draw))
    if ids.size and ids.dtype.kind == "i" and (number == 0 or chance(draw, 30)):
        ids.reshape(-1)[integer(draw, 0, ids.size - 1)] = -1
        if number == 0:
            ids[...] = -1
    elif number == 0 and ids.size:
        number = 1
    if wrong == "out of bounds" and ids.size:
        ids.reshape(-1)[integer(draw, 0, ids.size - 1)] = pick(draw, [number, number + 2, 100])
    rest = draws.shape(draw, 0, 2)
    data = draws.array(draw, ((*shape, 7) if wrong == "shape" else (*shape, *rest)), dtype, kind)
    if wrong == "shape":
        ids = np.zeros((*shape, 5), ids.dtype)
    args: Args = {"data": data, "segment_ids": ids, "num_segments": number}
    # The difference "gradient of no segments".
    return Call(args, their_gradient_fails=number == 0 and ids.size > 0)


def sorted_ids(draw: Draw, count: int, wrong: str | None, counts=None) -> np.ndarray:
    """Numbers that do not decrease, of segments of which some may be empty."""
    ids = np.sort(draws.indices(draw, (count,), 4, draws.index_dtype(draw)))
    if counts is not None and count == sum(counts):
        ids = np.repeat(np.arange(3, dtype=ids.dtype), counts)
    if count and wrong in ("negative", "not sorted"):
        at = integer(draw, 0, max(count - 2, 0))
        ids = ids.astype(np.int64) if ids.dtype.kind == "u" else ids
        ids[at] = -1 if wrong == "negative" else 5
    return ids


def sorted_(draw: Draw, dtypes: list[str], refused: list[str], kind: str) -> Args:
    wrong = fault(draw, "negative", "not sorted", "length", "rank", "refused")
    shape = draws.shape(draw, 1, 3)
    dtype = draws.dtype(draw, refused if wrong == "refused" else dtypes)
    ids = sorted_ids(draw, shape[0] + (wrong == "length"), wrong)
    if wrong == "rank":
        ids = ids[:, None]
    return {"data": draws.array(draw, shape, dtype, kind), "segment_ids": ids}


def sparse(draw: Draw, dtypes: list[str], refused: list[str], kind: str) -> Call:
    """Means are of 1 or 4 rows: TensorFlow multiplies by the reciprocals, exact of these."""
    faults = ["out of bounds"] * 2 + ["negative", "not sorted", "length", "number", "refused"]
    wrong = fault(draw, *faults)
    shape = draws.shape(draw, 1, 3)
    dtype = draws.dtype(draw, refused if wrong == "refused" else dtypes)
    counts = [pick(draw, [0, 1, 4]) for _ in range(3)]
    count = sum(counts) if shape[0] or wrong == "out of bounds" else 0
    indices = draws.indices(draw, (count,), max(shape[0], 1), draws.index_dtype(draw))
    if wrong == "out of bounds" and count:
        indices[integer(draw, 0, count - 1)] = pick(draw, [shape[0], shape[0] + 2, 100])
    of_means = None if kind == "sum" else counts
    ids = sorted_ids(draw, count + (wrong == "length"), wrong, of_means)
    args: Args = {
        "data": draws.array(draw, shape, dtype, "finite"),
        "indices": indices,
        "segment_ids": ids,
    }
    if chance(draw, 50) or wrong == "number":
        largest = int(ids.max()) if ids.size else 0
        args["num_segments"] = largest if wrong == "number" else largest + integer(draw, 1, 3)
    # Without indices TensorFlow's gradient is what stood in its memory.
    return Call(args, gradient=count > 0)


def _as_jax_has_it(mean):
    """float64 as float32, while 64-bit types are off."""
    return lambda *args, **kwargs: _narrow(mean(*args, **kwargs))


def _narrow(x):
    dtype = jax.dtypes.canonicalize_dtype(np.float64)
    return tf.cast(x, dtype) if x.dtype == tf.float64 else x


def _in_float32(mean):
    """Of halves by way of float32: the difference "means of halves"."""

    def call(data, *args, **kwargs):
        if data.dtype not in (tf.bfloat16, tf.float16):
            return mean(data, *args, **kwargs)
        return tf.cast(mean(tf.cast(data, tf.float32), *args, **kwargs), data.dtype)

    return call


STRANGE = ["bool", "bytes"]
NOT_REAL = [*STRANGE, *draws.COMPLEX]
ALL, OF_REAL = (NUMERIC, STRANGE), (REAL, NOT_REAL)
OF_FLOATS = (draws.FLOATS, [*NOT_REAL, "int32"])
# By function: dtypes that are taken, and some that are not.
TAKEN = {
    "unsorted_segment_sum": ALL,
    "unsorted_segment_mean": OF_REAL,
    "unsorted_segment_sqrt_n": OF_FLOATS,
    "unsorted_segment_prod": ALL,
    "unsorted_segment_min": OF_REAL,
    "unsorted_segment_max": OF_REAL,
    "segment_sum": ALL,
    "segment_mean": ([*REAL, *draws.COMPLEX], STRANGE),
    "segment_prod": ALL,
    "segment_min": OF_REAL,
    "segment_max": OF_REAL,
    "sparse_segment_sum": (REAL, STRANGE),
    "sparse_segment_mean": (draws.FLOATS, [*STRANGE, "int32"]),
    "sparse_segment_sqrt_n": (draws.FLOATS, [*STRANGE, "int32"]),
}


def compare(name: str) -> None:
    way, _, kind = name.rpartition("segment_")
    options: Args = {"bounded": True}
    if way == "":
        options = {"traced": ("data",)}
    elif way == "sparse_":
        options["traced"] = ("data", "indices")
    if name == "unsorted_segment_mean":
        options["theirs"] = _in_float32(_as_jax_has_it(tf.math.unsorted_segment_mean))
    elif name in ("unsorted_segment_sqrt_n", "segment_mean"):
        options["theirs"] = _in_float32(getattr(tf.math, name))
    values = kind if way == "sparse_" else "ordered" if kind in ("min", "max") else "finite"
    drawing = {"": sorted_, "unsorted_": unsorted, "sparse_": sparse}[way]
    entry = compared(name, widens=True, divides=kind == "prod", **options)
    entry(lambda draw: drawing(draw, *TAKEN[name], values))


for name in TAKEN:
    compare(name)
