"""Arrays of several types as one vector of NumPy's float64, and many of these as a matrix.

An optimizer of 52 tables has more than 200 arrays. To compare them one by one takes long.

    types                                     vector
    float32 [2, 2], int32 [], float32 [3]     4 numbers, then 1, then 3

Two numbers stand for a complex one. Arrays of other dtypes than NumPy's, such as random keys, are
kept beside the vectors.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np


class Vectors:
    """The places of arrays of these types in one vector."""

    def __init__(self, types: Sequence[Any]):
        self.types = types
        self.others = [n for n, t in enumerate(types) if not isinstance(t.dtype, np.dtype)]
        numbers = [n for n in range(len(types)) if n not in self.others]
        self.complex = {n for n in numbers if jnp.issubdtype(types[n].dtype, jnp.complexfloating)}
        # Complex numbers have one axis more.
        shapes = {n: types[n].shape + (2,) * (n in self.complex) for n in numbers}
        sizes = [int(np.prod(shape, dtype=int)) for shape in shapes.values()]
        ends = [0, *itertools.accumulate(sizes)]
        self.spans = [*zip(numbers, ends, ends[1:], strict=False)]
        # For each array where its numbers are, in its shape; for each number whose it is.
        self.places = {n: np.arange(a, b).reshape(shapes[n]) for n, a, b in self.spans}
        self.leaf = np.repeat(np.array(numbers, int), sizes)

    def __len__(self) -> int:
        return len(self.leaf)

    def of(self, leaves: Sequence[int]) -> np.ndarray:
        """The places of the numbers of these arrays, one array after the other."""
        places = [self.places[n].reshape(-1) for n in leaves if n in self.places]
        return np.concatenate([np.zeros(0, int), *places])

    def split(self, vectors: np.ndarray, others: Sequence = ()) -> list:
        """The arrays that lie in each row of a matrix."""
        arrays: dict[int, Any] = dict(zip(self.others, others, strict=True))
        for n, first, last in self.spans:
            x = vectors[:, first:last].reshape(len(vectors), *self.places[n].shape)
            x = x[..., 0] + 1j * x[..., 1] if n in self.complex else x
            arrays[n] = x.astype(self.types[n].dtype)
        return [arrays[n] for n in range(len(self.types))]

    def join(self, arrays: Sequence[Any], count: int) -> np.ndarray:
        """The matrix of `count` rows, of arrays that become what the types say."""
        vectors = np.zeros((count, len(self)))
        for n, first, last in self.spans:
            x, rank = arrays[n].astype(self.types[n].dtype), len(self.types[n].shape)
            x = x.reshape(len(x), *[1] * (rank + 1 - x.ndim), *x.shape[1:])
            x = np.stack([x.real, x.imag], -1) if n in self.complex else x
            vectors[:, first:last].reshape(count, *self.places[n].shape)[...] = x
        return vectors

    def by_leaf(self, function: np.ufunc, vectors: np.ndarray) -> np.ndarray:
        """The reduction by `add` or the like of each array's numbers, by vector; 0 of none."""
        results = np.zeros((len(vectors), len(self.types)), vectors.dtype)
        filled = [(n, first) for n, first, last in self.spans if first < last]
        if filled:
            leaves, starts = map(list, zip(*filled, strict=True))
            results[:, leaves] = function.reduceat(vectors, starts, axis=1)
        return results
