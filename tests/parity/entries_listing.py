"""Rolling, and lists of positions: roll, unravel_index, invert_permutation, setdiff1d."""

import draws
import numpy as np
from calls import Call
from draws import Args, Draw, axis, chance, fault, integer, pick
from entries import compared
from peer import tf

import jaxops


@compared("roll", moves=True)
def roll(draw: Draw) -> Args:
    wrong = fault(draw, "axis", "scalar", "shape", percent=20)
    shape = () if wrong == "scalar" else draws.shape(draw, 1, 3)
    x = draws.array(draw, shape, draws.dtype(draw, draws.MOVED))
    count = integer(draw, 0, 3)
    axes = [axis(draw, x.ndim) for _ in range(count)]
    kind = draws.index_dtype(draw)
    # TensorFlow's gradient negates the shift, in the dtype of the shift.
    far = [min(np.iinfo(kind).max, 2**31 - 1), max(np.iinfo(kind).min, 1 - 2**31)]
    shifts = [integer(draw, 0, 9) for _ in axes]
    if shifts and chance(draw, 20) and len({a % max(x.ndim, 1) for a in axes}) == len(axes):
        # With a second shift along its axis TensorFlow's sum would overflow.
        shifts[0] = pick(draw, far)
    shift = np.array(shifts, kind)
    if kind.kind == "i":
        # Further than the limits of int32 TensorFlow goes another way: differences.py, "roll far".
        shift = shift - np.array(5, kind) * ((shift >= 0) & (shift < 9))
    if wrong == "axis" and axes:
        axes[0] = axis(draw, x.ndim, wrong=True)
    elif wrong == "shape":
        shift = np.append(shift, np.array(1, kind))
    args: Args = {"input": x, "shift": shift, "axis": np.array(axes, np.int32)}
    if count == 1 and shift.size == 1 and chance(draw, 60):
        args |= {"shift": shift.reshape(()), "axis": axes[0]}
    return args


def _tf_unravel_index(indices, dims):
    return tf.unravel_index(indices, tf.cast(tf.constant(dims), indices.dtype))


@compared("unravel_index", theirs=_tf_unravel_index, bounded=True)
def unravel_index(draw: Draw) -> Call:
    wrong = fault(draw, *["index"] * 3, "rank", "dims", "zero", percent=20)
    dims = [pick(draw, [2, 3, 1, 4, 30]) for _ in range(integer(draw, 1, 3))]
    size = int(np.prod(dims))
    shape = pick(draw, [(1, 2), (0, 2)]) if wrong == "rank" else draws.shape(draw, 0, 1)
    kind = draws.dtype_of(pick(draw, ["int32", "int64"]))
    indices = draws.indices(draw, shape, size, kind)
    if wrong == "index" and indices.size:
        indices = indices + np.array(pick(draw, [size, 2**31 - 1 - size]), kind)
    elif wrong == "zero":
        dims[-1] = pick(draw, [0, -1])
    given = pick(draw, [size, [dims]]) if wrong == "dims" else dims
    known = None
    if shape == (0,) and wrong not in ("dims", "zero"):
        known = "unravel_index of nothing"
    return Call({"indices": indices, "dims": given}, known=known)


@compared("invert_permutation", bounded=True)
def invert_permutation(draw: Draw) -> Args:
    wrong = fault(draw, *["range", "twice"] * 2, "rank", percent=35)
    count = integer(draw, 0, 7)
    kind = draws.dtype_of(pick(draw, ["int32", "int64"]))
    x = draws.rng(draw).permutation(count).astype(kind)
    if wrong == "range" and count:
        x[integer(draw, 0, count - 1)] = pick(draw, [count, -1, 100])
    elif wrong == "twice" and count > 1:
        x[0] = x[1]
    elif wrong == "rank":
        x = x.reshape(1, -1)
    return {"x": x}


PARTS = ("hypothesis", "hypothesis_indices", "truth", "truth_indices")


def _by_parts(function, tensor):
    def call(
        hypothesis, hypothesis_indices, hypothesis_shape, truth, truth_indices, truth_shape,
        normalize=True,
    ):  # fmt: skip
        first = tensor(hypothesis_indices, hypothesis, hypothesis_shape)
        return function(first, tensor(truth_indices, truth, truth_shape), normalize)

    return call


@compared(
    "edit_distance",
    ours=_by_parts(jaxops.edit_distance, jaxops.SparseTensor),
    theirs=_by_parts(tf.edit_distance, tf.SparseTensor),
    data=PARTS,
    traced=(),
)
def edit_distance(draw: Draw) -> Call:
    dtype = draws.dtype(draw, [*draws.BOOL, *draws.INTEGERS, "float32", "float64", "bytes"])
    wrong = fault(draw, "rank", "outside", "rank 1", "dtype", "nothing")
    rank = 2 if wrong == "rank 1" else integer(draw, 2, 3)
    args: Args = {}
    for arg in ("hypothesis", "truth"):
        shape = [pick(draw, [1, 2, 3]) for _ in range(rank - 1)]
        if wrong == "nothing":
            shape[0] = 0
        lengths = {at: integer(draw, 0, 4) for at in np.ndindex(*shape)}
        places = np.array([(*at, n) for at in lengths for n in range(lengths[at])], np.int64)
        shape.append(max(lengths.values(), default=1))
        places = places.reshape(-1, rank)
        if wrong == "outside" and arg == "truth" and len(places):
            places[-1, 0] = 9
        if wrong == "rank 1" or (wrong == "rank" and arg == "truth"):
            places, shape = places[:, 1:], shape[1:]
        values = draws.values(draws.rng(draw), (len(places),), np.dtype(bool), "all")
        own = dtype if wrong != "dtype" or arg == "truth" else np.dtype(np.int32)
        values = np.where(values, b"a", b"b") if own.kind == "S" else values.astype(own)
        args |= {arg: values, f"{arg}_indices": places, f"{arg}_shape": tuple(shape)}
    return Call(args, known="edit_distance of nothing" if wrong == "nothing" else None)


def _tf_meshgrid(args, indexing="xy"):
    return tf.meshgrid(*args, indexing=indexing)


@compared("meshgrid", theirs=_tf_meshgrid)
def meshgrid(draw: Draw) -> Args:
    dtype = draws.dtype(draw, [*draws.BOOL, *draws.NUMERIC])
    arrays = [
        draws.array(draw, draws.shape(draw, 0, 2), dtype, "finite")
        for _ in range(integer(draw, 1, 4))
    ]
    return {"args": arrays}


LISTED = [*draws.INTEGERS, *draws.FLOATS, *draws.STRINGS]


@compared("setdiff1d", traced=())
def setdiff1d(draw: Draw) -> Args:
    wrong = fault(draw, "rank of x", "rank of y", "dtype")
    dtype = draws.dtype(draw, draws.COMPLEX if wrong == "dtype" else LISTED)
    # TensorFlow tells -0 from 0 in 16 bits.
    kind = "ordered" if dtype.name in draws.HALVES else pick(draw, ["finite", "summable"])
    shapes = [(1, 2) if wrong == f"rank of {arg}" else (integer(draw, 0, 7),) for arg in "xy"]
    x, y = (draws.array(draw, shape, dtype, kind) for shape in shapes)
    return {"x": x, "y": y}
