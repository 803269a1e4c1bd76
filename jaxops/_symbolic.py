"""Sizes of dimensions, which are symbolic while a program is exported for more than one shape.

A function that chooses between ways to compute the same result takes the general one for a symbolic
size. A function that decides whether a call is right leaves the comparison to JAX, which knows the
outcome from the constraints of the export, or raises.
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
    """The largest of the sizes that are known."""
    return max((dim for dim in dims if not is_symbolic_dim(dim)), default=0)


def exceed(dims: Sequence[int], largest: int) -> np.ndarray:
    """Whether each size is known to be larger than `largest`."""
    return np.array([longest([dim]) > largest for dim in dims], bool)


def as_vector(dims: Sequence[int], dtype) -> np.ndarray | jax.Array:
    """The sizes as numbers. The program computes them when it runs, if one is symbolic.

    A known size that does not fit the dtype becomes the nearest number that does.
    """
    info = jnp.iinfo(dtype)

    def in_range(dim):
        return dim if is_symbolic_dim(dim) else np.array(min(max(dim, info.min), info.max), dtype)

    if are_known(dims):
        return np.array([in_range(dim) for dim in dims], dtype)
    return jnp.stack([jnp.asarray(in_range(dim)).astype(dtype) for dim in dims])
