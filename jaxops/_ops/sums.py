"""The dtypes that functions reduce, and those in which they add."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxops._indexing.narrow_sums import is_narrow
from jaxops._ops.casting import check_numeric, is_complex, static_dtype


def check_dtype(op: str, arg: str, kind: str, dtype: np.dtype) -> None:
    """Refuses a dtype of the argument `arg` for which a reduction has no meaning."""
    check_numeric(dtype, op, arg)
    if kind in ("min", "max") and is_complex(dtype):
        raise TypeError(f"{op}: {arg} must have an ordered dtype; received {dtype}")
    if kind == "mean" and is_complex(dtype):
        raise TypeError(f"{op}: {arg} must have a real dtype; received {dtype}")
    if kind == "sqrt_n" and not jnp.issubdtype(dtype, jnp.floating):
        raise TypeError(f"{op}: {arg} must have a dtype of floats; received {dtype}")


def wide(dtype: np.dtype) -> np.dtype:
    """The dtype in which means and norms are computed: float32 for narrower floats.

    A sum of bfloat16 stops growing at 256 times its terms, one of float16 at 2,048 times.
    """
    # 4,096 ones of bfloat16 had the mean 0.0625 (test_sums.py, test_sums_of_many_narrow_numbers).
    return np.dtype(np.float32) if is_narrow(dtype) else dtype


def accumulator(op: str, accumulate_dtype: Any) -> np.dtype | None:
    """The static argument `accumulate_dtype`."""
    if accumulate_dtype is None:
        return None
    dtype = static_dtype(accumulate_dtype, op, "accumulate_dtype")
    if not jnp.issubdtype(dtype, jnp.inexact):
        raise TypeError(
            f"{op}: accumulate_dtype must be a dtype of floats or complex numbers; received {dtype}"
        )
    return dtype


def dtype_of_sums(op: str, arg: str, dtype: np.dtype, accumulate_dtype: Any) -> np.dtype:
    """The dtype in which numbers of `dtype`, those of the argument `arg`, are added."""
    if accumulate_dtype is None:
        return dtype
    if not jnp.issubdtype(dtype, jnp.inexact):
        raise TypeError(
            f"{op}: {arg} must have a dtype of floats or complex numbers where accumulate_dtype is "
            f"given, as sums of others are exact; received {dtype}"
        )
    of, to = jnp.finfo(dtype), jnp.finfo(accumulate_dtype)
    is_of_kind = is_complex(dtype) == is_complex(accumulate_dtype)
    if not is_of_kind or to.nmant < of.nmant or to.maxexp < of.maxexp:
        raise TypeError(
            f"{op}: accumulate_dtype must hold all numbers of the dtype of {arg}, {dtype}; "
            f"received {accumulate_dtype}"
        )
    return accumulate_dtype
