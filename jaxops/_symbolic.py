"""Sizes of dimensions, which are symbolic while a program is exported for more than one shape.

What decides between ways to compute the same thing takes the general one where a size is symbolic.
What decides whether a call is right leaves the comparison to JAX, which knows it from the
constraints of the export or raises.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.export import is_symbolic_dim


def are_known(dims: Sequence[int]) -> bool:
    return not any(map(is_symbolic_dim, dims))


def longest(dims: Sequence[int]) -> int:
    """Of those that are known."""
    return max((dim for dim in dims if not is_symbolic_dim(dim)), default=0)


def exceed(dims: Sequence[int], largest: int) -> np.ndarray:
    """Which of them are known to be larger."""
    return np.array([longest([dim]) > largest for dim in dims], bool)


def as_vector(dims: Sequence[int], dtype) -> np.ndarray | jax.Array:
    """The sizes as numbers, which the program has to find out where one is symbolic.

    What is known and does not fit becomes the nearest number that does.
    """
    info = jnp.iinfo(dtype)

    def in_range(dim):
        return dim if is_symbolic_dim(dim) else np.array(min(max(dim, info.min), info.max), dtype)

    if are_known(dims):
        return np.array([in_range(dim) for dim in dims], dtype)
    return jnp.stack([jnp.asarray(in_range(dim)).astype(dtype) for dim in dims])
