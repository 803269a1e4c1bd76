"""Plain NumPy loops that say what each op means; they share no code with jaxops."""

import builtins
import itertools

import numpy as np


def _inside(index, dims):
    return all(0 <= i < d for i, d in zip(index, dims, strict=True))


def _place(index, dims, mode):
    """Where an index vector leads under `mode`; None if nowhere."""
    if _inside(index, dims):
        return index
    if mode == "clip":
        return tuple(min(max(i, 0), d - 1) for i, d in zip(index, dims, strict=True))
    if mode == "wrap":
        return tuple(i % d for i, d in zip(index, dims, strict=True))
    assert mode == "fill", f"index {index} does not fit {dims}"
    return None


def gather(params, indices, axis=None, batch_dims=0, mode="fill", fill_value=0):
    params, indices = np.asarray(params), np.asarray(indices)
    axis = batch_dims if axis is None else axis  # as given: -1 is the last one of params
    batch_dims = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    axis = axis + params.ndim if axis < 0 else axis
    before, after = params.shape[batch_dims:axis], params.shape[axis + 1 :]
    selected = indices.shape[batch_dims:]
    batch = params.shape[:batch_dims]
    out = np.empty(batch + before + selected + after, params.dtype)
    for b in np.ndindex(*batch):
        for p, s in itertools.product(np.ndindex(*before), np.ndindex(*selected)):
            place = _place((int(indices[b + s]),), (params.shape[axis],), mode)
            out[b + p + s] = fill_value if place is None else params[b + p + place]
    return out


def gather_nd(params, indices, batch_dims=0, mode="fill", fill_value=0):
    params, indices = np.asarray(params), np.asarray(indices)
    depth = indices.shape[-1]
    dims = params.shape[batch_dims : batch_dims + depth]
    out = np.empty(indices.shape[:-1] + params.shape[batch_dims + depth :], params.dtype)
    for at in np.ndindex(*indices.shape[:-1]):
        place = _place(tuple(int(i) for i in indices[at]), dims, mode)
        out[at] = fill_value if place is None else params[at[:batch_dims] + place]
    return out


_COMBINE = {
    "add": lambda old, new: old + new,
    "sub": lambda old, new: old - new,
    "min": np.minimum,
    "max": np.maximum,
    "update": lambda old, new: new,
}


def tensor_scatter(kind, tensor, indices, updates, mode="fill"):
    out, indices, updates = np.array(tensor), np.asarray(indices), np.asarray(updates)
    dims = out.shape[: indices.shape[-1]]
    for at in np.ndindex(*indices.shape[:-1]):
        place = _place(tuple(int(i) for i in indices[at]), dims, mode)
        if place is not None:
            out[place] = _COMBINE[kind](out[place], updates[at])
    return out


def slice(input_, begin, size, mode="fill", fill_value=0):
    input_ = np.asarray(input_)
    out = np.empty(size, input_.dtype)
    for at in np.ndindex(*size):
        place = _place(tuple(b + i for b, i in zip(begin, at, strict=True)), input_.shape, mode)
        out[at] = fill_value if place is None else input_[place]
    return out


def python_index(x, entries, singles, mode="fill", fill_value=0):
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
            place = _place((single + dim if single < 0 else single,), (dim,), mode)
            places.append([None if place is None else place[0]])
    out = [fill_value if None in at else x[at] for at in itertools.product(*places)]
    return np.array(out, x.dtype).reshape(shape)
