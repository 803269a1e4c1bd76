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


def as_vector(dims: Sequence[int], dtype) -> np.ndarray | jax.Array:
    """The sizes as numbers, which the program has to find out where one is symbolic."""
    if are_known(dims):
        return np.array(dims, dtype)
    return jnp.stack([jnp.asarray(dim).astype(dtype) for dim in dims])
