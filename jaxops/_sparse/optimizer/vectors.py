"""Arrays of several types as one vector of NumPy.

An optimizer of 52 tables has more than 200 arrays. To pass each of them to a compiled program and
to compare them one by one takes longer than to run it. So a program takes and returns one array for
each dtype, and NumPy has all numbers in one vector of float64:

    types                                     vector                parts of the program
    float32 [2, 2], int32 [], float32 [3]     7 numbers, then 1     float32 [7], int32 [1]

Two numbers stand for a complex one. Arrays of other dtypes than NumPy's, such as random keys, are
passed beside the parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class Vectors:
    """How arrays of these types lie in one vector."""

    def __init__(self, types: Sequence[Any]):
        self.types = types
        self.others = [n for n, t in enumerate(types) if not isinstance(t.dtype, np.dtype)]
        numbers = [n for n in range(len(types)) if n not in self.others]
        by_dtype: dict[Any, list[int]] = {}
        for n in numbers:
            by_dtype.setdefault(types[n].dtype, []).append(n)
        # Shapes in the vector, in the order of the vector; complex numbers have one axis more.
        self.shapes = {
            n: (*types[n].shape, 2) if self._is_complex(n) else types[n].shape
            for of_dtype in by_dtype.values()
            for n in of_dtype
        }
        places = np.arange(sum(map(_size, self.shapes.values())))
        sizes = [_size(shape) for shape in self.shapes.values()]
        pieces = np.split(places, np.cumsum(sizes, dtype=int)[:-1]) if sizes else []
        # For each array where its numbers are, in its shape; for each number whose it is.
        self.places = {
            n: piece.reshape(shape)
            for (n, shape), piece in zip(self.shapes.items(), pieces, strict=True)
        }
        self.leaf = np.repeat(np.array([*self.shapes], int), sizes)
        self.parts = [
            (dtype, of_dtype, np.concatenate([self.places[n].reshape(-1) for n in of_dtype]))
            for dtype, of_dtype in by_dtype.items()
        ]

    def _is_complex(self, n: int) -> bool:
        return jnp.issubdtype(self.types[n].dtype, jnp.complexfloating)

    def __len__(self) -> int:
        return len(self.leaf)

    def of(self, leaves: Sequence[int]) -> np.ndarray:
        """Where the numbers of these arrays are, one array after the other."""
        places = [self.places[n].reshape(-1) for n in leaves if n in self.places]
        return np.concatenate([np.zeros(0, int), *places])

    def split(self, vector: np.ndarray) -> list[np.ndarray]:
        """What a program takes, in its dtypes."""
        with np.errstate(all="ignore"):
            return [vector[where].astype(_of_parts(dtype)) for dtype, _, where in self.parts]

    def join(self, parts: Sequence[Any]) -> np.ndarray:
        """The vector, of what a program returns."""
        vector = np.zeros(len(self))
        for (_, _, where), part in zip(self.parts, parts, strict=True):
            vector[where] = np.asarray(part)
        return vector

    def unpacked(self, parts: Sequence[Any], others: Sequence) -> list:
        """In a program: the arrays."""
        arrays: dict[int, Any] = dict(zip(self.others, others, strict=True))
        for (_, of_dtype, where), part in zip(self.parts, parts, strict=True):
            start = where[0] if len(where) else 0
            for n in of_dtype:
                shape = self.shapes[n]
                first = self.places[n].reshape(-1)[0] - start if _size(shape) else 0
                x = lax.slice(part, (first,), (first + _size(shape),)).reshape(shape)
                arrays[n] = lax.complex(x[..., 0], x[..., 1]) if self._is_complex(n) else x
        return [arrays[n] for n in range(len(self.types))]

    def packed(self, arrays: Sequence[Any]) -> tuple[list[jax.Array], list]:
        """In a program: the parts and the others, of arrays that become what the types say."""

        def flat(n: int) -> jax.Array:
            t = self.types[n]
            x = jnp.broadcast_to(jnp.asarray(arrays[n]).astype(t.dtype), t.shape)
            return (jnp.stack([x.real, x.imag], -1) if self._is_complex(n) else x).reshape(-1)

        parts = [jnp.concatenate([flat(n) for n in of_dtype]) for _, of_dtype, _ in self.parts]
        return parts, [arrays[n] for n in self.others]


def _of_parts(dtype: Any) -> Any:
    return jnp.finfo(dtype).dtype if jnp.issubdtype(dtype, jnp.complexfloating) else dtype


def _size(shape: Sequence[int]) -> int:
    return int(np.prod(shape, dtype=int))
