"""Gathers and scatters."""

import dataclasses

import draws
import jax.numpy as jnp
import numpy as np
from calls import Call
from draws import Args, Draw, chance, fault, integer, pick
from entries import compared
from peer import tf


def policy(
    draw: Draw,
    wrong: str | None,
    bounds: tuple[int, ...],
    modes: tuple[str, ...],
    words: bool = False,
) -> Args:
    """`mode`, which jaxops alone has, where there is something to index.

    With `words` it may be TensorFlow's word for a mode, by its name. None where a call is `wrong`
    by more than its indices.
    """
    if wrong in (None, "out of bounds") and 0 not in bounds:
        if chance(draw, 30):
            return {"mode": pick(draw, modes)}
        if words and chance(draw, 20):
            return {"bad_indices_policy": pick(draw, ["", "DEFAULT", "ERROR", "IGNORE"])}
    return {}


def in_bounds(indices, bounds, mode: str):
    """What jaxops reads in modes "clip" and "wrap"; TensorFlow has neither."""
    bounds = tf.cast(bounds, indices.dtype)
    if mode == "clip":
        return tf.clip_by_value(indices, tf.zeros_like(bounds), bounds - 1)
    return tf.math.floormod(indices, bounds) if mode == "wrap" else indices


def words_for(mode: str) -> str:
    return "IGNORE" if mode == "fill" else ""


def _gather(
    params, indices, validate_indices=None, axis=None, batch_dims=0, mode="", deterministic=False
):
    if mode in ("clip", "wrap"):
        batch = batch_dims % max(indices.shape.rank, 1) if batch_dims < 0 else batch_dims
        indices = in_bounds(indices, params.shape[batch if axis is None else axis], mode)
    return tf.gather(params, indices, validate_indices, axis, batch_dims)


INT4 = frozenset(draws.INT4)


@compared("gather", theirs=_gather, bounded=True, moves=True, no_kernel=INT4)
def gather(draw: Draw) -> Call:
    params = draws.operand(draw, 1)
    wrong = fault(draw, *["out of bounds"] * 4, "axis", "batch", "batch_dims", "scalar", percent=30)
    rank = params.ndim
    batch = integer(draw, 0, min(rank - 1, 2)) if chance(draw, 50) else 0
    axis = integer(draw, batch, rank - 1)
    shape = (*params.shape[:batch], *draws.shape(draw, 0, 2))
    if wrong == "batch" and batch:
        shape = (shape[0] + 1, *shape[1:])
    bound = params.shape[axis]
    if bound == 0 and wrong is None:
        shape = (*shape, 0)  # no index is in bounds
    dtype = draws.index_dtype(draw)
    indices = draws.indices(draw, shape, bound, dtype, wrong == "out of bounds")
    if wrong == "scalar" and params.size == 1:
        params = params.reshape([])
    args: Args = {"params": params, "indices": indices}
    if wrong == "axis":
        axis = pick(draw, [rank, -rank - 1])
    elif chance(draw, 30):
        axis -= rank
    if wrong == "batch_dims":
        batch = pick(draw, [len(shape) + 1, -len(shape) - 1, rank])
    elif chance(draw, 20) and shape:
        batch -= len(shape)
    if axis != batch or chance(draw, 50):
        args["axis"] = axis
    args["batch_dims"] = batch
    known = None
    ignored = args.get("batch_dims", 0) not in (0, -indices.ndim)
    inside = ((indices >= 0) & (indices < (len(params) if params.ndim else 0))).all()
    if args.get("axis") == 0 and ignored and inside:
        known = "batch_dims at axis 0"
    else:
        args |= policy(draw, wrong, params.shape, ("error", "clip", "wrap"))
    return Call(args, known=known, their_gradient_fails=params.size == 0)


def _batch_gather(params, indices, mode="", deterministic=False):
    if mode in ("clip", "wrap"):
        indices = in_bounds(indices, params.shape[indices.shape.rank - 1], mode)
    return tf.compat.v1.batch_gather(params, indices)


@compared("batch_gather", theirs=_batch_gather, bounded=True, moves=True, no_kernel=INT4)
def batch_gather(draw: Draw) -> Call:
    params = draws.operand(draw, 1)
    wrong = fault(draw, *["out of bounds"] * 3, "batch", "scalar")
    batch = integer(draw, 0, params.ndim - 1)
    bound = params.shape[batch]
    shape = [*params.shape[:batch], pick(draw, draws.DIMS) if bound else 0]
    if wrong == "batch" and batch:
        shape[0] += 1
    elif wrong == "scalar":
        shape = []
    indices = draws.indices(draw, shape, bound, draws.index_dtype(draw), wrong == "out of bounds")
    known = None
    if wrong == "out of bounds" and indices.size:
        rows = np.arange(indices.size // indices.shape[-1]).reshape(*indices.shape[:-1], 1)
        places = indices.astype(np.int64) + bound * rows  # among the elements of all rows
        is_bad = ((indices < 0) | (indices >= bound)).any()
        if is_bad and ((places >= 0) & (places < bound * rows.size)).all():
            known = "index beyond a row"
    options = policy(draw, known or wrong, params.shape, ("error", "clip", "wrap"))
    args = {"params": params, "indices": indices, **options}
    return Call(args, known=known, their_gradient_fails=params.size == 0)


def index_vectors(
    draw: Draw, shape: tuple[int, ...], bounds: tuple[int, ...], out_of_bounds: bool
) -> np.ndarray:
    """Vectors of as many components as there are bounds; `shape` is that of the rest."""
    if 0 in bounds and not out_of_bounds:
        shape = (*shape[:-1], 0)  # no vector is in bounds
    dtype = draws.index_dtype(draw)
    result = np.zeros((*shape, len(bounds)), dtype)
    wrong = integer(draw, 0, len(bounds) - 1) if bounds and out_of_bounds else None
    for n, bound in enumerate(bounds):
        result[..., n] = draws.indices(draw, shape, bound, dtype, n == wrong)
    return result


def _gather_nd(params, indices, batch_dims=0, bad_indices_policy="", mode="", deterministic=False):
    bounds = params.shape[batch_dims : batch_dims + indices.shape[-1]]
    indices = in_bounds(indices, bounds, mode)
    words = bad_indices_policy or words_for(mode)
    return tf.gather_nd(params, indices, batch_dims, bad_indices_policy=words)


@compared("gather_nd", theirs=_gather_nd, bounded=True, moves=True, no_kernel=INT4)
def gather_nd(draw: Draw) -> Call:
    params = draws.operand(draw, 1, 4)
    wrong = fault(draw, *["out of bounds"] * 4, "depth", "batch", "batch_dims", "scalar")
    batch = integer(draw, 0, min(2, params.ndim - 1)) if chance(draw, 40) else 0
    depth = integer(draw, int(wrong == "out of bounds"), params.ndim - batch)
    if wrong == "batch" and batch == 0:
        wrong = None  # nothing can be wrong there
    bounds = params.shape[batch : batch + depth]
    shape = (*params.shape[:batch], *draws.shape(draw, 0, 2))
    if wrong == "batch" and batch:
        shape = (shape[0] + 1, *shape[1:])
    if 0 in bounds and len(shape) == batch:
        shape = (*shape, 0)
    indices = index_vectors(draw, shape, bounds, wrong == "out of bounds")
    if wrong == "depth":
        indices = np.zeros((*shape, params.ndim - batch + 1), indices.dtype)
    elif wrong == "batch_dims":
        batch = pick(draw, [indices.ndim, indices.ndim + 1, -1])
    elif wrong == "scalar":
        indices = np.zeros((), indices.dtype)
    elif wrong is None and indices.dtype.name in ("int32", "int64") and chance(draw, 3):
        params = draws.array(draw, (), params.dtype)
        indices, batch = np.zeros((*draws.shape(draw, 0, 2), 0), indices.dtype), 0
    modes = ("error", "fill", "clip", "wrap")
    options = policy(draw, wrong, params.shape, modes, words=True)
    args: Args = {"params": params, "indices": indices, "batch_dims": batch, **options}
    # Also where the vectors are empty: each selects all of params.
    vectors = indices.shape[:-1]
    known = "gather_nd of a scalar" if wrong is None and params.ndim == 0 else None
    if wrong is None and params.size == 0 and 0 not in vectors:
        known = "nothing to index"
    elif wrong == "batch" and indices.shape[-1:] == (0,):
        known = "batches that disagree, vectors of no components"
    fails = indices.shape[-1:] == (0,) or params.size == 0 or indices.ndim == 1
    return Call(args, known=known, their_gradient_fails=fails)


def scatter(
    draw: Draw,
    dtypes: tuple[str, ...],
    refused: tuple[str, ...] = (),
    kind: str = "summable",
    new: bool = False,
) -> Call:
    """Of `tensor_scatter_nd_*`, `kind` being that of the values; with `new` of `scatter_nd`."""
    overwrites = kind == "all"
    shape = draws.shape(draw, 1, 3)
    faults = ["out of bounds"] * 6 + ["depth", "updates", "dtype", "scalar", "rank"]
    wrong = fault(draw, *faults, *["refused"] * bool(refused), percent=35)
    dtype = draws.dtype(draw, refused if wrong == "refused" else dtypes)
    depth = integer(draw, 1, len(shape))
    rows = draws.shape(draw, 1, 2)
    indices = index_vectors(draw, rows, shape[:depth], wrong == "out of bounds")
    rest = shape[depth:]
    if wrong == "depth":
        indices = np.zeros((*rows, len(shape) + 1), indices.dtype)
    elif wrong == "updates":
        rest = (*rest, 2) if chance(draw, 50) else (*rest[:-1], sum(rest[-1:]) + 1)
    elif wrong == "rank":
        indices = indices.reshape(-1)[:1].reshape([]) if indices.size else np.array(0)
    elif wrong == "scalar":
        shape = ()
    updates = draws.array(draw, (*indices.shape[:-1], *rest), dtype, kind)
    if new and updates.dtype.kind not in "SO":  # XLA may keep a -0 that is added to 0
        updates = updates + np.zeros_like(updates)
    known = "nothing to index" if wrong is None and 0 in shape and indices.size else None
    if wrong == "updates" and rest[-1:] == (1,) and shape[depth:][-1:] == (0,):
        known = "updates that broadcast"
    if wrong is None and 0 not in shape and chance(draw, 4):
        known, indices, updates = rare_vectors(draw, shape, dtype, kind, indices.dtype)
    modes = ("error",) if overwrites else ("error", "fill", "clip", "wrap")
    options = policy(draw, known or wrong, shape, modes, words=not overwrites)
    if new:
        target = list(shape)
        if wrong == "dtype":
            target = [-1, *target[1:]] if chance(draw, 50) else [float(n) for n in target]
        args = {"indices": indices, "updates": updates, "shape": target, **options}
        return _with_their_gradient(Call(args, known=known), wrong)
    tensor = draws.array(draw, shape, draws.other(dtype) if wrong == "dtype" else dtype, kind)
    is_wider = tensor.dtype.kind == "f" or np.can_cast(updates.dtype, tensor.dtype)
    if wrong == "dtype" and jnp.issubdtype(updates.dtype, jnp.integer) and is_wider:
        known = "updates of integers"
    if kind == "summable":
        options["deterministic"] = chance(draw, 10)
        if options["deterministic"]:  # whose scan makes 0 of -0
            tensor = tensor + np.zeros_like(tensor)
    if kind == "ordered" and wrong is None and known is None:
        known = nans(draw, tensor, indices, updates)
    args = {"tensor": tensor, "indices": indices, "updates": updates, **options}
    listed = np.atleast_1d(indices)
    vectors = listed.reshape(-1, listed.shape[-1]).tolist() if indices.size else []
    repeated = len({tuple(v) for v in vectors}) < len(vectors)
    call = Call(
        args,
        known=known,
        on_device=wrong == "dtype",  # from the host they would take the other dtype
        overwritten=("updates",) if repeated and overwrites else (),
        nan_gradient=kind == "ordered" and bool((tensor != tensor).any()),
    )
    return _with_their_gradient(call, wrong)


def _with_their_gradient(call: Call, wrong: str | None) -> Call:
    """The call without a gradient where TensorFlow's would read what the scatter ignores."""
    modes = {call.args.get("mode"), call.args.get("bad_indices_policy")}
    if wrong == "out of bounds" and modes & {"fill", "IGNORE"}:
        return dataclasses.replace(call, gradient=False)
    return call


def nans(draw: Draw, tensor: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> str | None:
    """Puts NaN into the tensor, and now and then into the updates, which is a difference."""
    if not draws.is_float(tensor.dtype):
        return None
    if tensor.size and chance(draw, 20):
        tensor.reshape(-1)[integer(draw, 0, tensor.size - 1)] = np.nan
    if updates.size and chance(draw, 5):
        depth = indices.shape[-1]
        tensor[tuple(indices.reshape(-1, depth)[0])] = 1
        updates.reshape(-1, *tensor.shape[depth:])[0] = np.nan
        return "NaN among updates"
    return None


def rare_vectors(
    draw: Draw, shape: tuple[int, ...], dtype: np.dtype, kind: str, index_dtype: np.dtype
) -> tuple[str, np.ndarray, np.ndarray]:
    """A vector that is alone, or an empty one: what only jaxops takes."""
    if chance(draw, 50):
        indices = index_vectors(draw, (1,), shape, False)[0]
        return "one index vector", indices, draws.array(draw, (), dtype, kind)
    indices = np.zeros((1, 0), index_dtype)
    return "empty index vectors", indices, draws.array(draw, (1, *shape), dtype, kind)


def _scatter_nd(indices, updates, shape, bad_indices_policy="", mode="", deterministic=False):
    indices = in_bounds(indices, shape[: indices.shape[-1]], mode)
    shape = tf.constant(shape, indices.dtype)
    return tf.scatter_nd(indices, updates, shape, bad_indices_policy or words_for(mode))


@compared("scatter_nd", theirs=_scatter_nd, bounded=True, widens=True)
def scatter_nd(draw: Draw) -> Call:
    return scatter(draw, (*draws.BOOL, *NUMERIC, *draws.STRINGS), new=True)


def scattering_into(function):
    def call(tensor, indices, updates, bad_indices_policy="", mode="", deterministic=False):
        indices = in_bounds(indices, tensor.shape[: indices.shape[-1]], mode)
        words = bad_indices_policy or words_for(mode)
        return function(tensor, indices, updates, bad_indices_policy=words)

    return call


@scattering_into
def _update(tensor, indices, updates, bad_indices_policy):
    return tf.raw_ops.TensorScatterUpdate(
        tensor=tensor, indices=indices, updates=updates, bad_indices_policy=bad_indices_policy
    )


REAL = (*draws.INTEGERS, *draws.FLOATS, *draws.RARE)
NUMERIC = (*draws.NUMERIC, *draws.RARE)


@compared("tensor_scatter_nd_update", theirs=_update, bounded=True, moves=True)
def update(draw: Draw) -> Call:
    return scatter(draw, tuple(draws.MOVED), kind="all")


def added(draw: Draw) -> Call:
    return scatter(draw, NUMERIC, refused=("bool", "bytes"))


def ordered(draw: Draw) -> Call:
    refused = ("bool", "bytes", *draws.COMPLEX)
    return scatter(draw, REAL, refused, kind="ordered")


for kind, drawing in [("add", added), ("sub", added), ("min", ordered), ("max", ordered)]:
    name = f"tensor_scatter_nd_{kind}"
    theirs = scattering_into(getattr(tf, name))
    compared(name, theirs=theirs, bounded=True, widens=True)(drawing)
