"""Gathers and scatters."""

from __future__ import annotations

import dataclasses
from typing import Any

import draws
import numpy as np
from calls import Call, Entry
from draws import Draw, chance, fault, integer, pick
from hypothesis import strategies as st
from peer import tf

import jaxops


def policy(
    draw: Draw, bounds: tuple[int, ...], modes: tuple[str, ...], words: bool = False, **also: int
) -> dict:
    """Options of jaxops alone: `mode`, where there is something to index; `also`, in percent.

    With `words` also TensorFlow's word for a mode, by its name.
    """
    keywords: dict[str, Any] = {
        name: True for name, percent in also.items() if chance(draw, percent)
    }
    if 0 not in bounds and chance(draw, 30):
        keywords["mode"] = pick(draw, modes)
    elif words and 0 not in bounds and chance(draw, 20):
        keywords["bad_indices_policy"] = pick(draw, ["", "DEFAULT", "ERROR", "IGNORE"])
    return keywords


def forgiving(mode: str | None) -> bool:
    """Whether an index out of bounds is no error."""
    return mode in ("fill", "clip", "wrap")


def in_bounds(indices, bounds, mode: str):
    """What jaxops reads in modes "clip" and "wrap"; TensorFlow has neither."""
    bounds = tf.cast(bounds, indices.dtype)
    if mode == "clip":
        return tf.clip_by_value(indices, tf.zeros_like(bounds), bounds - 1)
    return tf.math.floormod(indices, bounds) if mode == "wrap" else indices


def words_for(mode: str) -> str:
    return "IGNORE" if mode == "fill" else ""


@st.composite
def gather(draw: Draw) -> Call:
    params = draws.array(draw, draws.shape(draw, 1, 3), draws.dtype(draw, draws.MOVED))
    wrong = fault(draw, *["out of bounds"] * 4, "axis", "batch", "batch_dims", "kind", percent=30)
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
    if wrong == "kind":
        indices = draws.no_indices(draw, indices)
        params = params.reshape([] if params.size == 1 else params.shape)
    args: dict[str, Any] = {"params": params, "indices": indices}
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
    if batch or chance(draw, 30):
        args["batch_dims"] = batch
    if chance(draw, 40):
        args["validate_indices"] = pick(draw, [None, True, False])
    known = None
    ignored = args.get("batch_dims", 0) not in (0, -indices.ndim)
    inside = ((indices >= 0) & (indices < (len(params) if params.ndim else 0))).all()
    keywords = {}
    if args.get("axis") == 0 and ignored and inside:
        known = "batch_dims at axis 0"
    elif wrong in (None, "out of bounds"):
        keywords = policy(draw, params.shape, ("error", "clip", "wrap"), deterministic=10)
    order = ("params", "indices", "validate_indices", "axis", "batch_dims")
    fails = params.size == 0
    return draws.finish(
        draw, args, order, known=known, keywords=keywords, their_gradient_fails=fails
    )


@st.composite
def batch_gather(draw: Draw) -> Call:
    params = draws.array(draw, draws.shape(draw, 1, 3), draws.dtype(draw, draws.MOVED))
    wrong = fault(draw, *["out of bounds"] * 3, "batch", "scalar", "kind", percent=30)
    batch = integer(draw, 0, params.ndim - 1)
    bound = params.shape[batch]
    shape = [*params.shape[:batch], pick(draw, draws.DIMS) if bound else 0]
    if wrong == "batch" and batch:
        shape[0] += 1
    elif wrong == "scalar":
        shape = []
    indices = draws.indices(draw, shape, bound, draws.index_dtype(draw), wrong == "out of bounds")
    if wrong == "kind":
        indices = draws.no_indices(draw, indices)
    keywords = {}
    if wrong in (None, "out of bounds"):
        keywords = policy(draw, params.shape, ("error", "clip", "wrap"), deterministic=10)
    args: dict[str, Any] = {"params": params, "indices": indices}
    fails = params.size == 0
    order = ("params", "indices")
    return draws.finish(draw, args, order, keywords=keywords, their_gradient_fails=fails)


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


@st.composite
def gather_nd(draw: Draw) -> Call:
    params = draws.array(draw, draws.shape(draw, 1, 4), draws.dtype(draw, draws.MOVED))
    faults = ["out of bounds"] * 4 + ["depth", "batch", "batch_dims", "kind", "scalar"]
    wrong = fault(draw, *faults, percent=30)
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
    elif wrong == "kind":
        indices = draws.no_indices(draw, indices)
    elif wrong == "scalar":
        indices = np.zeros((), indices.dtype)
    elif wrong is None and indices.dtype.name in ("int32", "int64") and chance(draw, 3):
        params = draws.array(draw, (), params.dtype)
        indices, batch = np.zeros((*draws.shape(draw, 0, 2), 0), indices.dtype), 0
    args: dict[str, Any] = {"params": params, "indices": indices}
    if batch or chance(draw, 30):
        args["batch_dims"] = batch
    # Also where the vectors are empty: each selects all of params.
    vectors = indices.shape[:-1]
    known = "gather_nd of a scalar" if wrong is None and params.ndim == 0 else None
    if wrong is None and params.size == 0 and 0 not in vectors:
        known = "nothing to index"
    elif wrong == "batch" and indices.shape[-1:] == (0,):
        known = "batches that disagree, vectors of no components"
    return draws.finish(
        draw,
        args,
        ("params", "indices", "batch_dims"),
        known=known,
        keywords=policy(
            draw, params.shape, ("error", "fill", "clip", "wrap"), words=True, deterministic=10
        )
        if wrong in (None, "out of bounds")
        else {},
        their_gradient_fails=indices.shape[-1:] == (0,) or params.size == 0 or indices.ndim == 1,
    )


@st.composite
def scatter(
    draw: Draw,
    dtypes: tuple[str, ...],
    refused: tuple[str, ...] = (),
    kind: str = "summable",
    new: bool = False,
    adds: bool = True,
) -> Call:
    """Of `tensor_scatter_nd_*`, `kind` being that of the values; with `new` of `scatter_nd`."""
    overwrites = kind == "all"
    shape = draws.shape(draw, 1, 3)
    faults = ["out of bounds"] * 6 + ["depth", "updates", "dtype", "kind", "scalar", "rank"]
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
    elif wrong == "kind":
        indices = draws.no_indices(draw, indices)
    elif wrong == "rank":
        indices = indices.reshape(-1)[:1].reshape([]) if indices.size else np.array(0)
    elif wrong == "scalar":
        shape = ()
    updates = draws.array(draw, (*indices.shape[:-1], *rest), dtype, kind)
    if new and updates.dtype.kind not in "SO":  # XLA may keep a -0 that is added to 0
        updates = updates + np.zeros_like(updates)
    known = "nothing to index" if wrong is None and 0 in shape and indices.size else None
    if wrong is None and 0 not in shape and chance(draw, 4):
        known, indices, updates = rare_vectors(draw, shape, dtype, kind, indices.dtype)
    keywords = {}
    if wrong in (None, "out of bounds") and known is None:
        also = {"deterministic": 10} if adds else {}
        modes = ("error", "fill", "clip", "wrap")
        keywords = policy(draw, shape, modes, words=not overwrites, **also)
        if overwrites and forgiving(keywords.get("mode")):
            keywords = {}  # what is overwritten would depend on it
    if new:
        target = list(shape)
        if wrong == "dtype":
            target = [-1, *target[1:]] if chance(draw, 50) else [float(n) for n in target]
        args = {"indices": indices, "updates": updates, "shape": target}
        order = ("indices", "updates", "shape")
        call = draws.finish(draw, args, order, known=known, keywords=keywords)
        return _with_their_gradient(call, wrong)
    other = draws.dtype_of("int32" if dtype.name != "int32" else "float32")
    tensor = draws.array(draw, shape, other if wrong == "dtype" else dtype, kind)
    if kind == "ordered" and wrong is None and known is None:
        known = nans(draw, tensor, indices, updates)
    args: dict[str, Any] = {"tensor": tensor, "indices": indices, "updates": updates}
    listed = np.atleast_1d(indices)
    vectors = listed.reshape(-1, listed.shape[-1]).tolist() if indices.size else []
    repeated = len({tuple(v) for v in vectors}) < len(vectors)
    call = draws.finish(
        draw,
        args,
        ("tensor", "indices", "updates"),
        known=known,
        keywords=keywords,
        on_device=wrong == "dtype",  # from the host they would take the other dtype
        overwritten=("updates",) if repeated and overwrites else (),
        nan_gradient=kind == "ordered" and draws.is_float(tensor.dtype) and np.isnan(tensor).any(),
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


def _gather(
    params, indices, validate_indices=None, axis=None, batch_dims=0, mode="", deterministic=False
):
    if mode in ("clip", "wrap"):
        batch = batch_dims % max(indices.shape.rank, 1) if batch_dims < 0 else batch_dims
        indices = in_bounds(indices, params.shape[batch if axis is None else axis], mode)
    return tf.gather(params, indices, validate_indices, axis, batch_dims)


def _gather_nd(params, indices, batch_dims=0, bad_indices_policy="", mode="", deterministic=False):
    bounds = params.shape[batch_dims : batch_dims + indices.shape[-1]]
    indices = in_bounds(indices, bounds, mode)
    words = bad_indices_policy or words_for(mode)
    return tf.gather_nd(params, indices, batch_dims, bad_indices_policy=words)


def _batch_gather(params, indices, mode="", deterministic=False):
    if mode in ("clip", "wrap"):
        indices = in_bounds(indices, params.shape[indices.shape.rank - 1], mode)
    return tf.compat.v1.batch_gather(params, indices)


def _scatter_nd(indices, updates, shape, bad_indices_policy="", mode="", deterministic=False):
    indices = in_bounds(indices, shape[: indices.shape[-1]], mode)
    shape = tf.constant(shape, indices.dtype)
    return tf.scatter_nd(indices, updates, shape, bad_indices_policy or words_for(mode))


def scattering_into(function):
    def call(tensor, indices, updates, bad_indices_policy="", mode="", deterministic=False):
        indices = in_bounds(indices, tensor.shape[: indices.shape[-1]], mode)
        words = bad_indices_policy or words_for(mode)
        return function(tensor, indices, updates, bad_indices_policy=words)

    return call


def _update(tensor, indices, updates, bad_indices_policy):
    return tf.raw_ops.TensorScatterUpdate(
        tensor=tensor, indices=indices, updates=updates, bad_indices_policy=bad_indices_policy
    )


def gathering(ours, theirs, calls) -> Entry:
    return Entry(
        ours,
        theirs,
        calls,
        ("params", "indices"),
        indices=("indices",),
        bounded=True,
        differentiable=("params",),
        moves=True,
        no_kernel=frozenset(draws.INT4),
    )


def scattering(name: str, calls, theirs=None, **options) -> Entry:
    return Entry(
        getattr(jaxops, name),
        scattering_into(theirs or getattr(tf, name)),
        calls,
        ("tensor", "indices", "updates"),
        indices=("indices",),
        bounded=True,
        differentiable=("tensor", "updates"),
        no_kernel=frozenset(draws.RARE),
        **options,
    )


REAL = (*draws.INTEGERS, *draws.FLOATS, *draws.RARE)
NUMERIC = (*draws.NUMERIC, *draws.RARE)
ADDED = scatter(NUMERIC, refused=("bool", "bytes"))
ORDERED = scatter(REAL, refused=("bool", "bytes", *draws.COMPLEX), kind="ordered", adds=False)
ENTRIES = {
    "gather": gathering(jaxops.gather, _gather, gather()),
    "gather_nd": gathering(jaxops.gather_nd, _gather_nd, gather_nd()),
    "batch_gather": gathering(jaxops.batch_gather, _batch_gather, batch_gather()),
    "scatter_nd": Entry(
        jaxops.scatter_nd,
        _scatter_nd,
        scatter((*draws.BOOL, *NUMERIC, *draws.STRINGS), new=True),
        ("indices", "updates"),
        indices=("indices",),
        bounded=True,
        differentiable=("updates",),
        widens=True,
        no_kernel=frozenset(draws.RARE),
    ),
    "tensor_scatter_nd_add": scattering("tensor_scatter_nd_add", ADDED, widens=True),
    "tensor_scatter_nd_sub": scattering("tensor_scatter_nd_sub", ADDED, widens=True),
    "tensor_scatter_nd_min": scattering("tensor_scatter_nd_min", ORDERED, widens=True),
    "tensor_scatter_nd_max": scattering("tensor_scatter_nd_max", ORDERED, widens=True),
    "tensor_scatter_nd_update": scattering(
        "tensor_scatter_nd_update",
        scatter(tuple(draws.MOVED), kind="all", adds=False),
        _update,
        moves=True,
    ),
}
