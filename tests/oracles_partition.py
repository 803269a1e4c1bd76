"""Plain NumPy loops that say what the ops with value-dependent shapes mean, and one_hot."""

import numpy as np


def _fit(rows, row_shape, dtype, size, fill_value):
    size = len(rows) if size is None else size
    out = np.full((size, *row_shape), fill_value, dtype)
    for n, row in enumerate(rows[:size]):
        out[n] = row
    return out


def dynamic_partition(data, partitions, num_partitions, size=None, mode="fill", fill_value=0):
    data, partitions = np.asarray(data), np.asarray(partitions)
    rows = [[] for _ in range(num_partitions)]
    for at in np.ndindex(*partitions.shape):
        number = int(partitions[at])
        if mode == "clip":
            number = min(max(number, 0), num_partitions - 1)
        elif mode == "wrap":
            number = number % num_partitions
        if 0 <= number < num_partitions:
            rows[number].append(data[at])
    sizes = size if isinstance(size, (list, tuple)) else [size] * num_partitions
    row_shape = data.shape[partitions.ndim :]
    return [
        _fit(part, row_shape, data.dtype, n, fill_value)
        for part, n in zip(rows, sizes, strict=True)
    ]


def dynamic_stitch(indices, data, size=None, mode="fill", fill_value=0):
    indices, data = [np.asarray(i) for i in indices], [np.asarray(d) for d in data]
    if size is None:
        size = max([int(i.max()) + 1 for i in indices if i.size], default=0)
    out = np.full((size, *data[0].shape[indices[0].ndim :]), fill_value, data[0].dtype)
    for index, rows in zip(indices, data, strict=True):
        for at in np.ndindex(*index.shape):
            place = int(index[at])
            if mode == "clip":
                place = min(max(place, 0), size - 1)
            elif mode == "wrap":
                place = place % size
            if 0 <= place < size:
                out[place] = rows[at]
    return out


def boolean_mask(tensor, mask, axis=0, size=None, fill_value=0):
    tensor, mask = np.asarray(tensor), np.asarray(mask)
    axis = axis + tensor.ndim if axis < 0 else axis
    tensor = np.moveaxis(tensor, range(axis, axis + mask.ndim), range(mask.ndim))
    rows = [tensor[at] for at in np.ndindex(*mask.shape) if mask[at]]
    row_shape = tensor.shape[mask.ndim :]
    return np.moveaxis(_fit(rows, row_shape, tensor.dtype, size, fill_value), 0, axis)


def one_hot(indices, depth, on_value=1, off_value=0, axis=-1, dtype=np.float32):
    indices = np.asarray(indices)
    out = np.full((*indices.shape, depth), off_value, dtype)
    for at in np.ndindex(*indices.shape):
        if 0 <= int(indices[at]) < depth:
            out[(*at, int(indices[at]))] = on_value
    return np.moveaxis(out, -1, axis)


def unique_with_counts(x, size=None, fill_value=0):
    values, idx, count = [], [], []
    for value in np.asarray(x):
        found = [k for k, other in enumerate(values) if other == value]  # never for NaN
        if not found:
            found = [len(values)]
            values.append(value)
            count.append(0)
        idx.append(found[0])
        count[found[0]] += 1
    y = _fit(values, (), np.asarray(x).dtype, size, fill_value)
    return y, np.array(idx, np.int32), _fit(count, (), np.int32, size, 0)
