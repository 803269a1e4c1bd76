"""Calls of the functions of `_ops/`: `gather.py`, `scatter.py`, `slice.py`, `strided_slice.py`."""

import numpy as np
import oracles
from case import MODES, Case, floats

import jaxops


def _index(indices):
    return (np.asarray(indices, np.int32),)


def gather_case(shape, indices, **options):
    return Case(
        lambda p, i, **k: jaxops.gather(p, i, **options, **k),
        lambda p, i, **k: oracles.gather(p, i, **options, **k),
        (floats(*shape),),
        _index(indices),
        MODES,
        has_deterministic=True,
    )


def gather_nd_case(shape, indices, **options):
    return Case(
        lambda p, i, **k: jaxops.gather_nd(p, i, **options, **k),
        lambda p, i, **k: oracles.gather_nd(p, i, **options, **k),
        (floats(*shape),),
        _index(indices),
        MODES,
        has_deterministic=True,
    )


def batch_gather_case(shape, indices):
    return Case(
        jaxops.batch_gather,
        lambda p, i, **k: oracles.gather(p, i, None, i.ndim - 1, **k),
        (floats(*shape),),
        _index(indices),
        MODES,
        has_deterministic=True,
    )


def scatter_nd_case(shape, indices):
    (indices,) = _index(indices)
    updates = floats(*indices.shape[:-1], *shape[indices.shape[-1] :])
    return Case(
        lambda u, i, **k: jaxops.scatter_nd(i, u, shape, **k),
        lambda u, i, **k: oracles.tensor_scatter("add", np.zeros(shape, u.dtype), i, u, **k),
        (updates,),
        (indices,),
        MODES,
        has_deterministic=True,
    )


def tensor_scatter_case(kind, shape, indices):
    (indices,) = _index(indices)
    updates = floats(*indices.shape[:-1], *shape[indices.shape[-1] :])
    op = getattr(jaxops, f"tensor_scatter_nd_{kind}")
    return Case(
        lambda t, u, i, **k: op(t, i, u, **k),
        lambda t, u, i, **k: oracles.tensor_scatter(kind, t, i, u, **k),
        (floats(*shape), updates),
        (indices,),
        MODES,
        linear=kind in ("add", "sub"),
        has_deterministic=kind in ("add", "sub"),
    )


def slice_case(shape, begin, size):
    return Case(
        lambda x, b, **k: jaxops.slice(x, b, size, **k),
        lambda x, b, **k: oracles.slice(x, b, size, **k),
        (floats(*shape),),
        _index(begin),
        MODES,
    )


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
        lambda x, singles, **k: oracles.python_index(x, entries, singles, **k),
        (floats(*shape),),
        _index([entries[place] for place in places]),
        MODES,
    )


NO_VECTORS = np.zeros((0, 1))
EMPTY_VECTORS = np.zeros((2, 0))
CASES = {
    "gather-vector": gather_case((4,), [3, 0, 3, 3]),
    "gather-rows": gather_case((4, 3), [[1, 1], [0, 3]]),
    "gather-scalar": gather_case((4, 3), 2),
    "gather-last-axis": gather_case((2, 3, 4), [3, 0, 0], axis=-1),
    "gather-batch": gather_case((2, 3, 4), [[2, 0, 2], [1, 1, 0]], batch_dims=1),
    "gather-batch-axis": gather_case((2, 3, 4), [[2, 0], [1, 1]], axis=2, batch_dims=1),
    "gather-batch-all": gather_case((2, 3), [1, 2], batch_dims=1),
    "gather-batch-negative": gather_case((2, 3, 4), [[1, 1], [2, 0]], batch_dims=-1),
    "gather-no-indices": gather_case((4, 3), np.zeros((0,))),
    "gather-empty-rows": gather_case((4, 0), [1, 2]),
    "gather_nd-elements": gather_nd_case((3, 4), [[0, 1], [2, 3], [2, 3]]),
    "gather_nd-rows": gather_nd_case((3, 4), [[[1], [1]], [[0], [2]]]),
    "gather_nd-one": gather_nd_case((3, 4), [2, 1]),
    "gather_nd-empty-vectors": gather_nd_case((3, 4), EMPTY_VECTORS),
    "gather_nd-batch": gather_nd_case((2, 3, 4), [[[1], [1]], [[0], [2]]], batch_dims=1),
    "gather_nd-no-indices": gather_nd_case((3, 4), NO_VECTORS),
    "batch_gather": batch_gather_case((2, 3, 2), [[1, 1], [0, 2]]),
    "scatter_nd-elements": scatter_nd_case((3, 4), [[0, 1], [2, 3], [2, 3]]),
    "scatter_nd-rows": scatter_nd_case((3, 4), [[[1], [1]], [[0], [2]]]),
    "scatter_nd-empty-vectors": scatter_nd_case((3, 4), EMPTY_VECTORS),
    "scatter_nd-no-updates": scatter_nd_case((3, 4), NO_VECTORS),
    "slice-part": slice_case((4, 3), [1, 0], (2, 3)),
    "slice-empty": slice_case((4, 3), [4, 0], (0, 3)),
    "strided_slice-single": strided_slice_case((4, 3), np.s_[1]),
    "strided_slice-mixed": strided_slice_case((2, 4, 3), np.s_[None, 1, ::-2, ..., 2]),
    "strided_slice-ranges": strided_slice_case((4, 3), np.s_[1:-1, ..., ::2, None]),
    "strided_slice-empty": strided_slice_case((4, 3), np.s_[3:1, 1]),
    **{
        f"tensor_scatter_nd_{kind}-{name}": tensor_scatter_case(kind, shape, indices)
        for kind in ("add", "sub", "min", "max", "update")
        for name, shape, indices in (
            ("elements", (3, 4), [[0, 1], [2, 3], [2, 3]]),
            ("rows", (3, 2), [[[1], [1]], [[0], [2]]]),
            ("no-updates", (3, 2), NO_VECTORS),
        )
    },
}
