"""Sizes of dimensions, which are symbolic while a program is exported for more than one shape.

A function that chooses between ways to compute the same result takes the general one for a symbolic
size. A function that decides whether a call is right leaves the comparison to JAX, which knows the
outcome from the constraints of the export, or raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.export import is_symbolic_dim


def are_known(dims: Sequence[int]) -> bool:
    return not any(map(is_symbolic_dim, dims))


def longest(dims: Sequence[int]) -> int:
    """The largest of the sizes that are known."""
    return max((dim for dim in dims if not is_symbolic_dim(dim)), default=0)


def exceed(dims: Sequence[int], largest: int) -> list[np.bool_]:
    """Whether each size is known to be larger than `largest`."""
    return [np.bool_(longest([dim]) > largest) for dim in dims]


def numbers(dims: Sequence[int], dtype) -> list[Any]:
    """Each size as a scalar, which the program computes when it runs if the size is symbolic.

    A known size that does not fit the dtype becomes the nearest number that does.
    """
    # By the name, as JAX takes no scalar of `np.ulonglong` (test_arguments.py,
    # test_both_64_bit_types_of_numpy).
    info, dtype = jnp.iinfo(dtype), np.dtype(np.dtype(dtype).name)
    return [
        jnp.asarray(dim).astype(dtype)
        if is_symbolic_dim(dim)
        else dtype.type(min(max(dim, info.min), info.max))
        for dim in dims
    ]


def as_vector(dims: Sequence[int], dtype) -> jax.Array:
    """The sizes as a vector, as `numbers` has them."""
    return joined(numbers(dims, dtype), 1) if dims else jnp.zeros(0, dtype)


def joined(numbers: Sequence[Any], ndim: int) -> jax.Array:
    """An array of `ndim` dimensions, all 1 but the last, which has the numbers.

    The program makes it of scalars, which are no operands of a `cond`. An array of NumPy is one:
    `vmap` in a `shard_map` makes it vary, and JAX then refuses the branch, which was traced for one
    that does not (test_varying.py, test_function_in_a_branch_of_a_batch).
    """
    return lax.concatenate([lax.full((1,) * ndim, number) for number in numbers], ndim - 1)
