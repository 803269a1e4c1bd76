"""Host strings: an op moves their positions, and the host picks strings by position."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxops import _jax_internals
from jaxops._run import arguments


def by_position(op: str, call: Callable, data: Mapping[str, object], fill_value: object) -> Any:
    """Moves the positions of the strings instead of the strings, then picks by position."""
    if not _jax_internals.is_on_host():
        raise TypeError(
            f"{op}: {' and '.join(data)} hold strings, which exist on the host only; "
            "call it outside jit, vmap and grad"
        )
    arrays = [arguments.to_host_strings(x, op, arg) for arg, x in data.items()]
    pool = np.concatenate([array.reshape(-1) for array in arrays])
    starts = np.cumsum([0, *(array.size for array in arrays)])
    positions = [
        jnp.arange(start, start + array.size, dtype=jnp.int32).reshape(array.shape)
        for start, array in zip(starts[:-1], arrays, strict=True)
    ]
    picked = call(positions, jnp.int32(-1))
    if fill_value is None:
        fill_value = arguments.empty_string_like(pool)
    elif not arguments.is_host_string(fill_value):
        raise TypeError(
            f"{op}: fill_value must be a string; received {arguments.brief(fill_value)}"
        )
    pool = np.append(pool, np.asarray(fill_value, arguments.fill_dtype(pool)))
    # Position -1, the fill value, is the last one.
    return jax.tree.map(lambda positions: pool[np.asarray(positions)], picked)
