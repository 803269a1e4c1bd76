"""The segment reductions."""

from __future__ import annotations

import dataclasses
from typing import Any

import draws
import jax
import numpy as np
from calls import Call, Entry
from draws import Draw, chance, fault, integer, pick
from hypothesis import strategies as st
from peer import tf

import jaxops

# In a wider dtype, which TensorFlow gets for those that it has no kernel for, extrema of no numbers
# and means of sums that wrap are others.
REAL = (*draws.INTEGERS, *draws.FLOATS)
NUMERIC = (*draws.NUMERIC, *draws.RARE)


@st.composite
def unsorted(draw: Draw, dtypes: tuple[str, ...], refused: tuple[str, ...], kind: str) -> Call:
    faults = ["out of bounds"] * 3 + ["shape", "number", "kind", "refused"]
    wrong = fault(draw, *faults, percent=30)
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
    if wrong == "kind":
        ids = draws.no_indices(draw, ids)
    rest = draws.shape(draw, 0, 2)
    data = draws.array(draw, ((*shape, 7) if wrong == "shape" else (*shape, *rest)), dtype, kind)
    if wrong == "shape":
        ids = np.zeros((*shape, 5), ids.dtype)
    args: dict[str, Any] = {"data": data, "segment_ids": ids, "num_segments": number}
    fails = number == 0 and ids.size > 0  # the difference "gradient of no segments"
    order = ("data", "segment_ids", "num_segments")
    return draws.finish(draw, args, order, their_gradient_fails=fails)


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


@st.composite
def sorted_(draw: Draw, dtypes: tuple[str, ...], refused: tuple[str, ...], kind: str) -> Call:
    wrong = fault(draw, "negative", "not sorted", "length", "rank", "refused", percent=30)
    shape = draws.shape(draw, 1, 3)
    dtype = draws.dtype(draw, refused if wrong == "refused" else dtypes)
    ids = sorted_ids(draw, shape[0] + (wrong == "length"), wrong)
    if wrong == "rank":
        ids = ids[:, None]
    args: dict[str, Any] = {"data": draws.array(draw, shape, dtype, kind), "segment_ids": ids}
    return draws.finish(draw, args, ("data", "segment_ids"))


@st.composite
def sparse(draw: Draw, dtypes: tuple[str, ...], refused: tuple[str, ...], kind: str) -> Call:
    """Means are of 1 or 4 rows: TensorFlow multiplies by the reciprocals, exact of these."""
    faults = ["out of bounds"] * 2 + ["negative", "not sorted", "length", "number", "refused"]
    wrong = fault(draw, *faults, percent=30)
    shape = draws.shape(draw, 1, 3)
    dtype = draws.dtype(draw, refused if wrong == "refused" else dtypes)
    counts = [pick(draw, [0, 1, 4]) for _ in range(3)]
    count = sum(counts) if shape[0] or wrong == "out of bounds" else 0
    indices = draws.indices(draw, (count,), max(shape[0], 1), draws.index_dtype(draw))
    if wrong == "out of bounds" and count:
        indices[integer(draw, 0, count - 1)] = pick(draw, [shape[0], shape[0] + 2, 100])
    of_means = None if kind == "sum" else counts
    ids = sorted_ids(draw, count + (wrong == "length"), wrong, of_means)
    args: dict[str, Any] = {
        "data": draws.array(draw, shape, dtype, "finite"),
        "indices": indices,
        "segment_ids": ids,
    }
    if chance(draw, 50) or wrong == "number":
        largest = int(ids.max()) if ids.size else 0
        args["num_segments"] = largest if wrong == "number" else largest + integer(draw, 1, 3)
    call = draws.finish(draw, args, ("data", "indices", "segment_ids", "num_segments"))
    # Without indices TensorFlow's gradient is what stood in its memory.
    return call if count else dataclasses.replace(call, gradient=False)


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


def unsorted_entry(kind: str, dtypes, refused, values: str = "finite", **options) -> Entry:
    theirs = getattr(tf.math, f"unsorted_segment_{kind}")
    return Entry(
        getattr(jaxops, f"unsorted_segment_{kind}"),
        _in_float32(_as_jax_has_it(theirs) if kind == "mean" else theirs)
        if kind in ("mean", "sqrt_n")
        else theirs,
        unsorted(dtypes, refused, values),
        ("data", "segment_ids"),
        indices=("segment_ids",),
        bounded=True,
        differentiable=("data",),
        no_kernel=frozenset(draws.RARE),
        widens=True,
        **options,
    )


def sorted_entry(kind: str, dtypes, refused, values: str = "finite") -> Entry:
    name = f"segment_{kind}"
    return Entry(
        getattr(jaxops, name),
        _in_float32(tf.math.segment_mean) if kind == "mean" else getattr(tf.math, name),
        sorted_(dtypes, refused, values),
        ("data", "segment_ids"),
        indices=("segment_ids",),
        traced=("data",),
        differentiable=("data",),
        no_kernel=frozenset(draws.RARE),
        widens=True,
    )


def sparse_entry(kind: str, dtypes, refused) -> Entry:
    return Entry(
        getattr(jaxops, f"sparse_segment_{kind}"),
        getattr(tf.sparse, f"segment_{kind}"),
        sparse(dtypes, refused, kind),
        ("data", "indices", "segment_ids"),
        indices=("indices", "segment_ids"),
        traced=("data", "indices"),
        bounded=True,
        differentiable=("data",),
        no_kernel=frozenset(draws.RARE),
        widens=True,
    )


STRANGE = ("bool", "bytes")
COMPLEX = tuple(draws.COMPLEX)
ENTRIES = {
    "unsorted_segment_sum": unsorted_entry("sum", NUMERIC, STRANGE),
    "unsorted_segment_mean": unsorted_entry("mean", REAL, (*STRANGE, *COMPLEX)),
    "unsorted_segment_sqrt_n": unsorted_entry(
        "sqrt_n", tuple(draws.FLOATS), (*STRANGE, *COMPLEX, "int32")
    ),
    "unsorted_segment_prod": unsorted_entry("prod", NUMERIC, STRANGE),
    "unsorted_segment_min": unsorted_entry("min", REAL, (*STRANGE, *COMPLEX), "ordered"),
    "unsorted_segment_max": unsorted_entry("max", REAL, (*STRANGE, *COMPLEX), "ordered"),
    "segment_sum": sorted_entry("sum", NUMERIC, STRANGE),
    "segment_mean": sorted_entry("mean", (*REAL, *COMPLEX), STRANGE),
    "segment_prod": sorted_entry("prod", NUMERIC, STRANGE),
    "segment_min": sorted_entry("min", REAL, (*STRANGE, *COMPLEX), "ordered"),
    "segment_max": sorted_entry("max", REAL, (*STRANGE, *COMPLEX), "ordered"),
    "sparse_segment_sum": sparse_entry("sum", REAL, STRANGE),
    "sparse_segment_mean": sparse_entry("mean", tuple(draws.FLOATS), (*STRANGE, "int32")),
    "sparse_segment_sqrt_n": sparse_entry("sqrt_n", tuple(draws.FLOATS), (*STRANGE, "int32")),
}
